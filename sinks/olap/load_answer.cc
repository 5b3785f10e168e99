#include "sinks/olap/load_answer.h"

#include <simdjson.h>

#include "schema/base/letter_case.h"

namespace driftless::olap {
namespace {

std::string TextOf(simdjson::dom::element element) {
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return std::string(text);
  int64_t number = 0;
  if (element.get(number) == simdjson::SUCCESS) return std::to_string(number);
  return "";
}

int64_t NumberOf(simdjson::dom::element element) {
  int64_t number = -1;
  if (element.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS || text.empty()) return -1;
  number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return -1;
    number = number * 10 + (c - '0');
  }
  return number;
}

}  // namespace

bool LoadAnswer::Is(std::string_view text) const { return EqualsIgnoringCase(status, text); }

Result<LoadAnswer> ParseLoadAnswer(int http_status, std::string_view body, std::string_view what) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::object object;
  const simdjson::padded_string padded(body);
  if (parser.parse(padded).get(root) != simdjson::SUCCESS ||
      root.get(object) != simdjson::SUCCESS) {
    return MakeError(ErrorKind::kUnavailable,
                     std::string(what) + ": status " + std::to_string(http_status) +
                         ", and no JSON: " + std::string(body.substr(0, 200)));
  }
  LoadAnswer answer;
  for (const auto& [key, value] : object) {
    const std::string name = LowerCase(key);
    if (name == "status") answer.status = TextOf(value);
    if (name == "message" || name == "msg") answer.message = TextOf(value);
    // Doris wraps the state of a label: {"code":0,"data":"VISIBLE"}.
    if (name == "state" || (name == "data" && answer.state.empty())) answer.state = TextOf(value);
    if (name == "existingjobstatus") answer.existing_job_status = TextOf(value);
    if (name == "errorurl") answer.error_url = TextOf(value);
    if (name == "txnid") answer.txn_id = NumberOf(value);
    if (name == "numberfilteredrows") answer.filtered_rows = NumberOf(value);
  }
  return answer;
}

}  // namespace driftless::olap
