#include <openssl/rand.h>

#include <cmath>
#include <cstring>
#include <random>

#include "config/expr/eval/function_table.h"
#include "config/expr/eval/nodes.h"
#include "schema/types/decimal.h"

namespace driftless::flink {
namespace {

Int128 ReadWide(Call& c, int64_t row) { return c.args[0]->Fixed<Int128>(row); }
void PutWide(Call& c, int64_t row, Int128 value) {
  if (!FitsPrecision(value, c.type.precision())) return c.PutNull(row);
  std::memcpy(c.out().values.data() + row * 16, &value, 16);
}
void PutFloating(Call& c, int64_t row, double value) {
  if (c.type.kind() == TypeKind::kFloat) {
    c.out().data<float>()[row] = static_cast<float>(value);
  } else {
    c.out().data<double>()[row] = value;
  }
}

bool IsDecimal(const Call& c) { return c.args[0]->type.kind() == TypeKind::kDecimal; }
bool IsFloating(const Call& c) {
  const TypeKind kind = c.args[0]->type.kind();
  return kind == TypeKind::kFloat || kind == TypeKind::kDouble;
}

// Functions that keep the type of their argument: one for each of the three families.
template <auto OnInt, auto OnFloat, auto OnDecimal>
void ByFamily(Call& c, int64_t row) {
  if (IsDecimal(c)) return PutWide(c, row, OnDecimal(c, row, ReadWide(c, row)));
  if (IsFloating(c)) return PutFloating(c, row, OnFloat(c, row, ReadFloating(*c.args[0], row)));
  WriteInteger(c.type, &c.out(), row, OnInt(c, row, ReadInteger(*c.args[0], row)));
}

int64_t SameInt(Call&, int64_t, int64_t value) { return value; }

// The smallest number has no positive: it stays, as in Java.
int64_t AbsInt(Call&, int64_t, int64_t v) {
  return v < 0 ? static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(v)) : v;
}
double AbsFloat(Call&, int64_t, double v) { return std::fabs(v); }
Int128 AbsDecimal(Call&, int64_t, Int128 v) { return v < 0 ? -v : v; }

int64_t SignInt(Call&, int64_t, int64_t v) { return v > 0 ? 1 : v < 0 ? -1 : 0; }
double SignFloat(Call&, int64_t, double v) { return v > 0 ? 1 : v < 0 ? -1 : v; }
Int128 SignDecimal(Call& c, int64_t, Int128 v) {
  return (v > 0 ? 1 : v < 0 ? -1 : 0) * PowerOfTen(c.args[0]->type.scale());
}

double FloorFloat(Call&, int64_t, double v) { return std::floor(v); }
double CeilFloat(Call&, int64_t, double v) { return std::ceil(v); }
Int128 FloorDecimal(Call& c, int64_t, Int128 v) {
  const Int128 one = PowerOfTen(c.args[0]->type.scale());
  return (v / one - (v % one < 0 ? 1 : 0)) * one;
}
Int128 CeilDecimal(Call& c, int64_t, Int128 v) {
  const Int128 one = PowerOfTen(c.args[0]->type.scale());
  return (v / one + (v % one > 0 ? 1 : 0)) * one;
}

int64_t Digits(Call& c, int64_t row) { return c.args.size() > 1 ? c.Int(1, row) : 0; }

// `digits` behind the point (negative: before it) stay.
Int128 RoundWide(Int128 v, int64_t drop, bool half_up) {
  if (drop <= 0) return v;
  if (drop > 38) return 0;
  const Int128 step = PowerOfTen(static_cast<int>(drop));
  const Int128 rest = v % step;
  Int128 whole = v - rest;
  if (half_up) {
    const Int128 size = rest < 0 ? -rest : rest;
    if (size >= step - size) whole += v < 0 ? -step : step;
  }
  return whole;
}
template <bool kHalfUp>
int64_t RoundInt(Call& c, int64_t row, int64_t v) {
  return static_cast<int64_t>(RoundWide(v, -Digits(c, row), kHalfUp));
}
template <bool kHalfUp>
double RoundFloat(Call& c, int64_t row, double v) {
  const int64_t digits = Digits(c, row);
  if (!std::isfinite(v) || digits > 17) return v;
  // By the shortest text of the number, as BigDecimal.valueOf does it: 1.005 is 1.005.
  std::string text;
  AppendJavaDouble(v, c.args[0]->type.kind() == TypeKind::kFloat, &text);
  Int128 wide = 0;
  constexpr int kScale = 18;
  if (ParseDecimal(text, 38, kScale, &wide) == DecimalText::kOutOfRange) return v;
  return DecimalToDouble(RoundWide(wide, kScale - digits, kHalfUp), kScale);
}
template <bool kHalfUp>
Int128 RoundDecimal(Call& c, int64_t row, Int128 v) {
  return RoundWide(v, c.args[0]->type.scale() - Digits(c, row), kHalfUp);
}

template <double (*Fn)(double)>
void OfDouble(Call& c, int64_t row) {
  c.PutDouble(row, Fn(c.Double(0, row)));
}
double Degrees(double v) { return v * 180 / M_PI; }
double Radians(double v) { return v / 180 * M_PI; }
void Power(Call& c, int64_t row) { c.PutDouble(row, std::pow(c.Double(0, row), c.Double(1, row))); }
void LogOf(Call& c, int64_t row) {
  c.PutDouble(row, std::log(c.Double(1, row)) / std::log(c.Double(0, row)));
}
void Pi(Call& c, int64_t row) { c.PutDouble(row, M_PI); }

void Rand(Call& c, int64_t row) {
  if (c.cache == nullptr) {
    const bool seeded = !c.args.empty();
    c.cache = std::make_shared<std::mt19937_64>(seeded ? static_cast<uint64_t>(c.Int(0, row))
                                                       : std::random_device()());
  }
  auto* engine = static_cast<std::mt19937_64*>(c.cache.get());
  c.PutDouble(row, std::generate_canonical<double, 53>(*engine));
}

// Version 4 of RFC 4122, from a block of random bytes.
void UuidLoop(Call& c, const EvalBatch& batch) {
  static constexpr char kDigits[] = "0123456789abcdef";
  c.StartAllValid(batch.rows);
  c.scratch.resize(static_cast<size_t>(batch.rows) * 16);
  const bool random = RAND_bytes(reinterpret_cast<unsigned char*>(c.scratch.data()),
                                 static_cast<int>(c.scratch.size())) == 1;
  for (int64_t row = 0; row < batch.rows; ++row) {
    char text[36];
    char* at = text;
    for (int i = 0; i < 16; ++i) {
      auto byte = static_cast<unsigned char>(c.scratch[static_cast<size_t>(row * 16 + i)]);
      if (i == 6) byte = static_cast<unsigned char>(0x40 | (byte & 0x0F));
      if (i == 8) byte = static_cast<unsigned char>(0x80 | (byte & 0x3F));
      if (i == 4 || i == 6 || i == 8 || i == 10) *at++ = '-';
      *at++ = kDigits[byte >> 4];
      *at++ = kDigits[byte & 15];
    }
    if (random) {
      c.Append({text, 36});
    } else {
      c.Fail(row, "the system gives no random bytes");
    }
    c.EndText();
  }
  c.Finish();
}

}  // namespace

std::span<const FunctionForm> NumberForms() {
  // 'f': the result has the type of the first argument.
  static constexpr FunctionForm kForms[] = {
      {"ABS", "n", 'f', kFixedLoop<ByFamily<AbsInt, AbsFloat, AbsDecimal>>},
      {"SIGN", "n", 'f', kFixedLoop<ByFamily<SignInt, SignFloat, SignDecimal>>},
      {"FLOOR", "n", 'f', kFixedLoop<ByFamily<SameInt, FloorFloat, FloorDecimal>>},
      {"CEIL", "n", 'f', kFixedLoop<ByFamily<SameInt, CeilFloat, CeilDecimal>>},
      {"CEILING", "n", 'f', kFixedLoop<ByFamily<SameInt, CeilFloat, CeilDecimal>>},
      {"ROUND", "n", 'f',
       kFixedLoop<ByFamily<RoundInt<true>, RoundFloat<true>, RoundDecimal<true>>>},
      {"ROUND", "nl", 'f',
       kFixedLoop<ByFamily<RoundInt<true>, RoundFloat<true>, RoundDecimal<true>>>},
      {"TRUNCATE", "n", 'f',
       kFixedLoop<ByFamily<RoundInt<false>, RoundFloat<false>, RoundDecimal<false>>>},
      {"TRUNCATE", "nl", 'f',
       kFixedLoop<ByFamily<RoundInt<false>, RoundFloat<false>, RoundDecimal<false>>>},
      {"POWER", "dd", 'd', kFixedLoop<Power>},
      {"SQRT", "d", 'd', kFixedLoop<OfDouble<std::sqrt>>},
      {"EXP", "d", 'd', kFixedLoop<OfDouble<std::exp>>},
      {"LN", "d", 'd', kFixedLoop<OfDouble<std::log>>},
      {"LOG", "d", 'd', kFixedLoop<OfDouble<std::log>>},
      {"LOG", "dd", 'd', kFixedLoop<LogOf>},
      {"LOG10", "d", 'd', kFixedLoop<OfDouble<std::log10>>},
      {"LOG2", "d", 'd', kFixedLoop<OfDouble<std::log2>>},
      {"SIN", "d", 'd', kFixedLoop<OfDouble<std::sin>>},
      {"COS", "d", 'd', kFixedLoop<OfDouble<std::cos>>},
      {"TAN", "d", 'd', kFixedLoop<OfDouble<std::tan>>},
      {"ASIN", "d", 'd', kFixedLoop<OfDouble<std::asin>>},
      {"ACOS", "d", 'd', kFixedLoop<OfDouble<std::acos>>},
      {"ATAN", "d", 'd', kFixedLoop<OfDouble<std::atan>>},
      {"DEGREES", "d", 'd', kFixedLoop<OfDouble<Degrees>>},
      {"RADIANS", "d", 'd', kFixedLoop<OfDouble<Radians>>},
      {"PI", "", 'd', kFixedLoop<Pi>},
      {"RAND", "", 'd', kFixedLoop<Rand>, false},
      {"RAND", "l", 'd', kFixedLoop<Rand>, false},
      {"UUID", "", 's', UuidLoop, false},
  };
  return kForms;
}

}  // namespace driftless::flink
