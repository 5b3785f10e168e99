#pragma once

namespace driftless {

// Prints the failed condition and aborts. For programmer errors only, in release builds too: going
// on with a broken invariant could write wrong rows.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace driftless

#define DRIFTLESS_CHECK(condition)                   \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::driftless::CheckFailed(#condition, __FILE__, __LINE__))
