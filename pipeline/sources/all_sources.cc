#include <vector>

#include "pipeline/sources/registry.h"
#include "pipeline/sources/source.h"

namespace driftless {

std::span<const SourceComponent> AllSources() {
  // An explicit list: a new source is one folder and one line here.
  static const auto* const kSources = new std::vector<SourceComponent>{
      {.type = "file",
       .aliases = {"files"},
       .summary = "Files of Debezium, Canal, Maxwell or plain JSON, one a line: packed or followed",
       .options = FileSourceOptionSpecs(),
       .make_source = MakeFileSource,
       .check = CheckFileSource},
      {.type = "mysql",
       .aliases = {"mariadb"},
       .summary = "MySQL and MariaDB: snapshot and binary log",
       .options = MySqlSourceOptions(),
       .make_source = MakeMySqlSource,
       .reads_tables_again = true,
       .check = CheckMySqlSource},
      {.type = "postgres",
       .aliases = {"postgresql"},
       .summary = "PostgreSQL: snapshot and logical replication",
       .options = PostgresSourceOptions(),
       .check = CheckPostgresSource},
      {.type = "kafka",
       .summary = "Kafka topics with Debezium, Canal, Maxwell or plain JSON",
       .options = KafkaSourceOptionSpecs(),
       .make_source = MakeKafkaSource,
       .check = CheckKafkaSource},
      {.type = "sql",
       .summary = "A script of Flink SQL: tables, their changes and literal rows",
       .options = SqlSourceOptionSpecs(),
       .make_source = MakeSqlSource,
       .check = CheckSqlSource},
  };
  return *kSources;
}

}  // namespace driftless
