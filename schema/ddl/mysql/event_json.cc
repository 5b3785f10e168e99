#include "schema/ddl/mysql/event_json.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <variant>

#include "schema/base/json_writer.h"

namespace driftless::mysql {
namespace {

bool IsNumber(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789+-.eE") == std::string_view::npos;
}

// The default as information_schema.COLUMNS prints it; none where it prints NULL.
std::optional<std::string> DefaultText(const Column& column, const ServerSettings& settings) {
  const DefaultValue& value = column.default_value;
  if (value.kind == DefaultValue::Kind::kNone || value.kind == DefaultValue::Kind::kNull) return {};
  if (value.kind == DefaultValue::Kind::kExpression) {
    if (!settings.IsMariaDb() || value.text.rfind("CURRENT_TIMESTAMP", 0) != 0) return value.text;
    const std::string fraction = value.text.substr(std::string_view("CURRENT_TIMESTAMP").size());
    return "current_timestamp" + (fraction.empty() ? "()" : fraction);
  }
  if (column.source.type_text.rfind("bit", 0) == 0 && value.text.rfind("b'", 0) != 0) {
    return "b'" + value.text + "'";
  }
  if (!settings.IsMariaDb()) return value.text;
  const TypeKind kind = column.type.kind();
  const bool is_number =
      (column.type.IsInteger() || kind == TypeKind::kDecimal || kind == TypeKind::kFloat ||
       kind == TypeKind::kDouble || kind == TypeKind::kBoolean) &&
      IsNumber(value.text);
  if (is_number || value.text.rfind("b'", 0) == 0) return value.text;
  std::string quoted = "'";
  for (char c : value.text) {
    if (c == '\'' || c == '\\') quoted += c;
    quoted += c;
  }
  return quoted + "'";
}

std::string ExtraText(const Column& column, const ServerSettings& settings) {
  std::string extra;
  const auto add = [&](std::string_view word) {
    if (!extra.empty()) extra += settings.IsMariaDb() ? ", " : " ";
    extra += word;
  };
  if (column.source.is_auto_increment) add("auto_increment");
  if (!settings.IsMariaDb() && column.default_value.kind == DefaultValue::Kind::kExpression) {
    add("DEFAULT_GENERATED");
  }
  if (!column.source.on_update.empty()) {
    std::string now = column.source.on_update;
    if (settings.IsMariaDb()) {
      const std::string fraction = now.substr(std::string_view("CURRENT_TIMESTAMP").size());
      now = "current_timestamp" + (fraction.empty() ? "()" : fraction);
    }
    add("on update " + now);
  }
  if (column.source.is_generated) add("GENERATED");
  if (column.source.is_invisible) add("INVISIBLE");
  return extra;
}

std::string ColumnJson(const Column& column, const ServerSettings& settings) {
  std::string json = fmt::format(R"({{"name":{},"type":{},"null":{})", JsonString(column.name),
                                 JsonString(column.source.type_text), column.type.nullable());
  if (const auto text = DefaultText(column, settings)) json += ",\"default\":" + JsonString(*text);
  const std::string extra = ExtraText(column, settings);
  if (!extra.empty()) json += ",\"extra\":" + JsonString(extra);
  if (!column.source.charset.empty()) json += ",\"charset\":" + JsonString(column.source.charset);
  if (!column.comment.empty()) json += ",\"comment\":" + JsonString(column.comment);
  return json + "}";
}

std::string NameOf(const TableSchemaPtr& schema, ColumnId id) {
  const Column* column = schema->Find(id);
  return JsonString(column == nullptr ? "" : column->name);
}

std::string NamesJson(const TableSchemaPtr& schema, const std::vector<ColumnId>& ids) {
  std::string json;
  for (ColumnId id : ids) json += (json.empty() ? "" : ",") + NameOf(schema, id);
  return "[" + json + "]";
}

std::string PlaceJson(const TableSchemaPtr& schema, const ColumnPlace& place) {
  static constexpr std::array<std::string_view, 4> kWords = {"LAST", "FIRST", "BEFORE", "AFTER"};
  std::string json = "{\"at\":\"" + std::string(kWords[static_cast<size_t>(place.kind)]) + "\"";
  if (place.anchor != 0) json += ",\"ref\":" + NameOf(schema, place.anchor);
  return json + "}";
}

// Appends the events of one part, one by one.
class PartWriter {
 public:
  PartWriter(const SchemaChange& part, const ServerSettings& settings, std::string* json)
      : part_(part), settings_(settings), json_(json) {}

  void operator()(const CreateTable&) {
    const TableSchema& table = *part_.after;
    std::string columns;
    for (const Column& column : table.columns) {
      columns += (columns.empty() ? "" : ",") + ColumnJson(column, settings_);
    }
    std::string rest = fmt::format(R"(,"columns":[{}],"pk":{})", columns,
                                   NamesJson(part_.after, table.primary_key));
    if (!table.comment.empty()) rest += ",\"comment\":" + JsonString(table.comment);
    Add(rest);
  }
  void operator()(const DropTable&) { Add(""); }
  void operator()(const TruncateTable&) { Add(""); }
  void operator()(const AddColumns& detail) {
    for (const AddColumns::Item& item : detail.items) {
      Add(fmt::format(R"(,"position":{},"column":{})", PlaceJson(part_.after, item.place),
                      ColumnJson(item.column, settings_)));
    }
  }
  void operator()(const DropColumns& detail) {
    for (ColumnId id : detail.columns) AddColumnEvent(id, "");
  }
  void operator()(const RenameColumns& detail) {
    std::string pairs;
    for (const RenameColumns::Item& item : detail.items) {
      pairs += (pairs.empty() ? "" : ",") + JsonString(item.from) + ":" + JsonString(item.to);
    }
    Add(",\"renames\":{" + pairs + "}");
  }
  void operator()(const AlterColumnTypes& detail) {
    for (const AlterColumnTypes::Item& item : detail.items) {
      AddColumnEvent(item.column, fmt::format(R"(,"from":{},"to":{})", JsonString(item.from_text),
                                              JsonString(item.to_text)));
    }
  }
  void operator()(const RelaxNullability& detail) {
    for (ColumnId id : detail.columns) AddColumnEvent(id, "");
  }
  void operator()(const TightenNullability& detail) {
    for (ColumnId id : detail.columns) AddColumnEvent(id, "");
  }
  void operator()(const AlterColumnComments& detail) {
    for (const AlterColumnComments::Item& item : detail.items) {
      AddColumnEvent(item.column, ",\"to\":" + JsonString(item.to));
    }
  }
  void operator()(const AlterTableComment& detail) { Add(",\"to\":" + JsonString(detail.to)); }
  void operator()(const MoveColumns& detail) {
    for (const MoveColumns::Item& item : detail.items) {
      AddColumnEvent(item.column, ",\"position\":" + PlaceJson(part_.before, item.place));
    }
  }
  void operator()(const RenameTable& detail) { Add(",\"to\":" + JsonString(detail.to.ToString())); }
  void operator()(const KeyChange&) {}      // "meta" tells it
  void operator()(const DefaultChange&) {}  // "meta" tells it

 private:
  void Add(const std::string& rest) {
    const TableSchemaPtr& schema = part_.before != nullptr ? part_.before : part_.after;
    if (!json_->empty()) *json_ += ",";
    *json_ += fmt::format(R"({{"kind":"{}","table":{}{}}})", Tag(part_.kind()),
                          JsonString(schema->path.ToString()), rest);
  }
  void AddColumnEvent(ColumnId id, const std::string& rest) {
    Add(",\"column\":" + NameOf(part_.before, id) + rest);
  }

  const SchemaChange& part_;
  const ServerSettings& settings_;
  std::string* json_;
};

std::string OrNull(const std::optional<std::string>& text) {
  return text ? JsonString(*text) : "null";
}

// What changed between the first and the last schema and has no event.
void AppendMeta(const StatementChange& change, const ServerSettings& settings, std::string* json) {
  const TableSchemaPtr before = change.before();
  const TableSchemaPtr after = change.after();
  if (before == nullptr || after == nullptr || before->incarnation != after->incarnation) return;
  const std::string table = JsonString(after->path.ToString());
  const auto add = [&](std::string_view kind, const std::string& rest) {
    if (!json->empty()) *json += ",";
    *json += fmt::format(R"({{"kind":"{}","table":{}{}}})", kind, table, rest);
  };
  if (before->primary_key != after->primary_key) {
    add("primary.key", ",\"pk\":" + NamesJson(after, after->primary_key));
  }
  for (const Column& column : after->columns) {
    const Column* old = before->Find(column.id);
    if (old == nullptr) continue;
    const auto add_column = [&](std::string_view kind, const std::string& to) {
      add(kind, fmt::format(R"(,"column":{},"to":{})", JsonString(column.name), to));
    };
    const auto text = DefaultText(column, settings);
    if (text != DefaultText(*old, settings)) add_column("column.default", OrNull(text));
    const std::string extra = ExtraText(column, settings);
    if (extra != ExtraText(*old, settings)) {
      add_column("column.attributes", extra.empty() ? "null" : JsonString(extra));
    }
    const std::string& charset = column.source.charset;
    if (charset != old->source.charset) {
      add_column("column.charset", charset.empty() ? "null" : JsonString(charset));
    }
  }
}

}  // namespace

std::string JsonString(std::string_view text) {
  std::string json;
  AppendJsonString(text, &json);
  return json;
}

std::string EffectJson(const StatementEffect& effect, const ServerSettings& settings) {
  std::string events;
  std::string meta;
  for (const StatementChange& change : effect.changes) {
    for (const SchemaChange& part : change.parts) {
      std::visit(PartWriter(part, settings, &events), part.detail);
    }
    AppendMeta(change, settings, &meta);
  }
  std::string json = "\"events\":[" + events + "]";
  if (!meta.empty()) json += ",\"meta\":[" + meta + "]";
  for (const RowsWithoutEvents& rows : effect.rows_without_events) {
    if (rows.is_conversion) continue;
    return json + ",\"rows_change_without_row_events\":true";
  }
  return json;
}

}  // namespace driftless::mysql
