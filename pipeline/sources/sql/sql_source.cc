#include "pipeline/sources/sql/sql_source.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "config/expr/lexer.h"
#include "config/sql/row_statement.h"
#include "config/sql/statement_parser.h"
#include "config/sql/table_tracker.h"
#include "pipeline/sources/open_batches.h"
#include "pipeline/sources/registry.h"
#include "pipeline/sources/sql/script_rows.h"
#include "pipeline/sql_host/script_reader.h"
#include "schema/base/check.h"
#include "schema/events/change_batch_copy.h"
#include "schema/types/time.h"

namespace driftless {
namespace {

// FNV-1a, continued from text to text: tells whether the statements up to a position are others.
uint64_t HashOn(uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  return (hash ^ 0xFF) * 1099511628211ull;
}
constexpr uint64_t kHashStart = 14695981039346656037ull;

bool IsOfRows(flink::Verb verb) {
  return verb == flink::Verb::kInsert || verb == flink::Verb::kChangeRows;
}

// Statements that only look at something: a script may hold them, for `driftless sql`.
bool OnlyLooks(flink::Verb verb) {
  return verb == flink::Verb::kShow || verb == flink::Verb::kShowCreate ||
         verb == flink::Verb::kDescribeTable || verb == flink::Verb::kDescribeCatalog ||
         verb == flink::Verb::kDescribeFunction || verb == flink::Verb::kDescribeModel;
}

// Statements whose rows would be those of a query: none may be lost silently.
bool RunsQuery(const flink::Statement& statement) {
  switch (statement.verb) {
    case flink::Verb::kQuery:
    case flink::Verb::kExplain:
    case flink::Verb::kStatementSet:
    case flink::Verb::kBeginStatementSet:
    case flink::Verb::kEndStatementSet:
    case flink::Verb::kOther: return true;
    case flink::Verb::kCreateTable: return !statement.query.empty();
    default: return false;
  }
}

}  // namespace

// One run over the script.
class SqlSource::Playing {
 public:
  Playing(const SqlSource& source, std::vector<ScriptStatement> statements, StreamId stream,
          SourceOutput* output)
      : source_(source),
        statements_(std::move(statements)),
        output_(*output),
        batches_(stream, output),
        flush_interval_us_(std::clamp<int64_t>(source.context_.max_wait_ms, 1, 1000) * 1000) {
    point_.stream = stream;
    point_.epoch = 1;
    tables_.RequireDatabases();
  }

  Result<void> Run(const CutPosition& from) {
    DRIFTLESS_ASSIGN_OR_RETURN(zone_, TimeZone::Load(source_.context_.local_time_zone));
    last_flush_us_ = source_.context_.clock->MonotonicMicros();
    done_ = from.Last(point_.stream);
    if (done_) DRIFTLESS_TRY(CheckBeginning(from.Resume(point_.stream)));
    uint64_t hash = kHashStart;
    for (const ScriptStatement& statement : statements_) {
      ++point_.offset;
      point_.row = 0;
      hash = HashOn(hash, statement.text);
      auto played = Play(statement);
      if (!played) {
        if (!output_.stopping()) Flush();  // whatever stands before the fault is good
        return Located(std::move(played.error()), statement);
      }
      if (!*played) return {};
      resume_ = std::to_string(point_.offset) + " " + std::to_string(hash);
      const int64_t now = source_.context_.clock->MonotonicMicros();
      if (now - last_flush_us_ >= flush_interval_us_ && !Flush()) return {};
    }
    if (!output_.stopping()) Flush();
    spdlog::info("sql source: {} statements, {} changes, {} schema changes", statements_.size(),
                 changes_, schema_changes_);
    return {};
  }

 private:
  struct Table {
    std::optional<ScriptRows> rows;
    OpenBatch batch;
    bool captured = false;
  };

  std::string Where(const ScriptStatement& statement) const {
    return (source_.options_.path.empty() ? "script" : source_.options_.path) + ":" +
           std::to_string(statement.line);
  }

  // Errors of a statement count its own lines; a user reads the script's.
  Error Located(Error error, const ScriptStatement& statement) const {
    if (error.line() > 0) {
      error = std::move(error).At(statement.line + error.line() - 1, error.column());
    }
    return std::move(error).Position(Where(statement)).Context("sql source");
  }

  // The script must begin with the statements that were read before.
  Result<void> CheckBeginning(std::string_view resume) const {
    uint64_t number = 0;
    uint64_t hash = 0;
    const char* end = resume.data() + resume.size();
    const auto first = std::from_chars(resume.data(), end, number);
    const bool readable = first.ec == std::errc() && first.ptr != end &&
                          std::from_chars(first.ptr + 1, end, hash).ec == std::errc();
    if (!readable) {
      return MakeError(ErrorKind::kCorrupt,
                       "the position of the sql source is not readable: " + std::string(resume));
    }
    uint64_t now = kHashStart;
    for (size_t i = 0; i < number && i < statements_.size(); ++i) {
      now = HashOn(now, statements_[i].text);
    }
    if (number <= statements_.size() && now == hash) return {};
    return MakeError(ErrorKind::kInvalidInput, "the script does not begin with the " +
                                                   std::to_string(number) +
                                                   " statements that were read before")
        .Hint("Only add statements at its end, or start with new state.")
        .Context("sql source");
  }

  bool IsDone() const { return done_ && !done_->Precedes(point_); }

  // Sends what is open, and how far it goes.
  bool Flush() {
    last_flush_us_ = source_.context_.clock->MonotonicMicros();
    if (!batches_.SealAll()) return false;
    if (resume_.empty()) return true;
    Point whole = point_;
    whole.offset = std::strtoull(resume_.c_str(), nullptr, 10);
    whole.row = UINT32_MAX;
    if (done_ && !done_->Precedes(whole)) return true;
    return output_.Progress(whole, resume_, source_.context_.clock->NowMillis());
  }

  // False: the pipeline stops.
  Result<bool> Play(const ScriptStatement& statement) {
    DRIFTLESS_ASSIGN_OR_RETURN(const flink::Statement parsed,
                               flink::ParseStatement(statement.text));
    if (IsOfRows(parsed.verb)) return PlayRows(statement);
    if (parsed.verb == flink::Verb::kTruncate) return Truncate(parsed, statement);
    if (OnlyLooks(parsed.verb)) return true;
    if (RunsQuery(parsed)) {
      return MakeError(ErrorKind::kUnsupported,
                       "the script of a source has no queries: it makes tables and rows");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<StatementChange> changes, tables_.Apply(statement.text));
    for (StatementChange& change : changes) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Apply(std::move(change), statement));
      if (!go_on) return false;
      ++point_.row;
    }
    return true;
  }

  Result<bool> Apply(StatementChange change, const ScriptStatement& statement) {
    const TableSchemaPtr after = change.after();
    const TablePath from = change.table;
    if (change.before() == nullptr) {
      Table& made = state_[from];
      made.rows.emplace(after, zone_);
      made.captured = source_.Captures(from);
    } else if (after == nullptr) {
      const auto table = state_.find(from);
      if (!batches_.SetSchema(&table->second.batch, nullptr)) return false;
      const bool captured = table->second.captured;
      state_.erase(table);
      if (!captured) return true;
      return Send(std::move(change), statement);
    } else {
      DRIFTLESS_TRY(state_[from].rows->SetSchema(after));
      if (after->path != from && !Rename(from, after->path)) return false;
    }
    Table& table = state_[after->path];
    if (!batches_.SetSchema(&table.batch, after)) return false;
    if (!table.captured && !source_.Captures(from)) return true;
    return Send(std::move(change), statement);
  }

  bool Rename(const TablePath& from, const TablePath& to) {
    Table& old = state_[from];
    if (!batches_.SetSchema(&old.batch, nullptr)) return false;
    Table& made = state_[to];
    made.rows = std::move(old.rows);
    made.captured = source_.Captures(to);
    state_.erase(from);
    return true;
  }

  Result<bool> Send(StatementChange change, const ScriptStatement& statement) {
    change.point = point_;
    if (IsDone()) return true;
    change.statement = std::make_shared<const std::string>(statement.text);
    change.commit_time_ms = source_.context_.clock->NowMillis();
    if (SchemaHistoryStore* history = source_.context_.history) {
      const TableSchemaPtr after = change.after();
      const auto put = [&](const TablePath& table, const TableSchemaPtr& schema) {
        return history->Put(
            {table, point_, Where(statement), change.commit_time_ms, schema, statement.text});
      };
      if (after == nullptr || after->path != change.table) {
        DRIFTLESS_TRY(put(change.table, nullptr));
      }
      if (after != nullptr) DRIFTLESS_TRY(put(after->path, after));
    }
    ++schema_changes_;
    return output_.Schema(std::make_shared<const StatementChange>(std::move(change)),
                          Where(statement));
  }

  Result<Table*> TableOf(const flink::Path& name) {
    const TableSchemaPtr schema = tables_.Find(name);
    if (schema != nullptr) return &state_.at(schema->path);
    std::string text;
    for (const std::string& part : name) text += (text.empty() ? "" : ".") + part;
    return MakeError(ErrorKind::kNotFound, "there is no table " + text)
        .Hint("CREATE TABLE comes before its rows.");
  }

  Result<bool> Truncate(const flink::Statement& parsed, const ScriptStatement& statement) {
    DRIFTLESS_ASSIGN_OR_RETURN(Table* const table, TableOf(parsed.name));
    table->rows->Clear();
    if (!batches_.Seal(&table->batch)) return false;
    if (!table->captured) return true;
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<StatementChange> changes, tables_.Apply(statement.text));
    return Send(std::move(changes.front()), statement);
  }

  Result<bool> PlayRows(const ScriptStatement& statement) {
    DRIFTLESS_ASSIGN_OR_RETURN(const flink::RowStatement rows,
                               flink::ParseRowStatement(statement.text));
    DRIFTLESS_ASSIGN_OR_RETURN(Table* const table, TableOf(rows.table));
    const int64_t now = source_.context_.clock->NowMillis();
    return table->rows->Run(rows, [&](const ScriptRows::Change& change) {
      const bool go_on = !table->captured || IsDone() || Put(table, change, now);
      ++point_.row;
      return go_on;
    });
  }

  bool Put(Table* table, const ScriptRows::Change& change, int64_t now_ms) {
    ChangeBatchBuilder* builder = nullptr;
    if (!batches_.Begin(&table->batch, &builder)) return false;
    builder->BeginRow(change.op, point_, now_ms);
    const size_t width = table->batch.schema()->columns.size();
    for (size_t i = 0; i < width; ++i) {
      const int column = static_cast<int>(i);
      if (change.after != nullptr) {
        CopyValue((*change.after)[i].view(), change.after_row, &builder->after(column));
      }
      if (change.before != nullptr) {
        CopyValue((*change.before)[i].view(), change.before_row, &builder->before(column));
      }
    }
    builder->EndRow();
    ++changes_;
    return batches_.End(&table->batch, 0);
  }

  const SqlSource& source_;
  const std::vector<ScriptStatement> statements_;
  SourceOutput& output_;
  OpenBatches batches_;
  const int64_t flush_interval_us_;
  TimeZone zone_;
  flink::TableTracker tables_;
  std::map<TablePath, Table> state_;
  std::optional<Point> done_;
  Point point_;
  std::string resume_;  // behind the last statement that was played as a whole
  int64_t last_flush_us_ = 0;
  int64_t changes_ = 0;
  int64_t schema_changes_ = 0;
};

Result<std::unique_ptr<Source>> MakeSqlSource(const OptionValues& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(SqlSourceOptions options, ReadSqlSourceOptions(values));
  return std::unique_ptr<Source>(new SqlSource(std::move(options)));
}

Result<std::string> SqlSource::ReadScript() const {
  if (!options_.script.empty()) return options_.script;
  std::ifstream file(options_.path, std::ios::binary);
  if (!file) {
    return MakeError(ErrorKind::kNotFound, "cannot read the script " + options_.path)
        .Context("sql source");
  }
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Result<void> SqlSource::Connect(const SourceContext& context) {
  context_ = context;
  if (context_.clock == nullptr) context_.clock = SystemClock();
  DRIFTLESS_TRY(ReadScript());
  return {};
}

Result<void> SqlSource::Run(StreamId stream, size_t stream_index, const CutPosition& from,
                            SourceOutput* output) {
  DRIFTLESS_CHECK(stream_index == 0);
  DRIFTLESS_CHECK(context_.clock != nullptr);  // Connect comes first
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string script, ReadScript());
  std::vector<ScriptStatement> statements = ReadSqlScript(script);
  // A comment behind the last statement is none.
  if (!statements.empty()) {
    const auto tokens = flink::Tokenize(statements.back().text);
    if (tokens && tokens->size() == 1) statements.pop_back();
  }
  return Playing(*this, std::move(statements), stream, output).Run(from);
}

}  // namespace driftless
