#include <algorithm>
#include <utility>

#include "pipeline/script/memory_changes.h"
#include "pipeline/script/memory_sink.h"
#include "schema/types/casts.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

using Table = MemoryStore::Table;

std::string IdentityText(const CommitIdentity& identity) {
  return identity.pipeline + "\n" + identity.sink + "\n" + identity.table.ToString() + "\n" +
         std::to_string(identity.cut) + "\n" + std::to_string(identity.attempt);
}

// A text value as the new type has it: 1.5 in DECIMAL(10, 4) is 1.5000. Nothing where it does not
// fit, as a server would fill NULL or have refused.
std::optional<std::string> Convert(const std::string& text, const LogicalType& type) {
  if (type.IsBytes() || type.IsNested() || type.kind() == TypeKind::kVariant) return text;
  const int32_t offsets[] = {0, static_cast<int32_t>(text.size())};
  ColumnView view;
  view.length = 1;
  view.values = reinterpret_cast<const uint8_t*>(text.data());
  view.offsets = offsets;
  OwnedColumn cast;
  ColumnCast(LogicalType::String(), type, TimeZone()).Run(view, &cast);
  return TextOf(type, cast.view(), 0);
}

// From the column names before a step to those after it, for columns that stay. Renames show only
// by identity where a plan is one commit; plans of single operations never change two names at
// once.
std::map<std::string, std::string> SurvivingNames(const Table& table, const SchemaPlan& plan,
                                                  size_t step) {
  const SinkTable& before = table.table;
  const SinkTable& after = *plan.steps[step].after;
  std::map<std::string, std::string> names;
  std::vector<std::string> gone;
  std::vector<std::string> come;
  for (const SinkColumn& column : before.columns) {
    if (after.FindName(column.name) != nullptr) {
      names[column.name] = column.name;
    } else {
      gone.push_back(column.name);
    }
  }
  for (const SinkColumn& column : after.columns) {
    if (before.FindName(column.name) == nullptr) come.push_back(column.name);
  }
  if (plan.steps.size() > 1) {
    const bool is_rename =
        gone.size() == 1 && come.size() == 1 && before.columns.size() == after.columns.size();
    if (is_rename) names[gone[0]] = come[0];
    return names;
  }
  for (const auto& [old_name, source] : table.sources) {
    const EvolvedColumn* now = source == 0 ? nullptr : plan.evolved.FindSource(source);
    if (now == nullptr || now->sink.name == old_name) continue;
    // The identity moved to another column. Where its old column stays as a free one, that one
    // keeps the old values (Hologres: append the renamed column, leave the old one).
    const EvolvedColumn* left = plan.evolved.FindName(old_name);
    if (left != nullptr && left->source == 0) continue;
    names[old_name] = now->sink.name;
  }
  return names;
}

TextRow Reshape(const TextRow& row, const std::map<std::string, std::string>& names,
                const SinkTable& before, const SchemaPlan& plan, const SinkTable& after) {
  TextRow reshaped;
  for (const auto& [old_name, name] : names) {
    const auto value = row.find(old_name);
    if (value == row.end()) continue;
    const LogicalType& type = after.FindName(name)->type;
    const bool retyped = !before.FindName(old_name)->type.EqualsIgnoringNullability(type);
    reshaped[name] = value->second && retyped ? Convert(*value->second, type) : value->second;
  }
  const bool reads_default = plan.rows.find("old rows read the default") != std::string::npos;
  for (const SinkColumn& column : after.columns) {
    if (reshaped.count(column.name) > 0) continue;
    const bool has_default = column.default_value.kind == DefaultValue::Kind::kLiteral;
    reshaped[column.name] = reads_default && has_default
                                ? std::optional<std::string>(column.default_value.text)
                                : std::nullopt;
  }
  return reshaped;
}

std::string KeyOf(const SinkTable& table, const TextRow& row) {
  std::string key;
  for (const std::string& name : table.primary_key) {
    const auto value = row.find(name);
    key += value == row.end() || !value->second ? "\x01" : *value->second;
    key += '\0';
  }
  return key;
}

}  // namespace

std::optional<std::string> TextOf(const LogicalType& type, const ColumnView& column, int64_t row) {
  if (column.IsNull(row)) return std::nullopt;
  std::string text;
  AppendText(type, column, row, {.bytes = BytesText::kHex}, &text);
  return text;
}

void MemoryStore::Arm(Fault fault) {
  const std::lock_guard lock(mutex_);
  faults_.push_back(std::move(fault));
}

bool MemoryStore::HasFault() const {
  const std::lock_guard lock(mutex_);
  return !faults_.empty();
}

void MemoryStore::OnCrash(std::function<void()> crash) {
  const std::lock_guard lock(mutex_);
  crash_ = std::move(crash);
}

std::optional<MemoryStore::Fault> MemoryStore::TakeFault(Fault::At at) {
  const auto it = std::find_if(faults_.begin(), faults_.end(),
                               [at](const Fault& fault) { return fault.at == at; });
  if (it == faults_.end()) return std::nullopt;
  Fault fault = *it;
  if (--it->times == 0) faults_.erase(it);
  return fault;
}

std::optional<SinkTable> MemoryStore::Read(const TablePath& table) const {
  const std::lock_guard lock(mutex_);
  const auto it = tables_.find(table);
  if (it == tables_.end()) return std::nullopt;
  return it->second.table;
}

std::vector<TextRow> MemoryStore::Rows(const TablePath& table) const {
  const std::lock_guard lock(mutex_);
  const auto it = tables_.find(table);
  if (it == tables_.end()) return {};
  std::vector<TextRow> rows = it->second.appended;
  for (const auto& [key, row] : it->second.keyed) rows.push_back(row);
  return rows;
}

// Calls `work` under the lock, with the fault that waits at this place before or behind it. The
// process is ended outside of the lock: whoever ends it may look at the store.
template <typename Work>
Result<void> MemoryStore::WithFault(Fault::At at, ErrorKind after_kind, Work work) {
  std::optional<Fault> fault;
  std::function<void()> crash;
  Result<void> result;
  {
    const std::lock_guard lock(mutex_);
    fault = TakeFault(at);
    crash = crash_;
    if (fault && fault->kind == Fault::Kind::kRefuse) {
      return MakeError(ErrorKind::kRefused, fault->message);
    }
    if (!fault || fault->kind == Fault::Kind::kCrashAfter) result = work();
  }
  if (!fault || !result) return result;
  if (crash) crash();
  const bool before = fault->kind == Fault::Kind::kCrashBefore;
  return MakeError(before ? ErrorKind::kCancelled : after_kind, "the script let the process crash");
}

Result<void> MemoryStore::ExecuteStep(const SchemaPlan& plan, size_t step) {
  return WithFault(Fault::At::kStep, ErrorKind::kCancelled, [&] { return ApplyStep(plan, step); });
}

Result<void> MemoryStore::Commit(const CommitToken& token) {
  return WithFault(Fault::At::kCommit, ErrorKind::kCommitUnknown,
                   [&] { return ApplyChanges(token); });
}

Result<void> MemoryStore::ApplyStep(const SchemaPlan& plan, size_t index) {
  const Step& step = plan.steps[index];
  const TablePath& path = plan.sink_table;
  const auto found = tables_.find(path);
  const auto remember_sources = [&](Table* table) {
    if (index + 1 < plan.steps.size()) return;
    table->sources.clear();
    for (const EvolvedColumn& column : plan.evolved.columns) {
      table->sources[column.sink.name] = column.source;
    }
  };
  if (step.creates_table) {
    if (found != tables_.end()) {
      return MakeError(ErrorKind::kAlreadyExists, "table " + path.ToString() + " is there already");
    }
    Table& table = tables_[path];
    table.table = *step.after;
    remember_sources(&table);
    return {};
  }
  if (found == tables_.end()) {
    return MakeError(ErrorKind::kNotFound, "there is no table " + path.ToString());
  }
  if (!step.after) {
    tables_.erase(found);
    return {};
  }
  Table& table = found->second;
  if (*step.after == step.before) {  // TRUNCATE: the one step that changes rows alone
    table.keyed.clear();
    table.appended.clear();
    return {};
  }
  const auto names = SurvivingNames(table, plan, index);
  std::map<std::string, TextRow> keyed;
  for (const auto& [key, row] : table.keyed) {
    TextRow reshaped = Reshape(row, names, table.table, plan, *step.after);
    std::string new_key = KeyOf(*step.after, reshaped);
    keyed[std::move(new_key)] = std::move(reshaped);
  }
  for (TextRow& row : table.appended) {
    row = Reshape(row, names, table.table, plan, *step.after);
  }
  table.keyed = std::move(keyed);
  table.table = *step.after;
  remember_sources(&table);
  return {};
}

bool MemoryStore::IsCommitted(const CommitToken& token) const {
  const std::lock_guard lock(mutex_);
  return committed_.count(IdentityText(token.identity)) > 0;
}

Result<void> MemoryStore::ApplyChanges(const CommitToken& token) {
  if (!committed_.insert(IdentityText(token.identity)).second) return {};
  DRIFTLESS_ASSIGN_OR_RETURN(std::vector<MemoryChange> changes, DecodeChanges(token.payload));
  if (changes.empty()) return {};
  const auto found = tables_.find(token.identity.table);
  if (found == tables_.end()) {
    return MakeError(ErrorKind::kNotFound,
                     "there is no table " + token.identity.table.ToString() + " to write to");
  }
  Table& table = found->second;
  for (MemoryChange& change : changes) {
    if (table.table.primary_key.empty()) {
      if (!change.is_delete) table.appended.push_back(std::move(change.row));
      continue;
    }
    const std::string key = KeyOf(table.table, change.row);
    if (change.is_delete) {
      table.keyed.erase(key);
    } else {
      table.keyed[key] = std::move(change.row);
    }
  }
  return {};
}

void MemoryStore::AdoptColumns(const EvolvedSchema& evolved) {
  const std::lock_guard lock(mutex_);
  const auto found = tables_.find(evolved.path);
  if (found == tables_.end()) return;
  found->second.table.columns = evolved.ToSinkTable().columns;
  found->second.table.primary_key = evolved.primary_key;
}

}  // namespace driftless
