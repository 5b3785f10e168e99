#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/chunk_key.h"
#include "pipeline/sources/mysql/connection.h"
#include "pipeline/sources/mysql/snapshot_values.h"
#include "pipeline/sources/mysql/source_options.h"
#include "schema/ddl/mysql/dialect.h"
#include "schema/events/change_batch_builder.h"

namespace driftless::mysql {

// Reads chunks of one table in one view (an open transaction). One thread.
class ChunkReader {
 public:
  // All must live as long as this. `key`: by which columns the table is split.
  ChunkReader(Connection* connection, TableSchemaPtr schema, const ChunkKey* key);

  // Whether the table is in the view, and as the schema says: then no statement can change it from
  // here to the view's end. `kViewIsGone`: the server ended the view, to end a deadlock with a
  // statement. Errors: those of the connection.
  enum class Pinned : uint8_t { kSame, kDiffers, kViewIsGone };
  Result<Pinned> Pin(const ServerSettings& settings, bool with_comments);
  // The bound of the chunk of at most `rows` rows behind `after`, or more where one key has more;
  // empty: it reaches to the table's end.
  Result<ChunkBound> NextBound(const ChunkBound& after, int64_t rows);

  // Gives a sealed batch; false stops the reading.
  using Send = std::function<bool(ChangeBatchPtr)>;
  // Where a row's number at its point is used up: a new point behind it.
  using NextPoint = std::function<Point()>;
  // Sends the chunk's rows; returns their number. Errors: those of the connection; kInvalidInput
  // for a value that does not fit its column; kCancelled.
  Result<int64_t> Read(const ChunkBound& after, const ChunkBound& through, const NextPoint& point,
                       StreamId stream, const Send& send);

 private:
  Result<void> AppendRow(const Connection::RawRow& row, const Point& point,
                         ChangeBatchBuilder* builder);

  Connection& connection_;
  const TableSchemaPtr schema_;
  const ChunkKey& key_;
  std::vector<SnapshotColumn> columns_;
};

}  // namespace driftless::mysql
