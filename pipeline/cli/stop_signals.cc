#include "pipeline/cli/stop_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "schema/base/check.h"

namespace driftless {

StopSignals::StopSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_file_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  wake_file_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  DRIFTLESS_CHECK(signal_file_ >= 0 && wake_file_ >= 0);
}

StopSignals::~StopSignals() {
  close(signal_file_);
  close(wake_file_);
}

int StopSignals::Wait(int64_t timeout_ms) {
  std::array<pollfd, 2> files = {{{signal_file_, POLLIN, 0}, {wake_file_, POLLIN, 0}}};
  if (poll(files.data(), files.size(), static_cast<int>(timeout_ms)) <= 0) return 0;
  signalfd_siginfo info{};
  if (read(signal_file_, &info, sizeof info) == sizeof info) {
    return static_cast<int>(info.ssi_signo);
  }
  uint64_t count = 0;
  return read(wake_file_, &count, sizeof count) == sizeof count ? -1 : 0;
}

void StopSignals::Wake() {
  const uint64_t one = 1;
  // The counter cannot overflow: every write is read before the next run.
  if (write(wake_file_, &one, sizeof one) != sizeof one) return;
}

}  // namespace driftless
