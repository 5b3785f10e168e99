#include "pipeline/sources/mysql/snapshot_merge.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "schema/events/change_batch_copy.h"

namespace driftless::mysql {

// What the server said of texts that one batch needs, and what must still be asked.
class SnapshotMerge::Texts : public KnownTextOrder {
 public:
  std::optional<int> Find(const TextPair& pair) override {
    if (pair.left == pair.right) return 0;
    const auto found = known_.find(pair);
    if (found != known_.end()) return found->second;
    missing_.push_back(pair);
    return std::nullopt;
  }
  Result<void> Ask(TextOrder* order) {
    std::sort(missing_.begin(), missing_.end());
    missing_.erase(std::unique(missing_.begin(), missing_.end()), missing_.end());
    DRIFTLESS_ASSIGN_OR_RETURN(const std::vector<int> signs, order->Compare(missing_));
    for (size_t i = 0; i < missing_.size(); ++i) known_[missing_[i]] = signs[i];
    missing_.clear();
    return {};
  }

 private:
  std::map<TextPair, int> known_;
  std::vector<TextPair> missing_;
};

namespace {

bool HasKey(const ChunkKey& key, std::span<const ColumnView> image, int64_t row) {
  return std::none_of(key.columns().begin(), key.columns().end(),
                      [&](size_t column) { return image[column].IsAbsent(row); });
}

}  // namespace

bool SnapshotMerge::Fail(Error error) {
  failure_ = std::move(error);
  return false;
}

Result<const ChunkKey*> SnapshotMerge::KeyOf(const TableSchemaPtr& schema) {
  auto found = keys_.find(schema->path);
  if (found == keys_.end() || found->second.schema != schema) {
    DRIFTLESS_ASSIGN_OR_RETURN(ChunkKey key, ChunkKey::Make(*schema, hooks_.chosen(*schema)));
    found = keys_.insert_or_assign(schema->path, KnownKey{schema, std::move(key)}).first;
  }
  return static_cast<const ChunkKey*>(&found->second.key);
}

bool SnapshotMerge::Wants(const TablePath& path, const LogPlace& place) const {
  const auto found = progress_.tables.find(path);
  if (found == progress_.tables.end() || found->second.repeats) return true;
  const TableProgress& table = found->second;
  if (!table.only_for.empty()) return true;
  if (!table.merged.empty()) return true;
  // Nothing is the log's own yet: what every view has seen, or will see, is none of its rows.
  return std::any_of(table.chunks.begin(), table.chunks.end(),
                     [&](const ReadChunk& chunk) { return chunk.seen < place; });
}

SnapshotMerge::Keep SnapshotMerge::Keeps(const Filter& filter, std::span<const ColumnView> image,
                                         int64_t row, const LogPlace& place) {
  const TableProgress& table = filter.table;
  const auto behind = [&](const ReadChunk& chunk) { return chunk.seen < place; };
  const auto within = [&](const ChunkBound& bound) {
    return bound.empty() ? ChunkKey::Side::kWithin
                         : filter.key.Compare(image, row, bound, &filter.texts);
  };
  // No view of those that are there saw it: only the chunks to come will.
  if (std::all_of(table.chunks.begin(), table.chunks.end(), behind)) {
    if (table.finished) return Keep::kYes;
    if (table.frontier().empty()) return Keep::kNo;
    const ChunkKey::Side side = within(table.frontier());
    if (side == ChunkKey::Side::kUnknown) return Keep::kUnknown;
    return side == ChunkKey::Side::kBehind ? Keep::kNo : Keep::kYes;
  }
  if (!table.merged.empty()) {
    const ChunkKey::Side side = within(table.merged);
    if (side == ChunkKey::Side::kUnknown) return Keep::kUnknown;
    if (side != ChunkKey::Side::kBehind) return Keep::kYes;
  }
  // Every view saw it.
  if (std::none_of(table.chunks.begin(), table.chunks.end(), behind)) return Keep::kNo;
  for (const ReadChunk& chunk : table.chunks) {
    const ChunkKey::Side side = within(chunk.last);
    if (side == ChunkKey::Side::kUnknown) return Keep::kUnknown;
    if (side == ChunkKey::Side::kEither) return Keep::kYes;
    if (side == ChunkKey::Side::kWithin) return behind(chunk) ? Keep::kYes : Keep::kNo;
  }
  return Keep::kNo;
}

Result<ChangeBatchPtr> SnapshotMerge::Filtered(const ChangeBatch& batch,
                                               const TableProgress& table) {
  DRIFTLESS_ASSIGN_OR_RETURN(const ChunkKey* key, KeyOf(batch.schema()));
  Texts texts;
  const Filter filter{*key, table, texts};
  struct Wanted {
    Keep before = Keep::kUnknown;
    Keep after = Keep::kUnknown;
  };
  std::vector<Wanted> wanted(static_cast<size_t>(batch.size()));
  for (bool all_known = false; !all_known;) {
    all_known = true;
    for (int64_t row = 0; row < batch.size(); ++row) {
      const Point point = batch.point(row);
      const LogPlace place{point.epoch, point.offset};
      const bool has_before = batch.HasBefore(row) && HasKey(*key, batch.before(), row);
      const bool is_delete = batch.ops()[row] == Op::kDelete;
      Wanted& row_wanted = wanted[static_cast<size_t>(row)];
      if (row_wanted.after == Keep::kUnknown) {
        row_wanted.after = Keeps(filter, is_delete ? batch.before() : batch.after(), row, place);
      }
      if (row_wanted.before == Keep::kUnknown) {
        // Without a before image the key is as it was.
        row_wanted.before =
            has_before && !is_delete ? Keeps(filter, batch.before(), row, place) : row_wanted.after;
      }
      all_known &= row_wanted.after != Keep::kUnknown && row_wanted.before != Keep::kUnknown;
    }
    if (!all_known) DRIFTLESS_TRY(texts.Ask(&order_));
  }
  ChangeBatchCopy copy(batch);
  for (int64_t row = 0; row < batch.size(); ++row) {
    const Wanted& row_wanted = wanted[static_cast<size_t>(row)];
    const bool before = row_wanted.before == Keep::kYes;
    const bool after = row_wanted.after == Keep::kYes;
    if (before && after) copy.Row(row);
    if (before && !after) copy.DeleteOfUpdate(row);
    if (!before && after) copy.InsertOfUpdate(row);
  }
  return copy.Seal();
}

bool SnapshotMerge::Changes(ChangeBatchPtr batch) {
  if (batch == nullptr) return output_.Changes(nullptr);
  const auto found = progress_.tables.find(batch->table());
  if (found == progress_.tables.end()) return output_.Changes(std::move(batch));
  const TableProgress& table = found->second;
  if (table.repeats) return Send(SinkChoice::AllBut(table.owed_to), std::move(batch));
  if (!table.only_for.empty() && !Send(table.Others(), batch)) return false;
  Result<ChangeBatchPtr> filtered = Filtered(*batch, table);
  if (!filtered) {
    return Fail(std::move(filtered).error().Context("table " + batch->table().ToString()));
  }
  return *filtered == nullptr ? !stopping() : Send(table.Readers(), std::move(*filtered));
}

bool SnapshotMerge::Send(SinkChoice choice, ChangeBatchPtr batch) {
  if (choice.IsAll()) return output_.Changes(std::move(batch));
  output_.SendTo(std::move(choice));
  const bool go_on = output_.Changes(std::move(batch));
  output_.SendTo({});
  return go_on;
}

// The columns by which the table is split have another meaning now. Rows that were read may be gone
// when they are read again, so the log leaves out none.
bool SnapshotMerge::Alter(const TablePath& path, const TableSchemaPtr& after) {
  const auto found = progress_.tables.find(path);
  if (found == progress_.tables.end() || after == nullptr) return false;
  TableProgress& table = found->second;
  Result<const ChunkKey*> key = KeyOf(after);
  if (!key || table.finished || !table.begun() || (*key)->order() == table.order) return false;
  spdlog::warn(
      "mysql source: the key of {} changed within its snapshot, which begins anew: a sink without "
      "primary key gets rows that it has",
      path.ToString());
  table.StartAnew();
  table.repeats = true;
  return true;
}

// The new name is a new table at the sinks; what it has is read under that name.
void SnapshotMerge::FollowRename(const TablePath& from, const TableSchema& after) {
  const TableProgress& before = progress_.tables[from];
  TableProgress left;
  left.only_for = before.finished ? before.owed_to : before.only_for;
  if (!before.finished) left.owed_to = before.owed_to;
  const bool was_left = !before.finished || !before.owed_to.empty();
  progress_.Finish(from);
  if (!was_left) return;
  const auto further = progress_.tables.find(after.path);
  if (further != progress_.tables.end()) {
    // In a restart: sinks that are behind the statement already read it under that name.
    const TableProgress& other = further->second;
    const bool all = left.only_for.empty() || other.only_for.empty();
    if (all) left.only_for.clear();
    if (!all)
      left.only_for.insert(left.only_for.end(), other.only_for.begin(), other.only_for.end());
    for (const std::string& sink : other.owed_to) left.owed_to.push_back(sink);
    left.repeats = !after.primary_key.empty();
  }
  progress_.tables[after.path] = std::move(left);
}

// Whether it changed what is left to read.
bool SnapshotMerge::Follow(const StatementChange& change) {
  if (change.from_snapshot || change.parts.empty()) return false;
  if (LogPosition::IsIntroduction(change.point)) return false;
  const ChangeDetail& detail = change.parts.front().detail;
  const auto found = progress_.tables.find(change.table);
  const bool is_there = found != progress_.tables.end();
  if (is_there && found->second.as_of && !found->second.as_of->Precedes(change.point)) return false;
  for (const SchemaChange& part : change.parts) {
    const auto* rename = std::get_if<RenameTable>(&part.detail);
    if (rename == nullptr || rename->to == change.table) continue;
    if (is_there) FollowRename(change.table, *change.after());
    return is_there;
  }
  const bool is_whole = std::holds_alternative<CreateTable>(detail) ||
                        std::holds_alternative<TruncateTable>(detail) ||
                        std::holds_alternative<DropTable>(detail);
  if (!is_whole) return Alter(change.table, change.after());
  // Empty here: every later row is in the log.
  progress_.Finish(change.table);
  return is_there;
}

bool SnapshotMerge::Schema(StatementChangePtr change, std::string position) {
  const bool changes = !progress_.done() && Follow(*change);
  if (!output_.Schema(std::move(change), std::move(position))) return false;
  return !changes || hooks_.persist();
}

bool SnapshotMerge::Progress(const Point& point, std::string resume, int64_t event_time_ms) {
  return output_.Progress(point, std::move(resume), event_time_ms);
}

Result<bool> SnapshotMerge::Park(const UnclearStatement& statement) {
  DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, output_.Park(statement));
  parked_.insert(statement.tables.begin(), statement.tables.end());
  return go_on;
}

bool SnapshotMerge::DeadLetter(const Point& point, std::string position, std::string_view record,
                               const Error& error) {
  return output_.DeadLetter(point, std::move(position), record, error);
}

}  // namespace driftless::mysql
