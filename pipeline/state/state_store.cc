#include "pipeline/state/state_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "pipeline/state/format.h"
#include "schema/base/check.h"

namespace driftless {
namespace {

std::string DatabasePath(const std::string& folder) { return folder + "/state.db"; }

Result<void> MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    return MakeError(ErrorKind::kPermission,
                     fmt::format("cannot make the state folder {}: {}", folder, error.message()))
        .Hint("Choose a folder that this user may write with --state.");
  }
  return {};
}

Result<CutPosition> PositionAt(const SqliteStatement& row, int column) {
  return ParseCutPosition(row.Text(column));
}

}  // namespace

// ---- opening ---------------------------------------------------------------------------------

Result<std::unique_ptr<StateStore>> StateStore::Open(const std::string& folder,
                                                     std::string_view pipeline,
                                                     const Clock& clock) {
  DRIFTLESS_TRY(MakeFolder(folder));
  DRIFTLESS_TRY(CheckLocalFileSystem(folder));
  DRIFTLESS_ASSIGN_OR_RETURN(StateLock lock, StateLock::Acquire(folder, clock));
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteDatabase database,
      SqliteDatabase::Open(DatabasePath(folder), SqliteDatabase::Create::kIfMissing));
  DRIFTLESS_TRY(Prepare(&database, pipeline, clock));
  return std::unique_ptr<StateStore>(new StateStore(folder, std::move(lock), std::move(database)));
}

Result<std::unique_ptr<StateStore>> StateStore::OpenShared(const std::string& folder) {
  auto database = SqliteDatabase::Open(DatabasePath(folder), SqliteDatabase::Create::kNo);
  if (!database) {
    return MakeError(ErrorKind::kNotFound,
                     fmt::format("no pipeline state in {}: {}", folder, database.error().message()))
        .Hint("Give the folder that `driftless run` uses with --state.");
  }
  std::unique_ptr<StateStore> store(new StateStore(folder, StateLock(), std::move(*database)));
  DRIFTLESS_ASSIGN_OR_RETURN(const std::string format, store->Meta("format"));
  if (format != std::to_string(kFormat)) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("{} has state format \"{}\"; this driftless reads {}", folder,
                                 format, kFormat));
  }
  return store;
}

StateStore::~StateStore() = default;

Result<void> StateStore::Prepare(SqliteDatabase* database, std::string_view pipeline,
                                 const Clock& clock) {
  DRIFTLESS_TRY(database->Execute("BEGIN IMMEDIATE"));
  DRIFTLESS_TRY(database->Execute(
      "CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID"));
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement read,
                             database->Prepare("SELECT value FROM meta WHERE key = ?"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool known, read.Bind("format").Step());
  if (known && read.Text(0) != std::to_string(kFormat)) {
    return MakeError(ErrorKind::kUnsupported,
                     fmt::format("the state has format {}; this driftless writes {}", read.Text(0),
                                 kFormat))
        .Hint("Use the driftless that wrote it, or a newer one.");
  }
  read = SqliteStatement();  // ends the read before the tables are made
  DRIFTLESS_TRY(database->Execute(kCreateTables));
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database->Prepare("INSERT OR IGNORE INTO meta VALUES ('format', ?), ('pipeline', ?), "
                        "('created_ms', ?), ('attempt', '0'), ('next_cut', '1'), "
                        "('next_segment', '1'), ('next_decision', '1')"));
  DRIFTLESS_TRY(put.Bind(std::to_string(kFormat))
                    .Bind(pipeline)
                    .Bind(std::to_string(clock.NowMillis()))
                    .Run());
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement owner,
                             database->Prepare("SELECT value FROM meta WHERE key = 'pipeline'"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool has_owner, owner.Step());
  if (!has_owner || owner.Text(0) != pipeline) {
    return MakeError(ErrorKind::kConflict,
                     fmt::format("the state folder belongs to the pipeline \"{}\", not to \"{}\"",
                                 has_owner ? owner.Text(0) : "", pipeline))
        .Hint(
            "Give every pipeline a folder of its own with --state; a pipeline that was renamed "
            "needs its old pipeline.name.");
  }
  owner = SqliteStatement();
  return database->Execute("COMMIT");
}

Result<std::string> StateStore::Meta(std::string_view key) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement read,
                             database_.Prepare("SELECT value FROM meta WHERE key = ?"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool found, read.Bind(key).Step());
  return found ? read.Text(0) : std::string();
}

Result<std::string> StateStore::PipelineName() const { return Meta("pipeline"); }

Result<std::optional<int64_t>> StateStore::Number(std::string_view sql) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement read, database_.Prepare(sql));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool found, read.Step());
  if (!found || read.IsNull(0)) return std::optional<int64_t>();
  return std::optional<int64_t>(read.Int(0));
}

Result<uint32_t> StateStore::NextAttempt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement find,
      database_.Prepare("SELECT CAST(value AS INTEGER) + 1 FROM meta WHERE key = 'attempt'"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool found, find.Step());
  if (!found) return MakeError(ErrorKind::kCorrupt, "the state database has no attempt number");
  return static_cast<uint32_t>(find.Int(0));
}

Result<uint32_t> StateStore::BeginAttempt() {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement raise,
                             database_.Prepare("UPDATE meta SET value = CAST(value AS INTEGER) + 1 "
                                               "WHERE key = 'attempt' RETURNING value"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool found, raise.Step());
  if (!found) return MakeError(ErrorKind::kCorrupt, "the state database has no attempt number");
  const auto attempt = static_cast<uint32_t>(raise.Int(0));
  // The change is committed when the statement has been stepped to its end.
  DRIFTLESS_ASSIGN_OR_RETURN(const bool more, raise.Step());
  DRIFTLESS_CHECK(!more);
  return attempt;
}

Result<StreamId> StateStore::InternStream(std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement add,
                             database_.Prepare("INSERT OR IGNORE INTO streams (name) VALUES (?)"));
  DRIFTLESS_TRY(add.Bind(name).Run());
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement find,
                             database_.Prepare("SELECT id FROM streams WHERE name = ?"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool found, find.Bind(name).Step());
  DRIFTLESS_CHECK(found);
  return static_cast<StreamId>(find.Int(0));
}

Result<std::map<StreamId, std::string>> StateStore::Streams() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement rows,
                             database_.Prepare("SELECT id, name FROM streams"));
  std::map<StreamId, std::string> streams;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return streams;
    streams[static_cast<StreamId>(rows.Int(0))] = rows.Text(1);
  }
}

Result<void> StateStore::Transact(const std::function<Result<void>(StateTransaction&)>& writes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_TRY(database_.Execute("BEGIN IMMEDIATE"));
  StateTransaction transaction(&database_);
  Result<void> result = writes(transaction);
  if (result) result = database_.Execute("COMMIT");
  if (!result) {
    // The first error is the one to report; a rollback that fails too changes nothing on disk.
    const Result<void> rollback = database_.Execute("ROLLBACK");
    static_cast<void>(rollback);
  }
  return result;
}

// ---- sinks, positions, cuts ------------------------------------------------------------------

Result<void> StateTransaction::PutSink(const StoredSink& sink) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_->Prepare(
          "INSERT INTO sinks (name, type, identity) VALUES (?, ?, ?) ON CONFLICT "
          "(name) DO UPDATE SET type = excluded.type, identity = excluded.identity"));
  return put.Bind(sink.name).Bind(sink.type).Bind(sink.identity).Run();
}

Result<void> StateTransaction::PutPositions(std::string_view sink, const SinkPositions& positions) {
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement base,
                             database_->Prepare("UPDATE sinks SET position = ? WHERE name = ?"));
  DRIFTLESS_TRY(base.Bind(positions.base.Serialize()).Bind(sink).Run());
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement clear,
                             database_->Prepare("DELETE FROM table_positions WHERE sink = ?"));
  DRIFTLESS_TRY(clear.Bind(sink).Run());
  const auto put = [&](const TablePath& table, const std::string& source,
                       const CutPosition& position) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(
        SqliteStatement row, database_->Prepare("INSERT INTO table_positions VALUES (?, ?, ?, ?)"));
    return row.Bind(sink)
        .Bind(EncodeTablePath(table))
        .Bind(source)
        .Bind(position.Serialize())
        .Run();
  };
  for (const auto& [table, position] : positions.tables) {
    if (position.base.has_value()) DRIFTLESS_TRY(put(table, "", *position.base));
    for (const auto& [source, feed] : position.feeds) {
      DRIFTLESS_TRY(put(table, EncodeTablePath(source), feed));
    }
  }
  return {};
}

Result<void> StateTransaction::KeepCutNumber(CutId cut) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement keep,
      database_->Prepare("UPDATE meta SET value = MAX(CAST(value AS INTEGER), ?) "
                         "WHERE key = 'next_cut'"));
  return keep.Bind(cut + 1).Run();
}

Result<void> StateTransaction::PutCut(std::string_view sink, const PendingCut& cut) {
  DRIFTLESS_TRY(KeepCutNumber(cut.cut));
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement put,
                             database_->Prepare("INSERT INTO cuts VALUES (?, ?, ?, ?)"));
  put.Bind(cut.cut).Bind(sink);
  if (cut.table.has_value()) {
    put.Bind(EncodeTablePath(*cut.table));
  } else {
    put.BindNull();
  }
  DRIFTLESS_TRY(put.Bind(Serialize(cut.move)).Run());
  for (const CommitToken& token : cut.tokens) {
    DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement row,
                               database_->Prepare("INSERT INTO tokens VALUES (?, ?, ?, ?)"));
    DRIFTLESS_TRY(row.Bind(cut.cut)
                      .Bind(EncodeTablePath(token.identity.table))
                      .Bind(token.identity.attempt)
                      .BindBlob(token.payload)
                      .Run());
  }
  return {};
}

Result<void> StateTransaction::DropCut(std::string_view sink, CutId cut) {
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement drop,
                             database_->Prepare("DELETE FROM cuts WHERE cut = ? AND sink = ?"));
  DRIFTLESS_TRY(drop.Bind(cut).Bind(sink).Run());
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement tokens,
                             database_->Prepare("DELETE FROM tokens WHERE cut = ?"));
  return tokens.Bind(cut).Run();
}

Result<std::vector<StoredSink>> StateStore::Sinks() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement rows,
                             database_.Prepare("SELECT name, type, identity FROM sinks"));
  std::vector<StoredSink> sinks;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return sinks;
    sinks.push_back({rows.Text(0), rows.Text(1), rows.Text(2)});
  }
}

Result<SinkPositions> StateStore::Positions(std::string_view sink) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  SinkPositions positions;
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement base,
                             database_.Prepare("SELECT position FROM sinks WHERE name = ?"));
  DRIFTLESS_ASSIGN_OR_RETURN(const bool known, base.Bind(sink).Step());
  if (known) {
    DRIFTLESS_ASSIGN_OR_RETURN(positions.base, PositionAt(base, 0));
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare("SELECT sink_table, source_table, position FROM table_positions "
                        "WHERE sink = ?"));
  rows.Bind(sink);
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return positions;
    DRIFTLESS_ASSIGN_OR_RETURN(const TablePath table, DecodeTablePath(rows.Text(0)));
    DRIFTLESS_ASSIGN_OR_RETURN(CutPosition position, PositionAt(rows, 2));
    TablePosition& own = positions.tables[table];
    if (rows.Text(1).empty()) {
      own.base = std::move(position);
    } else {
      DRIFTLESS_ASSIGN_OR_RETURN(const TablePath source, DecodeTablePath(rows.Text(1)));
      own.feeds[source] = std::move(position);
    }
  }
}

Result<std::vector<PendingCut>> StateStore::PendingCuts(std::string_view sink,
                                                        std::string_view pipeline) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare("SELECT cut, sink_table, moves FROM cuts WHERE sink = ? ORDER BY cut"));
  rows.Bind(sink);
  std::vector<PendingCut> cuts;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return cuts;
    PendingCut cut;
    cut.cut = static_cast<CutId>(rows.Int(0));
    if (!rows.IsNull(1)) {
      DRIFTLESS_ASSIGN_OR_RETURN(cut.table, DecodeTablePath(rows.Text(1)));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(cut.move, ParseCutMove(rows.Text(2)));
    DRIFTLESS_ASSIGN_OR_RETURN(
        SqliteStatement tokens,
        database_.Prepare("SELECT sink_table, attempt, payload FROM tokens WHERE cut = ?"));
    tokens.Bind(cut.cut);
    while (true) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool has_token, tokens.Step());
      if (!has_token) break;
      CommitToken token;
      token.identity.pipeline = pipeline;
      token.identity.sink = sink;
      DRIFTLESS_ASSIGN_OR_RETURN(token.identity.table, DecodeTablePath(tokens.Text(0)));
      token.identity.cut = cut.cut;
      token.identity.attempt = static_cast<uint32_t>(tokens.Int(1));
      token.payload = tokens.Text(2);
      cut.tokens.push_back(std::move(token));
    }
    cuts.push_back(std::move(cut));
  }
}

Result<CutId> StateStore::NextCut() const {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const auto next, Number("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_cut'"));
  return static_cast<CutId>(next.value_or(1));
}

// ---- table states ----------------------------------------------------------------------------

Result<void> StateTransaction::PutTableState(const SinkTableKey& table, std::string_view state) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement put,
      database_->Prepare("INSERT INTO table_states (sink, sink_table, state) VALUES (?, ?, ?) "
                         "ON CONFLICT (sink, sink_table) DO UPDATE SET state = excluded.state"));
  return put.Bind(table.sink).Bind(EncodeTablePath(table.table)).Bind(state).Run();
}

Result<void> StateTransaction::PutCutState(const SinkTableKey& table, std::string_view state,
                                           CutId cut, const TablePath& source) {
  DRIFTLESS_TRY(PutTableState(table, state));
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement mark,
      database_->Prepare("UPDATE table_states SET cut = ?, cut_committed = 0, source_table = ? "
                         "WHERE sink = ? AND sink_table = ?"));
  return mark.Bind(cut)
      .Bind(EncodeTablePath(source))
      .Bind(table.sink)
      .Bind(EncodeTablePath(table.table))
      .Run();
}

Result<void> StateTransaction::MarkCutCommitted(const SinkTableKey& table, CutId cut) {
  DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement mark,
                             database_->Prepare("UPDATE table_states SET cut_committed = 1 "
                                                "WHERE sink = ? AND sink_table = ? AND cut = ?"));
  return mark.Bind(table.sink).Bind(EncodeTablePath(table.table)).Bind(cut).Run();
}

Result<void> StateTransaction::CloseCut(const SinkTableKey& table) {
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement close,
      database_->Prepare("UPDATE table_states SET cut = 0, cut_committed = 0 "
                         "WHERE sink = ? AND sink_table = ?"));
  return close.Bind(table.sink).Bind(EncodeTablePath(table.table)).Run();
}

Result<std::vector<StoredTableState>> StateStore::TableStates() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare("SELECT sink, sink_table, state, cut, cut_committed, source_table "
                        "FROM table_states"));
  std::vector<StoredTableState> states;
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) return states;
    StoredTableState state;
    state.table.sink = rows.Text(0);
    DRIFTLESS_ASSIGN_OR_RETURN(state.table.table, DecodeTablePath(rows.Text(1)));
    state.state = rows.Text(2);
    state.cut = static_cast<CutId>(rows.Int(3));
    state.cut_committed = rows.Int(4) != 0;
    if (!rows.Text(5).empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(state.source, DecodeTablePath(rows.Text(5)));
    }
    states.push_back(std::move(state));
  }
}

// ---- parking ---------------------------------------------------------------------------------

Result<void> StateTransaction::PutParked(const ParkedTable& parked) {
  DRIFTLESS_TRY(DropParked(parked.table));
  const std::string table = EncodeTablePath(parked.table.table);
  const auto put = [&](const std::string& source, const CutPosition& position) -> Result<void> {
    DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement row,
                               database_->Prepare("INSERT INTO parked VALUES (?, ?, ?, ?)"));
    return row.Bind(parked.table.sink).Bind(table).Bind(source).Bind(position.Serialize()).Run();
  };
  DRIFTLESS_TRY(put("", parked.through));
  for (const auto& [source, position] : parked.feeds) {
    DRIFTLESS_TRY(put(EncodeTablePath(source), position));
  }
  for (const ParkedSegment& segment : parked.segments) {
    DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement row,
                               database_->Prepare("INSERT INTO segments VALUES (?, ?, ?, ?, ?)"));
    DRIFTLESS_TRY(row.Bind(segment.number)
                      .Bind(parked.table.sink)
                      .Bind(table)
                      .Bind(segment.bytes)
                      .Bind(segment.items)
                      .Run());
    DRIFTLESS_ASSIGN_OR_RETURN(
        SqliteStatement keep,
        database_->Prepare("UPDATE meta SET value = MAX(CAST(value AS INTEGER), ?) "
                           "WHERE key = 'next_segment'"));
    DRIFTLESS_TRY(keep.Bind(segment.number + 1).Run());
  }
  return {};
}

Result<void> StateTransaction::DropParked(const SinkTableKey& table) {
  for (const char* sql : {"DELETE FROM parked WHERE sink = ? AND sink_table = ?",
                          "DELETE FROM segments WHERE sink = ? AND sink_table = ?"}) {
    DRIFTLESS_ASSIGN_OR_RETURN(SqliteStatement drop, database_->Prepare(sql));
    DRIFTLESS_TRY(drop.Bind(table.sink).Bind(EncodeTablePath(table.table)).Run());
  }
  return {};
}

Result<std::vector<ParkedTable>> StateStore::Parked() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::map<SinkTableKey, ParkedTable> parked;
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement rows,
      database_.Prepare("SELECT sink, sink_table, source_table, position FROM parked"));
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, rows.Step());
    if (!more) break;
    SinkTableKey key{rows.Text(0), {}};
    DRIFTLESS_ASSIGN_OR_RETURN(key.table, DecodeTablePath(rows.Text(1)));
    DRIFTLESS_ASSIGN_OR_RETURN(CutPosition position, PositionAt(rows, 3));
    parked[key].table = key;
    if (rows.Text(2).empty()) {
      parked[key].through = std::move(position);
    } else {
      DRIFTLESS_ASSIGN_OR_RETURN(const TablePath source, DecodeTablePath(rows.Text(2)));
      parked[key].feeds[source] = std::move(position);
    }
  }
  DRIFTLESS_ASSIGN_OR_RETURN(
      SqliteStatement segments,
      database_.Prepare("SELECT sink, sink_table, number, bytes, items FROM segments "
                        "ORDER BY number"));
  while (true) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool more, segments.Step());
    if (!more) break;
    SinkTableKey key{segments.Text(0), {}};
    DRIFTLESS_ASSIGN_OR_RETURN(key.table, DecodeTablePath(segments.Text(1)));
    parked[key].table = key;
    parked[key].segments.push_back(
        {static_cast<uint64_t>(segments.Int(2)), segments.Int(3), segments.Int(4)});
  }
  std::vector<ParkedTable> list;
  for (auto& [key, table] : parked) list.push_back(std::move(table));
  return list;
}

Result<uint64_t> StateStore::NextSegment() const {
  DRIFTLESS_ASSIGN_OR_RETURN(
      const auto next,
      Number("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'next_segment'"));
  return static_cast<uint64_t>(next.value_or(1));
}

}  // namespace driftless
