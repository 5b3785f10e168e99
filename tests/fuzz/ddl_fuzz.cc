// Whatever text comes, a statement is understood or refused: no crash, no hang, nothing applied of
// a refused one, and the parts of an applied one lead from the tracked schema to the tracked
// schema. The first byte chooses the dialect and the modes; the rest is a script.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/event_json.h"
#include "schema/ddl/mysql/splitter.h"
#include "schema/ddl/online_schema_change.h"

namespace {

using driftless::StatementChange;
using driftless::mysql::DdlCatalog;

void CheckChange(const StatementChange& change) {
  if (change.parts.empty()) std::abort();
  for (size_t i = 0; i < change.parts.size(); ++i) {
    const auto& part = change.parts[i];
    if (part.part != i || driftless::Describe(part).empty()) std::abort();
    if (part.before == nullptr && part.after == nullptr) std::abort();
    if (i > 0 && change.parts[i - 1].after != part.before) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace driftless;
  if (size == 0) return 0;
  mysql::ServerSettings settings;
  settings.dialect = (data[0] & 1) != 0 ? mysql::Dialect::kMariaDb : mysql::Dialect::kMySql;
  settings.track_temporary_tables = (data[0] & 8) != 0;
  mysql::StatementContext context;
  context.default_database = "shop";
  context.sql_mode.ansi_quotes = (data[0] & 2) != 0;
  context.sql_mode.no_backslash_escapes = (data[0] & 4) != 0;
  DdlCatalog catalog(settings);
  OnlineSchemaChange online(&catalog);
  const std::string_view script(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (const auto& statement : mysql::SplitStatements(script, settings, context.sql_mode)) {
    const auto before = catalog.Tables();
    auto effect = catalog.Apply(statement.text, context);
    if (!effect) {
      if (effect.error().message().empty() || effect.error().line() < 1) std::abort();
      if (catalog.Tables() != before) std::abort();
      (void)catalog.TablesNamedIn(statement.text, context);
      continue;
    }
    for (const StatementChange& change : effect->changes) CheckChange(change);
    if (mysql::EffectJson(*effect, settings).empty()) std::abort();
    for (const StatementChange& change : online.Translate(*std::move(effect)).changes) {
      CheckChange(change);
    }
  }
  return 0;
}
