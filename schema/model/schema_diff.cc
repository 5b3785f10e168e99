#include "schema/model/schema_diff.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "schema/base/check.h"
#include "schema/ddl/change_parts.h"

namespace driftless {
namespace {

// Carries out one part on a copy of the schema.
class PartApplier {
 public:
  PartApplier(const TableSchema& before, const SchemaChange& part) : schema_(before), part_(part) {}

  Result<TableSchema> Run() {
    DRIFTLESS_TRY(std::visit([this](const auto& detail) { return Apply(detail); }, part_.detail));
    DRIFTLESS_TRY(CheckNames());
    ++schema_.version;
    return std::move(schema_);
  }

 private:
  Result<Column*> Find(ColumnId id) {
    const int index = schema_.IndexOf(id);
    if (index >= 0) return &schema_.columns[static_cast<size_t>(index)];
    return MakeError(ErrorKind::kInvalidInput,
                     "table " + schema_.path.ToString() + " has no column #" + std::to_string(id));
  }

  Result<void> CheckNames() const {
    std::set<std::string_view> names;
    for (const Column& column : schema_.columns) {
      if (names.insert(column.name).second) continue;
      return MakeError(
          ErrorKind::kInvalidInput,
          "table " + schema_.path.ToString() + " would have two columns named " + column.name);
    }
    return {};
  }

  Result<void> Insert(Column column, const ColumnPlace& place) {
    auto at = schema_.columns.end();
    if (place.kind == ColumnPlace::Kind::kFirst) at = schema_.columns.begin();
    if (place.kind == ColumnPlace::Kind::kBefore || place.kind == ColumnPlace::Kind::kAfter) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Column* anchor, Find(place.anchor));
      at = schema_.columns.begin() + (anchor - schema_.columns.data());
      if (place.kind == ColumnPlace::Kind::kAfter) ++at;
    }
    schema_.columns.insert(at, std::move(column));
    return {};
  }

  Result<void> Apply(const CreateTable&) { return NoSchema(); }
  Result<void> Apply(const DropTable&) { return NoSchema(); }
  Result<void> NoSchema() {
    DRIFTLESS_CHECK(false && "create and drop have no schema to work on");
    return {};
  }
  Result<void> Apply(const TruncateTable&) { return {}; }

  Result<void> Apply(const AddColumns& add) {
    for (const AddColumns::Item& item : add.items) {
      if (schema_.Find(item.column.id) != nullptr) {
        return MakeError(ErrorKind::kInvalidInput,
                         "column " + item.column.name + " is there already");
      }
      DRIFTLESS_TRY(Insert(item.column, item.place));
      schema_.next_column_id = std::max(schema_.next_column_id, item.column.id + 1);
    }
    return {};
  }

  Result<void> Apply(const DropColumns& drop) {
    for (const ColumnId id : drop.columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Column* column, Find(id));
      schema_.columns.erase(schema_.columns.begin() + (column - schema_.columns.data()));
      std::erase(schema_.primary_key, id);
      std::erase(schema_.partition_keys, id);
    }
    return {};
  }

  Result<void> Apply(const RenameColumns& rename) {
    for (const RenameColumns::Item& item : rename.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(Column * column, Find(item.column));
      column->name = item.to;
    }
    return {};
  }

  // The source's own attributes of a type come with it.
  Result<void> Apply(const AlterColumnTypes& alter) {
    for (const AlterColumnTypes::Item& item : alter.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(Column * column, Find(item.column));
      column->type = item.to;
      const Column* after = part_.after ? part_.after->Find(item.column) : nullptr;
      if (after != nullptr) column->source = after->source;
      column->source.type_text = item.to_text;
    }
    return {};
  }

  Result<void> SetNullable(const std::vector<ColumnId>& columns, bool nullable) {
    for (const ColumnId id : columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(Column * column, Find(id));
      column->type = column->type.WithNullability(nullable);
    }
    return {};
  }
  Result<void> Apply(const RelaxNullability& relax) { return SetNullable(relax.columns, true); }
  Result<void> Apply(const TightenNullability& tighten) {
    return SetNullable(tighten.columns, false);
  }

  Result<void> Apply(const AlterColumnComments& comments) {
    for (const AlterColumnComments::Item& item : comments.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(Column * column, Find(item.column));
      column->comment = item.to;
    }
    return {};
  }
  Result<void> Apply(const AlterTableComment& comment) {
    schema_.comment = comment.to;
    return {};
  }

  Result<void> Apply(const MoveColumns& move) {
    for (const MoveColumns::Item& item : move.items) {
      DRIFTLESS_ASSIGN_OR_RETURN(const Column* column, Find(item.column));
      if (item.place.anchor == item.column) {
        return MakeError(ErrorKind::kInvalidInput,
                         "column " + column->name + " cannot go beside itself");
      }
      Column moved = *column;
      schema_.columns.erase(schema_.columns.begin() + (column - schema_.columns.data()));
      DRIFTLESS_TRY(Insert(std::move(moved), item.place));
    }
    return {};
  }

  Result<void> Apply(const RenameTable& rename) {
    schema_.path = rename.to;
    return {};
  }

  Result<void> Apply(const KeyChange& key) {
    for (const ColumnId id : key.to) DRIFTLESS_TRY(Find(id));
    schema_.primary_key = key.to;
    return {};
  }

  Result<void> Apply(const DefaultChange& change) {
    DRIFTLESS_CHECK(part_.after != nullptr);
    for (const ColumnId id : change.columns) {
      DRIFTLESS_ASSIGN_OR_RETURN(Column * column, Find(id));
      const Column* after = part_.after->Find(id);
      DRIFTLESS_CHECK(after != nullptr);
      column->default_value = after->default_value;
      column->source = after->source;
    }
    schema_.charset = part_.after->charset;
    schema_.collation = part_.after->collation;
    schema_.options = part_.after->options;
    return {};
  }

  TableSchema schema_;
  const SchemaChange& part_;
};

}  // namespace

std::vector<SchemaChange> DiffByIdentity(const TableSchemaPtr& before, const TableSchema& after) {
  return SplitIntoParts(before, after, {});
}

TableSchema BindByName(const TableSchema& before, const TableSchema& target, NameMatch names) {
  TableSchema bound = target;
  bound.path = before.path;
  bound.incarnation = before.incarnation;
  bound.version = before.version;
  bound.next_column_id = before.next_column_id;
  std::set<ColumnId> taken;
  for (Column& column : bound.columns) {
    int index = before.IndexOfName(column.name);
    if (index < 0 && names == NameMatch::kIgnoringCase) {
      index = before.IndexOfNameIgnoringCase(column.name);
    }
    const ColumnId id = index < 0 ? 0 : before.columns[static_cast<size_t>(index)].id;
    column.id = id != 0 && taken.insert(id).second ? id : bound.next_column_id++;
  }
  // The target's key is in the target's own identities.
  for (ColumnId& id : bound.primary_key) {
    const int index = target.IndexOf(id);
    DRIFTLESS_CHECK(index >= 0);
    id = bound.columns[static_cast<size_t>(index)].id;
  }
  bound.partition_keys = before.partition_keys;
  std::erase_if(bound.partition_keys, [&](ColumnId id) { return bound.Find(id) == nullptr; });
  return bound;
}

std::vector<SchemaChange> DiffByName(const TableSchemaPtr& before, const TableSchema& target,
                                     NameMatch names) {
  return DiffByIdentity(before, BindByName(*before, target, names));
}

Result<TableSchema> ApplyPart(const TableSchema& before, const SchemaChange& part) {
  return PartApplier(before, part).Run();
}

}  // namespace driftless
