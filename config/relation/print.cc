#include "config/relation/print.h"

#include <algorithm>
#include <utility>

#include "config/expr/eval/program.h"
#include "config/sql/tableau.h"
#include "schema/base/utf8.h"

namespace driftless::flink {
namespace {

using Texts = std::vector<std::optional<std::string>>;

std::string HexText(std::string_view bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "x'";
  for (const char c : bytes) {
    text += kDigits[static_cast<unsigned char>(c) >> 4];
    text += kDigits[static_cast<unsigned char>(c) & 15];
  }
  return text + "'";
}

std::string Inner(const std::optional<std::string>& text) { return text.value_or("NULL"); }

Texts ScalarTexts(const LogicalType& type, const ColumnView& view) {
  Expr column;
  column.kind = ExprKind::kColumn;
  column.path = {"c"};
  Expr cast;
  cast.kind = ExprKind::kCast;
  cast.text = "CAST";
  cast.type = LogicalType::String();
  cast.args = {std::move(column)};
  Scope scope;
  scope.columns.emplace_back("c", type);
  auto program = Program::Compile(std::move(cast), scope, TimeZone());
  Texts texts(static_cast<size_t>(view.length));
  if (!program) return texts;
  const ColumnView& cells = program->Run({view.length, {&view, 1}, 0});
  for (int64_t row = 0; row < view.length; ++row) {
    if (!cells.IsNull(row)) texts[static_cast<size_t>(row)] = std::string(cells.Bytes(row));
  }
  return texts;
}

Texts ListTexts(const LogicalType& type, const ColumnView& view) {
  const bool is_map = type.kind() != TypeKind::kArray;
  Texts keys;
  Texts values;
  if (is_map) {
    const LogicalType entries = EntriesType(type);
    keys = CellTexts(entries.children()[0].type, view.children[0].children[0]);
    values = CellTexts(entries.children()[1].type, view.children[0].children[1]);
  } else {
    values = CellTexts(type.children()[0].type, view.children[0]);
  }
  Texts texts(static_cast<size_t>(view.length));
  for (int64_t row = 0; row < view.length; ++row) {
    if (view.IsNull(row)) continue;
    std::string text;
    for (int32_t i = view.offsets[row]; i < view.offsets[row + 1]; ++i) {
      const auto at = static_cast<size_t>(i);
      if (!text.empty()) text += ", ";
      text += is_map ? Inner(keys[at]) + "=" + Inner(values[at]) : Inner(values[at]);
    }
    texts[static_cast<size_t>(row)] = is_map ? "{" + text + "}" : "[" + text + "]";
  }
  return texts;
}

Texts RowTexts(const LogicalType& type, const ColumnView& view) {
  std::vector<Texts> fields;
  for (size_t i = 0; i < type.children().size(); ++i) {
    fields.push_back(CellTexts(type.children()[i].type, view.children[i]));
  }
  Texts texts(static_cast<size_t>(view.length));
  for (size_t row = 0; row < texts.size(); ++row) {
    if (view.IsNull(static_cast<int64_t>(row))) continue;
    std::string text;
    for (const Texts& field : fields) text += (text.empty() ? "" : ", ") + Inner(field[row]);
    texts[row] = "(" + text + ")";
  }
  return texts;
}

// Of the widest value that the type has, as Flink takes it (TableauStyle).
size_t WidthOf(const LogicalType& type, size_t widest) {
  const auto seconds = [](int precision) -> size_t {
    return precision == 0 ? 19 : precision <= 3 ? 23 : precision <= 6 ? 26 : 29;
  };
  switch (type.kind()) {
    case TypeKind::kTinyInt: return 4;
    case TypeKind::kSmallInt: return 6;
    case TypeKind::kInt: return 11;
    case TypeKind::kBigInt: return 20;
    case TypeKind::kDecimal: return static_cast<size_t>(type.precision()) + 2;
    case TypeKind::kBoolean: return 5;
    case TypeKind::kDate: return 10;
    case TypeKind::kTime:
      return type.precision() == 0 ? 8 : static_cast<size_t>(type.precision()) + 9;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampLtz: return seconds(type.precision());
    default: return widest;
  }
}

// At most `width` columns wide, blanks on the left where a wide character did not fit.
std::string Cut(const std::string& text, size_t width) {
  if (DisplayWidth(text) <= width || width < 3) return text;
  std::string kept;
  for (size_t at = 0; at < text.size();) {
    size_t end = at + 1;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    const std::string_view character = std::string_view(text).substr(at, end - at);
    if (DisplayWidth(kept) + DisplayWidth(character) > width - 3) break;
    kept += character;
    at = end;
  }
  return kept + "...";
}

}  // namespace

Texts CellTexts(const LogicalType& type, const ColumnView& view) {
  switch (type.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kMultiset: return ListTexts(type, view);
    case TypeKind::kRow: return RowTexts(type, view);
    case TypeKind::kBinary:
    case TypeKind::kVarBinary: {
      Texts texts(static_cast<size_t>(view.length));
      for (int64_t row = 0; row < view.length; ++row) {
        if (!view.IsNull(row)) texts[static_cast<size_t>(row)] = HexText(view.Bytes(row));
      }
      return texts;
    }
    default: return ScalarTexts(type, view);
  }
}

std::string PrintRelation(const Relation& relation, const PrintOptions& options) {
  constexpr size_t kRoomForNull = 6;
  std::vector<std::string> header;
  std::vector<size_t> widths;
  std::vector<TableauRow> rows(static_cast<size_t>(relation.rows()));
  if (options.with_op) {
    header.emplace_back("op");
    widths.push_back(2);
    for (TableauRow& row : rows) row.emplace_back("+I");
  }
  for (size_t i = 0; i < relation.fields().size(); ++i) {
    const Field& field = relation.fields()[i];
    size_t width = std::min(DisplayWidth(field.name), options.widest);
    if (options.widths == PrintWidths::kOfTypes) {
      width = std::max({width, WidthOf(field.type, options.widest), kRoomForNull});
    }
    const Texts texts = CellTexts(field.type, relation.view(i));
    for (size_t row = 0; row < rows.size(); ++row) {
      std::string text = texts[row].value_or("<NULL>");
      const size_t limit = options.widths == PrintWidths::kOfTypes ? width : options.widest;
      const bool is_cut = DisplayWidth(text) > limit;
      if (is_cut) width = std::max(width, limit);  // where a wide character did not fit too
      text = Cut(text, limit);
      width = std::max(width, DisplayWidth(text));
      rows[row].push_back(std::move(text));
    }
    header.push_back(Cut(field.name, width));
    widths.push_back(width);
  }
  return Tableau(header, rows, widths);
}

}  // namespace driftless::flink
