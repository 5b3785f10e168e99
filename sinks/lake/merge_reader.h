#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sinks/lake/key_order.h"
#include "sinks/lake/parquet_rows.h"

namespace driftless::lake {

// A row that a merge gives out; `rows` keeps its values alive.
struct MergedRow {
  FileRowsPtr rows;
  uint32_t row = 0;
  int64_t sequence = 0;
  RowKind kind = RowKind::kInsert;
  std::span<const ColumnView> columns() const { return rows->values->after(); }
};

enum class Retractions : uint8_t {
  kDrop,  // a key whose last row retracts does not exist
  kKeep,
};

// Merges sources that are each sorted by key with unique keys: of every key the row with the
// highest sequence number, in key order (merge on read, "deduplicate"). One thread.
class MergeReader {
 public:
  MergeReader(KeyOrder order, std::vector<std::unique_ptr<RowSource>> sources,
              Retractions retractions);
  ~MergeReader();

  // False at the end.
  Result<bool> Next(MergedRow* out);

 private:
  struct Cursor;
  Result<bool> Advance(Cursor* cursor);
  bool Before(const Cursor& a, const Cursor& b) const;
  bool SameKey(const Cursor& a, const Cursor& b) const;
  void SiftUp();
  void SiftDown();

  KeyOrder order_;
  Retractions retractions_;
  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<Cursor*> heap_;  // the smallest key in front
  bool started_ = false;
};

// Files one after the other, each opened when its turn comes: however many they are, one is open.
class ChainedRows : public RowSource {
 public:
  using Open = std::function<Result<std::unique_ptr<RowSource>>()>;
  explicit ChainedRows(std::vector<Open> files) : files_(std::move(files)) {}
  Result<FileRowsPtr> Next() override;

 private:
  std::vector<Open> files_;
  size_t next_ = 0;
  std::unique_ptr<RowSource> open_;
};

// The rows of one source in their order: tables without key.
class PlainReader {
 public:
  explicit PlainReader(std::unique_ptr<RowSource> source) : source_(std::move(source)) {}
  Result<bool> Next(MergedRow* out);

 private:
  std::unique_ptr<RowSource> source_;
  FileRowsPtr rows_;
  uint32_t row_ = 0;
};

}  // namespace driftless::lake
