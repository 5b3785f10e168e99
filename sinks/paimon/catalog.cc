#include "sinks/paimon/catalog.h"

#include <algorithm>
#include <utility>

#include "schema/base/check.h"
#include "sinks/paimon/schema_change.h"
#include "sinks/paimon/table.h"
#include "sinks/paimon/types.h"

namespace driftless::paimon {
namespace {

constexpr int kMaxAttempts = 20;

// The same but for the id, the time and the mark: what the table is.
bool SameTable(PaimonSchema a, PaimonSchema b) {
  for (PaimonSchema* schema : {&a, &b}) {
    schema->id = 0;
    schema->time_ms = 0;
    schema->options.erase(std::string(kChangeOption));
  }
  return a == b;
}

Error Named(Error error, const TablePath& table) {
  return std::move(error).Context("Paimon table " + table.ToString());
}

}  // namespace

SinkTable ToSinkTable(const PaimonSchema& schema, const TablePath& path) {
  SinkTable table;
  table.path = path;
  for (const PaimonField& field : schema.fields) {
    SinkColumn column;
    column.name = field.name;
    column.type = field.type;
    column.native_type = field.type.IsNested() ? field.type.ToString() : PaimonTypeText(field.type);
    column.comment = field.description;
    if (field.default_value) {
      column.default_value = {DefaultValue::Kind::kLiteral, *field.default_value};
    }
    column.native_id = field.id;
    table.columns.push_back(std::move(column));
  }
  table.primary_key = schema.primary_keys;
  table.partition_keys = schema.partition_keys;
  table.options = schema.options;
  if (const auto mark = table.options.find(std::string(kChangeOption));
      mark != table.options.end()) {
    table.change_ids = {mark->second};
    table.options.erase(mark);
  }
  table.comment = schema.comment;
  table.version = "schema-" + std::to_string(schema.id);
  return table;
}

Result<std::optional<SinkTable>> PaimonCatalog::ReadTable(const TablePath& table) const {
  const Result<std::optional<PaimonSchema>> schema =
      PaimonTable(store_, TableDirectory(table)).LatestSchema();
  if (!schema) return Named(schema.error(), table);
  if (!*schema) return std::optional<SinkTable>();
  return std::optional(ToSinkTable(**schema, table));
}

Result<void> PaimonCatalog::CreateTable(const TablePath& path, PaimonSchema schema) const {
  DRIFTLESS_TRY(store_->MakeDirectory(path.database + ".db"));
  const PaimonTable table(store_, TableDirectory(path));
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<PaimonSchema> latest, table.LatestSchema());
    if (latest) {
      if (SameTable(*latest, schema)) return {};
      return MakeError(ErrorKind::kRefused,
                       "the table was created by somebody else, with another "
                       "schema, a moment ago");
    }
    schema.time_ms = clock_->NowMillis();
    const Result<void> created =
        store_->CreateExclusive(table.Path("schema/schema-0"), SchemaToJson(schema));
    if (created) return {};
    // Found or not sure: look again.
    if (created.error().kind() != ErrorKind::kAlreadyExists &&
        created.error().kind() != ErrorKind::kCommitUnknown) {
      return created.error();
    }
  }
  return MakeError(ErrorKind::kCommitUnknown, "cannot find out whether the table was created");
}

Result<void> PaimonCatalog::CommitChanges(const TablePath& path, const std::string& mark,
                                          const std::vector<ColumnChange>& changes) const {
  const PaimonTable table(store_, TableDirectory(path));
  std::optional<PaimonSchema> tried;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<PaimonSchema> latest, table.LatestSchema());
    if (!latest) return MakeError(ErrorKind::kRefused, "the table is not there");
    // Our own commit, whose answer was lost.
    if (tried && *latest == *tried) return {};
    PaimonSchema next = *latest;
    DRIFTLESS_TRY(ApplyChanges(changes, &next));
    next.id = latest->id + 1;
    next.time_ms = std::max(clock_->NowMillis(), latest->time_ms);
    next.options[std::string(kChangeOption)] = mark;
    const Result<void> created = store_->CreateExclusive(
        table.Path("schema/schema-" + std::to_string(next.id)), SchemaToJson(next));
    if (created) return {};
    if (created.error().kind() == ErrorKind::kCommitUnknown) {
      tried = std::move(next);
    } else if (created.error().kind() != ErrorKind::kAlreadyExists) {
      return created.error();
    }
  }
  return MakeError(tried ? ErrorKind::kCommitUnknown : ErrorKind::kConflict,
                   "other writers change the schema all the time");
}

Result<void> PaimonCatalog::ExecuteStep(const SchemaPlan& plan, size_t step) const {
  DRIFTLESS_CHECK(step < plan.steps.size());
  DRIFTLESS_ASSIGN_OR_RETURN(SchemaCommit commit, DecodeSchemaCommit(plan.steps[step].payload));
  // What a former process did is found done, and it may have died before that was durable.
  DRIFTLESS_TRY(store_->SyncAll());
  Result<void> done = commit.create ? CreateTable(plan.sink_table, *std::move(commit.create))
                                    : CommitChanges(plan.sink_table, commit.change, commit.changes);
  if (!done) return Named(std::move(done).error(), plan.sink_table);
  return done;
}

}  // namespace driftless::paimon
