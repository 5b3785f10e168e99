#include "sinks/paimon/key_layout.h"

#include <algorithm>
#include <charconv>

#include "sinks/paimon/options.h"

namespace driftless::paimon {
namespace {

using Options = std::map<std::string, std::string>;

std::string Get(const Options& options, const std::string& key, std::string_view default_value) {
  const auto found = options.find(key);
  return found == options.end() ? std::string(default_value) : found->second;
}

Error Refuse(const EvolvedSchema& table, const std::string& what) {
  return MakeError(ErrorKind::kUnsupported, what).Context("Paimon table " + table.path.ToString());
}

// Reads a column list's types; errors for names that the table lacks.
Result<void> Resolve(const EvolvedSchema& table, const std::vector<std::string>& names,
                     std::vector<int>* columns, std::vector<LogicalType>* types) {
  for (const std::string& name : names) {
    int at = -1;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (table.columns[i].sink.name == name) at = static_cast<int>(i);
    }
    if (at < 0) return Refuse(table, "key column " + name + " is not a column of the table");
    const LogicalType& type = table.columns[static_cast<size_t>(at)].sink.type;
    if (type.IsNested() || type.kind() == TypeKind::kVariant) {
      return Refuse(table, "key column " + name + " has the type " + type.ToString());
    }
    columns->push_back(at);
    types->push_back(type);
  }
  return {};
}

std::vector<std::string> SplitNames(const std::string& text) {
  std::vector<std::string> names;
  size_t at = 0;
  while (at <= text.size() && !text.empty()) {
    const size_t comma = std::min(text.find(',', at), text.size());
    std::string name = text.substr(at, comma - at);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    if (!name.empty()) names.push_back(name);
    at = comma + 1;
  }
  return names;
}

Result<int32_t> BucketCount(const EvolvedSchema& table, const Options& options) {
  const std::string text = Get(options, "bucket", "-1");
  int32_t buckets = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), buckets);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || buckets == 0 ||
      buckets < -1) {
    return Refuse(table, "bucket is '" + text + "'").Hint("use -1 or a number of buckets from 1");
  }
  return buckets;
}

}  // namespace

Result<KeyLayout> KeyLayout::Make(const EvolvedSchema& table, const Options& options) {
  KeyLayout layout;
  layout.has_key = !table.primary_key.empty();
  if (auto checked = CheckTableOptions(options); !checked) {
    return std::move(checked).error().Context("Paimon table " + table.path.ToString());
  }
  layout.partition_names = table.partition_keys;
  DRIFTLESS_TRY(Resolve(table, table.partition_keys, &layout.partitions, &layout.partition_types));
  const auto is_partition = [&](const std::string& name) {
    return std::find(table.partition_keys.begin(), table.partition_keys.end(), name) !=
           table.partition_keys.end();
  };
  std::vector<std::string> trimmed;
  for (const std::string& name : table.primary_key) {
    if (!is_partition(name)) trimmed.push_back(name);
  }
  if (layout.has_key && trimmed.empty()) {
    return Refuse(table, "every column of the primary key is a partition column")
        .Hint("partition by fewer columns");
  }
  DRIFTLESS_TRY(Resolve(table, trimmed, &layout.keys, &layout.key_types));

  DRIFTLESS_ASSIGN_OR_RETURN(layout.buckets, BucketCount(table, options));
  if (layout.buckets > 0) {
    layout.mode = BucketMode::kFixed;
  } else {
    layout.mode = layout.has_key ? BucketMode::kDynamic : BucketMode::kUnaware;
  }
  std::vector<std::string> bucket_keys = SplitNames(Get(options, "bucket-key", ""));
  if (bucket_keys.empty()) bucket_keys = trimmed;
  if (layout.mode == BucketMode::kDynamic) {
    bucket_keys = trimmed;
    for (const std::string& name : table.partition_keys) {
      if (std::find(table.primary_key.begin(), table.primary_key.end(), name) ==
          table.primary_key.end()) {
        return Refuse(table, "bucket is -1 and the partition column " + name +
                                 " is not part of the primary key (Paimon's cross-partition mode)")
            .Hint("add the column to the primary key, or set bucket to a number");
      }
    }
  }
  if (layout.mode == BucketMode::kFixed && bucket_keys.empty()) {
    return Refuse(table, "a table without primary key has " + std::to_string(layout.buckets) +
                             " buckets but no bucket-key")
        .Hint("set bucket-key, or bucket to -1");
  }
  DRIFTLESS_TRY(Resolve(table, bucket_keys, &layout.bucket_keys, &layout.bucket_key_types));

  const std::string function = Get(options, "bucket-function.type", "default");
  if (function == "mod") {
    const bool one_integer = layout.bucket_key_types.size() == 1 &&
                             (layout.bucket_key_types[0].kind() == TypeKind::kInt ||
                              layout.bucket_key_types[0].kind() == TypeKind::kBigInt);
    if (!one_integer) {
      return Refuse(table, "bucket-function.type is mod, which needs one INT or BIGINT bucket key");
    }
    layout.function = BucketFunction::kMod;
  } else if (function != "default") {
    return Refuse(table, "bucket-function.type is " + function).Hint("use default or mod");
  }
  return layout;
}

}  // namespace driftless::paimon
