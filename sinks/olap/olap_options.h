#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "config/options/option.h"
#include "sinks/clients/mysql/sql_session.h"
#include "sinks/olap/dialect.h"
#include "sinks/olap/loader.h"

namespace driftless::olap {

// What the options of a StarRocks or SelectDB sink say.
struct OlapOptions {
  SqlSessionOptions sql;  // no endpoints: statements go over HTTP
  std::string identity;   // "host:port" of the first front end, as files have always named it
  std::vector<std::string> load_addresses;  // "http://host:8030", without a slash at the end
  // Doris: back ends that loads go to without asking a front end; empty: follow the front end.
  std::vector<std::string> back_ends;
  int64_t connect_timeout_ms = 30'000;
  int64_t continue_timeout_ms = 30'000;
  int64_t answer_timeout_ms = 0;  // 0: for ever
  bool plain_back_ends = false;   // a redirect may lead out of TLS
  int max_retries = 3;            // of one load
  std::string label_prefix;
  std::map<std::string, std::string> load_headers;  // of Stream Load, as the user gave them
  Packing packing = Packing::kNone;                 // of bodies
  bool arrow = false;  // rows travel as Arrow where the server takes them as they are
  CreateOptions create;
  int64_t job_timeout_ms = 30 * 60'000;
  bool two_phase = true;        // Doris: loads become visible with the cut
  bool carries_deletes = true;  // Doris: sink.enable-delete
  int io_threads = 2;
  // A request goes when it has so many.
  int64_t load_bytes_max = 32 << 20;
  int64_t load_rows_max = INT64_MAX;
};

// Options that StarRocks and Doris share word for word.
OptionSpec TlsAuthoritiesOption();
OptionSpec TlsPlainBackEndsOption();
OptionSpec LoadRowsOption();

// "jdbc:mysql://h1:9030,h2:9030/db?useSSL=true" or "h1:9030,h2:9030" as addresses; `tls` is set
// where the URL asks for it. Errors: kInvalidConfig.
Result<std::vector<SqlEndpoint>> ParseSqlAddresses(std::string_view text, bool* tls);
// "h1:8030", "https://h1:8030": with a scheme in front. Errors: kInvalidConfig.
Result<std::vector<std::string>> ParseHttpAddresses(const std::vector<std::string>& items);
// `tls.ca`, `tls.plain-back-ends`, behind the addresses. Errors: kInvalidConfig where no address
// asks for TLS.
Result<void> ReadTls(const OptionValues& values, OlapOptions* options);
// `load.max-bytes`, `load.max-rows`.
void ReadLoadBounds(const OptionValues& values, OlapOptions* options);
// `sink.properties.*`: the headers of Stream Load that the user adds, without those that only say
// how Driftless lays out its JSON anyhow, and how bodies are packed and written, which the product
// says in its own words. Errors: a header that the sink must set itself, a packing
// that is not known.
struct PackingWord {
  std::string_view word;
  Packing packing;
};
struct LoadHeaderWords {
  std::string_view packing_header;
  std::span<const PackingWord> packings;
  bool knows_arrow = false;  // format: arrow
};
Result<void> ReadLoadHeaders(const OptionValues& values, const LoadHeaderWords& words,
                             OlapOptions* options);

}  // namespace driftless::olap
