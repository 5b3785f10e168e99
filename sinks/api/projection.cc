#include "sinks/api/projection.h"

#include <algorithm>
#include <string_view>

#include "schema/types/overlay.h"

namespace driftless {
namespace {

using Fill = EvolvedColumn::Fill;

bool Contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether the table's options name the column as one that chooses the bucket (Paimon "bucket-key",
// Fluss "bucket.key").
bool IsBucketKey(const EvolvedSchema& sink, std::string_view name) {
  for (const char* option : {"bucket-key", "bucket.key"}) {
    const auto it = sink.options.find(option);
    if (it == sink.options.end()) continue;
    std::string_view rest = it->second;
    while (!rest.empty()) {
      const size_t comma = std::min(rest.find(','), rest.size());
      std::string_view part = rest.substr(0, comma);
      while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
      while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
      if (part == name) return true;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  return false;
}

// The sink column's literal default as a column of one row; false where it has none that we can
// say as a value (functions are evaluated by servers only).
bool LiteralDefault(const SinkColumn& column, OwnedColumn* out) {
  if (column.default_value.kind != DefaultValue::Kind::kLiteral) return false;
  const std::string& text = column.default_value.text;
  const int32_t offsets[] = {0, static_cast<int32_t>(text.size())};
  ColumnView view;
  view.length = 1;
  view.values = reinterpret_cast<const uint8_t*>(text.data());
  view.offsets = offsets;
  ColumnCast(LogicalType::String(), column.type, TimeZone()).Run(view, out);
  return out->misfit_count == 0;
}

std::shared_ptr<const OwnedColumn> MakeFill(const SinkColumn& column, Fill fill) {
  auto value = std::make_shared<OwnedColumn>();
  if (fill == Fill::kZero || !LiteralDefault(column, value.get())) {
    if (fill == Fill::kDefault && column.type.nullable()) {
      value->Prepare(column.type, 1);  // no default is a default of NULL
      if (!value->offsets.empty()) value->offsets.push_back(0);
    } else {
      MakeZero(column.type, value.get());
    }
  }
  return value;
}

ProjectedColumn::From FromFill(Fill fill) {
  switch (fill) {
    case Fill::kNull: return ProjectedColumn::From::kNull;
    case Fill::kKeep: return ProjectedColumn::From::kAbsent;
    case Fill::kDefault:
    case Fill::kZero: return ProjectedColumn::From::kDefault;
  }
  return ProjectedColumn::From::kNull;
}

ProjectedColumn Project(const TableSchema& source, const EvolvedSchema& sink,
                        const EvolvedColumn& column, const TimeZone& zone) {
  ProjectedColumn projected;
  projected.name = column.sink.name;
  projected.sink_type = column.sink.type;
  projected.not_null = !column.sink.type.nullable();
  projected.is_key = Contains(sink.primary_key, column.sink.name);
  projected.is_strict = projected.is_key || Contains(sink.partition_keys, column.sink.name) ||
                        IsBucketKey(sink, column.sink.name);
  projected.source_index = column.source == 0 ? -1 : source.IndexOf(column.source);
  if (projected.source_index >= 0) {
    projected.from = ProjectedColumn::From::kSource;
    projected.source_type = source.columns[static_cast<size_t>(projected.source_index)].type;
    // Times are looked at even where the types are the same: a source's may lie outside the day,
    // and a file with such a value cannot be read by the reference implementations.
    const bool is_time = projected.source_type.kind() == TypeKind::kTime &&
                         projected.sink_type.kind() == TypeKind::kTime;
    if (is_time ||
        VerdictOfCast(projected.source_type, projected.sink_type) != CastVerdict::kFits) {
      projected.needs_cast = true;
      projected.cast =
          std::make_shared<const ColumnCast>(projected.source_type, projected.sink_type, zone);
    }
  } else if (column.source != 0) {
    // A row from before the column was added at the source (an older version that arrives late).
    projected.from =
        projected.not_null ? ProjectedColumn::From::kDefault : ProjectedColumn::From::kNull;
  } else {
    projected.from = FromFill(column.fill);
  }
  if (projected.from == ProjectedColumn::From::kDefault || projected.not_null) {
    const bool is_zero = column.source == 0 && column.fill == Fill::kZero;
    projected.fill = MakeFill(column.sink, is_zero ? Fill::kZero : Fill::kDefault);
  }
  return projected;
}

}  // namespace

Projection Projection::Make(const TableSchema& source, const EvolvedSchema& sink,
                            const ProjectionPolicy& policy) {
  Projection projection;
  projection.policy_ = policy;
  projection.sink_table_ = sink.path;
  projection.columns_.reserve(sink.columns.size());
  for (const EvolvedColumn& column : sink.columns) {
    projection.columns_.push_back(Project(source, sink, column, policy.local_zone));
  }
  for (const Column& column : source.columns) {
    if (sink.FindSource(column.id) == nullptr) projection.dropped_.push_back(column.id);
  }
  projection.is_identity_ = projection.dropped_.empty();
  for (size_t i = 0; i < projection.columns_.size(); ++i) {
    const ProjectedColumn& column = projection.columns_[i];
    projection.is_identity_ = projection.is_identity_ && !column.needs_cast &&
                              column.from == ProjectedColumn::From::kSource &&
                              column.source_index == static_cast<int>(i);
  }
  return projection;
}

Projection Projection::Make(const TableSchema& source, const EvolvedSchema& sink,
                            OnCastFailure on_cast_failure, OnNullViolation on_null_violation) {
  ProjectionPolicy policy;
  policy.on_cast_failure = on_cast_failure;
  policy.on_null_violation = on_null_violation;
  return Make(source, sink, policy);
}

}  // namespace driftless
