#include "pipeline/sources/mysql/snapshot_round.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "pipeline/sources/mysql/tables.h"

namespace driftless::mysql {

// ---- the queue -------------------------------------------------------------------------------

bool ChunkQueue::Push(std::unique_lock<std::mutex>* lock, ChangeBatchPtr batch) {
  changed_.wait(*lock, [&] { return closed_ || bytes_ < kBytesQueuedMax; });
  if (closed_) return false;
  bytes_ += batch->charged_bytes();
  queue_.push_back(std::move(batch));
  changed_.notify_all();
  return true;
}

bool ChunkQueue::PushKept(std::unique_lock<std::mutex>* lock, Chunk* chunk) {
  for (ChangeBatchPtr& batch : chunk->kept) {
    if (!Push(lock, std::move(batch))) return false;
  }
  chunk->kept.clear();
  chunk->bytes = 0;
  return true;
}

bool ChunkQueue::Send(Chunk* chunk, ChangeBatchPtr batch) {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto is_turn = [&] { return chunk->line->turn_ == chunk->ticket; };
  changed_.wait(lock, [&] { return closed_ || is_turn() || chunk->bytes < kBytesKeptMax; });
  if (closed_) return false;
  if (is_turn()) return PushKept(&lock, chunk) && Push(&lock, std::move(batch));
  chunk->bytes += batch->charged_bytes();
  chunk->kept.push_back(std::move(batch));
  return true;
}

bool ChunkQueue::Finish(Chunk* chunk) {
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [&] { return closed_ || chunk->line->turn_ == chunk->ticket; });
  if (closed_ || !PushKept(&lock, chunk)) return false;
  ++chunk->line->turn_;
  changed_.notify_all();
  return true;
}

ChangeBatchPtr ChunkQueue::Take(const std::atomic<int>& readers_left, const SourceOutput& output) {
  std::unique_lock<std::mutex> lock(mutex_);
  while (!closed_ && queue_.empty() && readers_left.load() > 0 && !output.stopping()) {
    changed_.wait_for(lock, std::chrono::milliseconds(50));
  }
  if (closed_ || queue_.empty()) return nullptr;
  ChangeBatchPtr batch = std::move(queue_.front());
  queue_.pop_front();
  bytes_ -= batch->charged_bytes();
  changed_.notify_all();
  return batch;
}

void ChunkQueue::Close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  queue_.clear();
  changed_.notify_all();
}

// ---- the round -------------------------------------------------------------------------------

struct SnapshotRound::Reader {
  SnapshotView* view = nullptr;
  std::map<Table*, std::unique_ptr<ChunkReader>> pinned;
  std::set<Table*> refused;  // not as their schemas say, in this view
};

namespace {

int64_t NowMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

SnapshotRound::SnapshotRound(const Context& context, SnapshotViews* views,
                             SnapshotProgress* progress)
    : context_(context), views_(*views), progress_(*progress) {}

Result<void> SnapshotRound::AddTables() {
  for (auto& [path, progress] : progress_.tables) {
    const auto schema = context_.tables->find(path);
    if (progress.finished || schema == context_.tables->end() || !views_.IsExactFor(path)) continue;
    auto table = std::make_unique<Table>();
    table->progress = &progress;
    table->schema = schema->second;
    DRIFTLESS_ASSIGN_OR_RETURN(
        table->key, ChunkKey::Make(*schema->second, context_.options->ChunkColumn(path)));
    table->frontier = progress.frontier();
    tables_[path] = std::move(table);
  }
  return {};
}

Result<void> SnapshotRound::Run(SourceOutput* output) {
  DRIFTLESS_TRY(AddTables());
  deadline_us_ = NowMicros() + context_.duration_ms * 1000;
  readers_left_ = static_cast<int>(views_.views.size());
  std::vector<std::thread> threads;
  for (SnapshotView& view : views_.views) {
    threads.emplace_back([this, &view] {
      Work(&view);
      --readers_left_;
      queue_.Wake();
    });
  }
  bool stopped = false;
  while (!stopped) {
    ChangeBatchPtr batch = queue_.Take(readers_left_, *output);
    if (batch == nullptr) break;
    output->SendTo(tables_.at(batch->table())->progress->Readers());
    stopped = !output->Changes(std::move(batch));
  }
  output->SendTo({});
  stopped |= output->stopping();
  if (stopped) {
    stopping_ = true;
    queue_.Close();
  }
  found_.notify_all();
  for (std::thread& thread : threads) thread.join();
  if (error_ || stopped) {
    views_.views.clear();  // they may be within an answer
    if (error_ && error_->kind() != ErrorKind::kCancelled) return *error_;
    return MakeError(ErrorKind::kCancelled, "the pipeline stops");
  }
  Apply();
  return {};
}

void SnapshotRound::Work(SnapshotView* view) {
  Reader reader;
  reader.view = view;
  for (bool first = true; !stopping_ && (first || NowMicros() < deadline_us_); first = false) {
    Result<bool> more = ReadOne(&reader);
    if (!more) {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!error_) error_ = std::move(more).error();
      stopping_ = true;
      found_.notify_all();
      queue_.Close();
      return;
    }
    if (!*more) return;
  }
}

// The first table that has something left for this view; waits while another reader looks for the
// only table's next chunk.
SnapshotRound::Table* SnapshotRound::TakeTable(const Reader& reader) {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    bool any_taken = false;
    for (auto& [path, table] : tables_) {
      if (table->is_read || reader.refused.contains(table.get())) continue;
      if (table->is_taken) {
        any_taken = true;
        continue;
      }
      table->is_taken = true;
      return table.get();
    }
    if (!any_taken || stopping_ || NowMicros() > deadline_us_) return nullptr;
    found_.wait_for(lock, std::chrono::milliseconds(20));
  }
}

void SnapshotRound::GiveBack(Table* table) {
  const std::lock_guard<std::mutex> lock(mutex_);
  table->is_taken = false;
  found_.notify_all();
}

Point SnapshotRound::NextPoint() {
  const std::lock_guard<std::mutex> lock(mutex_);
  return Point{context_.stream, progress_.attempt, ++progress_.number, 0, 0};
}

// False: nothing is left for this view.
Result<bool> SnapshotRound::ReadOne(Reader* reader) {
  Table* table = TakeTable(*reader);
  if (table == nullptr) return false;
  std::unique_ptr<ChunkReader>& chunks = reader->pinned[table];
  if (chunks == nullptr) {
    auto opened =
        std::make_unique<ChunkReader>(reader->view->connection.get(), table->schema, &table->key);
    DRIFTLESS_ASSIGN_OR_RETURN(const ChunkReader::Pinned pinned,
                               opened->Pin(SettingsOf(*context_.facts, *context_.options),
                                           context_.options->include_comments));
    if (pinned != ChunkReader::Pinned::kSame) {
      reader->refused.insert(table);
      GiveBack(table);
      return pinned != ChunkReader::Pinned::kViewIsGone;
    }
    chunks = std::move(opened);
  }
  const ChunkBound after = table->frontier;
  DRIFTLESS_ASSIGN_OR_RETURN(const ChunkBound through,
                             chunks->NextBound(after, context_.options->chunk_rows));
  ChunkQueue::Chunk chunk;
  chunk.line = &table->line;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    chunk.ticket = table->chunks.size();
    table->chunks.push_back({through, LogPlace::Of(reader->view->at)});
    table->frontier = through;
    table->is_read = through.empty();
  }
  // The number comes before the next reader's of this table: points follow the chunks' order.
  std::optional<Point> first = NextPoint();
  GiveBack(table);
  const auto point = [&] {
    const Point next = first ? *first : NextPoint();
    first.reset();
    return next;
  };
  DRIFTLESS_ASSIGN_OR_RETURN(
      const int64_t rows,
      chunks->Read(after, through, point, context_.stream, [&](ChangeBatchPtr batch) {
        return !stopping_ && queue_.Send(&chunk, std::move(batch));
      }));
  if (!queue_.Finish(&chunk)) return MakeError(ErrorKind::kCancelled, "the pipeline stops");
  const std::lock_guard<std::mutex> lock(mutex_);
  table->rows += rows;
  return true;
}

void SnapshotRound::Apply() {
  for (auto& [path, table] : tables_) {
    if (table->chunks.empty()) continue;
    advanced_ = true;
    table->progress->order = table->key.order();
    for (ReadChunk& chunk : table->chunks) table->progress->Add(std::move(chunk));
    table->progress->rows += table->rows;
    if (table->progress->finished) finished_.push_back(path);
  }
}

}  // namespace driftless::mysql
