#include "tests/unit/pipeline/sources/mysql/binlog_bytes.h"

#include <zlib.h>

#include <charconv>

#include "schema/base/check.h"
#include "schema/ddl/mysql/column_types.h"
#include "schema/types/value_text.h"

namespace driftless::testing {

using mysql::BinlogEvent;

std::string Unhex(std::string_view hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    int byte = 0;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    bytes += static_cast<char>(byte);
  }
  return bytes;
}

namespace {

void AppendLittle(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) *out += static_cast<char>(value >> (8 * i));
}

}  // namespace

std::string EventBytes(mysql::EventType type, std::string_view body) {
  std::string bytes;
  AppendLittle(1700000000, 4, &bytes);
  bytes += static_cast<char>(type);
  AppendLittle(1, 4, &bytes);
  AppendLittle(BinlogEvent::kHeaderSize + body.size(), 4, &bytes);
  AppendLittle(1000, 4, &bytes);
  AppendLittle(0, 2, &bytes);
  return bytes.append(body);
}

mysql::EventReader ChecksummedReader(bool mariadb) {
  std::string version = mariadb ? "10.11.19-MariaDB-log" : "9.7.4";
  version.resize(50, '\0');
  std::string body("\4\0", 2);
  body += version + std::string("\0\0\0\0\x13\1\1\1\1", 9) + '\1';
  std::string bytes = EventBytes(mysql::EventType::kFormatDescription, body + "1234");
  const auto* data = reinterpret_cast<const Bytef*>(bytes.data());
  const auto crc = crc32(0, data, static_cast<uInt>(bytes.size() - 4));
  bytes.resize(bytes.size() - 4);
  AppendLittle(crc, 4, &bytes);
  mysql::EventReader reader;
  const auto event = reader.Read(bytes);
  DRIFTLESS_CHECK(event.has_value());
  return reader;
}

TableSchemaPtr SchemaOf(const mysql::TableMap& map, const std::vector<std::string>& types,
                        bool mariadb) {
  auto schema = std::make_shared<TableSchema>();
  schema->path = map.path();
  mysql::ServerSettings settings;
  if (mariadb) settings.dialect = mysql::Dialect::kMariaDb;
  const mysql::Charset charset = mysql::FindCharset("utf8mb4", settings);
  for (size_t i = 0; i < types.size(); ++i) {
    const std::string name =
        map.has_names ? std::string(map.columns[i].name) : "c" + std::to_string(i + 1);
    Column& column = schema->AddColumn(name, LogicalType::Int());
    const auto resolved = mysql::ParseTypeText(types[i], charset, settings);
    DRIFTLESS_CHECK(resolved.has_value());
    mysql::SetColumnType(*resolved, settings, &column);
  }
  schema->primary_key = {schema->columns[0].id};
  return schema;
}

std::vector<std::string> DecodeRows(const mysql::TableMap& map, const TableSchemaPtr& schema,
                                    const BinlogEvent& event) {
  std::vector<std::string> lines;
  const auto fail = [&](const Error& error) {
    lines.push_back("error: " + error.ToString());
    return lines;
  };
  std::string buffer;
  const auto rows = mysql::ParseRows(event, &buffer);
  if (!rows) return fail(rows.error());
  auto plan = mysql::RowPlan::Make(map, schema);
  if (!plan) return fail(plan.error());
  mysql::RowDecoder decoder;
  if (const auto begun = decoder.Begin(plan->get(), *rows); !begun) return fail(begun.error());
  ChangeBatchBuilder builder(schema, 0);
  const auto done = decoder.Append(Point{}, 0, "", &builder);
  const ChangeBatchPtr batch = builder.Seal();
  for (int64_t row = 0; batch != nullptr && row < batch->size(); ++row) {
    const Op op = batch->ops()[static_cast<size_t>(row)];
    const auto image = op == Op::kDelete ? batch->before() : batch->after();
    std::string line = op == Op::kInsert ? "insert " : op == Op::kDelete ? "delete " : "update ";
    for (size_t i = 0; i < image.size(); ++i) {
      if (i > 0) line += ", ";
      if (image[i].IsAbsent(row)) {
        line += "absent";
      } else if (image[i].IsNull(row)) {
        line += "NULL";
      } else {
        AppendText(schema->columns[i].type, image[i], row, TextFormat{.bytes = BytesText::kHex},
                   &line);
      }
    }
    lines.push_back(std::move(line));
  }
  if (!done) return fail(done.error());
  return lines;
}

}  // namespace driftless::testing
