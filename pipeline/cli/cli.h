#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace driftless {

// Parses the command line and runs the command. Returns the process's exit code: 0 done, 1 failed,
// 2 wrong usage, 3 a verdict is `fail`, 4 rows may stop later.
int RunCommandLine(int argc, char** argv);

// Every command is one file in this folder with one function that adds it to the application; its
// callback stores the exit code in *exit_code. The list of them stands in cli.cc.

}  // namespace driftless
