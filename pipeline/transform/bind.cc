#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "config/expr/expr_print.h"
#include "config/options/suggest.h"
#include "pipeline/transform/table_transform.h"
#include "schema/policy/table_options.h"
#include "schema/types/casts.h"

// From texts and a schema to programs and the output's schema.
namespace driftless {

class TransformBinder {
 public:
  TransformBinder(TableTransform* transform, Binding* binding)
      : t_(*transform), binding_(*binding), source_(*transform->source_) {}

  Result<void> Run(uint32_t version) {
    for (const TransformRule& rule : t_.rules_.rules()) {
      Result<void> bound = BindRule(rule);
      if (bound) continue;
      std::string where = rule.line > 0 ? fmt::format("transform in line {}", rule.line)
                                        : std::string("the transform that the state remembers");
      return std::move(bound).error().Context(std::move(where));
    }
    Combine();
    return MakeOutput(version);
  }

 private:
  // One column of one rule's output.
  struct Column1 {
    std::string name;
    ColumnId id = 0;  // 0: computed
    int column = -1;
    bool is_null = false;
    bool is_placeholder = false;  // of `*`; a later item takes its place
    LogicalType type;
    const flink::ProjectionItem* item = nullptr;  // null: by *
  };
  using List = std::vector<Column1>;

  // ---- names -----------------------------------------------------------------------------------

  Error Unknown(const std::string& name, int line, int column) const {
    std::vector<std::string_view> known(MetadataNames());
    for (const Column& c : source_.columns) known.push_back(c.name);
    return std::move(
               MakeError(ErrorKind::kInvalidConfig,
                         fmt::format("table {} has no column {}", source_.path.ToString(), name)))
        .At(line, column)
        .Hint(Suggest(name, known));
  }

  int FindBound(const Binding::Name& bound) const {
    for (auto id = bound.columns.rbegin(); id != bound.columns.rend(); ++id) {
      const int index = source_.IndexOf(*id);
      if (index >= 0) return index;
    }
    return -1;
  }

  int FindByName(const std::string& name) const {
    const int index = source_.IndexOfName(name);
    return index >= 0 ? index : source_.IndexOfNameIgnoringCase(name);
  }

  // Its place among the inputs.
  Result<size_t> InputOf(const std::string& name, int line, int column) {
    for (size_t i = 0; i < scope_.columns.size(); ++i) {
      if (scope_.columns[i].first == name) return i;
    }
    TableTransform::Input input;
    const Binding::Name* bound = binding_.Find(source_.incarnation, name);
    int index = bound == nullptr ? -1 : FindBound(*bound);
    if (index < 0) index = FindByName(name);
    if (index < 0 && bound == nullptr) {
      bound = binding_.FindInherited(source_.incarnation, name);
      if (bound != nullptr) index = FindBound(*bound);
    }
    if (index >= 0) {
      const Column& found = source_.columns[static_cast<size_t>(index)];
      input.column = index;
      input.type = found.type;
      binding_.Bind(source_.incarnation, name, found.id, found.type);
    } else if (const std::optional<Metadata> metadata = FindMetadata(name);
               metadata && bound == nullptr) {
      input.metadata = metadata;
      input.type = TypeOf(*metadata);
    } else if (bound != nullptr) {
      input.lost = true;
      input.type = bound->type.Nullable();
    } else {
      return Unknown(name, line, column);
    }
    scope_.columns.emplace_back(name, input.type);
    t_.inputs_.push_back(std::move(input));
    return t_.inputs_.size() - 1;
  }

  // Binds every name below `e`; the lost ones go to `lost`, and what is called otherwise now is
  // changed in `renamed`.
  Result<void> BindNames(const flink::Expr& e, std::vector<std::string>* lost, bool* is_stale,
                         flink::Expr* renamed) {
    if (e.kind == flink::ExprKind::kColumn) {
      DRIFTLESS_ASSIGN_OR_RETURN(const size_t at, InputOf(e.path[0], e.line, e.column));
      const TableTransform::Input& input = t_.inputs_[at];
      if (input.lost) lost->push_back(e.path[0]);
      if (input.column >= 0) {
        const std::string& now = source_.columns[static_cast<size_t>(input.column)].name;
        if (!EqualsIgnoringCase(now, e.path[0])) {
          *is_stale = true;
          renamed->path[0] = now;
        }
      }
    }
    for (size_t i = 0; i < e.args.size(); ++i) {
      DRIFTLESS_TRY(BindNames(e.args[i], lost, is_stale, &renamed->args[i]));
    }
    return {};
  }

  static bool EqualsIgnoringCase(std::string_view a, std::string_view b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](char x, char y) { return std::tolower(x) == std::tolower(y); });
  }

  // ---- one rule --------------------------------------------------------------------------------

  Result<void> BindRule(const TransformRule& rule) {
    TableTransform::BoundRule bound;
    bound.rule = &rule;
    if (rule.filter) DRIFTLESS_TRY(BindFilter(rule, &bound));
    List list;
    for (size_t i = 0; i < rule.items.size(); ++i) {
      const flink::ProjectionItem& item = rule.items[i];
      if (item.is_star) {
        DRIFTLESS_TRY(Expand(rule, i, &list));
      } else {
        Result<void> added = AddItem(item, &list);
        if (!added) return std::move(added).error().Context("projection: " + item.name);
      }
    }
    lists_.push_back(std::move(list));
    t_.bound_.push_back(std::move(bound));
    return {};
  }

  Result<void> BindFilter(const TransformRule& rule, TableTransform::BoundRule* bound) {
    std::vector<std::string> lost;
    bool is_stale = false;
    flink::Expr renamed = *rule.filter;
    Result<void> names = BindNames(*rule.filter, &lost, &is_stale, &renamed);
    if (!names) return std::move(names).error().Context("filter");
    if (is_stale) {
      t_.stale_texts_.push_back("filter: " +
                                flink::PrintExpr(renamed, flink::PrintStyle::kAsWritten));
    }
    for (const std::string& name : lost) {
      t_.lost_.push_back({name, "filter " + rule.filter_text, 0});
      t_.broken_ = t_.lost_.back();
    }
    for (auto* program : {&bound->filter_after, &bound->filter_before}) {
      Result<flink::Program> compiled =
          flink::Program::Compile(*rule.filter, scope_, t_.options_.zone);
      if (!compiled) return std::move(compiled).error().Context("filter");
      if (compiled->type().kind() != TypeKind::kBoolean) {
        return std::move(MakeError(ErrorKind::kInvalidConfig,
                                   "filter: a condition is BOOLEAN, this is " +
                                       compiled->type().ToStringIgnoringNullability()))
            .At(rule.filter->line, rule.filter->column);
      }
      *program = *std::move(compiled);
    }
    return {};
  }

  static Column1* Named(List* list, const std::string& name) {
    for (Column1& column : *list) {
      if (column.name == name) return &column;
    }
    return nullptr;
  }

  // The name of the item that stands in the place of a column of `*`; empty: none.
  std::string OverriderOf(const TransformRule& rule, size_t star, const Column& column,
                          const std::string& name) {
    for (size_t i = star + 1; i < rule.items.size(); ++i) {
      const flink::ProjectionItem& item = rule.items[i];
      if (item.is_star || item.is_column) continue;
      const std::vector<ColumnId>* before = binding_.Overridden(source_.incarnation, item.name);
      const bool bound = before != nullptr &&
                         std::find(before->begin(), before->end(), column.id) != before->end();
      if (item.name == name && !bound) {
        binding_.Override(source_.incarnation, item.name, column.id);
      }
      if (bound || item.name == name) return item.name;
    }
    return "";
  }

  // The column of the source that EXCLUDE or RENAME names; nothing where it has gone.
  Result<std::optional<size_t>> StarColumn(const flink::ProjectionItem& star,
                                           const std::string& name) {
    DRIFTLESS_ASSIGN_OR_RETURN(const size_t at, InputOf(name, star.expr.line, star.expr.column));
    const TableTransform::Input& input = t_.inputs_[at];
    if (input.column < 0) return std::optional<size_t>();
    const auto column = static_cast<size_t>(input.column);
    if (!EqualsIgnoringCase(source_.columns[column].name, name)) {
      t_.stale_texts_.push_back("*: " + flink::QuoteName(name) + " is called " +
                                flink::QuoteName(source_.columns[column].name) + " now");
    }
    return std::optional(column);
  }

  Result<void> Expand(const TransformRule& rule, size_t star, List* list) {
    const flink::ProjectionItem& item = rule.items[star];
    std::set<size_t> excluded;
    std::map<size_t, std::string> renamed;
    for (const std::string& name : item.excluded) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<size_t> column, StarColumn(item, name));
      if (column) excluded.insert(*column);
    }
    for (const auto& [from, to] : item.renamed) {
      DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<size_t> column, StarColumn(item, from));
      if (column) renamed[*column] = to;
    }
    for (size_t i = 0; i < source_.columns.size(); ++i) {
      if (excluded.contains(i)) continue;
      const Column& column = source_.columns[i];
      const auto other = renamed.find(i);
      const std::string& name = other == renamed.end() ? column.name : other->second;
      Column1 made;
      made.name = OverriderOf(rule, star, column, name);
      made.is_placeholder = !made.name.empty();
      if (!made.is_placeholder) {
        made.name = name;
        made.id = column.id;
        made.column = static_cast<int>(i);
        made.type = column.type;
      }
      Column1* known = Named(list, made.name);
      if (known == nullptr) {
        list->push_back(std::move(made));
      } else if (!made.is_placeholder) {
        *known = std::move(made);
      }
    }
    return {};
  }

  Result<void> AddItem(const flink::ProjectionItem& item, List* list) {
    if (item.name.starts_with("__") && FindMetadata(item.name) &&
        !(item.is_column && item.expr.path[0] == item.name)) {
      return std::move(
                 MakeError(ErrorKind::kInvalidConfig, item.name + " is a metadata column's name"))
          .At(item.expr.line, item.expr.column);
    }
    std::vector<std::string> lost;
    bool is_stale = false;
    flink::Expr renamed = item.expr;
    DRIFTLESS_TRY(BindNames(item.expr, &lost, &is_stale, &renamed));
    if (is_stale) {
      t_.stale_texts_.push_back(flink::PrintExpr(renamed, flink::PrintStyle::kAsWritten) + " AS " +
                                flink::QuoteName(item.name));
    }
    Column1 made;
    made.name = item.name;
    made.item = &item;
    if (item.is_column) {
      DRIFTLESS_ASSIGN_OR_RETURN(const size_t at, InputOf(item.expr.path[0], 0, 0));
      const TableTransform::Input& input = t_.inputs_[at];
      made.type = input.type;
      if (input.column >= 0) {
        made.column = input.column;
        made.id = source_.columns[static_cast<size_t>(input.column)].id;
      } else if (input.lost) {
        made.is_null = true;
        const Binding::Name* bound = binding_.Find(source_.incarnation, item.expr.path[0]);
        if (bound == nullptr) {
          bound = binding_.FindInherited(source_.incarnation, item.expr.path[0]);
        }
        made.id = bound->columns.back();
      }
    }
    if (made.column < 0 && !made.is_null) {
      DRIFTLESS_ASSIGN_OR_RETURN(const flink::Program program,
                                 flink::Program::Compile(item.expr, scope_, t_.options_.zone));
      made.type = program.type();
    }
    for (const std::string& name : lost) {
      lost_items_.push_back({{name, item.text, 0}, item.name});
      made.type = made.type.Nullable();
    }
    Column1* known = Named(list, item.name);
    if (known == nullptr) {
      list->push_back(std::move(made));
    } else {
      *known = std::move(made);
    }
    return {};
  }

  // ---- the output ------------------------------------------------------------------------------

  // The columns of all rules: those of the first, then what others have besides. The identities are
  // settled: a source column is itself once, every other one is known by its name.
  void Combine() {
    columns_ = lists_[0];
    for (size_t i = 1; i < lists_.size(); ++i) {
      for (const Column1& other : lists_[i]) {
        Column1* known = Named(&columns_, other.name);
        if (known == nullptr) {
          columns_.push_back(other);
          columns_.back().type = other.type.Nullable();
          continue;
        }
        if (known->id != other.id) known->id = 0;
        if (known->type != other.type) {
          known->type = LeastCommonType(known->type, other.type, LatticeStyle::kMatrix);
        }
      }
      for (Column1& column : columns_) {
        if (Named(&lists_[i], column.name) == nullptr) column.type = column.type.Nullable();
      }
    }
    // What `*` brings keeps its identity before what the text names.
    std::set<ColumnId> taken;
    for (const bool by_star : {true, false}) {
      for (Column1& column : columns_) {
        if ((column.item == nullptr) != by_star || column.id == 0) continue;
        if (!taken.insert(column.id).second) column.id = 0;
      }
    }
    // Nobody takes an identity that was settled before.
    for (const bool is_settled : {true, false}) {
      for (Column1& column : columns_) {
        if (column.id == 0) SettleComputed(is_settled, &column, &taken);
      }
    }
  }

  void SettleComputed(bool is_settled, Column1* column, std::set<ColumnId>* taken) {
    const std::optional<ColumnId> known = binding_.Computed(column->name);
    if (known.has_value() != is_settled) return;
    const ColumnId by_name = ComputedColumnId(column->name);
    column->id = known.value_or(by_name);
    while (!taken->insert(column->id).second) ++column->id;
    if (column->id != by_name) binding_.SettleComputed(column->name, column->id);
  }

  Result<void> MakeMakers() {
    for (size_t r = 0; r < lists_.size(); ++r) {
      for (const Column1& column : columns_) {
        TableTransform::Maker maker;
        const Column1* own = Named(&lists_[r], column.name);
        if (own == nullptr || own->is_null) {
          maker.is_null = true;
        } else if (own->column >= 0) {
          maker.column = own->column;
        } else {
          maker.text = own->item->text;
          for (auto* program : {&maker.after, &maker.before}) {
            DRIFTLESS_ASSIGN_OR_RETURN(
                flink::Program compiled,
                flink::Program::Compile(own->item->expr, scope_, t_.options_.zone));
            *program = std::move(compiled);
          }
        }
        t_.bound_[r].makers.push_back(std::move(maker));
      }
    }
    return {};
  }

  Result<ColumnId> OutputColumn(const std::string& name, std::string_view what,
                                const TableSchema& output) const {
    const int exact = output.IndexOfName(name);
    const int index = exact >= 0 ? exact : output.IndexOfNameIgnoringCase(name);
    if (index >= 0) return output.columns[static_cast<size_t>(index)].id;
    std::vector<std::string_view> known;
    for (const Column& column : output.columns) known.push_back(column.name);
    return MakeError(ErrorKind::kInvalidConfig,
                     fmt::format("{}: the output has no column {}", what, name))
        .Hint(Suggest(name, known));
  }

  Result<void> MakeOutput(uint32_t version) {
    DRIFTLESS_TRY(MakeMakers());
    TableSchema output = source_;
    output.version = version;
    output.columns.clear();
    output.primary_key.clear();
    output.partition_keys.clear();
    for (const Column1& column : columns_) {
      Column made;
      if (column.column >= 0 &&
          column.id == source_.columns[static_cast<size_t>(column.column)].id) {
        made = source_.columns[static_cast<size_t>(column.column)];
      }
      made.id = column.id;
      made.name = column.name;
      made.type = column.type;
      output.next_column_id = std::max(output.next_column_id, column.id + 1);
      output.columns.push_back(std::move(made));
    }
    DRIFTLESS_TRY(SetKeys(&output));
    const TransformRule& first = t_.rules_.rules().front();
    for (const auto& [key, value] : first.table_options) {
      output.options[std::string(kTableOptionPrefix) + key] = value;
    }
    for (auto& [lost, feeds] : lost_items_) {
      const Column* column = output.FindName(feeds);
      lost.feeds = output.IsKey(column->id) || output.IsPartitionKey(column->id) ? 0 : column->id;
      if (lost.feeds == 0) t_.broken_ = lost;
      t_.lost_.push_back(lost);
    }
    t_.output_ = std::make_shared<const TableSchema>(std::move(output));
    return {};
  }

  Result<void> SetKeys(TableSchema* output) {
    const TransformRule& first = t_.rules_.rules().front();
    for (const std::string& name : first.primary_keys) {
      DRIFTLESS_ASSIGN_OR_RETURN(const ColumnId id, OutputColumn(name, "primary-keys", *output));
      output->primary_key.push_back(id);
    }
    if (first.primary_keys.empty()) {
      for (const ColumnId id : source_.primary_key) {
        if (output->Find(id) == nullptr) {
          return MakeError(ErrorKind::kInvalidConfig,
                           fmt::format("the projection leaves out {}, which is a key column of {}",
                                       source_.Find(id)->name, source_.path.ToString()))
              .Hint("Add it, or say with primary-keys what the key of the output is.");
        }
        output->primary_key.push_back(id);
      }
    }
    for (const std::string& name : first.partition_keys) {
      DRIFTLESS_ASSIGN_OR_RETURN(const ColumnId id, OutputColumn(name, "partition-keys", *output));
      output->partition_keys.push_back(id);
    }
    if (first.partition_keys.empty()) {
      output->partition_keys = source_.partition_keys;
      std::erase_if(output->partition_keys,
                    [&](ColumnId id) { return output->Find(id) == nullptr; });
    }
    for (Column& column : output->columns) {
      if (output->IsKey(column.id)) column.type = column.type.NotNull();
    }
    return {};
  }

  TableTransform& t_;
  Binding& binding_;
  const TableSchema& source_;
  flink::Scope scope_;
  std::vector<List> lists_;  // per rule
  List columns_;
  std::vector<std::pair<DropColumns::LostInput, std::string>> lost_items_;  // and what they feed
};

TableTransform::~TableTransform() = default;

Result<std::unique_ptr<TableTransform>> TableTransform::Bind(const TableRules& rules,
                                                             const TableSchemaPtr& source,
                                                             uint32_t version, Binding* binding,
                                                             const TransformOptions& options) {
  std::unique_ptr<TableTransform> transform(new TableTransform());
  transform->rules_ = rules;
  transform->options_ = options;
  transform->source_ = source;
  Result<void> bound = TransformBinder(transform.get(), binding).Run(version);
  if (!bound) return std::move(bound).error();
  return transform;
}

}  // namespace driftless
