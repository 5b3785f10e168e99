#pragma once

#include <string>
#include <vector>

#include "schema/base/result.h"
#include "schema/events/point.h"
#include "schema/model/table.h"

namespace driftless {

// The transforms that a table had from a point of a stream on. A stored point is one behind which
// nothing had been read when the transforms were changed, so that rows which are read again get the
// ones they had.
struct TransformVersion {
  TablePath table;
  Point since;           // exclusive: rows behind it
  bool is_first = true;  // from the table's beginning; `since` names the stream only
  std::string rules;     // TableRules::text(); empty: none
  std::string binding;   // Binding::Serialize()
};

// Kept by the state. Thread-safe.
class TransformStore {
 public:
  virtual ~TransformStore() = default;
  // Durable when it returns. Replaces the version of the same table, stream and point.
  virtual Result<void> PutTransform(const TransformVersion& version) = 0;
  // All versions of a stream, by table, oldest first.
  virtual Result<std::vector<TransformVersion>> Transforms(StreamId stream) const = 0;
};

}  // namespace driftless
