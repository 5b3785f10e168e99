#include "sinks/clients/objectstore/s3_store.h"

namespace driftless {

Result<std::shared_ptr<ObjectStore>> OpenS3Store(std::string bucket, std::string, S3Options) {
  return MakeError(ErrorKind::kUnsupported, "s3://" + bucket + ": S3 is not built in yet");
}

}  // namespace driftless
