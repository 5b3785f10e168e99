#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless::table_api {

// The Java that method chains of the Table API are written in: names, literals, calls and `new`.
struct Node {
  enum class Kind : uint8_t { kName, kString, kNumber, kCall, kNew } kind = Kind::kName;
  std::string text;  // name or method; kString decoded; kNumber as written; kNew: a.b.Class
  std::shared_ptr<const Node> receiver;  // kName and kCall: what stands in front of the dot
  std::vector<Node> args;
  int line = 0;  // of its own name
  int column = 0;
};

struct Statement {
  std::string variable;    // Table x = ..;  empty: none
  bool is_method = false;  // ApiExpression variable() { return ..; }
  Node value;
  int line = 0;
};

// The statements of a text, each with or without its ";" where it is the last. Errors: kParse with
// line and column.
Result<std::vector<Statement>> ParseJava(std::string_view text);

// "java.time.LocalDate" of a chain of names; empty where it is something else.
std::string DottedName(const Node& node);

}  // namespace driftless::table_api
