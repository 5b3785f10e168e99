#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "pipeline/runtime/byte_queue.h"
#include "pipeline/runtime/items.h"
#include "pipeline/runtime/kept_back.h"
#include "pipeline/runtime/memory_pressure.h"
#include "pipeline/runtime/row_dead_letters.h"
#include "sinks/api/sink.h"

namespace driftless {

// Rows of one batch for one writer of a table.
struct WriteRows {
  TableEpochPtr epoch;
  WriterIndex index = 0;
  ChangeBatchPtr batch;
  const Projection* projection = nullptr;  // of the epoch
  std::vector<uint32_t> rows;
};
// A barrier: everything before it goes into the cut.
struct PrepareCut {
  CutId cut = 0;
  std::optional<TablePath> table;  // a schema cut: this table alone, and its writers are closed
  std::shared_ptr<const std::set<TablePath>> left_behind;  // a checkpoint: not these tables
};
using WriterItem = std::variant<WriteRows, PrepareCut>;

// What one writer thread made durable of one table.
struct PreparedTable {
  TableEpochPtr epoch;
  std::vector<PreparedPart> parts;
  KeptBack kept_back;  // of the rows in these parts
};

// One thread that owns some of a sink's table writers. Rows and barriers come in order through a
// queue that is bounded in bytes; the writers are opened when their first row comes.
class WriterThread : public MemoryHolder {
 public:
  struct Context {
    std::string pipeline;
    std::string sink_name;
    Sink* sink = nullptr;
    uint32_t attempt = 0;
    CutId last_cut = 0;  // that any attempt has recorded
    const Clock* clock = nullptr;
    MemoryBudget* budget = nullptr;
    MemoryPressure* pressure = nullptr;
    DeadLetters* dead_letters = nullptr;
    Metrics* metrics = nullptr;
    int64_t queue_bytes_max = 0;
    // The sink is asked one thing at a time per table: taken around OpenWriter.
    std::function<std::shared_ptr<std::mutex>(const TablePath&)> table_mutex;
    std::function<void(CutId, std::vector<PreparedTable>)> prepared;
    std::function<void(Error)> failed;  // once; the thread then only drains its queue
  };

  explicit WriterThread(Context context);
  ~WriterThread() override;

  // Blocks while the queue is full. False: the pipeline is being torn down.
  bool Push(WriterItem item);
  void Start();
  void Abort();  // drops what is queued; Join follows
  void Join();

  int64_t queue_bytes() const { return queue_.bytes(); }
  int64_t RollableBytes() const override { return largest_.load(std::memory_order_relaxed); }
  void RequestRoll() override;

 private:
  struct RollLargest {};
  struct WriterKey {
    TablePath table;
    WriterIndex index = 0;
    friend auto operator<=>(const WriterKey&, const WriterKey&) = default;
  };
  struct OpenWriter {
    std::vector<TableEpochPtr>
        epochs;             // of one generation; a writer may still use each one's projections
    TableWriterPtr writer;  // goes before the epochs do
    bool has_rows = false;  // since the last Prepare
    KeptBack kept_back;     // the same
  };

  void Run();
  Result<void> Handle(WriterItem& item);
  Result<void> Write(WriteRows& rows);
  Result<void> Prepare(const PrepareCut& barrier);
  Result<void> Roll();
  Result<OpenWriter*> Find(const TableEpochPtr& epoch, WriterIndex index);
  void MeasureLargest();

  const Context context_;
  KeptBackCounter kept_back_;
  RowDeadLetters reporter_;
  ByteQueue<WriterItem, RollLargest> queue_;
  std::atomic<int64_t> largest_{0};
  std::map<WriterKey, OpenWriter> writers_;
  CutId last_cut_ = 0;
  bool failed_ = false;
  std::thread thread_;
};

}  // namespace driftless
