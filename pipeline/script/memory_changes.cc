#include "pipeline/script/memory_changes.h"

#include <cstring>

namespace driftless {
namespace {

constexpr uint32_t kNull = UINT32_MAX;

void AppendNumber(uint32_t number, std::string* out) {
  out->append(reinterpret_cast<const char*>(&number), sizeof number);
}

void AppendText(std::string_view text, std::string* out) {
  AppendNumber(static_cast<uint32_t>(text.size()), out);
  *out += text;
}

// Reads what the functions above wrote; `ok` turns false at the first thing that does not fit.
struct Reader {
  std::string_view rest;
  bool ok = true;

  uint32_t Number() {
    uint32_t number = 0;
    if (rest.size() < sizeof number) {
      ok = false;
      return 0;
    }
    std::memcpy(&number, rest.data(), sizeof number);
    rest.remove_prefix(sizeof number);
    return number;
  }
  std::string Bytes(uint32_t size) {
    if (rest.size() < size) {
      ok = false;
      return "";
    }
    std::string bytes(rest.substr(0, size));
    rest.remove_prefix(size);
    return bytes;
  }
};

}  // namespace

std::string EncodeChanges(const std::vector<MemoryChange>& changes) {
  std::string bytes;
  for (const MemoryChange& change : changes) {
    AppendNumber(change.is_delete ? 1 : 0, &bytes);
    AppendNumber(static_cast<uint32_t>(change.row.size()), &bytes);
    for (const auto& [name, value] : change.row) {
      AppendText(name, &bytes);
      if (value) {
        AppendText(*value, &bytes);
      } else {
        AppendNumber(kNull, &bytes);
      }
    }
  }
  return bytes;
}

Result<std::vector<MemoryChange>> DecodeChanges(std::string_view bytes) {
  Reader in{bytes};
  std::vector<MemoryChange> changes;
  while (in.ok && !in.rest.empty()) {
    MemoryChange change;
    change.is_delete = in.Number() != 0;
    for (uint32_t columns = in.Number(); in.ok && columns > 0; --columns) {
      std::string name = in.Bytes(in.Number());
      const uint32_t size = in.Number();
      if (size == kNull) {
        change.row[std::move(name)] = std::nullopt;
      } else {
        change.row[std::move(name)] = in.Bytes(size);
      }
    }
    changes.push_back(std::move(change));
  }
  if (!in.ok) return MakeError(ErrorKind::kCorrupt, "a token of the script's sink is cut off");
  return changes;
}

}  // namespace driftless
