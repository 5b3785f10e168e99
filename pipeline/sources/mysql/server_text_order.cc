#include "pipeline/sources/mysql/server_text_order.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace driftless::mysql {
namespace {

std::string Literal(const TextPair& pair, const std::string& text) {
  std::string hex;
  for (const char c : text) hex += fmt::format("{:02x}", static_cast<uint8_t>(c));
  return fmt::format("CONVERT(_utf8mb4 x'{}' USING {}) COLLATE {}", hex, pair.charset,
                     pair.collation);
}

}  // namespace

Result<std::vector<int>> ServerTextOrder::Compare(std::span<const TextPair> pairs) {
  constexpr size_t kPairsAtOnce = 200;  // an answer has at most 4,096 columns
  if (connection_ == nullptr) {
    DRIFTLESS_ASSIGN_OR_RETURN(connection_, Connection::Open(options_));
  }
  std::vector<int> signs;
  while (!pairs.empty()) {
    const auto some = pairs.first(std::min(kPairsAtOnce, pairs.size()));
    pairs = pairs.subspan(some.size());
    std::string sql;
    for (const TextPair& pair : some) {
      sql += fmt::format("{}STRCMP({}, {})", sql.empty() ? "SELECT " : ", ",
                         Literal(pair, pair.left), Literal(pair, pair.right));
    }
    auto rows = connection_->Query(sql);
    if (!rows) {
      connection_.reset();
      return std::move(rows).error();
    }
    for (const auto& sign : rows->at(0)) {
      const std::string_view text = sign.has_value() ? std::string_view(*sign) : "0";
      signs.push_back(text.starts_with('-') ? -1 : text == "0" ? 0 : 1);
    }
  }
  return signs;
}

}  // namespace driftless::mysql
