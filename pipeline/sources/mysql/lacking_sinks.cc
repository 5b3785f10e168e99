#include "pipeline/sources/mysql/lacking_sinks.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "pipeline/sources/mysql/log_position.h"

namespace driftless::mysql {
namespace {

class Finder {
 public:
  Finder(const LackingInputs& inputs, SnapshotProgress* progress)
      : inputs_(inputs),
        progress_(*progress),
        evidence_(inputs.stream, inputs.snapshot, inputs.wants_snapshot, inputs.history) {}

  LackingSinks Run() {
    for (const auto& [path, schema] : inputs_.tables) Look(path, schema);
    return std::move(found_);
  }

 private:
  void Look(const TablePath& path, const TableSchemaPtr& schema) {
    std::vector<std::string> strangers;  // that never heard of the table
    std::vector<std::string> lack;       // that have no row of it
    bool some_have_rows = false;
    const std::vector<SinkPlace> places = inputs_.places(path);
    for (const SinkPlace& place : places) {
      if (place.from.Last(inputs_.stream)) continue;
      lack.push_back(place.sink);
      if (place.furthest.empty()) {
        strangers.push_back(place.sink);
        continue;
      }
      found_.introductions.push_back({SinkChoice::Only({place.sink}), VersionsOf(path, schema)});
      if (!evidence_.HasRows(path, place)) continue;
      some_have_rows = true;
      const std::optional<Point> last = place.furthest.Last(inputs_.stream);
      if (last && !last->Precedes(inputs_.at)) continue;
      found_.gaps.push_back({path, place.sink, last ? last->ToString() : "its creation"});
    }
    if (!strangers.empty()) {
      found_.introductions.push_back({SinkChoice::Only(std::move(strangers)), {schema}});
    }
    if (lack.empty() || !inputs_.wants_snapshot) return;
    if (lack.size() == places.size()) lack.clear();  // nobody has it: all
    Owe(*schema, lack, some_have_rows);
  }

  // What is to be read of a table. Without a key nothing tells rows that are there from rows that
  // come again, so there the log leaves out what the reading brings.
  void Owe(const TableSchema& schema, const std::vector<std::string>& lack, bool some_have_rows) {
    progress_.Forget(schema.path, [&](const std::string& sink) {
      return std::find(lack.begin(), lack.end(), sink) != lack.end();
    });
    const bool is_being_read = progress_.tables.contains(schema.path);
    const bool others_need_it = is_being_read && !lack.empty();
    TableProgress& table = progress_.tables[schema.path];
    if (!others_need_it || some_have_rows) {
      table.StartAnew();
      table.repeats = (some_have_rows || others_need_it) && !schema.primary_key.empty();
      table.only_for.clear();
      if (!others_need_it) table.only_for = lack;
      table.owed_to.clear();
      table.as_of.reset();
    } else if (table.begun()) {
      table.owed_to.insert(table.owed_to.end(), lack.begin(), lack.end());
    } else if (!table.only_for.empty()) {
      table.only_for.insert(table.only_for.end(), lack.begin(), lack.end());
    }
  }

  // Of the present table of that name, from its first one to that of the place: a sink that knows
  // it has one of them.
  std::vector<TableSchemaPtr> VersionsOf(const TablePath& path, const TableSchemaPtr& now) const {
    std::map<uint32_t, TableSchemaPtr> numbered;
    if (const auto* known = evidence_.VersionsOf(path)) {
      for (const SchemaVersion* version : *known) {
        if (version->schema == nullptr || inputs_.at.Precedes(version->point)) continue;
        if (version->schema->incarnation != now->incarnation) continue;
        numbered[version->schema->version] = version->schema;
      }
    }
    numbered[now->version] = now;
    std::vector<TableSchemaPtr> versions;
    for (const auto& [number, schema] : numbered) versions.push_back(schema);
    return versions;
  }

  const LackingInputs& inputs_;
  SnapshotProgress& progress_;
  const RowEvidence evidence_;
  LackingSinks found_;
};

}  // namespace

RowEvidence::RowEvidence(StreamId log, StreamId snapshot, bool wants_snapshot,
                         const std::vector<SchemaVersion>& history)
    : log_(log), snapshot_(snapshot), wants_snapshot_(wants_snapshot) {
  for (const SchemaVersion& version : history) {
    if (version.point.stream == log) versions_[version.table].push_back(&version);
  }
}

const std::vector<const SchemaVersion*>* RowEvidence::VersionsOf(const TablePath& path) const {
  const auto found = versions_.find(path);
  return found == versions_.end() ? nullptr : &found->second;
}

// Rows have moved the sink's own position in the table. Those of a table that a start announced
// come by the snapshot before any by the log.
bool RowEvidence::HasRows(const TablePath& path, const SinkPlace& place) const {
  if (place.own.Last(snapshot_)) return true;
  const std::optional<Point> last = place.own.Last(log_);
  if (!last || LogPosition::IsIntroduction(*last)) return false;
  const SchemaVersion* first = nullptr;  // of the table that had the name there
  const auto* versions = VersionsOf(path);
  if (versions == nullptr) return true;
  for (const SchemaVersion* version : *versions) {
    if (last->Precedes(version->point)) break;
    const bool goes_on = first != nullptr && first->schema != nullptr &&
                         version->schema != nullptr &&
                         first->schema->incarnation == version->schema->incarnation;
    if (!goes_on) first = version;
  }
  if (first == nullptr) return true;
  if (first->point == *last) return false;
  return !wants_snapshot_ || !first->statement.empty();
}

LackingSinks FindLackingSinks(const LackingInputs& inputs, SnapshotProgress* progress) {
  return Finder(inputs, progress).Run();
}

}  // namespace driftless::mysql
