#include "pipeline/sources/mysql/chunk_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "pipeline/sources/mysql/tables.h"

namespace driftless::mysql {
namespace {

std::string Quoted(const TablePath& table) {
  return QuoteName(table.database) + "." + QuoteName(table.table);
}

}  // namespace

ChunkReader::ChunkReader(Connection* connection, TableSchemaPtr schema, const ChunkKey* key)
    : connection_(*connection), schema_(std::move(schema)), key_(*key) {
  for (const Column& column : schema_->columns) columns_.emplace_back(column);
}

Result<ChunkReader::Pinned> ChunkReader::Pin(const ServerSettings& settings, bool with_comments) {
  // The first read keeps the table's definition until the view ends. A table that was made anew
  // behind the view cannot be read in it.
  auto pinned = connection_.Query(fmt::format("SELECT 1 FROM {} LIMIT 1", Quoted(schema_->path)));
  constexpr unsigned kTableDefinitionChanged = 1412;
  if (!pinned) {
    // A statement waits for this table while we have read another one for which it waits, too.
    constexpr unsigned kDeadlock = 1213;
    if (connection_.last_errno() == kDeadlock) return Pinned::kViewIsGone;
    // Timed out: a statement waits for the table, and for the end of other views of ours.
    const ErrorKind kind = pinned.error().kind();
    if (kind == ErrorKind::kNotFound || kind == ErrorKind::kTimedOut ||
        connection_.last_errno() == kTableDefinitionChanged) {
      return Pinned::kDiffers;
    }
    return std::move(pinned).error();
  }
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, ShowCreateTable(&connection_, schema_->path));
  DRIFTLESS_ASSIGN_OR_RETURN(
      const TableSchemaPtr now,
      SchemaOfStatement(text, schema_->path, settings, with_comments, schema_->incarnation));
  return SameShape(*now, *schema_) ? Pinned::kSame : Pinned::kDiffers;
}

Result<ChunkBound> ChunkReader::NextBound(const ChunkBound& after, int64_t rows) {
  ChunkBound bound;
  if (key_.empty()) return bound;
  DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<TextRow> found,
                             connection_.Query(key_.BoundQuery(after, rows)));
  if (found.empty()) return bound;
  for (const auto& value : found.front()) bound.push_back(value.value_or(""));
  return bound;
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

Result<int64_t> ChunkReader::Read(const ChunkBound& after, const ChunkBound& through,
                                  const NextPoint& next_point, StreamId stream, const Send& send) {
  std::string sql = "SELECT ";
  for (const SnapshotColumn& column : columns_) {
    if (&column != &columns_.front()) sql += ", ";
    sql += column.expression();
  }
  sql += " FROM " + Quoted(schema_->path);
  if (const std::string condition = key_.empty() ? "" : key_.Condition(after, through);
      !condition.empty()) {
    sql += " WHERE " + condition;
  }
  DRIFTLESS_TRY(connection_.BeginStream(sql));
  ChangeBatchBuilder builder(schema_, stream);
  const auto flush = [&] {
    ChangeBatchPtr batch = builder.Seal();
    return batch == nullptr || send(std::move(batch));
  };
  Point point = next_point();
  int64_t rows = 0;
  for (;;) {
    DRIFTLESS_ASSIGN_OR_RETURN(const Connection::RawRow row, connection_.NextRow());
    if (row.empty()) break;
    DRIFTLESS_TRY(AppendRow(row, point, &builder));
    ++rows;
    if (++point.row == UINT32_MAX) point = next_point();
    // Sizes are counted every few rows, because counting walks all columns.
    const bool look = rows % 64 == 0 || std::any_of(row.lengths.begin(), row.lengths.end(),
                                                    [](unsigned long l) { return l > 16384; });
    if (look && builder.IsFull() && !flush()) {
      return MakeError(ErrorKind::kCancelled, "the pipeline stops");
    }
  }
  if (!flush()) return MakeError(ErrorKind::kCancelled, "the pipeline stops");
  return rows;
}

}  // namespace driftless::mysql
