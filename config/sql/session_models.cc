#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/sql/listing.h"
#include "config/sql/session.h"

namespace driftless::flink {
namespace {

constexpr std::string_view kModelExists =
    "org.apache.flink.table.catalog.exceptions.ModelAlreadyExistException";
constexpr std::string_view kDatabaseMissing =
    "org.apache.flink.table.catalog.exceptions.DatabaseNotExistException";

Error Exists(const ObjectName& name) {
  return SqlError(kModelExists, "Model " + name.database + "." + name.object +
                                    " already exists in Catalog " + name.catalog + ".");
}

Error Invalid(std::string text) { return SqlError(kValidationException, std::move(text)); }

std::vector<Column> ColumnsOf(const SchemaSpec& schema) {
  std::vector<Column> columns;
  for (const ColumnSpec& spec : schema.columns) {
    Column column;
    column.name = spec.name.back();
    column.type = spec.type;
    column.comment = spec.comment;
    columns.push_back(std::move(column));
  }
  return columns;
}

// "INPUT (`a` INT, `b` INT NOT NULL COMMENT 'x')\n"
std::string ListText(std::string_view word, const std::vector<Column>& columns) {
  if (columns.empty()) return "";
  std::string text = std::string(word) + " (";
  for (const Column& column : columns) {
    if (&column != &columns.front()) text += ", ";
    text += QuoteName(column.name) + " " + DdlTypeText(column.type);
    if (column.comment) text += " COMMENT " + QuoteString(*column.comment);
  }
  return text + ")\n";
}

}  // namespace

const ModelEntry* Session::FindModel(const ObjectName& name, bool* temporary) const {
  const auto found = temporary_models_.find(name);
  *temporary = found != temporary_models_.end();
  if (*temporary) return &found->second;
  const Database* database = FindDatabase(name);
  if (database == nullptr) return nullptr;
  const auto model = database->models.find(name.object);
  return model == database->models.end() ? nullptr : &model->second;
}

Result<std::string> Session::RunModels(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, Qualify(s.name));
  if (s.verb == Verb::kCreateModel) {
    DRIFTLESS_TRY(CreateModel(s, name));
  } else if (s.verb == Verb::kDropModel) {
    DRIFTLESS_TRY(DropModel(s, name));
  } else {
    DRIFTLESS_TRY(AlterModel(s, name));
  }
  ++changes_;
  return std::string("[INFO] Execute statement succeeded.\n");
}

Result<void> Session::CreateModel(const Statement& s, const ObjectName& name) {
  if (!s.query.empty()) {
    return MakeError(ErrorKind::kUnsupported, "CREATE MODEL AS is not supported: it runs a query");
  }
  ModelEntry model{ColumnsOf(s.schema), ColumnsOf(s.output), s.comment.value_or(""), {}};
  for (const auto& [key, value] : s.options) model.options[key] = value;
  if (s.temporary) {
    if (!temporary_models_.emplace(name, std::move(model)).second && !s.if_exists) {
      return Invalid("Temporary model '" + name.Quoted() + "' already exists");
    }
    return {};
  }
  Database* database = FindDatabase(name);
  if (database == nullptr) {
    return SqlError(kDatabaseMissing, "Database " + name.database + " does not exist in Catalog " +
                                          name.catalog + ".");
  }
  if (!database->models.emplace(name.object, std::move(model)).second && !s.if_exists) {
    return Exists(name);
  }
  return {};
}

Result<void> Session::DropModel(const Statement& s, const ObjectName& name) {
  if (s.temporary) {
    if (temporary_models_.erase(name) == 0 && !s.if_exists) {
      return Invalid("Temporary model with identifier '" + name.Summary() + "' does not exist.");
    }
    return {};
  }
  if (temporary_models_.contains(name)) {
    return Invalid("Temporary model with identifier '" + name.Quoted() +
                   "' exists. Drop it first before removing the permanent model.");
  }
  Database* database = FindDatabase(name);
  if ((database == nullptr || database->models.erase(name.object) == 0) && !s.if_exists) {
    return Invalid("Model with identifier '" + name.Summary() + "' does not exist.");
  }
  return {};
}

Result<void> Session::AlterModel(const Statement& s, const ObjectName& name) {
  bool temporary = false;
  const ModelEntry* found = FindModel(name, &temporary);
  if (temporary) return Invalid("Model " + name.Quoted() + " is a temporary model.");
  if (found == nullptr) {
    if (s.if_exists) return {};
    return Invalid("Model " + name.Quoted() + " doesn't exist.");
  }
  Database* database = FindDatabase(name);
  ModelEntry& model = database->models.at(name.object);
  if (s.verb == Verb::kAlterModelSet) {
    if (s.options.empty()) return Invalid("ALTER MODEL SET does not support empty option.");
    for (const auto& [key, value] : s.options) model.options[key] = value;
    return {};
  }
  if (s.verb == Verb::kAlterModelReset) {
    if (s.keys.empty()) return Invalid("ALTER MODEL RESET does not support empty key.");
    for (const std::string& key : s.keys) model.options.erase(key);
    return {};
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName to, Qualify(s.new_name));
  if (to.catalog != name.catalog) {
    return Invalid("The catalog name of the new model name '" + to.Summary() +
                   "' must be the same as the old model name '" + name.Summary() + "'.");
  }
  // A rename stays in the model's own database, whatever database is written (Flink's catalogs
  // take the new name alone).
  const ObjectName renamed{name.catalog, name.database, to.object};
  if (database->models.contains(renamed.object)) return Exists(renamed);
  auto node = database->models.extract(name.object);
  node.key() = renamed.object;
  database->models.insert(std::move(node));
  return {};
}

Result<std::string> Listing::Models() const {
  ObjectName where{session_.catalog_, session_.database_, ""};
  if (!s_.name.empty()) where.database = s_.name.back();
  if (s_.name.size() == 2) where.catalog = s_.name[0];
  const Database* database = session_.FindDatabase(where);
  if (database == nullptr) {
    return SqlError(kDatabaseMissing, "Database " + where.database + " does not exist in Catalog " +
                                          where.catalog + ".");
  }
  std::vector<std::string> names;
  for (const auto& [name, model] : database->models) names.push_back(name);
  return Names("model name", std::move(names));
}

Result<std::string> Listing::DescribeModel() const {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Qualify(s_.name));
  bool temporary = false;
  const ModelEntry* model = session_.FindModel(name, &temporary);
  if (model == nullptr) {
    return Invalid("Model with the identifier '" + name.Summary() + "' doesn't exist.");
  }
  bool comments = false;
  for (const auto* list : {&model->input, &model->output}) {
    for (const Column& column : *list) comments = comments || column.comment.has_value();
  }
  std::vector<std::string> header = {"name", "type", "null", "is input"};
  if (comments) header.emplace_back("comment");
  std::vector<TableauRow> rows;
  for (const auto* list : {&model->input, &model->output}) {
    for (const Column& column : *list) {
      TableauRow row = {column.name, column.type.ToStringIgnoringNullability(),
                        column.type.nullable() ? "TRUE" : "FALSE",
                        list == &model->input ? "TRUE" : "FALSE"};
      if (comments) row.emplace_back(column.comment.value_or(""));
      rows.push_back(std::move(row));
    }
  }
  return Tableau(header, rows);
}

Result<std::string> Listing::ShowCreateModel() const {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Qualify(s_.name));
  bool temporary = false;
  const ModelEntry* model = session_.FindModel(name, &temporary);
  if (model == nullptr) {
    return Invalid("Could not execute SHOW CREATE MODEL. Model with identifier " + name.Quoted() +
                   " does not exist.");
  }
  std::string text = std::string("CREATE ") + (temporary ? "TEMPORARY " : "") + "MODEL " +
                     name.Quoted() + "\n" + ListText("INPUT", model->input) +
                     ListText("OUTPUT", model->output);
  if (!model->comment.empty()) text += "COMMENT " + QuoteString(model->comment) + "\n";
  std::string lines;
  for (const auto& [key, value] : model->options) {
    lines += (lines.empty() ? "  " : ",\n  ") + QuoteString(key) + " = " + QuoteString(value);
  }
  if (!lines.empty()) text += "WITH (\n" + lines + "\n)\n";
  return Tableau({"result"}, {{text}});
}

}  // namespace driftless::flink
