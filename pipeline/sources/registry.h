#pragma once

#include <span>

#include "config/options/option.h"
#include "config/yaml/problems.h"

// What the source folders give to the one list of sources (all_sources.cc).
namespace driftless {

// pipeline/sources/<source>/options.cc
std::span<const OptionSpec> MySqlSourceOptions();
std::span<const OptionSpec> PostgresSourceOptions();
std::span<const OptionSpec> KafkaSourceOptions();

void CheckMySqlSource(const OptionValues& values, Problems* problems);
void CheckPostgresSource(const OptionValues& values, Problems* problems);
void CheckKafkaSource(const OptionValues& values, Problems* problems);

}  // namespace driftless
