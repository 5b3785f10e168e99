#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/options/option.h"
#include "config/yaml/problems.h"
#include "pipeline/sources/sink_choice.h"
#include "schema/base/clock.h"
#include "schema/coordinator/coordinator.h"
#include "schema/events/change_batch.h"
#include "schema/events/schema_change.h"
#include "schema/history/history.h"
#include "schema/history/unclear_statement.h"

namespace driftless {

enum class OnUnparsedDdl : uint8_t;  // config/definition/pipeline_options.h

// Rows of a captured table came, went or changed, and no row event says so (policy, section 11).
struct UnseenChange {
  TablePath table;  // at the source
  Point point;
  std::string position;  // the source's words for it
  std::string statement;
  std::string what;            // "TRUNCATE PARTITION p1"
  bool is_conversion = false;  // stored values were converted; no row came or went
  bool is_read_again = false;  // the source reads the whole table once more, behind the statement
  bool is_repeated = false;    // the same, but nothing empties the sinks' tables before
  SinkChoice sinks;            // whom it concerns
};

// Where a source's stream goes: the runtime's end of it. All calls of one stream come from that
// stream's thread; they block while the pipeline is full and return false when it stops.
class SourceOutput {
 public:
  virtual ~SourceOutput() = default;
  virtual bool Changes(ChangeBatchPtr batch) = 0;
  // A statement. The source has sealed and sent every batch with earlier rows of the table.
  // `position` is the source's words for its point.
  virtual bool Schema(StatementChangePtr change, std::string position) = 0;
  // Everything up to and including `point` has been sent. At least once a second, also when idle;
  // `resume` is what the source needs to go on behind it; `event_time_ms` feeds the lag metrics.
  virtual bool Progress(const Point& point, std::string resume, int64_t event_time_ms) = 0;
  // What is sent between `begins` and its end goes into one cut as a whole, its progress too: a
  // source uses it for rows that come otherwise when they are read again. Keep it short: no
  // checkpoint is made meanwhile. An output without cuts has nothing to do.
  virtual bool Unbroken(bool begins) {
    static_cast<void>(begins);
    return !stopping();
  }
  // The rows and statements that follow on this stream are for these sinks alone, until the next
  // call: for one that lacks what others have. An output to one place has nothing to do.
  virtual void SendTo(SinkChoice choice) { static_cast<void>(choice); }
  // A record that could not be decoded, kept with its position in the dead-letter file.
  virtual bool DeadLetter(const Point& point, std::string position, std::string_view record,
                          const Error& error) = 0;
  // A statement that is not understood for certain, where the user wants its tables parked and
  // SourceContext::answers knows no answer. Rows before it have been sent; the source sends nothing
  // more of these tables. Once it is decided the run begins anew, and the source reads on from in
  // front of the statement. False: the pipeline stops. An output that cannot park gives the reason
  // back as an error.
  virtual Result<bool> Park(const UnclearStatement& statement) {
    return MakeError(ErrorKind::kUnsupported, statement.why).Position(statement.position);
  }
  // `pipeline.rows-without-events` says what becomes of it. False: the pipeline stops.
  virtual bool Unseen(const UnseenChange&) { return true; }
  virtual bool stopping() const = 0;
};

// What a source tells of itself for /metrics. Thread-safe; not for hot paths.
class SourceMetrics {
 public:
  virtual ~SourceMetrics() = default;
  // A gauge of one of the source's streams: "lag_bytes", "log_file", "log_offset", "snapshot_rows",
  // "snapshot_rows_left", "snapshot_chunks", "snapshot_tables_left".
  virtual void SetGauge(std::string_view stream, std::string_view name, double value) = 0;
  virtual void AddEvents(std::string_view stream, std::string_view type, int64_t events) = 0;
};

// Where the tables of one sink stand that a source table goes to.
struct SinkPlace {
  std::string sink;
  CutPosition from;      // all of them have, or have durably parked, what lies before it
  CutPosition furthest;  // none of them has anything behind it
  // What they have of this source table apart from the rest: its own rows and statements.
  CutPosition own;
};

// What the runtime gives a source.
struct SourceContext {
  std::string pipeline_name;
  std::string local_time_zone;
  const Clock* clock = nullptr;
  SchemaHistoryStore* history = nullptr;
  // The furthest position of the sink tables that a source table goes to: where it is behind `from`
  // of Run, rows between have gone to some of them, or to all. Null: the same as `from`.
  std::function<CutPosition(const TablePath& source)> furthest;
  // A sink that was added, or was killed before its first commit, has no position, so that `from`
  // of Run holds nothing. This is the position of all sink tables that have one in the stream:
  // where the others can go on. Null, and where nobody has one: nothing.
  std::function<CutPosition(StreamId stream)> from_of_others;
  // At every sink that a source table goes to. Null: not known.
  std::function<std::vector<SinkPlace>(const TablePath& source)> places;
  const UnclearAnswers* answers = nullptr;  // null: nobody answers
  SourceMetrics* metrics = nullptr;         // null: nobody asks
  OnUnparsedDdl on_unparsed_ddl{};          // the pipeline's; a source's own option wins
  bool reads_tables_again = false;          // rows-without-events: resync
  bool wants_before_images = false;         // some sink or transform reads them
  int64_t max_wait_ms = 1000;               // how long a row may wait in an open batch
};

// What a look at a source's server found, for `driftless validate --live`: whatever a pipeline
// would come upon later, and what to do about it.
struct LiveFinding {
  enum class Level : uint8_t { kError, kWarning } level = Level::kError;
  std::string what;
  std::string remedy;
};
struct LiveReport {
  std::string server;  // which one it is; empty: nothing to say
  std::vector<LiveFinding> findings;
  std::vector<TableSchemaPtr> tables;  // that would be captured, as they are now
};

// One configured source. It knows nothing of checkpoints: it attaches points and sends progress.
class Source {
 public:
  virtual ~Source() = default;
  // Checks that the source can be read; no side effect.
  virtual Result<void> Connect(const SourceContext& context) = 0;
  // Like Connect, but finds out all that is wrong. Errors: it cannot be reached at all.
  virtual Result<LiveReport> Examine(const SourceContext& context) {
    DRIFTLESS_TRY(Connect(context));
    return LiveReport();
  }
  // Names of its streams; a stream's StreamId is its index here plus the base the runtime adds.
  virtual std::vector<std::string> streams() const = 0;
  // Reads one stream from just behind `from` (from the configured start where it holds nothing for
  // the stream) until its end or until output->stopping(). Returns an error to stop the pipeline;
  // success at the end of a bounded stream.
  virtual Result<void> Run(StreamId stream, size_t stream_index, const CutPosition& from,
                           SourceOutput* output) = 0;
  // Whether a stream in which some sink has no position goes on from SourceContext::from_of_others,
  // instead of beginning anew for all.
  virtual bool GoesOnForOthers() const { return false; }
  // Whether rows of a table of this name are sent. Any thread.
  virtual bool Captures(const TablePath& table) const {
    static_cast<void>(table);
    return true;
  }
  // The position that every sink has made durable: slots, group offsets.
  virtual void Acknowledge(const CutPosition&) {}
};

// One kind of source.
struct SourceComponent {
  std::string_view type;
  std::vector<std::string_view> aliases;
  std::string_view summary;
  std::span<const OptionSpec> options;
  // Null while this build has only the options of the source: `run` refuses such a pipeline;
  // `plan`, `explain` and `validate` work.
  Result<std::unique_ptr<Source>> (*make_source)(const OptionValues&) = nullptr;
  bool reads_tables_again = false;  // it can take a snapshot of a table once more
  // Checks that concern more than one option, or the text of one; for `driftless validate`. May be
  // null.
  void (*check)(const OptionValues&, Problems*) = nullptr;
};

// The one list of sources (pipeline/sources/all_sources.cc).
std::span<const SourceComponent> AllSources();

}  // namespace driftless
