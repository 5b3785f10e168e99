#include "sinks/paimon/table_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sinks/clients/objectstore/local_store.h"
#include "sinks/lake/row_json.h"
#include "tests/doubles/source_dir.h"

namespace driftless::paimon {
namespace {

const std::string kGolden = SourceDir() + "/tests/data/paimon/java-1.4.2";

std::shared_ptr<ObjectStore> GoldenStore() { return OpenLocalStore(kGolden); }

// The rows that the reference implementation printed, sorted as it sorts them.
std::vector<std::string> GoldenRows(const std::string& file) {
  std::ifstream in(kGolden + "/" + file);
  EXPECT_TRUE(in.good()) << file;
  std::vector<std::string> rows;
  for (std::string line; std::getline(in, line);) {
    const std::string_view prefix = R"({"row":)";
    if (line.starts_with(prefix)) {
      rows.push_back(line.substr(prefix.size(), line.size() - prefix.size() - 1));
    }
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

std::vector<std::string> Rows(const std::string& table, std::optional<int64_t> snapshot = {}) {
  auto scan = TableScan::Open(PaimonTable(GoldenStore(), TableDirectory({"", "sample", table})),
                              snapshot, TimeZone());
  EXPECT_TRUE(scan.has_value()) << scan.error().ToString();
  std::vector<std::string> rows;
  if (!scan) return rows;
  std::vector<RowField> fields;
  for (const PaimonField& field : scan->schema().fields) {
    fields.push_back({field.name, field.type, ""});
  }
  lake::MergedRow row;
  while (true) {
    auto more = scan->Next(&row);
    EXPECT_TRUE(more.has_value()) << more.error().ToString();
    if (!more || !*more) break;
    rows.emplace_back();
    lake::AppendRowJson(fields, row.columns(), row.row, &rows.back());
  }
  std::sort(rows.begin(), rows.end());
  return rows;
}

TEST(TableScanTest, ReadsTheReferencesTablesThroughTheirSchemaChanges) {
  for (const std::string table : {"pk", "part", "app"}) {
    SCOPED_TRACE(table);
    const std::vector<std::string> expected = GoldenRows(table + ".all.jsonl");
    ASSERT_FALSE(expected.empty());
    EXPECT_EQ(Rows(table), expected);
  }
}

}  // namespace
}  // namespace driftless::paimon
