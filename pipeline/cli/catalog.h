#pragma once

#include "config/definition/component_catalog.h"

namespace driftless {

// Every source and sink of this build, as configuration knows them.
const ComponentCatalog& AllComponents();

}  // namespace driftless
