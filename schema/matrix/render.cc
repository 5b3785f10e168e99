#include "schema/matrix/render.h"

#include <algorithm>
#include <array>
#include <vector>

#include "schema/base/json_writer.h"

namespace driftless {
namespace {

constexpr std::array<std::string_view, 5> kHeader = {"sink", "event", "lenient", "evolve", "note"};
using Line = std::array<std::string_view, 5>;

std::vector<Line> Lines(std::span<const CapabilityMatrix* const> matrices) {
  std::vector<Line> lines;
  for (const CapabilityMatrix* matrix : matrices) {
    for (const Cell& cell : matrix->cells) {
      lines.push_back(
          {matrix->sink, cell.event, ToString(cell.lenient), ToString(cell.evolve), cell.note});
    }
  }
  return lines;
}

// Quoted where RFC 4180 asks for it.
std::string CsvField(std::string_view field) {
  if (field.find_first_of(",\"\n") == std::string_view::npos) return std::string(field);
  std::string quoted = "\"";
  for (char c : field) {
    quoted += c;
    if (c == '"') quoted += '"';
  }
  return quoted + "\"";
}

std::string VersionText(const Extension& extension) {
  return extension.min_version.empty() ? "any version"
                                       : "from version " + std::string(extension.min_version);
}

// "note" and "note, note": what a sink does differently as a whole.
std::string Remarks(const CapabilityMatrix& matrix) {
  std::string text;
  const auto add = [&](std::string_view remark) {
    text += "  * ";
    text += remark;
    text += '\n';
  };
  if (!matrix.supports_try_evolve) add("TRY_EVOLVE is not available for this sink");
  if (matrix.adapts_constraints_always) {
    add("position and NOT NULL of an added column are adapted under EVOLVE too");
  }
  if (matrix.existing_table_must_match) {
    add("an existing table that differs is an error under every behaviour");
  }
  for (const Extension& extension : matrix.extensions) {
    add(std::string(extension.event) + " can be switched on with capability.extensions (" +
        VersionText(extension) + "): " + std::string(extension.note));
  }
  return text;
}

}  // namespace

std::string RenderCsv(std::span<const CapabilityMatrix* const> matrices) {
  std::string text = "sink,event,lenient,evolve,note\n";
  for (const Line& line : Lines(matrices)) {
    for (size_t i = 0; i < line.size(); ++i) {
      if (i > 0) text += ',';
      text += CsvField(line[i]);
    }
    text += '\n';
  }
  return text;
}

std::string RenderText(std::span<const CapabilityMatrix* const> matrices) {
  std::array<size_t, 4> widths = {};
  const auto widen = [&](const Line& line) {
    for (size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  };
  widen(kHeader);
  for (const Line& line : Lines(matrices)) widen(line);
  std::string text;
  const auto print = [&](const Line& line) {
    for (size_t i = 0; i < widths.size(); ++i) {
      text += line[i];
      text.append(widths[i] + 2 - line[i].size(), ' ');
    }
    text += line[4];
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  print(kHeader);
  for (const CapabilityMatrix* matrix : matrices) {
    for (const Line& line : Lines({&matrix, 1})) print(line);
    text += Remarks(*matrix);
  }
  return text;
}

std::string RenderMarkdown(std::span<const CapabilityMatrix* const> matrices) {
  std::string text;
  for (const CapabilityMatrix* matrix : matrices) {
    if (!text.empty()) text += '\n';
    text += "## " + std::string(matrix->sink) +
            "\n\n| event | LENIENT | EVOLVE | note |\n|---|---|---|---|\n";
    for (const Line& line : Lines({&matrix, 1})) {
      text += "| `" + std::string(line[1]) + "` | " + std::string(line[2]) + " | " +
              std::string(line[3]) + " | " + std::string(line[4]) + " |\n";
    }
    const std::string remarks = Remarks(*matrix);
    if (!remarks.empty()) text += "\n" + remarks;
  }
  return text;
}

std::string RenderJson(std::span<const CapabilityMatrix* const> matrices) {
  std::string text;
  JsonWriter json(&text);
  json.BeginArray();
  for (const CapabilityMatrix* matrix : matrices) {
    for (const Line& line : Lines({&matrix, 1})) {
      json.BeginObject();
      for (size_t i = 0; i < line.size(); ++i) json.Key(kHeader[i]).String(line[i]);
      json.EndObject();
    }
    for (const Extension& extension : matrix->extensions) {
      json.BeginObject().Key("sink").String(matrix->sink).Key("event").String(extension.event);
      json.Key("extension").Bool(true).Key("min_version").String(extension.min_version);
      json.Key("note").String(extension.note).EndObject();
    }
  }
  json.EndArray();
  return text + "\n";
}

}  // namespace driftless
