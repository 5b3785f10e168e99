#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "schema/types/logical_type.h"
#include "schema/types/owned_column.h"
#include "schema/types/time.h"

namespace driftless {

// What a cast from one type to another does to values, as far as the types alone can tell.
// Nullability is not looked at: NULL stays NULL.
enum class CastVerdict : uint8_t {
  kFits,        // the bytes in memory are a value of the new type as they are: no work
  kWidens,      // every value has a value of the new type that says the same
  kLoses,       // some values do: each is looked at, the others are misfits
  kImpossible,  // no value of the one type means a value of the other: all but NULL are misfits
};

// What "says the same" means: the value can be turned back. Numbers keep their numeric value (a
// decimal of up to 15 digits comes back from a DOUBLE, one of up to 6 from a FLOAT); everything has
// a text (value_text.h; bytes are base64); TIMESTAMP and TIMESTAMP_LTZ are related by the
// pipeline's local time zone; BOOLEAN is 0 or 1. Two limits of the layout are looked at per value
// only: TIMESTAMP(7..9) in memory ends in the years 1677 and 2262, and local times that a zone
// leaves out.
CastVerdict VerdictOfCast(const LogicalType& from, const LogicalType& to);

// kMatrix is the policy's section 7: Flink CDC's lattice, but CHAR/VARCHAR and BINARY/VARBINARY
// give the longest, BOOLEAN with an integer gives the integer. kFlinkCdc is that lattice unchanged:
// it falls back to STRING in these cases.
enum class LatticeStyle : uint8_t { kMatrix, kFlinkCdc };

// The type of a sink column that takes values of both. Commutative; nullable where one of both is;
// STRING where nothing else fits, so there is always an answer.
LogicalType LeastCommonType(const LogicalType& a, const LogicalType& b, LatticeStyle style);

// The same for any number of types, at least one. The order does not matter; folding with the
// function above may give another type, because BOOLEAN goes with integers only: BOOLEAN, INT and
// DECIMAL are STRING in whatever order they come.
LogicalType LeastCommonType(std::span<const LogicalType> types, LatticeStyle style);

// Turns columns of one type into columns of another, a column at a time. Made once per pair of
// types, used for every batch; safe to use from several threads.
class ColumnCast {
 public:
  // `local_zone` relates TIMESTAMP and TIMESTAMP_LTZ.
  ColumnCast(const LogicalType& from, const LogicalType& to, const TimeZone& local_zone);

  const LogicalType& from() const { return from_; }
  const LogicalType& to() const { return to_; }
  CastVerdict verdict() const { return verdict_; }
  const TimeZone& zone() const { return zone_; }
  const std::vector<ColumnCast>& children() const { return children_; }

  // Fills `out` with `in`'s values: NULL stays NULL, absent stays absent, a value that cannot be
  // said in the new type without loss is NULL and marked in out->misfits.
  void Run(const ColumnView& in, OwnedColumn* out) const;

  using Kernel = void (*)(const ColumnCast&, const ColumnView&, OwnedColumn*);

 private:
  LogicalType from_;
  LogicalType to_;
  TimeZone zone_;
  CastVerdict verdict_;
  Kernel kernel_;
  std::vector<ColumnCast> children_;  // nested types: one per child
};

}  // namespace driftless
