#pragma once

#include <string>

namespace driftless::lake {

// Java's Double.toString and Float.toString with the shortest digits: "1.0", "1.0E10", "NaN",
// "-Infinity". The lakes' reference implementations make text of numbers so.
std::string JavaDoubleText(double value);
std::string JavaFloatText(float value);

}  // namespace driftless::lake
