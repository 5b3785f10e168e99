#include "schema/events/change_batch_image.h"

#include <cstring>
#include <limits>

#include "schema/base/check.h"

namespace driftless {
namespace {

constexpr uint64_t kNowhere = std::numeric_limits<uint64_t>::max();

template <typename T>
void Put(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Takes numbers from the front; `ok` stays false once the bytes have run out.
struct Reader {
  std::string_view rest;
  bool ok = true;

  template <typename T>
  T Take() {
    T value{};
    if (rest.size() < sizeof value) {
      ok = false;
      return value;
    }
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return value;
  }
};

Error Damaged() { return MakeError(ErrorKind::kCorrupt, "a stored batch of changes is damaged"); }

}  // namespace

void ChangeBatchImage::Append(const ChangeBatch& batch, std::string* out) {
  const uint8_t* slab = batch.slab_.get();
  const auto place = [&](const void* at) {
    Put<uint64_t>(
        at == nullptr ? kNowhere : static_cast<uint64_t>(static_cast<const uint8_t*>(at) - slab),
        out);
  };
  Put<uint32_t>(batch.stream_, out);
  Put<int64_t>(batch.size_, out);
  place(batch.ops_);
  place(batch.epochs_);
  place(batch.offsets_);
  place(batch.rows_);
  place(batch.commit_times_ms_);
  place(batch.transaction_offsets_);
  place(batch.transactions_);
  place(batch.has_before_);
  Put<uint32_t>(static_cast<uint32_t>(batch.views_.size()), out);
  Put<uint32_t>(static_cast<uint32_t>(batch.after_.size()), out);
  Put<uint32_t>(static_cast<uint32_t>(batch.before_.size()), out);
  const ColumnView* first = batch.views_.data();
  Put<uint32_t>(batch.before_.empty() ? 0U : static_cast<uint32_t>(batch.before_.data() - first),
                out);
  for (const ColumnView& view : batch.views_) {
    Put<int64_t>(view.length, out);
    place(view.validity);
    place(view.absent);
    place(view.values);
    place(view.offsets);
    Put<uint32_t>(view.children == nullptr ? 0U : static_cast<uint32_t>(view.children - first),
                  out);
    Put<int32_t>(view.child_count, out);
  }
  Put<uint64_t>(batch.slab_bytes_, out);
  out->append(reinterpret_cast<const char*>(slab), batch.slab_bytes_);
}

Result<ChangeBatchPtr> ChangeBatchImage::Parse(std::string_view bytes, TableSchemaPtr schema) {
  // Places come first and the slab last: they are turned into pointers once it is there.
  Reader in{bytes};
  auto batch = std::shared_ptr<ChangeBatch>(new ChangeBatch());
  batch->stream_ = in.Take<uint32_t>();
  batch->size_ = in.Take<int64_t>();
  uint64_t places[8];
  for (uint64_t& place : places) place = in.Take<uint64_t>();
  const auto view_count = in.Take<uint32_t>();
  const auto after_count = in.Take<uint32_t>();
  const auto before_count = in.Take<uint32_t>();
  const auto before_first = in.Take<uint32_t>();
  struct ViewPlaces {
    int64_t length;
    uint64_t places[4];
    uint32_t children;
    int32_t child_count;
  };
  constexpr size_t kViewBytes = 8 + 4 * 8 + 4 + 4;
  if (!in.ok || in.rest.size() / kViewBytes < view_count) return Damaged();
  std::vector<ViewPlaces> views(view_count);
  for (ViewPlaces& view : views) {
    view.length = in.Take<int64_t>();
    for (uint64_t& place : view.places) place = in.Take<uint64_t>();
    view.children = in.Take<uint32_t>();
    view.child_count = in.Take<int32_t>();
  }
  batch->slab_bytes_ = in.Take<uint64_t>();
  const uint64_t size = batch->slab_bytes_;
  if (!in.ok || in.rest.size() != size || after_count != schema->columns.size() ||
      (before_count != 0 && before_count != after_count) || after_count > view_count ||
      before_first > view_count - before_count || batch->size_ < 0) {
    return Damaged();
  }
  batch->slab_.reset(new uint8_t[size]);
  std::memcpy(batch->slab_.get(), in.rest.data(), size);
  bool ok = true;
  const auto at = [&](uint64_t place) -> const uint8_t* {
    if (place == kNowhere) return nullptr;
    ok = ok && place <= size;
    return ok ? batch->slab_.get() + place : nullptr;
  };
  batch->ops_ = reinterpret_cast<const Op*>(at(places[0]));
  batch->epochs_ = reinterpret_cast<const uint64_t*>(at(places[1]));
  batch->offsets_ = reinterpret_cast<const uint64_t*>(at(places[2]));
  batch->rows_ = reinterpret_cast<const uint32_t*>(at(places[3]));
  batch->commit_times_ms_ = reinterpret_cast<const int64_t*>(at(places[4]));
  batch->transaction_offsets_ = reinterpret_cast<const int32_t*>(at(places[5]));
  batch->transactions_ = reinterpret_cast<const char*>(at(places[6]));
  batch->has_before_ = at(places[7]);
  batch->views_.resize(view_count);
  for (uint32_t i = 0; i < view_count; ++i) {
    ColumnView& view = batch->views_[i];
    view.length = views[i].length;
    view.validity = at(views[i].places[0]);
    view.absent = at(views[i].places[1]);
    view.values = at(views[i].places[2]);
    view.offsets = reinterpret_cast<const int32_t*>(at(views[i].places[3]));
    view.child_count = views[i].child_count;
    if (view.child_count < 0 ||
        views[i].children > view_count - static_cast<uint32_t>(view.child_count)) {
      return Damaged();
    }
    if (view.child_count > 0) view.children = batch->views_.data() + views[i].children;
  }
  if (!ok) return Damaged();
  batch->after_ = {batch->views_.data(), after_count};
  if (before_count > 0) batch->before_ = {batch->views_.data() + before_first, before_count};
  batch->schema_ = std::move(schema);
  return ChangeBatchPtr(std::move(batch));
}

}  // namespace driftless
