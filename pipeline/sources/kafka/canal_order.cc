#include "pipeline/sources/kafka/canal_order.h"

#include <charconv>
#include <memory>

#include "sinks/formats/json/json_index.h"
#include "sinks/formats/message_reader.h"

namespace driftless {
namespace {

// The text behind `"name":`, or nothing.
std::string_view Behind(std::string_view text, size_t name, size_t name_size) {
  std::string_view rest = text.substr(name + name_size);
  while (!rest.empty() && (rest.front() == ' ' || rest.front() == ':')) rest.remove_prefix(1);
  return rest;
}

}  // namespace

CanalOrder OrderOf(const CanalPlace& row, const CanalStatement& statement) {
  const CanalPlace& other = statement.place;
  const auto compare = [](int64_t a, int64_t b) {
    return a < b ? CanalOrder::kBefore : CanalOrder::kBehind;
  };
  if (row.built_ms != other.built_ms) return compare(row.built_ms, other.built_ms);
  if (row.batch != other.batch) return compare(row.batch, other.batch);
  // Such a statement keeps rows away as long as it runs: what began later is behind it.
  if (statement.is_of_whole_table && row.event_ms != other.event_ms) {
    return compare(row.event_ms, other.event_ms);
  }
  return CanalOrder::kUnknown;
}

std::optional<CanalStatement> CanalStatementOf(std::string_view value) {
  // Within strings quotes are escaped, and values of columns are strings or null.
  constexpr std::string_view kIsDdl = "\"isDdl\"";
  const size_t at = value.find(kIsDdl);
  if (at == std::string_view::npos) return std::nullopt;
  if (!Behind(value, at, kIsDdl.size()).starts_with("true")) return std::nullopt;
  std::string padded(value);
  padded.append(kJsonPadding, '\0');
  const std::unique_ptr<MessageReader> reader = MakeCanalReader();
  debezium::Record record;
  if (!reader->Read("", "", std::string_view(padded).substr(0, value.size()), &record) ||
      record.kind != debezium::RecordKind::kSchemaChange || record.batch == 0) {
    return std::nullopt;
  }
  CanalStatement statement;
  statement.place = {record.built_ms, record.batch, record.commit_time_ms};
  statement.database = record.database;
  statement.table = record.table;
  for (const std::string_view type : {"\"CREATE\"", "\"ERASE\"", "\"TRUNCATE\""}) {
    statement.is_of_whole_table |= value.find(type) != std::string_view::npos;
  }
  return statement;
}

int64_t CanalBuiltAt(std::string_view value) {
  constexpr std::string_view kBuilt = "\"ts\"";
  const size_t at = value.rfind(kBuilt);
  if (at == std::string_view::npos) return 0;
  const std::string_view rest = Behind(value, at, kBuilt.size());
  int64_t built_ms = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), built_ms);
  return built_ms;
}

}  // namespace driftless
