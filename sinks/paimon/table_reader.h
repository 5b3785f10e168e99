#pragma once

#include <memory>

#include "sinks/api/table_reader.h"
#include "sinks/clients/objectstore/object_store.h"

namespace driftless::paimon {

// Reads the tables of one warehouse. `local_time_zone` relates TIMESTAMP and TIMESTAMP_LTZ where a
// column changed from one to the other. Errors: kInvalidConfig for an unknown zone.
Result<std::unique_ptr<TableReader>> MakePaimonReader(std::shared_ptr<ObjectStore> warehouse,
                                                      const std::string& local_time_zone);

}  // namespace driftless::paimon
