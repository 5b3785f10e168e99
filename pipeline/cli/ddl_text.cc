#include "pipeline/cli/ddl_text.h"

#include <algorithm>
#include <utility>

#include "config/sql/table_tracker.h"
#include "pipeline/sql_host/script_reader.h"
#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/lexer.h"
#include "schema/ddl/mysql/splitter.h"

namespace driftless {
namespace {

class MySqlText : public DdlText {
 public:
  MySqlText(mysql::ServerSettings settings, std::string database)
      : catalog_(std::move(settings)), database_(std::move(database)) {}

  Result<void> Load(const TableSchemaPtr& schema) override {
    catalog_.Load(schema);
    return {};
  }
  void SetNextIncarnation(uint64_t next) override { catalog_.SetNextIncarnation(next); }
  std::vector<TableSchemaPtr> Tables() const override { return catalog_.Tables(); }

  Result<void> Run(const std::string& script, const Visit& visit) override {
    mysql::StatementContext context;
    context.default_database = database_;
    for (const auto& statement : mysql::SplitStatements(script, catalog_.settings(), {})) {
      auto effect = catalog_.Apply(statement.text, context);
      if (!effect) return Placed(effect.error(), script, statement.begin);
      if (effect->kind == mysql::StatementEffect::Kind::kUse) {
        context.default_database = effect->database;
      }
      std::vector<RowsWithoutEvent> rows;
      for (const auto& moved : effect->rows_without_events) {
        rows.push_back({moved.table, moved.what, moved.is_conversion, catalog_.Find(moved.table)});
      }
      DRIFTLESS_TRY(visit(std::string(statement.text), effect->changes, rows));
    }
    return {};
  }

 private:
  // The place in the script rather than in the statement.
  static Error Placed(const Error& error, const std::string& script, size_t begin) {
    const mysql::LineColumn at = mysql::LocateOffset(script, begin);
    const int line = at.line + std::max(error.line(), 1) - 1;
    const int column =
        error.line() > 1 ? error.column() : at.column + std::max(error.column(), 1) - 1;
    return MakeError(error.kind(), error.message()).At(line, column).Hint(error.hint());
  }

  mysql::DdlCatalog catalog_;
  const std::string database_;
};

class FlinkText : public DdlText {
 public:
  explicit FlinkText(flink::TableTracker tracker) : tracker_(std::move(tracker)) {}

  Result<void> Load(const TableSchemaPtr& schema) override { return tracker_.Load(schema); }
  void SetNextIncarnation(uint64_t next) override { tracker_.SetNextIncarnation(next); }
  std::vector<TableSchemaPtr> Tables() const override { return tracker_.Tables(); }

  Result<void> Run(const std::string& script, const Visit& visit) override {
    for (const ScriptStatement& statement : ReadSqlScript(script)) {
      auto changes = tracker_.Apply(statement.text);
      if (!changes) {
        Error error = std::move(changes).error();
        if (statement.line == 1) return error;
        return std::move(error).Context("statement in line " + std::to_string(statement.line));
      }
      DRIFTLESS_TRY(visit(statement.text, *changes, {}));
    }
    return {};
  }

 private:
  flink::TableTracker tracker_;
};

}  // namespace

Result<std::unique_ptr<DdlText>> MakeDdlText(const std::string& dialect,
                                             const std::string& database) {
  if (dialect == "flink") {
    DRIFTLESS_ASSIGN_OR_RETURN(auto tracker, flink::TableTracker::Make(database));
    return std::make_unique<FlinkText>(std::move(tracker));
  }
  mysql::ServerSettings settings;
  DRIFTLESS_ASSIGN_OR_RETURN(settings.dialect, mysql::ParseDialect(dialect));
  return std::make_unique<MySqlText>(std::move(settings), database);
}

}  // namespace driftless
