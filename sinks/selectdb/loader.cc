#include <algorithm>
#include <atomic>
#include <charconv>

#include "sinks/olap/front_ends.h"
#include "sinks/olap/load_answer.h"
#include "sinks/selectdb/selectdb.h"

namespace driftless::selectdb {
namespace {

using olap::FrontEndRequest;
using olap::FrontEnds;
using olap::LoadAnswer;

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// One load that is prepared: its label, and the server's number where its answer was not lost.
struct PreparedLoad {
  std::string label;
  int64_t txn_id = -1;
};

// "label number" per line.
std::string Encode(const std::vector<PreparedLoad>& loads) {
  std::string text;
  for (const PreparedLoad& load : loads) {
    text += load.label + " " + std::to_string(load.txn_id) + "\n";
  }
  return text;
}

Result<std::vector<PreparedLoad>> Decode(std::string_view payload) {
  std::vector<PreparedLoad> loads;
  while (!payload.empty()) {
    const std::string_view line = payload.substr(0, payload.find('\n'));
    payload.remove_prefix(std::min(line.size() + 1, payload.size()));
    const size_t blank = line.find(' ');
    if (blank == std::string_view::npos) {
      return MakeError(ErrorKind::kCorrupt, "a recorded load has no number: " + std::string(line));
    }
    PreparedLoad load{std::string(line.substr(0, blank)), -1};
    const std::string_view number = line.substr(blank + 1);
    std::from_chars(number.data(), number.data() + number.size(), load.txn_id);
    loads.push_back(std::move(load));
  }
  return loads;
}

class Calls {
 public:
  explicit Calls(const olap::OlapOptions& options)
      : http_(olap::FrontEndOptionsOf(options)),
        back_ends_(options.back_ends),
        load_headers_(options.load_headers),
        packing_(options.packing),
        two_phase_(options.two_phase),
        max_retries_(options.max_retries) {}

  FrontEnds* http() { return &http_; }
  olap::Packing packing() const { return packing_; }
  bool two_phase() const { return two_phase_; }
  int max_retries() const { return max_retries_; }

  // `has_key`: the table takes deletes, as a hidden column of the rows; rows that carry some
  // columns only, or that travel as Arrow, are no deletes and lack it.
  Result<LoadAnswer> Load(const TablePath& table, const std::string& label, bool two_phase,
                          bool has_key, const olap::LoadRequest& rows) {
    FrontEndRequest request;
    request.method = "PUT";
    request.path =
        "/api/" + UrlEncode(table.database) + "/" + UrlEncode(table.table) + "/_stream_load";
    request.headers = load_headers_;
    request.headers["label"] = label;
    request.headers["format"] = rows.is_arrow ? "arrow" : "json";
    if (!rows.is_arrow) request.headers["read_json_by_line"] = "true";
    if (!rows.is_arrow && packing_ != olap::Packing::kNone) {
      request.headers["compress_type"] = packing_ == olap::Packing::kGzip ? "gz" : "lz4";
    }
    if (!rows.columns.empty()) {
      request.headers["partial_columns"] = "true";
      request.headers["columns"] = rows.columns;
    } else if (has_key && !rows.is_arrow) {
      request.headers["hidden_columns"] = "__DORIS_DELETE_SIGN__";
    }
    if (two_phase) request.headers["two_phase_commit"] = "true";
    request.body = rows.body;
    DRIFTLESS_ASSIGN_OR_RETURN(const HttpResponse answer, SendLoad(request));
    return olap::ParseLoadAnswer(answer.status, answer.body, "loading label " + label);
  }

  // "commit" or "abort".
  Result<LoadAnswer> Finish(const TablePath& table, const PreparedLoad& load,
                            std::string_view operation) {
    FrontEndRequest request;
    request.method = "PUT";
    request.path = "/api/" + UrlEncode(table.database) + "/_stream_load_2pc";
    request.headers = {{"txn_operation", std::string(operation)}};
    if (load.txn_id >= 0) {
      request.headers["txn_id"] = std::to_string(load.txn_id);
    } else {
      request.headers["label"] = load.label;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const HttpResponse answer, http_.Send(request));
    return olap::ParseLoadAnswer(answer.status, answer.body,
                                 std::string(operation) + " of label " + load.label);
  }

  // Gives a load up. One that a back end is still at is waited for where the front end finds
  // precommitted loads only by their label (FrontendServiceImpl: PREPARE came later).
  Result<void> End(const TablePath& table, const PreparedLoad& load) {
    return olap::EndLoad(
        load.label, max_retries_, [&] { return Finish(table, load, "abort"); },
        [&] { return State(table, load.label); });
  }

  Result<std::string> State(const TablePath& table, const std::string& label) {
    return olap::StateOfLabel(&http_, table, label);
  }

 private:
  // Straight to a back end where the user names them, in turn; else where the front end says.
  Result<HttpResponse> SendLoad(const FrontEndRequest& request) {
    if (back_ends_.empty()) return http_.Send(request);
    for (size_t tries = 0;; ++tries) {
      const size_t at = next_.fetch_add(1, std::memory_order_relaxed) % back_ends_.size();
      auto answer = http_.SendTo(back_ends_[at], request);
      if (answer || answer.error().kind() != ErrorKind::kUnavailable) return answer;
      if (tries + 1 >= back_ends_.size()) return answer;
    }
  }

  FrontEnds http_;
  const std::vector<std::string> back_ends_;
  const std::map<std::string, std::string> load_headers_;
  const olap::Packing packing_;
  const bool two_phase_;
  const int max_retries_;
  std::atomic<size_t> next_{0};
};

class StreamLoad : public olap::TableLoad {
 public:
  StreamLoad(Calls* calls, TablePath table, bool has_key, const olap::Labels& labels, CutId cut,
             uint32_t attempt)
      : calls_(*calls),
        table_(std::move(table)),
        has_key_(has_key),
        // What is loaded twice into a table without a key stays there twice.
        two_phase_(calls->two_phase() || !has_key),
        labels_(labels),
        cut_(cut),
        attempt_(attempt) {}

  ~StreamLoad() override {
    for (const PreparedLoad& load : prepared_) {
      if (!calls_.End(table_, load)) return;
    }
  }

  // Every request is a load of its own: they become visible in the order of their sending, which is
  // that of their parts.
  Result<void> Send(const olap::LoadRequest& request) override {
    olap::LoadRequest rows = request;
    std::string packed;
    if (!rows.is_arrow) {
      DRIFTLESS_ASSIGN_OR_RETURN(rows.body, olap::Pack(calls_.packing(), rows.body, &packed));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(PreparedLoad load, FreshLabel());
    for (int tries = 1;; ++tries) {
      Result<Sent> sent = SendOnce(&load, rows, tries);
      if (!sent) return std::move(sent).error();
      if (sent->done) break;
      if (tries > calls_.max_retries()) {
        return MakeError(ErrorKind::kUnavailable,
                         "loading " + table_.ToString() + ": " + sent->reason);
      }
      olap::load_retry::Wait(tries);
    }
    if (two_phase_) prepared_.push_back(std::move(load));
    return {};
  }

  Result<std::string> Finish() override {
    std::string payload = Encode(prepared_);
    prepared_.clear();
    return payload;
  }

 private:
  struct Sent {
    bool done = false;
    std::string reason;  // of another try
  };

  // A label that somebody has used already, such as an older pipeline of this name whose state is
  // lost, would make the server's word about it a word about other rows.
  Result<PreparedLoad> FreshLabel() {
    while (true) {
      PreparedLoad load{labels_.Of(cut_, attempt_, number_++), -1};
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table_, load.label));
      if (state == "UNKNOWN" || state.empty()) return load;
    }
  }

  // The same label every time: a load that took effect is found under it.
  Result<Sent> SendOnce(PreparedLoad* load, const olap::LoadRequest& rows, int tries) {
    Result<LoadAnswer> loaded = calls_.Load(table_, load->label, two_phase_, has_key_, rows);
    if (!loaded) {
      if (!loaded.error().IsRetryable() && loaded.error().kind() != ErrorKind::kCommitUnknown) {
        return std::move(loaded).error();
      }
      return AfterLostAnswer(*load, loaded.error().message());
    }
    load->txn_id = loaded->txn_id;
    if (loaded->Is("Success") || loaded->Is("Publish Timeout")) return Sent{true, ""};
    if (loaded->Is("Label Already Exists")) {
      load->txn_id = -1;
      return AfterLostAnswer(*load, loaded->message);
    }
    if (olap::load_retry::IsBusy(loaded->message)) return Sent{false, loaded->message};
    const bool is_final = loaded->filtered_rows > 0 || !loaded->error_url.empty() ||
                          olap::load_retry::IsFinal(loaded->message);
    // A failed load's label may be used again.
    if (!is_final && tries <= calls_.max_retries()) return Sent{false, loaded->message};
    return olap::RefusedLoad(calls_.http(), table_, *loaded);
  }

  Result<Sent> AfterLostAnswer(const PreparedLoad& load, const std::string& reason) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table_, load.label));
    const bool done = state == "PRECOMMITTED" || state == "COMMITTED" || state == "VISIBLE";
    return Sent{done, reason + " (" + state + ")"};
  }

  Calls& calls_;
  const TablePath table_;
  const bool has_key_;
  const bool two_phase_;
  const olap::Labels labels_;
  const CutId cut_;
  const uint32_t attempt_;
  int number_ = 0;
  std::vector<PreparedLoad> prepared_;
};

class StreamLoader : public olap::Loader {
 public:
  explicit StreamLoader(const olap::OlapOptions& options) : calls_(options) {}

  std::unique_ptr<olap::TableLoad> Begin(const EvolvedSchema& table, const olap::Labels& labels,
                                         CutId cut, uint32_t attempt) override {
    return std::make_unique<StreamLoad>(&calls_, table.path, !table.primary_key.empty(), labels,
                                        cut, attempt);
  }

  Result<CommitState> LookUp(const TablePath& table, std::string_view payload) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto loads, Decode(payload));
    bool prepared = false;
    bool gone = false;
    for (const PreparedLoad& load : loads) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, load.label));
      if (state == "PRECOMMITTED") prepared = true;
      if (state == "PREPARE") return CommitState::kUnknown;
      if (state == "UNKNOWN" || state == "ABORTED") gone = true;
    }
    if (gone) {
      DRIFTLESS_TRY(Abort(table, payload));
      return CommitState::kGone;
    }
    return prepared ? CommitState::kPrepared : CommitState::kCommitted;
  }

  Result<void> Commit(const TablePath& table, std::string_view payload) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto loads, Decode(payload));
    for (const PreparedLoad& load : loads) DRIFTLESS_TRY(CommitOne(table, load));
    return {};
  }

  Result<void> Abort(const TablePath& table, std::string_view payload) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto loads, Decode(payload));
    for (const PreparedLoad& load : loads) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, load.label));
      if (olap::IsOpen(state)) DRIFTLESS_TRY(calls_.End(table, load));
    }
    return {};
  }

  Result<olap::Leftover> Abandon(const TablePath& table, const std::string& label) override {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, label));
    if (olap::IsOpen(state)) DRIFTLESS_TRY(calls_.End(table, {label, -1}));
    return olap::LeftoverOf(state);
  }

  bool takes_array() const override { return false; }

 private:
  Result<void> CommitOne(const TablePath& table, const PreparedLoad& load) {
    const auto committed = calls_.Finish(table, load, "commit");
    if (committed && committed->Is("Success")) return {};
    if (committed && (Contains(committed->message, "is already COMMITTED") ||
                      Contains(committed->message, "is already VISIBLE"))) {
      return {};
    }
    if (!committed && committed.error().kind() == ErrorKind::kPermission) return committed.error();
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string state, calls_.State(table, load.label));
    if (state == "COMMITTED" || state == "VISIBLE") return {};
    if (!committed) return committed.error();
    return MakeError(ErrorKind::kCommitUnknown, "committing label " + load.label + " (" + state +
                                                    "): " + committed->status + " " +
                                                    committed->message);
  }

  Calls calls_;
};

}  // namespace

std::unique_ptr<olap::Loader> MakeLoader(const olap::OlapOptions& options) {
  return std::make_unique<StreamLoader>(options);
}

}  // namespace driftless::selectdb
