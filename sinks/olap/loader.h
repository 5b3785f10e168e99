#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "sinks/api/sink.h"

namespace driftless::olap {

// Names the loads of one table: pipeline, sink and table, then cut, attempt and a running number,
// so that a load whose answer was lost is found again, and one of an older attempt recognised.
// Letters, digits, "-", "_" and ":" only, 128 at most (Doris, "Stream Load", header label).
class Labels {
 public:
  Labels(std::string_view prefix, const CommitIdentity& identity);
  std::string Of(CutId cut, uint32_t attempt, int number) const;

 private:
  std::string owner_;
};

// How a body is packed on its way.
enum class Packing : uint8_t { kNone, kGzip, kLz4Frame };
// The body as it travels: itself, or packed into `room`. Errors: kInternal.
Result<std::string_view> Pack(Packing packing, std::string_view body, std::string* room);

// One request with rows.
struct LoadRequest {
  // Parts become visible in this order; rows of one part in the order that they were sent in.
  size_t part = 0;
  std::string columns;    // "`id`,`v`" where the rows carry these only, and keep the others
  bool is_arrow = false;  // an Arrow IPC stream, where the product's dialect knows that
  std::string_view body;
};

// The load of one (table, cut) by one writer. Its rows are durable and invisible after Finish. What
// is not finished is given up with the object; where no server answers to that, the next attempt
// ends it (Loader::Abandon).
class TableLoad {
 public:
  virtual ~TableLoad() = default;
  // Rows in order, as RowEncoder writes them. Errors: kInvalidInput with
  // the server's reason and the first refused rows; retryable kinds: nothing of this cut counts, it
  // is loaded again under another attempt.
  virtual Result<void> Send(const LoadRequest& request) = 0;
  // What Commit needs; empty: nothing was sent.
  virtual Result<std::string> Finish() = 0;
};

// What an older attempt left under a label.
enum class Leftover : uint8_t {
  kNone,       // the server does not know the label
  kAbandoned,  // it is given up now, or was before
  kCommitted,  // its rows are visible, or will be
};

// How rows travel: the stream-load protocol of one product. Thread-safe.
class Loader {
 public:
  virtual ~Loader() = default;

  virtual std::unique_ptr<TableLoad> Begin(const EvolvedSchema& table, const Labels& labels,
                                           CutId cut, uint32_t attempt) = 0;
  virtual Result<CommitState> LookUp(const TablePath& table, std::string_view payload) = 0;
  virtual Result<void> Commit(const TablePath& table, std::string_view payload) = 0;
  virtual Result<void> Abort(const TablePath& table, std::string_view payload) = 0;
  // Ends what an older attempt left open under a label. Errors: kUnavailable while it is still
  // open.
  virtual Result<Leftover> Abandon(const TablePath& table, const std::string& label) = 0;

  // How bodies look: "[{..},{..}]", or one object per line.
  virtual bool takes_array() const = 0;
};

// What retries have in common.
namespace load_retry {
// Whether the server is busy and the same load may succeed a little later.
bool IsBusy(std::string_view message);
// Whether the same load fails again whatever is waited for: its rows or the rights are wrong.
bool IsFinal(std::string_view message);
// Waits before try number `tries` (from 1).
void Wait(int tries);
}  // namespace load_retry

class FrontEnds;
struct LoadAnswer;

// UNKNOWN, PREPARE, PREPARED (StarRocks), PRECOMMITTED (Doris), COMMITTED, VISIBLE, ABORTED.
// Errors: kUnavailable, kPermission.
Result<std::string> StateOfLabel(FrontEnds* http, const TablePath& table, const std::string& label);
// What there is left under a label in this state, once it is not open any more.
Leftover LeftoverOf(std::string_view state);
// Whether rows under a label in this state may still become visible: a job of an ALTER waits for
// them, and so must whoever writes newer rows.
bool IsOpen(std::string_view state);
// Ends an open load: gives it up, and again after a pause, until the server says that it is over.
// `give_up` may be refused or stay without an answer, as may `state`. Errors: kUnavailable, behind
// `max_retries` more tries.
Result<void> EndLoad(const std::string& label, int max_retries,
                     const std::function<Result<LoadAnswer>()>& give_up,
                     const std::function<Result<std::string>()>& state);

// A page of refused rows as one line of text for an error: its beginning, in UTF-8, without control
// characters, whatever the rows hold.
std::string ShownRows(std::string_view page);
// The error of a refused load: the server's message and the first rows that it refused.
Error RefusedLoad(FrontEnds* http, const TablePath& table, const LoadAnswer& answer);

}  // namespace driftless::olap
