#include "config/sql/listing.h"

#include <algorithm>
#include <set>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/expr/typing.h"
#include "config/sql/schema_check.h"
#include "schema/base/letter_case.h"

namespace driftless::flink {
namespace {

Error Invalid(std::string message) { return SqlError(kValidationException, std::move(message)); }

size_t CharacterLength(std::string_view text, size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  return std::min(length, text.size() - at);
}

bool Match(std::string_view text, std::string_view pattern) {
  size_t t = 0;
  size_t p = 0;
  size_t star = std::string_view::npos;
  size_t retry = 0;
  while (t < text.size()) {
    const char c = p < pattern.size() ? pattern[p] : '\0';
    const bool escaped = c == '\\' && p + 1 < pattern.size();
    if (c == '%' && p < pattern.size()) {
      star = p++;
      retry = t;
    } else if (c == '_' && p < pattern.size()) {
      t += CharacterLength(text, t);
      ++p;
    } else if (p < pattern.size() && text[t] == (escaped ? pattern[p + 1] : c)) {
      ++t;
      p += escaped ? 2 : 1;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      retry += CharacterLength(text, retry);
      t = retry;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '%') ++p;
  return p == pattern.size();
}

std::string Extras(const Column& column) {
  if (column.kind == ColumnKind::kComputed) return "AS " + column.text;
  if (column.kind != ColumnKind::kMetadata) return {};
  std::string text = "METADATA";
  if (column.metadata_key) text += " FROM " + QuoteString(*column.metadata_key);
  return text + (column.is_virtual ? " VIRTUAL" : "");
}

}  // namespace

Result<bool> MatchesLike(std::string_view text, std::string_view pattern, bool ignore_case) {
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (next != '%' && next != '_' && next != '\\') {
      return Invalid("Invalid escape sequence '" + std::string(pattern) + "', " +
                     std::to_string(i));
    }
    ++i;
  }
  if (!ignore_case) return Match(text, pattern);
  return Match(LowerCase(text), LowerCase(pattern));
}

Result<bool> Listing::Selected(const std::string& name) const {
  if (!s_.like) return true;
  DRIFTLESS_ASSIGN_OR_RETURN(const bool matches, MatchesLike(name, *s_.like, s_.ignore_case));
  return matches != s_.not_like;
}

Result<std::string> Listing::Print() const {
  switch (s_.verb) {
    case Verb::kDescribeTable: return Columns(s_.name);
    case Verb::kDescribeCatalog: return DescribeCatalog();
    case Verb::kDescribeFunction: return DescribeFunction();
    case Verb::kDescribeModel: return DescribeModel();
    case Verb::kShowCreate:
      if (s_.word == "MODEL") return ShowCreateModel();
      return s_.word == "CATALOG" ? ShowCreateCatalog() : ShowCreate();
    default: return Show();
  }
}

Result<std::string> Listing::Show() const {
  const std::string& word = s_.word;
  if (word == "TABLES") return Tables("table name", std::nullopt);
  if (word == "VIEWS") return Tables("view name", TableKind::kView);
  if (word == "COLUMNS") return Columns(s_.name);
  if (word == "DATABASES") return Databases();
  if (word == "PARTITIONS") return Partitions();
  if (word == "FUNCTIONS") return Functions(false);
  if (word == "USER FUNCTIONS") return Functions(true);
  if (word == "MODELS") return Models();
  if (word == "MATERIALIZED TABLES") return Tables("materialized table", TableKind::kMaterialized);
  if (word == "JARS") return Names("jars", {});
  if (word == "CATALOGS") {
    std::vector<std::string> names;
    for (const auto& [name, catalog] : session_.catalogs_) names.push_back(name);
    return Names("catalog name", std::move(names));
  }
  if (word == "CURRENT CATALOG") {
    return Tableau({"current catalog name"}, {{session_.catalog_}});
  }
  if (word == "CURRENT DATABASE") {
    return Tableau({"current database name"}, {{session_.database_}});
  }
  if (word == "MODULES" || word == "FULL MODULES") {
    std::vector<TableauRow> rows;
    for (const auto& module : session_.modules_) {
      rows.push_back(word == "MODULES" ? TableauRow{module} : TableauRow{module, "TRUE"});
    }
    return word == "MODULES" ? Tableau({"module name"}, rows)
                             : Tableau({"module name", "used"}, rows);
  }
  if (word == "PROCEDURES") {
    return SqlError("java.lang.UnsupportedOperationException",
                    "listProcedures is not implemented for class "
                    "org.apache.flink.table.catalog.GenericInMemoryCatalog.");
  }
  if (word == "JOBS") {
    return SqlError("java.lang.IllegalStateException", "No ClusterClientFactory found.");
  }
  return MakeError(ErrorKind::kUnsupported, "SHOW " + word + " is not supported: no such cluster");
}

Result<std::string> Listing::Names(std::string_view header, std::vector<std::string> names) const {
  std::sort(names.begin(), names.end());
  std::vector<TableauRow> rows;
  for (auto& name : names) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool selected, Selected(name));
    if (selected) rows.push_back({std::move(name)});
  }
  return Tableau({std::string(header)}, rows);
}

Result<std::string> Listing::Tables(std::string_view header, std::optional<TableKind> only) const {
  ObjectName where{session_.catalog_, session_.database_, ""};
  if (s_.name.size() > 2) {
    std::string text;
    for (const auto& part : s_.name) text += (text.empty() ? "" : ".") + part;
    return Invalid("SHOW " + s_.word + " from/in identifier [ " + text +
                   " ] format error, it should be [catalog_name.]database_name.");
  }
  if (!s_.name.empty()) where.database = s_.name.back();
  if (s_.name.size() == 2) where.catalog = s_.name[0];
  if (!session_.catalogs_.contains(where.catalog)) {
    return Invalid("Catalog " + where.catalog + " does not exist");
  }
  const Database* database = session_.FindDatabase(where);
  if (database == nullptr) {
    return Invalid("Database '" + where.catalog + "'.'" + where.database + "' doesn't exist.");
  }
  std::set<std::string> names;
  for (const auto& [name, table] : database->tables) {
    if (!only || table.kind == *only) names.insert(name);
  }
  for (const auto& [name, table] : session_.temporary_tables_) {
    if (name.catalog != where.catalog || name.database != where.database) continue;
    if (!only || table.kind == *only) names.insert(name.object);
  }
  return Names(header, {names.begin(), names.end()});
}

Result<std::string> Listing::Databases() const {
  const std::string& name = s_.name.empty() ? session_.catalog_ : s_.name.back();
  if (s_.name.size() > 1) {
    std::string text;
    for (const auto& part : s_.name) text += (text.empty() ? "" : ".") + part;
    return SqlError(kParseException, "Show databases from/in identifier [ " + text +
                                         " ] format error, catalog must be a single part "
                                         "identifier.");
  }
  const auto catalog = session_.catalogs_.find(name);
  if (catalog == session_.catalogs_.end()) {
    return Invalid("Catalog " + name + " does not exist");
  }
  std::vector<std::string> names;
  for (const auto& [database, content] : catalog->second.databases) names.push_back(database);
  return Names("database name", std::move(names));
}

Result<std::string> Listing::Functions(bool user_only) const {
  ObjectName where{session_.catalog_, session_.database_, ""};
  if (!s_.name.empty()) where.database = s_.name.back();
  if (s_.name.size() == 2) where.catalog = s_.name[0];
  std::set<std::string> names;
  for (const auto& [name, entry] : session_.system_functions_) names.insert(name);
  for (const auto& [name, entry] : session_.temporary_functions_) {
    if (name.catalog == where.catalog && name.database == where.database) {
      names.insert(name.object);
    }
  }
  if (const Database* database = session_.FindDatabase(where)) {
    for (const auto& [name, entry] : database->functions) names.insert(name);
  }
  if (!user_only) {
    for (const auto name : BuiltInFunctions()) names.insert(LowerCase(name));
  }
  return Names("function name", {names.begin(), names.end()});
}

Result<std::string> Listing::Partitions() const {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Qualify(s_.name));
  const TableEntry* table = session_.FindAny(name);
  const std::string package = "org.apache.flink.table.catalog.exceptions.";
  const std::string object = name.database + "." + name.object;
  if (table == nullptr) {
    return SqlError(
        package + "TableNotExistException",
        "Table (or view) " + object + " does not exist in Catalog " + name.catalog + ".");
  }
  if (table->partition_keys.empty()) {
    return SqlError(package + "TableNotPartitionedException",
                    "Table " + object + " in catalog " + name.catalog + " is not partitioned.");
  }
  std::vector<TableauRow> rows;
  for (const OptionList& partition : table->partitions) {
    bool wanted = true;
    if (!s_.partitions.empty()) {
      for (const auto& value : s_.partitions[0].values) {
        wanted = wanted && std::find(partition.begin(), partition.end(), value) != partition.end();
      }
    }
    std::string text;
    for (const auto& [key, value] : partition)
      text += (text.empty() ? "" : "/") + key + "=" + value;
    if (wanted) rows.push_back({text});
  }
  return Tableau({"partition name"}, rows);
}

Result<std::string> Listing::Columns(const Path& path) const {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Qualify(path));
  const TableEntry* table = session_.FindAny(name);
  if (table == nullptr) {
    return Invalid("Tables or views with the identifier '" + name.Summary() + "' doesn't exist.");
  }
  bool comments = false;
  for (const Column& column : table->columns) comments = comments || column.comment.has_value();
  std::vector<std::string> header = {"name", "type", "null", "key", "extras", "watermark"};
  if (comments) header.emplace_back("comment");
  std::vector<TableauRow> rows;
  for (const Column& column : table->columns) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool selected, Selected(column.name));
    if (!selected) continue;
    const bool rowtime = table->watermark && table->watermark->column[0] == column.name;
    std::string type = column.type.ToStringIgnoringNullability();
    if ((rowtime || column.rowtime) && !session_.IsBatch()) type += " *ROWTIME*";
    if (column.proctime) type += " *PROCTIME*";
    std::string key;
    if (table->key) {
      const auto& keys = table->key->columns;
      if (std::find(keys.begin(), keys.end(), column.name) != keys.end()) {
        key = "PRI(" + Join(keys) + ")";
      }
    }
    TableauRow row = {column.name, type,           column.type.nullable() ? "TRUE" : "FALSE",
                      key,         Extras(column), rowtime ? table->watermark->text : ""};
    if (comments) row.emplace_back(column.comment);
    rows.push_back(std::move(row));
  }
  return Tableau(header, rows);
}

Result<std::string> Listing::ShowCreate() const {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, session_.Qualify(s_.name));
  bool temporary = false;
  const TableEntry* table = session_.FindAny(name, &temporary);
  if (s_.word == "MATERIALIZED TABLE" &&
      (table == nullptr || table->kind != TableKind::kMaterialized)) {
    return Invalid("Could not execute SHOW CREATE MATERIALIZED TABLE " + name.Summary() +
                   ". Materialized table with identifier " + name.Quoted() + " does not exist.");
  }
  const TableKind wanted = s_.word == "VIEW"    ? TableKind::kView
                           : s_.word == "TABLE" ? TableKind::kTable
                                                : TableKind::kMaterialized;
  if (table == nullptr) {
    return Invalid("Could not execute SHOW CREATE " + s_.word + ". " +
                   (wanted == TableKind::kView ? "View" : "Table") + " with identifier " +
                   name.Quoted() + " does not exist.");
  }
  if (table->kind != wanted) {
    return SqlError(kTableException, "SHOW CREATE " + s_.word + " is only supported for " +
                                         std::string(KindName(wanted)) + "s, but " + name.Quoted() +
                                         " is a " + std::string(KindName(table->kind)) +
                                         ". Please use SHOW CREATE " +
                                         std::string(KindKeyword(table->kind)) + " instead.");
  }
  if (wanted == TableKind::kView && table->query.empty()) {
    return SqlError(kTableException,
                    "SHOW CREATE VIEW is not supported for views registered by Table API.");
  }
  return Tableau({"result"}, {{CreateText(name, *table, temporary)}});
}

Result<std::string> Listing::ShowCreateCatalog() const {
  const std::string& name = s_.name.back();
  const auto found = session_.catalogs_.find(name);
  if (found == session_.catalogs_.end() || !found->second.has_descriptor) {
    return Invalid("Cannot obtain metadata information from Catalog " + name + ".");
  }
  std::string text = "CREATE CATALOG " + QuoteName(name) + "\n";
  if (!found->second.comment.empty()) {
    text += "COMMENT " + QuoteString(found->second.comment) + "\n";
  }
  text += "WITH (\n";
  std::string lines;
  for (const auto& [key, value] : found->second.options) {
    lines += (lines.empty() ? "  " : ",\n  ") + QuoteString(key) + " = " + QuoteString(value);
  }
  return Tableau({"result"}, {{text + lines + "\n)\n"}});
}

Result<std::string> Listing::DescribeCatalog() const {
  const std::string& name = s_.name.back();
  const auto found = session_.catalogs_.find(name);
  if (found == session_.catalogs_.end() || !found->second.has_descriptor) {
    return Invalid("Cannot obtain metadata information from Catalog " + name + ".");
  }
  const Catalog& catalog = found->second;
  std::vector<TableauRow> rows = {
      {"name", name}, {"type", catalog.options.at("type")}, {"comment", catalog.comment}};
  if (s_.extended) {
    for (const auto& [key, value] : catalog.options) {
      if (key != "type") rows.push_back({"option:" + key, value});
    }
  }
  return Tableau({"info name", "info value"}, rows);
}

Result<std::string> Listing::DescribeFunction() const {
  bool temporary = false;
  bool system = false;
  const FunctionEntry* entry = session_.FindFunction(s_.name, &temporary, &system);
  if (entry == nullptr) {
    std::string name;
    for (const auto& part : s_.name) name += (name.empty() ? "" : ".") + QuoteName(part);
    return Invalid("Function with the identifier '" + name + "' doesn't exist.");
  }
  std::vector<TableauRow> rows = {{"is system function", system ? "true" : "false"},
                                  {"is temporary", temporary ? "true" : "false"}};
  std::optional<FunctionSignature> signature;
  if (session_.loader_) signature = session_.loader_(entry->class_name);
  if (session_.loader_ && !signature) {
    return SqlError("java.lang.ClassNotFoundException", entry->class_name);
  }
  if (!system) {
    std::string resources = "[" + Join(entry->resources) + "]";
    rows.push_back({"class name", entry->class_name});
    rows.push_back({"function language", entry->language});
    rows.push_back({"resource uris", std::move(resources)});
  }
  if (s_.extended && signature) {
    std::string name;
    if (system) {
      name = LowerCase(s_.name.back());
    } else {
      for (const auto& part : session_.FunctionPath(s_.name)) {
        name += (name.empty() ? "" : ".") + part;
      }
    }
    rows.push_back({"kind", "SCALAR"});
    rows.push_back({"requirements", "[]"});
    rows.push_back({"is deterministic", "true"});
    rows.push_back({"supports constant folding", "true"});
    rows.push_back({"signature", name + "(arg0 => " + signature->argument.ToString() + ")"});
  }
  return Tableau({"info name", "info value"}, rows);
}

}  // namespace driftless::flink
