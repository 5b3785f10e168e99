#include "config/sql/compat/compat.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "config/expr/lexer.h"
#include "config/sql/compat/query_shape.h"
#include "config/sql/session.h"
#include "config/sql/statement_parser.h"

namespace driftless::flink {
namespace {

// One query of a job; an error where its shape cannot be told.
struct JobQuery {
  std::string sink;  // full name; empty: a SELECT
  Result<QueryShape> shape = QueryShape();
};

struct Job {
  Session session;
  std::vector<JobQuery> queries;
};

// EXECUTE STATEMENT SET BEGIN a; b; END; and BEGIN STATEMENT SET; a; b; END; are their inserts.
std::vector<std::string> InnerStatements(const std::string& text) {
  std::vector<std::string> inner;
  const auto tokens = Tokenize(text);
  if (!tokens) return {text};
  const std::vector<Token>& t = *tokens;
  size_t at = 0;
  const auto is = [&](size_t i, std::string_view word) {
    return i < t.size() && t[i].kind == TokenKind::kName && t[i].upper == word;
  };
  if (is(0, "EXECUTE") && is(1, "STATEMENT") && is(2, "SET") && is(3, "BEGIN")) {
    at = 4;
  } else if (is(0, "BEGIN") && is(1, "STATEMENT") && is(2, "SET")) {
    at = 3;
  } else if (is(0, "END")) {
    at = 1;
  }
  // Several statements in one text, as a statement set is handed over.
  std::optional<size_t> begin;
  for (size_t i = at; i < t.size(); ++i) {
    const bool ends =
        t[i].kind == TokenKind::kEnd || t[i].upper == ";" ||
        (is(i, "END") &&
         (i + 1 >= t.size() || t[i + 1].upper == ";" || t[i + 1].kind == TokenKind::kEnd) &&
         !begin);
    if (!ends) {
      if (!begin) begin = t[i].begin;
      continue;
    }
    if (begin) {
      // Lines count as in the text.
      const auto lines =
          std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(*begin), '\n');
      inner.push_back(std::string(static_cast<size_t>(lines), '\n') +
                      text.substr(*begin, t[i].begin - *begin));
    }
    begin.reset();
  }
  return inner;
}

Result<void> AddQuery(const Statement& statement, const std::string& text, Job* job) {
  JobQuery query;
  if (statement.verb == Verb::kInsert || statement.verb == Verb::kCreateTable) {
    DRIFTLESS_ASSIGN_OR_RETURN(const ObjectName name, job->session.Resolve(statement.name));
    query.sink = name.Summary();
  }
  auto parsed = ParseQuery(statement, text);
  if (parsed) {
    query.shape = ShapeOf(job->session, *parsed);
  } else {
    query.shape = parsed.error();
  }
  if (!query.shape && query.shape.error().kind() != ErrorKind::kUnsupported) {
    return query.shape.error();
  }
  job->queries.push_back(std::move(query));
  return {};
}

Result<void> Take(const std::string& text, Job* job) {
  DRIFTLESS_ASSIGN_OR_RETURN(const Statement statement, ParseStatement(text));
  switch (statement.verb) {
    case Verb::kQuery:
    case Verb::kInsert: return AddQuery(statement, text, job);
    case Verb::kCreateTable:
      if (!statement.query.empty()) return AddQuery(statement, text, job);
      break;
    case Verb::kChangeRows:
      return MakeError(ErrorKind::kUnsupported, "UPDATE and DELETE have no state to compare");
    default: break;
  }
  DRIFTLESS_TRY(job->session.Execute(text));
  return {};
}

Result<std::unique_ptr<Job>> ReadJob(const std::vector<CompatStatement>& script,
                                     const std::string& name) {
  auto job = std::make_unique<Job>();
  for (const CompatStatement& statement : script) {
    for (const std::string& text : InnerStatements(statement.text)) {
      auto taken = Take(text, job.get());
      if (taken) continue;
      Error& error = taken.error();
      const int line = statement.line + std::max(error.line(), 1) - 1;
      return std::move(error).At(line, error.column()).Context("the " + name + " script");
    }
  }
  return job;
}

std::string Listed(const std::vector<std::string>& items) {
  std::string text;
  for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
  return text.empty() ? "nothing" : text;
}

class Comparison {
 public:
  Comparison(const Job& before, const Job& after, const CompatOptions& options)
      : before_(before), after_(after), options_(options) {}

  CompatReport Run() {
    if (options_.old_version != options_.new_version) {
      Add({CompatVerdict::kUnknown, false, "R14", "", "engine",
           "the state was written by version " + options_.old_version + " and would be read by " +
               options_.new_version});
    }
    CompareTables();
    MatchQueries();
    if (kinds_.size() > 1) {
      std::vector<std::string> kinds(kinds_.begin(), kinds_.end());
      Add({CompatVerdict::kUnknown, false, "R13", "", "job",
           "more than one kind of change at a time: " + Listed(kinds)});
    }
    for (const CompatFinding& finding : report_.findings) {
      if (!finding.is_warning) report_.verdict = std::max(report_.verdict, finding.verdict);
    }
    return std::move(report_);
  }

 private:
  void Add(CompatFinding finding) {
    if (finding.statement.empty()) finding.statement = statement_;
    report_.findings.push_back(std::move(finding));
  }

  // ---- tables ----------------------------------------------------------------------------------

  static std::set<std::string> TablesOf(const Job& job) {
    std::set<std::string> tables;
    for (const JobQuery& query : job.queries) {
      if (!query.shape) continue;
      for (const auto& [name, columns] : query.shape->tables) tables.insert(name);
    }
    return tables;
  }
  static const TableEntry* Find(const Job& job, const std::string& name) {
    for (const auto& [full, entry] : job.session.Tables()) {
      if (full.Summary() == name) return entry;
    }
    return nullptr;
  }

  void CompareTables() {
    const std::set<std::string> tables = TablesOf(before_);
    const std::set<std::string> now = TablesOf(after_);
    for (const std::string& name : tables) {
      const TableEntry* old_table = Find(before_, name);
      const TableEntry* new_table = Find(after_, name);
      if (!now.contains(name) || old_table == nullptr || new_table == nullptr) continue;
      CompareOptions(name, old_table->options, new_table->options);
      const auto key = [](const TableEntry& table) {
        return table.key ? table.key->columns : std::vector<std::string>();
      };
      if (key(*old_table) == key(*new_table)) continue;
      Add({CompatVerdict::kFull, true, "R12", "", name,
           "the primary key was (" + Listed(key(*old_table)) + ") and is (" +
               Listed(key(*new_table)) + "): upsert keys may be others downstream"});
    }
  }

  void CompareOptions(const std::string& name, const std::map<std::string, std::string>& was,
                      const std::map<std::string, std::string>& is) {
    std::set<std::string> keys;
    for (const auto& [key, value] : was) keys.insert(key);
    for (const auto& [key, value] : is) keys.insert(key);
    const auto value = [](const std::map<std::string, std::string>& options,
                          const std::string& key) {
      const auto found = options.find(key);
      return found == options.end() ? std::string("not set") : "'" + found->second + "'";
    };
    for (const std::string& key : keys) {
      const std::string a = value(was, key);
      const std::string b = value(is, key);
      if (a == b) continue;
      if (key == "connector") {
        Add({CompatVerdict::kIncompatible, false, "R1", "", name,
             "the connector was " + a + " and is " + b});
        continue;
      }
      report_.not_checked.push_back(name + ": '" + key + "' was " + a + " and is " + b);
      if (key == "scan.incremental.snapshot.chunk.key-column") {
        Add({CompatVerdict::kFull, true, "R3a", "", name,
             "the chunk key was " + a + " and is " + b +
                 ": a snapshot that is not finished is cut in other places"});
      } else if (key == "cdcMode" || key == "changelog-mode" || key.ends_with(".changelog-mode")) {
        Add({CompatVerdict::kFull, true, "R3b", "", name,
             "the changelog mode was " + a + " and is " + b + ": rows come as other kinds"});
      }
    }
  }

  // ---- queries ---------------------------------------------------------------------------------

  void MatchQueries() {
    std::vector<const JobQuery*> old_left;
    std::vector<const JobQuery*> new_left;
    std::vector<bool> taken(after_.queries.size(), false);
    for (const JobQuery& query : before_.queries) {
      bool found = false;
      for (size_t i = 0; i < after_.queries.size() && !found; ++i) {
        if (taken[i] || after_.queries[i].sink != query.sink) continue;
        taken[i] = found = true;
        Compare(query, after_.queries[i]);
      }
      if (!found) old_left.push_back(&query);
    }
    for (size_t i = 0; i < after_.queries.size(); ++i) {
      if (!taken[i]) new_left.push_back(&after_.queries[i]);
    }
    // One sink is gone and another one is there: its name was changed.
    if (old_left.size() == 1 && new_left.size() == 1) {
      Compare(*old_left[0], *new_left[0]);
      kinds_.insert("sink");
      Add({options_.ignore_sink ? CompatVerdict::kFull : CompatVerdict::kUnknown, false, "R15", "",
           "sink",
           "the sink was " + NameOfSink(*old_left[0]) + " and is " + NameOfSink(*new_left[0])});
      return;
    }
    for (const JobQuery* query : old_left) {
      statement_ = Label(*query);
      Add({CompatVerdict::kFull, false, "R15", "", "statement", "the statement is gone"});
    }
    for (const JobQuery* query : new_left) {
      statement_ = Label(*query);
      if (!query->shape) {
        AddUnclear(query->shape.error());
      } else if (query->shape->stateful()) {
        Add({CompatVerdict::kIncompatible, false, "R15", "", "statement",
             "a new statement with state of its own"});
      } else {
        Add({CompatVerdict::kFull, false, "R9", "", "statement", "a new statement without state"});
      }
    }
  }

  static std::string NameOfSink(const JobQuery& query) {
    return query.sink.empty() ? "none" : query.sink;
  }
  std::string Label(const JobQuery& query) {
    if (!query.sink.empty()) return "INSERT INTO " + query.sink;
    return "query " + std::to_string(++selects_);
  }
  void AddUnclear(const Error& error) {
    Add({CompatVerdict::kUnknown, false, "-", "", "statement",
         "it cannot be judged: " + error.message()});
  }

  void Compare(const JobQuery& was, const JobQuery& is) {
    statement_ = Label(was);
    if (!was.shape) return AddUnclear(was.shape.error());
    if (!is.shape) return AddUnclear(is.shape.error());
    const size_t findings = report_.findings.size();
    CompareNames(*was.shape, *is.shape);
    if (report_.findings.size() == findings) {
      CompareOperators(*was.shape, *is.shape);
      CompareFilters(*was.shape, *is.shape);
    }
    if (report_.findings.size() > findings) return;
    Add({CompatVerdict::kFull, false, was.shape->stateful() ? "R5" : "R9", "", "statement",
         was.shape->stateful() ? "nothing that its state depends on was changed"
                               : "it has no state"});
  }

  // R2: a table that is read is gone, and another one is read in its place.
  void CompareNames(const QueryShape& was, const QueryShape& is) {
    std::vector<std::string> gone;
    std::vector<std::string> come;
    for (const auto& [name, columns] : was.tables) {
      if (!is.tables.contains(name)) gone.push_back(name);
    }
    for (const auto& [name, columns] : is.tables) {
      if (!was.tables.contains(name)) come.push_back(name);
    }
    if (gone.empty() || come.empty()) return;
    Add({CompatVerdict::kIncompatible, false, "R2", "", Listed(gone),
         "the table is not read any more; " + Listed(come) + " is read in its place"});
  }

  void CompareOperators(const QueryShape& was, const QueryShape& is) {
    const auto kinds = [](const QueryShape& shape) {
      std::vector<std::string> names;
      for (const ShapeOperator& each : shape.operators) names.emplace_back(NameOf(each.kind));
      return names;
    };
    if (kinds(was) != kinds(is)) {
      Add({CompatVerdict::kIncompatible, false,
           is.operators.size() > was.operators.size() ? "R15" : "R8", "", "statement",
           "the operators with state were " + Listed(kinds(was)) + " and are " +
               Listed(kinds(is))});
      return;
    }
    if (was.unions != is.unions && was.stateful()) {
      Add({CompatVerdict::kIncompatible, false, "R8", "", "UNION",
           "the number of its inputs was changed"});
      return;
    }
    for (size_t i = 0; i < was.operators.size(); ++i) {
      CompareOperator(was.operators[i], is.operators[i]);
    }
  }

  void CompareOperator(const ShapeOperator& was, const ShapeOperator& is) {
    const std::string name(NameOf(was.kind));
    if (was.keys != is.keys) {
      Add({CompatVerdict::kIncompatible, false, "R7", "", name,
           "its keys were " + Listed(was.keys) + " and are " + Listed(is.keys)});
      return;
    }
    if (was.input != is.input) {
      Add({CompatVerdict::kIncompatible, false, "R8", "", name,
           "the row that it keeps was " + Listed(was.input) + " and is " + Listed(is.input)});
      return;
    }
    CompareAggregates(was, is, name);
  }

  void CompareAggregates(const ShapeOperator& was, const ShapeOperator& is,
                         const std::string& name) {
    const auto has = [](const ShapeOperator& op, const ShapeAggregate& wanted) {
      return std::any_of(
          op.aggregates.begin(), op.aggregates.end(),
          [&](const ShapeAggregate& each) { return each.expanded == wanted.expanded; });
    };
    CompatFinding finding;
    finding.subject = name;
    finding.rule = "R6";
    std::string gone;
    std::string come;
    bool distinct = false;
    for (const ShapeAggregate& each : was.aggregates) {
      (has(is, each) ? finding.kept : finding.dropped).push_back(each.text);
      if (has(is, each)) continue;
      gone += (gone.empty() ? "" : ", ") + each.expanded;
      distinct = distinct || each.distinct;
    }
    for (const ShapeAggregate& each : is.aggregates) {
      if (has(was, each)) continue;
      come += (come.empty() ? "" : ", ") + each.expanded;
      distinct = distinct || (each.distinct && !gone.empty());
    }
    if (gone.empty() && come.empty()) return;
    kinds_.insert("aggregates");
    if (distinct && !come.empty()) {
      finding.verdict = CompatVerdict::kIncompatible;
      finding.rule = "R7";
      finding.reason = "a DISTINCT aggregate was changed: it was " + gone + " and is " + come;
    } else if (come.empty()) {
      finding.verdict = CompatVerdict::kFull;
      finding.reason = "aggregates are gone: " + gone;
    } else {
      finding.verdict = CompatVerdict::kPartial;
      finding.reason = gone.empty() ? "aggregates were added, which begin empty: " + come
                                    : "aggregates were changed and start anew: they were " + gone +
                                          " and are " + come;
    }
    Add(std::move(finding));
  }

  // R10: what reaches an operator with state.
  void CompareFilters(const QueryShape& was, const QueryShape& is) {
    const auto before_state = [](const QueryShape& shape) {
      std::vector<std::string> conditions;
      for (const ShapeFilter& filter : shape.filters) {
        if (filter.operators_before < shape.operators.size()) {
          conditions.push_back(filter.condition);
        }
      }
      return conditions;
    };
    const auto old_filters = before_state(was);
    const auto new_filters = before_state(is);
    if (old_filters == new_filters) return;
    kinds_.insert("filter");
    Add({options_.ignore_filter ? CompatVerdict::kFull : CompatVerdict::kIncompatible, false, "R10",
         "", "filter",
         "what it lets through to the state was " + Listed(old_filters) + " and is " +
             Listed(new_filters)});
  }

  const Job& before_;
  const Job& after_;
  const CompatOptions& options_;
  CompatReport report_;
  std::string statement_;
  std::set<std::string> kinds_;  // of changes that concern state
  int selects_ = 0;
};

}  // namespace

std::string_view NameOf(CompatVerdict verdict) {
  switch (verdict) {
    case CompatVerdict::kFull: return "fully compatible";
    case CompatVerdict::kPartial: return "partially compatible";
    case CompatVerdict::kUnknown: return "unknown";
    case CompatVerdict::kIncompatible: return "incompatible";
  }
  return "unknown";
}

Result<CompatReport> CheckCompatibility(const std::vector<CompatStatement>& old_script,
                                        const std::vector<CompatStatement>& new_script,
                                        const CompatOptions& options) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto before, ReadJob(old_script, "old"));
  DRIFTLESS_ASSIGN_OR_RETURN(const auto after, ReadJob(new_script, "new"));
  return Comparison(*before, *after, options).Run();
}

}  // namespace driftless::flink
