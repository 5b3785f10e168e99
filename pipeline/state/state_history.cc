#include <utility>

#include "pipeline/state/format.h"
#include "pipeline/state/state_store.h"

// The schema history in the state database.
namespace driftless {
namespace {

constexpr std::string_view kColumns =
    "SELECT source_table, stream, point, position, time_ms, schema, statement FROM history ";

}  // namespace

Result<void> StateStore::Put(const SchemaVersion& version) {
  const std::lock_guard<std::mutex> lock(mutex_);
  // A statement that is read again after a restart finds its entry: the first one stays.
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_.Prepare("INSERT OR IGNORE INTO history VALUES (?, ?, ?, ?, ?, ?, ?)"));
  put.Bind(EncodeTablePath(version.table))
      .Bind(version.point.stream)
      .Bind(PointSortKey(version.point))
      .Bind(version.position)
      .Bind(version.time_ms);
  if (version.schema == nullptr) {
    put.BindNull();
  } else {
    put.Bind(Serialize(*version.schema));
  }
  return put.Bind(version.statement).Run();
}

Result<std::vector<SchemaVersion>> StateStore::Versions(SqliteStatement rows) const {
  std::vector<SchemaVersion> versions;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return versions;
    SchemaVersion version;
    DRIFTLESS_ASSIGN_OR_RETURN(version.table, DecodeTablePath(rows.Text(0)));
    DRIFTLESS_ASSIGN_OR_RETURN(version.point,
                               ParsePointSortKey(rows.Text(2), static_cast<StreamId>(rows.Int(1))));
    version.position = rows.Text(3);
    version.time_ms = rows.Int(4);
    if (!rows.IsNull(5)) {
      DRIFTLESS_ASSIGN_OR_RETURN(TableSchema schema, ParseTableSchema(rows.Text(5)));
      version.schema = std::make_shared<const TableSchema>(std::move(schema));
    }
    version.statement = rows.Text(6);
    versions.push_back(std::move(version));
  }
}

Result<std::vector<SchemaVersion>> StateStore::At(const Point& point) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare(std::string(kColumns) +
                        "AS h WHERE stream = ?1 AND point = (SELECT MAX(point) FROM history "
                        "WHERE source_table = h.source_table AND stream = ?1 AND point <= ?2) "
                        "ORDER BY source_table"));
  rows.Bind(point.stream).Bind(PointSortKey(point));
  return Versions(std::move(rows));
}

Result<std::optional<SchemaVersion>> StateStore::Find(const TablePath& table,
                                                      const Point& point) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare(std::string(kColumns) +
                        "WHERE source_table = ? AND stream = ? AND point = ?"));
  rows.Bind(EncodeTablePath(table)).Bind(point.stream).Bind(PointSortKey(point));
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<SchemaVersion> found, Versions(std::move(rows)));
  if (found.empty()) return std::optional<SchemaVersion>();
  return std::optional<SchemaVersion>(std::move(found.front()));
}

Result<std::vector<SchemaVersion>> StateStore::All(const std::optional<TablePath>& table) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const std::string order = " ORDER BY source_table, stream, point";
  if (!table.has_value()) {
    DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement rows,
                               database_.Prepare(std::string(kColumns) + order));
    return Versions(std::move(rows));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare(std::string(kColumns) + "WHERE source_table = ?" + order));
  rows.Bind(EncodeTablePath(*table));
  return Versions(std::move(rows));
}

}  // namespace driftless
