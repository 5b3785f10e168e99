#pragma once

#include <cstdint>

namespace driftless {

// First thing in main, before any library allocates: few malloc arenas, memory handed back early,
// and Arrow's pool on the system allocator (it peaks lower and keeps nothing; an environment
// variable of the user wins).
void PrepareProcessMemory();

// Gives back what is free: heaps of malloc and Arrow, and the clean pages of every loaded object's
// read-only segments (text, constants, symbol and relocation tables). Those are mapped again from
// the page cache at their next use. Some milliseconds: after the start, and when idle.
void ReleaseFreeMemory();

// Resident memory of the process in bytes; 0 where the system does not tell.
int64_t ResidentBytes();

}  // namespace driftless
