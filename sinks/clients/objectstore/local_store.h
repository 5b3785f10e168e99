#pragma once

#include <memory>
#include <string>

#include "sinks/clients/objectstore/object_store.h"

namespace driftless {

// A folder of a local file system. Exclusive creation is link(2), which never replaces anything;
// durability is syncfs(2), shared by all threads that ask at the same time.
std::shared_ptr<ObjectStore> OpenLocalStore(std::string root);

}  // namespace driftless
