#include <utility>

#include "pipeline/state/format.h"
#include "pipeline/state/state_store.h"

// The transforms of tables in the state database.
namespace driftless {

Result<void> StateStore::PutTransform(const TransformVersion& version) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_.Prepare("INSERT OR REPLACE INTO transforms VALUES (?, ?, ?, ?, ?)"));
  return put.Bind(EncodeTablePath(version.table))
      .Bind(version.since.stream)
      .Bind(version.is_first ? std::string() : PointSortKey(version.since))
      .Bind(version.rules)
      .Bind(version.binding)
      .Run();
}

Result<std::vector<TransformVersion>> StateStore::Transforms(StreamId stream) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare("SELECT source_table, since, rules, binding FROM transforms "
                        "WHERE stream = ? ORDER BY source_table, since"));
  rows.Bind(stream);
  std::vector<TransformVersion> versions;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return versions;
    TransformVersion version;
    DRIFTLESS_ASSIGN_OR_RETURN(version.table, DecodeTablePath(rows.Text(0)));
    version.since.stream = stream;
    version.is_first = rows.Text(1).empty();
    if (!version.is_first) {
      DRIFTLESS_ASSIGN_OR_RETURN(version.since, ParsePointSortKey(rows.Text(1), stream));
    }
    version.rules = rows.Text(2);
    version.binding = rows.Text(3);
    versions.push_back(std::move(version));
  }
}

}  // namespace driftless
