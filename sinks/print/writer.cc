#include "sinks/print/writer.h"

#include <utility>
#include <vector>

#include "schema/base/json_writer.h"
#include "schema/types/value_text.h"
#include "sinks/api/projected_batch.h"

namespace driftless {
namespace {

// One image of a row: -U and -D show what was, +I and +U what is.
struct Image {
  std::string_view op;  // "+I", "-U", "+U", "-D"
  std::span<const ColumnView> columns;
};

class PrintWriter : public TableWriter {
 public:
  PrintWriter(std::shared_ptr<PrintTarget> target, const EvolvedSchema& table,
              const WriterContext& context)
      : target_(std::move(target)), table_(table), reporter_(context.reporter) {}

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    if (target_->output == nullptr) return {};
    DRIFTLESS_ASSIGN_OR_RETURN(const std::shared_ptr<const ProjectedBatch> projected,
                               ProjectedBatch::Make(batch, projection, rows, reporter_));
    lines_.clear();
    for (const uint32_t row : projected->rows()) {
      if (!MayPrint()) break;
      AppendChange(*projected, row);
    }
    if (lines_.empty()) return {};
    return target_->output->Write(lines_);
  }

  Result<void> Roll() override { return {}; }

  Result<PreparedPart> Prepare(CutId) override {
    if (target_->output != nullptr) DRIFTLESS_TRY(target_->output->Sync());
    return PreparedPart{};
  }

  int64_t buffered_bytes() const override { return 0; }

 private:
  // Counts the change; says so once when the limit is reached.
  bool MayPrint() {
    if (target_->limit == 0) return true;
    const int64_t number = target_->printed.fetch_add(1, std::memory_order_relaxed);
    if (number == target_->limit) {
      lines_ += target_->prefix + "(limit of " + std::to_string(target_->limit) +
                " changes reached: later ones are taken but not shown)\n";
    }
    return number < target_->limit;
  }

  void AppendChange(const ProjectedBatch& batch, uint32_t row) {
    const bool has_before = batch.source().HasBefore(row);
    const Op op = batch.source().ops()[row];
    if (target_->format == PrintFormat::kJson) {
      AppendJsonLine(batch, row, op, has_before);
      return;
    }
    switch (op) {
      case Op::kInsert:
      case Op::kRead: AppendTextLine({"+I", batch.after()}, row); break;
      case Op::kUpdate:
        if (has_before) AppendTextLine({"-U", batch.before()}, row);
        AppendTextLine({"+U", batch.after()}, row);
        break;
      case Op::kDelete: AppendTextLine({"-D", batch.before()}, row); break;
    }
  }

  void AppendTextLine(const Image& image, uint32_t row) {
    lines_ += target_->prefix;
    lines_ += image.op;
    lines_ += ' ';
    lines_ += table_.path.ToString();
    lines_ += " [";
    bool first = true;
    for (size_t i = 0; i < image.columns.size(); ++i) {
      const ColumnView& column = image.columns[i];
      if (column.IsAbsent(row)) continue;  // the source did not send it: shown by its absence
      if (!std::exchange(first, false)) lines_ += ", ";
      lines_ += table_.columns[i].sink.name;
      lines_ += ": ";
      AppendJson(table_.columns[i].sink.type, column, row, kFormat, &lines_);
    }
    lines_ += "]\n";
  }

  void AppendJsonLine(const ProjectedBatch& batch, uint32_t row, Op op, bool has_before) {
    static constexpr std::string_view kOps[] = {"insert", "update", "delete", "read"};
    lines_ += target_->prefix;
    JsonWriter json(&lines_);
    json.BeginObject().Key("table").String(table_.path.ToString());
    json.Key("op").String(kOps[static_cast<size_t>(op)]);
    json.Key("position").String(batch.source().point(row).ToString());
    if (has_before) AppendRow(batch.before(), row, &json.Key("before"));
    if (op != Op::kDelete) AppendRow(batch.after(), row, &json.Key("after"));
    json.EndObject();
    lines_ += '\n';
  }

  void AppendRow(std::span<const ColumnView> columns, uint32_t row, JsonWriter* json) {
    json->BeginObject();
    for (size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].IsAbsent(row)) continue;
      json->Key(table_.columns[i].sink.name).Raw("");
      AppendJson(table_.columns[i].sink.type, columns[i], row, kFormat, &lines_);
    }
    json->EndObject();
  }

  static constexpr TextFormat kFormat = {.decimals = DecimalJson::kNumber};

  std::shared_ptr<PrintTarget> target_;
  EvolvedSchema table_;
  RowReporter* reporter_;
  std::string lines_;  // of one batch; keeps its capacity
};

}  // namespace

std::string SchemaLine(const PrintTarget& target, const TablePath& table, const std::string& what) {
  std::string line = target.prefix;
  if (target.format == PrintFormat::kJson) {
    JsonWriter(&line)
        .BeginObject()
        .Key("table")
        .String(table.ToString())
        .Key("op")
        .String("schema")
        .Key("change")
        .String(what)
        .EndObject();
  } else {
    line += "DDL " + table.ToString() + ": " + what;
  }
  return line + "\n";
}

TableWriterPtr MakePrintWriter(std::shared_ptr<PrintTarget> target, const EvolvedSchema& table,
                               const WriterContext& context) {
  return std::make_unique<PrintWriter>(std::move(target), table, context);
}

}  // namespace driftless
