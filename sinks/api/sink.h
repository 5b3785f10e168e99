#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "schema/base/clock.h"
#include "schema/events/change_batch.h"
#include "schema/matrix/capability_matrix.h"
#include "schema/plan/schema_plan.h"

namespace driftless {

class MemoryBudget;

using CutId = uint64_t;        // durable numbering of cuts, one sequence per pipeline
using WriterIndex = uint32_t;  // which writer of a table
using StepIndex = uint32_t;

// What connecting told about the sink.
struct SinkInfo {
  std::string product;   // "Apache Paimon (filesystem)"
  std::string version;   // of the server; empty for file layouts
  std::string identity;  // which warehouse or cluster this is; a changed identity needs a new state
};

// The identity of a commit: stable over retries and restarts, so that a commit can be looked up.
struct CommitIdentity {
  std::string pipeline;
  std::string sink;
  TablePath table;
  CutId cut = 0;
  uint32_t attempt = 0;  // raised durably at every start, before anything is sent
};

// What one writer has made durable for one cut, still invisible. Opaque bytes of the sink.
struct PreparedPart {
  WriterIndex writer = 0;
  std::string payload;
  int64_t rows = 0;
  int64_t bytes = 0;
};

// All parts of one (table, cut), sealed into one atomic unit. Persisted by the runtime before
// Commit.
struct CommitToken {
  CommitIdentity identity;
  std::string payload;
};

enum class CommitState : uint8_t {
  kPrepared,   // everything is there, not yet visible: commit it
  kCommitted,  // already visible
  kGone,       // cannot be committed any more: the cut is void
  kUnknown,    // cannot be told now; ask again
};

// For every row of a batch, which writer takes it. Filled by Sink::Assign on the inlet's thread.
class WriterRows {
 public:
  // Clears and makes room for `writers` lists; keeps capacity.
  void Reset(WriterIndex writers);
  void Add(WriterIndex writer, uint32_t row) { rows_[writer].push_back(row); }
  WriterIndex writer_count() const { return count_; }
  std::span<const uint32_t> rows(WriterIndex writer) const { return rows_[writer]; }

 private:
  std::vector<std::vector<uint32_t>> rows_;
  WriterIndex count_ = 0;
};

// How rows of one source schema version become rows of the sink's evolved schema: by identity,
// total, worked out once per (sink table, source version). See sinks/api/projection.h.
class Projection;
// Takes dead letters and counts of lost values; see sinks/api/projected_batch.h, by which writers
// look at a batch.
class RowReporter;

// What a writer is opened for.
struct WriterContext {
  CommitIdentity identity;  // cut: the first cut that it will prepare
  const Clock* clock = nullptr;
  MemoryBudget* budget = nullptr;   // may be null in tests: unbounded
  RowReporter* reporter = nullptr;  // may be null: a row that would be a dead letter is an error
};

// Writes the rows of one (table, writer index). One thread at a time.
class TableWriter {
 public:
  virtual ~TableWriter() = default;
  // Takes the rows with these indices, in order. `batch` is shared: a writer may keep it.
  // `projection` maps the batch's schema to the sink's; it outlives the writer.
  virtual Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                             std::span<const uint32_t> rows) = 0;
  // Memory is short: bring what is buffered to durable storage, keep it for the next token.
  virtual Result<void> Roll() = 0;
  // All earlier rows durable, invisible until Commit.
  virtual Result<PreparedPart> Prepare(CutId cut) = 0;
  virtual int64_t buffered_bytes() const = 0;
};
using TableWriterPtr = std::unique_ptr<TableWriter>;

// What a sink promises and needs; constant per configured sink.
struct SinkTraits {
  bool transactional = false;   // Commit makes a token visible atomically
  bool partial_update = false;  // can leave a column as it is; else needs full rows
  bool keeps_schema = true;     // false: Kafka, print
  bool wants_before_images = false;
  int64_t max_wait_ms = 1000;  // the longest that a row may wait in an open batch
  int io_threads = 4;          // per-sink I/O pool
};

// One configured sink. Methods other than Assign may be called beside its writers, from the sink's
// I/O pool, one call at a time per table; Assign is called on the inlet's thread only.
class Sink {
 public:
  virtual ~Sink() = default;

  virtual const CapabilityMatrix& matrix() const = 0;
  virtual const SchemaPlanner& planner() const = 0;
  virtual SinkTraits traits() const = 0;

  virtual Result<SinkInfo> Connect() = 0;  // version and identity; no side effect
  // What is really there now; nullopt: no such table.
  virtual Result<std::optional<SinkTable>> ReadTable(const TablePath& table) = 0;
  // Errors: kRefused carries the sink's own message; kTimedOut and kUnavailable promise that
  // nothing happened; kCommitUnknown says that it may have.
  virtual Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex step) = 0;

  // How many writers a table has (fixed buckets: up to their number).
  virtual WriterIndex WriterCount(const EvolvedSchema& table) const = 0;
  virtual void Assign(const ChangeBatch& batch, const EvolvedSchema& table,
                      const Projection& projection, WriterRows* out) = 0;
  virtual Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex index,
                                            const WriterContext& context) = 0;

  // One atomic token per (table, cut).
  virtual Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema& table,
                                   std::span<const PreparedPart> parts) = 0;
  virtual Result<CommitState> LookUp(const CommitToken& token) = 0;
  // Makes the tokens visible. Repeating a commit that took effect is a success.
  virtual Result<void> Commit(std::span<const CommitToken> tokens) = 0;
  virtual Result<void> Abort(std::span<const CommitToken> tokens) = 0;
  // At start: removes what older attempts of this pipeline left in the table of `next` and no token
  // in `recorded` names. Never touches what somebody else may need. `next`: the identity of what
  // this attempt commits first.
  virtual Result<void> CleanUp(const CommitIdentity& next,
                               std::span<const CommitToken> recorded) = 0;
};

}  // namespace driftless
