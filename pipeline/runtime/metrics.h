#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "pipeline/sources/source.h"
#include "schema/audit/audit.h"

namespace driftless {

struct MaintenanceReport;

// Counters of one sink table, found once and kept: the hot path adds per batch and looks nothing
// up.
class TableMetrics {
 public:
  virtual ~TableMetrics() = default;
  virtual void AddChanges(int64_t rows, int64_t bytes) = 0;
  virtual void AddReplayed(int64_t rows) = 0;  // dropped: the table has them already
  virtual void AddUnrouted(int64_t rows) = 0;  // of a table that is not captured there any more
  virtual void SetParked(int64_t items, int64_t bytes) = 0;
};

// What the pipeline tells Prometheus, all names beginning with driftless_. Thread-safe.
class Metrics : public SourceMetrics {
 public:
  Metrics();
  ~Metrics() override;
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  TableMetrics* Table(const SinkTableKey& table);  // lives as long as this

  void AddVerdict(const AuditRecord& record);
  void SetOpenDivergences(const SinkTableKey& table, int64_t count);
  void SetHolds(int64_t count);
  void SetLag(const std::string& stream, double seconds);
  void SetSinkLag(const std::string& sink, double seconds);
  void SetGauge(std::string_view stream, std::string_view name, double value) override;
  void AddEvents(std::string_view stream, std::string_view type, int64_t events) override;
  void SetQueueBytes(const std::string& sink, std::string_view queue, int64_t bytes);
  void SetMemory(int64_t used_bytes, int64_t limit_bytes, int64_t most_bytes);
  void SetParkingDisk(int64_t used_bytes, int64_t limit_bytes);
  void ObserveCheckpoint(const std::string& sink, double seconds);
  void CountCheckpoint(const std::string& sink, std::string_view result);  // "committed", "void"
  // Seconds from reading the statement to "planned", "flushed", "applied", "released";
  // "released_without_flush": without the time from planned to flushed.
  void ObservePhase(const std::string& sink, std::string_view phase, double seconds);
  void AddMaintenance(const std::string& sink, const MaintenanceReport& report);
  void AddRetry(const std::string& sink, std::string_view call);
  // Whether the sink takes part in the run: `on-unavailable: stop-sink` takes it out.
  void SetSinkRunning(const std::string& sink);
  void SetSinkStopped(const std::string& sink);
  void AddDeadLetter();
  // Values that were not written as they were: "misfit", "null", "absent".
  void AddLostValues(const SinkTableKey& table, std::string_view column, std::string_view kind,
                     int64_t values);
  void AddFiltered(int64_t rows);          // did not pass a transform's filter
  void AddTransformNulls(int64_t values);  // could not be worked out and became NULL
  void AddUnseenChange();                  // a schema change that no transform's output shows
  int64_t total_changes() const;           // over all sinks, for the progress line

  std::string Text() const;  // Prometheus' text exposition format, version 0.0.4

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless
