#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/events/change_batch.h"
#include "schema/types/decimal.h"

namespace driftless::mysql {

// The values of a chunk's last key as the server prints them; empty: no bound.
using ChunkBound = std::vector<std::string>;

// Two texts of one column, to be compared as the server orders them.
struct TextPair {
  std::string charset;
  std::string collation;
  std::string left;
  std::string right;
  friend auto operator<=>(const TextPair&, const TextPair&) = default;
};

// What a comparison of texts is known to be: -1, 0 or 1, or nothing yet.
class KnownTextOrder {
 public:
  virtual ~KnownTextOrder() = default;
  virtual std::optional<int> Find(const TextPair& pair) = 0;
};

// By which columns a table is split into chunks: the longest beginning of its primary key whose
// order can be told from the values that the log has, or the column that the user names. Keys of
// one chunk lie behind the bound before it and at or before its own, in the server's order: a chunk
// never divides rows of one key. Numbers, bytes and times are compared here; texts only the server
// can compare (collations). Pure.
class ChunkKey {
 public:
  // `chosen`: a column's name, or empty. Errors: kInvalidConfig where it is no column, or not of
  // the primary key, or has no such order.
  static Result<ChunkKey> Make(const TableSchema& schema, const std::string& chosen);

  // The table is one chunk.
  bool empty() const { return columns_.empty(); }
  // Indexes into the schema's columns.
  const std::vector<size_t>& columns() const { return columns_; }
  // What bounds mean: equal where bounds of one key are bounds of the other, in the same order.
  const std::string& order() const { return order_; }

  // A condition over the columns, empty where neither bound is given: behind `after` and at or
  // before `through`.
  std::string Condition(const ChunkBound& after, const ChunkBound& through) const;
  // "SELECT key ... LIMIT rows - 1, 1": the bound of the next chunk, no row where it is the last.
  std::string BoundQuery(const ChunkBound& after, int64_t rows) const;

  // Whether the key of a row lies behind the bound: kUnknown where a text must be compared first
  // (then `known` was asked for it), kEither where the log's value does not tell.
  enum class Side : uint8_t { kWithin, kBehind, kUnknown, kEither };
  Side Compare(std::span<const ColumnView> image, int64_t row, const ChunkBound& bound,
               KnownTextOrder* known) const;

 private:
  struct Order {
    enum class Kind : uint8_t { kNumber, kBytes, kTime, kText } kind = Kind::kNumber;
    std::string charset;
    std::string collation;
  };
  static std::optional<Order> OrderOf(const Column& column);
  std::string Literal(size_t at, const std::string& text) const;
  std::string Name(size_t at) const;
  std::optional<Int128> Number(size_t at, std::string_view text) const;
  // -1, 0, 1.
  std::optional<int> CompareColumn(size_t at, const ColumnView& view, int64_t row,
                                   const std::string& bound, KnownTextOrder* known,
                                   bool* either) const;

  std::string table_;  // quoted
  std::vector<Column> schema_columns_;
  std::vector<size_t> columns_;
  std::vector<Order> orders_;
  std::string order_;
};

}  // namespace driftless::mysql
