#include "schema/coordinator/table_state.h"

#include <array>

#include "schema/base/bytes_text.h"
#include "schema/base/json_reader.h"
#include "schema/base/json_writer.h"
#include "schema/events/statement_change_image.h"
#include "schema/model/table_json.h"

namespace driftless {
namespace {

constexpr std::array<std::string_view, 5> kPhases = {"reading", "held", "cutting", "executing",
                                                     "failed"};
constexpr std::array<std::string_view, 5> kForced = {"reject", "skip", "refused", "timeout",
                                                     "waiting"};

template <size_t N, typename Enum>
Enum ReadEnum(const JsonObject& object, std::string_view key,
              const std::array<std::string_view, N>& words) {
  const std::string word = object.String(key);
  for (size_t i = 0; i < N; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  object.Fail(object.Path(key), "a known word");
  return Enum{};
}

EventKind ReadEvent(const JsonObject& object, std::string_view key) {
  const auto kind = ParseEventTag(object.String(key));
  if (!kind) object.Fail(object.Path(key), "an event");
  return kind.value_or(EventKind::kAddColumn);
}

VerdictKind ReadVerdictKind(const JsonObject& object, std::string_view key) {
  const auto kind = ParseVerdictKind(object.String(key));
  if (!kind) object.Fail(object.Path(key), "a verdict");
  return kind.value_or(VerdictKind::kFail);
}

void WriteStrings(std::string_view key, const std::vector<std::string>& values, JsonWriter* json) {
  if (values.empty()) return;
  json->Key(key).BeginArray();
  for (const std::string& value : values) json->String(value);
  json->EndArray();
}

void WritePart(const PartDecision& part, JsonWriter* json) {
  json->BeginObject().Key("part").Int(part.part).Key("event").String(Tag(part.event));
  json->Key("detail").String(part.detail).Key("behavior").String(ToString(part.behavior));
  json->Key("verdict").String(ToString(part.verdict.kind));
  json->Key("reason").String(part.verdict.reason).Key("rule").String(part.verdict.rule);
  json->Key("cell").String(part.verdict.cell).Key("rows").String(part.verdict.rows);
  WriteStrings("rewrites", part.verdict.rewrites, json);
  json->Key("rows_may_stop").Bool(part.verdict.rows_may_stop);
  json->Key("never").Bool(part.verdict.never).Key("satisfied").Bool(part.satisfied);
  json->Key("held").String(ToString(part.held)).Key("again").Bool(part.planned_again);
  WriteStrings("actions", part.actions, json);
  json->EndObject();
}

PartDecision ReadPart(const JsonObject& object) {
  PartDecision part;
  part.part = object.Int<uint32_t>("part");
  part.event = ReadEvent(object, "event");
  part.detail = object.String("detail");
  const auto behavior = ParseBehavior(object.String("behavior"));
  if (!behavior) object.Fail(object.Path("behavior"), "a behaviour");
  part.behavior = behavior.value_or(Behavior::kLenient);
  part.verdict.kind = ReadVerdictKind(object, "verdict");
  part.verdict.reason = object.String("reason");
  part.verdict.rule = object.String("rule");
  part.verdict.cell = object.String("cell");
  part.verdict.rows = object.String("rows");
  part.verdict.rewrites = object.Strings("rewrites");
  part.verdict.rows_may_stop = object.Bool("rows_may_stop");
  part.verdict.never = object.Bool("never");
  part.satisfied = object.Bool("satisfied");
  part.held = ReadVerdictKind(object, "held");
  part.planned_again = object.Bool("again");
  part.actions = object.Strings("actions");
  return part;
}

void WriteBegun(std::string_view key, const std::vector<BegunDivergence>& all, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const BegunDivergence& begun : all) {
    json->BeginObject().Key("column").Int(begun.column).Key("name").String(begun.column_name);
    json->Key("event").String(Tag(begun.event)).Key("text").String(begun.text);
    json->Key("part").Int(begun.part).Key("old_rows").Bool(begun.of_old_rows).EndObject();
  }
  json->EndArray();
}

std::vector<BegunDivergence> ReadBegun(const JsonObject& object, std::string_view key) {
  std::vector<BegunDivergence> all;
  object.Objects(key, [&](const JsonObject& item) {
    all.push_back({item.Int<ColumnId>("column"), item.String("name"), ReadEvent(item, "event"),
                   item.String("text"), item.Int<uint32_t>("part"),
                   item.Has("old_rows") && item.Bool("old_rows")});
  });
  return all;
}

void WriteEnded(std::string_view key, const std::vector<EndedDivergence>& all, JsonWriter* json) {
  json->Key(key).BeginArray();
  for (const EndedDivergence& ended : all) {
    json->BeginObject().Key("column").Int(ended.column).Key("by").String(ended.by);
    if (ended.event) json->Key("event").String(Tag(*ended.event));
    json->EndObject();
  }
  json->EndArray();
}

std::vector<EndedDivergence> ReadEnded(const JsonObject& object, std::string_view key) {
  std::vector<EndedDivergence> all;
  object.Objects(key, [&](const JsonObject& item) {
    EndedDivergence ended{item.Int<ColumnId>("column"), {}, item.String("by")};
    if (item.Has("event")) ended.event = ReadEvent(item, "event");
    all.push_back(std::move(ended));
  });
  return all;
}

void WriteRenaming(const TableRenaming& renaming, JsonWriter* json) {
  json->BeginObject().Key("from");
  WriteJson(renaming.from, json);
  json->Key("to");
  WriteJson(renaming.to, json);
  json->Key("incarnation").Int(static_cast<int64_t>(renaming.incarnation));
  json->Key("followed").Bool(renaming.followed).Key("ended").Bool(renaming.ended).EndObject();
}

TableRenaming ReadRenaming(const JsonObject& object) {
  TableRenaming renaming;
  renaming.from = ReadTablePath(object.Object("from"));
  renaming.to = ReadTablePath(object.Object("to"));
  renaming.incarnation = object.Int<uint64_t>("incarnation");
  renaming.followed = object.Bool("followed");
  renaming.ended = object.Bool("ended");
  return renaming;
}

void WriteOpen(const OpenChange& open, JsonWriter* json) {
  json->BeginObject().Key("phase").String(kPhases[static_cast<size_t>(open.phase)]);
  std::string image;
  AppendBase64(StatementChangeImage(*open.change), &image);
  json->Key("change").String(image).Key("source");
  WriteJson(open.source, json);
  json->Key("position").String(open.position).Key("seen_ms").Int(open.seen_ms);
  json->Key("ids").BeginArray();
  for (const auto& [part, id] : open.ids) {
    json->BeginObject().Key("part").Int(part).Key("id").Int(id).EndObject();
  }
  json->EndArray().Key("parts").BeginArray();
  for (const PartDecision& part : open.parts) WritePart(part, json);
  json->EndArray().Key("settled").BeginArray();
  for (const PartDecision& part : open.settled) WritePart(part, json);
  json->EndArray();
  if (open.merge) json->Key("merge").String(open.merge->Serialize());
  json->Key("plan").String(Serialize(open.plan)).Key("step_parts").BeginArray();
  for (uint32_t part : open.step_parts) json->Int(part);
  json->EndArray();
  if (open.evolved) json->Key("evolved").String(Serialize(*open.evolved));
  WriteBegun("begun", open.begun, json);
  WriteBegun("settled_begun", open.settled_begun, json);
  WriteEnded("ended", open.ended, json);
  WriteEnded("settled_ended", open.settled_ended, json);
  json->Key("step").Int(open.step).Key("forced").BeginArray();
  for (const auto& [part, forced] : open.forced) {
    json->BeginObject().Key("part").Int(part);
    json->Key("by").String(kForced[static_cast<size_t>(forced.by)]);
    json->Key("message").String(forced.message).EndObject();
  }
  json->EndArray();
  json->Key("approved").Bool(open.approved).Key("answered").Bool(open.answered);
  json->Key("one_by_one").Bool(open.one_by_one);
  json->Key("late").Bool(open.late);
  if (open.renaming) {
    json->Key("renaming");
    WriteRenaming(*open.renaming, json);
  }
  json->Key("held_since_ms").Int(open.held_since_ms).EndObject();
}

// A nested document of its own.
template <typename T>
T ReadNested(const JsonObject& object, std::string_view key, Result<T> (*parse)(std::string_view)) {
  auto value = parse(object.String(key));
  if (value) return std::move(*value);
  object.Fail(object.Path(key), "readable: " + value.error().message());
  return T();
}

OpenChange ReadOpen(const JsonObject& object) {
  OpenChange open;
  open.phase = ReadEnum<5, OpenChange::Phase>(object, "phase", kPhases);
  std::string image;
  auto change = DecodeBase64(object.String("change"), &image)
                    ? ParseStatementChangeImage(image)
                    : Result<StatementChange>(MakeError(ErrorKind::kCorrupt, "no base64"));
  if (change) {
    open.change = std::make_shared<const StatementChange>(std::move(*change));
  } else {
    object.Fail(object.Path("change"), "a statement: " + change.error().message());
  }
  open.source = ReadTablePath(object.Object("source"));
  open.position = object.String("position");
  open.seen_ms = object.Int("seen_ms");
  object.Objects("ids", [&](const JsonObject& item) {
    open.ids[item.Int<uint32_t>("part")] = item.Int<DecisionId>("id");
  });
  object.Objects("parts", [&](const JsonObject& item) { open.parts.push_back(ReadPart(item)); });
  open.plan = ReadNested(object, "plan", ParseSchemaPlan);
  open.step_parts = object.Ints<uint32_t>("step_parts");
  if (object.Has("evolved")) open.evolved = ReadNested(object, "evolved", ParseEvolvedSchema);
  open.begun = ReadBegun(object, "begun");
  open.settled_begun = ReadBegun(object, "settled_begun");
  object.Objects("settled",
                 [&](const JsonObject& item) { open.settled.push_back(ReadPart(item)); });
  if (object.Has("merge")) open.merge = ReadNested(object, "merge", ShardMerge::Parse);
  open.ended = ReadEnded(object, "ended");
  if (object.Has("settled_ended")) open.settled_ended = ReadEnded(object, "settled_ended");
  open.step = object.Int<uint32_t>("step");
  object.Objects("forced", [&](const JsonObject& item) {
    open.forced[item.Int<uint32_t>("part")] = {ReadEnum<5, ForcedVerdict::By>(item, "by", kForced),
                                               item.String("message")};
  });
  open.approved = object.Bool("approved");
  open.answered = object.Bool("answered");
  open.one_by_one = object.Bool("one_by_one");
  open.late = object.Bool("late");
  if (object.Has("renaming")) open.renaming = ReadRenaming(object.Object("renaming"));
  open.held_since_ms = object.Int("held_since_ms");
  return open;
}

}  // namespace

std::string Serialize(const TableState& state) {
  std::string text;
  JsonWriter json(&text);
  json.BeginObject().Key("known").Bool(state.known);
  if (state.evolved) json.Key("evolved").String(Serialize(*state.evolved));
  json.Key("decided").BeginArray();
  for (const auto& [key, point] : state.decided) {
    json.BeginObject().Key("source");
    WriteJson(key.first, &json);
    json.Key("stream").Int(key.second).Key("point").String(point.ToString());
    json.EndObject();
  }
  json.EndArray();
  // A change that waits for a read has no outcome yet and comes again.
  if (state.open && state.open->phase != OpenChange::Phase::kReading) {
    json.Key("open");
    WriteOpen(*state.open, &json);
  }
  if (!state.late.empty()) {
    json.Key("late").BeginArray();
    for (const OpenChange& late : state.late) WriteOpen(late, &json);
    json.EndArray();
  }
  if (!state.renamings.empty()) {
    json.Key("renamings").BeginArray();
    for (const TableRenaming& renaming : state.renamings) WriteRenaming(renaming, &json);
    json.EndArray();
  }
  if (state.merge.shard_count() > 0 || state.merge.is_merged()) {
    json.Key("merge").String(state.merge.Serialize());
  }
  json.EndObject();
  return text;
}

Result<TableState> ParseTableState(std::string_view text) {
  return ReadJson<TableState>(text, "the state of a sink table", [](const JsonObject& object) {
    TableState state;
    state.known = object.Bool("known");
    if (object.Has("evolved")) state.evolved = ReadNested(object, "evolved", ParseEvolvedSchema);
    object.Objects("decided", [&](const JsonObject& item) {
      const auto stream = item.Int<StreamId>("stream");
      const auto point = ParsePoint(item.String("point"), stream);
      if (!point) return item.Fail(item.Path("point"), "a point");
      state.decided[{ReadTablePath(item.Object("source")), stream}] = *point;
    });
    if (object.Has("open")) state.open = ReadOpen(object.Object("open"));
    object.Objects("late", [&](const JsonObject& item) { state.late.push_back(ReadOpen(item)); });
    if (object.Has("merge")) state.merge = ReadNested(object, "merge", ShardMerge::Parse);
    if (object.Has("renamings")) {
      object.Objects("renamings", [&](const JsonObject& item) {
        state.renamings.push_back(ReadRenaming(item));
      });
    }
    return state;
  });
}

}  // namespace driftless
