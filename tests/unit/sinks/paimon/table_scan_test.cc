#include "sinks/paimon/table_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "sinks/clients/objectstore/local_store.h"
#include "sinks/lake/row_json.h"
#include "sinks/paimon/binary_row.h"
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

// How many files are open, and the names of all that were.
struct OpenFiles {
  int now = 0;
  int most = 0;
  std::vector<std::string> names;
};

class EmptyFile : public lake::RowSource {
 public:
  explicit EmptyFile(OpenFiles* files) : files_(files) {
    files_->most = std::max(files_->most, ++files_->now);
  }
  ~EmptyFile() override { --files_->now; }
  Result<lake::FileRowsPtr> Next() override { return lake::FileRowsPtr(); }

 private:
  OpenFiles* files_;
};

std::string LongKey(int64_t value) {
  BinaryRowBuilder row(1);
  row.Reset();
  row.SetFixed(0, static_cast<uint64_t>(value), 8);
  return row.Serialized();
}

TEST(MergeSourcesTest, FilesWhoseKeysDoNotOverlapAreOpenedOneAfterTheOther) {
  const auto schema = *PaimonTable(GoldenStore(), TableDirectory({"", "sample", "pk"})).Schema(0);
  ASSERT_EQ(schema.TrimmedPrimaryKeys().size(), 1U);
  std::vector<ManifestEntry> files;
  const auto add = [&](const char* name, int64_t from, int64_t to) {
    ManifestEntry& entry = files.emplace_back();
    entry.file.file_name = name;
    entry.file.min_key = LongKey(from);
    entry.file.max_key = LongKey(to);
  };
  add("third", 300, 399);
  add("first", -5, 99);
  add("across", 50, 250);
  add("second", 100, 299);
  add("touching", 399, 500);
  OpenFiles opened;
  auto sources = MergeSources(
      schema, files, [&](const ManifestEntry& entry) -> Result<std::unique_ptr<lake::RowSource>> {
        opened.names.push_back(entry.file.file_name);
        return std::make_unique<EmptyFile>(&opened);
      });
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_TRUE(opened.names.empty());
  for (const auto& source : sources) EXPECT_EQ(*source->Next(), nullptr);
  EXPECT_EQ(opened.most, 1);
  EXPECT_EQ(opened.names,
            (std::vector<std::string>{"first", "second", "touching", "across", "third"}));
}

}  // namespace
}  // namespace driftless::paimon
