#include "tests/sim/paimon_world.h"

#include <algorithm>
#include <cstdlib>

#include "schema/events/change_batch_builder.h"
#include "sinks/api/projection.h"
#include "sinks/lake/row_json.h"
#include "sinks/paimon/planner.h"
#include "sinks/paimon/sink.h"
#include "sinks/paimon/table_scan.h"

namespace driftless::sim {
namespace {

paimon::PaimonOptions Options() {
  paimon::PaimonOptions options;
  options.commit_user_prefix = "driftless";
  // Few runs are a reason to merge them: a simulation has few commits.
  options.table_properties = {{"bucket", "2"},
                              {"num-sorted-run.compaction-trigger", "2"},
                              {"num-sorted-run.stop-trigger", "2"}};
  return options;
}

int64_t Number(const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); }

bool IsText(const LogicalType& type) { return type.physical() == PhysicalKind::kVariable; }

// The evolved schema with every sink column fed by a source column of the same name and type.
EvolvedSchema FedBySelf(const EvolvedSchema& evolved, TableSchema* source) {
  EvolvedSchema fed = evolved;
  source->path = evolved.path;
  for (EvolvedColumn& column : fed.columns) {
    Column own;
    own.id = static_cast<ColumnId>(source->columns.size() + 1);
    own.name = column.sink.name;
    own.type = column.sink.type;
    column.source = own.id;
    const auto& key = evolved.primary_key;
    if (std::ranges::find(key, own.name) != key.end()) source->primary_key.push_back(own.id);
    source->columns.push_back(std::move(own));
  }
  return fed;
}

ChangeBatchPtr Batch(const TableSchemaPtr& source, const PaimonWorld::Rows& rows) {
  ChangeBatchBuilder builder(source, 0);
  uint64_t line = 0;
  for (const auto& [key, row] : rows) {
    builder.BeginRow(Op::kInsert, Point{0, 0, ++line, 0, 0}, 0);
    for (size_t i = 0; i < source->columns.size(); ++i) {
      ColumnBuilder& out = builder.after(static_cast<int>(i));
      const auto value = row.find(source->columns[i].name);
      if (value == row.end()) {
        out.AppendNull();
      } else if (IsText(source->columns[i].type)) {
        out.AppendBytes(value->second);
      } else {
        out.AppendInt(Number(value->second));
      }
    }
    builder.EndRow();
  }
  return builder.Seal();
}

}  // namespace

PaimonWorld::PaimonWorld(std::function<uint32_t(uint32_t)> dice, bool faults)
    : dice_(std::move(dice)),
      faults_(faults),
      store_(std::make_shared<MemoryStore>()),
      planner_(paimon::MakePaimonPlanner(Options())) {
  store_->SetFaults([this](MemoryStore::Operation, const std::string&) {
    if (calm_ || !faults_) return MemoryStore::Fault::kNone;
    switch (dice_(400)) {
      case 0: return MemoryStore::Fault::kCrash;
      case 1: return MemoryStore::Fault::kCrashAfter;
      case 2:
      case 3: return MemoryStore::Fault::kRefuse;
      case 4:
      case 5: return MemoryStore::Fault::kLoseAnswer;
      default: return MemoryStore::Fault::kNone;
    }
  });
  Open();
}

PaimonWorld::~PaimonWorld() = default;

void PaimonWorld::Open() {
  SinkEnvironment environment;
  environment.pipeline_name = "sim";
  environment.sink_name = "lake";
  environment.maintained = [this](const MaintenanceReport&) { ++compactions_; };
  auto sink = paimon::MakePaimonSinkOver(store_, Options(), environment,
                                         paimon::Compaction::kInCommit, [](int64_t) {});
  DRIFTLESS_CHECK(sink.has_value());
  sink_ = std::move(*sink);
  ++attempt_;
}

void PaimonWorld::Restart() {
  sink_.reset();
  store_->Restart(dice_(2) == 0, [this] { return dice_(2) == 0; });
  Open();
}

CommitIdentity PaimonWorld::Identity(const TablePath& table) const {
  return {"sim", "lake", table, cut_, attempt_};
}

Result<CommitToken> PaimonWorld::Seal(const EvolvedSchema& evolved, const Rows& rows) {
  ++cut_;
  auto source = std::make_shared<TableSchema>();
  const EvolvedSchema fed = FedBySelf(evolved, source.get());
  const Projection projection =
      Projection::Make(*source, fed, OnCastFailure::kFail, OnNullViolation::kFail);
  const ChangeBatchPtr batch = Batch(source, rows);
  WriterRows assigned;
  sink_->Assign(*batch, fed, projection, &assigned);
  std::vector<PreparedPart> parts;
  for (WriterIndex i = 0; i < sink_->WriterCount(fed); ++i) {
    WriterContext context;
    context.identity = Identity(evolved.path);
    DRIFTLESS_ASSIGN_OR_RETURN(const TableWriterPtr writer, sink_->OpenWriter(fed, i, context));
    if (!assigned.rows(i).empty()) {
      DRIFTLESS_TRY(writer->Write(batch, projection, assigned.rows(i)));
    }
    DRIFTLESS_ASSIGN_OR_RETURN(PreparedPart part, writer->Prepare(cut_));
    parts.push_back(std::move(part));
  }
  return sink_->Seal(Identity(evolved.path), fed, parts);
}

std::optional<SinkTable> PaimonWorld::Look(const TablePath& table) {
  calm_ = true;
  auto read = sink_->ReadTable(table);
  calm_ = false;
  DRIFTLESS_CHECK(read.has_value());
  return *read;
}

std::vector<std::string> PaimonWorld::Contents(const TablePath& path) {
  std::vector<std::string> rows;
  calm_ = true;
  auto scan = paimon::TableScan::Open(paimon::PaimonTable(store_, paimon::TableDirectory(path)),
                                      std::nullopt, TimeZone());
  if (!scan) {
    rows.push_back(scan.error().ToString());
  } else {
    std::vector<RowField> fields;
    for (const auto& field : scan->schema().fields) fields.push_back({field.name, field.type, ""});
    lake::MergedRow row;
    while (true) {
      auto more = scan->Next(&row);
      if (!more) rows.push_back(more.error().ToString());
      if (!more || !*more) break;
      rows.emplace_back();
      lake::AppendRowJson(fields, row.columns(), row.row, &rows.back());
    }
  }
  calm_ = false;
  std::ranges::sort(rows);
  return rows;
}

std::vector<std::string> PaimonWorld::Render(const SinkTable& table,
                                             const ModelSink::Table& model) {
  std::vector<std::string> rows;
  for (const auto& [key, row] : model.rows) {
    std::string text = "{";
    for (const SinkColumn& column : table.columns) {
      if (text.size() > 1) text += ',';
      text += '"' + column.name + "\":";
      const auto value = row.find(column.name);
      if (value == row.end()) {
        text += "null";
      } else if (IsText(column.type)) {
        text += '"' + value->second + '"';
      } else {
        text += std::to_string(Number(value->second));
      }
    }
    rows.push_back(text + "}");
  }
  std::ranges::sort(rows);
  return rows;
}

}  // namespace driftless::sim
