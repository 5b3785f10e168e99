#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "sinks/clients/objectstore/local_store.h"
#include "sinks/paimon/catalog.h"
#include "sinks/paimon/commit.h"
#include "sinks/paimon/partition.h"
#include "sinks/paimon/planner.h"
#include "sinks/paimon/table.h"
#include "tests/doubles/source_dir.h"
#include "tests/interop/peer.h"

// What Driftless writes as Paimon metadata, read by Apache Paimon itself (tests/peers/oracle).
namespace driftless::paimon {
namespace {

namespace fs = std::filesystem;

const fs::path kSamples = fs::path(SourceDir()) / "tests/data/paimon/java-1.4.2";

std::vector<std::string> SortedLines(const std::string& text, std::string_view prefix = "{") {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(prefix)) lines.push_back(line);
  }
  std::ranges::sort(lines);
  return lines;
}

class PaimonMetadataTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!IsPeerInstalled("oracle")) GTEST_SKIP() << "the peer oracle is not installed";
    std::string name = (fs::temp_directory_path() / "driftless-paimon-XXXXXX").string();
    warehouse_ = ::mkdtemp(name.data());
    fs::copy(kSamples / "sample.db", warehouse_ / "sample.db", fs::copy_options::recursive);
    store_ = OpenLocalStore(warehouse_.string());
  }
  void TearDown() override {
    if (!warehouse_.empty()) fs::remove_all(warehouse_);
  }
  PeerOutput Oracle(const std::string& command, const std::string& table,
                    const std::string& options = "") {
    return RunPeer("./oracle paimon " + command + " '" + warehouse_.string() + "' sample " + table +
                   " " + options);
  }
  void ExpectSound(const std::string& table) {
    const PeerOutput check = Oracle("check", table);
    EXPECT_EQ(check.status, 0) << check.text;
  }
  std::vector<std::string> Rows(const std::string& table, const std::string& options = "") {
    const PeerOutput rows = Oracle("rows", table, options);
    EXPECT_EQ(rows.status, 0) << rows.text;
    return SortedLines(rows.text);
  }
  PaimonTable Table(const std::string& name) { return PaimonTable(store_, "sample.db/" + name); }

  // Commits copies of live data files under new names and with later sequence numbers: a cut that
  // writes the same rows again.
  void CommitCopies(const std::string& name, CutId cut, size_t files) {
    const PaimonTable table = Table(name);
    const Snapshot latest = **table.LatestSnapshot();
    const CommitIdentity identity{"interop", "lake", {"", "sample", name}, cut, 1};
    FileNames names(FileOwner("interop", "lake", identity.table), cut, 1);
    const std::vector<ManifestEntry> live = *table.LiveFiles(latest);
    Committable committable;
    committable.schema_id = (*table.LatestSchema())->id;
    for (size_t i = live.size() - std::min(files, live.size()); i < live.size(); ++i) {
      ManifestEntry entry = live[i];
      const std::string directory = BucketDirectory(
          table.directory(), *PartitionPath(*table.Schema(entry.file.schema_id), entry.partition),
          entry.bucket);
      const std::string old_name = entry.file.file_name;
      entry.file.file_name = names.Next("data", ".parquet");
      entry.file.level = 0;
      entry.file.file_source = FileSource::kAppend;
      entry.file.min_sequence_number += static_cast<int64_t>(cut) * 1000;
      entry.file.max_sequence_number += static_cast<int64_t>(cut) * 1000;
      ASSERT_TRUE(store_->Put(directory + "/" + entry.file.file_name,
                              *store_->Read(directory + "/" + old_name)));
      committable.new_files.push_back(std::move(entry));
    }
    const CommitToken token = MakeToken(identity, committable, latest.id);
    const Result<void> committed = PaimonCommitter(store_, {}).Commit({&token, 1});
    ASSERT_TRUE(committed) << committed.error().ToString();
  }
  void SetOptions(const std::string& name, const std::map<std::string, std::string>& options) {
    PaimonSchema schema = **Table(name).LatestSchema();
    ++schema.id;
    for (const auto& [key, value] : options) schema.options[key] = value;
    schema.options.erase("write-only");
    ASSERT_TRUE(store_->CreateExclusive(
        Table(name).Path("schema/schema-" + std::to_string(schema.id)), SchemaToJson(schema)));
  }

  fs::path warehouse_;
  std::shared_ptr<ObjectStore> store_;
};

TEST_F(PaimonMetadataTest, CommitsAreReadAndAddUp) {
  for (const std::string name : {"pk", "part"}) {
    const std::vector<std::string> before = Rows(name);
    for (CutId cut = 1; cut <= 3; ++cut) CommitCopies(name, cut, 2);
    ExpectSound(name);
    EXPECT_EQ(Rows(name), before) << "the same rows again change nothing";
    const PeerOutput snapshots = Oracle("snapshots", name);
    EXPECT_THAT(snapshots.text, testing::HasSubstr("driftless-interop-lake"));
  }
  // An append table shows its rows as often as they were written.
  const size_t rows = Rows("app").size();
  CommitCopies("app", 1, 100);
  ExpectSound("app");
  EXPECT_EQ(Rows("app").size(), 2 * rows);
}

TEST_F(PaimonMetadataTest, MergedManifestsAndExpiredSnapshotsLeaveASoundTable) {
  for (const std::string name : {"pk", "part"}) {
    const std::vector<std::string> before = Rows(name);
    SetOptions(name, {{"manifest.merge-min-count", "3"},
                      {"manifest.full-compaction-threshold-size", "1 b"},
                      {"snapshot.num-retained.min", "2"},
                      {"snapshot.num-retained.max", "3"}});
    for (CutId cut = 1; cut <= 6; ++cut) CommitCopies(name, cut, 1);
    EXPECT_EQ(Table(name).SnapshotIds()->size(), 3U);
    ExpectSound(name);
    EXPECT_EQ(Rows(name), before);
    for (const int64_t id :
         {Table(name).SnapshotIds()->front(), Table(name).SnapshotIds()->back()}) {
      EXPECT_EQ(Rows(name, "--snapshot " + std::to_string(id)), before) << "snapshot " << id;
    }
  }
}

TEST_F(PaimonMetadataTest, SchemaCommitsAreReadWithOldRows) {
  const TablePath path{"", "sample", "pk"};
  const PaimonCatalog catalog(store_, nullptr);
  const auto planner = MakePaimonPlanner({});
  EvolvedSchema evolved;
  evolved.path = path;
  ColumnId next = 1;
  const std::optional<SinkTable> existing = *catalog.ReadTable(path);
  for (const SinkColumn& column : existing->columns) {
    EvolvedColumn& bound = evolved.columns.emplace_back();
    bound.sink = column;
    bound.source = next++;
  }
  evolved.primary_key = existing->primary_key;
  evolved.options = existing->options;
  const auto id = [&](std::string_view name) { return evolved.FindName(name)->source; };
  const auto run = [&](ChangeDetail detail) {
    SchemaChange part;
    part.detail = std::move(detail);
    PlanRequest request;
    request.parts = {&part, 1};
    request.evolved = &evolved;
    request.sink_table = path;
    request.adapt_constraints = true;
    request.change_id = "interop/" + std::to_string(next);
    const Result<SchemaPlan> plan = planner->Plan(request);
    ASSERT_TRUE(plan) << plan.error().ToString();
    for (size_t step = 0; step < plan->steps.size(); ++step) {
      const Result<void> done = catalog.ExecuteStep(*plan, step);
      ASSERT_TRUE(done) << plan->steps[step].action << ": " << done.error().ToString();
    }
    evolved = plan->evolved;
  };
  Column added;
  added.id = 100;
  added.name = "extra ä";
  added.type = LogicalType::Row({{"x", LogicalType::Array(LogicalType::Decimal(20, 3)), ""},
                                 {"y", LogicalType::TimestampLtz(3), "when"}});
  added.comment = "a \"quoted\" comment";
  run(AddColumns{{{added, {ColumnPlace::Kind::kFirst, 0}}}});
  run(RenameColumns{{{id("name"), "name", "city"}, {id("city"), "city", "name"}}});
  run(AlterColumnTypes{{{id("quantity"), {}, LogicalType::Decimal(30, 2), "", ""}}});
  run(AlterColumnTypes{{{id("tiny"), {}, LogicalType::Int(), "", ""}}});
  run(DropColumns{{id("flag")}});
  run(RelaxNullability{{id("region")}});
  run(MoveColumns{{{id("raw"), {ColumnPlace::Kind::kAfter, id("id")}}}});
  run(RenameColumns{{{id("id"), "id", "key"}}});

  const PeerOutput schemas = Oracle("schemas", "pk");
  ASSERT_EQ(schemas.status, 0) << schemas.text;
  EXPECT_EQ(SortedLines(schemas.text).size(), 4U + 8U);
  EXPECT_THAT(schemas.text, testing::HasSubstr("extra ä"));
  const std::vector<std::string> rows = Rows("pk");
  std::ifstream golden(kSamples / "pk.all.jsonl");
  std::stringstream all;
  all << golden.rdbuf();
  EXPECT_EQ(rows.size(), SortedLines(all.str(), R"({"row")").size());
  EXPECT_THAT(rows.front(), testing::HasSubstr(R"("extra ä":null)"));
  EXPECT_THAT(rows.front(), testing::HasSubstr(R"("key":)"));
  CommitCopies("pk", 50, 1);
  ExpectSound("pk");
  EXPECT_EQ(Rows("pk"), rows);
}

TEST_F(PaimonMetadataTest, CreatedTablesAreOpenedByPaimon) {
  TableSchema source;
  source.path = {"", "sample", "fresh"};
  source.comment = "a fresh table";
  source.AddColumn("k", LogicalType::BigInt().NotNull()).comment = "key";
  source.AddColumn("day", LogicalType::Date().NotNull());
  for (const char* type : {"BOOLEAN",
                           "TINYINT",
                           "SMALLINT",
                           "INT",
                           "FLOAT",
                           "DOUBLE",
                           "DECIMAL(38, 10)",
                           "CHAR(3)",
                           "VARCHAR(7)",
                           "STRING",
                           "BINARY(3)",
                           "VARBINARY(9)",
                           "BYTES",
                           "DATE",
                           "TIME(3)",
                           "TIMESTAMP(0)",
                           "TIMESTAMP(9)",
                           "TIMESTAMP_LTZ(6)",
                           "ARRAY<INT NOT NULL>",
                           "MAP<STRING NOT NULL, ROW<`a` INT, `b` ARRAY<STRING>>>",
                           "MULTISET<INT>",
                           "ROW<`x` ROW<`y` INT>>"}) {
    source.AddColumn("c" + std::to_string(source.columns.size()), *ParseLogicalType(type));
  }
  source.primary_key = {1};
  PaimonOptions options;
  options.partition_keys = {{"sample.fresh", {"day"}}};
  options.table_properties = {{"bucket", "3"}, {"changelog-producer", "input"}};
  SchemaChange part;
  part.detail = CreateTable();
  part.after = std::make_shared<TableSchema>(source);
  PlanRequest request;
  request.parts = {&part, 1};
  request.sink_table = source.path;
  request.change_id = "interop/0";
  const Result<SchemaPlan> plan = MakePaimonPlanner(options)->Plan(request);
  ASSERT_TRUE(plan) << plan.error().ToString();
  ASSERT_TRUE(PaimonCatalog(store_, nullptr).ExecuteStep(*plan, 0));
  const PeerOutput schemas = Oracle("schemas", "fresh");
  ASSERT_EQ(schemas.status, 0) << schemas.text;
  simdjson::dom::parser parser;
  const std::string line = SortedLines(schemas.text).front();
  simdjson::dom::array fields;
  ASSERT_EQ(parser.parse(line)["fields"].get(fields), simdjson::SUCCESS) << line;
  const PaimonSchema ours = **PaimonTable(store_, "sample.db/fresh").LatestSchema();
  size_t i = 0;
  for (const simdjson::dom::element field : fields) {
    EXPECT_EQ(std::string_view(field["name"]), ours.fields[i].name);
    EXPECT_EQ(int64_t(field["id"]), ours.fields[i].id);
    ++i;
  }
  EXPECT_EQ(i, source.columns.size());
  EXPECT_TRUE(Rows("fresh").empty());
}

}  // namespace
}  // namespace driftless::paimon
