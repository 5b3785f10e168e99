#include "pipeline/sources/mysql/joining_tables.h"

#include <algorithm>
#include <map>

#include "pipeline/sources/mysql/log_position.h"

namespace driftless::mysql {
namespace {

// What the history says of one table at the start's place.
struct Past {
  const SchemaVersion* last = nullptr;  // at or before the place
  const SchemaVersion* mark = nullptr;  // the last join or leave that the sinks have
  const SchemaVersion* join = nullptr;  // that they lack
  bool comes = false;                   // a statement behind the place has it
};

std::map<TablePath, Past> PastsOf(const JoiningInputs& inputs) {
  std::map<TablePath, Past> pasts;
  for (const SchemaVersion& version : inputs.history) {
    Past& past = pasts[version.table];
    const bool is_behind = inputs.at.Precedes(version.point);
    if (!is_behind) past.last = &version;
    if (!LogPosition::IsBehindRows(version.point)) {
      past.comes |= is_behind && version.schema != nullptr;
    } else if (!inputs.committed.Precedes(version.point)) {
      past.mark = &version;
    } else {
      past.join = version.schema == nullptr ? nullptr : &version;
    }
  }
  return pasts;
}

}  // namespace

std::string TableSelection::TextOf(const SourceOptions& options) {
  std::string text = options.tables->text();
  if (options.exclude) text += '\n' + options.exclude->text();
  return text;
}

Result<TableSelection> TableSelection::Parse(std::string_view text) {
  TableSelection selection;
  const size_t end = std::min(text.find('\n'), text.size());
  DRIFTLESS_ASSIGN_OR_RETURN(selection.tables_, TableSelector::Parse(text.substr(0, end)));
  if (end < text.size()) {
    DRIFTLESS_ASSIGN_OR_RETURN(selection.exclude_, TableSelector::Parse(text.substr(end + 1)));
  }
  return selection;
}

JoiningTables FindJoiningTables(const JoiningInputs& inputs) {
  JoiningTables found;
  const std::map<TablePath, Past> pasts = PastsOf(inputs);
  const auto matched = [&](const TablePath& table) {
    return inputs.before ? inputs.before->Matches(table) : inputs.options->IsCaptured(table);
  };
  const auto was_part = [&](const TablePath& table, const Past& past) {
    if (past.last == nullptr || past.last->schema == nullptr) return false;
    return past.mark == nullptr ? matched(table) : past.mark->schema != nullptr;
  };
  for (const auto& [table, past] : pasts) {
    const bool is_captured = inputs.options->IsCaptured(table);
    if (past.join != nullptr && is_captured) found.again.push_back(*past.join);
    if (past.join == nullptr && !is_captured && was_part(table, past)) {
      found.leaving.push_back(table);
    }
  }
  std::stable_sort(found.again.begin(), found.again.end(),
                   [](const auto& a, const auto& b) { return a.point.Precedes(b.point); });
  for (const TablePath& table : inputs.listed) {
    const auto past = pasts.find(table);
    if (past != pasts.end()) {
      const bool comes = past->second.comes && matched(table);
      if (comes || past->second.join != nullptr || was_part(table, past->second)) continue;
    }
    found.newcomers.push_back(table);
  }
  return found;
}

}  // namespace driftless::mysql
