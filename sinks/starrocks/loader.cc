#include "sinks/starrocks/starrocks.h"

#include <algorithm>

#include "sinks/olap/front_ends.h"
#include "sinks/olap/load_answer.h"

namespace driftless::starrocks {
namespace {

using olap::FrontEndRequest;
using olap::FrontEnds;
using olap::LoadAnswer;

using Headers = std::map<std::string, std::string>;

// A prepared transaction must outlive a restart of ours; the server's own default is a day.
constexpr std::string_view kPreparedTimeoutS = "86400";
constexpr std::string_view kTimeoutS = "3600";

// Calls of the transaction interface; every one names database and label.
class Transactions {
 public:
  explicit Transactions(const olap::OlapOptions& options)
      : http_(olap::FrontEndOptionsOf(options)),
        load_headers_(options.load_headers),
        packing_(options.packing),
        max_retries_(options.max_retries) {}

  Result<LoadAnswer> Call(std::string_view operation, const TablePath& table,
                          const std::string& label, Headers headers = {},
                          std::string_view body = {}) {
    FrontEndRequest request;
    request.method = operation == "load" ? "PUT" : "POST";
    request.path = "/api/transaction/" + std::string(operation);
    request.headers = std::move(headers);
    request.headers["label"] = label;
    request.headers["db"] = table.database;
    request.body = body;
    DRIFTLESS_ASSIGN_OR_RETURN(const HttpResponse answer, http_.Send(request));
    return olap::ParseLoadAnswer(answer.status, answer.body,
                                 "transaction " + std::string(operation) + " of label " + label);
  }

  // `columns`: what the rows carry, where they keep the others; all loads of a transaction have the
  // same.
  Result<LoadAnswer> Load(const TablePath& table, const std::string& label,
                          const std::string& columns, std::string_view body) {
    Headers headers = load_headers_;
    headers["table"] = table.table;
    headers["format"] = "json";
    headers["strip_outer_array"] = "true";
    headers["ignore_json_size"] = "true";
    if (packing_ != olap::Packing::kNone) {
      headers["compression"] = packing_ == olap::Packing::kGzip ? "gzip" : "lz4_frame";
    }
    if (!columns.empty()) {
      headers["partial_update"] = "true";
      headers["columns"] = columns;
    }
    return Call("load", table, label, std::move(headers), body);
  }

  Result<LoadAnswer> Begin(const TablePath& table, const std::string& label) {
    return Call("begin", table, label,
                {{"table", table.table}, {"timeout", std::string(kTimeoutS)}});
  }

  Result<std::string> State(const TablePath& table, const std::string& label) {
    return olap::StateOfLabel(&http_, table, label);
  }

  Result<void> End(const TablePath& table, const std::string& label) {
    return olap::EndLoad(
        label, max_retries_, [&] { return Call("rollback", table, label); },
        [&] { return State(table, label); });
  }

  FrontEnds* http() { return &http_; }
  olap::Packing packing() const { return packing_; }
  int max_retries() const { return max_retries_; }

 private:
  FrontEnds http_;
  const std::map<std::string, std::string> load_headers_;
  const olap::Packing packing_;
  const int max_retries_;
};

bool IsOk(const LoadAnswer& answer) { return answer.Is("OK") || answer.Is("Success"); }

Error Retryable(std::string_view what, const LoadAnswer& answer) {
  return MakeError(ErrorKind::kUnavailable,
                   std::string(what) + ": " + answer.status + " " + answer.message);
}

std::vector<std::string> LabelsOf(std::string_view payload) {
  std::vector<std::string> labels;
  while (!payload.empty()) {
    const std::string_view label = payload.substr(0, payload.find('\n'));
    payload.remove_prefix(std::min(label.size() + 1, payload.size()));
    if (!label.empty()) labels.emplace_back(label);
  }
  return labels;
}

// One transaction for each part of the rows.
class TransactionLoad : public olap::TableLoad {
 public:
  TransactionLoad(Transactions* calls, TablePath table, const olap::Labels& labels, CutId cut,
                  uint32_t attempt)
      : calls_(*calls), table_(std::move(table)), labels_(labels), cut_(cut), attempt_(attempt) {}

  ~TransactionLoad() override { static_cast<void>(RollBack()); }

  Result<void> Send(const olap::LoadRequest& request) override {
    std::string packed;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view body,
                               olap::Pack(calls_.packing(), request.body, &packed));
    if (parts_.size() <= request.part) parts_.resize(request.part + 1);
    Part& part = parts_[request.part];
    for (int tries = 1;; ++tries) {
      Result<void> sent = SendOnce(&part, request.columns, body);
      if (sent) {
        part.sent_anything = true;
        return {};
      }
      // Bodies of the same transaction that went before are gone with it.
      if (!sent.error().IsRetryable() || part.sent_anything || tries > calls_.max_retries()) {
        static_cast<void>(RollBack());
        return sent;
      }
      DRIFTLESS_TRY(RollBack(&part));
      olap::load_retry::Wait(tries);
    }
  }

  Result<std::string> Finish() override {
    std::string payload;
    for (Part& part : parts_) {
      if (!part.is_open) continue;
      Result<void> prepared = Prepare(part.label);
      if (!prepared) {
        static_cast<void>(RollBack());
        return std::move(prepared).error();
      }
      if (!payload.empty()) payload += '\n';
      payload += part.label;
    }
    parts_.clear();
    return payload;
  }

 private:
  struct Part {
    std::string label;
    bool is_open = false;  // begun; maybe prepared
    bool sent_anything = false;
  };

  // A transaction that stays open holds up the table's schema changes for an hour (kTimeoutS).
  Result<void> RollBack(Part* part) {
    if (!part->is_open) return {};
    DRIFTLESS_TRY(calls_.End(table_, part->label));
    part->is_open = false;
    return {};
  }
  Result<void> RollBack() {
    for (Part& part : parts_) DRIFTLESS_TRY(RollBack(&part));
    return {};
  }

  // Numbers of labels that the server knows have no gaps: whoever looks for what is left asks for
  // them until one is unknown. A label that was refused, or rolled back, may be begun again; one
  // that is taken is of another load, such as one of an older pipeline of this name.
  Result<void> Begin(Part* part) {
    while (true) {
      part->label = labels_.Of(cut_, attempt_, number_);
      Result<LoadAnswer> begun = calls_.Begin(table_, part->label);
      if (!begun) {
        part->is_open = begun.error().kind() == ErrorKind::kCommitUnknown;
        if (!part->is_open) return std::move(begun).error();
        return MakeError(ErrorKind::kUnavailable, begun.error().message());
      }
      part->is_open = IsOk(*begun);
      const bool is_taken = begun->Is("LABEL_ALREADY_EXISTS") || begun->Is("Label Already Exists");
      if (part->is_open || is_taken) ++number_;
      if (part->is_open) return {};
      if (!is_taken) return Retryable("beginning a load of " + table_.ToString(), *begun);
    }
  }

  Result<void> SendOnce(Part* part, const std::string& columns, std::string_view body) {
    if (!part->is_open) DRIFTLESS_TRY(Begin(part));
    Result<LoadAnswer> loaded = calls_.Load(table_, part->label, columns, body);
    if (!loaded) {
      if (loaded.error().kind() != ErrorKind::kCommitUnknown) return std::move(loaded).error();
      return MakeError(ErrorKind::kUnavailable, loaded.error().message());
    }
    if (IsOk(*loaded)) return {};
    if (loaded->filtered_rows > 0 || !loaded->error_url.empty() ||
        olap::load_retry::IsFinal(loaded->message)) {
      return olap::RefusedLoad(calls_.http(), table_, *loaded);
    }
    return Retryable("loading " + table_.ToString(), *loaded);
  }

  Result<void> Prepare(const std::string& label) {
    for (int tries = 1;; ++tries) {
      Result<LoadAnswer> prepared = calls_.Call(
          "prepare", table_, label, {{"prepared_timeout", std::string(kPreparedTimeoutS)}});
      if (prepared && IsOk(*prepared)) return {};
      // A lost answer, or a repeated call: the label's state is the truth.
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table_, label));
      if (state == "PREPARED") return {};
      if (prepared && prepared->filtered_rows > 0) {
        return olap::RefusedLoad(calls_.http(), table_, *prepared);
      }
      if (state != "PREPARE" || tries > calls_.max_retries()) {
        if (!prepared) return MakeError(ErrorKind::kUnavailable, prepared.error().message());
        return Retryable("preparing the load of " + table_.ToString(), *prepared);
      }
      olap::load_retry::Wait(tries);
    }
  }

  Transactions& calls_;
  const TablePath table_;
  const olap::Labels labels_;
  const CutId cut_;
  const uint32_t attempt_;
  int number_ = 0;
  std::vector<Part> parts_;
};

class TransactionLoader : public olap::Loader {
 public:
  explicit TransactionLoader(const olap::OlapOptions& options) : calls_(options) {}

  std::unique_ptr<olap::TableLoad> Begin(const EvolvedSchema& table, const olap::Labels& labels,
                                         CutId cut, uint32_t attempt) override {
    return std::make_unique<TransactionLoad>(&calls_, table.path, labels, cut, attempt);
  }

  Result<CommitState> LookUp(const TablePath& table, std::string_view payload) override {
    bool prepared = false;
    bool gone = false;
    for (const std::string& label : LabelsOf(payload)) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, label));
      if (state == "PREPARED") {
        prepared = true;
      } else if (state != "COMMITTED" && state != "VISIBLE") {
        gone = true;  // PREPARE: begun and never prepared, nobody can finish it any more
      }
    }
    if (gone) {
      DRIFTLESS_TRY(Abort(table, payload));
      return CommitState::kGone;
    }
    return prepared ? CommitState::kPrepared : CommitState::kCommitted;
  }

  Result<void> Commit(const TablePath& table, std::string_view payload) override {
    for (const std::string& label : LabelsOf(payload)) DRIFTLESS_TRY(CommitOne(table, label));
    return {};
  }

  Result<void> Abort(const TablePath& table, std::string_view payload) override {
    for (const std::string& label : LabelsOf(payload)) DRIFTLESS_TRY(calls_.End(table, label));
    return {};
  }

  Result<olap::Leftover> Abandon(const TablePath& table, const std::string& label) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, label));
    if (olap::IsOpen(state)) DRIFTLESS_TRY(calls_.End(table, label));
    return olap::LeftoverOf(state);
  }

  bool takes_array() const override { return true; }

 private:
  Result<void> CommitOne(const TablePath& table, const std::string& label) {
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

  Transactions calls_;
};

}  // namespace

std::unique_ptr<olap::Loader> MakeLoader(const olap::OlapOptions& options) {
  return std::make_unique<TransactionLoader>(options);
}

}  // namespace driftless::starrocks
