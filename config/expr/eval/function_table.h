#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "config/expr/eval/node.h"

namespace driftless::flink {

// One way to call a function. `arguments` has a letter per argument, the form that the loop reads:
//   s text   y text or bytes, as they are   l BIGINT   d DOUBLE   b BOOLEAN   D DATE
//   t TIMESTAMP(6), a moment in local time   z TIMESTAMP_LTZ(6)   * as it is
//   w a word (a unit or a flag), kept in Call::word   + at the end: the last letter again, any
//   times
struct FunctionForm {
  std::string_view name;
  std::string_view arguments;
  char result = 's';  // the form that the loop writes; cast to the type that typing.h gave
  CallLoop loop = nullptr;
  bool deterministic = true;
};

std::span<const FunctionForm> TextForms();
std::span<const FunctionForm> PatternForms();
std::span<const FunctionForm> NumberForms();
std::span<const FunctionForm> TimeForms();
std::span<const FunctionForm> JsonForms();
std::span<const FunctionForm> ListForms();

// The forms of a name (upper case), in the order in which they are tried; empty: there is no such
// function, or it cannot be worked out row by row (aggregates).
std::vector<const FunctionForm*> FindForms(std::string_view name);

template <auto Fn>
inline constexpr CallLoop kFixedLoop = StrictLoop<Fn, false>;
template <auto Fn>
inline constexpr CallLoop kTextLoop = StrictLoop<Fn, true>;

}  // namespace driftless::flink
