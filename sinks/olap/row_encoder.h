#pragma once

#include <string>
#include <vector>

#include "sinks/api/projected_batch.h"

namespace driftless::olap {

// The hidden field that says whether a row is written or deleted.
struct OperationField {
  std::string_view upsert;      // `"__op":0`
  std::string_view remove;      // `"__op":1`
  bool carries_deletes = true;  // false: deletes are left out
};

// Writes the rows of a batch as JSON objects for a load, straight from the columns. Values that the
// server would cut, turn to NULL or refuse (texts longer than the column in bytes, NaN, years above
// 9999) are found here and follow `on-cast-failure`. One thread.
class RowEncoder {
 public:
  // `separator` stands between two rows of a body: "," or a line end.
  RowEncoder(const EvolvedSchema& table, OperationField operation, char separator);

  // Appends the rows to `body` and adds their number to `rows`. Errors: kInvalidInput for a value
  // that does not fit, kUnsupported for a delete from a table without a key; `body` is unchanged.
  Result<void> Append(const ProjectedBatch& batch, const Projection& projection,
                      RowReporter* reporter, std::string* body, int64_t* rows);

 private:
  enum class Check : uint8_t { kNone, kBytes, kFinite, kDate, kMoment };
  struct Column {
    std::string key;  // `"name":`
    std::string name;
    LogicalType type;
    Check check = Check::kNone;
    int64_t bytes_max = 0;
    bool is_key = false;
  };
  struct Misfit {
    uint32_t row;
    uint32_t column;
    friend auto operator<=>(const Misfit&, const Misfit&) = default;
  };

  Result<void> FindMisfits(const ProjectedBatch& batch, const Projection& projection,
                           RowReporter* reporter);
  bool Fits(const Column& column, const ColumnView& values, int64_t row) const;
  Error MisfitError(const ProjectedBatch& batch, const Column& column, const ColumnView& values,
                    uint32_t row) const;
  void AppendRow(std::span<const ColumnView> columns, uint32_t row, bool keys_only,
                 std::string* body) const;

  const TablePath path_;
  const OperationField operation_;
  const char separator_;
  const bool has_key_;
  std::vector<Column> columns_;
  std::vector<Misfit> nulled_;      // of the batch at hand, in order
  std::vector<uint32_t> left_out_;  // rows that are dead letters, in order
};

}  // namespace driftless::olap
