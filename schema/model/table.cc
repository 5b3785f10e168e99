#include "schema/model/table.h"

#include <algorithm>

#include "schema/base/letter_case.h"

namespace driftless {

std::string TablePath::ToString() const {
  std::string text;
  if (!catalog.empty()) text += catalog + ".";
  if (!database.empty()) text += database + ".";
  return text + table;
}

Result<TablePath> ParseTablePath(std::string_view text) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == '.') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  const bool has_empty = std::any_of(parts.begin(), parts.end(), [](auto& p) { return p.empty(); });
  if (has_empty || parts.size() < 2 || parts.size() > 3) {
    return MakeError(ErrorKind::kInvalidConfig,
                     "\"" + std::string(text) + "\" is not a table name of two or three parts")
        .Hint("Write database.table.");
  }
  if (parts.size() == 2) return TablePath{"", parts[0], parts[1]};
  return TablePath{parts[0], parts[1], parts[2]};
}

int TableSchema::IndexOf(ColumnId id) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].id == id) return static_cast<int>(i);
  }
  return -1;
}

int TableSchema::IndexOfName(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

int TableSchema::IndexOfNameIgnoringCase(std::string_view name) const {
  for (size_t i = 0; i < columns.size(); ++i) {
    if (EqualsIgnoringCase(columns[i].name, name)) return static_cast<int>(i);
  }
  return -1;
}

const Column* TableSchema::Find(ColumnId id) const {
  const int index = IndexOf(id);
  return index < 0 ? nullptr : &columns[index];
}

const Column* TableSchema::FindName(std::string_view name) const {
  const int index = IndexOfName(name);
  return index < 0 ? nullptr : &columns[index];
}

bool TableSchema::IsKey(ColumnId id) const {
  return std::find(primary_key.begin(), primary_key.end(), id) != primary_key.end();
}

bool TableSchema::IsPartitionKey(ColumnId id) const {
  return std::find(partition_keys.begin(), partition_keys.end(), id) != partition_keys.end();
}

Column& TableSchema::AddColumn(std::string name, LogicalType type) {
  Column column;
  column.id = next_column_id++;
  column.name = std::move(name);
  column.type = std::move(type);
  return columns.emplace_back(std::move(column));
}

}  // namespace driftless
