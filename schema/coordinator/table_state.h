#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schema/audit/audit.h"
#include "schema/coordinator/merge.h"
#include "schema/policy/decide.h"

// What the coordinator knows of one sink table, and its text in the state database.
namespace driftless {

using StatementChangePtr = std::shared_ptr<const StatementChange>;

// A source table of this sink table that was renamed, as it was decided then: whatever
// `table.rename` says later, rows of `incarnation` under the name `to` go where they went.
struct TableRenaming {
  TablePath from;
  TablePath to;
  uint64_t incarnation = 0;
  bool followed = false;
  bool ended = false;  // dropped since
};

// A change that has been decided and is not over yet.
struct OpenChange {
  enum class Phase : uint8_t {
    kReading,    // waits for ReadTable before it can be decided; never persisted as such
    kHeld,       // waits for approval; the table's rows are parked
    kCutting,    // waits for the schema cut
    kExecuting,  // step `step` has been or is being sent
    kFailed,     // stopped the pipeline; decided anew when it comes again
  };
  Phase phase = Phase::kReading;
  StatementChangePtr change;
  TablePath source;  // the source table that the change came from
  // What the merge of shards settled by itself, and how the merge stands afterwards.
  std::vector<PartDecision> settled;
  std::vector<BegunDivergence> settled_begun;
  std::vector<EndedDivergence> settled_ended;
  std::optional<ShardMerge> merge;
  std::string position;
  int64_t seen_ms = 0;
  std::map<uint32_t, DecisionId> ids;  // by part
  std::vector<PartDecision> parts;
  SchemaPlan plan;
  std::vector<uint32_t> step_parts;
  std::optional<EvolvedSchema> evolved;  // afterwards
  std::vector<BegunDivergence> begun;
  std::vector<EndedDivergence> ended;
  uint32_t step = 0;
  std::map<uint32_t, ForcedVerdict> forced;
  bool approved = false;
  bool answered = false;  // a hold that somebody, or its timeout, decided
  bool one_by_one = false;
  bool late = false;  // a drop that was held while its rows went on
  std::optional<TableRenaming> renaming;
  int64_t held_since_ms = 0;

  // Of this process only.
  bool arrived = false;             // the caller stands at it: everything before it is with writers
  bool recovering = false;          // the next read answers where the sink stands
  std::optional<SinkTable> actual;  // what ReadTable said
  bool was_read = false;
  int64_t retry_at_ms = 0;  // 0: nothing to repeat
  int attempts = 0;
  int conflicts = 0;
};

struct TableState {
  bool known = false;                    // some create.table has been decided
  std::optional<EvolvedSchema> evolved;  // none though known: not fed any more
  // The last change with an outcome, per source table and stream: what comes again at or before it
  // is never decided again.
  std::map<std::pair<TablePath, StreamId>, Point> decided;
  std::optional<OpenChange> open;
  std::vector<OpenChange> late;  // drops that wait for approval while rows go on
  ShardMerge merge;              // the source tables that feed it
  std::vector<TableRenaming> renamings;
};

// Errors of the inverse: kCorrupt.
std::string Serialize(const TableState& state);
Result<TableState> ParseTableState(std::string_view text);

}  // namespace driftless
