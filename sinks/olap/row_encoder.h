#pragma once

#include <string>
#include <vector>

#include "sinks/api/projected_batch.h"
#include "sinks/olap/arrow_rows.h"
#include "sinks/olap/json_value.h"
#include "sinks/olap/load_parts.h"

namespace driftless::olap {

// The hidden field that says whether a row is written or deleted.
struct OperationField {
  std::string_view upsert;      // `"__op":0`
  std::string_view remove;      // `"__op":1`
  bool carries_deletes = true;  // false: deletes are left out
};

// Writes the rows of a batch as JSON objects, or as Arrow, for a load, straight from the columns.
// Values that the server would cut, turn to NULL or refuse (texts longer than the column in bytes,
// NaN, years above 9999) are found here and follow `on-cast-failure`. Values that the source did
// not send are left out of their row, which then goes into a part of its own. A delete carries its
// before image, as far as it is known: servers refuse every row without a value for a NOT NULL
// column, also one that deletes (StarRocks: OlapTableSink::_validate_data; Doris:
// FileScanner::_convert_to_output_block), and a sequence column of Doris must not go back. One
// thread.
class RowEncoder {
 public:
  // `separator` stands behind each row of a body: a line end, or ",", and the body then begins with
  // "[". `as_arrow`: whole rows travel as Arrow where no row of their batch lacks a value; then
  // ArrowProblem is none.
  RowEncoder(const EvolvedSchema& table, OperationField operation, char separator,
             bool as_arrow = false);

  // Appends the rows to `parts`. Errors: kInvalidInput for a value that does not fit or that a new
  // row lacks, kUnsupported for a delete from a table without a key; what was appended before an
  // error counts: its cut is given up.
  Result<void> Append(const ProjectedBatch& batch, const Projection& projection,
                      RowReporter* reporter, LoadParts* parts);

 private:
  enum class Check : uint8_t { kNone, kBytes, kFinite, kDate, kMoment };
  struct Column {
    Column(const EvolvedColumn& evolved, bool of_key);
    std::string key;  // `"name":`
    std::string name;
    LogicalType type;
    JsonValueWriter writer;
    Check check = Check::kNone;
    int64_t bytes_max = 0;
    bool is_key = false;
    std::string filler;  // stands in a delete for a NOT NULL column of which there is no value
  };
  // kDelete: the key, and what the before image has of the others.
  enum class Image : uint8_t { kAll, kSome, kKey, kDelete };

  Result<void> FindMisfits(const ProjectedBatch& batch, const Projection& projection,
                           RowReporter* reporter);
  bool Fits(const Column& column, const ColumnView& values, int64_t row) const;
  Error MisfitError(const ProjectedBatch& batch, const Column& column, const ColumnView& values,
                    uint32_t row) const;
  Result<void> RequireKey(const ProjectedBatch& batch) const;
  void FindAbsent(const ProjectedBatch& batch);
  // Fills carried_ for the row; false: everything is there.
  Result<bool> FindCarried(const ProjectedBatch& batch, const Projection& projection, uint32_t row);
  void AppendRow(std::span<const ColumnView> columns, uint32_t row, Image image, LoadBody* body);
  // Whether a delete leaves the column out, or writes the filler: nothing usable is known of it.
  bool IsUnknown(const Column& column, const ColumnView& values, uint32_t row) const;
  uint64_t KeyHash(std::span<const ColumnView> columns, uint32_t row);

  const TablePath path_;
  const OperationField operation_;
  const char separator_;
  const bool has_key_;
  std::vector<Column> columns_;
  size_t row_bytes_ = 0;               // room for a row without its texts
  std::vector<ValueAt> nulled_;        // of the batch at hand, in order
  std::vector<uint32_t> left_out_;     // rows that are dead letters, in order
  std::vector<uint32_t> may_lack_;     // columns of the batch that some rows have no value for
  std::vector<uint32_t> carried_;      // columns of the row at hand, where some are absent
  const std::vector<uint32_t> all_{};  // stands for every column
  LoadBody key_text_;
  std::unique_ptr<ArrowRows> arrow_;  // null: all rows travel as JSON
};

}  // namespace driftless::olap
