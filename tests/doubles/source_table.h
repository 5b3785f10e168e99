#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "schema/base/check.h"
#include "schema/events/schema_change.h"

namespace driftless {

// A table at a source, for tests: says statements as what parsers make of them. Names in a
// statement are the names before it, parts are given in the policy's order.
//   SourceTable t("shop.orders", {"id BIGINT NOT NULL", "qty INT"}, {"id"});
//   auto change = t.Begin().Drop("qty").Add("price DECIMAL(10, 2)").End();
class SourceTable {
 public:
  SourceTable(const std::string& path, const std::vector<std::string>& columns,
              const std::vector<std::string>& key) {
    auto schema = std::make_shared<TableSchema>();
    schema->path = *ParseTablePath(path);
    schema->incarnation = 1;
    for (const std::string& text : columns) {
      const auto [name, type] = Split(text);
      schema->AddColumn(name, *ParseLogicalType(type));
    }
    for (const std::string& name : key) schema->primary_key.push_back(schema->FindName(name)->id);
    schema_ = std::move(schema);
  }

  const TableSchemaPtr& schema() const { return schema_; }
  ColumnId Id(const std::string& name) const { return schema_->FindName(name)->id; }

  std::shared_ptr<StatementChange> Create() {
    Begin();
    statement_->parts.push_back({0, CreateTable{}, nullptr, schema_});
    return End();
  }
  // DROP TABLE, and what a later CREATE of the same name has of the old table: nothing.
  std::shared_ptr<StatementChange> DropTable() {
    Begin();
    statement_->parts.push_back({0, driftless::DropTable{}, schema_, nullptr});
    return End();
  }
  std::shared_ptr<StatementChange> CreateAgain(const std::vector<std::string>& columns,
                                               const std::vector<std::string>& key) {
    const uint64_t incarnation = schema_->incarnation + 1;
    const uint64_t offset = offset_;
    SourceTable next(schema_->path.ToString(), columns, key);
    auto schema = std::make_shared<TableSchema>(*next.schema_);
    schema->incarnation = incarnation;
    schema_ = std::move(schema);
    offset_ = offset;
    return Create();
  }

  SourceTable& Begin() {
    start_ = schema_;
    statement_ = std::make_shared<StatementChange>();
    statement_->table = schema_->path;
    statement_->point.offset = ++offset_;
    statement_->statement = std::make_shared<std::string>("statement " + std::to_string(offset_));
    return *this;
  }
  std::shared_ptr<StatementChange> End() { return std::move(statement_); }

  SourceTable& Drop(const std::vector<std::string>& names) {
    DropColumns drop;
    auto next = Next();
    for (const std::string& name : names) {
      drop.columns.push_back(Old(name));
      std::erase_if(next->columns, [&](const Column& c) { return c.id == Old(name); });
    }
    return Push(std::move(drop), std::move(next));
  }
  SourceTable& Drop(const std::string& name) { return Drop(std::vector<std::string>{name}); }

  SourceTable& Type(const std::string& name, const std::string& type) {
    auto next = Next();
    Column& column = At(next.get(), Old(name));
    const LogicalType to = ParseLogicalType(type)->WithNullability(column.type.nullable());
    AlterColumnTypes alter{{{column.id, column.type, to, column.type.ToString(), type}}};
    column.type = to;
    return Push(std::move(alter), std::move(next));
  }
  SourceTable& Relax(const std::string& name) {
    auto next = Next();
    Column& column = At(next.get(), Old(name));
    column.type = column.type.Nullable();
    return Push(RelaxNullability{{column.id}}, std::move(next));
  }
  SourceTable& Tighten(const std::string& name) {
    auto next = Next();
    Column& column = At(next.get(), Old(name));
    column.type = column.type.NotNull();
    return Push(TightenNullability{{column.id}}, std::move(next));
  }
  SourceTable& Rename(const std::vector<std::pair<std::string, std::string>>& names) {
    RenameColumns rename;
    auto next = Next();
    for (const auto& [from, to] : names) {
      rename.items.push_back({Old(from), from, to});
      At(next.get(), Old(from)).name = to;
    }
    return Push(std::move(rename), std::move(next));
  }
  SourceTable& Rename(const std::string& from, const std::string& to) {
    return Rename({{from, to}});
  }

  SourceTable& Add(const std::string& text) { return AddAt(text, {}, ""); }
  SourceTable& AddFirst(const std::string& text) {
    return AddAt(text, {ColumnPlace::Kind::kFirst, 0}, "");
  }
  SourceTable& AddAfter(const std::string& text, const std::string& anchor) {
    return AddAt(text, {ColumnPlace::Kind::kAfter, Old(anchor)}, "");
  }
  SourceTable& AddWithDefault(const std::string& text, const std::string& value) {
    return AddAt(text, {}, value);
  }
  SourceTable& Move(const std::string& name, ColumnPlace place) {
    auto next = Next();
    Column column = At(next.get(), Old(name));
    std::erase_if(next->columns, [&](const Column& c) { return c.id == column.id; });
    next->columns.insert(next->columns.begin() + IndexFor(*next, place), column);
    return Push(MoveColumns{{{column.id, place}}}, std::move(next));
  }
  SourceTable& Comment(const std::string& name, const std::string& text) {
    auto next = Next();
    Column& column = At(next.get(), Old(name));
    AlterColumnComments comments{{{column.id, column.comment, text}}};
    column.comment = text;
    return Push(std::move(comments), std::move(next));
  }
  SourceTable& CommentTable(const std::string& text) {
    auto next = Next();
    AlterTableComment comment{next->comment, text};
    next->comment = text;
    return Push(std::move(comment), std::move(next));
  }
  SourceTable& Key(const std::vector<std::string>& names) {
    auto next = Next();
    KeyChange key{next->primary_key, {}};
    for (const std::string& name : names) key.to.push_back(Old(name));
    next->primary_key = key.to;
    return Push(std::move(key), std::move(next));
  }
  SourceTable& Truncate() { return Push(TruncateTable{}, Next()); }
  SourceTable& Default(const std::string& name) { return Push(DefaultChange{{Old(name)}}, Next()); }
  SourceTable& RenameTo(const std::string& path) {
    return Push(RenameTable{*ParseTablePath(path)}, Next());
  }

 private:
  static std::pair<std::string, std::string> Split(const std::string& text) {
    const size_t space = text.find(' ');
    return {text.substr(0, space), text.substr(space + 1)};
  }
  ColumnId Old(const std::string& name) const {
    const Column* column = start_->FindName(name);
    DRIFTLESS_CHECK(column != nullptr);
    return column->id;
  }
  static Column& At(TableSchema* schema, ColumnId id) {
    const int index = schema->IndexOf(id);
    DRIFTLESS_CHECK(index >= 0);
    return schema->columns[static_cast<size_t>(index)];
  }
  static ptrdiff_t IndexFor(const TableSchema& schema, ColumnPlace place) {
    switch (place.kind) {
      case ColumnPlace::Kind::kFirst: return 0;
      case ColumnPlace::Kind::kLast: return static_cast<ptrdiff_t>(schema.columns.size());
      case ColumnPlace::Kind::kBefore: return schema.IndexOf(place.anchor);
      case ColumnPlace::Kind::kAfter: return schema.IndexOf(place.anchor) + 1;
    }
    return 0;
  }
  std::shared_ptr<TableSchema> Next() {
    auto next = std::make_shared<TableSchema>(*schema_);
    ++next->version;
    return next;
  }
  SourceTable& AddAt(const std::string& text, ColumnPlace place, const std::string& value) {
    const auto [name, type] = Split(text);
    auto next = Next();
    Column column;
    column.id = next->next_column_id++;
    column.name = name;
    column.type = *ParseLogicalType(type);
    if (!value.empty()) column.default_value = {DefaultValue::Kind::kLiteral, value};
    next->columns.insert(next->columns.begin() + IndexFor(*next, place), column);
    return Push(AddColumns{{{column, place}}}, std::move(next));
  }
  SourceTable& Push(ChangeDetail detail, std::shared_ptr<TableSchema> next) {
    const auto part = static_cast<uint32_t>(statement_->parts.size());
    statement_->parts.push_back({part, std::move(detail), schema_, next});
    schema_ = std::move(next);
    return *this;
  }

  TableSchemaPtr schema_;
  TableSchemaPtr start_;  // before the statement under way
  std::shared_ptr<StatementChange> statement_;
  uint64_t offset_ = 0;
};

}  // namespace driftless
