#include "config/relation/relation.h"

#include <utility>

#include "schema/base/check.h"
#include "schema/types/value_text.h"

namespace driftless::flink {
namespace {

// One NULL of a type, to append.
OwnedColumn OneNull(const LogicalType& type) {
  OwnedColumn column;
  column.Prepare(type, 1);
  if (!column.offsets.empty()) column.offsets.push_back(0);
  for (size_t i = 0; type.kind() == TypeKind::kRow && i < column.children.size(); ++i) {
    column.children[i] = OneNull(type.children()[i].type);
  }
  return column;
}

}  // namespace

Relation::Relation(std::vector<Field> fields)
    : fields_(std::move(fields)), columns_(fields_.size()) {
  for (size_t i = 0; i < fields_.size(); ++i) columns_[i].Prepare(fields_[i].type, 0);
}

std::vector<ColumnView> Relation::views() const {
  std::vector<ColumnView> views;
  views.reserve(columns_.size());
  for (const OwnedColumn& column : columns_) views.push_back(column.view());
  return views;
}

void Relation::AddColumn(Field field, OwnedColumn column) {
  DRIFTLESS_CHECK(fields_.empty() || column.length() == rows_);
  rows_ = column.length();
  fields_.push_back(std::move(field));
  columns_.push_back(std::move(column));
}

void Relation::AppendRow(const Relation& from, int64_t row) {
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (row >= 0) {
      columns_[i].AppendRows(fields_[i].type, from.view(i), row, row + 1);
    } else {
      const OwnedColumn null = OneNull(fields_[i].type);
      columns_[i].AppendRows(fields_[i].type, null.view(), 0, 1);
    }
  }
  ++rows_;
}

Relation Relation::Take(const std::vector<int64_t>& rows) const {
  Relation taken(fields_);
  for (const int64_t row : rows) taken.AppendRow(*this, row);
  return taken;
}

Relation Relation::Beside(const Relation& left, const Relation& right) {
  DRIFTLESS_CHECK(left.rows_ == right.rows_);
  Relation both = left;
  for (size_t i = 0; i < right.fields_.size(); ++i) {
    both.AddColumn(right.fields_[i], right.columns_[i]);
  }
  both.rows_ = left.rows_;
  return both;
}

std::string Relation::KeyOf(int64_t row, const std::vector<size_t>& columns) const {
  std::string key;
  for (const size_t column : columns) {
    const ColumnView view = columns_[column].view();
    if (view.IsNull(row)) {
      key += "-;";
      continue;
    }
    std::string text;
    AppendText(fields_[column].type, view, row, TextFormat(), &text);
    key += std::to_string(text.size()) + ":" + text;
  }
  return key;
}

}  // namespace driftless::flink
