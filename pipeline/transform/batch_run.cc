#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <utility>

#include "pipeline/transform/table_transform.h"
#include "schema/base/check.h"
#include "schema/events/derived_batch.h"
#include "schema/types/casts.h"
#include "schema/types/overlay.h"

// From a batch to a batch. Everything works on whole columns; what differs from row to row (which
// image lives, which rule it passes, what the change becomes) is kept in bitmaps.
namespace driftless {
namespace {

class Bits {
 public:
  explicit Bits(int64_t rows, bool value = false)
      : bytes_(BitmapBytes(rows), value ? uint8_t{0xFF} : uint8_t{0}) {}
  bool At(int64_t row) const {
    return ((bytes_[static_cast<size_t>(row >> 3)] >> (row & 7)) & 1) != 0;
  }
  void Set(int64_t row) {
    bytes_[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
    any_ = true;
  }
  void Clear(int64_t row) {
    bytes_[static_cast<size_t>(row >> 3)] &= static_cast<uint8_t>(~(1u << (row & 7)));
  }
  bool any() const { return any_; }  // one was set
  const uint8_t* data() const { return bytes_.data(); }
  std::vector<uint8_t>& bytes() { return bytes_; }

 private:
  std::vector<uint8_t> bytes_;
  bool any_ = false;
};

// Which rule a row image takes.
constexpr int8_t kNone = -1;     // it passes no filter
constexpr int8_t kUnknown = -2;  // a filter needs a value that was not sent
constexpr int8_t kNoImage = -3;

enum class Fate : uint8_t {
  kDrop,
  kKeep,        // as it is
  kInsert,      // an update whose old row did not pass
  kDelete,      // an update whose new row does not pass
  kSoftDelete,  // a delete that becomes an insert of the old row
};

bool IsAbsent(const ColumnView& view, int64_t row) { return view.IsAbsent(row); }

}  // namespace

class BatchRun {
 public:
  BatchRun(TableTransform* transform, const ChangeBatch& batch, int64_t begin, int64_t end,
           int64_t now_micros)
      : t_(*transform),
        batch_(batch),
        begin_(begin),
        end_(end),
        now_micros_(now_micros),
        rows_(batch.size()),
        filtered_(std::any_of(transform->bound_.begin(), transform->bound_.end(),
                              [](const auto& rule) { return rule.filter_after.has_value(); })),
        bad_(batch.size()) {}

  Result<TableTransform::Output> Go() {
    if (t_.broken_) return BrokenFilter();
    ReadInputs();
    DRIFTLESS_TRY(ChooseRules(Image::kAfter));
    DRIFTLESS_TRY(ChooseRules(Image::kBefore));
    DRIFTLESS_TRY(ChooseFates());
    if (std::all_of(fates_.begin(), fates_.end(), [](Fate fate) { return fate == Fate::kDrop; })) {
      return std::move(output_);
    }
    DRIFTLESS_TRY(MakeColumns(Image::kAfter, &after_out_));
    if (needs_before_) DRIFTLESS_TRY(MakeColumns(Image::kBefore, &before_out_));
    return Assemble();
  }

 private:
  struct ImageOf {
    std::vector<ColumnView> inputs;  // as the scope has them
    std::vector<int8_t> rule;        // per row
  };

  Op OpOf(int64_t row) const { return batch_.ops()[static_cast<size_t>(row)]; }
  bool Lives(Image image, int64_t row) const {
    if (row < begin_ || row >= end_) return false;
    return image == Image::kAfter ? OpOf(row) != Op::kDelete : batch_.HasBefore(row);
  }
  ImageOf& Of(Image image) { return image == Image::kAfter ? after_ : before_; }
  bool has_before() const { return !batch_.before().empty(); }

  Error At(int64_t row, std::string text) const {
    return MakeError(ErrorKind::kInvalidInput,
                     "transform of table " + batch_.table().ToString() + ": " + std::move(text))
        .Position(batch_.point(row).ToString());
  }

  Result<TableTransform::Output> BrokenFilter() const {
    return Result<TableTransform::Output>(
        std::move(At(begin_, fmt::format("{} needs column {}, which the source has dropped",
                                         t_.broken_->expression, t_.broken_->column)))
            .Hint("Change the transform so that it does without the column, and start again."));
  }

  // ---- inputs ----------------------------------------------------------------------------------

  OwnedColumn* Keep() { return &kept_.emplace_back(); }

  // A value that one image of an update lacks has not changed: the other image has it.
  ColumnView WithOther(const LogicalType& type, const ColumnView& own, const ColumnView& other) {
    if (own.absent == nullptr) return own;
    Bits mask(rows_);
    for (int64_t row = begin_; row < end_; ++row) {
      if (OpOf(row) == Op::kUpdate && batch_.HasBefore(row) && own.IsAbsent(row) &&
          !IsAbsent(other, row)) {
        mask.Set(row);
      }
    }
    if (!mask.any()) return own;
    OwnedColumn* column = Keep();
    Overlay(type, own, mask.data(), other, OverlayRows::kSame, column);
    return column->view();
  }

  void ReadInputs() {
    for (const Image image : {Image::kAfter, Image::kBefore}) {
      if (image == Image::kBefore && !has_before()) continue;
      const auto own = image == Image::kAfter ? batch_.after() : batch_.before();
      const auto other = image == Image::kAfter ? batch_.before() : batch_.after();
      for (const TableTransform::Input& input : t_.inputs_) {
        if (input.column >= 0) {
          const auto at = static_cast<size_t>(input.column);
          const LogicalType& type = t_.source_->columns[at].type;
          Of(image).inputs.push_back(has_before() ? WithOther(type, own[at], other[at]) : own[at]);
          continue;
        }
        OwnedColumn* column = Keep();
        if (input.metadata) {
          FillMetadata(*input.metadata, batch_, image, column);
        } else {
          FillNull(input.type, column);
        }
        Of(image).inputs.push_back(column->view());
      }
    }
  }

  void FillNull(const LogicalType& type, OwnedColumn* column) const {
    column->Prepare(type, rows_);
    if (!column->offsets.empty()) column->offsets.assign(static_cast<size_t>(rows_) + 1, 0);
  }

  flink::EvalInput InputsOf(Image image) {
    flink::EvalInput input;
    input.rows = rows_;
    input.columns = Of(image).inputs;
    input.now_micros = now_micros_;
    return input;
  }

  // ---- filters ---------------------------------------------------------------------------------

  Result<void> ChooseRules(Image image) {
    std::vector<int8_t>& rule = Of(image).rule;
    rule.assign(static_cast<size_t>(rows_), kNoImage);
    if (image == Image::kBefore && !has_before()) return {};
    for (int64_t row = begin_; row < end_; ++row) {
      if (Lives(image, row)) rule[static_cast<size_t>(row)] = kNone;
    }
    for (size_t i = 0; i < t_.bound_.size(); ++i) {
      TableTransform::BoundRule& bound = t_.bound_[i];
      auto& filter = image == Image::kAfter ? bound.filter_after : bound.filter_before;
      if (!filter) {
        for (int8_t& which : rule) {
          if (which == kNone) which = static_cast<int8_t>(i);
        }
        break;
      }
      const ColumnView& passes = filter->Run(InputsOf(image));
      for (int64_t row = begin_; row < end_; ++row) {
        int8_t& which = rule[static_cast<size_t>(row)];
        if (which != kNone) continue;
        if (passes.IsAbsent(row)) {
          which = kUnknown;
        } else if (!passes.IsNull(row) && passes.Bit(row)) {
          which = static_cast<int8_t>(i);
        }
      }
      DRIFTLESS_TRY(TakeFilterFailures(*filter, bound, rule, i));
    }
    return {};
  }

  // A row whose filter cannot be worked out neither passes nor not.
  Result<void> TakeFilterFailures(const flink::Program& filter,
                                  const TableTransform::BoundRule& bound,
                                  const std::vector<int8_t>& rule, size_t index) {
    if (filter.failed_rows().empty()) return {};
    for (int64_t row = begin_; row < end_; ++row) {
      const auto failed = filter.failed_rows()[static_cast<size_t>(row >> 3)];
      const int8_t which = rule[static_cast<size_t>(row)];
      const bool concerned = which == kNone || which == static_cast<int8_t>(index);
      if (((failed >> (row & 7)) & 1) == 0 || !concerned) continue;
      const std::string text = "filter " + bound.rule->filter_text + ": " + filter.failure();
      if (t_.options_.on_failure != OnCastFailure::kDeadLetter) {
        return std::move(At(row, text)).Hint("TRY_CAST and CASE can say what such rows mean.");
      }
      SetBad(row, text);
    }
    return {};
  }

  void SetBad(int64_t row, const std::string& what) {
    if (bad_.At(row)) return;
    bad_.Set(row);
    output_.bad_rows.push_back({row, what});
  }

  // ---- what becomes of each change --------------------------------------------------------------

  Result<Fate> FateOf(int64_t row) {
    const int8_t now = after_.rule[static_cast<size_t>(row)];
    const int8_t then = before_.rule[static_cast<size_t>(row)];
    if (now == kUnknown) {
      return std::move(At(row, "the filter needs a value that the source did not send"))
          .Hint(
              "Let the source send whole rows: REPLICA IDENTITY FULL in PostgreSQL, "
              "binlog_row_image=FULL in MySQL.");
    }
    switch (OpOf(row)) {
      case Op::kInsert:
      case Op::kRead: return now >= 0 ? Fate::kKeep : Fate::kDrop;
      case Op::kDelete: {
        // A delete of which nothing is known does no harm where the row never was.
        const bool passes = then >= 0 || then == kUnknown || then == kNoImage;
        if (!passes) return Fate::kDrop;
        return t_.bound_[then >= 0 ? static_cast<size_t>(then) : 0].rule->soft_delete
                   ? Fate::kSoftDelete
                   : Fate::kKeep;
      }
      case Op::kUpdate: break;
    }
    if (!filtered_) return Fate::kKeep;
    if (now >= 0) return then == kNone ? Fate::kInsert : Fate::kKeep;
    return then == kNone ? Fate::kDrop : Fate::kDelete;
  }

  Result<void> ChooseFates() {
    fates_.assign(static_cast<size_t>(rows_), Fate::kDrop);
    needs_before_ = has_before();
    for (int64_t row = begin_; row < end_; ++row) {
      if (bad_.At(row)) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const Fate fate, FateOf(row));
      fates_[static_cast<size_t>(row)] = fate;
      if (fate == Fate::kDrop) ++output_.filtered;
      if (fate == Fate::kDelete) needs_before_ = true;
    }
    return {};
  }

  // ---- columns ---------------------------------------------------------------------------------

  // The rows of the batch that the output's image takes from `image`.
  bool Uses(Image out, Image image, int64_t row) const {
    const Fate fate = fates_[static_cast<size_t>(row)];
    switch (fate) {
      case Fate::kDrop: return false;
      case Fate::kKeep: return out == image && Lives(image, row);
      case Fate::kInsert: return out == Image::kAfter && image == Image::kAfter;
      case Fate::kDelete:
        // Without an old row the new one's key says which row is gone.
        if (out == Image::kAfter) return false;
        return batch_.HasBefore(row) ? image == Image::kBefore : image == Image::kAfter;
      case Fate::kSoftDelete: return out == Image::kAfter && image == Image::kBefore;
    }
    return false;
  }

  Result<void> MakeColumns(Image out, std::vector<ColumnView>* columns) {
    Bits from_after(rows_);
    Bits from_before(rows_);
    Bits absent(rows_);
    for (int64_t row = 0; row < rows_; ++row) {
      if (Uses(out, Image::kAfter, row)) {
        from_after.Set(row);
      } else if (Uses(out, Image::kBefore, row)) {
        from_before.Set(row);
      } else {
        absent.Set(row);
      }
    }
    for (size_t i = 0; i < t_.output_->columns.size(); ++i) {
      const LogicalType& type = t_.output_->columns[i].type;
      ColumnView view;
      if (!from_before.any()) {
        DRIFTLESS_ASSIGN_OR_RETURN(view, ColumnOf(Image::kAfter, i, from_after));
      } else if (!from_after.any()) {
        DRIFTLESS_ASSIGN_OR_RETURN(view, ColumnOf(Image::kBefore, i, from_before));
      } else {
        DRIFTLESS_ASSIGN_OR_RETURN(const ColumnView after, ColumnOf(Image::kAfter, i, from_after));
        DRIFTLESS_ASSIGN_OR_RETURN(const ColumnView before,
                                   ColumnOf(Image::kBefore, i, from_before));
        OwnedColumn* mixed = Keep();
        Overlay(type, after, from_before.data(), before, OverlayRows::kSame, mixed);
        view = mixed->view();
      }
      if (absent.any()) view = Without(type, view, absent);
      columns->push_back(view);
    }
    return {};
  }

  // The view with some rows absent.
  ColumnView Without(const LogicalType& type, const ColumnView& view, const Bits& absent) {
    // A source column says so itself, mostly.
    if (view.absent != nullptr) {
      bool all = true;
      for (size_t i = 0; i < BitmapBytes(rows_) && all; ++i) {
        all = (absent.data()[i] & ~view.absent[i]) == 0;
      }
      if (all) return view;
    }
    static_cast<void>(type);
    OwnedColumn* bits = Keep();
    bits->validity.resize(BitmapBytes(rows_));
    bits->absent.resize(BitmapBytes(rows_));
    for (size_t i = 0; i < BitmapBytes(rows_); ++i) {
      const uint8_t valid = view.validity == nullptr ? uint8_t{0xFF} : view.validity[i];
      const uint8_t missing = view.absent == nullptr ? uint8_t{0} : view.absent[i];
      bits->validity[i] = static_cast<uint8_t>(valid & ~absent.data()[i]);
      bits->absent[i] = static_cast<uint8_t>(missing | absent.data()[i]);
    }
    ColumnView result = view;
    result.validity = bits->validity.data();
    result.absent = bits->absent.data();
    return result;
  }

  // One output column from one image, by the rule of each row; `used` rows count.
  Result<ColumnView> ColumnOf(Image image, size_t column, const Bits& used) {
    if (t_.bound_.size() == 1) return MadeBy(0, image, column, used);
    OwnedColumn* mixed = Keep();
    const LogicalType& type = t_.output_->columns[column].type;
    ColumnView view;
    for (size_t i = 0; i < t_.bound_.size(); ++i) {
      Bits mine(rows_);
      for (int64_t row = begin_; row < end_; ++row) {
        if (used.At(row) && RuleOf(image, row) == i) mine.Set(row);
      }
      if (!mine.any() && view.length > 0) continue;
      DRIFTLESS_ASSIGN_OR_RETURN(const ColumnView made, MadeBy(i, image, column, mine));
      if (view.length == 0) {
        view = made;
        continue;
      }
      Overlay(type, view, mine.data(), made, OverlayRows::kSame, mixed);
      view = mixed->view();
      mixed = Keep();
    }
    return view;
  }

  // Rows whose rule is not known (deletes without an image) follow the first.
  size_t RuleOf(Image image, int64_t row) {
    const int8_t rule = Of(image).rule[static_cast<size_t>(row)];
    if (rule >= 0) return static_cast<size_t>(rule);
    const int8_t other =
        Of(image == Image::kAfter ? Image::kBefore : Image::kAfter).rule[static_cast<size_t>(row)];
    return other >= 0 ? static_cast<size_t>(other) : 0;
  }

  Result<ColumnView> MadeBy(size_t rule, Image image, size_t column, const Bits& used) {
    TableTransform::Maker& maker = t_.bound_[rule].makers[column];
    const Column& output = t_.output_->columns[column];
    if (image == Image::kBefore && !has_before()) {
      OwnedColumn* nothing = Keep();
      FillNull(output.type, nothing);
      return nothing->view();
    }
    if (maker.is_null) {
      OwnedColumn* nothing = Keep();
      FillNull(output.type, nothing);
      return nothing->view();
    }
    if (maker.column >= 0) {
      const auto at = static_cast<size_t>(maker.column);
      const ColumnView view = (image == Image::kAfter ? batch_.after() : batch_.before())[at];
      return Widened(t_.source_->columns[at].type, view, output.type);
    }
    flink::Program& program = image == Image::kAfter ? *maker.after : *maker.before;
    const ColumnView& view = program.Run(InputsOf(image));
    DRIFTLESS_TRY(TakeFailures(program, maker, output, used));
    return Widened(program.type(), view, output.type);
  }

  // Rules that give one column different types: its type holds the values of all.
  Result<ColumnView> Widened(const LogicalType& from, const ColumnView& view,
                             const LogicalType& to) {
    if (from.physical() == to.physical() &&
        (from.kind() == to.kind() || from.physical() == PhysicalKind::kVariable) &&
        from.scale() == to.scale()) {
      return view;
    }
    OwnedColumn* cast = Keep();
    ColumnCast(from, to, t_.options_.zone).Run(view, cast);
    return cast->view();
  }

  Result<void> TakeFailures(const flink::Program& program, const TableTransform::Maker& maker,
                            const Column& output, const Bits& used) {
    if (program.failed_rows().empty()) return {};
    const bool is_key = t_.output_->IsKey(output.id) || t_.output_->IsPartitionKey(output.id);
    for (int64_t row = begin_; row < end_; ++row) {
      const auto failed = program.failed_rows()[static_cast<size_t>(row >> 3)];
      if (((failed >> (row & 7)) & 1) == 0 || !used.At(row)) continue;
      const std::string text =
          fmt::format("column {} = {}: {}", output.name, maker.text, program.failure());
      if (t_.options_.on_failure == OnCastFailure::kDeadLetter) {
        SetBad(row, text);
      } else if (t_.options_.on_failure == OnCastFailure::kNull && !is_key) {
        ++output_.nulled;
      } else {
        return std::move(At(row, text))
            .Hint("TRY_CAST gives NULL instead; so does pipeline.on-cast-failure: null.");
      }
    }
    return {};
  }

  // ---- the output ------------------------------------------------------------------------------

  Result<TableTransform::Output> Assemble() {
    DerivedBatch::Parts parts;
    parts.schema = t_.output_;
    Bits has_before(rows_);
    bool any_before = false;
    for (int64_t row = begin_; row < end_; ++row) {
      const Fate fate = fates_[static_cast<size_t>(row)];
      if (fate == Fate::kDrop || bad_.At(row)) continue;
      const auto at = static_cast<int64_t>(parts.ops.size());
      Op op = OpOf(row);
      bool before = batch_.HasBefore(row);
      if (fate == Fate::kInsert || fate == Fate::kSoftDelete) {
        op = Op::kInsert;
        before = false;
      } else if (fate == Fate::kDelete) {
        op = Op::kDelete;
        before = true;
      }
      parts.ops.push_back(op);
      parts.rows.push_back(row);
      if (before) {
        has_before.Set(at);
        any_before = true;
      }
    }
    if (static_cast<int64_t>(parts.rows.size()) == rows_) parts.rows.clear();
    parts.after = std::move(after_out_);
    if (any_before) {
      parts.before = std::move(before_out_);
      has_before.bytes().resize(BitmapBytes(static_cast<int64_t>(parts.ops.size())));
      parts.has_before = std::move(has_before.bytes());
    }
    output_.batch = DerivedBatch::Make(batch_, std::move(parts));
    return std::move(output_);
  }

  TableTransform& t_;
  const ChangeBatch& batch_;
  const int64_t begin_;
  const int64_t end_;
  const int64_t now_micros_;
  const int64_t rows_;
  ImageOf after_;
  ImageOf before_;
  std::vector<Fate> fates_;
  bool filtered_ = false;
  bool needs_before_ = false;
  Bits bad_;
  std::deque<OwnedColumn> kept_;
  std::vector<ColumnView> after_out_;
  std::vector<ColumnView> before_out_;
  TableTransform::Output output_;
};

Result<TableTransform::Output> TableTransform::Run(const ChangeBatch& batch, int64_t begin,
                                                   int64_t end, int64_t now_micros) {
  return BatchRun(this, batch, begin, end, now_micros).Go();
}

ChangeBatchPtr TableTransform::Slice(const ChangeBatch& batch, int64_t begin, int64_t end) {
  DerivedBatch::Parts parts;
  parts.schema = batch.schema();
  Bits has_before(end - begin);
  for (int64_t row = begin; row < end; ++row) {
    parts.ops.push_back(batch.ops()[static_cast<size_t>(row)]);
    parts.rows.push_back(row);
    if (batch.HasBefore(row)) has_before.Set(row - begin);
  }
  parts.after.assign(batch.after().begin(), batch.after().end());
  if (has_before.any()) {
    parts.before.assign(batch.before().begin(), batch.before().end());
    parts.has_before = std::move(has_before.bytes());
  }
  return DerivedBatch::Make(batch, std::move(parts));
}

}  // namespace driftless
