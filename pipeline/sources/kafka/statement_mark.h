#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace driftless {

// Our Kafka sink numbers the statements that it writes between the rows, in a header of the message
// (sinks/kafka/statement_header.h): the same number in every partition, and numbers that grow.
struct StatementMark {
  uint64_t run = 0;     // of the writing process; 0: the statement has no mark
  uint64_t number = 0;  // within the run; without a mark, how many statements there were up to it
  friend auto operator<=>(const StatementMark&, const StatementMark&) = default;

  std::string ToText() const;  // "1764500000000.12"
  // None where the text does not begin with a mark.
  static std::optional<StatementMark> Parse(std::string_view text);
};

// Statements that were carried out lately, by what they are rather than where they stand: a writer
// that is killed repeats what it had sent since its last checkpoint.
class RecentStatements {
 public:
  static constexpr size_t kMax = 64;

  // `name`: the writer's for the statement; a repeated one has the same message too.
  static uint64_t IdentityOf(std::string_view name, std::string_view message);
  bool Contains(uint64_t identity) const;
  void Add(uint64_t identity);
  bool empty() const { return identities_.empty(); }

  std::string ToText() const;  // hexadecimal numbers and commas
  static RecentStatements Parse(std::string_view text);

 private:
  std::deque<uint64_t> identities_;  // oldest first
};

}  // namespace driftless
