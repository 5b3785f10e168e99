#include "config/table_api/data_types.h"

#include <string>
#include <utility>

#include "config/options/suggest.h"

namespace driftless::table_api {

Result<LogicalType> MakeDataType(std::string_view name,
                                 const std::vector<TypeArgumentValue>& args) {
  if (name == "ROW") {
    std::vector<RowField> fields;
    for (const TypeArgumentValue& arg : args) {
      if (!arg.field && !arg.type) {
        return MakeError(ErrorKind::kRefused, "ROW takes DataTypes.FIELD(\"name\", type)");
      }
      const std::string number = "f" + std::to_string(fields.size());
      fields.push_back(
          {arg.field ? arg.field->name : number, arg.field ? arg.field->type : *arg.type, ""});
    }
    return LogicalType::Row(std::move(fields));
  }
  if (name == "ARRAY" || name == "MAP" || name == "MULTISET") {
    const size_t wanted = name == "MAP" ? 2 : 1;
    for (size_t i = 0; i < wanted; ++i) {
      if (args.size() == wanted && args[i].type) continue;
      return MakeError(ErrorKind::kRefused,
                       std::string(name) + " takes " + (wanted == 2 ? "two types" : "a type"));
    }
    if (name == "MAP") return LogicalType::Map(*args[0].type, *args[1].type);
    if (name == "MULTISET") return LogicalType::Multiset(*args[0].type);
    return LogicalType::Array(*args[0].type);
  }
  static constexpr std::string_view kNames[] = {
      "BOOLEAN",   "TINYINT", "SMALLINT", "INT",     "BIGINT",    "FLOAT",
      "DOUBLE",    "DECIMAL", "CHAR",     "VARCHAR", "STRING",    "BINARY",
      "VARBINARY", "BYTES",   "DATE",     "TIME",    "TIMESTAMP", "TIMESTAMP_LTZ"};
  bool known = false;
  for (const std::string_view each : kNames) known = known || each == name;
  if (!known) {
    std::vector<std::string_view> names(std::begin(kNames), std::end(kNames));
    for (const std::string_view each : {"ROW", "ARRAY", "MAP", "FIELD"}) names.push_back(each);
    return std::move(
               MakeError(ErrorKind::kRefused, "there is no type DataTypes." + std::string(name)))
        .Hint(Suggest(name, names));
  }
  std::string text(name);

  for (size_t i = 0; i < args.size(); ++i) {
    if (!args[i].number) {
      return MakeError(ErrorKind::kRefused, std::string(name) + " takes numbers");
    }
    text += (i == 0 ? "(" : ", ") + std::to_string(*args[i].number);
  }
  if (!args.empty()) text += ")";
  return ParseLogicalType(text);
}

}  // namespace driftless::table_api
