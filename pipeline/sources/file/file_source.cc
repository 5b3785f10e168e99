#include "pipeline/sources/file/file_source.h"

#include <glob.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <thread>

#include "pipeline/sources/file/line_reader.h"
#include "pipeline/sources/registry.h"
#include "schema/base/check.h"

namespace driftless {
namespace {

constexpr int kLinesPerTimeCheck = 128;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The files of the patterns in reading order. A name without a file stands as it is, so that
// opening it says what is wrong; a pattern without files gives none.
std::vector<std::string> ListFiles(const std::vector<std::string>& patterns) {
  std::vector<std::string> files;
  for (const std::string& pattern : patterns) {
    if (pattern.find_first_of("*?[") == std::string::npos) {
      files.push_back(pattern);
      continue;
    }
    glob_t found{};
    if (::glob(pattern.c_str(), GLOB_MARK, nullptr, &found) == 0) {
      for (size_t i = 0; i < found.gl_pathc; ++i) {
        const std::string path = found.gl_pathv[i];
        if (!path.ends_with('/')) files.push_back(path);
      }
    }
    ::globfree(&found);
  }
  std::vector<std::string> unique;
  for (std::string& file : files) {
    if (std::find(unique.begin(), unique.end(), file) == unique.end()) {
      unique.push_back(std::move(file));
    }
  }
  return unique;
}

// FNV-1a over the beginning of a text: tells a file from another one of the same name, also after
// it was moved or copied.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 14695981039346656037ull;
  for (const char c : text) hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211ull;
  return hash;
}

// What a position keeps to go on: the last line, where the next one begins, and what the text began
// with. The position itself may be further inside of the next lines: those are read again.
struct Resume {
  uint64_t epoch = 0;
  uint64_t line = 0;
  uint64_t offset = 0;
  size_t head_bytes = 0;
  uint64_t head_hash = 0;
  std::string path;

  std::string ToText() const {
    return std::to_string(epoch) + " " + std::to_string(line) + " " + std::to_string(offset) + " " +
           std::to_string(head_bytes) + " " + std::to_string(head_hash) + " " + path;
  }
  static Result<Resume> Parse(std::string_view text) {
    Resume resume;
    const char* at = text.data();
    const char* end = at + text.size();
    const auto number = [&](auto* value) {
      const auto [stop, error] = std::from_chars(at, end, *value);
      if (error != std::errc() || stop == end || *stop != ' ') return false;
      at = stop + 1;
      return true;
    };
    if (!number(&resume.epoch) || !number(&resume.line) || !number(&resume.offset) ||
        !number(&resume.head_bytes) || !number(&resume.head_hash)) {
      return MakeError(ErrorKind::kCorrupt,
                       "the position of the file source is not readable: " + std::string(text));
    }
    resume.path.assign(at, end);
    return resume;
  }
};

// The first `size` bytes of the file's text, fewer where it is shorter.
Result<std::string> ReadHead(const std::string& path, size_t size) {
  DRIFTLESS_ASSIGN_OR_RETURN(auto stream, ByteStream::Open(path));
  std::string head(size, '\0');
  size_t have = 0;
  while (have < size) {
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t got, stream->Read(head.data() + have, size - have));
    if (got == 0) break;
    have += got;
  }
  head.resize(have);
  return head;
}

bool HasHead(const std::string& path, const Resume& resume) {
  const auto head = ReadHead(path, resume.head_bytes);
  return head && head->size() == resume.head_bytes && HashOf(*head) == resume.head_hash;
}

}  // namespace

// One run over the files.
class FileSource::Reading {
 public:
  Reading(const FileSourceOptions& options, const SourceContext& context, StreamId stream,
          SourceOutput* output)
      : options_(options),
        context_(context),
        output_(*output),
        stream_(options.stream, context, stream, output),
        flush_interval_us_(std::clamp<int64_t>(context.max_wait_ms, 1, 1000) * 1000) {
    point_.stream = stream;
  }

  Result<void> Run(const CutPosition& from) {
    DRIFTLESS_TRY(Begin(from));
    last_flush_us_ = context_.clock->MonotonicMicros();
    auto result = ReadFiles();
    if (!result) {
      // Whatever stands before the fault is good: report it, so that the next start goes on there.
      if (!output_.stopping()) Flush();
      return std::move(result.error()).Context("file source");
    }
    if (!output_.stopping()) {
      DRIFTLESS_TRY(stream_.End());
      Flush();
    }
    const auto& counters = stream_.counters();
    spdlog::info(
        "file source: {} records, {} changes, {} schema changes; {} of other tables, {} "
        "tombstones, {} transaction records, {} messages, {} heartbeats, {} statements "
        "without effect, {} dead letters, {} values clamped to their type's edge",
        counters.records, counters.changes, counters.schema_changes, counters.filtered,
        counters.tombstones, counters.transactions, counters.messages, counters.heartbeats,
        counters.ignored_ddl, counters.dead_letters, stream_.clamped_values());
    return {};
  }

 private:
  // Where reading starts: the first file, or the line behind the position.
  Result<void> Begin(const CutPosition& from) {
    const auto last = from.Last(point_.stream);
    std::vector<std::string> files = ListFiles(options_.patterns);
    if (!last) {
      pending_ = std::move(files);
      point_.epoch = 0;
      return {};
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const Resume resume, Resume::Parse(from.Resume(point_.stream)));
    auto found = std::find(files.begin(), files.end(), resume.path);
    if (found == files.end() || !HasHead(*found, resume)) {
      // Renamed since, as log rotation does?
      found = std::find_if(files.begin(), files.end(),
                           [&](const std::string& path) { return HasHead(path, resume); });
      if (found == files.end()) {
        return MakeError(ErrorKind::kNotFound,
                         "the file that was being read is not there: " + resume.path + " (line " +
                             std::to_string(resume.line) + ")")
            .Hint("Bring it back under one of the configured paths, or start with new state.");
      }
      // A renamed file stands behind the new ones by its name; those come after it all the same.
      const std::string path = *found;
      files.erase(found);
      const auto old = std::find(files.begin(), files.end(), resume.path);
      found = files.insert(old, path);
    }
    pending_.assign(found, files.end());
    known_.assign(files.begin(), found);
    point_.epoch = resume.epoch;
    point_.offset = resume.line;
    point_.row = std::max(debezium::DebeziumStream::kChangeRow, last->row);
    DRIFTLESS_TRY(stream_.Restore(point_));
    resume_ = resume;
    --point_.epoch;  // OpenNext counts it up again
    return {};
  }

  Result<void> ReadFiles() {
    for (;;) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool opened, OpenNext());
      if (!opened) {
        if (!options_.follow) return {};
        if (!WaitForMore()) return {};
        TakeNewFiles();
        continue;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, ReadFile());
      if (!go_on) return {};
    }
  }

  Result<bool> OpenNext() {
    if (pending_.empty()) return false;
    path_ = pending_.front();
    auto stream = ByteStream::Open(path_);
    if (!stream) {
      if (options_.follow && stream.error().kind() == ErrorKind::kNotFound) return false;
      return std::move(stream.error());
    }
    pending_.erase(pending_.begin());
    known_.push_back(path_);
    return OpenStream(std::move(*stream));
  }

  Result<bool> OpenStream(std::unique_ptr<ByteStream> stream) {
    identity_ = stream->Identity();
    reader_ = std::make_unique<LineReader>(std::move(stream), options_.line_bytes_max);
    ++point_.epoch;
    if (resume_) {
      DRIFTLESS_ASSIGN_OR_RETURN(std::string head, ReadHead(path_, LineReader::kHeadBytes));
      DRIFTLESS_TRY(reader_->SkipTo(resume_->offset, std::move(head)));
      resume_.reset();
    } else {
      point_.offset = 0;
    }
    return true;
  }

  // Reads the open file to its end. False: the pipeline stops.
  Result<bool> ReadFile() {
    for (;;) {
      std::string_view line;
      auto got = reader_->Next(&line);
      if (!got) {
        return std::move(got.error()).Position(path_ + ":" + std::to_string(point_.offset + 1));
      }
      if (*got == LineReader::Got::kLine) {
        DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, Line(line));
        if (!go_on) return false;
        continue;
      }
      if (!options_.follow || !pending_.empty()) break;
      DRIFTLESS_ASSIGN_OR_RETURN(const Turn turn, AtEndOfFollowed());
      if (turn == Turn::kStop) return false;
      if (turn == Turn::kNext) break;
    }
    const std::string_view rest = reader_->TakePartial();
    return rest.empty() ? Result<bool>(true) : Line(rest);
  }

  Result<bool> Line(std::string_view line) {
    Point next = point_;
    ++next.offset;
    next.row = debezium::DebeziumStream::kChangeRow;
    if (next.offset == 1 && line.starts_with(kByteOrderMark)) {
      line.remove_prefix(kByteOrderMark.size());
    }
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on,
                                 stream_.Line(line, next, path_, reader_->index()));
      if (!go_on) return false;
      reader_->IndexAhead(stream_.wants_index());
    }
    point_ = next;
    point_.row = stream_.last_row();
    resume_offset_ = reader_->offset();
    if (++lines_since_check_ < kLinesPerTimeCheck) return true;
    lines_since_check_ = 0;
    if (output_.stopping()) return false;
    const int64_t now = context_.clock->MonotonicMicros();
    return now - last_flush_us_ < flush_interval_us_ || Flush();
  }

  // Sends all that waits and says how far the stream is. False: the pipeline stops.
  bool Flush() {
    last_flush_us_ = context_.clock->MonotonicMicros();
    if (!stream_.Flush()) return false;
    if (point_.offset == 0 || reader_ == nullptr) return true;  // nothing of this file was read yet
    if (stream_.in_statement()) return true;
    Resume resume;
    resume.epoch = point_.epoch;
    resume.line = point_.offset;
    resume.offset = resume_offset_;
    // Of the text up to here only: what follows may still be replaced.
    const std::string_view head = std::string_view(reader_->head()).substr(0, resume_offset_);
    resume.head_bytes = head.size();
    resume.head_hash = HashOf(head);
    resume.path = path_;
    return output_.Progress(point_, resume.ToText(), stream_.last_event_time_ms());
  }

  enum class Turn : uint8_t { kMore, kNext, kStop };
  // The followed file has nothing more now: has it grown, been truncated, been replaced?
  Result<Turn> AtEndOfFollowed() {
    if (!WaitForMore()) return Turn::kStop;
    TakeNewFiles();
    if (!pending_.empty()) return Turn::kMore;  // one more look before the next file
    ByteStream& open = reader_->stream();
    const std::string now = FileIdentity(path_);
    if (!now.empty() && now != identity_) {
      spdlog::info("file source: {} was replaced; reading the new file", path_);
      pending_.push_back(path_);
      return Turn::kMore;
    }
    if (open.is_packed()) return Turn::kMore;
    DRIFTLESS_ASSIGN_OR_RETURN(const uint64_t size, open.StoredSize());
    if (size >= reader_->offset()) return Turn::kMore;
    spdlog::warn("file source: {} was truncated from {} to {} bytes; reading it from its beginning",
                 path_, reader_->offset(), size);
    pending_.push_back(path_);
    return Turn::kNext;
  }

  // Sends what is there and waits a little. False: the pipeline stops.
  bool WaitForMore() {
    const int64_t now = context_.clock->MonotonicMicros();
    if ((!stream_.idle() || now - last_flush_us_ >= flush_interval_us_) && !Flush()) return false;
    if (output_.stopping()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(options_.poll_interval_ms));
    return !output_.stopping();
  }

  void TakeNewFiles() {
    for (const std::string& file : ListFiles(options_.patterns)) {
      const auto has = [&](const std::vector<std::string>& list) {
        return std::find(list.begin(), list.end(), file) != list.end();
      };
      if (!has(known_) && !has(pending_)) pending_.push_back(file);
    }
  }

  const FileSourceOptions& options_;
  const SourceContext& context_;
  SourceOutput& output_;
  debezium::DebeziumStream stream_;
  const int64_t flush_interval_us_;
  int64_t last_flush_us_ = 0;
  int lines_since_check_ = 0;

  std::vector<std::string> pending_;  // files to come
  std::vector<std::string> known_;    // files that were opened, or stand before the position
  std::optional<Resume> resume_;      // for the first file that is opened
  std::string path_;
  std::string identity_;
  std::unique_ptr<LineReader> reader_;
  Point point_;                 // the last line that was consumed
  uint64_t resume_offset_ = 0;  // where the line behind it begins
};

Result<std::unique_ptr<Source>> MakeFileSource(const OptionValues& values) {
  DRIFTLESS_ASSIGN_OR_RETURN(FileSourceOptions options, ReadFileSourceOptions(values));
  return std::unique_ptr<Source>(new FileSource(std::move(options)));
}

Result<void> FileSource::Connect(const SourceContext& context) {
  context_ = context;
  if (context_.clock == nullptr) context_.clock = SystemClock();
  const std::vector<std::string> files = ListFiles(options_.patterns);
  if (files.empty() && !options_.follow) {
    return MakeError(ErrorKind::kNotFound, "no file matches " + options_.patterns.front())
        .Hint("Check `path`, or set follow: true to wait for files.")
        .Context("file source");
  }
  for (const std::string& file : files) {
    auto stream = ByteStream::Open(file);
    if (stream || (options_.follow && stream.error().kind() == ErrorKind::kNotFound)) continue;
    return std::move(stream.error()).Context("file source");
  }
  return {};
}

Result<void> FileSource::Run(StreamId stream, size_t stream_index, const CutPosition& from,
                             SourceOutput* output) {
  DRIFTLESS_CHECK(stream_index == 0);
  DRIFTLESS_CHECK(context_.clock != nullptr);  // Connect comes first
  return Reading(options_, context_, stream, output).Run(from);
}

}  // namespace driftless
