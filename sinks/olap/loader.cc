#include "sinks/olap/loader.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <span>
#include <thread>

#include "schema/base/utf8.h"
#include "sinks/olap/front_ends.h"
#include "sinks/olap/load_answer.h"

namespace driftless::olap {
namespace {

constexpr size_t kNameBytes = 40;
constexpr size_t kShownBytes = 600;

// FNV-1a (draft-eastlake-fnv, 64 bits): stable over builds and machines.
uint64_t Hash(std::string_view text, uint64_t seed) {
  for (const char c : text) {
    seed ^= static_cast<uint8_t>(c);
    seed *= 1099511628211ULL;
  }
  return seed;
}

std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text.substr(0, kNameBytes)) {
    const bool fits = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '-' || c == '_';
    plain += fits ? c : '_';
  }
  return plain;
}

bool ContainsAny(std::string_view message, std::span<const std::string_view> texts) {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
    return message.find(text) != std::string_view::npos;
  });
}

}  // namespace

Labels::Labels(std::string_view prefix, const CommitIdentity& identity) {
  uint64_t hash = 14695981039346656037ULL;
  for (const std::string* part : {&identity.pipeline, &identity.sink, &identity.table.catalog,
                                  &identity.table.database, &identity.table.table}) {
    hash = Hash(*part, hash);
    hash = Hash(std::string_view("\0", 1), hash);
  }
  static constexpr char kHex[] = "0123456789abcdef";
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4) digits += kHex[(hash >> shift) & 15];
  if (!prefix.empty()) owner_ = Plain(prefix.substr(0, 24)) + "-";
  owner_ += Plain(identity.table.table) + "-" + digits;
}

std::string Labels::Of(CutId cut, uint32_t attempt, int number) const {
  return owner_ + "-" + std::to_string(cut) + "-" + std::to_string(attempt) + "-" +
         std::to_string(number);
}

// What StarRocks' and Doris' connectors wait for. A back end without room may have some again after
// a compaction.
bool load_retry::IsBusy(std::string_view message) {
  static constexpr std::array<std::string_view, 9> kBusy = {"current running txns on db",
                                                            "too many tablet versions",
                                                            "exceed max version num",
                                                            "tablet version count",
                                                            "-235",
                                                            "get database write lock timeout",
                                                            "blocked on schema change",
                                                            "exceed capacity limit",
                                                            "No space left on device"};
  return ContainsAny(message, kBusy);
}

bool load_retry::IsFinal(std::string_view message) {
  static constexpr std::array<std::string_view, 4> kFinal = {
      "too many filtered rows", "primary key size exceed the limit",
      "Only primary key table support partial update", "Access denied"};
  return ContainsAny(message, kFinal);
}

void load_retry::Wait(int tries) {
  const int shift = tries < 5 ? tries : 5;
  std::this_thread::sleep_for(std::chrono::milliseconds(100 << shift));
}

Result<std::string> StateOfLabel(FrontEnds* http, const TablePath& table,
                                 const std::string& label) {
  FrontEndRequest request;
  request.method = "GET";
  request.path = "/api/" + UrlEncode(table.database) + "/get_load_state?label=" + label;
  auto answer = http->Send(request);
  if (!answer) {
    if (answer.error().kind() != ErrorKind::kCommitUnknown) return std::move(answer).error();
    return MakeError(ErrorKind::kUnavailable, answer.error().message());  // asking is harmless
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      const LoadAnswer state,
      ParseLoadAnswer(answer->status, answer->body, "the state of label " + label));
  return state.state;
}

Leftover LeftoverOf(std::string_view state) {
  if (state.empty() || state == "UNKNOWN") return Leftover::kNone;
  const bool is_committed = state == "COMMITTED" || state == "VISIBLE";
  return is_committed ? Leftover::kCommitted : Leftover::kAbandoned;
}

bool IsOpen(std::string_view state) {
  return state == "PREPARE" || state == "PREPARED" || state == "PRECOMMITTED";
}

Result<void> EndLoad(const std::string& label, int max_retries,
                     const std::function<Result<LoadAnswer>()>& give_up,
                     const std::function<Result<std::string>()>& state) {
  for (int tries = 1;; ++tries) {
    const Result<LoadAnswer> given_up = give_up();
    if (given_up && (given_up->Is("OK") || given_up->Is("Success"))) return {};
    // Refused, since it is over, or since a back end is still at it; or the answer was lost.
    const Result<std::string> now = state();
    if (now && !IsOpen(*now)) return {};
    if (tries > max_retries) {
      return MakeError(ErrorKind::kUnavailable,
                       "label " + label + " cannot be given up: " +
                           (now ? "it is in state " + *now : now.error().message()));
    }
    load_retry::Wait(tries);
  }
}

std::string ShownRows(std::string_view page) {
  static constexpr char kHex[] = "0123456789abcdef";
  while (!page.empty() && (page.back() == '\n' || page.back() == '\r')) page.remove_suffix(1);
  std::string text;
  for (size_t at = 0; at < page.size();) {
    if (text.size() >= kShownBytes) return text + " ...";
    const size_t length = Utf8SequenceLength(page, at);
    const auto byte = static_cast<unsigned char>(page[at]);
    if (byte == '\n') {
      text += " | ";
    } else if (length == 0 || byte < 0x20 || byte == 0x7F) {
      text += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      text += page.substr(at, length);
    }
    at += std::max<size_t>(length, 1);
  }
  return text;
}

Error RefusedLoad(FrontEnds* http, const TablePath& table, const LoadAnswer& answer) {
  std::string text = "the server refused rows for " + table.ToString() + ": " +
                     (answer.message.empty() ? answer.status : answer.message);
  if (!answer.error_url.empty()) {
    const std::string rows = ShownRows(http->Fetch(answer.error_url));
    text += rows.empty() ? " (see " + answer.error_url + ")" : "; the first rows: " + rows;
  }
  return MakeError(ErrorKind::kInvalidInput, std::move(text));
}

}  // namespace driftless::olap
