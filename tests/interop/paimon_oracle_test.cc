// Tables that Driftless writes, read by the reference implementation, and the other way round.
// Skipped by name where the oracle is not installed (tests/peers/oracle install).
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "sinks/clients/objectstore/local_store.h"
#include "tests/doubles/paimon_rig.h"
#include "tests/doubles/source_dir.h"

namespace driftless::paimon {
namespace {

using testing::EveryType;
using testing::PaimonRig;

const std::string kOracle = SourceDir() + "/tests/peers/oracle";

struct Output {
  std::string text;
  int status = 0;
};

Output RunCommand(const std::string& command) {
  Output output;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n = 0; (n = fread(buffer, 1, sizeof buffer, pipe)) > 0;)
    output.text.append(buffer, n);
  output.status = pclose(pipe);
  return output;
}

class PaimonOracleTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* peers = std::getenv("PEERS_DIR");
    const std::string directory = peers != nullptr ? peers : "/tmp/driftless-peers";
    if (!std::filesystem::exists(directory + "/dist/oracle/paimon")) {
      GTEST_SKIP() << "the Java oracle is not installed below " << directory;
    }
    warehouse_ = std::filesystem::temp_directory_path() /
                 ("driftless-interop-" + std::to_string(getpid()) + "-" +
                  ::testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(warehouse_);
    std::filesystem::create_directories(warehouse_);
  }
  void TearDown() override {
    if (!HasFailure()) std::filesystem::remove_all(warehouse_);
  }

  std::shared_ptr<ObjectStore> Store() const { return OpenLocalStore(warehouse_); }

  std::vector<std::string> OracleRows(const std::string& arguments) const {
    const Output output =
        RunCommand(kOracle + " paimon rows " + warehouse_.string() + " " + arguments);
    EXPECT_EQ(output.status, 0) << output.text;
    std::vector<std::string> rows;
    std::istringstream lines(output.text);
    for (std::string line; std::getline(lines, line);) rows.push_back(line);
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  void ExpectClean(const std::string& table) const {
    const Output output =
        RunCommand(kOracle + " paimon check " + warehouse_.string() + " d " + table);
    EXPECT_EQ(output.status, 0) << output.text;
  }
  static void ExpectSame(std::vector<std::string> ours, std::vector<std::string> java) {
    ASSERT_EQ(ours.size(), java.size());
    for (std::string& row : ours) row = WithoutJavaDigits(row);
    for (std::string& row : java) row = WithoutJavaDigits(row);
    std::sort(ours.begin(), ours.end());
    std::sort(java.begin(), java.end());
    for (size_t i = 0; i < ours.size(); ++i) ASSERT_EQ(ours[i], java[i]) << "row " << i;
  }
  // Java before 19 prints more digits than a number needs: numbers with an exponent in one form.
  static std::string WithoutJavaDigits(const std::string& row) {
    const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
    std::string out;
    for (size_t at = 0; at < row.size();) {
      // digit '.' digits 'E' ['-'] digits
      size_t end = at;
      if (is_digit(row[at]) && row[at + 1] == '.') {
        end = at + 2;
        while (is_digit(row[end])) ++end;
        if (row[end] == 'E') {
          end += row[end + 1] == '-' ? 2 : 1;
          while (is_digit(row[end])) ++end;
        } else {
          end = at;
        }
      }
      if (end == at) {
        out += row[at++];
        continue;
      }
      char text[64];
      std::snprintf(text, sizeof text, "%.9g",
                    static_cast<double>(std::stof(row.substr(at, end - at))));
      out += text;
      at = end;
    }
    return out;
  }

  std::filesystem::path warehouse_;
};

void Exercise(PaimonRig* rig) {
  for (int commit = 0; commit < 3; ++commit) {
    rig->WriteRandomChanges(100, 60);
    rig->Commit();
    rig->Restart();
  }
}

PaimonSchema KeyedSchema(std::map<std::string, std::string> options,
                         const std::vector<LogicalType>& keys = {LogicalType::BigInt()}) {
  PaimonSchema schema = EveryType(keys);
  schema.options = std::move(options);
  schema.options["write-only"] = "true";
  return schema;
}

TEST_F(PaimonOracleTest, ReadsFixedBuckets) {
  PaimonRig rig(Store(), KeyedSchema({{"bucket", "3"}}), 21);
  Exercise(&rig);
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

TEST_F(PaimonOracleTest, ReadsCompositeKeys) {
  PaimonRig rig(Store(),
                KeyedSchema({{"bucket", "2"}}, {LogicalType::String(), LogicalType::Decimal(30, 3),
                                                LogicalType::Timestamp(9), LogicalType::Date()}),
                22);
  Exercise(&rig);
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

TEST_F(PaimonOracleTest, ReadsPartitionsAndDynamicBuckets) {
  PaimonSchema schema = KeyedSchema({{"dynamic-bucket.target-row-num", "15"}},
                                    {LogicalType::Int(), LogicalType::Date()});
  schema.partition_keys = {"k1"};
  schema.options.erase("write-only");
  PaimonRig rig(Store(), schema, 23);
  Exercise(&rig);
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

TEST_F(PaimonOracleTest, ReadsChangelogTables) {
  PaimonRig rig(Store(), KeyedSchema({{"bucket", "2"}, {"changelog-producer", "input"}}), 24);
  Exercise(&rig);
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

TEST_F(PaimonOracleTest, ReadsAppendTables) {
  PaimonSchema schema = EveryType({});
  schema.partition_keys = {"v0"};
  PaimonRig rig(Store(), schema, 25);
  Exercise(&rig);
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

TEST_F(PaimonOracleTest, ReadsBucketedAppendTables) {
  PaimonSchema schema = EveryType({});
  schema.options = {{"bucket", "3"}, {"bucket-key", "v4,v11,v16"}};
  PaimonRig rig(Store(), schema, 26);
  Exercise(&rig);
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

TEST_F(PaimonOracleTest, ReadsWhatWeCompacted) {
  PaimonSchema schema = KeyedSchema({{"bucket", "2"}, {"num-sorted-run.compaction-trigger", "3"}});
  schema.options.erase("write-only");
  PaimonRig rig(Store(), schema, 28);
  for (int commit = 0; commit < 8; ++commit) {
    rig.WriteRandomChanges(60, 60);
    rig.Commit();
    rig.Compact();
  }
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

TEST_F(PaimonOracleTest, ReadsAppendTablesThatWeCompacted) {
  PaimonSchema schema = KeyedSchema({{"bucket", "-1"}, {"compaction.min.file-num", "3"}});
  schema.options.erase("write-only");
  schema.primary_keys.clear();
  PaimonRig rig(Store(), schema, 29);
  bool compacted = false;
  for (int commit = 0; commit < 8; ++commit) {
    rig.WriteRandomChanges(20, 60);
    rig.Commit();
    rig.Compact();
    compacted |= (**rig.table().LatestSnapshot()).commit_kind == paimon::CommitKind::kCompact;
  }
  EXPECT_TRUE(compacted);
  ExpectSame(rig.Expected(), OracleRows("d t"));
  ExpectClean("t");
}

// Casts where both readers must agree on every value; the model does not know them.
TEST_F(PaimonOracleTest, ReadsOldFilesAfterEachSchemaChangeAsWeDo) {
  PaimonRig rig(Store(), KeyedSchema({{"bucket", "2"}}), 27);
  const auto field = [](PaimonSchema* schema, const std::string& name) -> PaimonField& {
    return schema->fields[static_cast<size_t>(schema->IndexOf(name))];
  };
  const std::vector<std::function<void(PaimonSchema*)>> changes = {
      [](PaimonSchema* schema) {
        PaimonField added;
        added.id = ++schema->highest_field_id;
        added.name = "added";
        added.type = LogicalType::String();
        schema->fields.insert(schema->fields.begin(), added);
      },
      [&](PaimonSchema* schema) {
        field(schema, "v3").name = "renamed";
        std::swap(field(schema, "v5").name, field(schema, "v6").name);
      },
      [](PaimonSchema* schema) {
        std::erase_if(schema->fields, [](const PaimonField& f) { return f.name == "v12"; });
        PaimonField again;
        again.id = ++schema->highest_field_id;
        again.name = "v12";
        again.type = LogicalType::Int();
        schema->fields.push_back(again);
      },
      [&](PaimonSchema* schema) {
        field(schema, "v1").type = LogicalType::BigInt();
        field(schema, "v2").type = LogicalType::String();
        field(schema, "renamed").type = LogicalType::Double();
        field(schema, "v4").type = LogicalType::Int();          // wraps
        field(schema, "v7").type = LogicalType::Decimal(6, 1);  // rounds, overflows to NULL
        field(schema, "v8").type = LogicalType::String();
        field(schema, "v10").type = LogicalType::VarChar(3);  // cuts
        field(schema, "v13").type = LogicalType::Timestamp(3);
        field(schema, "v17").type = LogicalType::Timestamp(3);
        field(schema, "v16").type = LogicalType::Date();
      },
      [&](PaimonSchema* schema) {
        field(schema, "v0").type = LogicalType::String();
        field(schema, "v5").type = LogicalType::String();  // DOUBLE by now
        field(schema, "v6").type = LogicalType::BigInt();  // FLOAT
        field(schema, "v21").type = LogicalType::Decimal(12, 2).NotNull();
        field(schema, "v14").type = LogicalType::String();
        field(schema, "v15").type = LogicalType::String();
      },
  };
  rig.WriteRandomChanges(80, 200);
  rig.Commit();
  for (size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    rig.Evolve(changes[i]);
    ExpectSame(rig.Read(), OracleRows("d t"));
    rig.WriteRandomChanges(40, 200);
    rig.Commit();
    ExpectSame(rig.Read(), OracleRows("d t"));
  }
  for (int64_t snapshot = 1; snapshot <= 3; ++snapshot) {
    ExpectSame(rig.Read(snapshot), OracleRows("d t --snapshot " + std::to_string(snapshot)));
  }
  ExpectClean("t");
}

}  // namespace
}  // namespace driftless::paimon
