#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless {

inline constexpr std::string_view kSqlPrompt = "Flink SQL> ";
inline constexpr std::string_view kSqlContinuation = "> ";

// What a client prints for a statement's outcome.
std::string SqlAnswer(const Result<std::string>& outcome);

// Takes lines as Flink's SQL client takes what is typed or piped in: a statement is whole when its
// lines end with ";" outside of quotes and comments; blank lines between statements are nothing;
// QUIT, EXIT, HELP and CLEAR are the client's own. Not thread-safe.
class SqlClient {
 public:
  using Execute = std::function<Result<std::string>(std::string_view statement)>;
  explicit SqlClient(Execute execute) : execute_(std::move(execute)) {}

  // Takes one line, without its line feed. Returns what is to be printed, where a statement ended
  // with it.
  std::optional<std::string> Line(std::string_view line);

  bool in_statement() const { return !lines_.empty(); }
  const std::string& lines() const { return lines_; }  // of the statement that is not whole yet
  void Discard() { lines_.clear(); }
  bool done() const { return done_; }      // QUIT or EXIT
  bool failed() const { return failed_; }  // some statement had an error

 private:
  Execute execute_;
  std::string lines_;
  bool done_ = false;
  bool failed_ = false;
};

// Plays a whole input through a client, as Flink's plays its standard input: `read` gives the next
// line or nothing at the end, `print` takes the output. As there, the first statement is echoed,
// and one without ";" at the end of the input is not executed. Returns that one; empty: none.
std::string PlayInput(SqlClient* client, const std::function<std::optional<std::string>()>& read,
                      const std::function<void(std::string_view)>& print);

}  // namespace driftless
