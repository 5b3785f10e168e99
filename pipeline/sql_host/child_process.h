#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

// Starts a program, `words[0]`, in a process group of its own: a terminal's interrupt is its
// parent's. It gets SIGTERM when its parent goes; that signal waits until the program takes it.
// `log`: a file that its output is added to; empty: it goes where this process's goes. Errors:
// kUnavailable, kPermission.
Result<pid_t> StartChild(std::vector<std::string> words, const std::string& log = {});

// Waits for a child that StartChild has started. Returns its status, as waitpid gives it.
int WaitForChild(pid_t process);

struct ChildOutput {
  int exit_code = 0;  // 128 and more: ended by a signal
  std::string text;   // standard output and standard error
};
// Runs a program to its end. Errors: kUnavailable.
Result<ChildOutput> RunChild(std::vector<std::string> words);

}  // namespace driftless
