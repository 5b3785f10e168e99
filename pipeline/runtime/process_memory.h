#pragma once

#include <cstdint>

namespace driftless {

// First thing in main, before any library allocates: few malloc arenas, memory handed back early,
// and Arrow's pool on the system allocator (it peaks lower and keeps nothing; an environment
// variable of the user wins).
void PrepareProcessMemory();

// How much free memory malloc keeps for a pipeline of this budget: what comes and goes all the time
// is not to be given back each time, but it is not to outweigh what the user allowed either.
void KeepFreeMemory(int64_t budget_bytes);

// Gives back the clean pages of every loaded object's read-only segments (text, constants, symbol
// and relocation tables): those that are used are mapped again from the page cache, at a
// microsecond for sixteen of them. The dynamic linker, the start and each first use touch many
// pages that are not used again.
void ReleaseFilePages();

// Gives back what is free: heaps of malloc and Arrow, and file pages. Some milliseconds: after the
// start, and when idle.
void ReleaseFreeMemory();

// Resident memory of the process in bytes; 0 where the system does not tell.
int64_t ResidentBytes();

}  // namespace driftless
