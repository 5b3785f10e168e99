#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/runtime/dead_letters.h"
#include "pipeline/runtime/inlet.h"
#include "pipeline/sources/source.h"
#include "pipeline/transform/stage.h"

namespace driftless {

// One stream of one source: reads it on a thread of its own and hands every item to all sinks. The
// pace is that of the slowest sink, and of the memory budget.
class SourceThread : public SourceOutput {
 public:
  struct Context {
    Source* source = nullptr;
    StreamId stream = 0;
    size_t stream_index = 0;
    std::string stream_name;
    CutPosition from;
    std::vector<Inlet*> inlets;
    MemoryBudget* budget = nullptr;
    MemoryPressure* pressure = nullptr;
    DeadLetters* dead_letters = nullptr;
    Metrics* metrics = nullptr;
    const Clock* clock = nullptr;
    std::shared_ptr<TransformStage> transforms;  // null: none
    std::function<void(UnclearStatement)> unclear;
    bool fails_on_unseen = false;  // rows-without-events: fail
    std::function<void(UnseenChange)> unseen;
    std::function<void(Result<void>)> ended;
  };

  explicit SourceThread(Context context) : context_(std::move(context)) {}
  ~SourceThread() override { Join(); }

  void Start();
  void Stop() { stopping_.store(true, std::memory_order_relaxed); }
  void Join();
  const std::string& stream_name() const { return context_.stream_name; }
  // When the newest change that was read was made; 0: none yet. Any thread.
  int64_t event_time_ms() const { return event_time_ms_.load(std::memory_order_relaxed); }

  bool Changes(ChangeBatchPtr batch) override;
  bool Schema(StatementChangePtr change, std::string position) override;
  bool Progress(const Point& point, std::string resume, int64_t event_time_ms) override;
  bool Unbroken(bool begins) override { return Push(UnbrokenItem{begins}); }
  void SendTo(SinkChoice choice) override { choice_ = std::move(choice); }
  bool DeadLetter(const Point& point, std::string position, std::string_view record,
                  const Error& error) override;
  Result<bool> Park(const UnclearStatement& statement) override;
  bool Unseen(const UnseenChange& change) override;
  bool stopping() const override { return stopping_.load(std::memory_order_relaxed); }

 private:
  // To the sinks of the choice.
  bool Push(const Item& item, const SinkChoice& choice = {});
  bool Send(ChangeBatchPtr batch);
  bool Tell(StatementChangePtr change, std::string position, int64_t now_ms);
  bool Transform(const ChangeBatchPtr& batch);
  bool Switch(const Point& point);
  Result<void> SwitchAtStart();
  bool Stop(Error error);

  const Context context_;
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> event_time_ms_{0};
  SinkChoice choice_;             // whom rows and statements are for
  std::optional<Error> failure_;  // of ours, where the source could only see `false`
  std::thread thread_;
};

}  // namespace driftless
