#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/iceberg/catalog.h"

// The bodies of the Iceberg REST catalog protocol (Iceberg REST Catalog API specification).
namespace driftless::iceberg {

struct RestTableName {
  std::vector<std::string> levels;  // of the namespace
  std::string name;
};

std::string CreateNamespaceBody(const std::vector<std::string>& levels);
std::string CreateTableBody(const std::string& name, const NewTable& created);

// One table's requirements and updates: the table is still the one that `base` is, and what
// `change` touches has not been changed meanwhile.
std::string CommitBody(const RestTableName& table, const TableMetadata& base,
                       const MetadataChange& change);
// Several of these, for "transactions/commit".
std::string TransactionBody(const std::vector<std::string>& commit_bodies);

// What loading a table answers.
struct LoadAnswer {
  TableMetadata metadata;
  std::string metadata_location;
  std::map<std::string, std::string> config;  // with the credentials that fit the table's place
};
Result<LoadAnswer> ParseLoadAnswer(std::string_view body);

}  // namespace driftless::iceberg
