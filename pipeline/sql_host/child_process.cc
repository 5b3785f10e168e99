#include "pipeline/sql_host/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace driftless {
namespace {

Error Failed(const char* what) {
  return MakeError(ErrorKind::kUnavailable, std::string(what) + ": " + std::strerror(errno));
}

// `output`: what standard output and error of the child are; -1: this process's.
Result<pid_t> Start(std::vector<std::string> words, int output) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  // A stop that comes before the program has begun to listen for one must not be lost.
  sigset_t stops;
  sigset_t before;
  sigemptyset(&stops);
  sigaddset(&stops, SIGTERM);
  sigaddset(&stops, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stops, &before);
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (output >= 0) {
      dup2(output, STDOUT_FILENO);
      dup2(output, STDERR_FILENO);
    }
    if (getppid() == parent) execv(arguments[0], arguments.data());
    _exit(127);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (process < 0) return Failed("cannot start a process");
  return process;
}

}  // namespace

Result<pid_t> StartChild(std::vector<std::string> words, const std::string& log) {
  if (log.empty()) return Start(std::move(words), -1);
  const int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (file < 0) {
    return MakeError(ErrorKind::kPermission, "cannot write " + log + ": " + std::strerror(errno));
  }
  auto process = Start(std::move(words), file);
  close(file);
  return process;
}

int WaitForChild(pid_t process) {
  constexpr int kExitedWithOne = 1 << 8;
  while (true) {
    int status = 0;
    if (waitpid(process, &status, 0) == process) return status;
    if (errno != EINTR) return kExitedWithOne;  // nobody knows how it ended
  }
}

Result<ChildOutput> RunChild(std::vector<std::string> words) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return Failed("cannot make a pipe");
  const auto process = Start(std::move(words), ends[1]);
  close(ends[1]);
  ChildOutput output;
  char buffer[4096];
  while (process) {
    const ssize_t count = read(ends[0], buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    output.text.append(buffer, static_cast<size_t>(count));
  }
  close(ends[0]);
  if (!process) return process.error();
  const int status = WaitForChild(*process);
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

}  // namespace driftless
