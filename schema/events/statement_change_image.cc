#include "schema/events/statement_change_image.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>
#include <utility>

#include "schema/history/history.h"

// One description of the fields serves both directions: Archive is the writer or the reader.
namespace driftless {
namespace {

class ImageWriter {
 public:
  static constexpr bool kReads = false;
  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void Field(T& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void Field(std::string& text) {
    auto size = static_cast<uint32_t>(text.size());
    Field(size);
    out += text;
  }
  bool ok() const { return true; }

  std::string out;
};

class ImageReader {
 public:
  static constexpr bool kReads = true;
  explicit ImageReader(std::string_view bytes) : rest_(bytes) {}

  template <typename T>
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
  void Field(T& value) {
    if (!Has(sizeof value)) return;
    std::memcpy(&value, rest_.data(), sizeof value);
    rest_.remove_prefix(sizeof value);
  }
  void Field(std::string& text) {
    uint32_t size = 0;
    Field(size);
    if (!Has(size)) return;
    text = rest_.substr(0, size);
    rest_.remove_prefix(size);
  }
  void Fail() { ok_ = false; }
  bool ok() const { return ok_; }
  bool AtEnd() const { return rest_.empty(); }

 private:
  bool Has(size_t size) {
    ok_ = ok_ && rest_.size() >= size;
    return ok_;
  }
  std::string_view rest_;
  bool ok_ = true;
};

template <typename Archive, typename T, typename Visit>
void List(Archive& archive, std::vector<T>& list, const Visit& visit) {
  auto size = static_cast<uint32_t>(list.size());
  archive.Field(size);
  for (uint32_t i = 0; i < size && archive.ok(); ++i) {
    if constexpr (Archive::kReads) list.emplace_back();
    visit(list[i]);
  }
}

template <typename Archive>
void Ids(Archive& archive, std::vector<ColumnId>& ids) {
  List(archive, ids, [&](ColumnId& id) { archive.Field(id); });
}

template <typename Archive>
void Path(Archive& archive, TablePath& path) {
  archive.Field(path.catalog);
  archive.Field(path.database);
  archive.Field(path.table);
}

template <typename Archive>
void Type(Archive& archive, LogicalType& type) {
  std::string text = Archive::kReads ? std::string() : type.ToString();
  archive.Field(text);
  if constexpr (Archive::kReads) {
    Result<LogicalType> parsed = ParseLogicalType(text);
    if (parsed) {
      type = *parsed;
    } else {
      archive.Fail();
    }
  }
}

template <typename Archive>
void Schema(Archive& archive, TableSchemaPtr& schema) {
  std::string text = Archive::kReads || schema == nullptr ? std::string() : Serialize(*schema);
  archive.Field(text);
  if constexpr (Archive::kReads) {
    if (text.empty()) return;
    Result<TableSchema> parsed = ParseTableSchema(text);
    if (parsed) {
      schema = std::make_shared<const TableSchema>(std::move(*parsed));
    } else {
      archive.Fail();
    }
  }
}

// A column travels as the only column of a schema: one text form for columns is enough.
template <typename Archive>
void OneColumn(Archive& archive, Column& column) {
  TableSchemaPtr carrier;
  if constexpr (!Archive::kReads) {
    TableSchema schema;
    schema.columns.push_back(column);
    carrier = std::make_shared<const TableSchema>(std::move(schema));
  }
  Schema(archive, carrier);
  if constexpr (Archive::kReads) {
    if (carrier != nullptr && carrier->columns.size() == 1) {
      column = carrier->columns[0];
    } else {
      archive.Fail();
    }
  }
}

template <typename Archive>
void Place(Archive& archive, ColumnPlace& place) {
  archive.Field(place.kind);
  archive.Field(place.anchor);
}

template <typename Archive>
struct DetailVisitor {
  Archive& archive;

  void operator()(CreateTable&) const {}
  void operator()(DropTable&) const {}
  void operator()(TruncateTable&) const {}
  void operator()(AddColumns& detail) const {
    List(archive, detail.items, [&](AddColumns::Item& item) {
      OneColumn(archive, item.column);
      Place(archive, item.place);
    });
  }
  void operator()(DropColumns& detail) const {
    Ids(archive, detail.columns);
    List(archive, detail.lost, [&](DropColumns::LostInput& lost) {
      archive.Field(lost.column);
      archive.Field(lost.expression);
      archive.Field(lost.feeds);
    });
  }
  void operator()(RenameColumns& detail) const {
    List(archive, detail.items, [&](RenameColumns::Item& item) {
      archive.Field(item.column);
      archive.Field(item.from);
      archive.Field(item.to);
    });
  }
  void operator()(AlterColumnTypes& detail) const {
    List(archive, detail.items, [&](AlterColumnTypes::Item& item) {
      archive.Field(item.column);
      Type(archive, item.from);
      Type(archive, item.to);
      archive.Field(item.from_text);
      archive.Field(item.to_text);
    });
  }
  void operator()(RelaxNullability& detail) const { Ids(archive, detail.columns); }
  void operator()(TightenNullability& detail) const { Ids(archive, detail.columns); }
  void operator()(AlterColumnComments& detail) const {
    List(archive, detail.items, [&](AlterColumnComments::Item& item) {
      archive.Field(item.column);
      archive.Field(item.from);
      archive.Field(item.to);
    });
  }
  void operator()(AlterTableComment& detail) const {
    archive.Field(detail.from);
    archive.Field(detail.to);
  }
  void operator()(MoveColumns& detail) const {
    List(archive, detail.items, [&](MoveColumns::Item& item) {
      archive.Field(item.column);
      Place(archive, item.place);
    });
  }
  void operator()(RenameTable& detail) const { Path(archive, detail.to); }
  void operator()(KeyChange& detail) const {
    Ids(archive, detail.from);
    Ids(archive, detail.to);
  }
  void operator()(DefaultChange& detail) const { Ids(archive, detail.columns); }
};

// Makes the variant hold its alternative number `index`.
template <size_t I = 0>
bool SetAlternative(size_t index, ChangeDetail& detail) {
  if constexpr (I < std::variant_size_v<ChangeDetail>) {
    if (index == I) {
      detail.template emplace<I>();
      return true;
    }
    return SetAlternative<I + 1>(index, detail);
  }
  return false;
}

template <typename Archive>
void Part(Archive& archive, SchemaChange& change) {
  archive.Field(change.part);
  auto index = static_cast<uint8_t>(change.detail.index());
  archive.Field(index);
  if constexpr (Archive::kReads) {
    if (!SetAlternative(index, change.detail)) archive.Fail();
  }
  std::visit(DetailVisitor<Archive>{archive}, change.detail);
  Schema(archive, change.before);
  Schema(archive, change.after);
}

template <typename Archive>
void Statement(Archive& archive, StatementChange& change) {
  Path(archive, change.table);
  archive.Field(change.point.stream);
  archive.Field(change.point.epoch);
  archive.Field(change.point.offset);
  archive.Field(change.point.row);
  archive.Field(change.point.part);
  archive.Field(change.commit_time_ms);
  bool has_statement = change.statement != nullptr;
  archive.Field(has_statement);
  std::string statement = has_statement && !Archive::kReads ? *change.statement : std::string();
  archive.Field(statement);
  if constexpr (Archive::kReads) {
    if (has_statement) {
      change.statement = std::make_shared<const std::string>(std::move(statement));
    }
  }
  archive.Field(change.from_snapshot);
  archive.Field(change.inferred);
  List(archive, change.parts, [&](SchemaChange& part) { Part(archive, part); });
}

}  // namespace

std::string StatementChangeImage(const StatementChange& change) {
  ImageWriter writer;
  StatementChange copy = change;  // the description of the fields takes references for both ways
  Statement(writer, copy);
  return std::move(writer.out);
}

Result<StatementChange> ParseStatementChangeImage(std::string_view bytes) {
  ImageReader reader(bytes);
  StatementChange change;
  Statement(reader, change);
  if (!reader.ok() || !reader.AtEnd()) {
    return MakeError(ErrorKind::kCorrupt, "a stored schema change is damaged");
  }
  return change;
}

}  // namespace driftless
