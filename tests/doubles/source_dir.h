#pragma once

#include <string>

namespace driftless {

// The root of the checkout that the tests were built from: where tests/data and the examples are.
// One definition, so that no other test depends on where the checkout stands.
const std::string& SourceDir();

// The folder that they were built in: where the driftless binary is.
const std::string& BinaryDir();

}  // namespace driftless
