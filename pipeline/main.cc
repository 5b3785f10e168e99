#include "pipeline/cli/cli.h"
#include "pipeline/runtime/process_memory.h"

int main(int argc, char** argv) {
  driftless::PrepareProcessMemory();
  return driftless::RunCommandLine(argc, argv);
}
