#include "schema/ddl/mysql/table_builder.h"

#include <algorithm>
#include <cmath>

#include "schema/base/letter_case.h"

namespace driftless::mysql {
namespace {

std::string Quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

bool HasNoLiteralDefault(BaseType base) {
  return IsTextType(base) || IsBlobType(base) || base == BaseType::kJson ||
         base == BaseType::kGeometry || base == BaseType::kVector;
}

bool IsTemporalWithClock(BaseType base) {
  return base == BaseType::kDateTime || base == BaseType::kTimestamp;
}

bool IsNumeric(BaseType base) { return base <= BaseType::kDouble; }

// "5" as the server keeps it for DECIMAL(10,2): "5.00".
std::string WithScale(std::string number, int32_t scale) {
  if (number.find_first_of("eE") != std::string::npos) return number;
  if (!number.empty() && number[0] == '.') number.insert(0, "0");
  if (number.rfind("-.", 0) == 0) number.insert(1, "0");
  size_t dot = number.find('.');
  if (scale == 0) return dot == std::string::npos ? number : number.substr(0, dot);
  if (dot == std::string::npos) {
    dot = number.size();
    number += '.';
  }
  const size_t digits = number.size() - dot - 1;
  const auto wanted = static_cast<size_t>(scale);
  if (digits < wanted) number.append(wanted - digits, '0');
  return number;
}

std::string WithoutLeadingZeros(const std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

std::string BitsOf(uint64_t number) {
  std::string bits;
  for (; number != 0; number >>= 1) bits.insert(bits.begin(), number & 1 ? '1' : '0');
  return bits.empty() ? "0" : bits;
}

std::string BytesOfHex(const std::string& digits) {
  std::string padded = digits.size() % 2 == 0 ? digits : "0" + digits;
  std::string bytes;
  for (size_t i = 0; i < padded.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(padded.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// Long double has 64 bits of mantissa at least, so that BIGINT UNSIGNED's edge is exact.
struct IntegerRange {
  long double low;
  long double high;
};

IntegerRange RangeOf(BaseType base, bool is_unsigned) {
  const int bits = base == BaseType::kTinyInt     ? 8
                   : base == BaseType::kSmallInt  ? 16
                   : base == BaseType::kMediumInt ? 24
                   : base == BaseType::kInt       ? 32
                                                  : 64;
  if (is_unsigned) return {0, std::ldexp(1.0L, bits)};
  return {-std::ldexp(1.0L, bits - 1), std::ldexp(1.0L, bits - 1)};
}

size_t CharactersIn(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

// The member as it is defined, for a default in other letters; empty where there is none.
std::string MemberFor(const std::vector<std::string>& members, std::string_view text) {
  for (const std::string& member : members) {
    if (EqualsIgnoringCase(member, text)) return member;
  }
  return "";
}

// A SET's default in the order of its members.
std::string InMemberOrder(const std::vector<std::string>& members, std::string_view text) {
  std::set<std::string> wanted;
  while (!text.empty()) {
    const size_t comma = std::min(text.find(','), text.size());
    wanted.insert(LowerCase(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  std::string ordered;
  for (const std::string& member : members) {
    if (!wanted.contains(LowerCase(member))) continue;
    ordered += (ordered.empty() ? "" : ",") + member;
  }
  return ordered;
}

// Gives a literal default the form in which the server keeps it. False where it does not fit the
// type at all.
bool NormalizeDefault(BaseType base, Column* column) {
  std::string& text = column->default_value.text;
  if (base <= BaseType::kBigInt) {
    const long double value = std::strtold(text.c_str(), nullptr);
    const IntegerRange range = RangeOf(base, column->source.is_unsigned);
    if (value < range.low || value >= range.high) return false;
    if (text.find_first_of(".eE") != std::string::npos) {
      text = std::to_string(static_cast<int64_t>(std::round(value)));
    } else if (text[0] == '+') {
      text.erase(0, 1);
    }
  }
  const LogicalType& type = column->type;
  if (type.kind() == TypeKind::kDecimal) {
    const size_t first = text.find_first_of("123456789.");
    const size_t point = std::min(text.find_first_of(".eE"), text.size());
    const size_t whole = first < point ? point - first : 0;
    const bool plain = text.find_first_of("eE") == std::string::npos;
    if (plain && whole > static_cast<size_t>(type.precision() - type.scale())) return false;
  }
  if (base == BaseType::kEnum) text = MemberFor(column->source.enum_values, text);
  if (base == BaseType::kSet) text = InMemberOrder(column->source.enum_values, text);
  const bool has_length = (base == BaseType::kChar || base == BaseType::kVarChar) &&
                          type.length() != LogicalType::kMaxLength;
  return !has_length || CharactersIn(text) <= static_cast<size_t>(type.length());
}

}  // namespace

TableBuilder::TableBuilder(const StatementRun& run, DdlCatalog::TableEntry entry)
    : run_(run), entry_(std::move(entry)) {
  if (entry_.schema != nullptr) schema_ = *entry_.schema;
}

DdlCatalog::TableEntry TableBuilder::Take() {
  entry_.schema = std::make_shared<const TableSchema>(std::move(schema_));
  return std::move(entry_);
}

Result<void> TableBuilder::SetOptions(const TableOptions& options,
                                      const Charset& database_defaults) {
  if (options.charset_is_default) {
    schema_.charset = database_defaults.charset;
    schema_.collation = database_defaults.collation;
  }
  if (options.charset) {
    schema_.charset = options.charset->charset;
    schema_.collation = options.charset->collation;
  }
  if (options.collation) {
    const Charset found = FindCollation(*options.collation, run_.settings());
    if (found.empty()) {
      return run_.Refuse(options.charset_at, "unknown collation " + Quoted(*options.collation));
    }
    const bool any_unicode = found.collation.rfind("uca1400_", 0) == 0;
    if (options.charset && options.charset->charset != found.charset && !any_unicode) {
      return run_.Refuse(options.charset_at, "COLLATION " + Quoted(*options.collation) +
                                                 " is not valid for CHARACTER SET " +
                                                 Quoted(options.charset->charset));
    }
    if (!any_unicode) schema_.charset = found.charset;
    schema_.collation = found.collation;
  }
  if (options.comment && !run_.settings().without_comments) schema_.comment = *options.comment;
  if (options.system_versioning) schema_.options["system_versioning"] = "on";
  return {};
}

Result<Column> TableBuilder::MakeColumn(const ColumnSpec& spec, ColumnId id) {
  Column column;
  column.name = spec.name.text;
  auto resolved = ResolveType(spec.type, spec.collation, {schema_.charset, schema_.collation},
                              spec.name.text, run_.settings());
  if (!resolved) {
    return run_.Refuse(spec.collation.empty() ? spec.type.at : spec.collation_at,
                       resolved.error().message());
  }
  const BaseType base = resolved->type.base;
  bool nullable = spec.nullable.value_or(true);
  const bool old_timestamp =
      base == BaseType::kTimestamp && !run_.settings().explicit_defaults_for_timestamp;
  if (old_timestamp && !spec.nullable) nullable = false;
  if (spec.row_start || spec.row_end) nullable = false;
  column.type = column.type.WithNullability(nullable);
  SetColumnType(*resolved, run_.settings(), &column);
  if (!run_.settings().without_comments) column.comment = spec.comment;
  column.source.is_auto_increment = spec.auto_increment;
  column.source.is_generated = spec.generated || spec.row_start || spec.row_end;
  column.source.is_invisible = spec.invisible;
  column.source.on_update = spec.on_update;
  if (spec.auto_increment && spec.default_value.kind != ColumnDefault::Kind::kNone) {
    return run_.Refuse(spec.default_value.at, "invalid default value for " + Quoted(column.name));
  }
  if (spec.auto_increment && base > BaseType::kBigInt && base != BaseType::kFloat &&
      base != BaseType::kDouble) {
    return run_.Refuse(spec.name.at, "incorrect column specifier for column " +
                                         Quoted(column.name) + ": AUTO_INCREMENT needs a number");
  }
  if (spec.auto_increment) {
    // NULL is forgiven here: an AUTO_INCREMENT column never holds one.
    column.type = column.type.NotNull();
  } else if (!column.source.is_generated) {
    DRIFTLESS_TRY(SetDefault(spec.default_value, column.name, base, nullable, &column));
  }
  if (!spec.on_update.empty() && !IsTemporalWithClock(base)) {
    return run_.Refuse(spec.name.at, "invalid ON UPDATE clause for " + Quoted(column.name));
  }
  column.id = id != 0 ? id : schema_.next_column_id++;
  if (spec.nullable == true) explicitly_null_.insert(column.id);
  if (spec.default_value.kind == ColumnDefault::Kind::kNull) default_null_.insert(column.id);
  if (spec.generated && !run_.settings().IsMariaDb() &&
      (spec.default_value.kind != ColumnDefault::Kind::kNone || !spec.on_update.empty() ||
       spec.auto_increment)) {
    return run_.Refuse(
        spec.name.at,
        "incorrect usage of DEFAULT, ON UPDATE or AUTO_INCREMENT and generated column");
  }
  return column;
}

Result<void> TableBuilder::SetDefault(const ColumnDefault& value, std::string_view name,
                                      BaseType base, bool has_implied_null, Column* column) {
  using Kind = ColumnDefault::Kind;
  using Stored = DefaultValue::Kind;
  DefaultValue& out = column->default_value;
  const auto invalid = [&] {
    return run_.Refuse(value.at, "invalid default value for " + Quoted(name));
  };
  const bool literal =
      value.kind != Kind::kNone && value.kind != Kind::kNull && value.kind != Kind::kExpression;
  if (literal && HasNoLiteralDefault(base) && !run_.settings().IsMariaDb()) {
    return run_.Refuse(value.at, "BLOB, TEXT, GEOMETRY or JSON column " + Quoted(name) +
                                     " can't have a default value");
  }
  switch (value.kind) {
    case Kind::kNone: out = {has_implied_null ? Stored::kNull : Stored::kNone, ""}; return {};
    case Kind::kNull:
      if (!column->type.nullable()) return invalid();
      out = {Stored::kNull, ""};
      return {};
    case Kind::kNow:
      if (!IsTemporalWithClock(base) && !run_.settings().IsMariaDb()) return invalid();
      // MySQL wants the same number of digits in the type and in the function.
      if (!run_.settings().IsMariaDb() &&
          std::to_string(column->type.precision()) != (value.text.empty() ? "0" : value.text)) {
        return invalid();
      }
      out = {Stored::kExpression,
             "CURRENT_TIMESTAMP" + (value.text.empty() ? "" : "(" + value.text + ")")};
      return {};
    case Kind::kExpression: out = {Stored::kExpression, value.text}; return {};
    default: break;
  }
  out = {Stored::kLiteral, value.text};
  if (base == BaseType::kBit) {
    std::string bits = value.text;
    if (value.kind == Kind::kNumber) bits = BitsOf(std::strtoull(bits.c_str(), nullptr, 10));
    if (value.kind == Kind::kHex) bits = BitsOf(std::strtoull(bits.c_str(), nullptr, 16));
    bits = WithoutLeadingZeros(bits);
    out.text = column->type.kind() == TypeKind::kBoolean ? bits : "b'" + bits + "'";
    return {};
  }
  if (value.kind == Kind::kHex || value.kind == Kind::kBits) {
    const int radix = value.kind == Kind::kHex ? 16 : 2;
    if (IsNumeric(base)) {
      out.text = std::to_string(std::strtoull(value.text.c_str(), nullptr, radix));
    } else if (value.kind == Kind::kHex && IsCharacterType(base)) {
      out.text = BytesOfHex(value.text);
    } else {
      out.text = value.kind == Kind::kHex ? "0x" + value.text : "b'" + value.text + "'";
    }
    return {};
  }
  if (IsNumeric(base)) {
    size_t used = out.text.find_first_not_of("+-0123456789.eE \t");
    if (used != std::string::npos || out.text.find_first_of("0123456789") == std::string::npos) {
      return invalid();
    }
    while (!out.text.empty() && out.text.back() == '.') out.text.pop_back();
  }
  if (base == BaseType::kDecimal) {
    const std::string& text = column->source.type_text;
    const size_t comma = text.find(',');
    out.text = WithScale(
        out.text, comma == std::string::npos
                      ? 0
                      : static_cast<int>(std::strtol(text.c_str() + comma + 1, nullptr, 10)));
  }
  if (base == BaseType::kEnum && MemberFor(column->source.enum_values, out.text).empty() &&
      std::find(column->source.enum_values.begin(), column->source.enum_values.end(), out.text) ==
          column->source.enum_values.end()) {
    return invalid();
  }
  return NormalizeDefault(base, column) ? Result<void>() : invalid();
}

Result<ColumnId> TableBuilder::ColumnOf(const Name& name) const {
  const int index = schema_.IndexOfNameIgnoringCase(name.text);
  if (index < 0) {
    return run_.Refuse(name.at, "key column " + Quoted(name.text) + " doesn't exist in table");
  }
  return schema_.columns[static_cast<size_t>(index)].id;
}

std::string TableBuilder::FreeIndexName(const std::string& base) const {
  std::string name = base;
  for (int suffix = 2; entry_.FindIndex(name) >= 0 || EqualsIgnoringCase(name, "PRIMARY");
       ++suffix) {
    name = base + "_" + std::to_string(suffix);
  }
  return name;
}

Result<void> TableBuilder::AddInlineKeys(const ColumnSpec& spec, ColumnId id) {
  if (spec.primary) {
    if (!schema_.primary_key.empty())
      return run_.Refuse(spec.name.at, "multiple primary key defined");
    schema_.primary_key = {id};
  }
  if (spec.unique) {
    entry_.indexes.push_back({FreeIndexName(spec.name.text), KeySpec::Kind::kUnique, {id}});
  }
  for (const std::string& check : spec.checks) {
    // MariaDB keeps a column's check with the column.
    if (!run_.settings().IsMariaDb()) entry_.checks.push_back({check, {id}});
  }
  entry_.generated_from.erase(id);
  if (spec.generated) {
    std::vector<ColumnId>& from = entry_.generated_from[id];
    for (const std::string& name : spec.generated_from) {
      const int index = schema_.IndexOfNameIgnoringCase(name);
      if (index >= 0) from.push_back(schema_.columns[static_cast<size_t>(index)].id);
    }
  }
  return {};
}

// What a key of this kind cannot be over.
Result<void> TableBuilder::CheckKeyParts(const KeySpec& key) const {
  for (const KeySpec::Part& part : key.parts) {
    if (part.column.empty()) continue;
    DRIFTLESS_ASSIGN_OR_RETURN(const ColumnId id, ColumnOf(part.column));
    const Column& column = *schema_.Find(id);
    if (key.kind == KeySpec::Kind::kFulltext && column.source.charset.empty()) {
      return run_.Refuse(part.column.at,
                         "column " + Quoted(column.name) + " cannot be part of FULLTEXT index");
    }
    const std::string& type = column.source.type_text;
    const bool long_type = type.find("text") != std::string::npos ||
                           type.find("blob") != std::string::npos || type == "json";
    const bool ordered = key.kind == KeySpec::Kind::kPrimary ||
                         key.kind == KeySpec::Kind::kUnique || key.kind == KeySpec::Kind::kIndex;
    // MariaDB keeps such unique keys by hash, and cuts other ones to what fits.
    if (long_type && ordered && part.prefix < 0 && column.source.enum_values.empty() &&
        !run_.settings().IsMariaDb()) {
      return run_.Refuse(part.column.at, "BLOB/TEXT column " + Quoted(column.name) +
                                             " used in key specification without a key length");
    }
  }
  return {};
}

// A foreign key needs an index that begins with its columns; without one the server makes it.
void TableBuilder::CoverForeignKey(const KeySpec& key, const std::vector<ColumnId>& columns) {
  const auto covers = [&](const std::vector<ColumnId>& index) {
    return index.size() >= columns.size() &&
           std::equal(columns.begin(), columns.end(), index.begin());
  };
  if (covers(schema_.primary_key)) return;
  for (const IndexEntry& index : entry_.indexes) {
    if (covers(index.columns)) return;
  }
  const Column* first = schema_.Find(columns[0]);
  entry_.indexes.push_back({FreeIndexName(key.name.empty() ? first->name : key.name.text),
                            KeySpec::Kind::kIndex, columns});
}

Result<void> TableBuilder::AddKey(const KeySpec& key) {
  if (key.kind == KeySpec::Kind::kCheck) {
    CheckEntry check{key.name.text, {}};
    for (const std::string& name : key.check_columns) {
      const int index = schema_.IndexOfNameIgnoringCase(name);
      if (index >= 0) check.columns.push_back(schema_.columns[static_cast<size_t>(index)].id);
    }
    entry_.checks.push_back(std::move(check));
    return {};
  }
  DRIFTLESS_TRY(CheckKeyParts(key));
  std::vector<ColumnId> columns;
  for (const KeySpec::Part& part : key.parts) {
    if (part.column.empty()) {
      columns.push_back(0);
      continue;
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const ColumnId id, ColumnOf(part.column));
    if (std::find(columns.begin(), columns.end(), id) != columns.end()) {
      return run_.Refuse(part.column.at, "duplicate column name " + Quoted(part.column.text));
    }
    columns.push_back(id);
  }
  if (key.kind == KeySpec::Kind::kPrimary) {
    if (!schema_.primary_key.empty()) return run_.Refuse(key.at, "multiple primary key defined");
    schema_.primary_key = std::move(columns);
    return {};
  }
  if (key.kind == KeySpec::Kind::kForeign) {
    DRIFTLESS_ASSIGN_OR_RETURN(TablePath references, run_.PathOf(key.references.table));
    CoverForeignKey(key, columns);
    entry_.foreign_keys.push_back({key.name.text, std::move(columns), std::move(references)});
    return {};
  }
  std::string name = key.name.text;
  if (name.empty()) {
    const Column* first = schema_.Find(columns[0]);
    name = FreeIndexName(first != nullptr ? first->name : "functional_index");
  } else if (EqualsIgnoringCase(name, "PRIMARY")) {
    return run_.Refuse(key.name.at, "incorrect index name " + Quoted(name));
  } else if (entry_.FindIndex(name) >= 0) {
    if (key.if_not_exists) return {};
    return run_.Refuse(key.name.at, "duplicate key name " + Quoted(name));
  }
  entry_.indexes.push_back({std::move(name), key.kind, std::move(columns)});
  return {};
}

Result<void> TableBuilder::AddPeriod(const std::vector<Name>& columns) {
  for (const Name& name : columns) {
    const int index = schema_.IndexOfNameIgnoringCase(name.text);
    if (index < 0) return run_.Refuse(name.at, "unknown column " + Quoted(name.text));
    Column& column = schema_.columns[static_cast<size_t>(index)];
    column.type = column.type.NotNull();
    if (column.default_value.kind == DefaultValue::Kind::kNull) column.default_value = {};
  }
  return {};
}

Result<void> TableBuilder::FinishPrimaryKey(size_t at) {
  for (ColumnId id : schema_.primary_key) {
    const int index = schema_.IndexOf(id);
    if (index < 0) continue;
    Column& column = schema_.columns[static_cast<size_t>(index)];
    const bool in_mysql = !run_.settings().IsMariaDb();
    const bool is_new_table = entry_.schema == nullptr;
    if ((in_mysql && explicitly_null_.contains(id)) ||
        ((in_mysql || is_new_table) && default_null_.contains(id))) {
      return run_.Refuse(at, "all parts of a PRIMARY KEY must be NOT NULL: " + Quoted(column.name));
    }
    column.type = column.type.NotNull();
    if (column.default_value.kind == DefaultValue::Kind::kNull) column.default_value = {};
  }
  return {};
}

Result<void> TableBuilder::CheckColumns(size_t at) const {
  if (schema_.columns.empty()) return run_.Refuse(at, "a table must have at least one column");
  std::set<std::string> names;
  bool any_visible = false;
  for (const Column& column : schema_.columns) {
    if (!names.insert(LowerCase(column.name)).second) {
      return run_.Refuse(at, "duplicate column name " + Quoted(column.name));
    }
    any_visible = any_visible || !column.source.is_invisible;
  }
  if (!any_visible) return run_.Refuse(at, "a table must have at least one visible column");
  return {};
}

Result<void> TableBuilder::CheckAutoIncrement(size_t at) const {
  const Column* found = nullptr;
  for (const Column& column : schema_.columns) {
    if (!column.source.is_auto_increment) continue;
    if (found != nullptr) {
      return run_.Refuse(at, "there can be only one AUTO_INCREMENT column, and it must be a key");
    }
    found = &column;
  }
  if (found == nullptr || !entry_.complete) return {};
  if (!schema_.primary_key.empty() && schema_.primary_key[0] == found->id) return {};
  for (const IndexEntry& index : entry_.indexes) {
    if (!index.columns.empty() && index.columns[0] == found->id) return {};
  }
  if (schema_.IsKey(found->id)) return {};  // MyISAM allows a later part
  return run_.Refuse(at, "there can be only one AUTO_INCREMENT column, and it must be a key: " +
                             Quoted(found->name));
}

Result<void> TableBuilder::Finish(size_t at) {
  DRIFTLESS_TRY(CheckColumns(at));
  DRIFTLESS_TRY(FinishPrimaryKey(at));
  return CheckAutoIncrement(at);
}

}  // namespace driftless::mysql
