#pragma once

// Events made of their fields, and rows of events as text.

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/sources/mysql/binlog/binlog_event.h"
#include "pipeline/sources/mysql/binlog/row_decoder.h"

namespace driftless::testing {

std::string Unhex(std::string_view hex);

// A header and the body, without a checksum: what EventReader::ReadInner takes.
std::string EventBytes(mysql::EventType type, std::string_view body);

// A reader that has seen a format description with checksums.
mysql::EventReader ChecksummedReader(bool mariadb);

// The table of a map, whose columns have these types ("int unsigned"); the first one is the key.
TableSchemaPtr SchemaOf(const mysql::TableMap& map, const std::vector<std::string>& types,
                        bool mariadb);

// "insert 1, x, NULL" for each row; "error: ..." where the decoding ended.
std::vector<std::string> DecodeRows(const mysql::TableMap& map, const TableSchemaPtr& schema,
                                    const mysql::BinlogEvent& event);

}  // namespace driftless::testing
