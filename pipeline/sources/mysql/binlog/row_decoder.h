#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/mysql/binlog/binlog_event.h"
#include "pipeline/sources/mysql/binlog/table_map.h"
#include "schema/events/change_batch_builder.h"

namespace driftless::mysql {

// A rows event, taken apart but not decoded: views into its bytes or into the buffer.
struct RowsEvent {
  Op op = Op::kInsert;
  bool is_partial = false;  // PARTIAL_UPDATE_ROWS
  uint64_t table_id = 0;
  bool ends_statement = false;  // table maps before it are void behind it
  uint32_t column_count = 0;
  std::string_view before_columns;  // bitmaps of the columns that are in the images
  std::string_view after_columns;
  std::string_view rows;
  size_t rows_offset = 0;  // of `rows` in the event, for messages; 0 where it was compressed
};

// Any rows event of both servers; compressed rows are put into `buffer`. Errors: kInvalidInput.
Result<RowsEvent> ParseRows(const BinlogEvent& event, std::string* buffer);
// Which table a rows event is about, without a look at anything else.
Result<uint64_t> RowsTableId(const BinlogEvent& event);

// How row images of one table map are read into the columns of one schema version: made once for
// both, then shared by all their rows events. One thread.
class RowPlan {
 public:
  // Errors: kConflict where map and schema do not fit (see DifferenceOf), kUnsupported for a
  // character set or type that cannot be read.
  static Result<std::unique_ptr<RowPlan>> Make(const TableMap& map, TableSchemaPtr schema);
  ~RowPlan();
  RowPlan(const RowPlan&) = delete;
  RowPlan& operator=(const RowPlan&) = delete;

  const TableSchemaPtr& schema() const { return schema_; }

 private:
  friend class RowDecoder;
  struct Impl;
  RowPlan();
  TableSchemaPtr schema_;
  std::unique_ptr<Impl> impl_;
};

// Which rows get a before image. Deletes always have what the log has of the row.
enum class BeforeImages : uint8_t {
  kWhereKeyChanges,  // updates that change the primary key, all updates of tables without one
  kAll,
};

// Decodes the rows of one event after the other straight into the columns of a batch.
//   decoder.Begin(plan, event);
//   do { more = decoder.Append(point, ...); if (builder->IsFull()) send; } while (more);
// Absent values of an after image are taken from the before image where it has them (an update
// that does not name a column leaves it as it was); what neither has stays absent.
class RowDecoder {
 public:
  explicit RowDecoder(BeforeImages before_images = BeforeImages::kWhereKeyChanges);
  ~RowDecoder();

  // `first_row` numbers the event's rows: 0, but inside of a compressed transaction, where all
  // events end at the same position. Both arguments must live until the event's last row.
  Result<void> Begin(RowPlan* plan, const RowsEvent& event, uint32_t first_row = 0);
  // Appends rows until the event ends (false) or the builder is full (true). `point` is the event's
  // end; its `row` is filled in. Errors: kInvalidInput with the row's number, the column and the
  // offset in the event; rows before the bad one are in the builder, nothing is of it.
  Result<bool> Append(const Point& point, int64_t commit_time_ms, std::string_view transaction,
                      ChangeBatchBuilder* builder);
  // The number behind the last row that was appended.
  uint32_t next_row() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless::mysql
