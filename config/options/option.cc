#include "config/options/option.h"

#include <charconv>
#include <utility>

#include "schema/base/check.h"
#include "schema/base/letter_case.h"

namespace driftless {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor_numerator;
  int64_t factor_denominator;
};

// Flink's duration units (TimeUtils), in milliseconds.
constexpr Unit kDurationUnits[] = {{"", 1, 1},
                                   {"ms", 1, 1},
                                   {"milli", 1, 1},
                                   {"millis", 1, 1},
                                   {"millisecond", 1, 1},
                                   {"milliseconds", 1, 1},
                                   {"s", 1000, 1},
                                   {"sec", 1000, 1},
                                   {"secs", 1000, 1},
                                   {"second", 1000, 1},
                                   {"seconds", 1000, 1},
                                   {"m", 60000, 1},
                                   {"min", 60000, 1},
                                   {"minute", 60000, 1},
                                   {"minutes", 60000, 1},
                                   {"h", 3600000, 1},
                                   {"hour", 3600000, 1},
                                   {"hours", 3600000, 1},
                                   {"d", 86400000, 1},
                                   {"day", 86400000, 1},
                                   {"days", 86400000, 1},
                                   {"us", 1, 1000},
                                   {"µs", 1, 1000},
                                   {"micro", 1, 1000},
                                   {"micros", 1, 1000},
                                   {"microsecond", 1, 1000},
                                   {"microseconds", 1, 1000},
                                   {"ns", 1, 1000000},
                                   {"nano", 1, 1000000},
                                   {"nanos", 1, 1000000},
                                   {"nanosecond", 1, 1000000},
                                   {"nanoseconds", 1, 1000000}};

// Flink's memory units (MemorySize).
constexpr Unit kByteUnits[] = {{"", 1, 1},
                               {"b", 1, 1},
                               {"bytes", 1, 1},
                               {"k", 1LL << 10, 1},
                               {"kb", 1LL << 10, 1},
                               {"kibibytes", 1LL << 10, 1},
                               {"kib", 1LL << 10, 1},
                               {"m", 1LL << 20, 1},
                               {"mb", 1LL << 20, 1},
                               {"mebibytes", 1LL << 20, 1},
                               {"mib", 1LL << 20, 1},
                               {"g", 1LL << 30, 1},
                               {"gb", 1LL << 30, 1},
                               {"gibibytes", 1LL << 30, 1},
                               {"gib", 1LL << 30, 1},
                               {"t", 1LL << 40, 1},
                               {"tb", 1LL << 40, 1},
                               {"tebibytes", 1LL << 40, 1},
                               {"tib", 1LL << 40, 1}};

Result<int64_t> ParseWithUnit(std::string_view text, std::span<const Unit> units,
                              std::string_view what, std::string_view example) {
  const auto fail = [&] {
    return MakeError(ErrorKind::kInvalidConfig,
                     "\"" + std::string(text) + "\" is not a " + std::string(what))
        .Hint("Write for example " + std::string(example) + ".");
  };
  std::string_view rest = text;
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  while (!rest.empty() && rest.back() == ' ') rest.remove_suffix(1);
  int64_t number = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
  if (error != std::errc() || number < 0) return fail();
  rest.remove_prefix(static_cast<size_t>(end - rest.data()));
  while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
  const std::string unit_text = LowerCase(rest);
  for (const Unit& unit : units) {
    if (unit.name != unit_text) continue;
    int64_t value = 0;
    if (__builtin_mul_overflow(number, unit.factor_numerator, &value)) return fail();
    return value / unit.factor_denominator;
  }
  return fail();
}

const OptionSpec* FindSpec(std::span<const OptionSpec> specs, std::string_view key) {
  for (const OptionSpec& spec : specs) {
    if (spec.key == key) return &spec;
  }
  return nullptr;
}

// Every getter starts here: the key must be declared with the type that is asked for.
template <typename Map>
const OptionValues::Value* Get(std::span<const OptionSpec> specs, const Map& values,
                               std::string_view key, OptionType type) {
  const OptionSpec* spec = FindSpec(specs, key);
  DRIFTLESS_CHECK(spec != nullptr && spec->type == type);
  const auto it = values.find(key);
  return it == values.end() ? nullptr : &it->second;
}

// Values were validated when they were read, so a parse cannot fail here.
template <typename T>
std::optional<T> Checked(Result<T> parsed) {
  DRIFTLESS_CHECK(parsed.has_value());
  return *std::move(parsed);
}

}  // namespace

Result<int64_t> ParseDurationMs(std::string_view text) {
  return ParseWithUnit(text, kDurationUnits, "duration", "\"10 s\" or \"500 ms\"");
}

Result<int64_t> ParseByteSize(std::string_view text) {
  return ParseWithUnit(text, kByteUnits, "size", "\"64 mb\"");
}

Result<bool> ParseBool(std::string_view text) {
  const std::string lower = LowerCase(text);
  if (lower == "true") return true;
  if (lower == "false") return false;
  return MakeError(ErrorKind::kInvalidConfig,
                   "\"" + std::string(text) + "\" is neither true nor false");
}

std::optional<std::string> OptionValues::String(std::string_view key) const {
  const Value* value = Get(specs_, values_, key, OptionType::kString);
  return value ? std::optional(value->text) : std::nullopt;
}

std::optional<int64_t> OptionValues::Int(std::string_view key) const {
  const Value* value = Get(specs_, values_, key, OptionType::kInt);
  if (value == nullptr) return std::nullopt;
  int64_t number = 0;
  const char* end = value->text.data() + value->text.size();
  const auto parsed = std::from_chars(value->text.data(), end, number);
  DRIFTLESS_CHECK(parsed.ec == std::errc() && parsed.ptr == end);
  return number;
}

std::optional<bool> OptionValues::Bool(std::string_view key) const {
  const Value* value = Get(specs_, values_, key, OptionType::kBool);
  return value ? Checked(ParseBool(value->text)) : std::nullopt;
}

std::optional<int64_t> OptionValues::DurationMs(std::string_view key) const {
  const Value* value = Get(specs_, values_, key, OptionType::kDuration);
  return value ? Checked(ParseDurationMs(value->text)) : std::nullopt;
}

std::optional<int64_t> OptionValues::Bytes(std::string_view key) const {
  const Value* value = Get(specs_, values_, key, OptionType::kBytes);
  return value ? Checked(ParseByteSize(value->text)) : std::nullopt;
}

std::optional<std::string> OptionValues::Enum(std::string_view key) const {
  const Value* value = Get(specs_, values_, key, OptionType::kEnum);
  if (value == nullptr) return std::nullopt;
  for (std::string_view word : FindSpec(specs_, key)->values) {
    if (EqualsIgnoringCase(word, value->text)) return std::string(word);
  }
  DRIFTLESS_CHECK(false && "an enum value was not validated");
  return std::nullopt;
}

std::vector<std::string> OptionValues::List(std::string_view key) const {
  const OptionSpec* spec = FindSpec(specs_, key);
  const bool is_sequence = spec != nullptr && spec->type == OptionType::kSequence;
  const Value* value =
      Get(specs_, values_, key, is_sequence ? OptionType::kSequence : OptionType::kList);
  return value ? value->items : std::vector<std::string>{};
}

std::map<std::string, std::string> OptionValues::Map(std::string_view key) const {
  const Value* value = Get(specs_, values_, key, OptionType::kMap);
  return value ? value->entries : std::map<std::string, std::string>{};
}

bool OptionValues::IsSet(std::string_view key) const {
  const auto it = values_.find(key);
  return it != values_.end() && it->second.explicitly_set;
}

Location OptionValues::At(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? Location{} : it->second.location;
}

const OptionValues::Value* OptionValues::Find(std::string_view key) const {
  const auto it = values_.find(key);
  return it == values_.end() ? nullptr : &it->second;
}

}  // namespace driftless
