#include <gtest/gtest.h>
#include <cstdlib>
#include <fstream>
#include <filesystem>
#include "pipeline/sources/file/file_source.h"
#include "schema/base/json_writer.h"
#include "tests/doubles/replayed_tables.h"

namespace driftless {
namespace {
TEST(Dump, All) {
  const char* file = std::getenv("DUMP_FILE");
  const char* dir = std::getenv("DUMP_DIR");
  if (!file) GTEST_SKIP();
  FileSourceOptions options;
  options.patterns = {file};
  if (const char* t = std::getenv("DUMP_TABLES")) options.stream.tables = TableSelector::Parse(t).value();
  if (std::getenv("DUMP_HEX")) options.stream.format.binary_mode = debezium::BinaryMode::kHex;
  if (std::getenv("DUMP_CONNECT")) options.stream.format.time_mode = debezium::TimePrecisionMode::kConnect;
  if (std::getenv("DUMP_STRINGS")) options.stream.format.decimal_mode = debezium::DecimalMode::kString;
  if (std::getenv("DUMP_IGNORE")) options.stream.on_unparsed_ddl = debezium::OnUnparsedDdl::kIgnore;
  FileSource source(options);
  testing::MemoryHistory history;
  SourceContext context; context.history = &history;
  auto c = source.Connect(context);
  ASSERT_TRUE(c) << c.error().ToString();
  testing::ReplayedTables out;
  auto r = source.Run(0, 0, {}, &out);
  for (auto& f : out.faults) std::cerr << "FAULT " << f << "\n";
  if (std::getenv("DUMP_EVENTS")) for (auto& f : out.events) std::cerr << f << "\n";
  std::filesystem::create_directories(dir);
  for (auto& [path, table] : out.tables) {
    std::ofstream f(std::string(dir) + "/" + path.database + "." + path.table + ".jsonl");
    std::string text; JsonWriter w(&text);
    w.BeginObject().Key("schema").BeginObject().Key("fields").BeginArray();
    for (auto& col : table.schema->columns) w.BeginObject().Key("name").String(col.name).Key("type").String(col.type.ToString()).EndObject();
    w.EndArray().Key("primaryKeys").BeginArray();
    for (auto id : table.schema->primary_key) w.String(table.schema->Find(id)->name);
    w.EndArray().EndObject().EndObject();
    f << text << "\n";
    for (auto& [k, row] : table.rows) {
      std::string t; JsonWriter j(&t);
      j.BeginObject().Key("row").BeginObject();
      for (auto& col : table.schema->columns) {
        j.Key(col.name);
        auto v = row.find(col.id);
        if (v == row.end() || !v->second) { j.Null(); continue; }
        if (col.type.IsBytes()) j.String("0x" + *v->second);
        else if (col.type.IsInteger() || col.type.kind()==TypeKind::kBoolean || col.type.kind()==TypeKind::kArray) j.Raw(*v->second);
        else j.String(*v->second);
      }
      j.EndObject().EndObject();
      f << t << "\n";
    }
  }
  ASSERT_TRUE(r) << r.error().ToString();
}
}  // namespace
}  // namespace driftless
