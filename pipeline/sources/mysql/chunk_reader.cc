#include "pipeline/sources/mysql/chunk_reader.h"

#include <fmt/format.h>

#include "pipeline/sources/mysql/tables.h"

namespace driftless::mysql {
namespace {

// Whether the server compares the column with a literal of its text in the column's own order.
bool OrdersByText(const Column& column) {
  const std::string& text = column.source.type_text;
  if (text.starts_with("enum") || text.starts_with("set") || text.starts_with("bit")) return false;
  switch (column.type.kind()) {
    case TypeKind::kTinyInt:
    case TypeKind::kSmallInt:
    case TypeKind::kInt:
    case TypeKind::kBigInt:
    case TypeKind::kBoolean:
    case TypeKind::kDecimal:
    case TypeKind::kChar:
    case TypeKind::kVarChar:
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return true;
    default: return false;
  }
}

std::string Literal(Connection* connection, const Column& column, const std::string& text) {
  if (column.type.IsInteger() || column.type.kind() == TypeKind::kDecimal ||
      column.type.kind() == TypeKind::kBoolean) {
    return text;
  }
  if (!column.type.IsBytes()) return connection->Quote(text);
  std::string hex = "x'";
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return hex + "'";
}

}  // namespace

Result<ChunkReader> ChunkReader::Make(const SourceOptions& options, const ServerFacts& facts,
                                      TableSchemaPtr schema) {
  ChunkReader reader;
  reader.options_ = &options;
  reader.facts_ = &facts;
  reader.schema_ = std::move(schema);
  for (const Column& column : reader.schema_->columns) {
    reader.columns_.emplace_back(column);
  }
  for (const ColumnId id : reader.schema_->primary_key) {
    const auto index = static_cast<size_t>(reader.schema_->IndexOf(id));
    if (!OrdersByText(reader.schema_->columns[index])) {
      reader.key_.clear();
      break;
    }
    reader.key_.push_back(index);
  }
  return reader;
}

std::string ChunkReader::SelectText(Connection* connection,
                                    const std::vector<std::string>& after) const {
  std::string sql = "SELECT ";
  for (const SnapshotColumn& column : columns_) {
    if (&column != &columns_.front()) sql += ", ";
    sql += column.expression();
  }
  sql +=
      fmt::format(" FROM {}.{}", QuoteName(schema_->path.database), QuoteName(schema_->path.table));
  if (key_.empty()) return sql;
  // (a > 1) OR (a = 1 AND b > 2): a comparison of rows would not use the index on all servers.
  if (!after.empty()) {
    std::string equal;
    sql += " WHERE ";
    for (size_t i = 0; i < key_.size(); ++i) {
      const Column& column = schema_->columns[key_[i]];
      const std::string name = QuoteName(column.name);
      const std::string value = Literal(connection, column, after[i]);
      sql += fmt::format("{}({}{} > {})", i == 0 ? "" : " OR ", equal, name, value);
      equal += fmt::format("{} = {} AND ", name, value);
    }
  }
  sql += " ORDER BY ";
  for (const size_t index : key_) {
    if (index != key_.front()) sql += ", ";
    sql += QuoteName(schema_->columns[index].name);
  }
  return sql + fmt::format(" LIMIT {}", options_->chunk_rows);
}

// A view that sees every transaction that stands before the stream's present place in the log; for
// a table without a key, one whose place in the log is known exactly.
Result<void> ChunkReader::BeginView(Connection* connection, Chunk* chunk) {
  const bool exact = schema_->primary_key.empty() && options_->WantsLog();
  std::unique_ptr<Connection> lock;
  if (exact && !facts_->IsMariaDb()) {
    // No transaction on the table is under way while it is locked, so the log's end is the view's.
    DRIFTLESS_ASSIGN_OR_RETURN(lock, Connection::Open(options_->connection));
    DRIFTLESS_TRY(lock->Execute("SET lock_wait_timeout = 30"));
    auto locked =
        lock->Execute(fmt::format("LOCK TABLES {}.{} READ", QuoteName(schema_->path.database),
                                  QuoteName(schema_->path.table)));
    if (!locked) {
      return std::move(locked).error().Hint(
          "A table without a primary key is read under a short LOCK TABLES ... READ: grant LOCK "
          "TABLES, end long transactions on it, or give it a key.");
    }
  }
  DRIFTLESS_TRY(connection->Execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"));
  DRIFTLESS_TRY(connection->Execute("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"));
  if (!exact) return {};
  if (!facts_->IsMariaDb()) {
    DRIFTLESS_ASSIGN_OR_RETURN(chunk->seen, CurrentLogPosition(connection, *facts_));
    return {};
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const auto rows,
                             connection->Query("SHOW STATUS LIKE 'binlog_snapshot_%'"));
  LogPosition seen;
  for (const TextRow& row : rows) {
    if (*row[0] == "Binlog_snapshot_file") seen.file = row[1].value_or("");
    if (*row[0] == "Binlog_snapshot_position") {
      seen.offset = std::strtoull(row[1].value_or("0").c_str(), nullptr, 10);
    }
  }
  chunk->seen = seen;
  return {};
}

Result<bool> ChunkReader::IsSame(Connection* connection) const {
  // The first read pins the table's definition until the view ends.
  auto pinned = connection->Query(fmt::format("SELECT 1 FROM {}.{} LIMIT 0",
                                              QuoteName(schema_->path.database),
                                              QuoteName(schema_->path.table)));
  constexpr unsigned kTableDefinitionChanged = 1412;
  if (!pinned) {
    if (pinned.error().kind() == ErrorKind::kNotFound ||
        connection->last_errno() == kTableDefinitionChanged) {
      return false;
    }
    return std::move(pinned).error();
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, ShowCreateTable(connection, schema_->path));
  DRIFTLESS_ASSIGN_OR_RETURN(const TableSchemaPtr now,
                             SchemaOfStatement(text, schema_->path, SettingsOf(*facts_, *options_),
                                               options_->include_comments, schema_->incarnation));
  return SameShape(*now, *schema_);
}

Result<void> ChunkReader::AppendRow(const Connection::RawRow& row, const Point& point,
                                    ChangeBatchBuilder* builder) {
  builder->BeginRow(Op::kRead, point, 0);
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnBuilder& out = builder->after(static_cast<int>(i));
    if (row.values[i] == nullptr) {
      out.AppendNull();
    } else if (!columns_[i].Append({row.values[i], row.lengths[i]}, &out)) {
      builder->AbandonRow();
      const Column& column = schema_->columns[i];
      return MakeError(
          ErrorKind::kInvalidInput,
          fmt::format("table {}, column {}: the value {} is no {}", schema_->path.ToString(),
                      column.name,
                      std::string_view(row.values[i], std::min<size_t>(row.lengths[i], 60)),
                      column.type.ToString()));
    }
  }
  builder->EndRow();
  return {};
}

Result<ChunkReader::Chunk> ChunkReader::Read(Connection* connection,
                                             const std::vector<std::string>& after,
                                             const Point& first, ChangeBatchBuilder* builder,
                                             const Send& send) {
  Chunk chunk;
  DRIFTLESS_TRY(BeginView(connection, &chunk));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool same, IsSame(connection));
  if (!same) {
    chunk.schema_differs = true;
    DRIFTLESS_TRY(connection->Execute("ROLLBACK"));
    return chunk;
  }
  DRIFTLESS_TRY(connection->BeginStream(SelectText(connection, after)));
  Point point = first;
  for (;;) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Connection::RawRow row, connection->NextRow());
    if (row.empty()) break;
    DRIFTLESS_TRY(AppendRow(row, point, builder));
    ++point.row;
    ++chunk.rows;
    if (!key_.empty() && chunk.rows == options_->chunk_rows) {
      for (const size_t index : key_) {
        chunk.last_key.emplace_back(row.values[index], row.lengths[index]);
      }
    }
    if (chunk.rows % 64 == 0 && builder->IsFull() && !send()) {
      return MakeError(ErrorKind::kCancelled, "the pipeline stops");
    }
  }
  chunk.is_last = key_.empty() || chunk.rows < options_->chunk_rows;
  if (!send()) return MakeError(ErrorKind::kCancelled, "the pipeline stops");
  DRIFTLESS_TRY(connection->Execute("COMMIT"));
  return chunk;
}

}  // namespace driftless::mysql
