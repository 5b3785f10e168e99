#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "pipeline/sources/mysql/dump_client.h"
#include "pipeline/sources/mysql/joining_tables.h"
#include "pipeline/sources/mysql/lacking_sinks.h"
#include "pipeline/sources/mysql/log_meter.h"
#include "pipeline/sources/mysql/log_start.h"
#include "pipeline/sources/mysql/log_stream.h"
#include "pipeline/sources/mysql/mysql_source.h"
#include "pipeline/sources/mysql/server_text_order.h"
#include "pipeline/sources/mysql/snapshot_merge.h"
#include "pipeline/sources/mysql/tables.h"

namespace driftless::mysql {
namespace {

// Whether a place in the log is at or before another one.
bool IsCoveredBy(const LogPosition& place, const LogPosition& end) {
  return std::pair(place.Epoch(), place.offset) <= std::pair(end.Epoch(), end.offset);
}

class LogRun {
 public:
  LogRun(const SourceOptions& options, const ServerFacts& facts, const SourceContext& context,
         StreamId stream, SourceOutput* output, Handover* handover)
      : options_(options),
        facts_(facts),
        context_(context),
        stream_(stream),
        output_(*output),
        handover_(*handover),
        meter_(options.connection, context.metrics),
        text_order_(options.connection),
        merge_(output, &text_order_,
               {.chosen = [this](const auto& schema) { return options_.ChunkColumn(schema.path); },
                .persist = [this] { return Persist(); }}),
        log_(
            options, SettingsOf(facts, options), context, stream, &merge_,
            {.wants_rows = [this](const auto& table,
                                  const auto& at) { return merge_.Wants(table, LogPlace::Of(at)); },
             .fetch = [this](const auto& table, uint64_t i) { return Fetch(table, i); },
             .read_again = [this](const auto& table) { return ReadAgain(table); }}) {}

  Result<void> Run(const CutPosition& from) {
    DRIFTLESS_ASSIGN_OR_RETURN(const CutPosition beginning, BeginningOf(from));
    if (beginning.Last(stream_)) {
      DRIFTLESS_TRY(Restore(beginning));
      if (!from.Last(stream_)) DRIFTLESS_TRY(MeetLackingSinks());
    } else {
      DRIFTLESS_TRY(Plan());
    }
    if (!Persist()) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(const bool announced, AnnounceTables());
    if (!announced) return {};
    if (!log_.Flush()) return {};
    DRIFTLESS_TRY(LetJoin());
    if (output_.stopping()) return {};
    for (;;) {
      DRIFTLESS_TRY(ReadSnapshot());
      if (output_.stopping() || !options_.WantsLog()) return {};
      has_to_read_ = false;
      DRIFTLESS_TRY(StreamTo(std::nullopt));
      if (output_.stopping() || !has_to_read_) return {};
    }
  }

 private:
  // ---- the beginning -------------------------------------------------------------------------

  // Where a sink has no position, the log goes on from where the others are, if the server still
  // has it there. Nothing: all begin anew.
  Result<CutPosition> BeginningOf(const CutPosition& from) {
    if (from.Last(stream_) || !context_.from_of_others || !context_.places) return from;
    if (context_.history == nullptr || !options_.GoesOnForOthers()) return from;
    CutPosition others = context_.from_of_others(stream_);
    if (!others.Last(stream_) || !options_.WantsLog()) return others;
    DRIFTLESS_ASSIGN_OR_RETURN(LogPosition place, LogPosition::Parse(others.Resume(stream_)));
    const std::string text = place.ToString();
    auto here = AtServer(std::move(place), facts_);
    bool is_there = false;
    if (here) {
      DRIFTLESS_ASSIGN_OR_RETURN(is_there, HasLogFrom(options_, facts_, *here));
    }
    if (is_there) return others;
    spdlog::warn(
        "mysql source: a sink has no position, and the log is not there any more from {} on, where "
        "the others are: all of them begin anew",
        text);
    return from;
  }

  // What they lack is read for them alone.
  Result<void> MeetLackingSinks() {
    LackingInputs inputs;
    inputs.stream = stream_;
    inputs.snapshot = snapshot_stream_;
    inputs.at = log_.position().PointOf(stream_);
    inputs.wants_snapshot = options_.WantsSnapshot();
    inputs.tables = log_.CapturedTables();
    inputs.places = context_.places;
    DRIFTLESS_ASSIGN_OR_RETURN(inputs.history, context_.history->All(std::nullopt));
    std::erase_if(inputs.history,
                  [this](const auto& version) { return version.point.stream != stream_; });
    lacking_ = FindLackingSinks(inputs, &merge_.progress());
    std::set<std::string> sinks;
    for (const auto& introduction : lacking_.introductions) {
      sinks.insert(introduction.sinks.sinks.begin(), introduction.sinks.sinks.end());
    }
    spdlog::info(
        "mysql source: {} {}, from {}; sinks without a position get the tables by a snapshot of "
        "their own: {}",
        facts_.IsMariaDb() ? "MariaDB" : "MySQL", facts_.version_text, log_.position().ToString(),
        fmt::join(sinks, ", "));
    return {};
  }

  // False: the pipeline stops.
  bool Introduce() {
    for (const LackingSinks::Gap& gap : lacking_.gaps) {
      UnseenChange unseen;
      unseen.table = gap.table;
      unseen.what = fmt::format(
          "a new beginning for a sink that was killed before its first commit (it has rows up to "
          "{}; what the log tells from there on is not read)",
          gap.place);
      unseen.sinks = SinkChoice::Only({gap.sink});
      if (!TellGap(std::move(unseen))) return false;
    }
    for (const LackingSinks::Introduction& introduction : lacking_.introductions) {
      output_.SendTo(introduction.sinks);
      const bool go_on = log_.Introduce(introduction.versions);
      output_.SendTo({});
      if (!go_on) return false;
    }
    lacking_ = {};
    return true;
  }

  Result<void> Restore(const CutPosition& from) {
    DRIFTLESS_ASSIGN_OR_RETURN(LogPosition position, LogPosition::Parse(from.Resume(stream_)));
    DRIFTLESS_ASSIGN_OR_RETURN(position, AtServer(std::move(position), facts_));
    const Point at = position.PointOf(stream_);
    std::vector<TableSchemaPtr> tables;
    std::vector<SchemaVersion> history;  // of the stream
    std::vector<SchemaVersion> before;   // oldest first
    uint64_t next = 1;
    if (context_.history != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto versions, context_.history->At(at));
      for (const SchemaVersion& version : versions) {
        if (version.schema != nullptr) tables.push_back(version.schema);
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const auto all, context_.history->All(std::nullopt));
      for (const SchemaVersion& version : all) {
        if (version.point.stream != stream_) continue;
        history.push_back(version);
        // Statements behind the place come again and get their numbers again.
        if (at.Precedes(version.point)) continue;
        const bool left = version.schema == nullptr && LogPosition::IsBehindRows(version.point);
        if (!left) before.push_back(version);
        if (version.schema != nullptr) next = std::max(next, version.schema->incarnation + 1);
      }
    }
    log_.Begin(position, tables, next);
    log_.RestoreDrops(OnlineSchemaChange::WaitingDropsIn(before, options_.online));
    std::optional<SnapshotAnswer> resumed = Ask(SnapshotRequest::Step::kResume, from);
    if (!resumed) return MakeError(ErrorKind::kCancelled, "the pipeline stops");
    merge_.progress() = std::move(resumed->progress);
    snapshot_stream_ = resumed->stream;
    ForgetRemovedSinks();
    for (auto& [path, table] : merge_.progress().tables) {
      const TableSchemaPtr schema = log_.Find(path);
      // Without a key nothing tells rows that are there from rows that come again.
      if (schema != nullptr && schema->primary_key.empty()) table.repeats = false;
    }
    return FindJoining(at, *from.Last(stream_), std::move(history));
  }

  // For sinks that are not part of the pipeline any more nothing is read.
  void ForgetRemovedSinks() {
    if (!context_.places) return;
    std::vector<TablePath> tables;
    for (const auto& [path, table] : merge_.progress().tables) tables.push_back(path);
    for (const TablePath& path : tables) {
      std::set<std::string> sinks;
      for (const SinkPlace& place : context_.places(path)) sinks.insert(place.sink);
      merge_.progress().Forget(path, [&](const auto& sink) { return !sinks.contains(sink); });
    }
  }

  // ---- tables that join a running pipeline, and leave it -------------------------------------

  // Which ones do; until they have joined nothing of them is sent.
  Result<void> FindJoining(const Point& at, const Point& committed,
                           std::vector<SchemaVersion> history) {
    std::string& selection = merge_.progress().selection;
    const bool has_changed = !selection.empty() && selection != TableSelection::TextOf(options_);
    JoiningInputs inputs;
    inputs.options = &options_;
    inputs.at = at;
    inputs.committed = committed;
    inputs.history = std::move(history);
    if (has_changed) {
      DRIFTLESS_ASSIGN_OR_RETURN(inputs.before, TableSelection::Parse(selection));
    }
    if (has_changed || options_.newly_added_tables) {
      DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
      DRIFTLESS_ASSIGN_OR_RETURN(inputs.listed, ListTables(connection.get(), options_));
    }
    joining_ = FindJoiningTables(inputs);
    for (const TablePath& table : inputs.listed) log_.Expect(table);
    if (!options_.newly_added_tables && !joining_.newcomers.empty()) {
      return MakeError(ErrorKind::kInvalidConfig,
                       fmt::format("tables that were not captured before match \"tables\" now: {}",
                                   Names(joining_.newcomers)))
          .Hint(
              "Set scan.newly-added-table.enabled: true, so that a snapshot of them is taken; or "
              "leave them out with tables.exclude.");
    }
    std::set<TablePath> aside(joining_.newcomers.begin(), joining_.newcomers.end());
    for (const SchemaVersion& join : joining_.again) aside.insert(join.table);
    for (const SchemaVersion& version : inputs.history) {
      if (version.schema != nullptr || !LogPosition::IsBehindRows(version.point)) continue;
      if (!aside.contains(version.table)) continue;
      spdlog::warn(
          "mysql source: {} was captured once before: rows that were deleted while it was not stay "
          "in its sink tables",
          version.table.ToString());
    }
    log_.SetAside(std::move(aside));
    return {};
  }

  static std::string Names(const std::vector<TablePath>& tables) {
    constexpr size_t kNamesMax = 10;
    std::string names;
    for (size_t i = 0; i < std::min(tables.size(), kNamesMax); ++i) {
      names += (i == 0 ? "" : ", ") + tables[i].ToString();
    }
    if (tables.size() > kNamesMax) {
      names += fmt::format(" and {} more", tables.size() - kNamesMax);
    }
    return names;
  }

  Result<void> LetJoin() {
    for (const TablePath& table : joining_.leaving) {
      DRIFTLESS_TRY(log_.Leave(table));
      merge_.progress().Finish(table);
      spdlog::info("mysql source: {} is captured no more", table.ToString());
    }
    for (const SchemaVersion& join : joining_.again) {
      DRIFTLESS_TRY(StreamToJoin(join));
      if (output_.stopping()) return {};
      const auto furthest = context_.furthest ? context_.furthest(join.table) : CutPosition();
      const auto last = furthest.Last(stream_);
      // Some sink may have rows of it, of which the log has not told since.
      const bool repeats = last && !last->Precedes(join.point) && !join.schema->primary_key.empty();
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, LetJoinNow({join.schema}, repeats));
      if (!go_on) return {};
    }
    if (!joining_.newcomers.empty()) {
      DRIFTLESS_ASSIGN_OR_RETURN(const auto schemas, ReadNewcomers());
      if (output_.stopping()) return {};
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, LetJoinNow(schemas, /*repeats=*/false));
      if (!go_on) return {};
      spdlog::info("mysql source: {} newly added tables join at {}", schemas.size(),
                   log_.position().ToString());
    }
    log_.AdmitRest();
    std::string& selection = merge_.progress().selection;
    const std::string now = TableSelection::TextOf(options_);
    if (selection == now && joining_.leaving.empty()) return {};
    selection = now;
    if (Persist()) log_.Flush();
    return {};
  }

  // The rows of a snapshot are never before the join: what remains to be read is told first.
  Result<bool> LetJoinNow(const std::vector<TableSchemaPtr>& schemas, bool repeats) {
    announce_ = schemas;
    for (const TableSchemaPtr& schema : schemas) {
      if (!options_.WantsSnapshot() || log_.IsHidden(schema->path)) continue;
      TableProgress& progress = merge_.progress().tables[schema->path];
      progress = {};
      progress.repeats = repeats;
    }
    if (!Persist()) return false;
    announce_.clear();
    for (const TableSchemaPtr& schema : schemas) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, log_.Join(schema));
      if (!go_on) return false;
    }
    return log_.Flush();
  }

  // To the place where it joined in a former run.
  Result<void> StreamToJoin(const SchemaVersion& join) {
    if (!options_.WantsLog()) return {};
    LogPosition place = log_.position();
    if (place.generation != join.point.epoch >> 32) return {};  // another server's
    place.file = join.position.substr(0, join.position.rfind(':'));
    place.offset = join.point.offset;
    return StreamAndPass(place);
  }

  // The newcomers as they are at the place that the log has been read to.
  Result<std::vector<TableSchemaPtr>> ReadNewcomers() {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    std::map<TablePath, std::string> texts;
    bool same = false;
    bool told = false;
    while (!same && !output_.stopping()) {
      // A restart within a prepared XA transaction would go on in front of the joins.
      if (options_.WantsLog()) DRIFTLESS_TRY(StreamToPresentEnd());
      const LogPosition resume = log_.ResumePosition();
      if (!IsCoveredBy(log_.position(), resume)) {
        if (!std::exchange(told, true)) {
          spdlog::warn("mysql source: newly added tables wait for the end of an XA transaction");
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        continue;
      }
      std::map<TablePath, std::string> again;
      for (const TablePath& table : log_.aside()) {
        auto text = ShowCreateTable(connection.get(), table);
        if (!text && text.error().kind() == ErrorKind::kNotFound) continue;
        if (!text) return std::move(text).error();
        again[table] = std::move(*text);
      }
      same = !options_.WantsLog() || SameTexts(texts, again);
      texts = std::move(again);
    }
    std::vector<TableSchemaPtr> schemas;
    for (const bool hidden : {false, true}) {  // a shadow is known by its table
      for (const auto& [table, text] : texts) {
        if (log_.IsHidden(table) != hidden) continue;
        if (hidden && log_.Find(table) != nullptr) continue;
        DRIFTLESS_ASSIGN_OR_RETURN(TableSchemaPtr schema,
                                   SchemaOfStatement(text, table, SettingsOf(facts_, options_),
                                                     options_.include_comments, 1));
        schemas.push_back(std::move(schema));
      }
    }
    return schemas;
  }

  // False: the pipeline stops.
  Result<bool> AnnounceTables() {
    // Told first: once a sink without a position has one, no later start finds the gap.
    for (const auto& [table, before] : gaps_) {
      UnseenChange gap;
      gap.table = table;
      gap.what = fmt::format(
          "a new beginning for a sink without a position (others had the table up to {})",
          before.place);
      gap.sinks = before.sinks;
      if (!TellGap(std::move(gap))) return false;
    }
    gaps_.clear();
    if (!Introduce()) return false;
    if (!announce_.empty()) DRIFTLESS_TRY(log_.NumberBehindHistory());
    for (const TableSchemaPtr& schema : announce_) {
      DRIFTLESS_ASSIGN_OR_RETURN(bool go_on, log_.Announce(schema));
      if (!go_on) return false;
      const auto altered = altered_.find(schema->path);
      if (altered == altered_.end()) continue;
      for (const TableSchemaPtr& version : altered->second.versions) {
        DRIFTLESS_ASSIGN_OR_RETURN(go_on, log_.Repeat(version));
        if (!go_on) return false;
      }
      DRIFTLESS_ASSIGN_OR_RETURN(go_on, log_.Alter(altered->second.now));
      if (!go_on) return false;
    }
    announce_.clear();
    altered_.clear();
    return true;
  }

  // Where the log between is not read, rows come again, but none tells what was deleted meanwhile.
  // False: the pipeline stops.
  bool TellGap(UnseenChange gap) {
    gap.point = log_.position().PointOf(stream_);
    gap.position = log_.position().ToString();
    gap.is_repeated = options_.WantsSnapshot();
    return output_.Unseen(gap);
  }

  // All sinks begin anew, here, for one without a position. Looked for before anything is
  // announced: that moves the sinks' positions.
  void FindGap(const TablePath& table, const RowEvidence& evidence) {
    const Point here = log_.position().PointOf(stream_);
    for (const SinkPlace& place : context_.places(table)) {
      const std::optional<Point> last = place.furthest.Last(stream_);
      if (!last || (!place.from.Last(stream_) && !evidence.HasRows(table, place))) continue;
      if (!options_.GoesOnForOthers() && !last->Precedes(here)) continue;  // the place is exact
      Gap& gap = gaps_[table];
      const auto before = LogPosition::Parse(place.furthest.Resume(stream_));
      gap.place = before ? before->ToString() : last->ToString();
      gap.sinks.kind = SinkChoice::Kind::kOnly;
      gap.sinks.sinks.push_back(place.sink);
    }
  }

  // Errors: kCancelled.
  Result<void> FindGaps(const std::map<TablePath, std::string>& tables) {
    if (!context_.places || context_.history == nullptr) return {};
    const std::optional<SnapshotAnswer> answer = Ask(SnapshotRequest::Step::kResume);
    if (!answer) return MakeError(ErrorKind::kCancelled, "the pipeline stops");
    DRIFTLESS_ASSIGN_OR_RETURN(const auto history, context_.history->All(std::nullopt));
    const RowEvidence evidence(stream_, answer->stream, options_.WantsSnapshot(), history);
    for (const auto& [table, text] : tables) FindGap(table, evidence);
    return {};
  }

  // A start by GTIDs has the place of its file's beginning. A sink that has gone further in that
  // file takes the announcements there for old ones, and would miss how the table was altered
  // since.
  Result<void> CheckReach(const TableSchema& before, const TableSchema& now,
                          const LogPosition& start) const {
    if (!context_.furthest || SameShape(before, now)) return {};
    const std::optional<Point> last = context_.furthest(now.path).Last(stream_);
    if (!last || last->Precedes(start.PointOf(stream_))) return {};
    return MakeError(ErrorKind::kUnavailable,
                     "table " + now.path.ToString() +
                         " was altered, some sinks have no position, and others have one behind " +
                         start.ToString() + ", where the source would begin anew")
        .Hint("FLUSH BINARY LOGS at the server: in a new file all sinks see how it was altered.");
  }

  // The versions of tables that a former start announced and of which no sink has a position yet:
  // each sink's table may be as any of them says, and has their columns' identities. `next` gets
  // past all incarnations.
  Result<std::map<TablePath, std::vector<TableSchemaPtr>>> AnnouncedBefore(uint64_t* next) {
    std::map<TablePath, std::vector<TableSchemaPtr>> known;
    if (context_.history == nullptr) return known;
    DRIFTLESS_ASSIGN_OR_RETURN(const auto all, context_.history->All(std::nullopt));
    std::map<TablePath, std::map<uint32_t, TableSchemaPtr>> versions;  // of the last incarnation
    for (const SchemaVersion& version : all) {  // oldest first for each table
      if (version.point.stream != stream_) continue;
      auto& here = versions[version.table];
      const TableSchemaPtr& schema = version.schema;
      if (schema == nullptr) {
        here.clear();
        continue;
      }
      *next = std::max(*next, schema->incarnation + 1);
      if (!here.empty() && here.begin()->second->incarnation != schema->incarnation) here.clear();
      here[schema->version] = schema;
    }
    for (const auto& [table, numbered] : versions) {
      for (const auto& [number, schema] : numbered) known[table].push_back(schema);
    }
    return known;
  }

  // Where the log begins, and the tables as they are there.
  Result<void> Plan() {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    LogPosition start;
    start.server = facts_.identity;
    std::map<TablePath, std::string> texts;
    DRIFTLESS_TRY(ReadTexts(connection.get(), &texts));
    for (;;) {
      if (options_.WantsLog()) {
        DRIFTLESS_ASSIGN_OR_RETURN(start, StartPosition(options_, facts_, connection.get()));
      }
      std::map<TablePath, std::string> again;
      DRIFTLESS_TRY(ReadTexts(connection.get(), &again));
      // No statement came between the two readings, so they are the place's.
      const bool same = SameTexts(texts, again);
      texts = std::move(again);
      if (same) break;
    }
    if (texts.empty()) {
      return MakeError(ErrorKind::kInvalidConfig,
                       "no table of the server matches \"tables\": " + options_.tables->text())
          .Hint("Each entry is database.table; the user must have SELECT on the tables.");
    }
    uint64_t incarnation = 1;
    DRIFTLESS_ASSIGN_OR_RETURN(auto known, AnnouncedBefore(&incarnation));
    log_.Begin(start, {}, incarnation + texts.size());
    for (const auto& [table, text] : texts) {
      log_.Expect(table);
    }
    DRIFTLESS_TRY(FindGaps(texts));
    for (const bool hidden : {false, true}) {  // a shadow is known by its table
      for (const auto& [table, text] : texts) {
        if (log_.IsHidden(table) != hidden) continue;
        DRIFTLESS_ASSIGN_OR_RETURN(TableSchemaPtr schema,
                                   SchemaOfStatement(text, table, SettingsOf(facts_, options_),
                                                     options_.include_comments, incarnation++));
        const auto before = hidden ? known.end() : known.find(table);
        if (before != known.end()) {
          DRIFTLESS_TRY(CheckReach(*before->second.back(), *schema, start));
          Altered& altered = altered_[table];
          altered.now = std::exchange(schema, before->second.front());
          altered.versions.assign(before->second.begin() + 1, before->second.end());
        }
        announce_.push_back(std::move(schema));
        if (options_.WantsSnapshot() && !hidden) merge_.progress().tables[table] = {};
      }
    }
    merge_.progress().selection = TableSelection::TextOf(options_);
    spdlog::info("mysql source: {} {}, {} tables, from {}",
                 facts_.IsMariaDb() ? "MariaDB" : "MySQL", facts_.version_text, texts.size(),
                 start.ToString());
    return {};
  }

  // AUTO_INCREMENT counts up with every row; it says nothing of the table's form.
  static bool SameTexts(const std::map<TablePath, std::string>& a,
                        const std::map<TablePath, std::string>& b) {
    const auto without = [](std::string text) {
      const size_t at = text.rfind(" AUTO_INCREMENT=");
      if (at == std::string::npos) return text;
      size_t end = at + 16;
      while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
      return text.erase(at, end - at);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const auto& x, const auto& y) {
      return x.first == y.first && without(x.second) == without(y.second);
    });
  }

  Result<void> ReadTexts(Connection* connection, std::map<TablePath, std::string>* texts) {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto tables, ListTables(connection, options_));
    for (const TablePath& table : tables) {
      auto text = ShowCreateTable(connection, table);
      if (!text && text.error().kind() == ErrorKind::kNotFound) continue;
      if (!text) return std::move(text).error();
      (*texts)[table] = std::move(*text);
    }
    return {};
  }

  // ---- the snapshot --------------------------------------------------------------------------

  std::optional<SnapshotAnswer> Ask(SnapshotRequest::Step step, const CutPosition& from = {}) {
    SnapshotRequest request;
    request.step = step;
    request.from = from;
    request.log_stream = stream_;
    request.progress = merge_.progress();
    if (!request.progress.done() || !has_reported_) request.tables = TablesNow();
    has_reported_ |= step == SnapshotRequest::Step::kReport;
    request.log = log_.position();
    return handover_.Ask(std::move(request), output_);
  }

  std::map<TablePath, TableSchemaPtr> TablesNow() const {
    std::map<TablePath, TableSchemaPtr> tables = log_.CapturedTables();
    for (const TableSchemaPtr& planned : announce_) tables.emplace(planned->path, planned);
    std::erase_if(tables, [this](const auto& table) { return merge_.IsParked(table.first); });
    return tables;
  }

  // False: the pipeline stops.
  bool Persist() {
    std::optional<SnapshotAnswer> answer = Ask(SnapshotRequest::Step::kReport);
    if (answer) merge_.progress() = std::move(answer->progress);  // with what is estimated
    return answer.has_value();
  }

  // Rounds of chunks, each behind what the log has up to its views. Tables that wait for a decision
  // stay unread; the run begins anew when it comes.
  Result<void> ReadSnapshot() {
    SnapshotProgress& progress = merge_.progress();
    const bool is_restored_whole = progress.done();
    while (!output_.stopping() && !progress.done()) {
      if (options_.WantsLog()) DRIFTLESS_TRY(StreamToPresentEnd());
      if (output_.stopping()) return {};
      const auto waits = [this](const auto& table) { return merge_.IsParked(table.first); };
      if (std::all_of(progress.tables.begin(), progress.tables.end(), waits)) break;
      const bool any_left =
          std::any_of(progress.tables.begin(), progress.tables.end(),
                      [&](const auto& table) { return !table.second.finished && !waits(table); });
      if (!any_left) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, ReadRound());
      if (!go_on) return {};
    }
    if (output_.stopping() || (!is_restored_whole && !Persist())) return {};
    // Else the other thread is there for what statements change of it.
    if (progress.done()) {
      Ask(context_.reads_tables_again ? SnapshotRequest::Step::kDone : SnapshotRequest::Step::kEnd);
    }
    return {};
  }

  // Of a table whose rows changed without events. A sink that has not emptied its table has rows
  // that the log changes before their chunk comes, so none of the log's is left out.
  bool ReadAgain(const TablePath& table) {
    TableProgress& progress = merge_.progress().tables[table];
    progress = {};
    progress.repeats = true;
    has_to_read_ = true;
    return Persist();
  }

  Result<void> StreamToPresentEnd() {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    DRIFTLESS_ASSIGN_OR_RETURN(LogPosition end, CurrentLogPosition(connection.get(), facts_));
    end.generation = log_.position().generation;
    return StreamAndPass(end);
  }

  Result<void> StreamAndPass(const LogPosition& end) {
    DRIFTLESS_TRY(StreamTo(end));
    SnapshotProgress& progress = merge_.progress();
    progress.Pass(LogPlace::Of(log_.position()));
    // What was dropped, or renamed away, is not read.
    const auto tables = log_.CapturedTables();
    std::vector<TablePath> gone;
    for (const auto& [path, table] : progress.tables) {
      if (!tables.contains(path)) gone.push_back(path);
    }
    for (const TablePath& path : gone) progress.Finish(path);
    return {};
  }

  // False: the pipeline stops.
  Result<bool> ReadRound() {
    const std::optional<SnapshotAnswer> opened = Ask(SnapshotRequest::Step::kOpen);
    if (!opened) return false;
    if (options_.WantsLog()) DRIFTLESS_TRY(StreamAndPass(opened->first_view));
    if (output_.stopping()) return false;
    std::optional<SnapshotAnswer> read = Ask(SnapshotRequest::Step::kRead);
    if (!read) return false;
    merge_.progress() = std::move(read->progress);
    if (read->advanced) {
      rounds_in_vain_ = 0;
      return true;
    }
    // The tables are not as the log says: their statements are on their way, or wait for our views.
    constexpr int kInVainMax = 200;
    if (++rounds_in_vain_ > kInVainMax && merge_.progress().has_unread()) {
      std::string names;
      for (const auto& [path, table] : merge_.progress().tables) {
        if (!table.finished) names += (names.empty() ? "" : ", ") + path.ToString();
      }
      return MakeError(
                 ErrorKind::kConflict,
                 "the snapshot cannot be read, because these tables are not as the log says: " +
                     names)
          .Hint(
              "Start again where they were altered meanwhile; in scan.startup.mode snapshot no "
              "log tells what was altered.");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return true;
  }

  Result<TableSchemaPtr> Fetch(const TablePath& table, uint64_t incarnation) {
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    DRIFTLESS_ASSIGN_OR_RETURN(const std::string text, ShowCreateTable(connection.get(), table));
    return SchemaOfStatement(text, table, SettingsOf(facts_, options_), options_.include_comments,
                             incarnation);
  }

  // ---- following -----------------------------------------------------------------------------

  // Reads to `end`, or until the pipeline stops; connects anew where the connection breaks.
  Result<void> StreamTo(const std::optional<LogPosition>& end) {
    int64_t wait_ms = 100;
    while (!output_.stopping()) {
      const LogPosition before = log_.position();
      Result<bool> result = StreamOnce(end);
      if (result && *result) return {};
      if (!result && !IsWorthRetry(result.error())) return std::move(result).error();
      if (!(before.offset == log_.position().offset && before.file == log_.position().file)) {
        wait_ms = 100;
      }
      spdlog::warn("mysql source: {}; connecting again in {} ms",
                   result ? "the server ended the log's stream" : result.error().ToString(),
                   wait_ms);
      for (int64_t left = wait_ms; left > 0 && !output_.stopping(); left -= 100) {
        std::this_thread::sleep_for(std::chrono::milliseconds(std::min<int64_t>(left, 100)));
      }
      wait_ms = std::min<int64_t>(wait_ms * 2, 30000);
      client_.reset();
    }
    return {};
  }

  // Whether a new connection may do better: the server went away, or our server id is taken.
  static bool IsWorthRetry(const Error& error) {
    return error.kind() == ErrorKind::kUnavailable || error.kind() == ErrorKind::kConflict ||
           error.kind() == ErrorKind::kTimedOut;
  }

  // Another server may have taken the place of the one before.
  Result<void> MeetServer() {
    log_.Reconnected();
    if (!has_met_) {
      has_met_ = true;
      return {};
    }
    DRIFTLESS_ASSIGN_OR_RETURN(auto connection, Connection::Open(options_.connection));
    DRIFTLESS_ASSIGN_OR_RETURN(now_, ReadServerFacts(connection.get()));
    if (now_.identity == log_.position().server) return {};
    spdlog::warn("mysql source: {} {} has taken the place of another server; it is read by GTID",
                 now_.IsMariaDb() ? "MariaDB" : "MySQL", now_.version_text);
    DRIFTLESS_ASSIGN_OR_RETURN(const LogPosition position, AtServer(log_.position(), now_));
    log_.MoveTo(position);
    return {};
  }

  // True: the end is reached. False: the server ended the stream.
  Result<bool> StreamOnce(const std::optional<LogPosition>& end) {
    if (client_ == nullptr) {
      DRIFTLESS_TRY(MeetServer());
      DRIFTLESS_ASSIGN_OR_RETURN(client_, DumpClient::Open(options_, now_, log_.position(),
                                                           ChooseServerId(options_.server_id)));
    }
    const int64_t flush_us = std::clamp<int64_t>(context_.max_wait_ms, 1, 1000) * 1000;
    int64_t last_flush_us = context_.clock->MonotonicMicros();
    for (;;) {
      if (!log_.in_transaction()) {
        const bool reached = end ? IsCoveredBy(*end, log_.position()) : has_to_read_;
        if (reached || output_.stopping()) return Stop(log_.Flush());
      }
      DRIFTLESS_ASSIGN_OR_RETURN(const std::string_view event, client_->Next());
      if (event.empty()) return false;
      meter_.Count(event);
      DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, log_.Event(event));
      if (!go_on) return Stop(false);
      const int64_t now = context_.clock->MonotonicMicros();
      if (now - last_flush_us < flush_us) continue;
      last_flush_us = now;
      meter_.Tell(log_.position(), now);
      if (!log_.Flush()) return Stop(false);
    }
  }

  // The end is reached, or the output took no more: for a reason, or because the pipeline stops.
  Result<bool> Stop(bool flushed) const {
    if (!flushed && merge_.failure()) return *merge_.failure();
    return true;
  }

  const SourceOptions& options_;
  const ServerFacts& facts_;
  const SourceContext& context_;
  const StreamId stream_;
  StreamId snapshot_stream_ = 0;
  SourceOutput& output_;
  Handover& handover_;
  LogMeter meter_;
  ServerTextOrder text_order_;
  SnapshotMerge merge_;
  LogStream log_;
  std::unique_ptr<DumpClient> client_;
  ServerFacts now_ = facts_;  // of the server at the last connect
  bool has_met_ = false;
  std::vector<TableSchemaPtr> announce_;  // not sent yet
  // What became of tables since a former start announced them.
  struct Altered {
    std::vector<TableSchemaPtr> versions;  // in the history
    TableSchemaPtr now;
  };
  std::map<TablePath, Altered> altered_;
  struct Gap {
    std::string place;  // up to which some sinks had the table
    SinkChoice sinks;
  };
  std::map<TablePath, Gap> gaps_;
  LackingSinks lacking_;
  JoiningTables joining_;
  int rounds_in_vain_ = 0;
  bool has_reported_ = false;
  bool has_to_read_ = false;  // some table is to be read again
};

}  // namespace

Result<void> RunLog(const SourceOptions& options, const ServerFacts& facts,
                    const SourceContext& context, StreamId stream, const CutPosition& from,
                    SourceOutput* output, Handover* handover) {
  return LogRun(options, facts, context, stream, output, handover).Run(from);
}

}  // namespace driftless::mysql
