#include "sinks/olap/arrow_rows.h"

#include <arrow/api.h>
#include <arrow/ipc/writer.h>

#include <algorithm>

#include "schema/types/arrow_mapping.h"

namespace driftless::olap {
namespace {

// A continuation without a message.
constexpr std::string_view kEndOfStream("\xFF\xFF\xFF\xFF\0\0\0\0", 8);

Error ArrowError(const arrow::Status& status) {
  return MakeError(ErrorKind::kInternal, "rows as Arrow: " + status.ToString());
}

std::string_view View(const arrow::Buffer& buffer) {
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<size_t>(buffer.size())};
}

// Copies the rows of a column, which are ascending, in runs.
void Gather(const LogicalType& type, const ColumnView& column, std::span<const uint32_t> rows,
            OwnedColumn* out) {
  out->Prepare(type, 0);
  for (size_t begin = 0; begin < rows.size();) {
    size_t end = begin + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    out->AppendRows(type, column, rows[begin], int64_t{rows[end - 1]} + 1);
    begin = end;
  }
}

}  // namespace

std::string ArrowProblem(const EvolvedSchema& table, bool carries_deletes) {
  if (carries_deletes && !table.primary_key.empty()) {
    return "servers do not know the type of the hidden column that says which rows are deleted "
           "(sink.enable-delete: false leaves it out)";
  }
  for (const EvolvedColumn& column : table.columns) {
    const std::string& name = column.sink.name;
    if (column.sink.type.kind() == TypeKind::kTimestamp) {
      return "servers shift column " + name + ", a DATETIME, into a zone of their own";
    }
    if (std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; })) {
      return "servers do not find column " + name + ", which has capital letters";
    }
  }
  return "";
}

ArrowRows::ArrowRows(const EvolvedSchema& table) {
  arrow::FieldVector fields;
  for (const EvolvedColumn& column : table.columns) {
    types_.push_back(column.sink.type);
    fields.push_back(ToArrowField(column.sink.name, column.sink.type));
  }
  schema_ = arrow::schema(std::move(fields));
}

ArrowRows::~ArrowRows() = default;

Result<void> ArrowRows::Append(const ProjectedBatch& batch, std::span<const uint32_t> rows,
                               std::span<const ValueAt> nulled, LoadBody* body) {
  if (rows.empty()) return {};
  if (body->empty()) {
    const auto schema = arrow::ipc::SerializeSchema(*schema_);
    if (!schema.ok()) return ArrowError(schema.status());
    body->Append(View(**schema));
  }
  const bool is_whole = static_cast<int64_t>(rows.size()) == batch.source().size();
  std::vector<OwnedColumn> owned(types_.size());
  arrow::ArrayVector arrays;
  for (uint32_t i = 0; i < types_.size(); ++i) {
    const ColumnView& column = batch.after()[i];
    const bool is_nulled = std::any_of(nulled.begin(), nulled.end(),
                                       [i](const ValueAt& value) { return value.column == i; });
    if (is_whole && !is_nulled) {
      arrays.push_back(ToArrowArray(types_[i], column, nullptr));
      continue;
    }
    Gather(types_[i], column, rows, &owned[i]);
    for (const ValueAt& value : nulled) {
      const auto at = std::lower_bound(rows.begin(), rows.end(), value.row);
      if (value.column != i || at == rows.end() || *at != value.row) continue;
      owned[i].SetNull(at - rows.begin());
    }
    arrays.push_back(ToArrowArray(types_[i], owned[i].view(), nullptr));
  }
  const auto record_batch =
      arrow::RecordBatch::Make(schema_, static_cast<int64_t>(rows.size()), std::move(arrays));
  const auto message =
      arrow::ipc::SerializeRecordBatch(*record_batch, arrow::ipc::IpcWriteOptions::Defaults());
  if (!message.ok()) return ArrowError(message.status());
  body->Append(View(**message));
  return {};
}

void ArrowRows::End(LoadBody* body) { body->Append(kEndOfStream); }

}  // namespace driftless::olap
