#pragma once

#include <gtest/gtest.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/runtime/runtime.h"
#include "tests/unit/pipeline/runtime/fakes.h"
#include "tests/unit/pipeline/state/temp_folder.h"

namespace driftless {

// Waits for something that another thread brings about; the bound only ends a test that has failed.
inline bool Eventually(const std::function<bool()>& condition) {
  for (int i = 0; i < 20'000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// One pipeline whose state and warehouse stay while its runtimes come and go.
class Harness {
 public:
  explicit Harness(std::vector<ScriptEvent> script) : script_(std::move(script)) {
    options_.until_end = true;
    options_.checkpoint_interval_ms = 3'600'000;  // only when a test asks for one
    options_.writer_threads = 2;
    traits_.transactional = true;
    traits_.io_threads = 2;
    spdlog::set_level(spdlog::level::off);
  }
  ~Harness() { Stop(); }

  void Start() {
    auto state = StateStore::Open(folder_.path(), "test", *SystemClock());
    ASSERT_TRUE(state) << state.error().ToString();
    state_ = std::move(*state);
    metrics_ = std::make_unique<Metrics>();
    RuntimeParts parts;
    parts.pipeline = "test";
    parts.state = state_.get();
    parts.clock = SystemClock();
    parts.metrics = metrics_.get();
    parts.sources.push_back(std::make_unique<ScriptedSource>(script_, gates_, starts_, look_));
    for (const auto& [name, warehouse] : warehouses_) {
      RuntimeSink sink;
      sink.name = name;
      sink.type = "fake";
      sink.sink = std::make_unique<FakeSink>(
          warehouse, sink_faults_.contains(name) ? sink_faults_[name] : fault_, traits_);
      sink.stops_when_unavailable = stops_.contains(name);
      sink.route = route_;
      parts.sinks.push_back(std::move(sink));
    }
    parts.make_coordinator = [this](std::vector<CoordinatorSink>, DecisionId next) {
      return std::make_unique<FakeCoordinator>(policy_, next);
    };
    runtime_ = std::make_unique<Runtime>(std::move(parts), options_);
    live_ = runtime_.get();
    thread_ = std::thread([this] {
      outcome_ = runtime_->Run();
      done_ = true;
    });
  }

  RunOutcome Wait() {
    if (thread_.joinable()) thread_.join();
    live_ = nullptr;
    runtime_.reset();
    state_.reset();
    done_ = false;
    return outcome_;
  }

  RunOutcome RunToEnd() {
    Start();
    return Wait();
  }

  // Everything that is not committed is lost, as with kill -9.
  void Crash() {
    runtime_->Abort();
    Wait();
  }
  void Stop() {
    if (runtime_ != nullptr) Crash();
  }
  // Leaves a decision as `driftless approve` does, for a running or a stopped pipeline.
  void Request(DecisionId decision, const std::string& choice) {
    auto shared = StateStore::OpenShared(folder_.path());
    ASSERT_TRUE(shared) << shared.error().ToString();
    StoredRequest request;
    request.decision = decision;
    request.choice = choice;
    request.by = "test";
    const auto number = (*shared)->AddRequest(request);
    ASSERT_TRUE(number);
    last_request_ = *number;
  }
  std::string Answer() {
    auto shared = StateStore::OpenShared(folder_.path());
    const auto request = (*shared)->Request(last_request_);
    return (*request)->handled_ms.has_value() ? (*request)->answer : "";
  }
  std::vector<AuditRecord> Audit() {
    auto shared = StateStore::OpenShared(folder_.path());
    return *(*shared)->Audit({});
  }
  std::vector<DecisionId> Holds() {
    auto shared = StateStore::OpenShared(folder_.path());
    return *(*shared)->OpenHolds();
  }
  // Asks again and again: what is to be committed may still be on its way to the inlet.
  void Checkpoint(int commits_after) {
    EXPECT_TRUE(Eventually([&] {
      runtime_->RequestCheckpoint();
      const std::lock_guard<std::mutex> lock(warehouse().mutex);
      return warehouse().commits >= commits_after;
    }));
  }

  FakeWarehouse& warehouse() { return *warehouses_.at("lake"); }

  TempFolder folder_;
  std::vector<ScriptEvent> script_;
  std::map<std::string, std::shared_ptr<FakeWarehouse>> warehouses_ = {
      {"lake", std::make_shared<FakeWarehouse>()}};
  std::shared_ptr<Gates> gates_ = std::make_shared<Gates>();
  std::shared_ptr<std::vector<uint64_t>> starts_ = std::make_shared<std::vector<uint64_t>>();
  ScriptedSource::Look look_;
  FaultHook fault_;
  std::map<std::string, FaultHook> sink_faults_;  // instead of it
  std::set<std::string> stops_;                   // on-unavailable: stop-sink
  FakePolicy policy_;
  SinkTraits traits_;
  RuntimeOptions options_;
  RouteFunction route_ = [](const TablePath& source) -> Result<std::vector<TablePath>> {
    return std::vector<TablePath>{source};
  };
  std::unique_ptr<StateStore> state_;
  std::unique_ptr<Metrics> metrics_;
  std::unique_ptr<Runtime> runtime_;
  std::atomic<Runtime*> live_{nullptr};
  std::thread thread_;
  std::atomic<bool> done_{false};
  RunOutcome outcome_;
  int64_t last_request_ = 0;
};

inline void ExpectFinished(const RunOutcome& outcome) {
  EXPECT_EQ(static_cast<int>(outcome.kind), static_cast<int>(RunOutcome::Kind::kFinished))
      << (outcome.error.has_value() ? outcome.error->ToString() : "");
}

}  // namespace driftless
