#pragma once

#include <optional>
#include <string>
#include <utility>

#include "pipeline/runtime/dead_letters.h"
#include "pipeline/runtime/kept_back.h"
#include "pipeline/runtime/metrics.h"
#include "sinks/api/projected_batch.h"

namespace driftless {

// Where the writers of one sink leave rows that the policy keeps out of it (`on-cast-failure` and
// `on-null-violation: dead-letter`), and what they count. One per writer thread.
class RowDeadLetters : public RowReporter {
 public:
  RowDeadLetters(std::string sink, DeadLetters* letters, Metrics* metrics,
                 KeptBackCounter* kept_back)
      : sink_(std::move(sink)), letters_(letters), metrics_(metrics), kept_back_(kept_back) {}

  void DeadLetter(const ChangeBatch& batch, uint32_t row, const Error& why) override;
  void Count(const TablePath& sink_table, std::string_view column, Loss loss,
             int64_t rows) override;

  // After every write: an error means that a row is neither in the sink nor in the file.
  Result<void> Check() const;
  // Before a cut: what was written so far is durable.
  Result<void> Sync();

 private:
  const std::string sink_;
  DeadLetters* const letters_;
  Metrics* const metrics_;
  KeptBackCounter* const kept_back_;
  bool unsynced_ = false;
  std::optional<Error> failure_;
};

}  // namespace driftless
