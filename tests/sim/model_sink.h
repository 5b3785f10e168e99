#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "schema/base/check.h"
#include "schema/plan/schema_plan.h"

namespace driftless::sim {

// A sink with transactions, in memory, that carries out the plans of the model planner and refuses
// what makes no sense: a step that was carried out already, rows with columns that are not there.
class ModelSink {
 public:
  using Row = std::map<std::string, std::string>;  // column name to text; absent: NULL
  struct Table {
    SinkTable schema;
    std::map<std::string, Row> rows;  // by key
  };

  const Table* Find(const TablePath& path) const {
    const auto it = tables_.find(path);
    return it == tables_.end() ? nullptr : &it->second;
  }
  std::optional<SinkTable> Read(const TablePath& path) const {
    const Table* table = Find(path);
    if (table == nullptr) return std::nullopt;
    return table->schema;
  }

  // Empty: done; else what was wrong with being asked at all.
  std::string Execute(const TablePath& path, const Step& step) {
    if (step.creates_table) {
      if (Find(path) != nullptr) return "the table was created already";
      tables_[path].schema = *step.after;
      return "";
    }
    const auto it = tables_.find(path);
    if (it == tables_.end()) return "there is no table for: " + step.action;
    Table& table = it->second;
    if (Names(table.schema) != Names(step.before)) {
      return "the table does not stand before the step: " + step.action;
    }
    if (!step.after) {
      tables_.erase(it);
      return "";
    }
    if (step.repeatable) {
      table.rows.clear();
      return "";
    }
    if (step.payload.empty()) MoveByNativeIds(step, &table);
    size_t begin = 0;
    while (begin < step.payload.size()) {
      const size_t end = step.payload.find('\n', begin);
      Apply(step.payload.substr(begin, end - begin), &table);
      begin = end + 1;
    }
    table.schema = *step.after;
    return "";
  }

  // Empty: written.
  std::string Write(const TablePath& path, const EvolvedSchema& evolved, const std::string& key,
                    const Row& row) {
    const auto it = tables_.find(path);
    if (it == tables_.end()) return "rows for a table that is not there";
    if (Names(it->second.schema) != Names(evolved.ToSinkTable())) {
      return "rows under a schema that is not the table's";
    }
    it->second.rows[key] = row;
    return "";
  }

 private:
  // What a real sink's step did to the rows: a column is the one with the same id.
  static void MoveByNativeIds(const Step& step, Table* table) {
    for (auto& [key, row] : table->rows) {
      Row moved;
      for (const SinkColumn& after : step.after->columns) {
        for (const SinkColumn& before : step.before.columns) {
          const auto value = row.find(before.name);
          if (before.native_id != after.native_id || value == row.end()) continue;
          moved[after.name] = value->second;
        }
      }
      row = std::move(moved);
    }
  }
  static std::vector<std::string> Names(const SinkTable& table) {
    std::vector<std::string> names;
    for (const SinkColumn& column : table.columns) {
      names.push_back(column.name + " " + column.type.ToString());
    }
    return names;
  }
  static std::vector<std::string> Split(const std::string& line) {
    std::vector<std::string> words(1);
    for (char c : line) {
      if (c == '\t') {
        words.emplace_back();
      } else {
        words.back() += c;
      }
    }
    return words;
  }
  static void Apply(const std::string& line, Table* table) {
    const std::vector<std::string> words = Split(line);
    for (auto& [key, row] : table->rows) {
      if (words[0] == "drop") row.erase(words[1]);
      if (words[0] != "rename") continue;
      Row renamed = row;
      for (size_t i = 1; i + 1 < words.size(); i += 2) renamed.erase(words[i]);
      for (size_t i = 1; i + 1 < words.size(); i += 2) {
        const auto value = row.find(words[i]);
        if (value != row.end()) renamed[words[i + 1]] = value->second;
      }
      row = std::move(renamed);
    }
  }

  std::map<TablePath, Table> tables_;
};

}  // namespace driftless::sim
