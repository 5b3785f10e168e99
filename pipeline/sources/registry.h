#pragma once

#include <memory>
#include <span>

#include "config/options/option.h"
#include "config/yaml/problems.h"

// What the source folders give to the one list of sources (all_sources.cc).
namespace driftless {

class Source;

// pipeline/sources/<source>/options.cc
std::span<const OptionSpec> FileSourceOptionSpecs();
std::span<const OptionSpec> MySqlSourceOptions();
std::span<const OptionSpec> PostgresSourceOptions();
std::span<const OptionSpec> KafkaSourceOptionSpecs();
std::span<const OptionSpec> SqlSourceOptionSpecs();

// pipeline/sources/file/file_source.cc
Result<std::unique_ptr<Source>> MakeFileSource(const OptionValues& values);

// pipeline/sources/mysql/mysql_source.cc
Result<std::unique_ptr<Source>> MakeMySqlSource(const OptionValues& values);
// pipeline/sources/kafka/kafka_source.cc
Result<std::unique_ptr<Source>> MakeKafkaSource(const OptionValues& values);
// pipeline/sources/sql/sql_source.cc
Result<std::unique_ptr<Source>> MakeSqlSource(const OptionValues& values);

void CheckFileSource(const OptionValues& values, Problems* problems);
void CheckMySqlSource(const OptionValues& values, Problems* problems);
void CheckPostgresSource(const OptionValues& values, Problems* problems);
void CheckKafkaSource(const OptionValues& values, Problems* problems);
void CheckSqlSource(const OptionValues& values, Problems* problems);

}  // namespace driftless
