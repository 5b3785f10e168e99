#include "sinks/api/projected_batch.h"

#include <string>
#include <utility>

#include "schema/base/utf8.h"
#include "schema/types/overlay.h"
#include "schema/types/value_text.h"

namespace driftless {
namespace {

using From = ProjectedColumn::From;

constexpr size_t kShownValueMax = 60;  // characters of a value in an error

// A value for an error message: quoted where it is text, cut where it is long.
std::string Shown(const LogicalType& type, const ColumnView& column, int64_t row) {
  std::string text;
  AppendJson(type, column, row, {.bytes = BytesText::kHex, .decimals = DecimalJson::kNumber},
             &text);
  const std::string_view prefix = Utf8Prefix(text, kShownValueMax);
  return prefix.size() == text.size() ? text : std::string(prefix) + "...";
}

bool BitAt(const uint8_t* bitmap, int64_t row) {
  return ((bitmap[row >> 3] >> (row & 7)) & 1) != 0;
}

void SetBit(std::vector<uint8_t>* bitmap, int64_t row) {
  (*bitmap)[static_cast<size_t>(row >> 3)] |= static_cast<uint8_t>(1u << (row & 7));
}

}  // namespace

// Does the work of Make for one batch.
class BatchProjector {
 public:
  BatchProjector(const Projection& projection, std::span<const uint32_t> rows,
                 RowReporter* reporter, ProjectedBatch* out)
      : projection_(projection),
        policy_(projection.policy()),
        batch_(*out->batch_),
        rows_(rows),
        reporter_(reporter),
        out_(out) {}

  Result<void> Run() {
    FindImages();
    const size_t count = projection_.columns().size();
    out_->after_.reserve(count);
    if (!batch_.before().empty()) {
      out_->before_.reserve(count);
      for (const ProjectedColumn& column : projection_.columns()) ProjectBefore(column);
    }
    for (const ProjectedColumn& column : projection_.columns()) {
      DRIFTLESS_TRY(ProjectAfter(column));
    }
    DRIFTLESS_TRY(CheckDeletedKeys());
    KeepGoodRows();
    Report();
    for (const auto& column : out_->owned_) out_->own_bytes_ += column->bytes();
    return {};
  }

 private:
  // Which rows have an `after` image that counts: this writer's, and no deletes.
  void FindImages() {
    images_.assign(BitmapBytes(batch_.size()), 0);
    const std::span<const Op> ops = batch_.ops();
    for (const uint32_t row : rows_) {
      if (ops[row] != Op::kDelete) {
        SetBit(&images_, row);
      } else {
        has_deletes_ = true;
      }
    }
  }

  // True when some counted row has its bit set in `bitmap` (kOnes) or not set (kZeros).
  enum class Wanted : uint8_t { kOnes, kZeros };
  bool AnyImage(const uint8_t* bitmap, Wanted wanted) const {
    const uint8_t flip = wanted == Wanted::kZeros ? 0xFF : 0;
    for (size_t i = 0; i < images_.size(); ++i) {
      if (((bitmap[i] ^ flip) & images_[i]) != 0) return true;
    }
    return false;
  }

  OwnedColumn* Own() { return out_->owned_.emplace_back(std::make_unique<OwnedColumn>()).get(); }

  // All rows NULL, or all absent.
  ColumnView Empty(const ProjectedColumn& column, bool is_absent) {
    OwnedColumn* const owned = Own();
    owned->Prepare(column.sink_type, batch_.size());
    if (!owned->offsets.empty()) {
      owned->offsets.assign(static_cast<size_t>(batch_.size()) + 1, 0);
    }
    FillOffsets(column.sink_type, owned);
    if (is_absent) owned->absent.assign(BitmapBytes(batch_.size()), 0xFF);
    return owned->view();
  }

  // Children of a struct of nulls need offsets too.
  void FillOffsets(const LogicalType& type, OwnedColumn* owned) {
    if (type.kind() != TypeKind::kRow) return;
    for (size_t i = 0; i < owned->children.size(); ++i) {
      OwnedColumn* const child = &owned->children[i];
      if (!child->offsets.empty()) {
        child->offsets.assign(static_cast<size_t>(child->length()) + 1, 0);
      }
      FillOffsets(type.children()[i].type, child);
    }
  }

  // The columns that no source column feeds.
  ColumnView Constant(const ProjectedColumn& column) {
    if (column.from == From::kDefault) {
      OwnedColumn* const owned = Own();
      Repeat(column.sink_type, column.fill->view(), batch_.size(), owned);
      return owned->view();
    }
    return Empty(column, column.from == From::kAbsent && policy_.partial_update);
  }

  void ProjectBefore(const ProjectedColumn& column) {
    if (column.from != From::kSource) {
      out_->before_.push_back(Empty(column, /*is_absent=*/false));
      return;
    }
    const ColumnView& source = batch_.before()[static_cast<size_t>(column.source_index)];
    if (!column.needs_cast) {
      out_->before_.push_back(source);
      return;
    }
    OwnedColumn* const owned = Own();
    column.cast->Run(source, owned);
    out_->before_.push_back(owned->view());
  }

  Result<void> ProjectAfter(const ProjectedColumn& column) {
    if (column.from != From::kSource) {
      out_->after_.push_back(Constant(column));
      return {};
    }
    const auto index = static_cast<size_t>(column.source_index);
    ColumnView source = batch_.after()[index];
    if (source.absent != nullptr && AnyImage(source.absent, Wanted::kOnes)) {
      DRIFTLESS_TRY(FillAbsent(column, &source));
    }
    ColumnView sink = source;
    if (column.needs_cast) {
      OwnedColumn* const owned = Own();
      column.cast->Run(source, owned);
      if (owned->misfit_count > 0) DRIFTLESS_TRY(CheckMisfits(column, source, *owned));
      sink = owned->view();
    }
    const bool wants_value = column.not_null || column.is_key;
    if (wants_value && sink.validity != nullptr && AnyImage(sink.validity, Wanted::kZeros)) {
      DRIFTLESS_TRY(CheckNulls(column, &sink));
    }
    out_->after_.push_back(sink);
    return {};
  }

  // Values that the source did not send come from the before image; what is missing there too is
  // left to the sink (partial update, lookup), fails, or becomes NULL.
  Result<void> FillAbsent(const ProjectedColumn& column, ColumnView* source) {
    if (!batch_.before().empty()) {
      const ColumnView& before = batch_.before()[static_cast<size_t>(column.source_index)];
      std::vector<uint8_t> mask(BitmapBytes(batch_.size()), 0);
      bool any = false;
      for (const uint32_t row : rows_) {
        if (!BitAt(images_.data(), row) || !source->IsAbsent(row)) continue;
        if (!batch_.HasBefore(row) || before.IsAbsent(row)) continue;
        SetBit(&mask, row);
        any = true;
      }
      if (any) {
        OwnedColumn* const owned = Own();
        Overlay(column.source_type, *source, mask.data(), before, OverlayRows::kSame, owned);
        *source = owned->view();
      }
    }
    if (policy_.partial_update || policy_.on_absent == OnAbsent::kLookup) return {};
    if (source->absent == nullptr) return {};
    int64_t nulls = 0;
    for (const uint32_t row : rows_) {
      if (!BitAt(images_.data(), row) || !source->IsAbsent(row)) continue;
      if (policy_.on_absent == OnAbsent::kFail) {
        return Problem(column, row, "the source did not send the value")
            .Hint(
                "Set REPLICA IDENTITY FULL (PostgreSQL) or binlog_row_image=FULL (MySQL), or"
                " choose pipeline.on-absent: lookup or null.");
      }
      ++nulls;
    }
    Count(column, RowReporter::Loss::kAbsent, nulls);
    return {};
  }

  Result<void> CheckMisfits(const ProjectedColumn& column, const ColumnView& source,
                            const OwnedColumn& cast) {
    int64_t nulls = 0;
    for (const uint32_t row : rows_) {
      if (!cast.IsMisfit(row) || !BitAt(images_.data(), row)) continue;
      const auto misfit = [&] {
        return Problem(column, row,
                       "the value " + Shown(column.source_type, source, row) + " does not fit " +
                           column.sink_type.ToStringIgnoringNullability());
      };
      if (column.is_strict) {
        return misfit().Hint(
            "The column is part of the sink table's key, partition or bucket, so"
            " no other value can stand for it: widen it at the sink.");
      }
      if (policy_.on_cast_failure == OnCastFailure::kFail) {
        return misfit().Hint(
            "Widen the column at the sink, or choose pipeline.on-cast-failure:"
            " null or dead-letter.");
      }
      if (policy_.on_cast_failure == OnCastFailure::kDeadLetter) {
        DRIFTLESS_TRY(DeadLetter(row, misfit()));
      } else {
        ++nulls;
      }
    }
    Count(column, RowReporter::Loss::kMisfit, nulls);
    return {};
  }

  Result<void> CheckNulls(const ProjectedColumn& column, ColumnView* sink) {
    std::vector<uint8_t> mask(BitmapBytes(batch_.size()), 0);
    int64_t replaced = 0;
    for (const uint32_t row : rows_) {
      if (!sink->IsNull(row) || !BitAt(images_.data(), row) || IsDead(row)) continue;
      // Absent and left to the sink: no NULL is written.
      if (!column.is_key && sink->IsAbsent(row) && LeavesAbsent()) continue;
      const auto violation = [&] {
        return Problem(column, row, "NULL for a column that is NOT NULL at the sink");
      };
      if (column.is_key) {
        return Problem(column, row, "the key column has no value")
            .Hint(
                "Every change must carry the sink table's key: check the source's row image"
                " settings.");
      }
      if (policy_.on_null_violation == OnNullViolation::kFail) {
        return violation().Hint(
            "Allow NULL at the sink, or choose pipeline.on-null-violation:"
            " default-value or dead-letter.");
      }
      if (policy_.on_null_violation == OnNullViolation::kDeadLetter) {
        DRIFTLESS_TRY(DeadLetter(row, violation()));
      } else {
        SetBit(&mask, row);
        ++replaced;
      }
    }
    if (replaced == 0) return {};
    Count(column, RowReporter::Loss::kNull, replaced);
    OwnedColumn* const owned = Own();
    Overlay(column.sink_type, *sink, mask.data(), column.fill->view(), OverlayRows::kFirst, owned);
    *sink = owned->view();
    return {};
  }

  // A delete says by its before image which row goes.
  Result<void> CheckDeletedKeys() {
    if (!has_deletes_) return {};
    for (size_t i = 0; i < projection_.columns().size(); ++i) {
      const ProjectedColumn& column = projection_.columns()[i];
      if (!column.is_key) continue;
      for (const uint32_t row : rows_) {
        if (batch_.ops()[row] != Op::kDelete) continue;
        const bool has_value =
            !out_->before_.empty() && batch_.HasBefore(row) && !out_->before_[i].IsNull(row);
        if (has_value) continue;
        return Problem(column, row,
                       "a delete does not say which row goes: its key has no value"
                       " that fits the sink's column")
            .Hint("Check the source's REPLICA IDENTITY or binlog_row_image.");
      }
    }
    return {};
  }

  bool LeavesAbsent() const {
    return policy_.partial_update || policy_.on_absent == OnAbsent::kLookup;
  }

  Error Problem(const ProjectedColumn& column, uint32_t row, std::string what) const {
    return MakeError(ErrorKind::kInvalidInput, std::move(what))
        .Context("column " + column.name)
        .Context("table " + projection_.sink_table().ToString())
        .Position(batch_.point(row).ToString());
  }

  bool IsDead(uint32_t row) const { return !dead_.empty() && BitAt(dead_.data(), row); }

  // Dead letters and counts are kept until the whole batch went well: after an error its rows come
  // again.
  Result<void> DeadLetter(uint32_t row, Error why) {
    if (reporter_ == nullptr) return why;
    if (dead_.empty()) dead_.assign(BitmapBytes(batch_.size()), 0);
    if (IsDead(row)) return {};
    SetBit(&dead_, row);
    dead_letters_.emplace_back(row, std::move(why));
    return {};
  }

  void Count(const ProjectedColumn& column, RowReporter::Loss loss, int64_t rows) {
    if (rows > 0) losses_.push_back({&column, loss, rows});
  }

  void KeepGoodRows() {
    out_->rows_.assign(rows_.begin(), rows_.end());
    if (!dead_.empty()) std::erase_if(out_->rows_, [this](uint32_t row) { return IsDead(row); });
  }

  void Report() {
    if (reporter_ == nullptr) return;
    for (const auto& [row, why] : dead_letters_) reporter_->DeadLetter(batch_, row, why);
    for (const LossCount& count : losses_) {
      reporter_->Count(projection_.sink_table(), count.column->name, count.loss, count.rows);
    }
  }

  struct LossCount {
    const ProjectedColumn* column;
    RowReporter::Loss loss;
    int64_t rows;
  };

  const Projection& projection_;
  const ProjectionPolicy& policy_;
  const ChangeBatch& batch_;
  std::span<const uint32_t> rows_;
  RowReporter* reporter_;
  ProjectedBatch* out_;
  std::vector<uint8_t> images_;
  bool has_deletes_ = false;
  std::vector<uint8_t> dead_;  // bitmap; empty while there is none
  std::vector<std::pair<uint32_t, Error>> dead_letters_;
  std::vector<LossCount> losses_;
};

Result<std::shared_ptr<const ProjectedBatch>> ProjectedBatch::Make(ChangeBatchPtr batch,
                                                                   const Projection& projection,
                                                                   std::span<const uint32_t> rows,
                                                                   RowReporter* reporter) {
  auto projected = std::shared_ptr<ProjectedBatch>(new ProjectedBatch());
  projected->batch_ = std::move(batch);
  DRIFTLESS_TRY(BatchProjector(projection, rows, reporter, projected.get()).Run());
  return std::shared_ptr<const ProjectedBatch>(std::move(projected));
}

}  // namespace driftless
