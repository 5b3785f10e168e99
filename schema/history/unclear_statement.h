#pragma once

#include <optional>
#include <string>
#include <vector>

#include "schema/base/result.h"
#include "schema/events/point.h"
#include "schema/model/table.h"

namespace driftless {

// A statement that a source does not understand for certain (policy, 5.7). The tables wait in front
// of it for a person: no row of theirs is decoded with a schema that is not certain.
struct UnclearStatement {
  Point point;           // where the statement stands; the same at every reading
  std::string position;  // the source's words for it
  std::string text;
  std::vector<TablePath> tables;  // captured ones that it may concern
  std::string why;
  // It is understood, but concerns tables that wait for another one: nobody need decide on it.
  bool follows_another = false;
};

// What a person said of one: `driftless decide ID skip|schema FILE`.
struct UnclearAnswer {
  enum class Kind : uint8_t {
    kSkip,    // the tables go on as they were
    kSchema,  // they go on as `schema` says
  };
  Kind kind = Kind::kSkip;
  std::string schema;             // CREATE TABLE statements: the tables as they are afterwards
  std::vector<TablePath> tables;  // of the statement
};

// Kept by the runtime, asked by a source before it parks anything. Thread-safe.
class UnclearAnswers {
 public:
  virtual ~UnclearAnswers() = default;
  // None: the statement at this point has not been asked about, or not been answered.
  virtual Result<std::optional<UnclearAnswer>> AnswerTo(const Point& point) const = 0;
};

}  // namespace driftless
