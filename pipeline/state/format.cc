#include "pipeline/state/format.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace driftless {

const char kCreateTables[] = R"sql(
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS streams (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS sinks (
  name TEXT PRIMARY KEY, type TEXT NOT NULL, identity TEXT NOT NULL,
  position TEXT NOT NULL DEFAULT '') WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS table_positions (
  sink TEXT NOT NULL, sink_table TEXT NOT NULL, source_table TEXT NOT NULL,
  position TEXT NOT NULL, PRIMARY KEY (sink, sink_table, source_table)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cuts (
  cut INTEGER PRIMARY KEY, sink TEXT NOT NULL, sink_table TEXT, moves TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS tokens (
  cut INTEGER NOT NULL, sink_table TEXT NOT NULL, attempt INTEGER NOT NULL,
  payload BLOB NOT NULL, PRIMARY KEY (cut, sink_table)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS table_states (
  sink TEXT NOT NULL, sink_table TEXT NOT NULL, state TEXT NOT NULL,
  cut INTEGER NOT NULL DEFAULT 0, cut_committed INTEGER NOT NULL DEFAULT 0,
  source_table TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (sink, sink_table)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS history (
  source_table TEXT NOT NULL, stream INTEGER NOT NULL, point TEXT NOT NULL,
  position TEXT NOT NULL, time_ms INTEGER NOT NULL, schema TEXT, statement TEXT NOT NULL,
  PRIMARY KEY (source_table, stream, point)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS audit (
  seq INTEGER PRIMARY KEY, id INTEGER NOT NULL, time_ms INTEGER NOT NULL, phase TEXT NOT NULL,
  statement TEXT NOT NULL, source_table TEXT NOT NULL, stream INTEGER NOT NULL,
  point TEXT NOT NULL, position TEXT NOT NULL, part INTEGER NOT NULL, event TEXT NOT NULL,
  detail TEXT NOT NULL, sink TEXT NOT NULL, sink_table TEXT NOT NULL, sink_type TEXT NOT NULL,
  behavior TEXT NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, rule TEXT NOT NULL,
  cell TEXT NOT NULL, rewrites TEXT NOT NULL, rows TEXT NOT NULL,
  rows_may_stop INTEGER NOT NULL, never INTEGER NOT NULL, actions TEXT NOT NULL,
  result TEXT NOT NULL, message TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS audit_by_id ON audit (id);
CREATE INDEX IF NOT EXISTS audit_held ON audit (id) WHERE result = 'held';
CREATE TABLE IF NOT EXISTS divergences (
  id INTEGER PRIMARY KEY, sink TEXT NOT NULL, sink_table TEXT NOT NULL,
  column_id INTEGER NOT NULL, column_name TEXT NOT NULL, event TEXT NOT NULL,
  text TEXT NOT NULL, cause INTEGER NOT NULL, since_ms INTEGER NOT NULL,
  rows INTEGER NOT NULL, ended_ms INTEGER, ended_by TEXT NOT NULL, old_rows INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS parked (
  sink TEXT NOT NULL, sink_table TEXT NOT NULL, source_table TEXT NOT NULL,
  position TEXT NOT NULL, PRIMARY KEY (sink, sink_table, source_table)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS segments (
  number INTEGER PRIMARY KEY, sink TEXT NOT NULL, sink_table TEXT NOT NULL,
  bytes INTEGER NOT NULL, items INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS requests (
  number INTEGER PRIMARY KEY, decision INTEGER NOT NULL, choice TEXT NOT NULL,
  content TEXT NOT NULL, requested_by TEXT NOT NULL, time_ms INTEGER NOT NULL,
  handled_ms INTEGER, answer TEXT NOT NULL DEFAULT '');
CREATE TABLE IF NOT EXISTS transforms (
  source_table TEXT NOT NULL, stream INTEGER NOT NULL, since TEXT NOT NULL,
  rules TEXT NOT NULL, binding TEXT NOT NULL,
  PRIMARY KEY (source_table, stream, since)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unclear (
  stream INTEGER NOT NULL, point TEXT NOT NULL, decision INTEGER NOT NULL,
  position TEXT NOT NULL, statement TEXT NOT NULL, tables TEXT NOT NULL, why TEXT NOT NULL,
  choice TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY (stream, point)) WITHOUT ROWID;
)sql";

std::string PointSortKey(const Point& point) {
  return fmt::format("{:016x}{:016x}{:08x}{:08x}", point.epoch, point.offset, point.row,
                     point.part);
}

Result<Point> ParsePointSortKey(std::string_view text, StreamId stream) {
  Point point;
  point.stream = stream;
  const auto take = [&](size_t at, size_t digits, auto* number) {
    const char* end = text.data() + at + digits;
    return std::from_chars(text.data() + at, end, *number, 16).ptr == end;
  };
  if (text.size() != 48 || !take(0, 16, &point.epoch) || !take(16, 16, &point.offset) ||
      !take(32, 8, &point.row) || !take(40, 8, &point.part)) {
    return MakeError(ErrorKind::kCorrupt,
                     fmt::format("\"{}\" in the state database is not a point", text))
        .Hint("The state folder is damaged; restore it or start from a new one.");
  }
  return point;
}

}  // namespace driftless
