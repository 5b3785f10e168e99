#include <simdjson.h>

#include <string>
#include <utility>

#include "sinks/olap/front_ends.h"
#include "sinks/selectdb/selectdb.h"

namespace driftless::selectdb {
namespace {

// "default_cluster" is a literal (Doris documentation, "Statement Execution Action"); statements
// name their databases themselves, so any database that is always there will do.
constexpr std::string_view kPath = "/api/query/default_cluster/information_schema";

// The statement as ASCII, so that no front end reads it in another character set
// (doris-flink-connector issue 403).
void AppendAscii(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  const auto escape = [&](uint32_t unit) {
    *out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) *out += kHex[(unit >> shift) & 15];
  };
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      if (c < 0x20 || c == '"' || c == '\\') {
        escape(c);
      } else {
        *out += static_cast<char>(c);
      }
      ++i;
      continue;
    }
    const int length = c >= 0xF0 ? 4 : c >= 0xE0 ? 3 : 2;
    uint32_t point = c & (0x7FU >> length);
    for (int k = 1; k < length && i + static_cast<size_t>(k) < text.size(); ++k) {
      point = (point << 6) | (static_cast<unsigned char>(text[i + static_cast<size_t>(k)]) & 0x3F);
    }
    i += static_cast<size_t>(length);
    if (point >= 0x10000) {
      escape(0xD800 + ((point - 0x10000) >> 10));
      escape(0xDC00 + ((point - 0x10000) & 0x3FF));
    } else {
      escape(point);
    }
  }
}

std::optional<std::string> TextOf(simdjson::dom::element element) {
  if (element.is_null()) return std::nullopt;
  std::string_view text;
  if (element.get(text) == simdjson::SUCCESS) return std::string(text);
  return std::string(simdjson::minify(element));
}

Error NoAnswer(const HttpResponse& answer) {
  return MakeError(ErrorKind::kUnavailable, "a statement over HTTP: status " +
                                                std::to_string(answer.status) +
                                                ", and no JSON: " + answer.body.substr(0, 200));
}

// {"code":0,"data":{"type":"result_set","meta":[{"name":..}],"data":[[..]]}}; another code: the
// reason stands in "data", or in "msg".
Result<SqlRows> ReadAnswer(const HttpResponse& answer) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(answer.body);
  simdjson::dom::element root;
  if (parser.parse(padded).get(root) != simdjson::SUCCESS) return NoAnswer(answer);
  int64_t code = -1;
  if (root["code"].get(code) != simdjson::SUCCESS) return NoAnswer(answer);
  if (code != 0) {
    std::string_view text;
    if (root["data"].get(text) != simdjson::SUCCESS || text.empty()) {
      if (root["msg"].get(text) != simdjson::SUCCESS) text = "without a reason";
    }
    return MakeError(ErrorKind::kRefused, "refused: " + std::string(text));
  }
  SqlRows rows;
  simdjson::dom::array meta;
  simdjson::dom::array data;
  if (root["data"]["meta"].get(meta) == simdjson::SUCCESS) {
    for (const simdjson::dom::element column : meta) {
      std::string_view name;
      if (column["name"].get(name) != simdjson::SUCCESS) return NoAnswer(answer);
      rows.names.emplace_back(name);
    }
  }
  if (root["data"]["data"].get(data) != simdjson::SUCCESS) return rows;
  for (const simdjson::dom::element line : data) {
    simdjson::dom::array values;
    if (line.get(values) != simdjson::SUCCESS) return NoAnswer(answer);
    auto& row = rows.rows.emplace_back();
    for (const simdjson::dom::element value : values) row.push_back(TextOf(value));
    row.resize(rows.names.size());
  }
  return rows;
}

class HttpStatements : public olap::Statements {
 public:
  explicit HttpStatements(olap::FrontEndOptions options) : http_(std::move(options)) {}

  Result<SqlRows> Query(std::string_view sql) override {
    auto answer = Send(sql);
    if (answer) return ReadAnswer(*answer);
    if (answer.error().kind() != ErrorKind::kCommitUnknown) return std::move(answer).error();
    return MakeError(ErrorKind::kUnavailable, answer.error().message());  // asking is harmless
  }

  Result<void> Execute(std::string_view sql) override {
    const std::string lost = "the answer to \"" + std::string(sql) + "\" was lost: ";
    auto answer = Send(sql);
    if (!answer) {
      if (answer.error().kind() != ErrorKind::kCommitUnknown) return std::move(answer).error();
      return MakeError(ErrorKind::kCommitUnknown, lost + answer.error().message());
    }
    auto read = ReadAnswer(*answer);
    if (read) return {};
    if (read.error().kind() != ErrorKind::kUnavailable) return std::move(read).error();
    return MakeError(ErrorKind::kCommitUnknown, lost + read.error().message());
  }

 private:
  Result<HttpResponse> Send(std::string_view sql) {
    std::string body = "{\"stmt\":\"";
    AppendAscii(sql, &body);
    body += "\"}";
    olap::FrontEndRequest request;
    request.method = "POST";
    request.path = kPath;
    request.headers["Content-Type"] = "application/json";
    request.body = body;
    request.is_load = false;
    return http_.Send(request);
  }

  olap::FrontEnds http_;
};

}  // namespace

std::unique_ptr<olap::Statements> StatementsOverHttp(const olap::OlapOptions& options) {
  return std::make_unique<HttpStatements>(olap::FrontEndOptionsOf(options));
}

}  // namespace driftless::selectdb
