#include "config/sql/tableau.h"

#include <algorithm>
#include <cstdint>

namespace driftless::flink {
namespace {

// East-Asian width W and F (Unicode 12), joined where unassigned code points lie between.
constexpr uint32_t kWide[][2] = {
    {0x1100, 0x115F},   {0x231A, 0x231B},   {0x2329, 0x232A},   {0x23E9, 0x23EC},
    {0x23F0, 0x23F0},   {0x23F3, 0x23F3},   {0x25FD, 0x25FE},   {0x2614, 0x2615},
    {0x2648, 0x2653},   {0x267F, 0x267F},   {0x2693, 0x2693},   {0x26A1, 0x26A1},
    {0x26AA, 0x26AB},   {0x26BD, 0x26BE},   {0x26C4, 0x26C5},   {0x26CE, 0x26CE},
    {0x26D4, 0x26D4},   {0x26EA, 0x26EA},   {0x26F2, 0x26F3},   {0x26F5, 0x26F5},
    {0x26FA, 0x26FA},   {0x26FD, 0x26FD},   {0x2705, 0x2705},   {0x270A, 0x270B},
    {0x2728, 0x2728},   {0x274C, 0x274C},   {0x274E, 0x274E},   {0x2753, 0x2755},
    {0x2757, 0x2757},   {0x2795, 0x2797},   {0x27B0, 0x27B0},   {0x27BF, 0x27BF},
    {0x2B1B, 0x2B1C},   {0x2B50, 0x2B50},   {0x2B55, 0x2B55},   {0x2E80, 0x303E},
    {0x3041, 0x4DBF},   {0x4E00, 0xA4CF},   {0xA960, 0xA97F},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE10, 0xFE19},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},
    {0xFFE0, 0xFFE6},   {0x16FE0, 0x18AFF}, {0x1B000, 0x1B2FF}, {0x1F004, 0x1F004},
    {0x1F0CF, 0x1F0CF}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F200, 0x1F320},
    {0x1F32D, 0x1F335}, {0x1F337, 0x1F37C}, {0x1F37E, 0x1F393}, {0x1F3A0, 0x1F3CA},
    {0x1F3CF, 0x1F3D3}, {0x1F3E0, 0x1F3F0}, {0x1F3F4, 0x1F3F4}, {0x1F3F8, 0x1F43E},
    {0x1F440, 0x1F440}, {0x1F442, 0x1F4FC}, {0x1F4FF, 0x1F53D}, {0x1F54B, 0x1F54E},
    {0x1F550, 0x1F567}, {0x1F57A, 0x1F57A}, {0x1F595, 0x1F596}, {0x1F5A4, 0x1F5A4},
    {0x1F5FB, 0x1F64F}, {0x1F680, 0x1F6C5}, {0x1F6CC, 0x1F6CC}, {0x1F6D0, 0x1F6D2},
    {0x1F6D5, 0x1F6D5}, {0x1F6EB, 0x1F6EC}, {0x1F6F4, 0x1F6FA}, {0x1F7E0, 0x1F7EB},
    {0x1F90D, 0x1F971}, {0x1F973, 0x1F976}, {0x1F97A, 0x1F9A2}, {0x1F9A5, 0x1F9AA},
    {0x1F9AE, 0x1F9CA}, {0x1F9CD, 0x1F9FF}, {0x1FA70, 0x1FA95}, {0x20000, 0x3FFFD},
};

bool IsWide(uint32_t code) {
  const auto* end = std::end(kWide);
  const auto* found = std::lower_bound(std::begin(kWide), end, code,
                                       [](const auto& range, uint32_t c) { return range[1] < c; });
  return found != end && (*found)[0] <= code;
}

void AddLine(const std::vector<size_t>& widths, std::string* out) {
  *out += '+';
  for (const size_t width : widths) {
    out->append(width + 2, '-');
    *out += '+';
  }
  *out += '\n';
}

void AddCell(std::string_view text, size_t width, std::string* out) {
  *out += ' ';
  out->append(width - DisplayWidth(text), ' ');
  *out += text;
  *out += " |";
}

}  // namespace

size_t DisplayWidth(std::string_view utf8) {
  size_t width = 0;
  for (size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    const size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t code = length == 1 ? lead : lead & (0xFFU >> (length + 1));
    for (size_t k = 1; k < length && i + k < utf8.size(); ++k) {
      code = (code << 6) | (static_cast<unsigned char>(utf8[i + k]) & 0x3FU);
    }
    width += (code >= 0x10000 ? 2 : 1) + (IsWide(code) ? 1 : 0);
    i += length;
  }
  return width;
}

std::string Tableau(const std::vector<std::string>& header, const std::vector<TableauRow>& rows) {
  return Tableau(header, rows, std::vector<size_t>(header.size(), 0));
}

std::string Tableau(const std::vector<std::string>& header, const std::vector<TableauRow>& rows,
                    const std::vector<size_t>& at_least) {
  if (rows.empty()) return "Empty set\n";
  std::vector<size_t> widths = at_least;
  for (size_t i = 0; i < header.size(); ++i) {
    size_t& width = widths[i];
    width = std::max(width, DisplayWidth(header[i]));
    for (const TableauRow& row : rows) {
      if (row[i]) width = std::max(width, DisplayWidth(*row[i]));
    }
  }
  std::string out;
  AddLine(widths, &out);
  out += '|';
  for (size_t i = 0; i < header.size(); ++i) AddCell(header[i], widths[i], &out);
  out += '\n';
  AddLine(widths, &out);
  for (const TableauRow& row : rows) {
    out += '|';
    for (size_t i = 0; i < row.size(); ++i) AddCell(row[i].value_or(""), widths[i], &out);
    out += '\n';
  }
  AddLine(widths, &out);
  out += rows.size() == 1 ? "1 row in set\n" : std::to_string(rows.size()) + " rows in set\n";
  return out;
}

}  // namespace driftless::flink
