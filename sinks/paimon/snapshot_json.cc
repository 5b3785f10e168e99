#include <simdjson.h>

#include <utility>

#include "schema/base/json_writer.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {
namespace {

namespace dom = simdjson::dom;

constexpr int kSnapshotVersion = 3;

Error Bad(std::string what) {
  return MakeError(ErrorKind::kCorrupt, "snapshot: " + std::move(what));
}

// Reads the members of one object; remembers the first thing that is wrong.
class Members {
 public:
  explicit Members(const dom::object& json) : json_(json) {}

  int64_t Number(std::string_view key, bool required, int64_t missing) {
    dom::element value;
    if (json_[key].get(value) != simdjson::SUCCESS || value.is_null()) {
      if (required) Fail(key, "is missing");
      return missing;
    }
    int64_t number = missing;
    if (value.get(number) != simdjson::SUCCESS) Fail(key, "is no number");
    return number;
  }
  std::optional<int64_t> OptionalNumber(std::string_view key) {
    dom::element value;
    if (json_[key].get(value) != simdjson::SUCCESS || value.is_null()) return std::nullopt;
    return Number(key, true, 0);
  }
  std::string Text(std::string_view key, bool required) {
    dom::element value;
    if (json_[key].get(value) != simdjson::SUCCESS || value.is_null()) {
      if (required) Fail(key, "is missing");
      return "";
    }
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) Fail(key, "is no text");
    return std::string(text);
  }
  std::map<std::string, std::string> Texts(std::string_view key) {
    std::map<std::string, std::string> texts;
    dom::object object;
    if (json_[key].get(object) != simdjson::SUCCESS) return texts;
    for (const auto& [name, value] : object) {
      std::string_view text;
      if (value.get(text) != simdjson::SUCCESS) continue;  // null: a property without a value
      texts[std::string(name)] = text;
    }
    return texts;
  }
  const std::optional<Error>& error() const { return error_; }
  void Fail(std::string_view key, std::string_view what) {
    if (!error_) error_ = Bad("\"" + std::string(key) + "\" " + std::string(what));
  }

 private:
  const dom::object& json_;
  std::optional<Error> error_;
};

std::optional<CommitKind> ParseKind(std::string_view text) {
  for (const CommitKind kind :
       {CommitKind::kAppend, CommitKind::kCompact, CommitKind::kOverwrite, CommitKind::kAnalyze}) {
    if (ToString(kind) == text) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::string_view ToString(CommitKind kind) {
  switch (kind) {
    case CommitKind::kAppend: return "APPEND";
    case CommitKind::kCompact: return "COMPACT";
    case CommitKind::kOverwrite: return "OVERWRITE";
    case CommitKind::kAnalyze: return "ANALYZE";
  }
  return "APPEND";
}

std::string SnapshotToJson(const Snapshot& snapshot) {
  std::string text;
  JsonWriter json(&text);
  const auto optional_text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) json.Key(key).String(value);
  };
  const auto optional_size = [&](std::string_view key, int64_t value) {
    if (value >= 0) json.Key(key).Int(value);
  };
  json.BeginObject().Key("version").Int(kSnapshotVersion).Key("id").Int(snapshot.id);
  json.Key("schemaId").Int(snapshot.schema_id);
  json.Key("baseManifestList").String(snapshot.base_manifest_list);
  optional_size("baseManifestListSize", snapshot.base_manifest_list_size);
  json.Key("deltaManifestList").String(snapshot.delta_manifest_list);
  optional_size("deltaManifestListSize", snapshot.delta_manifest_list_size);
  optional_text("changelogManifestList", snapshot.changelog_manifest_list);
  optional_size("changelogManifestListSize", snapshot.changelog_manifest_list_size);
  optional_text("indexManifest", snapshot.index_manifest);
  json.Key("commitUser").String(snapshot.commit_user);
  json.Key("commitIdentifier").Int(snapshot.commit_identifier);
  json.Key("commitKind").String(ToString(snapshot.commit_kind));
  json.Key("timeMillis").Int(snapshot.time_ms);
  json.Key("totalRecordCount").Int(snapshot.total_record_count);
  json.Key("deltaRecordCount").Int(snapshot.delta_record_count);
  if (snapshot.changelog_record_count > 0 || !snapshot.changelog_manifest_list.empty()) {
    json.Key("changelogRecordCount").Int(snapshot.changelog_record_count);
  }
  if (snapshot.watermark) json.Key("watermark").Int(*snapshot.watermark);
  optional_text("statistics", snapshot.statistics);
  if (!snapshot.properties.empty()) {
    json.Key("properties").BeginObject();
    for (const auto& [key, value] : snapshot.properties) json.Key(key).String(value);
    json.EndObject();
  }
  if (snapshot.next_row_id) json.Key("nextRowId").Int(*snapshot.next_row_id);
  json.EndObject();
  return text;
}

Result<Snapshot> ParseSnapshotJson(std::string_view text) {
  dom::parser parser;
  dom::object root;
  if (const auto error = parser.parse(text.data(), text.size()).get(root)) {
    return Bad(simdjson::error_message(error));
  }
  Members json(root);
  if (json.Number("version", false, kSnapshotVersion) > kSnapshotVersion) {
    return MakeError(ErrorKind::kUnsupported, "the snapshot is newer than this Driftless");
  }
  Snapshot snapshot;
  snapshot.id = json.Number("id", true, 0);
  snapshot.schema_id = json.Number("schemaId", true, 0);
  snapshot.base_manifest_list = json.Text("baseManifestList", true);
  snapshot.delta_manifest_list = json.Text("deltaManifestList", true);
  snapshot.changelog_manifest_list = json.Text("changelogManifestList", false);
  snapshot.base_manifest_list_size = json.Number("baseManifestListSize", false, -1);
  snapshot.delta_manifest_list_size = json.Number("deltaManifestListSize", false, -1);
  snapshot.changelog_manifest_list_size = json.Number("changelogManifestListSize", false, -1);
  snapshot.index_manifest = json.Text("indexManifest", false);
  snapshot.commit_user = json.Text("commitUser", true);
  snapshot.commit_identifier = json.Number("commitIdentifier", true, 0);
  const std::optional<CommitKind> kind = ParseKind(json.Text("commitKind", true));
  if (!kind) json.Fail("commitKind", "is unknown");
  snapshot.commit_kind = kind.value_or(CommitKind::kAppend);
  snapshot.time_ms = json.Number("timeMillis", true, 0);
  snapshot.total_record_count = json.Number("totalRecordCount", false, 0);
  snapshot.delta_record_count = json.Number("deltaRecordCount", false, 0);
  snapshot.changelog_record_count = json.Number("changelogRecordCount", false, 0);
  snapshot.watermark = json.OptionalNumber("watermark");
  snapshot.statistics = json.Text("statistics", false);
  snapshot.properties = json.Texts("properties");
  snapshot.next_row_id = json.OptionalNumber("nextRowId");
  if (json.error()) return *json.error();
  return snapshot;
}

}  // namespace driftless::paimon
