#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/point.h"
#include "sinks/api/sink.h"

namespace driftless {

// Where one sink table stands apart from its sink: `base` where it stays behind (held, parked), and
// per source table that feeds it how far it is ahead. A batch of one source table says nothing
// about the others, so "ahead" is kept per feed: merged shards never hide each other's rows.
struct TablePosition {
  std::optional<CutPosition> base;  // none: the sink's own
  std::map<TablePath, CutPosition> feeds;

  bool empty() const { return !base.has_value() && feeds.empty(); }
  friend bool operator==(const TablePosition&, const TablePosition&) = default;
};

// What one sink has committed: one position that holds for every table, and the sparse list of the
// tables that differ.
struct SinkPositions {
  CutPosition base;
  std::map<TablePath, TablePosition> tables;

  // Whether this sink table has committed what stands at `point` of `source`.
  bool Covers(const TablePath& table, const TablePath& source, const Point& point) const;
  friend bool operator==(const SinkPositions&, const SinkPositions&) = default;
};

// What a cut does to the positions of its sink once it is committed. A checkpoint has `base`: every
// table moves there, except the `left_behind` ones (held, or inside a schema cut of their own), and
// the ones in `tables` get those entries. A schema cut has no base and moves the one in `tables`.
struct CutMove {
  std::optional<CutPosition> base;
  std::map<TablePath, TablePosition> tables;
  std::set<TablePath> left_behind;

  friend bool operator==(const CutMove&, const CutMove&) = default;
};

// Applies a committed cut. Tables in `voided` had a token that is gone: they keep their positions.
void Apply(const CutMove& move, const std::set<TablePath>& voided, SinkPositions* positions);

// A cut between transaction A and transaction B.
struct PendingCut {
  CutId cut = 0;
  std::optional<TablePath> table;  // of a schema cut
  CutMove move;
  std::vector<CommitToken> tokens;
};

// Text for the state database (FORMAT.md, "Moves"); the inverse gives an equal move.
std::string Serialize(const CutMove& move);
Result<CutMove> ParseCutMove(std::string_view text);

// Reversible names: dots and backslashes inside a part are escaped, an empty catalog is left out.
std::string EncodeTablePath(const TablePath& path);
Result<TablePath> DecodeTablePath(std::string_view text);

}  // namespace driftless
