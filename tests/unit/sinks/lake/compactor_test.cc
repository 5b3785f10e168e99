#include "sinks/lake/compactor.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <future>
#include <latch>
#include <thread>

namespace driftless::lake {
namespace {

const TablePath kOrders{"", "shop", "orders"};
const TablePath kItems{"", "shop", "items"};

TEST(CompactorTest, CompactsEachWaitingTableOnce) {
  std::vector<TablePath> seen;
  std::latch started(1);
  std::promise<void> go;
  std::latch done(2);
  {
    Compactor compactor([&](const TablePath& table, const std::atomic<bool>&) {
      seen.push_back(table);
      if (seen.size() == 1) {
        started.count_down();
        go.get_future().wait();
      }
      done.count_down();
    });
    compactor.Enqueue(kOrders);
    started.wait();
    compactor.Enqueue(kItems);
    compactor.Enqueue(kItems);  // waits already
    go.set_value();
    done.wait();
  }
  EXPECT_EQ(seen, (std::vector<TablePath>{kOrders, kItems}));
}

TEST(CompactorTest, FinishWaitsForARunThatBeganAfterIt) {
  std::mutex mutex;
  std::vector<TablePath> seen;
  std::latch started(1);
  std::promise<void> go;
  Compactor compactor([&](const TablePath& table, const std::atomic<bool>&) {
    {
      const std::lock_guard<std::mutex> lock(mutex);
      seen.push_back(table);
      if (seen.size() > 1) return;
    }
    started.count_down();
    go.get_future().wait();
  });
  compactor.Enqueue(kOrders);
  started.wait();
  compactor.Enqueue(kItems);
  std::jthread releasing([&] { go.set_value(); });
  compactor.Finish(kOrders);  // not the run that was under way
  {
    const std::lock_guard<std::mutex> lock(mutex);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), kOrders), 2);
  }
  const Compactor::Pause pause(&compactor, kOrders);
  compactor.Finish(kOrders);  // returns at once
}

TEST(CompactorTest, APauseStopsWhatRunsAndKeepsTheTableOut) {
  std::atomic<int> runs{0};
  std::latch started(1);
  std::latch items_done(1);
  Compactor compactor([&](const TablePath& table, const std::atomic<bool>& stop) {
    ++runs;
    if (table == kItems) {
      items_done.count_down();
      return;
    }
    started.count_down();
    while (!stop.load()) std::this_thread::yield();
  });
  compactor.Enqueue(kOrders);
  started.wait();
  {
    const Compactor::Pause pause(&compactor, kOrders);  // returns only because the run was stopped
    compactor.Enqueue(kOrders);
    compactor.Enqueue(kItems);
    items_done.wait();
    EXPECT_EQ(runs, 2);
  }
}

TEST(CompactorTest, PausingNothingIsAllowed) { const Compactor::Pause pause(nullptr, kOrders); }

int NiceOfThisThread() { return getpriority(PRIO_PROCESS, 0); }

bool MayRaiseItsPriority() {
  bool may = false;
  std::thread([&] {
    const int usual = NiceOfThisThread();
    setpriority(PRIO_PROCESS, 0, usual + 1);
    may = setpriority(PRIO_PROCESS, 0, usual) == 0;
  }).join();
  return may;
}

struct Seen {
  std::atomic<bool> runs{false};
  std::atomic<int> before{100};
  std::atomic<int> after{100};
};

Compactor::Compact RunsUntilStopped(Seen* seen) {
  return [seen](const TablePath&, const std::atomic<bool>& stop) {
    seen->before = NiceOfThisThread();
    seen->runs = true;
    while (!stop) std::this_thread::yield();
    seen->after = NiceOfThisThread();
  };
}

void WaitUntilItRuns(Seen* seen) {
  while (!seen->runs) std::this_thread::yield();
}

// On a busy machine a thread of low priority hardly runs: who waits for it must not wait behind
// everybody else.
TEST(CompactorTest, WhoeverWaitsForACompactionGivesItItsPriority) {
  if (!MayRaiseItsPriority()) GTEST_SKIP() << "the system lets no thread raise its priority";
  const int usual = NiceOfThisThread();
  const TablePath table{"", "shop", "orders"};
  Seen seen;
  {
    Compactor compactor(RunsUntilStopped(&seen));
    compactor.Enqueue(table);
    WaitUntilItRuns(&seen);
    EXPECT_GT(seen.before, usual);
    const Compactor::Pause pause(&compactor, table);
    EXPECT_EQ(seen.after, usual);
  }
  Seen at_end;
  {
    Compactor compactor(RunsUntilStopped(&at_end));
    compactor.Enqueue(table);
    WaitUntilItRuns(&at_end);
  }
  EXPECT_EQ(at_end.after, usual);
}

}  // namespace
}  // namespace driftless::lake
