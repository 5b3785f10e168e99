#include "sinks/iceberg/needless_deletes.h"

#include <algorithm>

#include "sinks/iceberg/partition.h"
#include "sinks/iceberg/single_value.h"

namespace driftless::iceberg {
namespace {

const std::string* BoundOf(const std::map<int32_t, std::string>& bounds, int32_t id) {
  const auto found = bounds.find(id);
  return found == bounds.end() ? nullptr : &found->second;
}

// Whether the column's values in the one file lie all before or all behind those in the other.
bool LiesApart(const Field& field, const DataFile& one, const DataFile& other) {
  // Bounds leave out NaN, which is a key as any other.
  if (field.type.kind() == TypeKind::kFloat || field.type.kind() == TypeKind::kDouble) return false;
  const auto before = [&](const DataFile& a, const DataFile& b) {
    const std::string* const upper = BoundOf(a.upper_bounds, field.id);
    const std::string* const lower = BoundOf(b.lower_bounds, field.id);
    return upper != nullptr && lower != nullptr &&
           CompareSingleValues(field.type, *upper, *lower) < 0;
  };
  return before(one, other) || before(other, one);
}

}  // namespace

std::vector<std::vector<DataFile>> WithoutNeedlessDeletes(
    const Schema& schema, const PartitionSpec& spec,
    const std::vector<std::vector<DataFile>>& batches, std::vector<std::string>* needless) {
  const bool has_partitions = !IsUnpartitioned(spec);
  std::vector<std::vector<DataFile>> result;
  std::vector<const DataFile*> before;
  const auto hits_nothing = [&](const DataFile& deletes) {
    return std::ranges::all_of(before, [&](const DataFile* rows) {
      if (has_partitions && rows->partition != deletes.partition) return true;
      return std::ranges::any_of(deletes.equality_ids, [&](int32_t id) {
        const Field* const field = schema.FindId(id);
        return field != nullptr && LiesApart(*field, *rows, deletes);
      });
    });
  };
  for (const std::vector<DataFile>& batch : batches) {
    std::vector<DataFile> kept;
    std::vector<std::string> left_out;
    for (const DataFile& file : batch) {
      if (file.content == FileContent::kEqualityDeletes && hits_nothing(file)) {
        left_out.push_back(file.path);
      } else {
        kept.push_back(file);
      }
    }
    if (kept.empty()) {
      kept = batch;
      left_out.clear();
    }
    result.push_back(std::move(kept));
    needless->insert(needless->end(), left_out.begin(), left_out.end());
    for (const DataFile& file : batch) {
      if (file.content == FileContent::kData) before.push_back(&file);
    }
  }
  return result;
}

}  // namespace driftless::iceberg
