#include "sinks/olap/olap_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "schema/base/letter_case.h"

namespace driftless::olap {
namespace {

constexpr std::string_view kJdbc = "jdbc:mysql://";

Error NoAddress(std::string_view text) {
  return MakeError(ErrorKind::kInvalidConfig,
                   "\"" + std::string(text) + "\" is no address: host:port is expected");
}

std::vector<std::string_view> Split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = text.find(at);
    std::string_view part = text.substr(0, end);
    while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
    if (!part.empty()) parts.push_back(part);
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Headers that say what our body is, or carry the promise of exactly once.
constexpr std::array<std::string_view, 21> kOwnHeaders = {"label",
                                                          "db",
                                                          "table",
                                                          "format",
                                                          "expect",
                                                          "columns",
                                                          "jsonpaths",
                                                          "strip_outer_array",
                                                          "read_json_by_line",
                                                          "json_root",
                                                          "partial_update",
                                                          "partial_columns",
                                                          "hidden_columns",
                                                          "two_phase_commit",
                                                          "group_commit",
                                                          "authorization",
                                                          "compression",
                                                          "compress_type",
                                                          "content-encoding",
                                                          "unique_key_update_mode",
                                                          "max_filter_ratio"};

}  // namespace

OptionSpec TlsAuthoritiesOption() {
  return {.key = "tls.ca",
          .doc =
              "The file with the certificates of the authorities that are trusted, where "
              "addresses begin with https:// or jdbc-url ends with ?useSSL=true. Default: the "
              "system's."};
}

OptionSpec TlsPlainBackEndsOption() {
  return {.key = "tls.plain-back-ends",
          .type = OptionType::kBool,
          .default_value = "false",
          .doc = "Whether front ends with TLS may send loads on to back ends without."};
}

OptionSpec LoadRowsOption() {
  return {.key = "load.max-rows",
          .type = OptionType::kInt,
          .doc = "A load is sent when it has so many rows, too. Default: without limit.",
          .min = 1};
}

Result<std::vector<SqlEndpoint>> ParseSqlAddresses(std::string_view text, bool* tls) {
  std::string_view rest = text;
  if (rest.starts_with(kJdbc)) rest.remove_prefix(kJdbc.size());
  const size_t query = rest.find('?');
  if (query != std::string_view::npos) {
    const std::string parameters = LowerCase(rest.substr(query));
    *tls = parameters.find("usessl=true") != std::string::npos ||
           parameters.find("sslmode=required") != std::string::npos ||
           parameters.find("sslmode=verify") != std::string::npos;
    rest = rest.substr(0, query);
  }
  rest = rest.substr(0, rest.find('/'));
  std::vector<SqlEndpoint> endpoints;
  for (const std::string_view address : Split(rest, ',')) {
    const size_t colon = address.rfind(':');
    SqlEndpoint endpoint;
    if (colon == std::string_view::npos || colon == 0) return NoAddress(address);
    endpoint.host = address.substr(0, colon);
    const std::string_view port = address.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(port.data(), port.data() + port.size(), endpoint.port);
    if (error != std::errc() || end != port.data() + port.size()) return NoAddress(address);
    endpoints.push_back(std::move(endpoint));
  }
  if (endpoints.empty()) return NoAddress(text);
  return endpoints;
}

Result<std::vector<std::string>> ParseHttpAddresses(const std::vector<std::string>& items) {
  std::vector<std::string> addresses;
  for (const std::string& item : items) {
    for (const std::string_view part : Split(item, ',')) {
      std::string_view address = part;
      while (address.ends_with('/')) address.remove_suffix(1);
      const size_t scheme = address.find("://");
      const std::string_view host =
          scheme == std::string_view::npos ? address : address.substr(scheme + 3);
      if (host.rfind(':') == std::string_view::npos || host.front() == ':') {
        return NoAddress(address);
      }
      addresses.push_back(scheme == std::string_view::npos ? "http://" + std::string(address)
                                                           : std::string(address));
    }
  }
  if (addresses.empty()) return NoAddress("");
  return addresses;
}

Result<void> ReadTls(const OptionValues& values, OlapOptions* options) {
  options->sql.tls_ca = values.String("tls.ca").value_or("");
  options->plain_back_ends = values.Bool("tls.plain-back-ends").value_or(false);
  const auto is_tls = [](const std::string& address) { return address.starts_with("https://"); };
  const bool uses_tls =
      options->sql.tls ||
      std::any_of(options->load_addresses.begin(), options->load_addresses.end(), is_tls) ||
      std::any_of(options->back_ends.begin(), options->back_ends.end(), is_tls);
  if (uses_tls || options->sql.tls_ca.empty()) return {};
  const Location at = values.At("tls.ca");
  return MakeError(ErrorKind::kInvalidConfig, "tls.ca is set, and no address asks for TLS")
      .At(at.line, at.column)
      .Hint(
          "Write https:// in front of the addresses for loads, and ?useSSL=true behind jdbc-url.");
}

void ReadLoadBounds(const OptionValues& values, OlapOptions* options) {
  options->load_bytes_max = values.Bytes("load.max-bytes").value_or(options->load_bytes_max);
  options->load_rows_max = values.Int("load.max-rows").value_or(options->load_rows_max);
}

Result<void> ReadLoadHeaders(const OptionValues& values, const LoadHeaderWords& product,
                             OlapOptions* options) {
  const Location at = values.At("sink.properties.*");
  for (const auto& [name, value] : values.Map("sink.properties.*")) {
    const std::string lower = LowerCase(name);
    if (lower == product.packing_header) {
      const auto known = std::find_if(
          product.packings.begin(), product.packings.end(),
          [&](const auto& packing) { return EqualsIgnoringCase(packing.word, value); });
      if (known == product.packings.end()) {
        std::string words;
        for (const PackingWord& packing : product.packings) {
          words += (words.empty() ? "" : ", ") + std::string(packing.word);
        }
        return MakeError(ErrorKind::kInvalidConfig,
                         "sink.properties." + name + ": " + value + " is not known")
            .At(at.line, at.column)
            .Hint("Known: " + words + ".");
      }
      options->packing = known->packing;
      continue;
    }
    if (std::find(kOwnHeaders.begin(), kOwnHeaders.end(), lower) == kOwnHeaders.end()) {
      options->load_headers.emplace(name, value);
      continue;
    }
    // Files of the reference sinks say how its JSON is laid out. Ours is laid out as each product
    // wants it, and both layouts in one request are refused by the server.
    const bool is_layout = lower == "strip_outer_array" || lower == "read_json_by_line";
    if (is_layout || (lower == "format" && LowerCase(value) == "json")) continue;
    if (product.knows_arrow && lower == "format" && LowerCase(value) == "arrow") {
      options->arrow = true;
      continue;
    }
    return MakeError(ErrorKind::kInvalidConfig, "sink.properties." + name + ": " + value +
                                                    " cannot be set: the sink sets this header "
                                                    "itself, by what its rows need")
        .At(at.line, at.column)
        .Hint("Leave it out.");
  }
  return {};
}

}  // namespace driftless::olap
