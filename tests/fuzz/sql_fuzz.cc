// Whatever text comes, a Flink SQL statement is executed or refused: no crash, no hang, and a
// refused one changes nothing that the session shows. The first byte chooses what the rest is: a
// script for a session, an expression, a query, a statement on rows, or a Table API program.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "config/expr/expr_parser.h"
#include "config/expr/expr_print.h"
#include "config/sql/query.h"
#include "config/sql/row_statement.h"
#include "config/sql/session.h"
#include "config/table_api/java_text.h"
#include "config/table_api/session.h"
#include "pipeline/sql_host/script_reader.h"

namespace {

using namespace driftless;

// What SHOW CREATE TABLE says of every table.
std::string Shown(flink::Session* session) {
  std::string text;
  for (const auto& [name, table] : session->Tables()) {
    const auto shown = session->Execute("SHOW CREATE TABLE " + name.Quoted());
    if (!shown) std::abort();
    text += *shown;
  }
  return text;
}

void PlayScript(std::string_view script) {
  flink::Session session;
  constexpr size_t kMost = 50;
  size_t played = 0;
  for (const ScriptStatement& statement : ReadSqlScript(script)) {
    if (++played > kMost) return;
    const std::string before = Shown(&session);
    const auto done = session.Execute(statement.text);
    if (done) continue;
    if (done.error().message().empty() || Shown(&session) != before) std::abort();
  }
}

void PlayProgram(std::string_view text) {
  const auto statements = table_api::ParseJava(text);
  if (!statements) {
    if (statements.error().line() < 1) std::abort();
    return;
  }
  table_api::TableSession session({});
  for (const table_api::Statement& statement : *statements) (void)session.Execute(statement);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0 || size > 20000) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: PlayScript(text); break;
    case 1:
      if (const auto expr = flink::ParseExpr(text)) {
        if (flink::PrintExpr(*expr, flink::PrintStyle::kAsWritten).empty()) std::abort();
      }
      break;
    case 2: (void)flink::ParseQuery(text); break;
    case 3: (void)flink::ParseRowStatement(text); break;
    default: PlayProgram(text);
  }
  return 0;
}
