#pragma once

// Doubles for sources: a schema history in memory, and an output that applies everything that a
// source sends to tables in memory, the way a perfect sink would.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/sources/source.h"
#include "schema/base/check.h"
#include "schema/types/value_text.h"

namespace driftless::testing {

// Keeps what a state database would, over restarts of a source.
class MemoryHistory : public SchemaHistoryStore {
 public:
  Result<void> Put(const SchemaVersion& version) override {
    for (const SchemaVersion& known : versions_) {
      if (known.table == version.table && known.point == version.point) return {};
    }
    versions_.push_back(version);
    return {};
  }
  Result<std::vector<SchemaVersion>> At(const Point& point) const override {
    std::map<TablePath, SchemaVersion> last;
    for (const SchemaVersion& version : versions_) {
      if (point.Precedes(version.point)) continue;
      auto [at, added] = last.emplace(version.table, version);
      if (!added && at->second.point.Precedes(version.point)) at->second = version;
    }
    std::vector<SchemaVersion> result;
    for (auto& [path, version] : last) {
      if (version.schema != nullptr) result.push_back(std::move(version));
    }
    return result;
  }
  Result<std::optional<SchemaVersion>> Find(const TablePath& table,
                                            const Point& point) const override {
    for (const SchemaVersion& version : versions_) {
      if (version.table == table && version.point == point) return std::optional(version);
    }
    return std::optional<SchemaVersion>();
  }
  Result<std::vector<SchemaVersion>> All(const std::optional<TablePath>& table) const override {
    std::vector<SchemaVersion> result;
    for (const SchemaVersion& version : versions_) {
      if (!table || version.table == *table) result.push_back(version);
    }
    return result;
  }

 private:
  std::vector<SchemaVersion> versions_;
};

// A value by column identity; nullopt is NULL. A column that is missing was never written.
using ReplayedRow = std::map<ColumnId, std::optional<std::string>>;

struct ReplayedTable {
  TableSchemaPtr schema;
  std::map<std::string, ReplayedRow> rows;  // by the key's text; without a key by a running number
};

class ReplayedTables : public SourceOutput {
 public:
  std::map<TablePath, ReplayedTable> tables;
  std::vector<std::string> events;  // what Describe says of each part, in order
  std::vector<std::string> dead_letters;
  std::vector<std::string> unseen;      // rows that changed without row events
  std::vector<ChangeBatchPtr> batches;  // only with keep_batches
  bool keep_batches = false;
  int64_t changes = 0;
  CutPosition position;  // of the last progress
  std::string last_resume;
  std::vector<std::string> faults;  // what a source must never do
  // Called with the number of changes so far; true stops the source.
  std::function<bool(int64_t)> stop_when;
  // Called on every progress.
  std::function<void()> on_progress;

  // Changes behind the last progress are lost at a crash: what is kept is this copy (only with
  // keep_durable).
  struct Durable {
    std::map<TablePath, ReplayedTable> tables;
    CutPosition position;
  };
  Durable durable;
  bool keep_durable = false;

  bool Changes(ChangeBatchPtr batch) override {
    if (stopped_) return false;
    if (keep_batches) batches.push_back(batch);
    auto found = tables.find(batch->table());
    if (found == tables.end()) {
      faults.push_back("rows of " + batch->table().ToString() + " before its table is there");
      return true;
    }
    ReplayedTable& table = found->second;
    if (!(*table.schema == *batch->schema())) {
      faults.push_back("rows of " + batch->table().ToString() + " under another schema");
    }
    for (int64_t row = 0; row < batch->size(); ++row) Apply(*batch, row, &table);
    changes += batch->size();
    return !Stop();
  }

  bool Schema(StatementChangePtr change, std::string) override {
    if (stopped_) return false;
    for (const SchemaChange& part : change->parts) {
      events.push_back(Describe(part));
      Apply(change->table, part);
    }
    return !Stop();
  }

  bool Progress(const Point& point, std::string resume, int64_t) override {
    if (stopped_) return false;
    position.Extend(point, resume);
    last_resume = resume;
    if (keep_durable) durable = {tables, position};
    if (on_progress) on_progress();
    return !Stop();
  }

  bool DeadLetter(const Point&, std::string position_text, std::string_view,
                  const Error& error) override {
    dead_letters.push_back(position_text + ": " + error.message());
    return !stopped_;
  }

  bool Unseen(const UnseenChange& change) override {
    unseen.push_back(change.table.ToString() + ": " + change.what);
    return !stopped_;
  }

  bool stopping() const override { return stopped_; }
  void RequestStop() { stopped_ = true; }

 private:
  bool Stop() {
    if (!stopped_ && stop_when && stop_when(changes)) stopped_ = true;
    return stopped_;
  }

  static std::optional<std::string> Text(const LogicalType& type, const ColumnView& view,
                                         int64_t row) {
    if (view.IsNull(row)) return std::nullopt;
    std::string text;
    AppendText(type, view, row, TextFormat{.bytes = BytesText::kHex}, &text);
    return text;
  }

  static void Read(const ChangeBatch& batch, std::span<const ColumnView> image, int64_t row,
                   ReplayedRow* values) {
    const auto& columns = batch.schema()->columns;
    for (size_t i = 0; i < image.size(); ++i) {
      if (image[i].IsAbsent(row)) continue;
      (*values)[columns[i].id] = Text(columns[i].type, image[i], row);
    }
  }

  static std::string KeyOf(const TableSchema& schema, const ReplayedRow& row) {
    std::string key;
    for (ColumnId id : schema.primary_key) {
      const auto found = row.find(id);
      key += (found == row.end() || !found->second) ? "\x01" : *found->second;
      key += '\0';
    }
    return key;
  }

  void Apply(const ChangeBatch& batch, int64_t row, ReplayedTable* table) {
    const TableSchema& schema = *table->schema;
    const Op op = batch.ops()[static_cast<size_t>(row)];
    ReplayedRow before;
    ReplayedRow after;
    if (!batch.before().empty() && batch.HasBefore(row)) Read(batch, batch.before(), row, &before);
    if (op != Op::kDelete) Read(batch, batch.after(), row, &after);
    if (schema.primary_key.empty()) {
      ApplyWithoutKey(op, before, std::move(after), table);
      return;
    }
    if (op == Op::kDelete) {
      if (table->rows.erase(KeyOf(schema, before)) == 0 && expect_rows) {
        faults.push_back("a delete of a row that is not there in " + schema.path.ToString());
      }
      return;
    }
    if (!before.empty() && KeyOf(schema, before) != KeyOf(schema, after)) {
      auto old = table->rows.extract(KeyOf(schema, before));
      if (!old.empty()) table->rows[KeyOf(schema, after)] = std::move(old.mapped());
    }
    ReplayedRow& target = table->rows[KeyOf(schema, after)];
    for (auto& [id, value] : after) target[id] = std::move(value);
  }

  void ApplyWithoutKey(Op op, const ReplayedRow& before, ReplayedRow after, ReplayedTable* table) {
    auto found = table->rows.end();
    if (op == Op::kDelete || op == Op::kUpdate) {
      for (auto at = table->rows.begin(); at != table->rows.end(); ++at) {
        if (Equal(*table->schema, at->second, before)) {
          found = at;
          break;
        }
      }
      if (found == table->rows.end() && expect_rows) {
        faults.push_back("no row to change in " + table->schema->path.ToString());
        return;
      }
    }
    if (op == Op::kDelete) {
      if (found != table->rows.end()) table->rows.erase(found);
      return;
    }
    if (found != table->rows.end()) {
      for (auto& [id, value] : after) found->second[id] = std::move(value);
      return;
    }
    table->rows[NextNumber(table->rows)] = std::move(after);
  }

  // The key of a row without one: behind all others.
  static std::string NextNumber(const std::map<std::string, ReplayedRow>& rows) {
    const std::string number =
        std::to_string(rows.empty() ? 0 : std::stoull(rows.rbegin()->first) + 1);
    return std::string(20 - number.size(), '0') + number;
  }

  static bool Equal(const TableSchema& schema, const ReplayedRow& row, const ReplayedRow& before) {
    for (const Column& column : schema.columns) {
      const auto old = before.find(column.id);
      if (old == before.end()) continue;
      const auto have = row.find(column.id);
      // Rows from before an added column hold nothing of it; the source's default is not known.
      if (have != row.end() && have->second != old->second) return false;
    }
    return true;
  }

  void Apply(const TablePath& path, const SchemaChange& part) {
    switch (part.kind()) {
      case EventKind::kCreateTable:
        if (tables.contains(path)) faults.push_back("created twice: " + path.ToString());
        tables[path] = ReplayedTable{part.after, {}};
        return;
      case EventKind::kDropTable:
        if (tables.erase(path) == 0) faults.push_back("dropped, not there: " + path.ToString());
        return;
      case EventKind::kTruncateTable: tables.at(path).rows.clear(); return;
      case EventKind::kRenameTable: {
        const TablePath to = std::get<RenameTable>(part.detail).to;
        auto node = tables.extract(path);
        if (node.empty()) {  // not captured before
          tables[to] = ReplayedTable{part.after, {}};
          return;
        }
        node.key() = to;
        node.mapped().schema = part.after;
        tables.erase(to);
        tables.insert(std::move(node));
        return;
      }
      default: break;
    }
    const TablePath now = part.before->path;
    auto found = tables.find(now);
    if (found == tables.end()) {
      faults.push_back("changed, not there: " + now.ToString());
      return;
    }
    ReplayedTable& table = found->second;
    if (!(*table.schema == *part.before)) {
      faults.push_back("the part begins with another schema: " + now.ToString());
    }
    table.schema = part.after;
    if (part.kind() != EventKind::kKeyChange) return;
    std::map<std::string, ReplayedRow> rows;
    for (auto& [key, row] : table.rows) {
      if (!part.after->primary_key.empty()) {
        rows[KeyOf(*part.after, row)] = std::move(row);
      } else {
        rows[NextNumber(rows)] = std::move(row);
      }
    }
    table.rows = std::move(rows);
  }

 public:
  bool expect_rows = true;  // deletes and updates must find their rows

 private:
  bool stopped_ = false;
};

}  // namespace driftless::testing
