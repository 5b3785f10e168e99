#include "pipeline/transform/metadata.h"

#include <fmt/format.h>

#include <algorithm>

namespace driftless {
namespace {

struct Known {
  std::string_view name;
  Metadata column;
};
constexpr Known kKnown[] = {
    {"__namespace_name__", Metadata::kNamespaceName},
    {"__schema_name__", Metadata::kSchemaName},
    {"__table_name__", Metadata::kTableName},
    {"__data_event_type__", Metadata::kEventType},
    {"__source_position__", Metadata::kPosition},
    {"__transaction_id__", Metadata::kTransaction},
    {"op_ts", Metadata::kOpTime},
    {"table_name", Metadata::kTableName},
    {"database_name", Metadata::kSchemaName},
    {"schema_name", Metadata::kSchemaName},
};

void Append(std::string_view text, OwnedColumn* out) {
  out->values.insert(out->values.end(), text.begin(), text.end());
  out->offsets.push_back(static_cast<int32_t>(out->values.size()));
}

std::string_view EventType(Op op, Image image) {
  switch (op) {
    case Op::kUpdate: return image == Image::kBefore ? "-U" : "+U";
    case Op::kDelete: return "-D";
    default: return "+I";
  }
}

}  // namespace

std::optional<Metadata> FindMetadata(std::string_view name) {
  for (const Known& known : kKnown) {
    if (known.name == name) return known.column;
  }
  return std::nullopt;
}

const std::vector<std::string_view>& MetadataNames() {
  static const std::vector<std::string_view>* const kNames = [] {
    auto* names = new std::vector<std::string_view>;
    for (const Known& known : kKnown) names->push_back(known.name);
    return names;
  }();
  return *kNames;
}

LogicalType TypeOf(Metadata column) {
  if (column == Metadata::kOpTime) return LogicalType::BigInt().NotNull();
  if (column == Metadata::kTransaction) return LogicalType::String();
  return LogicalType::String().NotNull();
}

void FillMetadata(Metadata column, const ChangeBatch& batch, Image image, OwnedColumn* out) {
  const int64_t rows = batch.size();
  out->Prepare(TypeOf(column), rows);
  std::fill(out->validity.begin(), out->validity.end(), uint8_t{0xFF});
  const TablePath& table = batch.table();
  for (int64_t row = 0; row < rows; ++row) {
    switch (column) {
      case Metadata::kNamespaceName: Append(table.catalog, out); break;
      case Metadata::kSchemaName: Append(table.database, out); break;
      case Metadata::kTableName: Append(table.table, out); break;
      case Metadata::kEventType:
        Append(EventType(batch.ops()[static_cast<size_t>(row)], image), out);
        break;
      case Metadata::kPosition: {
        const Point point = batch.point(row);
        char text[80];
        const auto end = fmt::format_to(text, "{}:{}:{}", point.epoch, point.offset, point.row);
        Append({text, static_cast<size_t>(end - text)}, out);
        break;
      }
      case Metadata::kTransaction: {
        const std::string_view id = batch.transaction(row);
        if (id.empty()) out->SetNull(row);
        Append(id, out);
        break;
      }
      case Metadata::kOpTime: {
        const auto at = static_cast<size_t>(row);
        const bool snapshot = batch.ops()[at] == Op::kRead;
        out->data<int64_t>()[row] = snapshot ? 0 : batch.commit_times_ms()[at];
        break;
      }
    }
  }
}

}  // namespace driftless
