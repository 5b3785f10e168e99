#pragma once

#include <arrow/type_fwd.h>

#include <memory>
#include <string>

#include "schema/events/change_batch.h"
#include "schema/model/table.h"

namespace driftless {

// The one table of logical and Arrow types (architecture, section 4): BOOLEAN bool, TINYINT..BIGINT
// int8..int64, FLOAT and DOUBLE, DECIMAL decimal128, CHAR and VARCHAR utf8, BINARY and VARBINARY
// binary, DATE date32, TIME time64, TIMESTAMP timestamp without zone, TIMESTAMP_LTZ and _TZ
// timestamp "UTC" (microseconds up to precision 6, else nanoseconds), ARRAY list, MAP map, MULTISET
// map to int32, ROW struct, VARIANT utf8.
std::shared_ptr<arrow::DataType> ToArrowType(const LogicalType& type);
std::shared_ptr<arrow::Field> ToArrowField(const std::string& name, const LogicalType& type);
std::shared_ptr<arrow::Schema> ToArrowSchema(const TableSchema& schema);

// The column as an Arrow array that shares its buffers. `owner` keeps them alive: a ChangeBatchPtr,
// a ProjectedBatch. Absent values are nulls there. No copy, whatever the type.
std::shared_ptr<arrow::Array> ToArrowArray(const LogicalType& type, const ColumnView& column,
                                           std::shared_ptr<const void> owner);

}  // namespace driftless
