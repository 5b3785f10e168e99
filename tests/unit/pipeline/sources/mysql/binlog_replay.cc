#include "tests/unit/pipeline/sources/mysql/binlog_replay.h"

#include "pipeline/sources/file/byte_stream.h"
#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "pipeline/sources/mysql/binlog/transaction_payload.h"

namespace driftless::testing {

using mysql::BinlogEvent;
using mysql::EventType;

std::string ReadUnpacked(const std::string& path) {
  auto stream = ByteStream::Open(path);
  DRIFTLESS_CHECK(stream.has_value());
  std::string text;
  std::vector<char> chunk(1 << 20);
  for (;;) {
    const Result<size_t> got = (*stream)->Read(chunk.data(), chunk.size());
    DRIFTLESS_CHECK(got.has_value());
    if (*got == 0) return text;
    text.append(chunk.data(), *got);
  }
}

BinlogReplay::BinlogReplay(mysql::Dialect dialect)
    : catalog([&] {
        mysql::ServerSettings settings;
        settings.dialect = dialect;
        settings.tinyint1_is_boolean = false;  // the truth has numbers
        return settings;
      }()) {}

Result<void> BinlogReplay::ReadFile(const std::string& path) {
  const std::string bytes = ReadUnpacked(path);
  DRIFTLESS_CHECK(
      bytes.starts_with("\xfe"
                        "bin"));
  StartStream();
  for (size_t at = 4; at < bytes.size();) {
    DRIFTLESS_CHECK(bytes.size() - at >= BinlogEvent::kHeaderSize);
    const uint64_t length =
        mysql::LoadLittle(reinterpret_cast<const uint8_t*>(bytes.data()) + at + 9, 4);
    DRIFTLESS_CHECK(length <= bytes.size() - at);
    auto done = ReadEvent(std::string_view(bytes).substr(at, length));
    if (!done) return std::move(done).error().Context("byte " + std::to_string(at));
    at += length;
    if (on_event) on_event(at);
  }
  return {};
}

void BinlogReplay::StartStream() {
  ++file_;
  reader_ = {};
  tables_.clear();
}

Result<void> BinlogReplay::ReadEvent(std::string_view bytes) {
  DRIFTLESS_ASSIGN_OR_RETURN(const BinlogEvent event, reader_.Read(bytes));
  if (event.end_position != 0) end_position_ = event.end_position;
  next_row_ = 0;
  return Use(event);
}

Result<void> BinlogReplay::Use(const BinlogEvent& event) {
  ++events[event.type];
  if (mysql::IsRowsEvent(event.type)) return UseRows(event);
  switch (event.type) {
    case EventType::kQuery:
    case EventType::kQueryCompressed: return UseQuery(event);
    case EventType::kTableMap: return UseTableMap(event);
    case EventType::kTransactionPayload: return UsePayload(event);
    case EventType::kXid: {
      DRIFTLESS_TRY(mysql::ParseXid(event));
      Commit();
      return {};
    }
    case EventType::kXaPrepare: {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto prepare, mysql::ParseXaPrepare(event));
      if (prepare.one_phase) {
        Commit();
      } else {
        prepared_[prepare.Text()] = std::move(transaction_);
        transaction_.clear();
      }
      return {};
    }
    case EventType::kGtid:
    case EventType::kGtidTagged:
    case EventType::kAnonymousGtid: DRIFTLESS_TRY(mysql::ParseGtid(event)); return {};
    case EventType::kMariaGtid: DRIFTLESS_TRY(mysql::ParseMariaGtid(event)); return {};
    case EventType::kMariaGtidList: DRIFTLESS_TRY(mysql::ParseMariaGtidList(event)); return {};
    case EventType::kPreviousGtids: DRIFTLESS_TRY(mysql::ParsePreviousGtids(event)); return {};
    case EventType::kRotate: DRIFTLESS_TRY(mysql::ParseRotate(event)); return {};
    case EventType::kRowsQuery:
    case EventType::kAnnotateRows: DRIFTLESS_TRY(mysql::ParseRowsQuery(event)); return {};
    default: return {};
  }
}

Result<void> BinlogReplay::UsePayload(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto payload, mysql::TransactionPayload::Open(event));
  BinlogEvent inner;
  for (;;) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, payload.Next(&inner));
    if (!more) return {};
    DRIFTLESS_TRY(Use(inner));
  }
}

Result<void> BinlogReplay::UseQuery(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const mysql::QueryEvent query, mysql::ParseQuery(event, &buffer_));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string sql, mysql::QueryText(query));
  if (query.alter_phase == mysql::QueryEvent::AlterPhase::kStart ||
      query.alter_phase == mysql::QueryEvent::AlterPhase::kRollback) {
    return {};
  }
  if (sql == "COMMIT") Commit();
  if (sql == "ROLLBACK") transaction_.clear();
  constexpr std::string_view kXaCommit = "XA COMMIT ";
  constexpr std::string_view kXaRollback = "XA ROLLBACK ";
  if (sql.starts_with(kXaCommit)) {
    const auto found = prepared_.find(sql.substr(kXaCommit.size()));
    if (found == prepared_.end()) {
      out.faults.push_back("committed, not prepared: " + sql);
    } else {
      transaction_ = std::move(found->second);
      prepared_.erase(found);
      Commit();
    }
  }
  if (sql.starts_with(kXaRollback) && prepared_.erase(sql.substr(kXaRollback.size())) == 0) {
    out.faults.push_back("rolled back, not prepared: " + sql);
  }
  mysql::StatementContext context;
  context.default_database = query.database;
  if (query.sql_mode) context.sql_mode = mysql::SqlModeFromBits(*query.sql_mode);
  auto effect = catalog.Apply(sql, context);
  if (!effect) {
    out.faults.push_back(sql + ": " + effect.error().ToString());
    return {};
  }
  UseEffect(*std::move(effect));
  return {};
}

void BinlogReplay::UseEffect(mysql::StatementEffect effect) {
  for (const mysql::RowsWithoutEvents& rows : effect.rows_without_events) {
    const TableSchemaPtr schema = catalog.Find(rows.table);
    if (schema != nullptr) changed_by_statement.insert({schema->incarnation, 0});
  }
  for (StatementChange& change : effect.changes) {
    for (const SchemaChange& part : change.parts) {
      const auto mark = [&](ColumnId id) {
        changed_by_statement.insert({part.after->incarnation, id});
      };
      if (const auto* added = std::get_if<AddColumns>(&part.detail)) {
        for (const auto& item : added->items) mark(item.column.id);
      } else if (const auto* types = std::get_if<AlterColumnTypes>(&part.detail)) {
        for (const auto& item : types->items) mark(item.column);
      } else if (const auto* tight = std::get_if<TightenNullability>(&part.detail)) {
        for (const ColumnId id : tight->columns) mark(id);
      }
    }
    out.Schema(std::make_shared<StatementChange>(std::move(change)), "");
  }
}

Result<void> BinlogReplay::UseTableMap(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const mysql::TableMapHead head, mysql::ParseTableMapHead(event));
  Table& table = tables_[head.table_id];
  DRIFTLESS_ASSIGN_OR_RETURN(const mysql::TableMap map, mysql::ParseTableMap(event));
  TableSchemaPtr schema = catalog.Find(map.path());
  if (schema == nullptr) {
    untracked.insert(map.path().ToString());
    table = {};
    return {};
  }
  if (table.plan != nullptr && table.identity == head.identity && table.schema == schema) return {};
  table.identity = head.identity;
  table.schema = schema;
  DRIFTLESS_ASSIGN_OR_RETURN(table.plan, mysql::RowPlan::Make(map, schema));
  return {};
}

Result<void> BinlogReplay::UseRows(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const mysql::RowsEvent rows, mysql::ParseRows(event, &buffer_));
  const auto found = tables_.find(rows.table_id);
  if (found == tables_.end() || found->second.plan == nullptr) return {};
  ChangeBatchBuilder builder(found->second.schema, 0);
  DRIFTLESS_TRY(decoder_.Begin(found->second.plan.get(), rows, next_row_));
  for (bool more = true; more;) {
    auto appended = decoder_.Append(Point{0, file_, end_position_, 0, 0}, 0, "", &builder);
    if (!appended) {
      out.dead_letters.push_back(appended.error().ToString());
      more = false;
    } else {
      more = *appended;
    }
    row_count += builder.size();
    if (builder.size() > 0) transaction_.push_back(builder.Seal());
  }
  next_row_ = decoder_.next_row();
  return {};
}

void BinlogReplay::Commit() {
  for (ChangeBatchPtr& batch : transaction_) out.Changes(std::move(batch));
  transaction_.clear();
}

}  // namespace driftless::testing
