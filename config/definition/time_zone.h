#pragma once

#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless {

// The IANA name of a time zone that the user wrote: "Asia/Shanghai", "UTC", "GMT+08:00", "+08:00",
// or "systemDefault" for the machine's. Errors: kInvalidConfig for an unknown zone, for a
// three-letter id that means different zones to different programs ("CST"), and for offsets of half
// hours, which have no IANA name.
Result<std::string> ResolveTimeZone(std::string_view text);

}  // namespace driftless
