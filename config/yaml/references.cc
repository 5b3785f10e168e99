#include "config/yaml/references.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace driftless {
namespace {

constexpr size_t kReferencedFileBytesMax = 1u << 20;
constexpr std::string_view kForms =
    "Write ${ENV:NAME}, ${ENV:NAME:-default} or ${FILE:/path}; $${ stands for ${ itself.";

Result<std::string> ReadReferencedFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return MakeError(ErrorKind::kNotFound, fmt::format("cannot read \"{}\"", path));
  std::string text;
  text.resize(kReferencedFileBytesMax + 1);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return MakeError(ErrorKind::kNotFound, fmt::format("cannot read \"{}\"", path));
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kReferencedFileBytesMax) {
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("\"{}\" is larger than 1 MiB, which is no secret", path));
  }
  // The line break that editors and `echo` put at the end is not part of a password.
  if (text.ends_with('\n')) text.pop_back();
  if (text.ends_with('\r')) text.pop_back();
  return text;
}

Result<std::string> FromEnvironment(std::string_view name_and_default,
                                    const ReferenceResolver& resolver) {
  const size_t dash = name_and_default.find(":-");
  const std::string name(name_and_default.substr(0, dash));
  if (name.empty()) {
    return MakeError(ErrorKind::kInvalidConfig, "a reference without a name")
        .Hint(std::string(kForms));
  }
  std::optional<std::string> value = resolver.environment(name);
  if (value) return *std::move(value);
  if (dash != std::string_view::npos) return std::string(name_and_default.substr(dash + 2));
  return MakeError(ErrorKind::kNotFound, fmt::format("environment variable {} is not set", name))
      .Hint(fmt::format("Set it, or give a default: ${{ENV:{}:-default}}.", name));
}

// What stands between "${" and "}".
Result<std::string> Resolve(std::string_view reference, const ReferenceResolver& resolver) {
  if (reference.starts_with("ENV:")) return FromEnvironment(reference.substr(4), resolver);
  if (reference.starts_with("FILE:")) return resolver.file(std::string(reference.substr(5)));
  constexpr std::string_view kSecretValues = "secret_values.";
  if (reference.starts_with(kSecretValues)) {
    return FromEnvironment(reference.substr(kSecretValues.size()), resolver);
  }
  return MakeError(ErrorKind::kInvalidConfig,
                   fmt::format("unknown reference \"${{{}}}\"", reference))
      .Hint(std::string(kForms));
}

}  // namespace

ReferenceResolver ReferenceResolver::OfProcess() {
  ReferenceResolver resolver;
  resolver.environment = [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  resolver.file = ReadReferencedFile;
  return resolver;
}

void ResolveReferences(std::string_view text, Location at, const ReferenceResolver& resolver,
                       YamlNode* node, Problems* problems) {
  std::string_view rest = text;
  bool has_reference = false;
  while (true) {
    const size_t start = rest.find("${");
    if (start == std::string_view::npos) break;
    if (start > 0 && rest[start - 1] == '$') {
      node->text += rest.substr(0, start - 1);
      node->text += "${";
      rest.remove_prefix(start + 2);
      continue;
    }
    node->text += rest.substr(0, start);
    const size_t end = rest.find('}', start);
    if (end == std::string_view::npos) {
      problems->AddError(at, "\"${\" is not closed", std::string(kForms));
      rest.remove_prefix(start);
      break;
    }
    has_reference = true;
    Result<std::string> value = Resolve(rest.substr(start + 2, end - start - 2), resolver);
    if (value) {
      node->text += *value;
    } else {
      node->text += rest.substr(start, end - start + 1);
      const bool is_missing = value.error().kind() == ErrorKind::kNotFound;
      if (is_missing && resolver.missing_is_warning) {
        problems->AddWarning(at, value.error().message());
      } else {
        problems->AddError(at, value.error());
      }
    }
    rest.remove_prefix(end + 1);
  }
  node->text += rest;
  if (has_reference) node->written = text;
}

}  // namespace driftless
