#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/sources/mysql/chunk_reader.h"
#include "pipeline/sources/mysql/server_facts.h"
#include "pipeline/sources/mysql/snapshot_progress.h"
#include "pipeline/sources/mysql/snapshot_view.h"
#include "pipeline/sources/mysql/source_options.h"
#include "pipeline/sources/source.h"

namespace driftless::mysql {

// Batches of one table's chunks, in the chunks' order whoever reads them first, on their way from
// the readers to the stream's thread; bounded in bytes.
class ChunkQueue {
 public:
  // What one chunk may keep back while the chunk before it is not sent, and what may wait.
  static constexpr size_t kBytesKeptMax = size_t{2} << 20;
  static constexpr size_t kBytesQueuedMax = size_t{8} << 20;

  class Line {  // of one table
    friend class ChunkQueue;
    uint64_t turn_ = 0;
  };
  struct Chunk {
    Line* line = nullptr;
    uint64_t ticket = 0;  // counts the table's chunks from 0
    std::vector<ChangeBatchPtr> kept;
    size_t bytes = 0;
  };

  // A reader's: sends, or keeps for later. False: closed.
  bool Send(Chunk* chunk, ChangeBatchPtr batch);
  // Waits for the chunk's turn, sends the rest; the next chunk's turn comes. False: closed.
  bool Finish(Chunk* chunk);
  // The stream's thread: the next batch; null: closed, `output` stops, or no reader is left and
  // nothing waits.
  ChangeBatchPtr Take(const std::atomic<int>& readers_left, const SourceOutput& output);
  // No reader waits any more; what is queued is thrown away.
  void Close();
  void Wake() { changed_.notify_all(); }

 private:
  bool Push(std::unique_lock<std::mutex>* lock, ChangeBatchPtr batch);
  bool PushKept(std::unique_lock<std::mutex>* lock, Chunk* chunk);

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ChangeBatchPtr> queue_;
  size_t bytes_ = 0;
  bool closed_ = false;
};

// One round of reading: every view has a thread, which takes the next chunk of some table, one
// after the other, for about a second. When the round ends every chunk that was taken is read, so
// that what is read of a table stays a beginning of it.
class SnapshotRound {
 public:
  struct Context {
    const SourceOptions* options = nullptr;
    const ServerFacts* facts = nullptr;
    const std::map<TablePath, TableSchemaPtr>* tables = nullptr;
    StreamId stream = 0;
    int64_t duration_ms = 1000;  // no chunk is begun later
  };

  // `progress` gets the chunks; it must be nobody else's meanwhile.
  SnapshotRound(const Context& context, SnapshotViews* views, SnapshotProgress* progress);

  // Errors: those of the connections (the views are gone then); kCancelled.
  Result<void> Run(SourceOutput* output);
  bool advanced() const { return advanced_; }
  const std::vector<TablePath>& finished() const { return finished_; }

 private:
  struct Table {
    TableProgress* progress = nullptr;
    TableSchemaPtr schema;
    ChunkKey key;
    ChunkBound frontier;
    bool is_taken = false;  // somebody looks for its next chunk
    bool is_read = false;   // the chunk that reaches to its end is taken
    std::vector<ReadChunk> chunks;
    int64_t rows = 0;
    ChunkQueue::Line line;
  };
  struct Reader;  // one view's

  Result<void> AddTables();
  void Work(SnapshotView* view);
  Result<bool> ReadOne(Reader* reader);
  Table* TakeTable(const Reader& reader);
  void GiveBack(Table* table);
  Point NextPoint();
  void Apply();

  const Context context_;
  SnapshotViews& views_;
  SnapshotProgress& progress_;
  std::map<TablePath, std::unique_ptr<Table>> tables_;
  ChunkQueue queue_;
  std::mutex mutex_;
  std::condition_variable found_;
  std::optional<Error> error_;
  std::atomic<int> readers_left_{0};
  std::atomic<bool> stopping_{false};
  int64_t deadline_us_ = 0;
  bool advanced_ = false;
  std::vector<TablePath> finished_;
};

}  // namespace driftless::mysql
