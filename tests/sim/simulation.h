#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "schema/coordinator/coordinator.h"
#include "tests/doubles/source_table.h"
#include "tests/sim/model_sink.h"
#include "tests/sim/paimon_world.h"

namespace driftless::sim {

// One item of the one source stream: a row of a source table, or a statement on it.
struct Item {
  size_t source = 0;          // which source table
  StatementChangePtr change;  // null: a row
  TableSchemaPtr schema;      // of the row
  std::string key;
  std::map<ColumnId, std::string> values;
};

// What the sink table stands at, as the model runtime keeps it. A sink table is a cursor over the
// stream; waiting at a statement is what the product does by parking.
struct Feed {
  SinkTableKey key;
  std::set<size_t> sources;
  // Durable.
  size_t committed = 0;
  std::string state;  // of the coordinator
  bool has_state = false;
  bool cut_pending = false;          // between transactions A and B of a schema cut
  std::optional<CommitToken> token;  // of a real sink, between A and B of any cut
  size_t cut_position = 0;
  bool cut_committed = false;
  // Of this process.
  size_t position = 0;
  bool waits = false;
  EvolvedSchemaPtr evolved;
  std::map<TablePath, EvolvedSchemaPtr> by_source;
  std::vector<std::pair<std::string, ModelSink::Row>> buffer;  // written at the next commit
  EvolvedSchemaPtr buffer_schema;
};

// Runs a random pipeline to its end, with faults, and checks the promises on the way. Everything is
// a function of the seed.
class Simulation {
 public:
  enum class Sinks : uint8_t { kModels, kRealPaimon };  // the latter: one of two, slower
  explicit Simulation(uint64_t seed, Sinks which = Sinks::kModels);
  ~Simulation();
  // Empty: every promise held; else what was broken, with the last events before it.
  std::string Run();
  // Of the real sink's tables, with an effect.
  int64_t compactions() const;

 private:
  struct SinkUnderTest;

  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool Chance(uint32_t percent) { return Below(100) < percent; }

  // ---- making the stream ----
  void MakeStream();
  void MakeStatement(size_t source);
  void MakeRow(size_t source);

  // ---- the runtime ----
  void Start();
  void Crash(const char* where);
  void Take(std::vector<CoordinatorAction> actions);
  void Record(const std::vector<CoordinatorAction>& actions);
  void Advance(Feed* feed);
  void WriteRow(Feed* feed, const Item& item);
  void Checkpoint(Feed* feed);
  // Both false: the process died meanwhile, or the sink could not be reached.
  bool Seal(Feed* feed);
  bool Commit(Feed* feed);
  void Settle(Feed* feed);
  void CleanUp(const Feed& feed);
  void ExecuteAtReal(ExecuteStep& execute, Feed* feed, PaimonWorld* real, uint32_t dice);
  void Perform();
  void Do(ReadSinkTable& read);
  void Do(CutTable& cut);
  void Do(ExecuteStep& execute);
  void Do(Release& release);
  void Do(FailPipeline& fail);
  template <typename Other>
  void Do(Other&) {}
  void Answer();
  bool Finished() const;
  Feed* FeedOf(const SinkTableKey& key);
  ModelSink* SinkOf(const SinkTableKey& key);
  PaimonWorld* RealOf(const SinkTableKey& key);
  std::optional<SinkTable> Look(const SinkTableKey& key);

  // ---- the promises ----
  void CheckTable(const Feed& feed);
  void CheckEnd();
  void Broken(const std::string& what);
  void Log(std::string what);

  std::mt19937_64 random_;
  std::vector<std::unique_ptr<SourceTable>> sources_;
  std::vector<Item> stream_;
  std::vector<std::unique_ptr<SinkUnderTest>> sinks_;
  std::vector<Feed> feeds_;
  std::unique_ptr<Coordinator> coordinator_;
  std::deque<CoordinatorAction> pending_;
  DecisionId next_decision_ = 1;
  int64_t now_ms_ = 1000;
  bool faults_ = true;
  int64_t processes_ = 0;  // how often it was started
  std::vector<AuditRecord> audit_;
  std::set<DecisionId> held_;
  std::string broken_;
  std::deque<std::string> log_;
};

}  // namespace driftless::sim
