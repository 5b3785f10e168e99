#pragma once

#include <memory>
#include <string>

#include "sinks/clients/objectstore/object_store.h"

namespace driftless {

// A prefix of a bucket of an S3-compatible store. Requests are signed with signature version 4;
// exclusive creation is a PUT with `If-None-Match: *`, which Probe tests, because a store that
// ignores the header would overwrite ("Amazon S3 User Guide", conditional writes). Errors:
// kInvalidConfig without credentials.
Result<std::shared_ptr<ObjectStore>> OpenS3Store(std::string bucket, std::string prefix,
                                                 S3Options options);

}  // namespace driftless
