#include "pipeline/cli/cli.h"

int main(int argc, char** argv) { return driftless::RunCommandLine(argc, argv); }
