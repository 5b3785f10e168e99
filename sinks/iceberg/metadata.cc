#include "sinks/iceberg/metadata.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <random>

#include "schema/base/check.h"

namespace driftless::iceberg {
namespace {

uint64_t Random64() {
  thread_local std::mt19937_64 engine{(static_cast<uint64_t>(std::random_device{}()) << 32) |
                                      std::random_device{}()};
  return engine();
}

template <typename T, typename Id>
const T* FindById(const std::vector<T>& items, Id id) {
  const auto found = std::ranges::find(items, id, &T::id);
  return found == items.end() ? nullptr : &*found;
}

// The same columns under the same ids.
bool SameFields(const Schema& a, const Schema& b) {
  return a.fields == b.fields && a.identifier_ids == b.identifier_ids;
}

void AdoptSchema(Schema schema, int32_t last_column_id, TableMetadata* metadata) {
  for (const Schema& known : metadata->schemas) {
    if (!SameFields(known, schema)) continue;
    metadata->current_schema_id = known.id;
    return;
  }
  int32_t highest = -1;
  for (const Schema& known : metadata->schemas) highest = std::max(highest, known.id);
  schema.id = highest + 1;
  metadata->current_schema_id = schema.id;
  metadata->last_column_id = std::max(metadata->last_column_id, last_column_id);
  metadata->schemas.push_back(std::move(schema));
}

void RemoveSnapshots(const std::vector<int64_t>& removed, TableMetadata* metadata) {
  const auto is_removed = [&](int64_t id) {
    return std::ranges::find(removed, id) != removed.end();
  };
  std::erase_if(metadata->snapshots, [&](const Snapshot& s) { return is_removed(s.id); });
  // History from before a removed snapshot is no history any more (specification, "Snapshot Log").
  auto& log = metadata->snapshot_log;
  const auto last = std::find_if(log.rbegin(), log.rend(),
                                 [&](const auto& entry) { return is_removed(entry.snapshot_id); });
  log.erase(log.begin(), last.base());
}

}  // namespace

const Field* Schema::FindId(int32_t field_id) const { return FindById(fields, field_id); }
const Field* Schema::FindName(std::string_view name) const {
  const auto found = std::ranges::find(fields, name, &Field::name);
  return found == fields.end() ? nullptr : &*found;
}

const Schema* TableMetadata::FindSchema(int32_t id) const { return FindById(schemas, id); }
const Schema& TableMetadata::schema() const {
  const Schema* found = FindSchema(current_schema_id);
  DRIFTLESS_CHECK(found != nullptr);  // ParseMetadata has looked
  return *found;
}
const PartitionSpec* TableMetadata::FindSpec(int32_t id) const { return FindById(specs, id); }
const Snapshot* TableMetadata::FindSnapshot(int64_t id) const { return FindById(snapshots, id); }

std::string TableMetadata::Property(std::string_view key, std::string_view default_value) const {
  const auto found = properties.find(std::string(key));
  return found == properties.end() ? std::string(default_value) : found->second;
}

TableMetadata ApplyChange(const TableMetadata& base, const std::string& base_location,
                          const MetadataChange& change, int64_t now_ms) {
  TableMetadata next = base;
  // Readers refuse logs that run backwards.
  next.last_updated_ms = std::max(now_ms, base.last_updated_ms);
  if (change.schema) AdoptSchema(*change.schema, change.last_column_id, &next);
  for (const auto& [key, value] : change.set_properties) next.properties[key] = value;
  for (const std::string& key : change.removed_properties) next.properties.erase(key);
  for (const Snapshot& snapshot : change.snapshots) {
    next.snapshots.push_back(snapshot);
    next.last_sequence_number = std::max(next.last_sequence_number, snapshot.sequence_number);
    next.last_updated_ms = std::max(next.last_updated_ms, snapshot.timestamp_ms);
    next.current_snapshot_id = snapshot.id;
    if (snapshot.first_row_id && snapshot.added_rows) {
      next.next_row_id = std::max(next.next_row_id, *snapshot.first_row_id + *snapshot.added_rows);
    }
  }
  if (!change.snapshots.empty()) {
    // Only the last one was ever current: the others appear at the same moment.
    next.snapshot_log.push_back({change.snapshots.back().id, change.snapshots.back().timestamp_ms});
  }
  if (!change.removed_snapshots.empty()) RemoveSnapshots(change.removed_snapshots, &next);
  if (!base_location.empty()) {
    next.metadata_log.push_back({base_location, base.last_updated_ms});
    size_t keep = 100;
    const std::string text = next.Property("write.metadata.previous-versions-max", "100");
    std::from_chars(text.data(), text.data() + text.size(), keep);
    keep = std::max<size_t>(keep, 1);
    if (next.metadata_log.size() > keep) {
      next.metadata_log.erase(next.metadata_log.begin(),
                              next.metadata_log.end() - static_cast<ptrdiff_t>(keep));
    }
  }
  return next;
}

SinkTable ToSinkTable(const TableMetadata& metadata, const Schema& schema, const TablePath& path) {
  SinkTable table;
  table.path = path;
  for (const Field& field : schema.fields) {
    SinkColumn column;
    column.name = field.name;
    column.type = field.type;
    column.native_type = field.type_json;
    std::erase(column.native_type, '"');
    column.comment = field.doc;
    column.native_id = field.id;
    table.columns.push_back(std::move(column));
  }
  for (const int32_t id : schema.identifier_ids) {
    if (const Field* field = schema.FindId(id)) table.primary_key.push_back(field->name);
  }
  if (const PartitionSpec* spec = metadata.FindSpec(metadata.default_spec_id)) {
    for (const PartitionField& part : spec->fields) {
      const Field* source = schema.FindId(part.source_id);
      if (source != nullptr && part.transform == "identity") {
        table.partition_keys.push_back(source->name);
      }
    }
  }
  table.options = metadata.properties;
  if (const auto mark = table.options.find(std::string(kChangeProperty));
      mark != table.options.end()) {
    table.change_ids = {mark->second};
  }
  std::erase_if(table.options, [](const auto& option) {
    return option.first.starts_with("driftless.") || option.first == "comment";
  });
  if (metadata.format_version >= 3) {
    table.options["format-version"] = std::to_string(metadata.format_version);
  }
  table.comment = metadata.Property("comment", "");
  table.version = "schema-" + std::to_string(schema.id);
  return table;
}

int64_t RandomSnapshotId() { return static_cast<int64_t>(Random64() & 0x7fffffffffffffffULL) | 1; }

std::string RandomUuid() {
  const uint64_t high = (Random64() & ~0xf000ULL) | 0x4000ULL;
  const uint64_t low = (Random64() & 0x3fffffffffffffffULL) | 0x8000000000000000ULL;
  char text[40];
  std::snprintf(text, sizeof text, "%08x-%04x-%04x-%04x-%012llx", static_cast<unsigned>(high >> 32),
                static_cast<unsigned>((high >> 16) & 0xffff), static_cast<unsigned>(high & 0xffff),
                static_cast<unsigned>(low >> 48),
                static_cast<unsigned long long>(low & 0xffffffffffffULL));
  return text;
}

}  // namespace driftless::iceberg
