#include "schema/ddl/change_parts.h"

#include <algorithm>
#include <set>
#include <utility>

#include "schema/base/check.h"

namespace driftless {
namespace {

using Order = std::vector<ColumnId>;

Order OrderOf(const TableSchema& schema) {
  Order order;
  for (const Column& column : schema.columns) order.push_back(column.id);
  return order;
}

// Puts the column at its place in the list. False where the anchor is not there.
bool Insert(ColumnId column, const ColumnPlace& place, Order* order) {
  switch (place.kind) {
    case ColumnPlace::Kind::kLast: order->push_back(column); return true;
    case ColumnPlace::Kind::kFirst: order->insert(order->begin(), column); return true;
    case ColumnPlace::Kind::kBefore:
    case ColumnPlace::Kind::kAfter: break;
  }
  auto anchor = std::find(order->begin(), order->end(), place.anchor);
  if (anchor == order->end()) return false;
  order->insert(place.kind == ColumnPlace::Kind::kAfter ? anchor + 1 : anchor, column);
  return true;
}

bool Move(ColumnId column, const ColumnPlace& place, Order* order) {
  const auto at = std::find(order->begin(), order->end(), column);
  if (at == order->end() || place.anchor == column) return false;
  order->erase(at);
  return Insert(column, place, order);
}

struct Places {
  std::vector<StatedPlace> adds;
  std::vector<StatedPlace> moves;
};

bool Replays(const Order& start, const Places& places, const Order& wanted) {
  Order order = start;
  for (const StatedPlace& add : places.adds) {
    if (!Insert(add.column, add.place, &order)) return false;
  }
  for (const StatedPlace& move : places.moves) {
    if (!Move(move.column, move.place, &order)) return false;
  }
  return order == wanted;
}

ColumnPlace PlaceIn(const Order& wanted, size_t index) {
  if (index == 0) return {ColumnPlace::Kind::kFirst, 0};
  return {ColumnPlace::Kind::kAfter, wanted[index - 1]};
}

// Columns of `present` that keep their relative order in `wanted`: a longest increasing
// subsequence.
std::set<ColumnId> Unmoved(const Order& present, const Order& wanted) {
  std::vector<size_t> position;
  for (ColumnId column : present) {
    position.push_back(
        static_cast<size_t>(std::find(wanted.begin(), wanted.end(), column) - wanted.begin()));
  }
  const size_t n = position.size();
  std::vector<size_t> length(n, 1);
  std::vector<size_t> previous(n, n);
  size_t best = n;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (position[j] < position[i] && length[j] + 1 > length[i]) {
        length[i] = length[j] + 1;
        previous[i] = j;
      }
    }
    if (best == n || length[i] > length[best]) best = i;
  }
  std::set<ColumnId> unmoved;
  for (size_t i = best; i < n; i = previous[i]) unmoved.insert(present[i]);
  return unmoved;
}

// Places read off the wanted order alone: new columns after their left neighbour, from left to
// right; then as few survivors as possible are moved.
Places DerivePlaces(const Order& start, const Order& wanted) {
  Places places;
  Order order = start;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (std::find(start.begin(), start.end(), wanted[i]) != start.end()) continue;
    ColumnPlace place = PlaceIn(wanted, i);
    const bool at_end = place.kind == ColumnPlace::Kind::kAfter && order.back() == place.anchor;
    if (at_end || order.empty()) place = {};
    DRIFTLESS_CHECK(Insert(wanted[i], place, &order));
    places.adds.push_back({wanted[i], place});
  }
  const std::set<ColumnId> unmoved = Unmoved(order, wanted);
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (unmoved.contains(wanted[i])) continue;
    places.moves.push_back({wanted[i], PlaceIn(wanted, i)});
  }
  return places;
}

// The stated places where they lead to the wanted order, without the moves that move nothing.
Places ChoosePlaces(const Order& start, const std::set<ColumnId>& added, const Order& wanted,
                    std::span<const StatedPlace> stated) {
  Places places;
  std::set<ColumnId> placed;
  for (const StatedPlace& item : stated) {
    (added.contains(item.column) ? places.adds : places.moves).push_back(item);
    placed.insert(item.column);
  }
  for (ColumnId column : wanted) {
    if (added.contains(column) && !placed.contains(column)) places.adds.push_back({column, {}});
  }
  if (!Replays(start, places, wanted)) return DerivePlaces(start, wanted);
  for (size_t i = 0; i < places.moves.size();) {
    Places fewer = places;
    fewer.moves.erase(fewer.moves.begin() + static_cast<std::ptrdiff_t>(i));
    if (Replays(start, fewer, wanted)) {
      places = std::move(fewer);
    } else {
      ++i;
    }
  }
  return places;
}

// Builds the parts: `present_` is the schema after the parts so far.
class Splitter {
 public:
  Splitter(TableSchemaPtr before, const TableSchema& after)
      : before_(std::move(before)), after_(after), present_(before_) {}

  std::vector<SchemaChange> Run(std::span<const StatedPlace> stated) {
    Drop();
    ChangeTypes();
    ChangeNullability();
    ChangeDefaults();
    Rename();
    AddAndMove(stated);
    ChangeComments();
    ChangeKey();
    RenameTheTable();
    return std::move(parts_);
  }

 private:
  // Takes the next version of the schema, changed by the caller, as a part.
  void Emit(ChangeDetail detail, TableSchema next) {
    next.version = present_->version + 1;
    auto shared = std::make_shared<const TableSchema>(std::move(next));
    parts_.push_back({static_cast<uint32_t>(parts_.size()), std::move(detail), present_, shared});
    present_ = std::move(shared);
  }

  // Calls change(wanted, &column) for every column that is in both; it returns whether it changed.
  template <typename Change>
  TableSchema ForSurvivors(std::vector<ColumnId>* changed, Change change) {
    TableSchema next = *present_;
    for (Column& column : next.columns) {
      const Column* wanted = after_.Find(column.id);
      if (wanted != nullptr && change(*wanted, &column)) changed->push_back(column.id);
    }
    return next;
  }

  void Drop() {
    DropColumns detail;
    TableSchema next = *present_;
    for (const Column& column : present_->columns) {
      if (after_.Find(column.id) == nullptr) detail.columns.push_back(column.id);
    }
    if (detail.columns.empty()) return;
    const auto dropped = [&](ColumnId id) { return after_.Find(id) == nullptr; };
    std::erase_if(next.columns, [&](const Column& column) { return dropped(column.id); });
    std::erase_if(next.primary_key, dropped);
    std::erase_if(next.partition_keys, dropped);
    Emit(std::move(detail), std::move(next));
  }

  void ChangeTypes() {
    AlterColumnTypes detail;
    std::vector<ColumnId> changed;
    TableSchema next = ForSurvivors(&changed, [&](const Column& wanted, Column* column) {
      if (column->source.type_text == wanted.source.type_text &&
          column->type.EqualsIgnoringNullability(wanted.type)) {
        return false;
      }
      const LogicalType to = wanted.type.WithNullability(column->type.nullable());
      detail.items.push_back(
          {column->id, column->type, to, column->source.type_text, wanted.source.type_text});
      column->type = to;
      column->source.type_text = wanted.source.type_text;
      column->source.charset = wanted.source.charset;
      column->source.collation = wanted.source.collation;
      column->source.enum_values = wanted.source.enum_values;
      column->source.is_unsigned = wanted.source.is_unsigned;
      return true;
    });
    if (!changed.empty()) Emit(std::move(detail), std::move(next));
  }

  void ChangeNullability() {
    for (const bool nullable : {true, false}) {
      std::vector<ColumnId> changed;
      TableSchema next = ForSurvivors(&changed, [&](const Column& wanted, Column* column) {
        if (column->type.nullable() == nullable || wanted.type.nullable() != nullable) return false;
        column->type = column->type.WithNullability(nullable);
        return true;
      });
      if (changed.empty()) continue;
      if (nullable) {
        Emit(RelaxNullability{changed}, std::move(next));
      } else {
        Emit(TightenNullability{changed}, std::move(next));
      }
    }
  }

  void ChangeDefaults() {
    DefaultChange detail;
    TableSchema next = ForSurvivors(&detail.columns, [](const Column& wanted, Column* column) {
      if (column->default_value == wanted.default_value && column->source == wanted.source) {
        return false;
      }
      column->default_value = wanted.default_value;
      column->source = wanted.source;
      return true;
    });
    next.charset = after_.charset;
    next.collation = after_.collation;
    next.options = after_.options;
    const bool table_changed = next.charset != present_->charset ||
                               next.collation != present_->collation ||
                               next.options != present_->options;
    if (!detail.columns.empty() || table_changed) Emit(std::move(detail), std::move(next));
  }

  void Rename() {
    RenameColumns detail;
    std::vector<ColumnId> changed;
    TableSchema next = ForSurvivors(&changed, [&](const Column& wanted, Column* column) {
      if (column->name == wanted.name) return false;
      detail.items.push_back({column->id, column->name, wanted.name});
      column->name = wanted.name;
      return true;
    });
    if (!changed.empty()) Emit(std::move(detail), std::move(next));
  }

  void AddAndMove(std::span<const StatedPlace> stated) {
    const Order start = OrderOf(*present_);
    const Order wanted = OrderOf(after_);
    std::set<ColumnId> added;
    for (ColumnId column : wanted) {
      if (present_->Find(column) == nullptr) added.insert(column);
    }
    const Places places = ChoosePlaces(start, added, wanted, stated);
    if (!places.adds.empty()) {
      AddColumns detail;
      Order order = start;
      for (const StatedPlace& add : places.adds) {
        detail.items.push_back({*after_.Find(add.column), add.place});
        DRIFTLESS_CHECK(Insert(add.column, add.place, &order));
      }
      TableSchema next = InOrder(order);
      next.next_column_id = after_.next_column_id;
      Emit(std::move(detail), std::move(next));
    }
    if (places.moves.empty()) return;
    MoveColumns detail;
    for (const StatedPlace& move : places.moves) detail.items.push_back({move.column, move.place});
    Emit(std::move(detail), InOrder(wanted));
  }

  // The present schema with its columns, and new ones as they will be, in this order.
  TableSchema InOrder(const Order& order) {
    TableSchema next = *present_;
    next.columns.clear();
    for (ColumnId id : order) {
      const Column* column = present_->Find(id);
      next.columns.push_back(column != nullptr ? *column : *after_.Find(id));
    }
    return next;
  }

  void ChangeComments() {
    AlterColumnComments detail;
    std::vector<ColumnId> changed;
    TableSchema next = ForSurvivors(&changed, [&](const Column& wanted, Column* column) {
      if (column->comment == wanted.comment) return false;
      detail.items.push_back({column->id, column->comment, wanted.comment});
      column->comment = wanted.comment;
      return true;
    });
    if (!changed.empty()) Emit(std::move(detail), std::move(next));
    if (present_->comment == after_.comment) return;
    TableSchema commented = *present_;
    commented.comment = after_.comment;
    Emit(AlterTableComment{present_->comment, after_.comment}, std::move(commented));
  }

  void ChangeKey() {
    if (before_->primary_key == after_.primary_key) return;
    TableSchema next = *present_;
    next.primary_key = after_.primary_key;
    Emit(KeyChange{before_->primary_key, after_.primary_key}, std::move(next));
  }

  void RenameTheTable() {
    if (before_->path == after_.path) return;
    TableSchema next = *present_;
    next.path = after_.path;
    Emit(RenameTable{after_.path}, std::move(next));
  }

  TableSchemaPtr before_;
  const TableSchema& after_;
  TableSchemaPtr present_;
  std::vector<SchemaChange> parts_;
};

}  // namespace

std::vector<SchemaChange> SplitIntoParts(const TableSchemaPtr& before, const TableSchema& after,
                                         std::span<const StatedPlace> stated) {
  return Splitter(before, after).Run(stated);
}

}  // namespace driftless
