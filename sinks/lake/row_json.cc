#include "sinks/lake/row_json.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "schema/base/bytes_text.h"
#include "schema/base/json_writer.h"
#include "schema/types/value_text.h"
#include "sinks/lake/java_text.h"

namespace driftless::lake {

void AppendValueJson(const LogicalType& type, const ColumnView& view, int64_t row,
                     std::string* out) {
  if (view.IsNull(row)) {
    *out += "null";
    return;
  }
  switch (type.kind()) {
    case TypeKind::kFloat: {
      const auto value = view.Fixed<float>(row);
      const std::string text = JavaFloatText(value);
      *out += std::isfinite(value) ? text : "\"" + text + "\"";
      return;
    }
    case TypeKind::kDouble: {
      const auto value = view.Fixed<double>(row);
      const std::string text = JavaDoubleText(value);
      *out += std::isfinite(value) ? text : "\"" + text + "\"";
      return;
    }
    case TypeKind::kBinary:
    case TypeKind::kVarBinary:
      *out += "\"0x";
      AppendHex(view.Bytes(row), out);
      *out += '"';
      return;
    case TypeKind::kArray:
      *out += '[';
      for (int32_t e = view.offsets[row]; e < view.offsets[row + 1]; ++e) {
        if (e > view.offsets[row]) *out += ',';
        AppendValueJson(type.children()[0].type, view.children[0], e, out);
      }
      *out += ']';
      return;
    case TypeKind::kMap:
    case TypeKind::kMultiset: {
      const LogicalType value_type =
          type.kind() == TypeKind::kMap ? type.children()[1].type : LogicalType::Int();
      std::vector<std::pair<std::string, std::string>> entries;
      const ColumnView& entry = view.children[0];
      for (int32_t e = view.offsets[row]; e < view.offsets[row + 1]; ++e) {
        entries.emplace_back();
        AppendValueJson(type.children()[0].type, entry.children[0], e, &entries.back().first);
        AppendValueJson(value_type, entry.children[1], e, &entries.back().second);
      }
      std::sort(entries.begin(), entries.end());
      *out += '[';
      for (size_t i = 0; i < entries.size(); ++i) {
        if (i > 0) *out += ',';
        *out += "[" + entries[i].first + "," + entries[i].second + "]";
      }
      *out += ']';
      return;
    }
    case TypeKind::kRow:
      *out += '{';
      for (size_t i = 0; i < type.children().size(); ++i) {
        if (i > 0) *out += ',';
        AppendJsonString(type.children()[i].name, out);
        *out += ':';
        AppendValueJson(type.children()[i].type, view.children[i], row, out);
      }
      *out += '}';
      return;
    default: {
      TextFormat format;
      format.date_time_separator = 'T';
      AppendJson(type, view, row, format, out);
      return;
    }
  }
}

void AppendRowJson(std::span<const RowField> fields, std::span<const ColumnView> columns,
                   int64_t row, std::string* out) {
  *out += '{';
  for (size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) *out += ',';
    AppendJsonString(fields[i].name, out);
    *out += ':';
    AppendValueJson(fields[i].type, columns[i], row, out);
  }
  *out += '}';
}

}  // namespace driftless::lake
