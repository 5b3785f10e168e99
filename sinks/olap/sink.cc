#include "sinks/olap/sink.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "sinks/api/memory_budget.h"
#include "sinks/api/projected_batch.h"
#include "sinks/api/server_version.h"
#include "sinks/olap/schema_steps.h"

namespace driftless::olap {
namespace {

// Labels of the attempt before are asked for so far around the first cut of this one. That attempt
// had cleaned up behind its own predecessor before it was counted. Tables that are changed at the
// same time have a cut each, and each is recorded when it is done: one that was under way may be
// older than the newest recorded one by as many. So may a load that was begun before its cut.
constexpr CutId kCutsLookedBack = 32;
constexpr CutId kCutsLookedAhead = 16;

// The newest cut that any writer of a sink has been asked to prepare.
class NewestCut {
 public:
  void Raise(CutId cut) {
    CutId known = cut_.load(std::memory_order_relaxed);
    while (known < cut && !cut_.compare_exchange_weak(known, cut, std::memory_order_relaxed)) {
    }
  }
  CutId Get() const { return cut_.load(std::memory_order_relaxed); }

 private:
  std::atomic<CutId> cut_{0};
};

// Whether a token names the load: a label ends a line, or stands before a blank.
bool Names(const CommitToken& token, std::string_view label) {
  const std::string_view payload = token.payload;
  for (size_t at = payload.find(label); at != std::string_view::npos;
       at = payload.find(label, at + 1)) {
    const size_t end = at + label.size();
    const bool begins = at == 0 || payload[at - 1] == '\n';
    if (begins && (end == payload.size() || payload[end] == '\n' || payload[end] == ' ')) {
      return true;
    }
  }
  return false;
}

class OlapWriter : public TableWriter {
 public:
  OlapWriter(Loader* loader, NewestCut* newest, Labels labels, const EvolvedSchema& table,
             OperationField operation, bool as_arrow, const OlapOptions& options,
             const WriterContext& context)
      : loader_(*loader),
        newest_(*newest),
        labels_(std::move(labels)),
        table_(table),
        encoder_(table, operation, loader->takes_array() ? ',' : '\n', as_arrow),
        load_bytes_max_(options.load_bytes_max),
        load_rows_max_(options.load_rows_max),
        attempt_(context.identity.attempt),
        cut_(context.identity.cut),
        budget_(context.budget),
        reporter_(context.reporter) {}

  ~OlapWriter() override { Charge(0); }

  Result<void> Write(const ChangeBatchPtr& batch, const Projection& projection,
                     std::span<const uint32_t> rows) override {
    while (!rows.empty()) {
      const size_t room = static_cast<size_t>(load_rows_max_ - parts_.rows());
      const auto some = rows.first(std::min(rows.size(), room));
      DRIFTLESS_TRY(Append(batch, projection, some));
      rows = rows.subspan(some.size());
    }
    return {};
  }

  Result<void> Roll() override {
    if (parts_.rows() == 0) return {};
    if (load_ == nullptr) {
      // Where other tables have had cuts meanwhile, the load belongs to a later one than cut_.
      load_ = loader_.Begin(table_, labels_, std::max(cut_, newest_.Get()), attempt_);
    }
    for (size_t i = 0; i < parts_.parts().size(); ++i) {
      LoadPart& part = *parts_.parts()[i];
      if (part.rows == 0) continue;
      if (part.is_arrow) {
        ArrowRows::End(&part.body);
      } else if (loader_.takes_array()) {
        part.body.SetLast(']');  // was the comma behind the last row
      }
      DRIFTLESS_TRY(load_->Send({i, ColumnsText(part.columns), part.is_arrow, part.body.view()}));
      rows_ += part.rows;
      bytes_ += static_cast<int64_t>(part.body.size());
    }
    parts_.ClearBodies(static_cast<size_t>(load_bytes_max_ / 4));
    Charge(buffered_bytes());
    return {};
  }

  Result<PreparedPart> Prepare(CutId cut) override {
    newest_.Raise(cut);
    if (load_ == nullptr && parts_.rows() > 0) {
      load_ = loader_.Begin(table_, labels_, cut, attempt_);
    }
    DRIFTLESS_TRY(Roll());
    PreparedPart part;
    part.rows = std::exchange(rows_, 0);
    part.bytes = std::exchange(bytes_, 0);
    if (load_ != nullptr) {
      DRIFTLESS_ASSIGN_OR_RETURN(part.payload, load_->Finish());
      load_.reset();
    }
    parts_.Reset();
    Charge(0);
    cut_ = cut + 1;
    return part;
  }

  int64_t buffered_bytes() const override { return static_cast<int64_t>(parts_.bytes()); }

 private:
  Result<void> Append(const ChangeBatchPtr& batch, const Projection& projection,
                      std::span<const uint32_t> rows) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::shared_ptr<const ProjectedBatch> projected,
                               ProjectedBatch::Make(batch, projection, rows, reporter_));
    DRIFTLESS_TRY(encoder_.Append(*projected, projection, reporter_, &parts_));
    Charge(buffered_bytes());
    if (buffered_bytes() >= load_bytes_max_ || parts_.rows() >= load_rows_max_) return Roll();
    return {};
  }

  std::string ColumnsText(const std::vector<uint32_t>& columns) const {
    std::string text;
    for (const uint32_t column : columns) {
      if (!text.empty()) text += ',';
      text += QuoteName(table_.columns[column].sink.name);
    }
    return text;
  }

  void Charge(int64_t bytes) {
    if (budget_ != nullptr) {
      if (bytes > charged_) budget_->Add(bytes - charged_);
      if (bytes < charged_) budget_->Release(charged_ - bytes);
    }
    charged_ = bytes;
  }

  Loader& loader_;
  NewestCut& newest_;
  const Labels labels_;
  const EvolvedSchema table_;
  RowEncoder encoder_;
  const int64_t load_bytes_max_;
  const int64_t load_rows_max_;
  const uint32_t attempt_;
  CutId cut_;
  MemoryBudget* const budget_;
  RowReporter* const reporter_;
  std::unique_ptr<TableLoad> load_;  // of the cut at hand; null: nothing was sent for it
  LoadParts parts_;
  int64_t rows_ = 0;
  int64_t bytes_ = 0;
  int64_t charged_ = 0;
};

class OlapSink : public Sink {
 public:
  OlapSink(Product product, OlapOptions options, const SinkEnvironment& environment)
      : product_(std::move(product)),
        options_(std::move(options)),
        environment_(environment),
        steps_(product_.dialect, options_, product_.planner.get(), std::move(product_.statements)) {
  }

  const CapabilityMatrix& matrix() const override { return *product_.matrix; }
  const SchemaPlanner& planner() const override { return *product_.planner; }

  SinkTraits traits() const override {
    SinkTraits traits;
    traits.transactional = true;
    traits.partial_update = true;
    traits.io_threads = options_.io_threads;
    return traits;
  }

  Result<SinkInfo> Connect() override {
    SinkInfo info;
    info.product = product_.dialect->product();
    DRIFTLESS_ASSIGN_OR_RETURN(info.version, steps_.Version());
    info.identity = std::string(product_.matrix->sink) + " " + options_.identity;
    const std::string_view needed = product_.dialect->PackingVersion();
    if (options_.packing != Packing::kNone && IsOlderVersion(info.version, needed)) {
      return MakeError(ErrorKind::kInvalidConfig, info.product + " takes compressed JSON from " +
                                                      std::string(needed) +
                                                      " on, and the server is " + info.version)
          .Hint("Leave the compression out of sink.properties.");
    }
    const std::string_view arrow = product_.dialect->ArrowVersion();
    if (options_.arrow && IsOlderVersion(info.version, arrow)) {
      return MakeError(ErrorKind::kInvalidConfig, info.product + " takes Arrow from " +
                                                      std::string(arrow) +
                                                      " on, and the server is " + info.version)
          .Hint("Leave format: arrow out of sink.properties.");
    }
    return info;
  }

  Result<std::optional<SinkTable>> ReadTable(const TablePath& table) override {
    return steps_.Read(table);
  }

  Result<void> ExecuteStep(const SchemaPlan& plan, StepIndex step) override {
    auto done = steps_.Execute(plan, step);
    if (!done) return std::move(done).error().Context("table " + plan.sink_table.ToString());
    return {};
  }

  WriterIndex WriterCount(const EvolvedSchema&) const override { return 1; }
  void Assign(const ChangeBatch& batch, const EvolvedSchema&, const Projection&,
              WriterRows* out) override {
    out->Reset(1);
    for (uint32_t row = 0; row < batch.size(); ++row) out->Add(0, row);
  }

  Result<TableWriterPtr> OpenWriter(const EvolvedSchema& table, WriterIndex,
                                    const WriterContext& context) override {
    DRIFTLESS_TRY(FindColumns(table));
    return std::make_unique<OlapWriter>(
        product_.loader.get(), &newest_cut_, Labels(options_.label_prefix, context.identity), table,
        product_.operation, TravelsAsArrow(table), options_, context);
  }

  Result<CommitToken> Seal(const CommitIdentity& identity, const EvolvedSchema&,
                           std::span<const PreparedPart> parts) override {
    CommitToken token{identity, ""};
    for (const PreparedPart& part : parts) token.payload += part.payload;
    return token;
  }
  Result<CommitState> LookUp(const CommitToken& token) override {
    return product_.loader->LookUp(token.identity.table, token.payload);
  }
  Result<void> Commit(std::span<const CommitToken> tokens) override {
    for (const CommitToken& token : tokens) {
      DRIFTLESS_TRY(product_.loader->Commit(token.identity.table, token.payload));
    }
    return {};
  }
  Result<void> Abort(std::span<const CommitToken> tokens) override {
    for (const CommitToken& token : tokens) {
      DRIFTLESS_TRY(product_.loader->Abort(token.identity.table, token.payload));
    }
    return {};
  }
  // A load that an older attempt left open would hold up the table's schema changes until the
  // server gives it up, for an hour. It is found by its label.
  Result<void> CleanUp(const CommitIdentity& next, std::span<const CommitToken> recorded) override {
    const Labels labels(options_.label_prefix, next);
    if (next.attempt == 0) return {};
    const CutId oldest = next.cut > kCutsLookedBack ? next.cut - kCutsLookedBack : 1;
    for (CutId cut = next.cut + kCutsLookedAhead - 1; cut >= oldest; --cut) {
      DRIFTLESS_ASSIGN_OR_RETURN(const bool settled,
                                 AbandonAll(next.table, labels, next.attempt - 1, cut, recorded));
      // Loads of one table are committed in their order: the older ones are settled, too.
      if (settled) break;
    }
    return {};
  }

 private:
  bool TravelsAsArrow(const EvolvedSchema& table) const {
    if (!options_.arrow) return false;
    const std::string problem = ArrowProblem(table, product_.operation.carries_deletes);
    if (problem.empty()) return true;
    if (environment_.warn != nullptr) {
      environment_.warn(MakeError(
          ErrorKind::kUnsupported,
          "rows of table " + table.path.ToString() + " travel as JSON, not as Arrow: " + problem));
    }
    return false;
  }

  // A load leaves out fields that the table lacks without a word, so that a column that somebody
  // dropped would lose its values in silence.
  Result<void> FindColumns(const EvolvedSchema& table) {
    DRIFTLESS_ASSIGN_OR_RETURN(const std::optional<SinkTable> actual, steps_.Read(table.path));
    if (!actual) {
      return MakeError(ErrorKind::kNotFound,
                       "there is no table " + table.path.ToString() + " at the sink any more");
    }
    for (const EvolvedColumn& column : table.columns) {
      if (actual->FindName(column.sink.name) != nullptr) continue;
      return MakeError(ErrorKind::kRefused, "table " + table.path.ToString() +
                                                " at the sink has no column " + column.sink.name +
                                                " any more: somebody else changed it");
    }
    return {};
  }

  // True: the cut has a load that was committed.
  Result<bool> AbandonAll(const TablePath& table, const Labels& labels, uint32_t attempt, CutId cut,
                          std::span<const CommitToken> recorded) {
    bool settled = false;
    for (int number = 0;; ++number) {
      const std::string label = labels.Of(cut, attempt, number);
      const bool is_recorded =
          std::any_of(recorded.begin(), recorded.end(),
                      [&](const CommitToken& token) { return Names(token, label); });
      if (is_recorded) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const Leftover left, product_.loader->Abandon(table, label));
      if (left == Leftover::kNone) return settled;
      settled = settled || left == Leftover::kCommitted;
    }
  }

  Product product_;
  const OlapOptions options_;
  const SinkEnvironment environment_;
  SchemaSteps steps_;
  NewestCut newest_cut_;
};

}  // namespace

std::unique_ptr<Sink> MakeSink(Product product, OlapOptions options,
                               const SinkEnvironment& environment) {
  return std::make_unique<OlapSink>(std::move(product), std::move(options), environment);
}

}  // namespace driftless::olap
