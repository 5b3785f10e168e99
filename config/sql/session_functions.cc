#include <utility>

#include "config/expr/expr_print.h"
#include "config/expr/lexer.h"
#include "config/sql/function_names.h"
#include "config/sql/session.h"
#include "schema/base/letter_case.h"

namespace driftless::flink {
namespace {

constexpr std::string_view kFunctionExists =
    "org.apache.flink.table.catalog.exceptions.FunctionAlreadyExistException";
constexpr std::string_view kFunctionMissing =
    "org.apache.flink.table.catalog.exceptions.FunctionNotExistException";

Error MissingFunction(const ObjectName& name) {
  return SqlError(kFunctionMissing, "Function " + name.database + "." + name.object +
                                        " does not exist in Catalog " + name.catalog + ".");
}

}  // namespace

Result<std::string> Session::RunFunctions(const Statement& s) {
  if (s.verb == Verb::kCreateFunction) {
    DRIFTLESS_TRY(CreateFunction(s));
  } else if (s.verb == Verb::kDropFunction) {
    DRIFTLESS_TRY(DropFunction(s));
  } else {
    DRIFTLESS_TRY(AlterFunction(s));
  }
  ++changes_;
  return std::string("[INFO] Execute statement succeeded.\n");
}

Result<void> Session::CreateFunction(const Statement& s) {
  if (s.language == "SQL") {
    return SqlError("java.lang.IllegalArgumentException",
                    "No enum constant org.apache.flink.table.catalog.FunctionLanguage.SQL");
  }
  FunctionEntry entry{s.class_name, s.language, s.keys};
  if (s.temporary && loader_ && entry.language == "JAVA" && !loader_(entry.class_name)) {
    return SqlError("java.lang.ClassNotFoundException", entry.class_name);
  }
  DRIFTLESS_ASSIGN_OR_RETURN(ObjectName name, Qualify(s.name));
  name.object = LowerCase(name.object);
  if (s.system) {
    if (!system_functions_.emplace(name.object, entry).second && !s.if_exists) {
      return SqlError(kValidationException,
                      "Could not register temporary system function. A function named '" +
                          name.object + "' does already exist.");
    }
    return {};
  }
  if (s.temporary) {
    if (!temporary_functions_.emplace(name, entry).second && !s.if_exists) {
      return SqlError(kValidationException,
                      "Could not register temporary catalog function. A function '" +
                          name.Summary() + "' does already exist.");
    }
    return {};
  }
  Database* database = FindDatabase(name);
  if (database == nullptr) {
    return SqlError(
        "org.apache.flink.table.catalog.exceptions.DatabaseNotExistException",
        "Database " + name.database + " does not exist in Catalog " + name.catalog + ".");
  }
  if (!database->functions.emplace(name.object, entry).second && !s.if_exists) {
    return SqlError(kFunctionExists, "Function " + name.database + "." + name.object +
                                         " already exists in Catalog " + name.catalog + ".");
  }
  return {};
}

Result<void> Session::DropFunction(const Statement& s) {
  DRIFTLESS_ASSIGN_OR_RETURN(ObjectName name, Qualify(s.name));
  name.object = LowerCase(name.object);
  if (s.system) {
    if (system_functions_.erase(name.object) == 0 && !s.if_exists) {
      return SqlError(kValidationException,
                      "Could not drop temporary system function. A function named '" + name.object +
                          "' doesn't exist.");
    }
    return {};
  }
  if (s.temporary) {
    if (temporary_functions_.erase(name) == 0 && !s.if_exists) {
      return SqlError(kValidationException,
                      "Temporary catalog function " + name.Quoted() + " doesn't exist");
    }
    return {};
  }
  Database* database = FindDatabase(name);
  const size_t dropped = database == nullptr ? 0 : database->functions.erase(name.object);
  if (dropped == 0 && !s.if_exists) return MissingFunction(name);
  return {};
}

Result<void> Session::AlterFunction(const Statement& s) {
  if (s.system) {
    return SqlError(kValidationException, "Alter temporary system function is not supported");
  }
  if (s.temporary) {
    return SqlError(kValidationException, "Alter temporary catalog function is not supported");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(ObjectName name, Qualify(s.name));
  name.object = LowerCase(name.object);
  Database* database = FindDatabase(name);
  if (database == nullptr || !database->functions.contains(name.object)) {
    if (s.if_exists) return {};
    return MissingFunction(name);
  }
  database->functions[name.object] = FunctionEntry{s.class_name, s.language, {}};
  return {};
}

const FunctionEntry* Session::FindFunction(const Path& path, bool* temporary, bool* system) const {
  *temporary = false;
  *system = false;
  auto name = Qualify(path);
  if (!name) return nullptr;
  name->object = LowerCase(name->object);
  if (path.size() == 1) {
    const auto found = system_functions_.find(name->object);
    if (found != system_functions_.end()) {
      *temporary = true;
      *system = true;
      return &found->second;
    }
  }
  const auto passing = temporary_functions_.find(*name);
  if (passing != temporary_functions_.end()) {
    *temporary = true;
    return &passing->second;
  }
  const Database* database = FindDatabase(*name);
  if (database == nullptr) return nullptr;
  const auto found = database->functions.find(name->object);
  return found == database->functions.end() ? nullptr : &found->second;
}

Result<std::optional<LogicalType>> Session::UserFunction(
    const Path& path, const std::vector<LogicalType>& arguments) const {
  bool temporary = false;
  bool system = false;
  const FunctionEntry* entry = FindFunction(path, &temporary, &system);
  if (entry == nullptr || !loader_) return std::optional<LogicalType>{};
  const auto signature = loader_(entry->class_name);
  if (!signature) return SqlError("java.lang.ClassNotFoundException", entry->class_name);
  if (arguments.size() != 1) {
    return SqlError(kValidationException,
                    "Invalid number of arguments. Exactly 1 argument expected "
                    "but " +
                        std::to_string(arguments.size()) + " passed.");
  }
  const bool both_text = arguments[0].IsCharacter() && signature->argument.IsCharacter();
  if (!both_text && !arguments[0].EqualsIgnoringNullability(signature->argument)) {
    return SqlError(kValidationException, "Invalid argument type at position 0. Data type " +
                                              signature->argument.ToString() + " expected but " +
                                              arguments[0].ToString() + " passed.");
  }
  return std::optional<LogicalType>(signature->result);
}

Path Session::FunctionPath(const Path& path) const {
  bool temporary = false;
  bool system = false;
  if (FindFunction(path, &temporary, &system) == nullptr || system) return {};
  const auto name = Qualify(path);
  return {name->catalog, name->database, LowerCase(name->object)};
}

decltype(Scope::user_function) FunctionsOf(const Session& session) {
  return [&session](const Path& path, const std::vector<LogicalType>& arguments) {
    return session.UserFunctionType(path, arguments);
  };
}

void QualifyFunctions(const Session& session, Expr* expr) {
  if (expr->kind == ExprKind::kCall && !IsBuiltInFunction(expr->text)) {
    const auto full = session.FunctionPath(expr->path);
    if (!full.empty()) expr->path = full;
  }
  for (Expr& arg : expr->args) QualifyFunctions(session, &arg);
}

}  // namespace driftless::flink
