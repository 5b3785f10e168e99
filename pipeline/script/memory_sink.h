#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schema/plan/schema_plan.h"
#include "sinks/api/component.h"

namespace driftless {

// A row as texts by column name; nullopt is NULL. A column that is not there is not at the sink.
using TextRow = std::map<std::string, std::optional<std::string>>;

// What a sink of a script holds: it outlives every run of the pipeline, as a real sink's server
// would. Thread-safe.
class MemoryStore {
 public:
  struct Table {
    SinkTable table;
    std::map<std::string, ColumnId> sources;  // which identity feeds which column
    std::map<std::string, TextRow> keyed;     // by the key's text; tables with a primary key
    std::vector<TextRow> appended;            // tables without
  };

  // Something that goes wrong, once per `times`, at the next step or commit.
  struct Fault {
    enum class Kind : uint8_t { kRefuse, kCrashBefore, kCrashAfter } kind = Kind::kRefuse;
    enum class At : uint8_t { kStep, kCommit } at = At::kStep;
    std::string message;
    int times = 1;
  };
  void Arm(Fault fault);
  bool HasFault() const;
  // What a crash does to the process; called from within a sink's call.
  void OnCrash(std::function<void()> crash);

  std::optional<SinkTable> Read(const TablePath& table) const;
  // Rows in the order of their key, or of writing; empty where there is no table.
  std::vector<TextRow> Rows(const TablePath& table) const;

  // Errors as a server would give them: kRefused, kAlreadyExists, kNotFound.
  Result<void> ExecuteStep(const SchemaPlan& plan, size_t step);
  // Applies the changes of one token; a token that was committed before does nothing.
  Result<void> Commit(const CommitToken& token);
  bool IsCommitted(const CommitToken& token) const;
  // For sinks that keep no schema: the table's columns are what the writer says.
  void AdoptColumns(const EvolvedSchema& table);

 private:
  // Takes the fault that waits at this place, if there is one.
  std::optional<Fault> TakeFault(Fault::At at);
  template <typename Work>
  Result<void> WithFault(Fault::At at, ErrorKind after_kind, Work work);
  Result<void> ApplyStep(const SchemaPlan& plan, size_t step);
  Result<void> ApplyChanges(const CommitToken& token);

  mutable std::mutex mutex_;
  std::map<TablePath, Table> tables_;
  std::set<std::string> committed_;  // identities of tokens
  std::vector<Fault> faults_;
  std::function<void()> crash_;
};

// A sink of the component's kind that writes to the store: its planner, its matrix, its way of
// keeping schemas, without a server. Commits are atomic and can be looked up.
Result<std::unique_ptr<Sink>> MakeMemorySink(const SinkComponent& component,
                                             const OptionValues& options,
                                             std::shared_ptr<MemoryStore> store);

// The rows of one column set as texts, as they are compared by `result`.
std::optional<std::string> TextOf(const LogicalType& type, const ColumnView& column, int64_t row);

}  // namespace driftless
