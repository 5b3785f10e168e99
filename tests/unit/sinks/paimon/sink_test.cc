#include "sinks/paimon/sink.h"

#include <gtest/gtest.h>

#include "sinks/clients/objectstore/memory_store.h"
#include "sinks/paimon/compaction.h"
#include "tests/doubles/paimon_rig.h"

namespace driftless::paimon {
namespace {

// A sink over a store in memory, and one table that is filled through the interface that the
// runtime uses: assign, write, prepare, seal, commit.
class SinkRun {
 public:
  SinkRun(std::shared_ptr<MemoryStore> store, PaimonSchema schema,
          Compaction compaction = Compaction::kNone)
      : rig_(store, std::move(schema), 3), store_(std::move(store)), compaction_(compaction) {
    Start();
  }

  void Start() {
    PaimonOptions options;
    options.commit_user_prefix = "driftless";
    SinkEnvironment environment;
    environment.pipeline_name = "pipe";
    environment.sink_name = "lake";
    auto sink = MakePaimonSinkOver(store_, options, environment, compaction_);
    ASSERT_TRUE(sink.has_value());
    sink_ = std::move(*sink);
    evolved_ = rig_.Evolved();
    writers_.clear();
    ++attempt_;
  }

  Sink& sink() { return *sink_; }
  testing::PaimonRig& rig() { return rig_; }
  const EvolvedSchema& evolved() const { return evolved_; }

  CommitIdentity Identity(CutId cut) const {
    return {"pipe", "lake", evolved_.path, cut, attempt_};
  }

  Result<void> Write(const ChangeBatchPtr& batch, CutId cut, const TableSchema& source) {
    if (writers_.empty()) {
      for (WriterIndex i = 0; i < sink_->WriterCount(evolved_); ++i) {
        WriterContext context;
        context.identity = Identity(cut);
        auto writer = sink_->OpenWriter(evolved_, i, context);
        if (!writer) return std::move(writer).error();
        writers_.push_back(std::move(*writer));
      }
    }
    projections_.push_back(std::make_unique<Projection>(
        Projection::Make(source, evolved_, OnCastFailure::kFail, OnNullViolation::kFail)));
    WriterRows rows;
    sink_->Assign(*batch, evolved_, *projections_.back(), &rows);
    EXPECT_EQ(rows.writer_count(), writers_.size());
    for (WriterIndex i = 0; i < rows.writer_count(); ++i) {
      if (rows.rows(i).empty()) continue;
      auto written = writers_[i]->Write(batch, *projections_.back(), rows.rows(i));
      if (!written) return written;
    }
    return {};
  }

  CommitToken Seal(CutId cut) {
    std::vector<PreparedPart> parts;
    for (const TableWriterPtr& writer : writers_) {
      auto part = writer->Prepare(cut);
      EXPECT_TRUE(part.has_value()) << part.error().ToString();
      parts.push_back(std::move(*part));
    }
    auto token = sink_->Seal(Identity(cut), evolved_, parts);
    EXPECT_TRUE(token.has_value()) << token.error().ToString();
    return *token;
  }

  void Commit(const CommitToken& token) {
    const auto committed = sink_->Commit(std::span(&token, 1));
    ASSERT_TRUE(committed.has_value()) << committed.error().ToString();
  }

  size_t DataFiles() const {
    size_t files = 0;
    for (const auto& [path, bytes] : store_->Contents()) {
      files += path.ends_with(".parquet") ? 1 : 0;
    }
    return files;
  }

 private:
  testing::PaimonRig rig_;
  std::shared_ptr<MemoryStore> store_;
  Compaction compaction_;
  std::unique_ptr<Sink> sink_;
  EvolvedSchema evolved_;
  std::vector<TableWriterPtr> writers_;
  std::vector<std::unique_ptr<Projection>> projections_;
  uint32_t attempt_ = 0;
};

PaimonSchema Orders(std::map<std::string, std::string> options, bool has_key = true) {
  PaimonSchema schema;
  schema.fields = {{0, "id", LogicalType::BigInt().NotNull(), {}, "", std::nullopt},
                   {1, "note", LogicalType::String(), {}, "", std::nullopt}};
  schema.highest_field_id = 1;
  if (has_key) schema.primary_keys = {"id"};
  schema.options = std::move(options);
  return schema;
}

ChangeBatchPtr Inserts(const TableSchemaPtr& source, int64_t begin, int64_t end) {
  ChangeBatchBuilder builder(source, 0);
  for (int64_t i = begin; i < end; ++i) {
    builder.BeginRow(Op::kInsert, Point{0, 0, static_cast<uint64_t>(i + 1), 0, 0}, 0);
    builder.after(0).AppendInt(i);
    builder.after(1).AppendBytes("note " + std::to_string(i));
    builder.EndRow();
  }
  return builder.Seal();
}

TEST(PaimonSinkTest, WritersShareATablesBucketsAndKeyChangesCrossThem) {
  SinkRun run(std::make_shared<MemoryStore>(), Orders({{"bucket", "4"}}));
  const TableSchemaPtr source = run.rig().Source();
  ASSERT_TRUE(run.Write(Inserts(source, 0, 100), 1, *source).has_value());
  ChangeBatchBuilder builder(source, 0);
  // Every key moves on by 1000: mostly into another bucket.
  for (int64_t i = 0; i < 100; ++i) {
    builder.BeginRow(Op::kUpdate, Point{0, 0, static_cast<uint64_t>(1000 + i), 0, 0}, 0);
    builder.after(0).AppendInt(i + 1000);
    builder.after(1).AppendNull();
    builder.before(0).AppendInt(i);
    builder.EndRow();
  }
  ASSERT_TRUE(run.Write(builder.Seal(), 1, *source).has_value());
  run.Commit(run.Seal(1));
  const std::vector<std::string> rows = run.rig().Read();
  ASSERT_EQ(rows.size(), 100u);
  for (const std::string& row : rows)
    EXPECT_NE(row.find("\"note\":null"), std::string::npos) << row;
}

TEST(PaimonSinkTest, KeysThatNeedACastAreRoutedByTheSinksValue) {
  SinkRun run(std::make_shared<MemoryStore>(), Orders({{"bucket", "4"}}));
  // The source has INT where the sink has BIGINT.
  auto source = std::make_shared<TableSchema>(*run.rig().Source());
  source->columns[0].type = LogicalType::Int().NotNull();
  ASSERT_TRUE(run.Write(Inserts(source, -50, 50), 1, *source).has_value());
  run.Commit(run.Seal(1));
  EXPECT_EQ(run.rig().Read().size(), 100u);
  const auto live = run.rig().table().LiveFiles(**run.rig().table().LatestSnapshot());
  ASSERT_TRUE(live.has_value());
  // Reading finds rows wherever they are; the buckets must be those of the BIGINT values.
  RowHasher hasher({0}, {LogicalType::BigInt()});
  const TableSchemaPtr wide = run.rig().Source();
  const ChangeBatchPtr expected = Inserts(wide, -50, 50);
  std::map<int32_t, int64_t> counts;
  for (int64_t row = 0; row < expected->size(); ++row) {
    ++counts[hasher.Bucket(BucketFunction::kMurmur, expected->after(), row, 4)];
  }
  for (const ManifestEntry& entry : *live) counts[entry.bucket] -= entry.file.row_count;
  for (const auto& [bucket, difference] : counts) EXPECT_EQ(difference, 0) << bucket;
}

TEST(PaimonSinkTest, ACrashBeforeTheSealLeavesFilesThatCleanUpRemoves) {
  auto store = std::make_shared<MemoryStore>();
  SinkRun run(store, Orders({}, /*has_key=*/false));
  const TableSchemaPtr source = run.rig().Source();
  ASSERT_TRUE(run.Write(Inserts(source, 0, 10), 1, *source).has_value());
  run.Commit(run.Seal(1));
  ASSERT_TRUE(run.Write(Inserts(source, 10, 20), 2, *source).has_value());
  (void)run.Seal(2);  // never recorded
  EXPECT_EQ(run.DataFiles(), 2u);
  run.Start();
  ASSERT_TRUE(run.sink().CleanUp({"pipe", "lake", run.evolved().path}, {}).has_value());
  EXPECT_EQ(run.DataFiles(), 1u);
  ASSERT_TRUE(run.Write(Inserts(source, 10, 20), 2, *source).has_value());
  run.Commit(run.Seal(2));
  EXPECT_EQ(run.rig().Read().size(), 20u);
}

TEST(PaimonSinkTest, ACrashAfterTheSealCommitsOnce) {
  auto store = std::make_shared<MemoryStore>();
  SinkRun run(store, Orders({}, /*has_key=*/false));
  const TableSchemaPtr source = run.rig().Source();
  ASSERT_TRUE(run.Write(Inserts(source, 0, 10), 1, *source).has_value());
  const CommitToken token = run.Seal(1);
  run.Start();
  ASSERT_TRUE(
      run.sink().CleanUp({"pipe", "lake", run.evolved().path}, std::span(&token, 1)).has_value());
  ASSERT_EQ(*run.sink().LookUp(token), CommitState::kPrepared);
  run.Commit(token);
  ASSERT_EQ(*run.sink().LookUp(token), CommitState::kCommitted);
  run.Start();
  run.Commit(token);  // the answer was lost
  EXPECT_EQ(run.rig().Read().size(), 10u);
  ASSERT_TRUE(run.sink().Abort(std::span(&token, 1)).has_value());
  EXPECT_EQ(run.rig().Read().size(), 10u) << "a committed token must not lose its files";
}

TEST(PaimonSinkTest, AnAbortedTokenLeavesNothing) {
  auto store = std::make_shared<MemoryStore>();
  SinkRun run(store, Orders({{"bucket", "-1"}}));
  const TableSchemaPtr source = run.rig().Source();
  ASSERT_TRUE(run.Write(Inserts(source, 0, 10), 1, *source).has_value());
  const CommitToken token = run.Seal(1);
  ASSERT_TRUE(run.sink().Abort(std::span(&token, 1)).has_value());
  EXPECT_EQ(run.DataFiles(), 0u);
  EXPECT_EQ(run.rig().Read().size(), 0u);
}

// However fast the commits come, readers never have to merge more than the table allows.
TEST(PaimonSinkTest, NoBucketHasMoreSortedRunsThanTheStopTrigger) {
  for (const auto& [stop, most] : {std::pair("2", 3U), std::pair("5", 5U), std::pair("", 6U)}) {
    std::map<std::string, std::string> options = {{"bucket", "1"},
                                                  {"num-sorted-run.compaction-trigger", "3"}};
    if (*stop != '\0') options["num-sorted-run.stop-trigger"] = stop;
    SinkRun run(std::make_shared<MemoryStore>(), Orders(options), Compaction::kBackground);
    const TableSchemaPtr source = run.rig().Source();
    for (CutId cut = 1; cut <= 40; ++cut) {
      ASSERT_TRUE(run.Write(Inserts(source, 0, 200), cut, *source).has_value());
      run.Commit(run.Seal(cut));
      const PaimonTable table = run.rig().table();
      const auto runs = SortedRuns(*table.LiveFiles(**table.LatestSnapshot()));
      ASSERT_LE(runs.size(), most) << "stop trigger " << stop << ", cut " << cut;
    }
    EXPECT_EQ(run.rig().Read().size(), 200u);
  }
}

TEST(PaimonSinkTest, ANullKeyIsRefusedWithTheTablesName) {
  SinkRun run(std::make_shared<MemoryStore>(), Orders({{"bucket", "2"}}));
  auto source = std::make_shared<TableSchema>(*run.rig().Source());
  source->columns[0].type = LogicalType::BigInt();
  ChangeBatchBuilder builder(source, 0);
  builder.BeginRow(Op::kInsert, Point{0, 0, 1, 0, 0}, 0);
  builder.after(0).AppendNull();
  builder.after(1).AppendBytes("x");
  builder.EndRow();
  const auto written = run.Write(builder.Seal(), 1, *source);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind(), ErrorKind::kInvalidInput);
}

}  // namespace
}  // namespace driftless::paimon
