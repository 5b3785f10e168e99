#include "pipeline/runtime/row_dead_letters.h"

#include <array>

#include "schema/base/json_writer.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

constexpr std::array<std::string_view, 4> kOps = {"insert", "update", "delete", "read"};

// One image as an object; columns that the source did not send are left out.
void AppendImage(const ChangeBatch& batch, std::span<const ColumnView> columns, uint32_t row,
                 std::string* out) {
  const TableSchema& schema = *batch.schema();
  *out += '{';
  bool first = true;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].IsAbsent(row)) continue;
    if (!first) *out += ',';
    first = false;
    AppendJsonString(schema.columns[i].name, out);
    *out += ':';
    AppendJson(schema.columns[i].type, columns[i], row, TextFormat{}, out);
  }
  *out += '}';
}

}  // namespace

void RowDeadLetters::DeadLetter(const ChangeBatch& batch, uint32_t row, const Error& why) {
  std::string record = "{\"table\":";
  AppendJsonString(batch.table().ToString(), &record);
  record += ",\"op\":";
  const auto op = static_cast<size_t>(batch.ops()[row]);
  AppendJsonString(op < kOps.size() ? kOps[op] : "change", &record);
  if (!batch.before().empty() && batch.HasBefore(row)) {
    record += ",\"before\":";
    AppendImage(batch, batch.before(), row, &record);
  }
  if (batch.ops()[row] != Op::kDelete) {
    record += ",\"after\":";
    AppendImage(batch, batch.after(), row, &record);
  }
  record += '}';
  const Point point = batch.point(row);
  Result<void> added = letters_->Add("sink " + sink_, point, point.ToString(), record, why,
                                     DeadLetters::Durable::kAtSync);
  unsynced_ = true;
  if (!added && !failure_.has_value()) failure_ = std::move(added).error();
  metrics_->AddDeadLetter();
}

void RowDeadLetters::Count(const TablePath& sink_table, std::string_view column, Loss loss,
                           int64_t rows) {
  const std::string_view kind = loss == Loss::kMisfit ? "misfit"
                                : loss == Loss::kNull ? "null"
                                                      : "absent";
  metrics_->AddLostValues({sink_, sink_table}, column, kind, rows);
  kept_back_->AddValue(column, loss, rows);
}

Result<void> RowDeadLetters::Check() const {
  if (failure_.has_value()) return *failure_;
  return {};
}

Result<void> RowDeadLetters::Sync() {
  DRIFTLESS_TRY(Check());
  if (!std::exchange(unsynced_, false)) return {};
  return letters_->Sync();
}

}  // namespace driftless
