#include "pipeline/transform/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "pipeline/transform/change_transform.h"
#include "schema/events/table_rename.h"

namespace driftless {
namespace {

// Versions of one table's transforms are told apart in the versions of its output schemas.
constexpr uint32_t kVersionsApart = 1u << 24;

// A switch stands behind a row or statement and before the next one: its point is theirs with a
// part that no statement has.
constexpr uint32_t kFirstSwitchPart = 0x80000000u;

bool IsBehind(const Point& since, const Point& point) { return since.Precedes(point); }

}  // namespace

Result<std::unique_ptr<TransformStage>> TransformStage::Make(Context context) {
  std::unique_ptr<TransformStage> stage(new TransformStage(std::move(context)));
  if (stage->context_.store != nullptr) DRIFTLESS_TRY(stage->Restore());
  return stage;
}

// ---- what the state remembers
// --------------------------------------------------------------------

Result<void> TransformStage::Restore() {
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<TransformVersion> stored,
                             context_.store->Transforms(context_.stream));
  for (TransformVersion& version : stored) {
    Table& table = tables_[version.table];
    DRIFTLESS_TRY(Add(&table, std::move(version)));
  }
  // Tables that were read before the pipeline had transforms passed as they are.
  std::set<TablePath> known;
  if (context_.history != nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<SchemaVersion> history,
                               context_.history->All(std::nullopt));
    for (const SchemaVersion& version : history) {
      if (version.point.stream == context_.stream) known.insert(version.table);
    }
  }
  for (const TablePath& path : known) {
    if (tables_.contains(path) || !context_.covered) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const TableRules rules, TableRules::Of(*context_.definition, path));
    if (rules.empty()) continue;
    TransformVersion none;
    none.table = path;
    none.since.stream = context_.stream;
    DRIFTLESS_TRY(Add(&tables_[path], none));
    DRIFTLESS_TRY(Record(tables_[path].versions.back().get()));
  }
  for (auto& [path, table] : tables_) DRIFTLESS_TRY(CompareRules(path, &table));
  std::sort(switches_.begin(), switches_.end(), [&](const Switch& a, const Switch& b) {
    return tables_[a.table].versions[a.version]->stored.since.Precedes(
        tables_[b.table].versions[b.version]->stored.since);
  });
  return {};
}

Result<void> TransformStage::Add(Table* table, TransformVersion stored) {
  auto version = std::make_unique<Version>();
  DRIFTLESS_ASSIGN_OR_RETURN(version->rules, TableRules::Parse(stored.rules));
  if (!stored.binding.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(version->binding, Binding::Parse(stored.binding));
  }
  version->number = static_cast<uint32_t>(table->versions.size());
  version->stored = std::move(stored);
  table->versions.push_back(std::move(version));
  return {};
}

// Other transforms than last time begin behind everything that any sink has.
Result<void> TransformStage::CompareRules(const TablePath& path, Table* table) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TableRules rules, TableRules::Of(*context_.definition, path));
  if (rules.text() != table->versions.back()->rules.text()) {
    TransformVersion begins;
    begins.table = path;
    begins.rules = rules.text();
    begins.since.stream = context_.stream;
    if (!context_.may_change) {
      return MakeError(ErrorKind::kConflict, fmt::format("table {}: its transforms were changed "
                                                         "while a schema change is half done",
                                                         path.ToString()))
          .Hint("Start once with the former transforms; it finishes then.");
    }
    if (context_.covered) {
      const Version& last = *table->versions.back();
      begins.is_first = false;
      begins.since = *context_.covered;
      if (!last.stored.is_first && begins.since.Precedes(last.stored.since)) {
        begins.since = last.stored.since;
      }
      begins.since.part = std::max(begins.since.part + 1, kFirstSwitchPart);
      Binding binding = Binding::Inherit(last.binding);
      for (const auto& [from, to] : RenamedColumns(last.rules, rules)) {
        binding.RenameComputed(from, to);
      }
      begins.binding = binding.Serialize();
    } else {
      table->versions.clear();  // nothing was ever written under them
    }
    DRIFTLESS_TRY(Add(table, std::move(begins)));
    DRIFTLESS_TRY(Record(table->versions.back().get()));
    Warn(
        fmt::format("table {}: its transforms are others than in the last run; rows that are "
                    "written already stay as they are",
                    path.ToString()));
  }
  for (size_t i = 1; i < table->versions.size(); ++i) {
    const Point& since = table->versions[i]->stored.since;
    const bool is_done = context_.from && !context_.from->Precedes(since);
    if (!is_done) switches_.push_back({path, i});
  }
  return {};
}

Result<void> TransformStage::Record(Version* version) {
  if (context_.store == nullptr) return {};
  version->stored.binding = version->binding.Serialize();
  return context_.store->PutTransform(version->stored);
}

// ---- tables
// --------------------------------------------------------------------------------------

Result<TransformStage::Table*> TransformStage::TableOf(const TablePath& path) {
  const auto found = tables_.find(path);
  if (found != tables_.end()) return &found->second;
  DRIFTLESS_ASSIGN_OR_RETURN(const TableRules rules, TableRules::Of(*context_.definition, path));
  TransformVersion first;
  first.table = path;
  first.since.stream = context_.stream;
  first.rules = rules.text();
  Table& table = tables_[path];
  auto version = std::make_unique<Version>();
  version->rules = rules;
  version->stored = std::move(first);
  table.versions.push_back(std::move(version));
  if (!rules.empty()) DRIFTLESS_TRY(Record(table.versions.back().get()));
  return &table;
}

TransformStage::Version* TransformStage::VersionAt(Table* table, const Point& point) {
  for (auto version = table->versions.rbegin(); version != table->versions.rend(); ++version) {
    if ((*version)->stored.is_first || IsBehind((*version)->stored.since, point)) {
      return version->get();
    }
  }
  return table->versions.front().get();
}

// Null: the version has no rules.
Result<std::shared_ptr<TableTransform>> TransformStage::TransformOf(Version* version,
                                                                    const TableSchemaPtr& source) {
  if (version->rules.empty()) return std::shared_ptr<TableTransform>();
  for (auto* kept : {&version->transform, &version->previous}) {
    if (*kept == nullptr) continue;
    const TableSchemaPtr& known = (*kept)->source();
    if (known == source || (known->incarnation == source->incarnation &&
                            known->version == source->version && *known == *source)) {
      return *kept;
    }
  }
  const std::string before = version->binding.Serialize();
  Result<std::unique_ptr<TableTransform>> bound = TableTransform::Bind(
      version->rules, source, source->version + version->number * kVersionsApart, &version->binding,
      context_.options);
  if (!bound) return std::move(bound).error();
  if (version->binding.Serialize() != before) DRIFTLESS_TRY(Record(version));
  for (const std::string& text : (*bound)->stale_texts()) {
    Warn(
        fmt::format("table {}: the transform names columns by former names; it keeps its "
                    "meaning, and should read: {}",
                    source->path.ToString(), text));
  }
  version->previous = std::move(version->transform);
  version->transform = std::move(*bound);
  return version->transform;
}

Result<TableSchemaPtr> TransformStage::SchemaOf(Version* version, const TableSchemaPtr& source) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto transform, TransformOf(version, source));
  return transform == nullptr ? source : transform->output();
}

Result<TableSchemaPtr> TransformStage::OutputOf(const TableSchemaPtr& source) {
  DRIFTLESS_ASSIGN_OR_RETURN(Table * table, TableOf(source->path));
  return SchemaOf(table->versions.back().get(), source);
}

// ---- items
// ---------------------------------------------------------------------------------------

Result<std::vector<StatementChangePtr>> TransformStage::SwitchesBefore(const Point& point) {
  std::vector<StatementChangePtr> changes;
  while (!switches_.empty()) {
    const Switch next = switches_.front();
    Table& table = tables_[next.table];
    Version* begins = table.versions[next.version].get();
    if (!IsBehind(begins->stored.since, point)) break;
    switches_.erase(switches_.begin());
    if (context_.history == nullptr) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<SchemaVersion> versions,
                               context_.history->At(begins->stored.since));
    for (const SchemaVersion& version : versions) {
      if (version.table != next.table || version.schema == nullptr) continue;
      Version* ends = table.versions[next.version - 1].get();
      DRIFTLESS_ASSIGN_OR_RETURN(const TableSchemaPtr before, SchemaOf(ends, version.schema));
      DRIFTLESS_ASSIGN_OR_RETURN(const TableSchemaPtr after, SchemaOf(begins, version.schema));
      StatementChangePtr change = SwitchChange(before, after, begins->stored.since);
      if (change != nullptr) changes.push_back(std::move(change));
    }
  }
  return changes;
}

Result<void> TransformStage::RunPart(Version* version, const ChangeBatch& batch, int64_t begin,
                                     int64_t end, Output* output) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto transform, TransformOf(version, batch.schema()));
  DRIFTLESS_ASSIGN_OR_RETURN(
      TableTransform::Output made,
      transform->Run(batch, begin, end, context_.clock->NowMillis() * kMicrosPerSecond / 1000));
  if (made.batch != nullptr) output->batches.push_back(std::move(made.batch));
  for (TableTransform::BadRow& row : made.bad_rows) output->bad_rows.push_back(std::move(row));
  output->filtered += made.filtered;
  output->nulled += made.nulled;
  return {};
}

Result<TransformStage::Output> TransformStage::Apply(const ChangeBatchPtr& batch) {
  Output output;
  DRIFTLESS_ASSIGN_OR_RETURN(Table * table, TableOf(batch->table()));
  // Mostly all rows have one version.
  int64_t begin = 0;
  while (begin < batch->size()) {
    Version* version = VersionAt(table, batch->point(begin));
    int64_t end = batch->size();
    if (VersionAt(table, batch->last_point()) != version) {
      end = begin + 1;
      while (end < batch->size() && VersionAt(table, batch->point(end)) == version) ++end;
    }
    if (version->rules.empty() && begin == 0 && end == batch->size()) {
      output.batches.push_back(batch);
    } else if (version->rules.empty()) {
      output.batches.push_back(TableTransform::Slice(*batch, begin, end));
    } else {
      DRIFTLESS_TRY(RunPart(version, *batch, begin, end, &output));
    }
    begin = end;
  }
  return output;
}

// The new name has its own transforms; what the texts under the old one meant goes along with the
// table. All that is different behind the statement is part of it.
Result<StatementChangePtr> TransformStage::Rename(const StatementChangePtr& change,
                                                  const TablePath& to) {
  DRIFTLESS_ASSIGN_OR_RETURN(Table * from_table, TableOf(change->table));
  Version* from = VersionAt(from_table, change->point);
  DRIFTLESS_ASSIGN_OR_RETURN(Table * to_table, TableOf(to));
  Version* under = VersionAt(to_table, change->point);
  if (from->rules.empty() && under->rules.empty()) return change;
  auto renamed = std::make_shared<TableSchema>(*change->after());
  renamed->path = to;
  DRIFTLESS_ASSIGN_OR_RETURN(const auto before, TransformOf(from, change->before()));
  const std::string known = under->binding.Serialize();
  under->binding.TakeOver(from->binding, renamed->incarnation,
                          under->rules.text() == from->rules.text());
  if (under->binding.Serialize() != known) DRIFTLESS_TRY(Record(under));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto after, TransformOf(under, renamed));
  const TableSchemaPtr output_before = before == nullptr ? change->before() : before->output();
  const TableSchemaPtr output_after = after == nullptr ? renamed : after->output();
  return RenameChange(*change, before.get(), output_before, after.get(), output_after);
}

Result<StatementChangePtr> TransformStage::Apply(const StatementChangePtr& change) {
  if (const RenameTable* rename = FindRename(*change)) return Rename(change, rename->to);
  DRIFTLESS_ASSIGN_OR_RETURN(Table * table, TableOf(change->table));
  Version* version = VersionAt(table, change->point);
  if (version->rules.empty()) return change;
  std::shared_ptr<TableTransform> before;
  std::shared_ptr<TableTransform> after;
  if (change->before() != nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(before, TransformOf(version, change->before()));
  }
  if (change->after() != nullptr && change->after()->path == change->table) {
    DRIFTLESS_ASSIGN_OR_RETURN(after, TransformOf(version, change->after()));
  }
  return TransformChange(*change, before.get(), after.get());
}

}  // namespace driftless
