#include "schema/ddl/mysql/query_columns.h"
#include "schema/ddl/mysql/statement_run.h"
#include "schema/ddl/mysql/table_builder.h"

// CREATE TABLE in its three forms.
namespace driftless::mysql {

Result<StatementRun::EntryPtr> StatementRun::BuildLike(const TableName& like,
                                                       const TablePath& path) {
  DRIFTLESS_ASSIGN_OR_RETURN(const EntryPtr original, Require(like));
  auto entry = std::make_shared<Entry>(*original);
  entry->foreign_keys.clear();  // CREATE TABLE ... LIKE leaves them out
  TableSchema schema = *original->schema;
  schema.path = path;
  schema.incarnation = next_incarnation_++;
  schema.version = 0;
  entry->schema = std::make_shared<const TableSchema>(std::move(schema));
  return EntryPtr(std::move(entry));
}

// The columns of AS SELECT stand behind the defined ones. A name that is in both has the
// definition, at the place that the query gives it.
Result<void> StatementRun::AddQueryColumns(const CreateTableStatement& create,
                                           TableSchema* schema) const {
  const TableLookup lookup = [this](const TableName& name) -> Result<TableSchemaPtr> {
    DRIFTLESS_ASSIGN_OR_RETURN(const EntryPtr entry, Require(name));
    return entry->schema;
  };
  std::vector<Column> selected;
  QueryError error;
  const Charset connection = FindCharset("utf8mb4", settings());
  if (!DeriveQueryColumns(sql_, create.query, lookup, settings(), connection, &selected, &error)) {
    return Fail(error.kind, error.at, error.message);
  }
  const ColumnId first_selected = schema->next_column_id;
  for (Column& column : selected) {
    const int defined = schema->IndexOfNameIgnoringCase(column.name);
    if (defined >= 0 && schema->columns[static_cast<size_t>(defined)].id < first_selected) {
      column = schema->columns[static_cast<size_t>(defined)];
      schema->columns.erase(schema->columns.begin() + defined);
    } else {
      column.id = schema->next_column_id++;
    }
    schema->columns.push_back(std::move(column));
  }
  return {};
}

Result<StatementRun::EntryPtr> StatementRun::BuildTable(const CreateTableStatement& create,
                                                        const TablePath& path) {
  if (create.like) return BuildLike(*create.like, path);
  const Charset database_defaults = DatabaseDefaults(path.database);
  TableBuilder builder(*this, {});
  TableSchema& schema = builder.schema();
  schema.path = path;
  schema.charset = database_defaults.charset;
  schema.collation = database_defaults.collation;
  DRIFTLESS_TRY(builder.SetOptions(create.options, database_defaults));
  std::vector<ColumnId> ids;
  for (const ColumnSpec& spec : create.columns) {
    DRIFTLESS_ASSIGN_OR_RETURN(Column column, builder.MakeColumn(spec, 0));
    ids.push_back(column.id);
    schema.columns.push_back(std::move(column));
  }
  if (!create.query.empty()) DRIFTLESS_TRY(AddQueryColumns(create, &schema));
  for (size_t i = 0; i < create.columns.size(); ++i) {
    DRIFTLESS_TRY(builder.AddInlineKeys(create.columns[i], ids[i]));
  }
  for (const KeySpec& key : create.keys) DRIFTLESS_TRY(builder.AddKey(key));
  DRIFTLESS_TRY(builder.AddPeriod(create.period_columns));
  builder.entry().partitioned = create.partitioning.present;
  builder.entry().partitions = create.partitioning.names;
  DRIFTLESS_TRY(builder.Finish(create.name.at));
  schema.incarnation = next_incarnation_++;
  return EntryPtr(std::make_shared<const Entry>(builder.Take()));
}

}  // namespace driftless::mysql
