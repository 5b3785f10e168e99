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
  uint32_t source = 0;  // which of a merge's sources; its rows come batch by batch
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
  // The key's prefix decides nearly always, without a look at the cursor.
  struct Head {
    uint64_t prefix = 0;
    Cursor* cursor = nullptr;
  };

  Result<bool> Advance(Cursor* cursor);
  Result<void> Start();
  Result<void> AdvanceFront();
  bool Before(const Head& a, const Head& b) const;
  void SiftDown(size_t at);

  KeyOrder order_;
  Retractions retractions_;
  std::vector<std::unique_ptr<Cursor>> cursors_;
  std::vector<Head> heap_;  // the smallest key in front, of a key the newest row
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
