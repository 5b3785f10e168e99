#pragma once

#include <string>
#include <vector>

#include "sinks/iceberg/manifest.h"

namespace driftless::iceberg {

// What a cut commits to a table that has no rows, without its deletes by key that cannot hit any:
// they hold for rows of earlier snapshots, so those of the first batch do not, nor those of a later
// batch whose keys lie apart from all rows before it, as the rows of a snapshot do that is read in
// the order of the key. A batch that would have nothing left stays as it is.
// `needless` takes the URIs of what is left out.
std::vector<std::vector<DataFile>> WithoutNeedlessDeletes(
    const Schema& schema, const PartitionSpec& spec,
    const std::vector<std::vector<DataFile>>& batches, std::vector<std::string>* needless);

}  // namespace driftless::iceberg
