#include "pipeline/script/script_pipeline.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "pipeline/cli/catalog.h"
#include "pipeline/runtime/assemble.h"
#include "pipeline/script/script_source.h"
#include "schema/base/check.h"
#include "sinks/api/table_reader.h"

namespace driftless {
namespace {

// What a pipeline of a script may be made of: every sink of the build, none of whose options is
// required, because nobody connects to anything; and a source that is the script.
const ComponentCatalog& ScriptCatalog() {
  static const ComponentCatalog* const kCatalog = [] {
    auto* catalog = new ComponentCatalog(AllComponents());
    for (CatalogEntry& sink : catalog->sinks) {
      auto* options = new std::vector<OptionSpec>(sink.options.begin(), sink.options.end());
      for (OptionSpec& option : *options) option.required = false;
      sink.options = *options;
      sink.check = nullptr;
      sink.can_run = true;
    }
    for (CatalogEntry& source : catalog->sources) {
      auto* options = new std::vector<OptionSpec>(source.options.begin(), source.options.end());
      for (OptionSpec& option : *options) option.required = false;
      source.options = *options;
      source.check = nullptr;
      source.can_run = true;
    }
    catalog->sources.push_back({.type = "script", .summary = "The script itself"});
    return catalog;
  }();
  return *kCatalog;
}

const SinkComponent& ComponentOf(std::string_view type) {
  for (const SinkComponent& component : AllSinks()) {
    if (component.type == type) return component;
  }
  DRIFTLESS_CHECK(false && "the definition names a sink that is not in the list");
  return AllSinks()[0];
}

bool HasKey(std::string_view yaml, std::string_view key) {
  size_t at = 0;
  while (at < yaml.size()) {
    if (yaml.substr(at).starts_with(key)) return true;
    const size_t end = yaml.find('\n', at);
    if (end == std::string_view::npos) break;
    at = end + 1;
  }
  return false;
}

// A lake's options with the warehouse in a folder of the script. Only what describes tables is
// taken over: a script never writes elsewhere, whatever the pipeline file says.
OptionValues WithWarehouse(const OptionValues& values, const std::string& warehouse) {
  std::map<std::string, OptionValues::Value, std::less<>> copy;
  for (const std::string_view key : {"table.properties.*", "partition.key"}) {
    const OptionValues::Value* value = values.Find(key);
    if (value != nullptr) copy[std::string(key)] = *value;
  }
  // Paimon has the one property as an option, Iceberg all of them as a map.
  for (const OptionSpec& spec : values.specs()) {
    if (!spec.key.starts_with("catalog.properties.")) continue;
    OptionValues::Value place;
    place.explicitly_set = true;
    if (spec.key == "catalog.properties.warehouse") place.text = warehouse;
    if (spec.key == "catalog.properties.*") place.entries["warehouse"] = warehouse;
    if (!place.text.empty() || !place.entries.empty()) copy[std::string(spec.key)] = place;
  }
  return OptionValues(values.specs(), std::move(copy));
}

bool IsLake(const SinkDefinition& sink) { return sink.type == "paimon" || sink.type == "iceberg"; }

// Whether the sink's servers are all on this machine, such as tests/doubles/olap_server: a script
// creates and changes tables, and never somebody else's.
bool IsOnLoopback(const SinkDefinition& sink) {
  bool any = false;
  for (const std::string_view key : {"jdbc-url", "load-url", "fenodes", "benodes"}) {
    const OptionValues::Value* value = sink.options.Find(key);
    if (value == nullptr || !value->explicitly_set) continue;
    std::string_view text = value->text;
    if (!value->items.empty()) {
      if (value->items.size() > 1) return false;
      text = value->items.front();
    }
    const size_t scheme = text.find("://");
    if (scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
    if (!text.starts_with("127.0.0.1:") || text.find(',') != std::string_view::npos) return false;
    any = true;
  }
  return any;
}

// Whether the directive's words, "[TABLE] [EVENT]", name the record.
bool Names(const ScriptDirective& directive, const AuditRecord& record) {
  return std::all_of(directive.words.begin(), directive.words.end(), [&](const std::string& word) {
    return word == Tag(record.event) || word == record.sink.table.ToString() ||
           word == record.sink.sink;
  });
}

// The newest record of every decision, in the order of the decisions.
std::vector<AuditRecord> LastWords(const std::vector<AuditRecord>& records) {
  std::map<DecisionId, AuditRecord> last;
  for (const AuditRecord& record : records) last[record.id] = record;
  std::vector<AuditRecord> words;
  for (auto& [id, record] : last) words.push_back(std::move(record));
  return words;
}

}  // namespace

ScriptPipeline::ScriptPipeline(std::shared_ptr<const Script> script, std::string folder)
    : script_(std::move(script)), folder_(std::move(folder)) {}

ScriptPipeline::~ScriptPipeline() = default;

Result<void> ScriptPipeline::Configure(const ScriptDirective& directive) {
  real_sinks_ = false;
  std::string file;
  for (const std::string& word : directive.words) {
    if (word == "real") {
      real_sinks_ = true;
    } else {
      file = (std::filesystem::path(script_->file).parent_path() / word).string();
    }
  }
  std::string text = JoinBody(directive);
  if (!file.empty()) {
    if (!text.empty()) {
      return MakeError(ErrorKind::kParse, "a pipeline is a file or a body, not both")
          .At(directive.line, 1);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(text, ReadPipelineFile(file));
  }
  if (!HasKey(text, "source:") && !HasKey(text, "sources:")) text += "source:\n  type: script\n";
  Problems problems;
  auto definition = ParsePipeline(text, file.empty() ? script_->file : file, ScriptCatalog(),
                                  ReferenceResolver::OfProcess(), &problems);
  if (!definition) {
    Error error = problems.ToError(file.empty() ? "pipeline" : file);
    return std::move(error).At(directive.line, 1);
  }
  definition_ = std::move(definition);
  for (const SinkDefinition& sink : definition_->sinks) {
    std::shared_ptr<MemoryStore>& store = stores_[sink.name];
    if (store == nullptr) store = std::make_shared<MemoryStore>();
  }
  return {};
}

bool ScriptPipeline::IsReal(const SinkDefinition& sink) const {
  return real_sinks_ && (IsLake(sink) || IsOnLoopback(sink));
}

SinkEnvironment ScriptPipeline::EnvironmentOf(const SinkDefinition& sink) const {
  SinkEnvironment environment;
  environment.pipeline_name = definition_->options.name;
  environment.sink_name = sink.name;
  environment.local_time_zone = definition_->options.local_time_zone;
  environment.clock = SystemClock();
  return environment;
}

Result<std::unique_ptr<Sink>> ScriptPipeline::MakeSink(const SinkDefinition& sink) {
  const SinkComponent& component = ComponentOf(sink.type);
  if (IsReal(sink)) {
    return component.make_sink(RealOptions(sink), EnvironmentOf(sink));
  }
  return MakeMemorySink(component, sink.options, stores_.at(sink.name));
}

Result<RuntimeParts> ScriptPipeline::MakeParts(size_t end, std::function<void()> crash) {
  RuntimeParts parts;
  parts.pipeline = definition_->options.name;
  parts.definition = std::make_shared<const PipelineDefinition>(*definition_);
  ScriptSourceOptions source;
  source.script = script_;
  source.end = end;
  source.crash = std::move(crash);
  parts.sources.push_back(MakeScriptSource(std::move(source)));
  for (const SinkDefinition& definition : definition_->sinks) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::unique_ptr<Sink> sink, MakeSink(definition));
    parts.sinks.push_back(BindSink(*definition_, definition, std::move(sink)));
  }
  parts.clock = SystemClock();
  parts.make_coordinator = [name = parts.pipeline](std::vector<CoordinatorSink> sinks,
                                                   DecisionId next) {
    return MakeCoordinatorPort(name, std::move(sinks), next);
  };
  return parts;
}

Result<RunOutcome> ScriptPipeline::RunOnce(size_t end, bool crash_at_end) {
  if (!definition_) {
    return MakeError(ErrorKind::kParse, "the script has no pipeline yet")
        .Hint("Begin it with a pipeline directive.");
  }
  DRIFTLESS_ASSIGN_OR_RETURN(RuntimeOptions options, MakeRuntimeOptions(*definition_));
  options.checkpoint_interval_ms = 3'600'000;  // a run ends with one; none comes by time
  options.writer_threads = 1;
  options.until_end = true;
  DRIFTLESS_ASSIGN_OR_RETURN(
      const std::unique_ptr<StateStore> state,
      StateStore::Open(StateFolder(), definition_->options.name, *SystemClock()));
  // The sinks and the source end the process before there is one to end: hence the indirection.
  Runtime* running = nullptr;
  const auto crash = [&running] {
    if (running != nullptr) running->Abort();
  };
  Metrics metrics;
  DRIFTLESS_ASSIGN_OR_RETURN(RuntimeParts parts,
                             MakeParts(end, crash_at_end ? std::function<void()>(crash) : nullptr));
  parts.state = state.get();
  parts.metrics = &metrics;
  for (const auto& [name, store] : stores_) store->OnCrash(crash);
  Runtime runtime(std::move(parts), std::move(options));
  running = &runtime;
  RunOutcome outcome = runtime.Run();
  for (const auto& [name, store] : stores_) store->OnCrash(nullptr);
  return outcome;
}

Result<std::unique_ptr<StateStore>> ScriptPipeline::OpenState() const {
  return StateStore::OpenShared(StateFolder());
}

Result<bool> ScriptPipeline::Rests() {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto state, OpenState());
  DRIFTLESS_ASSIGN_OR_RETURN(const auto requests, state->OpenRequests());
  return requests.empty();
}

Result<void> ScriptPipeline::Arm(MemoryStore::Fault fault, int line) {
  for (const SinkDefinition& sink : definition_->sinks) {
    if (IsReal(sink)) continue;
    stores_.at(sink.name)->Arm(std::move(fault));
    armed_[sink.name] = line;
    return {};
  }
  return MakeError(ErrorKind::kUnsupported, "only sinks in memory can fail at a script's word")
      .At(line, 1);
}

std::optional<int> ScriptPipeline::UnusedFault() const {
  for (const auto& [name, store] : stores_) {
    if (store->HasFault()) return armed_.at(name);
  }
  return std::nullopt;
}

Result<void> ScriptPipeline::Answer(const ScriptDirective& directive, std::string_view choice) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto state, OpenState());
  std::vector<AuditRecord> open;
  const bool of_hold = choice == "approve" || choice == "reject";
  if (of_hold) {
    DRIFTLESS_ASSIGN_OR_RETURN(open, Holds());
  } else {
    DRIFTLESS_ASSIGN_OR_RETURN(const auto records, state->Audit({}));
    for (AuditRecord& record : LastWords(records)) {
      if (record.verdict.kind == VerdictKind::kFail || record.result == AuditResult::kFailed ||
          record.result == AuditResult::kRefused) {
        open.push_back(std::move(record));
      }
    }
  }
  int answered = 0;
  for (const AuditRecord& record : open) {
    if (!Names(directive, record)) continue;
    StoredRequest request;
    request.decision = record.id;
    request.choice = choice;
    request.by = "script";
    request.time_ms = SystemClock()->NowMillis();
    DRIFTLESS_TRY(state->AddRequest(request));
    ++answered;
  }
  if (answered > 0) return {};
  return MakeError(ErrorKind::kNotFound, of_hold ? "nothing of that name waits for a decision"
                                                 : "nothing of that name has stopped the pipeline")
      .At(directive.line, 1);
}

Result<std::vector<AuditRecord>> ScriptPipeline::NewVerdicts() {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto state, OpenState());
  DRIFTLESS_ASSIGN_OR_RETURN(const auto records, state->Audit({}));
  std::vector<AuditRecord> verdicts;
  DecisionId last = last_decision_;
  for (AuditRecord& record : LastWords(records)) {
    if (record.id <= last_decision_) continue;
    last = std::max(last, record.id);
    if (record.result != AuditResult::kSuperseded) verdicts.push_back(std::move(record));
  }
  last_decision_ = last;
  return verdicts;
}

Result<std::vector<AuditRecord>> ScriptPipeline::Holds() {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto state, OpenState());
  DRIFTLESS_ASSIGN_OR_RETURN(const auto ids, state->OpenHolds());
  DRIFTLESS_ASSIGN_OR_RETURN(const auto records, state->Audit({}));
  std::vector<AuditRecord> holds;
  for (AuditRecord& record : LastWords(records)) {
    if (std::find(ids.begin(), ids.end(), record.id) != ids.end()) {
      holds.push_back(std::move(record));
    }
  }
  return holds;
}

Result<std::vector<Divergence>> ScriptPipeline::Divergences() {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto state, OpenState());
  return state->Divergences(/*also_ended=*/false);
}

Result<ScriptPipeline::TableName> ScriptPipeline::NameOf(const ScriptDirective& directive) const {
  TableName name;
  if (!definition_) {
    return MakeError(ErrorKind::kParse, "the script has no pipeline yet").At(directive.line, 1);
  }
  if (directive.words.size() == 2) {
    name.sink = definition_->FindSink(directive.words[0]);
  } else if (definition_->sinks.size() == 1) {
    name.sink = definition_->sinks.data();
  }
  if (name.sink == nullptr) {
    std::string known;
    for (const SinkDefinition& sink : definition_->sinks) known += " " + sink.name;
    return MakeError(ErrorKind::kNotFound, "name one of the pipeline's sinks:" + known)
        .At(directive.line, 1);
  }
  auto table = ParseTablePath(directive.words.back());
  if (!table) return std::move(table).error().At(directive.line, 1);
  name.table = *std::move(table);
  return name;
}

Result<std::unique_ptr<TableReader>> ScriptPipeline::MakeReader(const SinkDefinition& sink) const {
  return ComponentOf(sink.type).make_reader(RealOptions(sink), EnvironmentOf(sink));
}

OptionValues ScriptPipeline::RealOptions(const SinkDefinition& sink) const {
  if (!IsLake(sink)) return sink.options;
  return WithWarehouse(sink.options, folder_ + "/" + sink.name);
}

Result<std::optional<SinkTable>> ScriptPipeline::Schema(const ScriptDirective& directive) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TableName name, NameOf(directive));
  if (!IsReal(*name.sink)) return stores_.at(name.sink->name)->Read(name.table);
  DRIFTLESS_ASSIGN_OR_RETURN(const auto reader, MakeReader(*name.sink));
  auto table = reader->Describe(name.table, {});
  if (table) return std::optional<SinkTable>(*std::move(table));
  if (table.error().kind() == ErrorKind::kNotFound) return std::optional<SinkTable>();
  return std::move(table).error();
}

Result<std::vector<TextRow>> ScriptPipeline::Rows(const ScriptDirective& directive) {
  DRIFTLESS_ASSIGN_OR_RETURN(const TableName name, NameOf(directive));
  if (!IsReal(*name.sink)) return stores_.at(name.sink->name)->Rows(name.table);
  DRIFTLESS_ASSIGN_OR_RETURN(const auto reader, MakeReader(*name.sink));
  std::vector<TextRow> rows;
  DRIFTLESS_TRY(reader->ReadRows(
      name.table, {},
      [&](const SinkTable& table, std::span<const ColumnView> columns, int64_t row) {
        TextRow& texts = rows.emplace_back();
        for (size_t i = 0; i < columns.size(); ++i) {
          texts[table.columns[i].name] = TextOf(table.columns[i].type, columns[i], row);
        }
        return true;
      }));
  return rows;
}

}  // namespace driftless
