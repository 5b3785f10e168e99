#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "schema/ddl/mysql/catalog.h"
#include "schema/history/history.h"

namespace driftless {

// Recognises online schema changes (gh-ost, pt-online-schema-change and their like) in what a
// catalog made of the statements, and gives routing what they mean (policy, section 9):
// - shadow tables and what the tools leave behind never appear; their schemas are tracked with the
//   identities of the table that they stand for;
// - the swap at the end becomes one change of the real table, whose parts are the difference by
//   identity, so that a renamed column is a rename;
// - any other swap of names is a change of the name by column names, with a warning that its
//   content was replaced.
// The tracked schemas are corrected along the way: a name that is swapped keeps its incarnation and
// its columns' ids.
class OnlineSchemaChange {
 public:
  struct Patterns {
    // One * stands for the real table's name. Shadows become the real table at the end...
    std::vector<std::string> shadows = {"_*_gho", "_*_new", "__osc_new_*"};
    // ...leftovers are where the real table goes, and the tools' own tables.
    std::vector<std::string> leftovers = {"_*_del", "_*_old", "_*_ghc", "__osc_old_*",
                                          "__osc_chg_*"};
  };

  // What goes on to routing, and what must be said.
  struct Outcome {
    std::vector<StatementChange> changes;
    std::vector<mysql::RowsWithoutEvents> rows_without_events;
    // Names that a swap left empty: their sink tables get no more rows.
    std::vector<TablePath> tables_left;
  };

  // `catalog` must outlive this.
  explicit OnlineSchemaChange(mysql::DdlCatalog* catalog)
      : OnlineSchemaChange(catalog, Patterns()) {}
  OnlineSchemaChange(mysql::DdlCatalog* catalog, Patterns patterns);

  // Takes the effect of a statement that the catalog has just applied. A DROP TABLE of a table
  // whose shadow lives is kept back: if the next statement on either is the rename, both are one
  // swap; else the drop comes before that statement's changes.
  Outcome Translate(mysql::StatementEffect effect);

  // Whether the table is a shadow or a leftover of a tracked table: its rows are no one's.
  bool IsHidden(const TablePath& table) const;

  // The table is there, though its schema has not come yet: for snapshots, which may show a shadow
  // before the table that it stands for. Forgotten as soon as a statement on the table comes.
  void Announce(const TablePath& table) { announced_.insert(table); }

  // A shadow is tracked that no statement made, for a source that begins in the midst of a change:
  // its columns get the ids of the real table's columns of the same name.
  void AdoptShadow(const TablePath& shadow) {
    if (const auto real = RealTable(shadow, patterns_.shadows)) AdoptIdentities(shadow, *real);
  }

  // For a restart: drops that wait for the next statement.
  const std::vector<StatementChange>& waiting_drops() const { return waiting_; }
  void RestoreWaitingDrops(std::vector<StatementChange> drops) { waiting_ = std::move(drops); }
  // The drops that waited at a restart, seen in the versions up to there (oldest first), if the
  // source writes a version for every table of a statement and one more (null) when a drop that
  // waited goes on: a table that went away once while its shadow lived is waiting.
  static std::vector<StatementChange> WaitingDropsIn(const std::vector<SchemaVersion>& versions,
                                                     const Patterns& patterns);

 private:
  struct Origin {
    TablePath name;         // before the statement
    TableSchemaPtr schema;  // before the statement
  };

  std::optional<TablePath> RealTable(const TablePath& table,
                                     const std::vector<std::string>& patterns) const;
  std::optional<TablePath> ShadowOf(const TablePath& real) const;
  bool IsLeftoverOf(const TablePath& table, const TablePath& real) const;
  bool IsTrackedOrWaiting(const TablePath& table) const;
  void AdoptIdentities(const TablePath& shadow, const TablePath& real);
  void ReleaseDropsConcerning(const mysql::StatementEffect& effect, Outcome* outcome);
  void TranslateOne(StatementChange change, Outcome* outcome);
  void TranslateRenames(std::vector<StatementChange> renames, Outcome* outcome);
  void Swap(const TablePath& name, const TableSchemaPtr& before, const Origin& newcomer,
            Outcome* outcome);
  void Appear(const TablePath& name, Outcome* outcome);

  mysql::DdlCatalog* catalog_;
  Patterns patterns_;
  std::vector<StatementChange> waiting_;
  std::set<TablePath> announced_;
};

}  // namespace driftless
