#pragma once

#include <map>
#include <string>
#include <vector>

#include "config/options/option.h"
#include "schema/plan/schema_plan.h"
#include "sinks/paimon/bucket.h"

namespace driftless::paimon {

enum class BucketMode : uint8_t {
  kFixed,    // bucket = N: hash of the bucket key
  kDynamic,  // bucket = -1 with a primary key: hash index
  kUnaware,  // bucket = -1 without one: everything in bucket-0
};

// Which columns decide where a row goes. All indices are into EvolvedSchema::columns, and so into a
// projected batch.
struct KeyLayout {
  bool has_key = false;
  std::vector<int> keys;  // trimmed primary key: without the partition columns
  std::vector<LogicalType> key_types;
  std::vector<int> partitions;
  std::vector<LogicalType> partition_types;
  std::vector<std::string> partition_names;
  std::vector<int> bucket_keys;
  std::vector<LogicalType> bucket_key_types;
  BucketMode mode = BucketMode::kUnaware;
  BucketFunction function = BucketFunction::kMurmur;
  int32_t buckets = -1;

  // `options` are the table's own. Errors: kUnsupported for what Driftless cannot write (postponed
  // buckets, updates across partitions, the Hive bucket function, merge engines other than
  // deduplicate, sequence fields, deletion vectors), with what to do instead.
  static Result<KeyLayout> Make(const EvolvedSchema& table,
                                const std::map<std::string, std::string>& options);
};

}  // namespace driftless::paimon
