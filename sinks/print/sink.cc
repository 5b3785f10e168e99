#include <utility>

#include "sinks/api/accepting_planner.h"
#include "sinks/api/registry.h"
#include "sinks/api/unversioned_sink.h"
#include "sinks/print/writer.h"

namespace driftless {
namespace {

class PrintSink : public UnversionedSink {
 public:
  PrintSink(std::shared_ptr<PrintTarget> target, std::string identity)
      : UnversionedSink(&kPrintMatrix, MakeAcceptingPlanner("print")),
        target_(std::move(target)),
        identity_(std::move(identity)) {}

  SinkTraits traits() const override {
    SinkTraits traits;
    traits.partial_update = true;  // a value that was not sent is not shown
    traits.keeps_schema = false;
    traits.wants_before_images = true;
    traits.max_wait_ms = 20;
    traits.io_threads = 1;
    return traits;
  }

  Result<SinkInfo> Connect() override { return SinkInfo{"print", "", identity_}; }

  Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex step) override {
    if (target_->output == nullptr) return {};
    return target_->output->Write(SchemaLine(*target_, plan.sink_table, plan.steps[step].action));
  }

  Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex,
                                    const WriterContext& context) override {
    return MakePrintWriter(target_, table, context);
  }

 private:
  const std::shared_ptr<PrintTarget> target_;
  const std::string identity_;
};

}  // namespace

Result<std::unique_ptr<Sink>> MakePrintSink(const OptionValues& options, const SinkEnvironment&) {
  auto target = std::make_shared<PrintTarget>();
  const std::string name = options.String("print.identifier").value_or("");
  if (!name.empty()) target->prefix = name + "> ";
  if (options.Enum("format").value_or("text") == "json") target->format = PrintFormat::kJson;
  target->limit = options.Int("limit").value_or(0);
  const std::string file = options.String("file").value_or("");
  if (!options.Bool("print.enabled").value_or(true)) {
    // Prints nothing.
  } else if (!file.empty()) {
    DRIFTLESS_ASSIGN_OR_RETURN(target->output, LineOutput::OpenFile(file));
  } else {
    const bool to_error = options.Bool("standard-error").value_or(false);
    target->output = std::make_unique<LineOutput>(to_error ? LineOutput::Stream::kStandardError
                                                           : LineOutput::Stream::kStandardOutput);
  }
  return std::make_unique<PrintSink>(std::move(target), file.empty() ? "screen" : file);
}

}  // namespace driftless
