#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "pipeline/sources/mysql/binlog/table_map.h"
#include "pipeline/sources/mysql/log_stream_tables.h"

// The rows of LogStream.
namespace driftless::mysql {

LogStream::Table* LogStream::TableOf(const TablePath& path) {
  std::unique_ptr<Table>& table = tables_[path];
  if (table == nullptr) {
    table = std::make_unique<Table>();
    table->path = path;
    table->is_captured = IsCaptured(path);
  }
  return table.get();
}

Result<bool> LogStream::Map(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TableMapHead head, ParseTableMapHead(event));
  std::unique_ptr<Mapped>& mapped = mapped_[head.table_id];
  if (mapped != nullptr && mapped->identity == head.identity) return true;
  DRIFTLESS_ASSIGN_OR_RETURN(const TableMap map, ParseTableMap(event));
  mapped = std::make_unique<Mapped>();
  mapped->identity = head.identity;
  const TablePath path = map.path();
  Table* table = TableOf(path);
  if (!table->is_captured || online_.IsHidden(path)) return true;
  mapped->table = table;
  mapped->bytes = event.body;
  return true;
}

// Brings the plan up to the table's present schema. False: the pipeline stops.
Result<bool> LogStream::MakePlan(Mapped* mapped) {
  Table& table = *mapped->table;
  TableSchemaPtr schema = catalog_.Find(table.path);
  if (schema == mapped->schema && schema != nullptr) return true;
  BinlogEvent event;
  event.type = EventType::kTableMap;
  event.body = mapped->bytes;
  DRIFTLESS_ASSIGN_OR_RETURN(const TableMap map, ParseTableMap(event));
  if (schema == nullptr) {
    if (any_waits_) {
      return Park({table.path}, "", "a statement that made it may wait with another table", true);
    }
    // No statement in the log made it: CREATE TABLE ... LIKE of a table that is not captured, or a
    // name that came from elsewhere. The server's own definition counts where the map agrees.
    DRIFTLESS_ASSIGN_OR_RETURN(schema, hooks_.fetch(table.path, catalog_.next_incarnation()));
    const std::string difference = DifferenceOf(map, *schema);
    if (!difference.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(
          const bool go_on, Differs(map, &table,
                                    MakeError(ErrorKind::kConflict,
                                              "no statement made it, and the server has another "
                                              "table now: " +
                                                  difference)));
      if (!go_on || table.waits) return go_on;
    } else {
      catalog_.SetNextIncarnation(catalog_.next_incarnation() + 1);
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Announce(schema));
      if (!go_on) return false;
    }
    schema = catalog_.Find(table.path);
  }
  if (table.is_uncertain) {
    // A statement on it was ignored: where the map has no names, only the server's has them.
    const auto now = hooks_.fetch(table.path, 0);
    if (now && DifferenceOf(map, **now).empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, FollowTables({{table.path, *now}}, ""));
      if (!go_on) return false;
      schema = catalog_.Find(table.path);
    }
    table.is_uncertain = false;
  }
  auto plan = RowPlan::Make(map, schema);
  if (!plan && plan.error().kind() == ErrorKind::kConflict) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Differs(map, &table, plan.error()));
    if (!go_on || table.waits) return go_on;
    schema = catalog_.Find(table.path);
    plan = RowPlan::Make(map, schema);
  }
  if (!plan) return std::move(plan).error().Context("table " + table.path.ToString());
  mapped->plan = std::move(*plan);
  mapped->schema = schema;
  if (table.batch.schema() != schema && !batches_.SetSchema(&table.batch, schema)) return false;
  return true;
}

Result<bool> LogStream::Rows(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const uint64_t id, RowsTableId(event));
  if (id == kNoTable) return true;
  const auto found = mapped_.find(id);
  if (found == mapped_.end()) {
    return MakeError(ErrorKind::kInvalidInput,
                     fmt::format("rows of table number {} came before its TABLE_MAP", id));
  }
  Mapped& mapped = *found->second;
  if (mapped.table == nullptr) return true;
  LogPosition at = position_;
  at.file = file_;
  at.offset = event_end_;
  if (!hooks_.wants_rows(mapped.table->path, at)) return true;
  if (mapped.table->waits) return true;
  DRIFTLESS_ASSIGN_OR_RETURN(bool go_on, MakePlan(&mapped));
  if (!go_on || mapped.table->waits) return go_on;
  // Statements at this very place come before the rows.
  if (row_ == 0) row_ = kFirstRow;
  DRIFTLESS_ASSIGN_OR_RETURN(const RowsEvent rows, ParseRows(event, &buffer_));
  DRIFTLESS_TRY(rows_.Begin(mapped.plan.get(), rows, row_));
  OpenBatch* batch = &mapped.table->batch;
  for (bool more = true; more;) {
    ChangeBatchBuilder* builder = nullptr;
    if (!batches_.Begin(batch, &builder)) return false;
    auto appended = rows_.Append(PointHere(), commit_time_ms_, transaction_, builder);
    if (!appended) {
      return std::move(appended).error().Context("table " + mapped.table->path.ToString());
    }
    more = *appended;
    if ((more || builder->IsFull()) && !batches_.Seal(batch)) return false;
  }
  row_ = rows_.next_row();
  return true;
}

}  // namespace driftless::mysql
