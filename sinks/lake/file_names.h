#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "schema/model/table.h"

namespace driftless::lake {

// Names of the files that Driftless writes. They carry their owner (a hash of pipeline, sink and
// table), the cut that they are meant for at the earliest, and the attempt, so that leftovers of a
// crash are told from what is committed and from everybody else's files:
//   data-<owner>-<cut>-<attempt>-<random>-<counter>.parquet
class FileNames {
 public:
  FileNames(std::string owner, uint64_t first_cut, uint32_t attempt);
  // `prefix`: "data", "manifest"; `suffix`: ".parquet", or empty.
  std::string Next(std::string_view prefix, std::string_view suffix);
  // After Prepare(cut): later files are meant for a later cut.
  void SetFirstCut(uint64_t first_cut) { first_cut_ = first_cut; }

 private:
  std::string owner_;
  uint64_t first_cut_;
  uint32_t attempt_;
  std::string random_;
  uint64_t counter_ = 0;
};
// 16 hexadecimal digits, stable over restarts.
std::string FileOwner(std::string_view pipeline, std::string_view sink, const TablePath& table);
struct OwnedName {
  uint64_t first_cut = 0;
  uint32_t attempt = 0;
};
// nullopt: not a file of this owner.
std::optional<OwnedName> ParseOwnedName(std::string_view file_name, std::string_view owner);

}  // namespace driftless::lake
