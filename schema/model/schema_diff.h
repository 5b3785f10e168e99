#pragma once

#include <vector>

#include "schema/events/schema_change.h"

namespace driftless {

// The parts that turn one version of a table into another, by column identity, in the order of the
// policy's section 1. Replaying them with ApplyPart gives `after` (its version counts the parts).
std::vector<SchemaChange> DiffByIdentity(const TableSchemaPtr& before, const TableSchema& after);

// Gives the columns of `target` the identities of `before`'s columns of the same name; new names
// get new identities. For tables that are described anew without DDL: a row's shape, a swap by
// foreign tools. Path, incarnation and partition keys stay `before`'s. A renamed column is a new
// one here: names are all there is. Names that differ in letter case only are the same column where
// `names` says so.
enum class NameMatch : uint8_t { kExact, kIgnoringCase };
TableSchema BindByName(const TableSchema& before, const TableSchema& target, NameMatch names);

// DiffByIdentity to BindByName: new name = add, missing name = drop.
std::vector<SchemaChange> DiffByName(const TableSchemaPtr& before, const TableSchema& target,
                                     NameMatch names);

// The schema after one part, whose version is one higher. Of a DefaultChange, which does not carry
// the new attributes, `after` (the part's own schema) gives them. CreateTable and DropTable have no
// schema to work on: they are a caller's bug. Errors: kInvalidInput where a column or anchor is not
// there, or a name would be there twice.
Result<TableSchema> ApplyPart(const TableSchema& before, const SchemaChange& part);

}  // namespace driftless
