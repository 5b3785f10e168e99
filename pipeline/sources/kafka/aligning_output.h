#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/sources/kafka/partition_reader.h"
#include "pipeline/sources/source.h"

namespace driftless {

// Between a partition's stream and the pipeline: statements wait for the topic's other partitions.
class AligningOutput : public SourceOutput {
 public:
  AligningOutput(SourceOutput* output, const KafkaPartition& partition)
      : output_(*output), partition_(partition) {}

  bool Changes(ChangeBatchPtr batch) override { return output_.Changes(std::move(batch)); }
  bool Schema(StatementChangePtr change, std::string position) override {
    if (turn_ == StatementAlignment::Turn::kFollow) return !output_.stopping();
    if (turn_ == StatementAlignment::Turn::kSend || partition_.alignment == nullptr) {
      return output_.Schema(std::move(change), std::move(position));
    }
    StatementAlignment& alignment = *partition_.alignment;
    if (change->inferred && !is_aligned_) {
      auto sends = alignment.Announce(partition_.index, rows_, *change, partition_.topic, output_);
      if (!sends) return Fail(std::move(sends.error()), std::move(position));
      if (!*sends) return !output_.stopping();
      const TablePath table = change->table;
      const bool go_on = output_.Schema(std::move(change), std::move(position));
      alignment.Announced(partition_.index, rows_, table);
      return go_on;
    }
    switch (alignment.ArriveUnmarked(partition_.index, output_)) {
      case StatementAlignment::Turn::kStop: return false;
      case StatementAlignment::Turn::kFollow: return true;
      case StatementAlignment::Turn::kSend: break;
      case StatementAlignment::Turn::kSkip:
        return Fail(MakeError(ErrorKind::kUnsupported,
                              "the statement does not stand in every partition of topic " +
                                  partition_.topic),
                    std::move(position));
    }
    const bool go_on = output_.Schema(std::move(change), std::move(position));
    alignment.Sent(partition_.index);
    return go_on;
  }
  bool Progress(const Point& point, std::string resume, int64_t event_time_ms) override {
    return output_.Progress(point, std::move(resume), event_time_ms);
  }
  bool DeadLetter(const Point& point, std::string position, std::string_view record,
                  const Error& error) override {
    return output_.DeadLetter(point, std::move(position), record, error);
  }
  // Where every partition carries the statement, the first one speaks for all.
  bool Unseen(const UnseenChange& change) override {
    const bool speaks = partition_.alignment == nullptr ||
                        (turn_ ? *turn_ == StatementAlignment::Turn::kSend : partition_.index == 0);
    return speaks ? output_.Unseen(change) : !output_.stopping();
  }
  bool stopping() const override { return output_.stopping(); }

  // Whether what is sent now is known to every partition, whatever it was made from.
  void SetAligned(bool is_aligned) { is_aligned_ = is_aligned; }
  // What becomes of the changes of the statement that is taken now, which has a mark; none: they
  // wait here.
  void SetTurn(std::optional<StatementAlignment::Turn> turn) { turn_ = turn; }

  // What the rows that come now may show.
  void SetRows(StatementAlignment::Rows rows) { rows_ = rows; }

  std::optional<Error> TakeFailure() { return std::exchange(failure_, std::nullopt); }

 private:
  bool Fail(Error error, std::string position) {
    failure_ = std::move(error).Position(std::move(position));
    return false;
  }

  SourceOutput& output_;
  const KafkaPartition& partition_;
  std::optional<Error> failure_;
  bool is_aligned_ = false;
  StatementAlignment::Rows rows_ = StatementAlignment::Rows::kShowOneSchema;
  std::optional<StatementAlignment::Turn> turn_;
};

}  // namespace driftless
