#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/log_position.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/snapshot_values.h"
#include "pipeline/sources/mysql/source_options.h"
#include "schema/events/change_batch_builder.h"

namespace driftless::mysql {

// Reads one table in chunks of its primary key: each chunk in a view of its own, begun behind the
// last row of the one before, in the server's own order. A table without a key, or with a key whose
// order is not the order of its text, is one chunk.
class ChunkReader {
 public:
  // Errors: kUnsupported for a column that a snapshot cannot read.
  static Result<ChunkReader> Make(const SourceOptions& options, const ServerFacts& facts,
                                  TableSchemaPtr schema);

  struct Chunk {
    // The table is not as `schema` says (any more): nothing was read.
    bool schema_differs = false;
    bool is_last = false;
    int64_t rows = 0;
    std::vector<std::string> last_key;  // of a chunk that is not the last
    // Without a key: where the log stood at the view.
    std::optional<LogPosition> seen;
  };
  // Gives every row to `row`, whose text is in select order; false stops the reading. Errors: those
  // of the connection; kInvalidInput for a value that does not fit its column.
  using Send = std::function<bool()>;
  Result<Chunk> Read(Connection* connection, const std::vector<std::string>& after,
                     const Point& first, ChangeBatchBuilder* builder, const Send& send);

  bool is_split() const { return !key_.empty(); }
  const TableSchemaPtr& schema() const { return schema_; }

 private:
  ChunkReader() = default;
  Result<void> BeginView(Connection* connection, Chunk* chunk);
  Result<bool> IsSame(Connection* connection) const;
  std::string SelectText(Connection* connection, const std::vector<std::string>& after) const;
  Result<void> AppendRow(const Connection::RawRow& row, const Point& point,
                         ChangeBatchBuilder* builder);

  const SourceOptions* options_ = nullptr;
  const ServerFacts* facts_ = nullptr;
  TableSchemaPtr schema_;
  std::vector<SnapshotColumn> columns_;
  std::vector<size_t> key_;  // indexes of the columns by which the table is split
};

}  // namespace driftless::mysql
