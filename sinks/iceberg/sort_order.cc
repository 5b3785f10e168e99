#include "sinks/iceberg/sort_order.h"

#include <simdjson.h>

#include <algorithm>
#include <utility>

#include "sinks/iceberg/single_value.h"
#include "sinks/lake/key_order.h"

namespace driftless::iceberg {
namespace {

namespace dom = simdjson::dom;

Error Bad(const std::string& what) {
  return MakeError(ErrorKind::kCorrupt, "the table's sort orders cannot be read: " + what);
}

Result<SortField> ReadField(const dom::element& json) {
  SortField field;
  int64_t source = 0;
  std::string_view transform;
  std::string_view direction;
  std::string_view nulls;
  if (json["source-id"].get(source) != simdjson::SUCCESS ||
      json["transform"].get(transform) != simdjson::SUCCESS) {
    return Bad("a field without source-id or transform");
  }
  field.source_id = static_cast<int32_t>(source);
  field.transform = std::string(transform);
  field.descending = json["direction"].get(direction) == simdjson::SUCCESS && direction == "desc";
  // As the reference implementation takes it where it is not said.
  field.nulls_first = json["null-order"].get(nulls) == simdjson::SUCCESS ? nulls == "nulls-first"
                                                                         : !field.descending;
  return field;
}

const ColumnView* ValueOf(const lake::RowImage& image, uint32_t row, int column) {
  const ColumnView* view = &image.columns[static_cast<size_t>(column)];
  return view->IsNull(row) ? nullptr : view;
}

}  // namespace

Result<SortOrder> DefaultSortOrder(const TableMetadata& metadata) {
  SortOrder order;
  const auto id = metadata.carried.find("default-sort-order-id");
  const auto orders = metadata.carried.find("sort-orders");
  if (id == metadata.carried.end() || orders == metadata.carried.end()) return order;
  order.id = static_cast<int32_t>(std::strtol(id->second.c_str(), nullptr, 10));
  if (order.id == 0) return order;
  dom::parser parser;
  dom::array list;
  if (parser.parse(orders->second).get(list) != simdjson::SUCCESS) return Bad("they are no array");
  for (const dom::element item : list) {
    int64_t number = 0;
    dom::array fields;
    if (item["order-id"].get(number) != simdjson::SUCCESS || number != order.id) continue;
    if (item["fields"].get(fields) != simdjson::SUCCESS) return Bad("an order without fields");
    for (const dom::element field : fields) {
      DRIFTLESS_ASSIGN_OR_RETURN(SortField read, ReadField(field));
      order.fields.push_back(std::move(read));
    }
    return order;
  }
  return Bad("the default order " + std::to_string(order.id) + " is not among them");
}

Result<SortField> ParseSortExpression(std::string_view text, std::string* source) {
  const auto bad = [&] {
    return MakeError(ErrorKind::kInvalidConfig,
                     "\"" + std::string(text) + "\" is no sort expression")
        .Hint(
            "Write a column or a transform, and after it asc or desc, nulls first or nulls last: "
            "day(ts) desc nulls last.");
  };
  std::vector<std::string_view> words;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = rest.find(' ');
    if (end != 0) words.push_back(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  if (words.empty()) return bad();
  const auto parsed = ParsePartitionExpression(words[0], source);
  if (!parsed) return bad();
  SortField field;
  field.transform = parsed->transform;
  size_t at = 1;
  if (at < words.size() && (words[at] == "asc" || words[at] == "desc")) {
    field.descending = words[at++] == "desc";
  }
  field.nulls_first = !field.descending;
  if (at + 2 == words.size() && words[at] == "nulls" &&
      (words[at + 1] == "first" || words[at + 1] == "last")) {
    field.nulls_first = words[at + 1] == "first";
    at += 2;
  }
  if (at != words.size()) return bad();
  return field;
}

Result<RowSorter> RowSorter::Make(const Schema& schema, const SortOrder& order,
                                  const std::vector<int>& image_columns) {
  RowSorter sorter;
  PartitionSpec transforms;
  for (const SortField& field : order.fields) {
    const Field* source = schema.FindId(field.source_id);
    if (source == nullptr || source->type.IsNested()) {
      return MakeError(ErrorKind::kUnsupported, "the sort order names column " +
                                                    std::to_string(field.source_id) +
                                                    ", which is not one of the table's own");
    }
    DRIFTLESS_ASSIGN_OR_RETURN(LogicalType result, TransformResult(field.transform, source->type));
    Part part;
    part.column = image_columns[static_cast<size_t>(source - schema.fields.data())];
    part.type = std::move(result);
    part.descending = field.descending;
    part.nulls_first = field.nulls_first;
    // A column that our rows do not have is the same in all of them.
    if (part.column < 0 || field.transform == "void") continue;
    if (field.transform != "identity") {
      part.transformed = static_cast<int>(transforms.fields.size());
      transforms.fields.push_back({field.source_id, 0, source->name, field.transform});
    }
    sorter.parts_.push_back(std::move(part));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(sorter.transforms_,
                             Partitioner::Make(schema, transforms, image_columns));
  sorter.order_id_ = order.id;
  return sorter;
}

RowSorter::Row RowSorter::Of(const lake::RowImage& image, uint32_t row) const {
  Row result{image, row, {}};
  if (transforms_.is_partitioned()) {
    result.transformed = transforms_.Of(image.columns, row);
  }
  return result;
}

int RowSorter::Compare(const Row& a, const Row& b) const {
  for (const Part& part : parts_) {
    int order = 0;
    bool a_null = false;
    bool b_null = false;
    if (part.transformed >= 0) {
      const auto& x = a.transformed[static_cast<size_t>(part.transformed)];
      const auto& y = b.transformed[static_cast<size_t>(part.transformed)];
      a_null = !x;
      b_null = !y;
      if (x && y) order = CompareSingleValues(part.type, *x, *y);
    } else {
      const ColumnView* x = ValueOf(a.image, a.row, part.column);
      const ColumnView* y = ValueOf(b.image, b.row, part.column);
      a_null = x == nullptr;
      b_null = y == nullptr;
      if (x != nullptr && y != nullptr) {
        order = lake::CompareValues(part.type, *x, a.row, *y, b.row);
      }
    }
    if (a_null != b_null) return a_null == part.nulls_first ? -1 : 1;
    if (order != 0) return (order < 0) == part.descending ? 1 : -1;
  }
  return 0;
}

void RowSorter::Sort(std::span<const lake::RowImage> images,
                     std::vector<lake::RowRef>* rows) const {
  if (!sorts() || rows->size() < 2) return;
  struct Entry {
    Row row;
    lake::RowRef ref;
  };
  std::vector<Entry> entries;
  entries.reserve(rows->size());
  for (const lake::RowRef ref : *rows) entries.push_back({Of(images[ref.image], ref.row), ref});
  const auto less = [&](const Entry& a, const Entry& b) { return Compare(a.row, b.row) < 0; };
  if (std::ranges::is_sorted(entries, less)) return;
  std::ranges::stable_sort(entries, less);
  std::ranges::transform(entries, rows->begin(), &Entry::ref);
}

}  // namespace driftless::iceberg
