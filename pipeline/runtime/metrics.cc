#include "pipeline/runtime/metrics.h"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <map>
#include <mutex>

#include "sinks/api/component.h"

namespace driftless {
namespace {

using prometheus::Counter;
using prometheus::Family;
using prometheus::Gauge;
using prometheus::Histogram;
using Labels = std::map<std::string, std::string>;

Family<Counter>& Counters(prometheus::Registry* registry, const char* name, const char* help) {
  return prometheus::BuildCounter().Name(name).Help(help).Register(*registry);
}
Family<Gauge>& Gauges(prometheus::Registry* registry, const char* name, const char* help) {
  return prometheus::BuildGauge().Name(name).Help(help).Register(*registry);
}
Family<Histogram>& Histograms(prometheus::Registry* registry, const char* name, const char* help) {
  return prometheus::BuildHistogram().Name(name).Help(help).Register(*registry);
}

// A phase of a schema change takes a millisecond or, behind an approval, a day.
const Histogram::BucketBoundaries kPhaseSeconds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                   0.1,   0.25,   0.5,   1,    2.5,   5,
                                                   10,    30,     60,    300,  3600,  86400};
const Histogram::BucketBoundaries kCheckpointSeconds = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                        1,     2.5,  5,     10,   30,  60,   300};

}  // namespace

struct Metrics::Impl {
  prometheus::Registry registry;
  Family<Counter>& changes = Counters(&registry, "driftless_changes_total",
                                      "Row changes handed to the writers of a sink table");
  Family<Counter>& bytes =
      Counters(&registry, "driftless_bytes_total", "Bytes of those changes in memory");
  Family<Counter>& replayed =
      Counters(&registry, "driftless_replayed_changes_total",
               "Row changes dropped after a restart because the sink table has them already");
  Family<Counter>& unrouted = Counters(&registry, "driftless_uncaptured_changes_total",
                                       "Row changes of tables that a sink does not follow");
  Family<Gauge>& parked_items = Gauges(&registry, "driftless_parked_items",
                                       "Batches and schema changes that wait in a parking lot");
  Family<Gauge>& parked_bytes =
      Gauges(&registry, "driftless_parked_memory_bytes", "Memory of a parking lot");
  Family<Counter>& verdicts = Counters(&registry, "driftless_schema_changes_total",
                                       "Schema changes by event, verdict and result");
  Family<Gauge>& divergences =
      Gauges(&registry, "driftless_divergences", "Standing differences between source and sink");
  Gauge& holds =
      Gauges(&registry, "driftless_holds", "Schema changes that wait for approval").Add({});
  Family<Gauge>& lag = Gauges(&registry, "driftless_lag_seconds",
                              "Age of the newest change that was read from a source stream");
  Family<Gauge>& sink_lag = Gauges(&registry, "driftless_sink_lag_seconds",
                                   "Age of the newest change that a sink's last checkpoint holds");
  Family<Gauge>& source_gauges = Gauges(
      &registry, "driftless_source",
      "What a source says of a stream: bytes behind the server, its place in the log, what is "
      "read and left of its snapshot");
  Family<Counter>& source_events =
      Counters(&registry, "driftless_source_events_total", "Events of a source's log by type");
  Family<Gauge>& queue = Gauges(&registry, "driftless_queue_bytes", "Bytes waiting in a queue");
  Family<Gauge>& memory =
      Gauges(&registry, "driftless_memory_bytes",
             "The memory budget: used, limit, and the most that was used since the start");
  Family<Gauge>& parking_disk =
      Gauges(&registry, "driftless_parking_disk_bytes", "Parked bytes on disk: used and limit");
  Family<Histogram>& checkpoint =
      Histograms(&registry, "driftless_checkpoint_seconds", "From barrier to committed");
  Family<Counter>& checkpoints =
      Counters(&registry, "driftless_checkpoints_total", "Checkpoints by result");
  Family<Histogram>& phases =
      Histograms(&registry, "driftless_schema_change_seconds",
                 "From reading a statement to each phase of its schema change at a sink table");
  Family<Histogram>& maintenance =
      Histograms(&registry, "driftless_maintenance_seconds",
                 "Compactions of sink tables and expiries of their snapshots");
  Family<Counter>& maintained_files =
      Counters(&registry, "driftless_compacted_files_total",
               "Data and delete files that compactions took out of tables and put in");
  Family<Counter>& expired =
      Counters(&registry, "driftless_expired_snapshots_total", "Snapshots that were expired");
  Family<Counter>& retries =
      Counters(&registry, "driftless_retries_total", "Calls to a sink that were repeated");
  Family<Counter>& lost_values = Counters(&registry, "driftless_lost_values_total",
                                          "Values that were not written as they were, by kind");
  Family<Gauge>& stopped =
      Gauges(&registry, "driftless_sink_stopped", "1: the sink does not answer and was taken out");
  Counter& dead_letters =
      Counters(&registry, "driftless_dead_letters_total", "Records written to the dead-letter file")
          .Add({});
  Counter& filtered = Counters(&registry, "driftless_transform_filtered_rows_total",
                               "Row changes that did not pass a transform's filter")
                          .Add({});
  Counter& transform_nulls =
      Counters(&registry, "driftless_transform_nulls_total",
               "Values that a transform could not work out and that became NULL")
          .Add({});
  Counter& unseen_changes = Counters(&registry, "driftless_transform_unseen_schema_changes_total",
                                     "Schema changes of columns that no transform's output has")
                                .Add({});
  std::atomic<int64_t> total_changes{0};
  std::mutex mutex;
  std::map<SinkTableKey, std::unique_ptr<TableMetrics>> tables;
};

namespace {

class PrometheusTable : public TableMetrics {
 public:
  PrometheusTable(Family<Counter>& changes, Family<Counter>& bytes, Family<Counter>& replayed,
                  Family<Counter>& unrouted, Family<Gauge>& items, Family<Gauge>& parked,
                  const Labels& labels, std::atomic<int64_t>* total)
      : changes_(changes.Add(labels)),
        bytes_(bytes.Add(labels)),
        replayed_(replayed.Add(labels)),
        unrouted_(unrouted.Add(labels)),
        items_(items.Add(labels)),
        parked_(parked.Add(labels)),
        total_(total) {}

  void AddChanges(int64_t rows, int64_t bytes) override {
    changes_.Increment(static_cast<double>(rows));
    bytes_.Increment(static_cast<double>(bytes));
    total_->fetch_add(rows, std::memory_order_relaxed);
  }
  void AddReplayed(int64_t rows) override { replayed_.Increment(static_cast<double>(rows)); }
  void AddUnrouted(int64_t rows) override { unrouted_.Increment(static_cast<double>(rows)); }
  void SetParked(int64_t items, int64_t bytes) override {
    items_.Set(static_cast<double>(items));
    parked_.Set(static_cast<double>(bytes));
  }

 private:
  Counter& changes_;
  Counter& bytes_;
  Counter& replayed_;
  Counter& unrouted_;
  Gauge& items_;
  Gauge& parked_;
  std::atomic<int64_t>* const total_;
};

}  // namespace

Metrics::Metrics() : impl_(std::make_unique<Impl>()) {}
Metrics::~Metrics() = default;

TableMetrics* Metrics::Table(const SinkTableKey& table) {
  const std::lock_guard<std::mutex> lock(impl_->mutex);
  auto& metrics = impl_->tables[table];
  if (metrics == nullptr) {
    const Labels labels = {{"sink", table.sink}, {"table", table.table.ToString()}};
    metrics = std::make_unique<PrometheusTable>(impl_->changes, impl_->bytes, impl_->replayed,
                                                impl_->unrouted, impl_->parked_items,
                                                impl_->parked_bytes, labels, &impl_->total_changes);
  }
  return metrics.get();
}

void Metrics::AddVerdict(const AuditRecord& record) {
  impl_->verdicts
      .Add({{"sink", record.sink.sink},
            {"table", record.sink.table.ToString()},
            {"event", std::string(EventText(record))},
            {"verdict", std::string(ToString(record.verdict.kind))},
            {"result", std::string(ToString(record.result))}})
      .Increment();
}

void Metrics::SetOpenDivergences(const SinkTableKey& table, int64_t count) {
  impl_->divergences.Add({{"sink", table.sink}, {"table", table.table.ToString()}})
      .Set(static_cast<double>(count));
}

void Metrics::SetHolds(int64_t count) { impl_->holds.Set(static_cast<double>(count)); }

void Metrics::SetLag(const std::string& stream, double seconds) {
  impl_->lag.Add({{"stream", stream}}).Set(seconds);
}

void Metrics::SetSinkLag(const std::string& sink, double seconds) {
  impl_->sink_lag.Add({{"sink", sink}}).Set(seconds);
}

void Metrics::SetGauge(std::string_view stream, std::string_view name, double value) {
  impl_->source_gauges.Add({{"stream", std::string(stream)}, {"what", std::string(name)}})
      .Set(value);
}

void Metrics::AddEvents(std::string_view stream, std::string_view type, int64_t events) {
  impl_->source_events.Add({{"stream", std::string(stream)}, {"type", std::string(type)}})
      .Increment(static_cast<double>(events));
}

void Metrics::SetQueueBytes(const std::string& sink, std::string_view queue, int64_t bytes) {
  impl_->queue.Add({{"sink", sink}, {"queue", std::string(queue)}}).Set(static_cast<double>(bytes));
}

void Metrics::SetMemory(int64_t used_bytes, int64_t limit_bytes, int64_t most_bytes) {
  impl_->memory.Add({{"kind", "used"}}).Set(static_cast<double>(used_bytes));
  impl_->memory.Add({{"kind", "limit"}}).Set(static_cast<double>(limit_bytes));
  impl_->memory.Add({{"kind", "most"}}).Set(static_cast<double>(most_bytes));
}

void Metrics::SetParkingDisk(int64_t used_bytes, int64_t limit_bytes) {
  impl_->parking_disk.Add({{"kind", "used"}}).Set(static_cast<double>(used_bytes));
  impl_->parking_disk.Add({{"kind", "limit"}}).Set(static_cast<double>(limit_bytes));
}

void Metrics::ObserveCheckpoint(const std::string& sink, double seconds) {
  impl_->checkpoint.Add({{"sink", sink}}, kCheckpointSeconds).Observe(seconds);
}

void Metrics::CountCheckpoint(const std::string& sink, std::string_view result) {
  impl_->checkpoints.Add({{"sink", sink}, {"result", std::string(result)}}).Increment();
}

void Metrics::ObservePhase(const std::string& sink, std::string_view phase, double seconds) {
  impl_->phases.Add({{"sink", sink}, {"phase", std::string(phase)}}, kPhaseSeconds)
      .Observe(seconds);
}

void Metrics::AddMaintenance(const std::string& sink, const MaintenanceReport& report) {
  const Labels labels = {{"sink", sink}, {"table", report.table.ToString()}};
  const auto with = [&](const char* key, std::string_view value) {
    Labels more = labels;
    more[key] = std::string(value);
    return more;
  };
  impl_->maintenance.Add(with("work", report.work), kPhaseSeconds).Observe(report.seconds);
  const auto count = [](Counter& counter, int64_t by) {
    if (by > 0) counter.Increment(static_cast<double>(by));
  };
  count(impl_->maintained_files.Add(with("direction", "removed")), report.files_removed);
  count(impl_->maintained_files.Add(with("direction", "added")), report.files_added);
  count(impl_->expired.Add(labels), report.snapshots_removed);
}

void Metrics::AddRetry(const std::string& sink, std::string_view call) {
  impl_->retries.Add({{"sink", sink}, {"call", std::string(call)}}).Increment();
}

void Metrics::AddLostValues(const SinkTableKey& table, std::string_view column,
                            std::string_view kind, int64_t values) {
  impl_->lost_values
      .Add({{"sink", table.sink},
            {"table", table.table.ToString()},
            {"column", std::string(column)},
            {"kind", std::string(kind)}})
      .Increment(static_cast<double>(values));
}

void Metrics::SetSinkRunning(const std::string& sink) {
  impl_->stopped.Add({{"sink", sink}}).Set(0);
}

void Metrics::SetSinkStopped(const std::string& sink) {
  impl_->stopped.Add({{"sink", sink}}).Set(1);
}

void Metrics::AddDeadLetter() { impl_->dead_letters.Increment(); }
void Metrics::AddFiltered(int64_t rows) {
  if (rows > 0) impl_->filtered.Increment(static_cast<double>(rows));
}
void Metrics::AddTransformNulls(int64_t values) {
  if (values > 0) impl_->transform_nulls.Increment(static_cast<double>(values));
}
void Metrics::AddUnseenChange() { impl_->unseen_changes.Increment(); }

int64_t Metrics::total_changes() const {
  return impl_->total_changes.load(std::memory_order_relaxed);
}

std::string Metrics::Text() const {
  return prometheus::TextSerializer().Serialize(impl_->registry.Collect());
}

}  // namespace driftless
