// Whatever bytes come as events, they are understood or refused: no crash, no hang, no memory
// beyond what the bytes hold. The first byte chooses the server; the rest is a run of events with
// their checksums, which are not looked at.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "pipeline/sources/mysql/binlog/event_bodies.h"
#include "pipeline/sources/mysql/binlog/row_decoder.h"
#include "pipeline/sources/mysql/binlog/transaction_payload.h"

namespace {

using namespace driftless;
using mysql::BinlogEvent;
using mysql::EventType;
using mysql::WireType;

LogicalType TypeOf(const mysql::WireColumn& wire) {
  const auto length = static_cast<int32_t>(wire.length);
  switch (wire.type) {
    case WireType::kTiny:
    case WireType::kShort:
    case WireType::kInt24:
    case WireType::kLong:
    case WireType::kLongLong: return LogicalType::BigInt();
    case WireType::kYear: return LogicalType::Int();
    case WireType::kFloat: return LogicalType::Float();
    case WireType::kDouble: return LogicalType::Double();
    case WireType::kDecimal:
      return length > 38 ? LogicalType::String() : LogicalType::Decimal(length, wire.scale);
    case WireType::kBit:
      return length == 1 ? LogicalType::Boolean() : LogicalType::Binary((length + 7) / 8);
    case WireType::kDate: return LogicalType::Date();
    case WireType::kTime: return LogicalType::Time(length);
    case WireType::kDateTime: return LogicalType::Timestamp(length);
    case WireType::kTimestamp: return LogicalType::TimestampLtz(length);
    case WireType::kTimeOld: return LogicalType::Time(3);
    case WireType::kDateTimeOld: return LogicalType::Timestamp(6);
    case WireType::kTimestampOld: return LogicalType::TimestampLtz(0);
    case WireType::kSet: return LogicalType::Array(LogicalType::String());
    case WireType::kVector: return LogicalType::Array(LogicalType::Float());
    default: return wire.collation == 63 ? LogicalType::Bytes() : LogicalType::String();
  }
}

TableSchemaPtr SchemaOf(const mysql::TableMap& map) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = map.path();
  for (const mysql::WireColumn& wire : map.columns) {
    Column& column = schema->AddColumn(std::string(wire.name), TypeOf(wire));
    column.source.is_unsigned = wire.is_unsigned;
    column.source.enum_values = wire.members;
    if (wire.members.empty()) column.source.enum_values = {"a", "b", "c"};
  }
  if (!schema->columns.empty()) schema->primary_key = {schema->columns[0].id};
  return schema;
}

class Consumer {
 public:
  void Use(const BinlogEvent& event, int depth) {
    (void)mysql::ToString(event.type);
    if (mysql::IsRowsEvent(event.type)) return Rows(event);
    switch (event.type) {
      case EventType::kQuery:
      case EventType::kQueryCompressed: {
        const auto query = mysql::ParseQuery(event, &buffer_);
        if (query) (void)mysql::QueryText(*query);
        return;
      }
      case EventType::kTableMap: return Map(event);
      case EventType::kTransactionPayload: return depth == 0 ? Payload(event) : void();
      case EventType::kRotate: return (void)mysql::ParseRotate(event);
      case EventType::kGtid:
      case EventType::kAnonymousGtid:
      case EventType::kGtidTagged: {
        const auto gtid = mysql::ParseGtid(event);
        if (gtid) (void)gtid->gtid.ToString();
        return;
      }
      case EventType::kPreviousGtids: return Previous(event);
      case EventType::kMariaGtid: return (void)mysql::ParseMariaGtid(event);
      case EventType::kMariaGtidList: return (void)mysql::ParseMariaGtidList(event);
      case EventType::kXid: return (void)mysql::ParseXid(event);
      case EventType::kXaPrepare: {
        const auto prepare = mysql::ParseXaPrepare(event);
        if (prepare) (void)prepare->Text();
        return;
      }
      case EventType::kHeartbeat:
      case EventType::kHeartbeatV2: return (void)mysql::ParseHeartbeat(event);
      case EventType::kIncident: return (void)mysql::ParseIncident(event);
      default: return (void)mysql::ParseRowsQuery(event);
    }
  }

 private:
  void Previous(const BinlogEvent& event) {
    const auto set = mysql::ParsePreviousGtids(event);
    if (!set) return;
    const auto again = mysql::GtidSet::Parse(set->ToString());
    if (again && !set->Contains(*again)) std::abort();
  }
  void Payload(const BinlogEvent& event) {
    auto payload = mysql::TransactionPayload::Open(event);
    if (!payload) return;
    BinlogEvent inner;
    for (int i = 0; i < 1000; ++i) {
      const auto more = payload->Next(&inner);
      if (!more || !*more) return;
      Use(inner, 1);
    }
  }
  void Map(const BinlogEvent& event) {
    const auto map = mysql::ParseTableMap(event);
    if (!map) return;
    auto plan = mysql::RowPlan::Make(*map, SchemaOf(*map));
    if (plan) plans_[map->table_id] = *std::move(plan);
  }
  void Rows(const BinlogEvent& event) {
    const auto rows = mysql::ParseRows(event, &buffer_);
    if (!rows) return;
    const auto found = plans_.find(rows->table_id);
    if (found == plans_.end()) return;
    mysql::RowDecoder decoder(mysql::BeforeImages::kAll);
    if (!decoder.Begin(found->second.get(), *rows)) return;
    ChangeBatchBuilder builder(found->second->schema(), 0);
    for (int i = 0; i < 1000; ++i) {
      const auto more = decoder.Append(Point{}, 0, "", &builder);
      (void)builder.Seal();
      if (!more && more.error().position().empty()) std::abort();
      if (!more || !*more) return;
    }
  }

  std::map<uint64_t, std::unique_ptr<mysql::RowPlan>> plans_;
  std::string buffer_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  Consumer consumer;
  for (size_t at = 1; size - at >= BinlogEvent::kHeaderSize;) {
    const uint64_t said = mysql::LoadLittle(data + at + 9, 4);
    if (said < BinlogEvent::kHeaderSize + 4 || said > size - at) break;
    const std::string_view bytes(reinterpret_cast<const char*>(data) + at, said);
    auto event = mysql::EventReader::ReadInner(bytes);
    if (!event) std::abort();
    event->is_mariadb = (data[0] & 1) != 0;
    event->body.remove_suffix(4);
    consumer.Use(*event, 0);
    at += said;
  }
  return 0;
}
