#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/yaml/location.h"
#include "config/yaml/problems.h"
#include "schema/base/result.h"

namespace driftless {

// A node of the user's file. Scalars keep their text: what a value means (a number, a duration) is
// for the option that it belongs to, not for YAML's own typing.
struct YamlNode {
  enum class Kind : uint8_t { kNull, kScalar, kSequence, kMap };
  struct Entry;

  Kind kind = Kind::kNull;
  Location at;
  std::string text;     // kScalar: references resolved; kNull: as written ("null", "~" or nothing)
  std::string written;  // a scalar with references: as the user wrote it, safe to print; else empty
  bool quoted = false;
  std::vector<YamlNode> items;  // kSequence
  std::vector<Entry> entries;   // kMap, in the file's order, keys unique

  bool is_null() const { return kind == Kind::kNull; }
  bool is_scalar() const { return kind == Kind::kScalar; }
  bool is_sequence() const { return kind == Kind::kSequence; }
  bool is_map() const { return kind == Kind::kMap; }
  const Entry* Find(std::string_view key) const;
  // "a list", "a map", "a value" or "nothing": for messages.
  std::string_view KindText() const;
  // What may be shown of a scalar: never what a reference resolved to.
  const std::string& PrintableText() const { return written.empty() ? text : written; }
};

struct YamlNode::Entry {
  std::string key;
  Location at;  // of the key
  YamlNode value;
};

// Where references in scalars get their values from:
//   ${ENV:NAME}             an environment variable; an error when it is not set
//   ${ENV:NAME:-default}    the same with a default
//   ${FILE:/path}           the contents of a file without its last line break
//   ${secret_values.NAME}   another product's spelling: the environment variable NAME
//   $${                     stands for ${ itself
// They are resolved after the YAML is parsed, so no value can change the file's structure.
struct ReferenceResolver {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::function<Result<std::string>(const std::string& path)> file;
  // An unset variable or unreadable file is a warning, and the value its own written text: for
  // checking a file where its secrets are not at hand.
  bool missing_is_warning = false;

  static ReferenceResolver OfProcess();
};

// Parses one YAML document. Whatever is wrong goes to `problems`, with line and column; duplicate
// keys, tags, and more than one document are errors. After a syntax error the result is null.
// Limits: 16 MiB of text, 500 levels, 200,000 nodes after aliases are expanded.
YamlNode ParseYaml(std::string_view text, const ReferenceResolver& resolver, Problems* problems);

}  // namespace driftless
