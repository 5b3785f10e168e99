#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/chunk_key.h"
#include "pipeline/sources/mysql/snapshot_progress.h"
#include "pipeline/sources/source.h"

namespace driftless::mysql {

// Compares texts in their collations.
class TextOrder {
 public:
  virtual ~TextOrder() = default;
  // -1, 0 or 1 for each.
  virtual Result<std::vector<int>> Compare(std::span<const TextPair> pairs) = 0;
};

// Stands between the log and its output while a snapshot is on its way, and leaves out what the
// snapshot has or will have: a row of the log goes on where its key lies in a chunk whose view did
// not see it. An update that moves a row between chunks goes on as the halves that are wanted.
// Statements change what is left to read: a table that is emptied or made anew is whole from there
// on. Where a table is read for some sinks alone, the others get all rows of the log. One thread.
class SnapshotMerge : public SourceOutput {
 public:
  // `chosen`: the column that the user names for a table's chunks, or empty. `persist` makes the
  // changed progress part of the snapshot's stream, before anything behind the statement is sent;
  // false: the pipeline stops.
  struct Hooks {
    std::function<std::string(const TableSchema&)> chosen;
    std::function<bool()> persist;
  };
  SnapshotMerge(SourceOutput* output, TextOrder* order, Hooks hooks)
      : output_(*output), order_(*order), hooks_(std::move(hooks)) {}

  SnapshotProgress& progress() { return progress_; }
  // False: no row of the table at this place goes on, so that none need be decoded.
  bool Wants(const TablePath& table, const LogPlace& place) const;
  // Whether the table waits for a decision about a statement: nothing more of it is sent.
  bool IsParked(const TablePath& table) const { return parked_.contains(table); }
  // What a call that returned false failed at, if it did not just stop.
  const std::optional<Error>& failure() const { return failure_; }

  bool Changes(ChangeBatchPtr batch) override;
  bool Schema(StatementChangePtr change, std::string position) override;
  bool Progress(const Point& point, std::string resume, int64_t event_time_ms) override;
  bool DeadLetter(const Point& point, std::string position, std::string_view record,
                  const Error& error) override;
  Result<bool> Park(const UnclearStatement& statement) override;
  bool Unseen(const UnseenChange& change) override { return output_.Unseen(change); }
  void SendTo(SinkChoice choice) override { output_.SendTo(std::move(choice)); }
  bool stopping() const override { return output_.stopping(); }

 private:
  enum class Keep : uint8_t { kNo, kYes, kUnknown };
  class Texts;
  struct Filter {
    const ChunkKey& key;
    const TableProgress& table;
    Texts& texts;
  };

  Result<const ChunkKey*> KeyOf(const TableSchemaPtr& schema);
  Result<ChangeBatchPtr> Filtered(const ChangeBatch& batch, const TableProgress& table);
  static Keep Keeps(const Filter& filter, std::span<const ColumnView> image, int64_t row,
                    const LogPlace& place);
  bool Follow(const StatementChange& change);
  void FollowRename(const TablePath& from, const TableSchema& after);
  bool Send(SinkChoice choice, ChangeBatchPtr batch);
  bool Alter(const TablePath& path, const TableSchemaPtr& after);
  bool Fail(Error error);

  SourceOutput& output_;
  TextOrder& order_;
  const Hooks hooks_;
  SnapshotProgress progress_;
  struct KnownKey {
    TableSchemaPtr schema;
    ChunkKey key;
  };
  std::map<TablePath, KnownKey> keys_;
  std::set<TablePath> parked_;
  std::optional<Error> failure_;
};

}  // namespace driftless::mysql
