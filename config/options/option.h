#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/location.h"
#include "schema/base/result.h"

namespace driftless {

enum class OptionType : uint8_t {
  kString,
  kInt,
  kBool,      // "true" or "false", any letter case
  kDuration,  // Flink's grammar: "10 s", "500ms", "1 min"; a bare number is milliseconds
  kBytes,     // "64mb", "1 gib"; a bare number is bytes
  kEnum,      // one of OptionSpec::values, any letter case
  kList,      // a YAML sequence, or text split at commas or semicolons
  kMap,       // "k:v,k:v" or a YAML map
  kSequence,  // a YAML sequence of words; a scalar is an error, because it was ignored elsewhere
  kBlock,     // maps and lists of its own form, read by config/definition; has no value here
};

// How the option relates to the option of the same key in Apache Flink CDC 3.x.
enum class FlinkCdc : uint8_t { kSame, kRenamed, kIgnored, kExtension };

// What changing the option means for a running pipeline (config/upgrade).
enum class OnChange : uint8_t { kHot, kRestart, kNewState, kIncompatible };

// One option, declared once. Parsing, "did you mean", `driftless options`, the reference pages, the
// JSON schema, redaction and the compatibility table are all derived from it.
struct OptionSpec {
  std::string_view key;  // a key that ends in ".*" declares a prefix map: table.properties.*
  OptionType type = OptionType::kString;
  std::string_view default_value = {};  // text; empty: none
  bool required = false;
  bool secret = false;
  std::string_view doc;  // one or two sentences
  std::vector<std::string_view> aliases = {};
  std::vector<std::string_view> values = {};  // kEnum
  int64_t min = INT64_MIN;                    // kInt, kDuration (ms), kBytes
  int64_t max = INT64_MAX;
  std::string_view unit = {};
  FlinkCdc flink_cdc = FlinkCdc::kExtension;
  std::string_view flink_cdc_note = {};  // kRenamed: Flink CDC's key; kIgnored: why
  OnChange change = OnChange::kRestart;
};

// The values of one block (a source, a sink, `pipeline`), checked against its specs and with the
// defaults filled in; aliases are resolved to keys. Getters CHECK that the key was declared with
// that type; they return nullopt where neither the user nor the default gives a value.
class OptionValues {
 public:
  struct Value {
    std::string text;                            // scalars
    std::vector<std::string> items;              // kList, kSequence
    std::map<std::string, std::string> entries;  // kMap and prefix maps (keys without the prefix)
    Location location;                           // of the value; of the first key for a prefix map
    std::vector<Location> item_locations;        // of `items`, where they come from a YAML sequence
    std::string written;  // text with its references unresolved; empty: no references
    bool explicitly_set = false;
  };

  OptionValues() = default;
  OptionValues(std::span<const OptionSpec> specs, std::map<std::string, Value, std::less<>> values)
      : specs_(specs), values_(std::move(values)) {}

  std::optional<std::string> String(std::string_view key) const;
  std::optional<int64_t> Int(std::string_view key) const;
  std::optional<bool> Bool(std::string_view key) const;
  std::optional<int64_t> DurationMs(std::string_view key) const;
  std::optional<int64_t> Bytes(std::string_view key) const;
  std::optional<std::string> Enum(std::string_view key) const;         // in the spec's own letters
  std::vector<std::string> List(std::string_view key) const;           // kList, kSequence
  std::map<std::string, std::string> Map(std::string_view key) const;  // "table.properties.*" too
  bool IsSet(std::string_view key) const;                              // by the user
  Location At(std::string_view key) const;
  // The value as stored, null where there is none; for printing and for problems with its items.
  const Value* Find(std::string_view key) const;
  std::span<const OptionSpec> specs() const { return specs_; }

 private:
  std::span<const OptionSpec> specs_;
  std::map<std::string, Value, std::less<>> values_;
};

// Text to number, with Flink's grammars. Errors: kInvalidConfig that says what was expected.
Result<int64_t> ParseDurationMs(std::string_view text);
Result<int64_t> ParseByteSize(std::string_view text);
Result<bool> ParseBool(std::string_view text);

}  // namespace driftless
