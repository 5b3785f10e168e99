#include "sinks/starrocks/starrocks.h"

#include "sinks/olap/http_client.h"
#include "sinks/olap/load_answer.h"

namespace driftless::starrocks {
namespace {

using olap::HttpAnswer;
using olap::HttpClient;
using olap::HttpRequest;
using olap::LoadAnswer;

using Headers = std::vector<std::pair<std::string, std::string>>;

// A prepared transaction must outlive a restart of ours; the server's own default is a day.
constexpr std::string_view kPreparedTimeoutS = "86400";
constexpr std::string_view kTimeoutS = "3600";

// Calls of the transaction interface; every one names database and label.
class Transactions {
 public:
  Transactions(HttpClient* http, const std::map<std::string, std::string>& load_headers)
      : http_(*http), load_headers_(load_headers) {}

  Result<LoadAnswer> Call(std::string_view operation, const TablePath& table,
                          const std::string& label, Headers more = {}, std::string_view body = {}) {
    HttpRequest request;
    request.method = operation == "load" ? "PUT" : "POST";
    request.path = "/api/transaction/" + std::string(operation);
    request.headers = {{"label", label}, {"db", table.database}};
    for (auto& header : more) request.headers.push_back(std::move(header));
    request.body = body;
    DRIFTLESS_ASSIGN_OR_RETURN(const HttpAnswer answer, http_.Send(request));
    return olap::ParseLoadAnswer(answer.status, answer.body,
                                 "transaction " + std::string(operation) + " of label " + label);
  }

  Result<LoadAnswer> Load(const TablePath& table, const std::string& label, std::string_view body) {
    Headers headers = {{"table", table.table},
                       {"format", "json"},
                       {"strip_outer_array", "true"},
                       {"ignore_json_size", "true"}};
    for (const auto& header : load_headers_) headers.push_back(header);
    return Call("load", table, label, std::move(headers), body);
  }

  Result<LoadAnswer> Begin(const TablePath& table, const std::string& label) {
    return Call("begin", table, label,
                {{"table", table.table}, {"timeout", std::string(kTimeoutS)}});
  }

  // UNKNOWN, PREPARE, PREPARED, COMMITTED, VISIBLE, ABORTED.
  Result<std::string> State(const TablePath& table, const std::string& label) {
    HttpRequest request;
    request.method = "GET";
    request.path = "/api/" + olap::EscapePath(table.database) + "/get_load_state?label=" + label;
    auto answer = http_.Send(request);
    if (!answer) {
      if (answer.error().kind() != ErrorKind::kCommitUnknown) return std::move(answer).error();
      return MakeError(ErrorKind::kUnavailable, answer.error().message());  // asking is harmless
    }
    DRIFTLESS_ASSIGN_OR_RETURN(
        const LoadAnswer state,
        olap::ParseLoadAnswer(answer->status, answer->body, "the state of label " + label));
    return state.state;
  }

  HttpClient* http() { return &http_; }

 private:
  HttpClient& http_;
  const std::map<std::string, std::string>& load_headers_;
};

bool IsOk(const LoadAnswer& answer) { return answer.Is("OK") || answer.Is("Success"); }

Error Retryable(std::string_view what, const LoadAnswer& answer) {
  return MakeError(ErrorKind::kUnavailable,
                   std::string(what) + ": " + answer.status + " " + answer.message);
}

class TransactionLoad : public olap::TableLoad {
 public:
  TransactionLoad(Transactions calls, TablePath table, const olap::Labels& labels, CutId cut,
                  uint32_t attempt, int max_retries)
      : calls_(calls),
        table_(std::move(table)),
        labels_(labels),
        cut_(cut),
        attempt_(attempt),
        max_retries_(max_retries) {}

  ~TransactionLoad() override {
    if (is_open_) static_cast<void>(calls_.Call("rollback", table_, label_));
  }

  Result<void> Send(std::string_view body) override {
    for (int tries = 1;; ++tries) {
      Result<void> sent = SendOnce(body);
      if (sent) {
        sent_anything_ = true;
        return {};
      }
      RollBack();
      // Bodies of the same transaction that went before are gone with it.
      if (!sent.error().IsRetryable() || sent_anything_ || tries > max_retries_) return sent;
      olap::load_retry::Wait(tries);
    }
  }

  Result<std::string> Finish() override {
    if (!is_open_) return std::string();
    for (int tries = 1;; ++tries) {
      Result<LoadAnswer> prepared = calls_.Call(
          "prepare", table_, label_, {{"prepared_timeout", std::string(kPreparedTimeoutS)}});
      if (prepared && IsOk(*prepared)) break;
      // A lost answer, or a repeated call: the label's state is the truth.
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table_, label_));
      if (state == "PREPARED") break;
      if (prepared && prepared->filtered_rows > 0) {
        is_open_ = false;
        return olap::RefusedLoad(calls_.http(), table_, *prepared);
      }
      if (state != "PREPARE" || tries > max_retries_) {
        RollBack();
        if (!prepared) return MakeError(ErrorKind::kUnavailable, prepared.error().message());
        return Retryable("preparing the load of " + table_.ToString(), *prepared);
      }
      olap::load_retry::Wait(tries);
    }
    is_open_ = false;
    return std::move(label_);
  }

 private:
  void RollBack() {
    if (is_open_) static_cast<void>(calls_.Call("rollback", table_, label_));
    is_open_ = false;
  }

  Result<void> Begin() {
    label_ = labels_.Of(cut_, attempt_, number_++);
    Result<LoadAnswer> begun = calls_.Begin(table_, label_);
    if (!begun) {
      is_open_ = begun.error().kind() == ErrorKind::kCommitUnknown;
      if (!is_open_) return std::move(begun).error();
      return MakeError(ErrorKind::kUnavailable, begun.error().message());
    }
    is_open_ = IsOk(*begun);
    if (is_open_) return {};
    return Retryable("beginning a load of " + table_.ToString(), *begun);
  }

  Result<void> SendOnce(std::string_view body) {
    if (!is_open_) DRIFTLESS_TRY(Begin());
    Result<LoadAnswer> loaded = calls_.Load(table_, label_, body);
    if (!loaded) {
      if (loaded.error().kind() != ErrorKind::kCommitUnknown) return std::move(loaded).error();
      return MakeError(ErrorKind::kUnavailable, loaded.error().message());
    }
    if (IsOk(*loaded)) return {};
    if (loaded->filtered_rows > 0 || !loaded->error_url.empty() ||
        loaded->message.find("too many filtered rows") != std::string::npos) {
      return olap::RefusedLoad(calls_.http(), table_, *loaded);
    }
    return Retryable("loading " + table_.ToString(), *loaded);
  }

  Transactions calls_;
  const TablePath table_;
  const olap::Labels labels_;
  const CutId cut_;
  const uint32_t attempt_;
  const int max_retries_;
  std::string label_;
  int number_ = 0;
  bool is_open_ = false;
  bool sent_anything_ = false;
};

class TransactionLoader : public olap::Loader {
 public:
  explicit TransactionLoader(const olap::OlapOptions& options)
      : http_({options.load_addresses, options.sql.user, options.sql.password,
               options.connect_timeout_ms, options.continue_timeout_ms, options.answer_timeout_ms}),
        load_headers_(options.load_headers),
        max_retries_(options.max_retries),
        calls_(&http_, load_headers_) {}

  std::unique_ptr<olap::TableLoad> Begin(const EvolvedSchema& table, const olap::Labels& labels,
                                         CutId cut, uint32_t attempt) override {
    return std::make_unique<TransactionLoad>(calls_, table.path, labels, cut, attempt,
                                             max_retries_);
  }

  Result<CommitState> LookUp(const TablePath& table, std::string_view payload) override {
    if (payload.empty()) return CommitState::kCommitted;
    const std::string label(payload);
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, label));
    if (state == "PREPARED") return CommitState::kPrepared;
    if (state == "COMMITTED" || state == "VISIBLE") return CommitState::kCommitted;
    if (state == "UNKNOWN" || state == "ABORTED") return CommitState::kGone;
    // Begun and never prepared: nobody can finish it any more.
    DRIFTLESS_TRY(calls_.Call("rollback", table, label));
    return CommitState::kGone;
  }

  Result<void> Commit(const TablePath& table, std::string_view payload) override {
    if (payload.empty()) return {};
    const std::string label(payload);
    const auto committed = calls_.Call("commit", table, label);
    // Published a little later, for sure.
    if (committed && (IsOk(*committed) || committed->Is("Publish Timeout"))) return {};
    if (!committed && committed.error().kind() == ErrorKind::kPermission) return committed.error();
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, label));
    if (state == "COMMITTED" || state == "VISIBLE") return {};
    if (!committed) return committed.error();
    return MakeError(ErrorKind::kCommitUnknown, "committing label " + label + " (" + state + "): " +
                                                    committed->status + " " + committed->message);
  }

  Result<void> Abort(const TablePath& table, std::string_view payload) override {
    if (payload.empty()) return {};
    const auto aborted = calls_.Call("rollback", table, std::string(payload));
    if (!aborted) return aborted.error();
    return {};
  }

  Result<bool> Abandon(const TablePath& table, const std::string& label) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, label));
    if (state == "UNKNOWN" || state.empty()) return false;
    if (state == "PREPARE" || state == "PREPARED") DRIFTLESS_TRY(Abort(table, label));
    return true;
  }

  bool takes_array() const override { return true; }

 private:
  HttpClient http_;
  const std::map<std::string, std::string> load_headers_;
  const int max_retries_;
  Transactions calls_;
};

}  // namespace

std::unique_ptr<olap::Loader> MakeLoader(const olap::OlapOptions& options) {
  return std::make_unique<TransactionLoader>(options);
}

}  // namespace driftless::starrocks
