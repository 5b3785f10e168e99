#include <utility>

#include "sinks/api/accepting_planner.h"
#include "sinks/api/registry.h"
#include "sinks/api/unversioned_sink.h"

namespace driftless {
namespace {

// Counts rows and bytes for the metrics and forgets them.
class BlackholeWriter : public TableWriter {
 public:
  Result<void> Write(const ChangeBatchPtr& batch, const Projection&,
                     std::span<const uint32_t> rows) override {
    rows_ += static_cast<int64_t>(rows.size());
    bytes_ += static_cast<int64_t>(batch->charged_bytes());
    return {};
  }
  Result<void> Roll() override { return {}; }
  Result<PreparedPart> Prepare(CutId) override {
    PreparedPart part;
    part.rows = std::exchange(rows_, 0);
    part.bytes = std::exchange(bytes_, 0);
    return part;
  }
  int64_t buffered_bytes() const override { return 0; }

 private:
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
};

class BlackholeSink : public UnversionedSink {
 public:
  BlackholeSink() : UnversionedSink(&kBlackholeMatrix, MakeAcceptingPlanner("blackhole")) {}

  SinkTraits traits() const override {
    SinkTraits traits;
    traits.partial_update = true;
    traits.keeps_schema = false;
    traits.io_threads = 1;
    return traits;
  }
  Result<SinkInfo> Connect() override { return SinkInfo{"blackhole", "", "blackhole"}; }
  Result<void> ExecuteStep(const SchemaPlan&, StepIndex) override { return {}; }
  Result<TableWriterPtr> OpenWriter(const EvolvedSchema&, WriterIndex,
                                    const WriterContext&) override {
    return std::make_unique<BlackholeWriter>();
  }
};

}  // namespace

Result<std::unique_ptr<Sink>> MakeBlackholeSink(const OptionValues&, const SinkEnvironment&) {
  return std::make_unique<BlackholeSink>();
}

}  // namespace driftless
