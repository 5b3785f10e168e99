#include "pipeline/sources/mysql/log_stream.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "pipeline/sources/mysql/binlog/table_map.h"
#include "pipeline/sources/mysql/binlog/transaction_payload.h"
#include "pipeline/sources/mysql/log_stream_tables.h"
#include "schema/base/letter_case.h"

namespace driftless::mysql {

LogStream::LogStream(const SourceOptions& options, ServerSettings settings,
                     const SourceContext& context, StreamId stream, SourceOutput* output,
                     Hooks hooks)
    : options_(options),
      context_(context),
      stream_(stream),
      output_(output),
      hooks_(std::move(hooks)),
      catalog_(std::move(settings)),
      online_(&catalog_, options.online),
      rows_(context.wants_before_images ? BeforeImages::kAll : BeforeImages::kWhereKeyChanges),
      batches_(stream, output),
      on_unparsed_(options.on_unparsed_ddl.value_or(context.on_unparsed_ddl)) {}

LogStream::~LogStream() = default;

void LogStream::Begin(const LogPosition& position, const std::vector<TableSchemaPtr>& tables,
                      uint64_t next_incarnation) {
  position_ = position;
  file_ = position.file;
  event_end_ = position.offset;
  for (const TableSchemaPtr& table : tables) catalog_.Load(table);
  catalog_.SetNextIncarnation(next_incarnation);
  Reconnected();
}

void LogStream::Reconnected() {
  in_transaction_ = false;
  open_xa_.clear();
  xa_events_.clear();
  mapped_.clear();
  reader_ = EventReader();
  gtid_.reset();
  maria_gtid_.reset();
  const LogPosition from = position_;
  if (auto set = GtidSet::Parse(catalog_.settings().IsMariaDb() ? "" : from.gtids); set) {
    gtids_ = std::move(*set);
  }
  if (auto list = MariaGtidList::Parse(catalog_.settings().IsMariaDb() ? from.gtids : ""); list) {
    maria_gtids_ = std::move(*list);
  }
}

void LogStream::MoveTo(const LogPosition& position) {
  position_ = position;
  file_ = position.file;
  event_end_ = position.offset;
  Reconnected();
}

LogPosition LogStream::ResumePosition() const {
  const LogPosition* first = &position_;
  for (const auto& [id, xa] : prepared_) {
    if (std::pair(xa.begin.Epoch(), xa.begin.offset) < std::pair(first->Epoch(), first->offset)) {
      first = &xa.begin;
    }
  }
  return *first;
}

Point LogStream::PointHere() const {
  LogPosition at = position_;
  at.file = file_;
  return Point{stream_, at.Epoch(), event_end_, row_, 0};
}

Error LogStream::Here(Error error) const {
  return std::move(error).Position(fmt::format("{}:{}", file_, event_end_));
}

bool LogStream::Flush() {
  if (!batches_.SealAll()) return false;
  if (in_transaction_) return true;
  const LogPosition resume = ResumePosition();
  return output_->Progress(position_.PointOf(stream_), resume.Serialize(), commit_time_ms_);
}

// ---- events ----------------------------------------------------------------------------------

// Ends of events are told modulo 4 GiB, and not at all inside of newer MariaDB transactions.
void LogStream::Advance(const BinlogEvent& event) {
  if (event.IsArtificial() || event.type == EventType::kHeartbeat ||
      event.type == EventType::kHeartbeatV2) {
    return;
  }
  if (event.end_position == 0) {
    if (event.type != EventType::kFormatDescription) event_end_ += event.bytes.size();
    return;
  }
  uint64_t end = (event_end_ & ~uint64_t{0xffffffff}) | event.end_position;
  // Far behind is the next 4 GiB; a little behind is an event that a server made up for the start.
  constexpr uint64_t kHalf = uint64_t{1} << 31;
  if (end + kHalf < event_end_) end += 2 * kHalf;
  event_end_ = std::max(event_end_, end);
}

Result<bool> LogStream::Event(std::string_view bytes) {
  auto event = reader_.Read(bytes);
  if (!event) return Here(std::move(event).error());
  Advance(*event);
  row_ = 0;
  statement_row_ = 0;
  auto result = Dispatch(*event);
  if (!result) return Here(std::move(result).error());
  DRIFTLESS_TRY(AdvanceBetween(*event));
  return result;
}

// Between transactions the position moves over what is none: the heads of files, and what the
// server left out because the position has it. So the log's end is reached where nothing happens.
Result<void> LogStream::AdvanceBetween(const BinlogEvent& event) {
  if (in_transaction_ || !open_xa_.empty() || file_ != position_.file) return {};
  switch (event.type) {
    case EventType::kHeartbeat: {
      DRIFTLESS_ASSIGN_OR_RETURN(const HeartbeatEvent beat, ParseHeartbeat(event));
      if (beat.file == file_) event_end_ = std::max(event_end_, beat.position);
      break;
    }
    case EventType::kFormatDescription:
    case EventType::kPreviousGtids:
    case EventType::kMariaGtidList:
    case EventType::kBinlogCheckpoint:
    case EventType::kStartEncryption:
      if (event.IsArtificial() || event.end_position == 0) return {};
      break;
    default: return {};
  }
  position_.Reach(file_, std::max(position_.offset, event_end_));
  return {};
}

Result<bool> LogStream::Dispatch(const BinlogEvent& event) {
  switch (event.type) {
    case EventType::kRotate: return Rotate(event);
    case EventType::kFormatDescription:
      // A file that begins ends what a crash of the server left open, and all table numbers.
      mapped_.clear();
      in_transaction_ = false;
      xa_events_.clear();
      open_xa_.clear();
      return true;
    case EventType::kGtid:
    case EventType::kAnonymousGtid:
    case EventType::kGtidTagged: return Gtid(event);
    case EventType::kMariaGtid: return MariaGtid(event);
    case EventType::kIncident: {
      DRIFTLESS_ASSIGN_OR_RETURN(const IncidentEvent incident, ParseIncident(event));
      return MakeError(ErrorKind::kInvalidInput,
                       fmt::format("the server lost changes here: {}", incident.message))
          .Hint("Start the pipeline on a new state folder, so that it takes a snapshot.");
    }
    case EventType::kTransactionPayload: {
      DRIFTLESS_ASSIGN_OR_RETURN(TransactionPayload payload, TransactionPayload::Open(event));
      BinlogEvent inner;
      is_inner_ = true;
      for (;;) {
        DRIFTLESS_ASSIGN_OR_RETURN(const bool more, payload.Next(&inner));
        if (!more) break;
        DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, DispatchInner(inner));
        if (!go_on) return false;
      }
      is_inner_ = false;
      return true;
    }
    default: return DispatchInner(event);
  }
}

// What stands in transactions.
Result<bool> LogStream::DispatchInner(const BinlogEvent& event) {
  if (!open_xa_.empty() && (event.type == EventType::kTableMap || IsRowsEvent(event.type))) {
    // Until the transaction is committed, which may be on another connection or server.
    xa_events_.push_back(
        {std::string(event.bytes), !is_inner_ && reader_.format().has_checksum, event.is_mariadb});
    return true;
  }
  switch (event.type) {
    case EventType::kQuery:
    case EventType::kQueryCompressed: return Query(event);
    case EventType::kTableMap: return Map(event);
    case EventType::kXid: return EndTransaction();
    case EventType::kXaPrepare: return XaPrepare(event);
    default: return IsRowsEvent(event.type) ? Rows(event) : Result<bool>(true);
  }
}

Result<bool> LogStream::Rotate(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const RotateEvent rotate, ParseRotate(event));
  // Artificial: the stream begins in this file, or goes on with it.
  if (!event.IsArtificial() && event.timestamp != 0) return true;
  const std::string file(rotate.file);
  if (file == file_ && event_end_ >= rotate.position) return true;
  file_ = file;
  event_end_ = rotate.position;
  if (!in_transaction_) position_.Reach(file_, event_end_);
  return true;
}

Result<bool> LogStream::Gtid(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const GtidEvent begin, ParseGtid(event));
  commit_time_ms_ =
      begin.commit_time_us > 0 ? begin.commit_time_us / 1000 : int64_t{event.timestamp} * 1000;
  in_transaction_ = true;
  if (begin.is_anonymous) {
    gtid_.reset();
    transaction_ = fmt::format("{}:{}", file_, event_end_);
  } else {
    gtid_ = begin.gtid;
    transaction_ = begin.gtid.ToString();
  }
  return true;
}

Result<bool> LogStream::MariaGtid(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const MariaGtidEvent begin, ParseMariaGtid(event));
  commit_time_ms_ = int64_t{event.timestamp} * 1000;
  in_transaction_ = true;
  maria_gtid_ = begin.gtid;
  maria_standalone_ = begin.is_standalone;
  alter_phase_ = begin.alter_phase;
  transaction_ = begin.gtid.ToString();
  if (begin.is_prepared_xa) {
    open_xa_ = "?";  // XA_PREPARE names it
    xa_begin_ = position_;
  }
  return true;
}

// A transaction is whole: the position is behind it.
Result<bool> LogStream::EndTransaction() {
  if (gtid_) gtids_.Add(*gtid_);
  if (maria_gtid_) maria_gtids_.Advance(*maria_gtid_);
  const bool has_gtids = gtid_ || maria_gtid_;
  gtid_.reset();
  maria_gtid_.reset();
  in_transaction_ = false;
  position_.Reach(file_, event_end_);
  if (has_gtids) {
    position_.gtids = catalog_.settings().IsMariaDb() ? maria_gtids_.ToString() : gtids_.ToString();
  }
  return true;
}

// ---- XA --------------------------------------------------------------------------------------

Result<bool> LogStream::XaPrepare(const BinlogEvent& event) {
  DRIFTLESS_ASSIGN_OR_RETURN(const XaPrepareEvent prepare, ParseXaPrepare(event));
  const std::string id = prepare.Text();
  PreparedXa xa{xa_begin_, std::move(xa_events_)};
  xa_events_.clear();
  open_xa_.clear();
  prepared_[id] = std::move(xa);
  if (prepare.one_phase) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, XaEnd(id, /*commits=*/true));
    if (!go_on) return false;
  }
  return EndTransaction();
}

Result<bool> LogStream::XaEnd(const std::string& id, bool commits) {
  const auto found = prepared_.find(id);
  if (found == prepared_.end()) {
    if (commits) {
      spdlog::warn("{}:{}: XA COMMIT of a transaction whose rows were not read: {}", file_,
                   event_end_, id);
    }
    return true;
  }
  const PreparedXa xa = std::move(found->second);
  prepared_.erase(found);
  if (!commits) return true;
  // Table numbers of then: the ones of now come again with the next statement.
  mapped_.clear();
  for (const KeptEvent& kept : xa.events) {
    auto event = EventReader::ReadInner(kept.bytes);
    if (!event) return std::move(event).error();
    event->is_mariadb = kept.is_mariadb;
    if (kept.has_checksum && event->body.size() >= 4) event->body.remove_suffix(4);
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on,
                               event->type == EventType::kTableMap ? Map(*event) : Rows(*event));
    if (!go_on) return false;
  }
  mapped_.clear();
  return true;
}

}  // namespace driftless::mysql
