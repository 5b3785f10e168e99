#include <libpq-fe.h>

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "sinks/iceberg/catalog_database.h"

namespace driftless::iceberg {
namespace {

constexpr Oid kText = 25;  // of type text; else each place of a value would give it another type

struct Close {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};
struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Outcome = std::unique_ptr<PGresult, Clear>;

ErrorKind KindOf(std::string_view state) {
  // PostgreSQL documentation, appendix A, "Error Codes".
  if (state == "23505" || state == "42P07") return ErrorKind::kAlreadyExists;
  if (state == "42501" || state.starts_with("28")) return ErrorKind::kPermission;
  if (state == "3D000" || state == "3F000") return ErrorKind::kNotFound;
  if (state == "53300" || state.starts_with("08") || state.starts_with("40") ||
      state.starts_with("57P")) {
    return ErrorKind::kUnavailable;
  }
  if (state.starts_with("53")) return ErrorKind::kResourceExhausted;
  return ErrorKind::kRefused;
}

class PostgresDatabase : public CatalogDatabase {
 public:
  PostgresDatabase(std::map<std::string, std::string> parameters, std::string address)
      : parameters_(std::move(parameters)), address_(std::move(address)) {}

  Result<void> Open(bool* is_new) override {
    *is_new = connection_ == nullptr || PQstatus(connection_.get()) != CONNECTION_OK;
    if (!*is_new) return {};
    std::vector<const char*> names;
    std::vector<const char*> values;
    for (const auto& [name, value] : parameters_) {
      names.push_back(name.c_str());
      values.push_back(value.c_str());
    }
    names.push_back(nullptr);
    values.push_back(nullptr);
    connection_.reset(PQconnectdbParams(names.data(), values.data(), 0));
    if (PQstatus(connection_.get()) == CONNECTION_OK) return {};
    const std::string message = PQerrorMessage(connection_.get());
    connection_.reset();
    // There is no code here: the server's words are all there is.
    const bool refused = message.find("authentication") != std::string::npos ||
                         message.find("no pg_hba.conf entry") != std::string::npos;
    const bool is_missing = message.find("does not exist") != std::string::npos;
    return MakeError(refused      ? ErrorKind::kPermission
                     : is_missing ? ErrorKind::kNotFound
                                  : ErrorKind::kUnavailable,
                     "catalog database " + address_ + ": " + Trimmed(message))
        .Hint(refused ? "catalog.properties.jdbc.user and jdbc.password say who connects." : "");
  }

  Result<Answer> Run(const std::string& sql, const std::vector<std::string>& values) override {
    std::string text = sql;
    std::ranges::replace(text, '?', '$');
    const std::vector<Oid> types(values.size(), kText);
    std::vector<const char*> texts;
    for (const std::string& value : values) texts.push_back(value.c_str());
    const Outcome outcome(PQexecParams(connection_.get(), text.c_str(),
                                       static_cast<int>(values.size()), types.data(), texts.data(),
                                       nullptr, nullptr, 0));
    const ExecStatusType status = PQresultStatus(outcome.get());
    if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) return Failure(outcome, sql);
    Answer answer;
    for (int row = 0; row < PQntuples(outcome.get()); ++row) {
      answer.values.emplace_back(PQgetvalue(outcome.get(), row, 0));
    }
    const std::string changed = PQcmdTuples(outcome.get());
    if (!changed.empty()) answer.changed = std::strtoll(changed.c_str(), nullptr, 10);
    return answer;
  }

  // An update waits for the other's transaction and then looks at the row again (READ COMMITTED).
  Result<void> Begin() override {
    DRIFTLESS_TRY(Run("BEGIN ISOLATION LEVEL READ COMMITTED", {}));
    return {};
  }

  // Only an answer tells that a commit has failed.
  Result<void> Commit() override {
    const Outcome outcome(PQexec(connection_.get(), "COMMIT"));
    if (PQresultStatus(outcome.get()) == PGRES_COMMAND_OK) {
      // A transaction in which a statement has failed is rolled back instead, and that is no error.
      if (std::string_view(PQcmdStatus(outcome.get())) == "COMMIT") return {};
      return MakeError(ErrorKind::kUnavailable,
                       "catalog database " + address_ + " rolled the commit back");
    }
    Error error = Failure(outcome, "COMMIT");
    const char* state = PQresultErrorField(outcome.get(), PG_DIAG_SQLSTATE);
    if (state != nullptr && PQstatus(connection_.get()) == CONNECTION_OK) return error;
    return MakeError(ErrorKind::kCommitUnknown, error.message());
  }

  void RollBack() override {
    if (connection_ == nullptr || PQtransactionStatus(connection_.get()) == PQTRANS_IDLE) return;
    const Outcome outcome(PQexec(connection_.get(), "ROLLBACK"));
    if (PQresultStatus(outcome.get()) != PGRES_COMMAND_OK) connection_.reset();
  }

  std::string ColumnsSql(std::string_view table) const override {
    return "SELECT column_name FROM information_schema.columns WHERE table_schema = ANY"
           " (current_schemas(false)) AND table_name = '" +
           std::string(table) + "'";
  }

 private:
  static std::string Trimmed(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
  }

  Error Failure(const Outcome& outcome, const std::string& what) const {
    const char* state = PQresultErrorField(outcome.get(), PG_DIAG_SQLSTATE);
    // Without a code the connection broke.
    return MakeError(state == nullptr ? ErrorKind::kUnavailable : KindOf(state),
                     "catalog database " + address_ + ", " + what + ": " +
                         Trimmed(PQerrorMessage(connection_.get())));
  }

  const std::map<std::string, std::string> parameters_;
  const std::string address_;
  std::unique_ptr<PGconn, Close> connection_;
};

Error BadUrl(std::string_view url, const std::string& what) {
  return MakeError(ErrorKind::kInvalidConfig,
                   "catalog.properties.uri = jdbc:" + std::string(url) + ": " + what)
      .Hint("Write jdbc:postgresql://host:5432/database?sslmode=require.");
}

// One parameter of the address, as libpq names it. False: not known.
bool TakeParameter(const std::string& name, const std::string& value,
                   std::map<std::string, std::string>* parameters) {
  if (name == "ssl") {
    parameters->try_emplace("sslmode", value == "false" ? "disable" : "verify-full");
  } else if (name == "sslmode" || name == "sslrootcert" || name == "sslcert" || name == "sslkey" ||
             name == "user" || name == "password") {
    (*parameters)[name] = value;
  } else if (name == "connectTimeout" || name == "loginTimeout") {
    (*parameters)["connect_timeout"] = value;
  } else if (name == "ApplicationName") {
    (*parameters)["application_name"] = value;
  } else if (name == "currentSchema") {
    (*parameters)["options"] = "-c search_path=" + value;
  } else {
    return false;
  }
  return true;
}

}  // namespace

Result<std::unique_ptr<CatalogDatabase>> MakePostgresDatabase(std::string_view url,
                                                              const std::string& user,
                                                              const std::string& password) {
  std::map<std::string, std::string> parameters = {{"connect_timeout", "10"},
                                                   {"application_name", "driftless"},
                                                   {"client_encoding", "UTF8"},
                                                   {"keepalives_idle", "30"},
                                                   {"tcp_user_timeout", "60000"}};
  std::string_view rest = url.substr(url.find(':') + 1);
  std::string_view query;
  if (const size_t mark = rest.find('?'); mark != std::string_view::npos) {
    query = rest.substr(mark + 1);
    rest = rest.substr(0, mark);
  }
  if (rest.starts_with("//")) {
    const size_t slash = rest.find('/', 2);
    if (slash == std::string_view::npos) return BadUrl(url, "no database is named");
    std::string_view hosts = rest.substr(2, slash - 2);
    rest = rest.substr(slash + 1);
    std::string names;
    std::string ports;
    while (true) {  // "a:1,b:2": the first that answers
      const std::string_view host = hosts.substr(0, hosts.find(','));
      const size_t bracket = host.rfind(']');  // of an IPv6 address
      const size_t colon = host.find(':', bracket == std::string_view::npos ? 0 : bracket);
      std::string_view name = host.substr(0, colon);
      if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
      names.append(names.empty() ? "" : ",").append(name.empty() ? "localhost" : name);
      ports += ports.empty() ? "" : ",";
      ports += colon == std::string_view::npos ? "5432" : std::string(host.substr(colon + 1));
      if (host.size() == hosts.size()) break;
      hosts.remove_prefix(host.size() + 1);
    }
    parameters["host"] = names;
    parameters["port"] = ports;
  } else {
    parameters["host"] = "localhost";
  }
  if (rest.empty()) return BadUrl(url, "no database is named");
  parameters["dbname"] = std::string(rest);
  const std::string address = parameters["host"] + "/" + parameters["dbname"];
  while (!query.empty()) {
    const std::string_view item = query.substr(0, query.find('&'));
    const size_t equals = std::min(item.find('='), item.size());
    const std::string name(item.substr(0, equals));
    if (!TakeParameter(name, std::string(item.substr(std::min(equals + 1, item.size()))),
                       &parameters)) {
      return BadUrl(url, "the parameter " + name + " is not known");
    }
    query.remove_prefix(std::min(item.size() + 1, query.size()));
  }
  if (!user.empty()) parameters["user"] = user;
  if (!password.empty()) parameters["password"] = password;
  return std::unique_ptr<CatalogDatabase>(
      std::make_unique<PostgresDatabase>(std::move(parameters), address));
}

}  // namespace driftless::iceberg
