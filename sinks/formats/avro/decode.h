#pragma once

#include <string_view>

#include "sinks/formats/avro/avro.h"

namespace driftless::avro {

// Takes one value of `schema` off the front of `bytes`. Errors: kCorrupt.
Result<void> DecodeDatum(const Schema& schema, std::string_view* bytes, Datum* out);

// The same without keeping the value.
Result<void> SkipDatum(const Schema& schema, std::string_view* bytes);

}  // namespace driftless::avro
