#include <algorithm>

#include "config/expr/lexer.h"
#include "config/sql/schema_check.h"
#include "config/sql/session.h"
#include "config/sql/tableau.h"

namespace driftless::flink {
namespace {

Error DatabaseMissing(const ObjectName& name) {
  return SqlError("org.apache.flink.table.catalog.exceptions.DatabaseNotExistException",
                  "Database " + name.database + " does not exist in Catalog " + name.catalog + ".");
}

Error NoDescriptor(const std::string& name) {
  return SqlError(kCatalogException, "Catalog " + name + " does not exist in the catalog store.");
}

// The options of a new in-memory catalog: 'type' and 'default-database', nothing else.
Result<std::string> CheckCatalogOptions(const std::map<std::string, std::string>& options) {
  const auto type = options.find("type");
  if (type == options.end()) {
    return SqlError(kValidationException,
                    "Catalog options do not contain an option key 'type' for discovering a "
                    "catalog.");
  }
  if (type->second != "generic_in_memory") {
    return SqlError(kValidationException,
                    "Could not find any factory for identifier '" + type->second +
                        "' that implements 'org.apache.flink.table.factories.CatalogFactory' in "
                        "the classpath.\n\nAvailable factory identifiers are:\n\n"
                        "generic_in_memory");
  }
  std::string unknown;
  std::string database = "default";
  for (const auto& [key, value] : options) {
    if (key == "default-database") database = value;
    if (key != "type" && key != "default-database") unknown += "\n" + key;
  }
  if (!unknown.empty()) {
    return SqlError(kValidationException,
                    "Unsupported options found for 'generic_in_memory'.\n\nUnsupported options:\n" +
                        unknown + "\n\nSupported options:\n\ndefault-database");
  }
  return database;
}

}  // namespace

Result<std::string> Session::RunCatalogs(const Statement& s) {
  switch (s.verb) {
    case Verb::kCreateDatabase: DRIFTLESS_TRY(CreateDatabase(s)); break;
    case Verb::kDropDatabase: DRIFTLESS_TRY(DropDatabase(s)); break;
    case Verb::kAlterDatabase: DRIFTLESS_TRY(AlterDatabase(s)); break;
    case Verb::kCreateCatalog: DRIFTLESS_TRY(CreateCatalog(s)); break;
    case Verb::kDropCatalog: DRIFTLESS_TRY(DropCatalog(s)); break;
    case Verb::kUseCatalog:
    case Verb::kUseDatabase: DRIFTLESS_TRY(Use(s)); break;
    default: DRIFTLESS_TRY(AlterCatalog(s));
  }
  ++changes_;
  return std::string("[INFO] Execute statement succeeded.\n");
}

Result<ObjectName> Session::QualifyDatabase(const Path& name, std::string_view verb) const {
  if (name.size() > 2) {
    return SqlError(kValidationException, std::string(verb) + " database identifier format error");
  }
  return ObjectName{name.size() == 2 ? name[0] : catalog_, name.back(), ""};
}

Result<void> Session::CreateDatabase(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, QualifyDatabase(s.name, "create"));
  const auto catalog = catalogs_.find(name.catalog);
  if (catalog == catalogs_.end()) {
    return SqlError(kValidationException, "Catalog " + name.catalog + " does not exist.");
  }
  Database database;
  database.comment = s.comment.value_or("");
  for (const auto& [key, value] : s.options) database.options[key] = value;
  if (!catalog->second.databases.emplace(name.database, std::move(database)).second &&
      !s.if_exists) {
    return SqlError(
        "org.apache.flink.table.catalog.exceptions.DatabaseAlreadyExistException",
        "Database " + name.database + " already exists in Catalog " + name.catalog + ".");
  }
  return {};
}

Result<void> Session::DropDatabase(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, QualifyDatabase(s.name, "drop"));
  if (name.catalog == catalog_ && name.database == database_) {
    return SqlError(kValidationException, "Cannot drop a database which is currently in use.");
  }
  const Database* database = FindDatabase(name);
  if (database == nullptr) {
    if (s.if_exists) return {};
    return DatabaseMissing(name);
  }
  if (!s.cascade && (!database->tables.empty() || !database->functions.empty())) {
    return SqlError("org.apache.flink.table.catalog.exceptions.DatabaseNotEmptyException",
                    "Database " + name.database + " in catalog " + name.catalog + " is not empty.");
  }
  catalogs_[name.catalog].databases.erase(name.database);
  return {};
}

Result<void> Session::AlterDatabase(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, QualifyDatabase(s.name, "alter"));
  if (!catalogs_.contains(name.catalog)) {
    return SqlError(kValidationException, "Catalog " + name.catalog + " not exists");
  }
  Database* database = FindDatabase(name);
  if (database == nullptr) return DatabaseMissing(name);
  for (const auto& [key, value] : s.options) database->options[key] = value;
  return {};
}

Result<void> Session::CreateCatalog(const Statement& s) {
  const std::string& name = s.name.back();
  if (catalogs_.contains(name)) {
    if (s.if_exists) return {};
    return SqlError(kCatalogException, "Catalog " + name + " already exists.");
  }
  Catalog catalog;
  catalog.has_descriptor = true;
  catalog.comment = s.comment.value_or("");
  for (const auto& [key, value] : s.options) catalog.options[key] = value;
  DRIFTLESS_ASSIGN_OR_RETURN(catalog.default_database, CheckCatalogOptions(catalog.options));
  catalog.databases[catalog.default_database];
  catalogs_.emplace(name, std::move(catalog));
  return {};
}

Result<void> Session::DropCatalog(const Statement& s) {
  const std::string& name = s.name.back();
  if (!catalogs_.contains(name)) {
    if (s.if_exists) return {};
    return SqlError(kCatalogException, "Catalog " + name + " does not exist.");
  }
  if (name == catalog_) {
    return SqlError(kCatalogException, "Cannot drop a catalog which is currently in use.");
  }
  catalogs_.erase(name);
  return {};
}

Result<void> Session::AlterCatalog(const Statement& s) {
  const std::string& name = s.name.back();
  if (s.verb == Verb::kAlterCatalogReset) {
    if (s.keys.empty()) {
      return SqlError(kValidationException, "ALTER CATALOG RESET does not support empty key");
    }
    for (const auto& key : s.keys) {
      if (key != "type") continue;
      return SqlError(kValidationException, "ALTER CATALOG RESET does not support changing 'type'");
    }
  }
  const auto found = catalogs_.find(name);
  if (found == catalogs_.end() || !found->second.has_descriptor) return NoDescriptor(name);
  if (s.verb == Verb::kAlterCatalogComment) {
    found->second.comment = *s.comment;
    return {};
  }
  std::map<std::string, std::string> options = found->second.options;
  for (const auto& [key, value] : s.options) options[key] = value;
  for (const auto& key : s.keys) options.erase(key);
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string database, CheckCatalogOptions(options));
  // The catalog is built anew, so an in-memory one loses what it held (as in Flink).
  found->second.options = std::move(options);
  found->second.default_database = database;
  found->second.databases.clear();
  found->second.databases[database];
  return {};
}

Result<void> Session::Use(const Statement& s) {
  const std::string& last = s.name.back();
  if (s.verb == Verb::kUseCatalog) {
    const auto found = catalogs_.find(last);
    if (found == catalogs_.end()) {
      return SqlError(kCatalogException, "A catalog with name [" + last + "] does not exist.");
    }
    catalog_ = last;
    database_ = found->second.default_database;
    return {};
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, QualifyDatabase(s.name, "use"));
  if (!catalogs_.contains(name.catalog)) {
    return SqlError(kCatalogException,
                    "A catalog with name [" + name.catalog + "] does not exist.");
  }
  if (FindDatabase(name) == nullptr) {
    return SqlError(kCatalogException, "A database with name [" + name.database +
                                           "] does not exist in the catalog: [" + name.catalog +
                                           "].");
  }
  catalog_ = name.catalog;
  database_ = name.database;
  return {};
}

Result<std::string> Session::RunSettings(const Statement& s) {
  const std::string succeeded = "[INFO] Execute statement succeeded.\n";
  const std::string name = s.name.empty() ? std::string() : s.name.back();
  const auto module = std::find(modules_.begin(), modules_.end(), name);
  switch (s.verb) {
    case Verb::kUseModules:
      for (const auto& key : s.keys) {
        if (std::find(modules_.begin(), modules_.end(), key) == modules_.end()) {
          return SqlError(kValidationException, "No module with name '" + key + "' exists");
        }
      }
      break;
    case Verb::kLoadModule:
      if (name != "core") {
        return SqlError(kValidationException,
                        "Could not find any factory for identifier '" + name +
                            "' that implements 'org.apache.flink.table.factories.ModuleFactory' in "
                            "the classpath.\n\nAvailable factory identifiers are:\n\ncore");
      }
      if (module != modules_.end()) {
        return SqlError(kValidationException, "A module with name 'core' already exists");
      }
      modules_.push_back(name);
      break;
    case Verb::kUnloadModule:
      if (module == modules_.end()) {
        return SqlError(kValidationException, "No module with name '" + name + "' exists");
      }
      modules_.erase(module);
      break;
    case Verb::kReset:
      if (s.keys.empty()) settings_.clear();
      for (const auto& key : s.keys) settings_.erase(key);
      break;
    default:
      if (s.options.empty()) {
        std::vector<TableauRow> rows;
        for (const auto& [key, value] : settings_) rows.push_back({key, value});
        return Tableau({"key", "value"}, rows);
      }
      for (const auto& [key, value] : s.options) {
        if (key == "execution.runtime-mode" && value != "batch" && value != "streaming" &&
            value != "BATCH" && value != "STREAMING" && value != "AUTOMATIC") {
          return SqlError("java.lang.IllegalArgumentException",
                          "Could not parse value for enum class "
                          "org.apache.flink.api.common.RuntimeExecutionMode. Expected one of: "
                          "[[STREAMING, BATCH, AUTOMATIC]]");
        }
        if (key == "parallelism.default" &&
            value.find_first_not_of("-0123456789") != std::string::npos) {
          return SqlError("java.lang.NumberFormatException", "For input string: \"" + value + "\"");
        }
        settings_[key] = value;
      }
  }
  ++changes_;
  return succeeded;
}

}  // namespace driftless::flink
