#pragma once

#include <memory>

#include "pipeline/sources/mysql/connection.h"
#include "pipeline/sources/mysql/snapshot_merge.h"

namespace driftless::mysql {

// Asks the server, over a connection of its own.
class ServerTextOrder : public TextOrder {
 public:
  explicit ServerTextOrder(ConnectionOptions options) : options_(std::move(options)) {}
  Result<std::vector<int>> Compare(std::span<const TextPair> pairs) override;

 private:
  const ConnectionOptions options_;
  std::unique_ptr<Connection> connection_;
};

}  // namespace driftless::mysql
