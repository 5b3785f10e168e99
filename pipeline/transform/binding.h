#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"
#include "schema/model/table.h"

namespace driftless {

// What the names in a transform's text mean: columns by identity, from the moment that the text
// first met the table. So a column that is renamed later keeps its place in the text, and the old
// text stays valid on restart. Grows only; kept in the state.
class Binding {
 public:
  struct Name {
    std::vector<ColumnId> columns;  // the newest last: a column that came again under its old name
    LogicalType type;               // last known, for a column that is gone
  };

  // Null: the text has not met a table of this incarnation with that name.
  const Name* Find(uint64_t incarnation, std::string_view name) const;
  void Bind(uint64_t incarnation, const std::string& name, ColumnId column,
            const LogicalType& type);
  // The same in the texts before these ones: asked when the table has no column of that name.
  const Name* FindInherited(uint64_t incarnation, std::string_view name) const;
  // What another text's names mean is inherited by new texts: where a table has no column of a name
  // any more, it means what it meant.
  static Binding Inherit(const Binding& other);

  // A table goes on under another name: in the same texts its names mean what they meant, others
  // inherit them. What this binding knows of the incarnation already stays.
  void TakeOver(const Binding& other, uint64_t incarnation, bool same_texts);

  // A computed column that stands in the place of a column of `*`, which had its name then.
  void Override(uint64_t incarnation, const std::string& name, ColumnId column);
  const std::vector<ColumnId>* Overridden(uint64_t incarnation, std::string_view name) const;

  // The identity of an output column that is no column of the source; none: ComputedColumnId.
  std::optional<ColumnId> Computed(std::string_view name) const;
  void SettleComputed(const std::string& name, ColumnId column) { computed_[name] = column; }
  // A computed column goes on under another name; what comes under its old one is another column.
  void RenameComputed(const std::string& from, const std::string& to);

  std::string Serialize() const;
  static Result<Binding> Parse(std::string_view json);

 private:
  struct Table {
    std::map<std::string, Name, std::less<>> names;
    std::map<std::string, std::vector<ColumnId>, std::less<>> overrides;
  };
  static const Name* Find(const std::map<uint64_t, Table>& tables, uint64_t incarnation,
                          std::string_view name);

  std::map<uint64_t, Table> tables_;  // by incarnation
  std::map<uint64_t, Table> inherited_;
  std::map<std::string, ColumnId, std::less<>> computed_;  // that are not as their names say
};

// The identity of an output column that is no column of the source: a function of its name, so that
// it is the same after every restart. Beyond every identity that a source gives.
ColumnId ComputedColumnId(std::string_view name);

}  // namespace driftless
