#include "config/expr/expr_print.h"
#include "config/sql/listing.h"
#include "config/sql/schema_check.h"

namespace driftless::flink {
namespace {

std::string ColumnText(const Column& column) {
  std::string text = "  " + QuoteName(column.name) + " ";
  if (column.kind == ColumnKind::kComputed) {
    text += "AS " + column.text;
  } else {
    text += DdlTypeText(column.type);
    if (column.kind == ColumnKind::kMetadata) {
      text += " METADATA";
      if (column.metadata_key) text += " FROM " + QuoteString(*column.metadata_key);
      if (column.is_virtual) text += " VIRTUAL";
    }
  }
  if (column.comment && !column.comment->empty())
    text += " COMMENT " + QuoteString(*column.comment);
  return text;
}

std::string QuotedNames(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const auto& name : names) quoted.push_back(QuoteName(name));
  return Join(quoted);
}

std::string Lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += (text.empty() ? "" : ",\n") + line;
  return text;
}

}  // namespace

std::string CreateText(const ObjectName& name, const TableEntry& table, bool temporary) {
  const bool view = table.kind == TableKind::kView;
  std::string text = std::string("CREATE ") + (temporary ? "TEMPORARY " : "") +
                     std::string(KindKeyword(table.kind)) + " " + name.Quoted() + " (\n";
  std::vector<std::string> lines;
  for (const Column& column : table.columns) {
    lines.push_back(view ? "  " + QuoteName(column.name) : ColumnText(column));
  }
  if (!view && table.watermark) {
    std::string column;
    for (const auto& part : table.watermark->column) {
      column += (column.empty() ? "" : ".") + QuoteName(part);
    }
    lines.push_back("  WATERMARK FOR " + column + " AS " + table.watermark->text);
  }
  if (!view && table.key) {
    lines.push_back("  CONSTRAINT " + QuoteName(table.key->name) + " PRIMARY KEY (" +
                    QuotedNames(table.key->columns) + ") NOT ENFORCED");
  }
  text += Lines(lines) + "\n)\n";
  if (!table.comment.empty()) text += "COMMENT " + QuoteString(table.comment) + "\n";
  if (view) return text + "AS " + table.query + "\n";
  if (table.distribution) text += DistributionText(*table.distribution) + "\n";
  if (!table.partition_keys.empty()) {
    text += "PARTITIONED BY (" + QuotedNames(table.partition_keys) + ")\n";
  }
  if (!table.options.empty()) {
    std::vector<std::string> options;
    for (const auto& [key, value] : table.options) {
      options.push_back("  " + QuoteString(key) + " = " + QuoteString(value));
    }
    text += "WITH (\n" + Lines(options) + "\n)\n";
  }
  if (table.kind == TableKind::kMaterialized) {
    text += "START_MODE = FROM_BEGINNING\nFRESHNESS = " + table.freshness +
            "\nREFRESH_MODE = " + (table.refreshes_fully ? "FULL" : "CONTINUOUS") + "\nAS " +
            table.query + "\n";
  }
  return text;
}

}  // namespace driftless::flink
