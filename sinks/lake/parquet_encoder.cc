#include "sinks/lake/parquet_encoder.h"

#include <arrow/io/interfaces.h>
#include <arrow/result.h>
#include <parquet/column_writer.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/metadata.h>
#include <parquet/properties.h>
#include <parquet/statistics.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "schema/base/check.h"
#include "sinks/lake/object_stream.h"
#include "sinks/lake/parquet_schema.h"

namespace driftless::lake {
namespace {

namespace pq = ::parquet;

constexpr size_t kChunkRows = 4096;   // gathered at once: stays in the L2 cache
constexpr size_t kSampleRows = 2048;  // looked at for the choice of encodings
constexpr size_t kDictionaryMaxBytes = 512 << 10;

int64_t FloorDivide(int64_t value, int64_t divisor) {
  const int64_t quotient = value / divisor;
  return quotient - static_cast<int64_t>(value % divisor < 0);
}

// One column over all images of an input.
struct ColumnInput {
  std::vector<const ColumnView*> views;  // by image; null: all values are null

  ColumnInput(const EncodeInput& input, int column) {
    views.reserve(input.images.size());
    for (const RowImage& image : input.images) {
      const auto at = static_cast<size_t>(column);
      const bool there = column >= 0 && at < image.columns.size();
      views.push_back(there ? &image.columns[at] : nullptr);
    }
  }

  // The view that has the value of a row, or null where the value is null.
  const ColumnView* Find(RowRef ref) const {
    const ColumnView* view = views[ref.image];
    return view == nullptr || view->IsNull(ref.row) ? nullptr : view;
  }
};

// --- From values in memory to Parquet's physical values -----------------------------------------

struct AsBoolean {
  using Type = pq::BooleanType;
  bool operator()(const ColumnView& v, int64_t row) const { return v.Bit(row); }
};
template <typename Stored>
struct AsInt32 {
  using Type = pq::Int32Type;
  int32_t operator()(const ColumnView& v, int64_t row) const {
    return static_cast<int32_t>(v.Fixed<Stored>(row));
  }
};
template <typename Stored>
struct AsInt64 {
  using Type = pq::Int64Type;
  int64_t operator()(const ColumnView& v, int64_t row) const {
    return static_cast<int64_t>(v.Fixed<Stored>(row));
  }
};
template <typename Stored, typename ParquetType>
struct AsIs {
  using Type = ParquetType;
  Stored operator()(const ColumnView& v, int64_t row) const { return v.Fixed<Stored>(row); }
};
template <int64_t kDivisor>
struct AsTimeMillis {
  using Type = pq::Int32Type;
  int32_t operator()(const ColumnView& v, int64_t row) const {
    return static_cast<int32_t>(v.Fixed<int64_t>(row) / kDivisor);
  }
};
template <int64_t kDivisor>
struct AsDivided {
  using Type = pq::Int64Type;
  int64_t operator()(const ColumnView& v, int64_t row) const {
    return FloorDivide(v.Fixed<int64_t>(row), kDivisor);
  }
};
struct AsInt96 {
  using Type = pq::Int96Type;
  pq::Int96 operator()(const ColumnView& v, int64_t row) const {
    pq::Int96 value;
    pq::internal::NanosecondsToImpalaTimestamp(v.Fixed<int64_t>(row), &value);
    return value;
  }
};
struct AsBytes {
  using Type = pq::ByteArrayType;
  pq::ByteArray operator()(const ColumnView& v, int64_t row) const {
    const std::string_view bytes = v.Bytes(row);
    return {static_cast<uint32_t>(bytes.size()), reinterpret_cast<const uint8_t*>(bytes.data())};
  }
};
// Big-endian two's complement of `length` bytes, kept in `scratch` until the chunk is written.
struct AsDecimalBytes {
  using Type = pq::FLBAType;
  int32_t length;
  uint8_t* scratch;
  size_t* used;
  pq::FixedLenByteArray operator()(const ColumnView& v, int64_t row) const {
    const auto value = v.Fixed<unsigned __int128>(row);
    uint8_t* out = scratch + *used * static_cast<size_t>(length);
    ++*used;
    for (int32_t i = 0; i < length; ++i) {
      out[length - 1 - i] = static_cast<uint8_t>(value >> (8 * i));
    }
    return pq::FixedLenByteArray(out);
  }
};

// Calls `visit` with the converter of a form, except for kDecimalBytes.
template <typename Visit>
void VisitForm(LeafForm form, Visit&& visit) {
  switch (form) {
    case LeafForm::kBoolean: return visit(AsBoolean{});
    case LeafForm::kInt8: return visit(AsInt32<int8_t>{});
    case LeafForm::kInt16: return visit(AsInt32<int16_t>{});
    case LeafForm::kInt32: return visit(AsInt32<int32_t>{});
    case LeafForm::kInt64: return visit(AsInt64<int64_t>{});
    case LeafForm::kFloat: return visit(AsIs<float, pq::FloatType>{});
    case LeafForm::kDouble: return visit(AsIs<double, pq::DoubleType>{});
    case LeafForm::kDecimal32: return visit(AsInt32<__int128>{});
    case LeafForm::kDecimal64: return visit(AsInt64<__int128>{});
    case LeafForm::kTimeMillisOfMicros: return visit(AsTimeMillis<1000>{});
    case LeafForm::kTimeMillisOfNanos: return visit(AsTimeMillis<1000000>{});
    case LeafForm::kTimeMicrosOfNanos: return visit(AsDivided<1000>{});
    case LeafForm::kMillisOfMicros: return visit(AsDivided<1000>{});
    case LeafForm::kInt96OfNanos: return visit(AsInt96{});
    case LeafForm::kBytes: return visit(AsBytes{});
    case LeafForm::kDecimalBytes: break;
  }
  DRIFTLESS_CHECK(false && "form without a converter");
}

template <typename T>
T ZeroValue() {
  if constexpr (std::is_same_v<T, pq::ByteArray>) {
    return {0, reinterpret_cast<const uint8_t*>("")};
  } else if constexpr (std::is_same_v<T, pq::FixedLenByteArray>) {
    static constexpr uint8_t kZeros[16] = {};
    return pq::FixedLenByteArray(kZeros);
  } else {
    return T{};
  }
}

// --- Choice of encodings ------------------------------------------------------------------------

uint64_t HashValue(const SchemaNode& shape, const ColumnView& view, int64_t row) {
  uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  };
  switch (shape.type.physical()) {
    case PhysicalKind::kBit: mix(view.Bit(row) ? 1 : 0); break;
    case PhysicalKind::kFixed8: mix(view.Fixed<uint8_t>(row)); break;
    case PhysicalKind::kFixed16: mix(view.Fixed<uint16_t>(row)); break;
    case PhysicalKind::kFixed32: mix(view.Fixed<uint32_t>(row)); break;
    case PhysicalKind::kFixed64: mix(view.Fixed<uint64_t>(row)); break;
    case PhysicalKind::kFixed128:
      mix(view.Fixed<uint64_t>(2 * row));
      mix(view.Fixed<uint64_t>(2 * row + 1));
      break;
    default: mix(std::hash<std::string_view>{}(view.Bytes(row))); break;
  }
  return hash;
}

// How many distinct values a column probably has, from `distinct` among `sample` draws: solves
// distinct = D * (1 - (1 - 1/D)^sample) for D by bisection.
double EstimateDistinct(double distinct, double sample) {
  if (distinct >= sample) return INFINITY;
  double low = distinct;
  double high = 1e9;
  for (int i = 0; i < 60; ++i) {
    const double middle = std::sqrt(low * high);
    const double expected = middle * -std::expm1(sample * std::log1p(-1.0 / middle));
    (expected < distinct ? low : high) = middle;
  }
  return low;
}

struct ColumnSample {
  double values = 0;           // non-null ones looked at
  double distinct = INFINITY;  // estimated, over the whole column
  double average_bytes = 0;
};

ColumnSample Sample(const SchemaNode& shape, const EncodeInput& input, int column) {
  const ColumnInput source(input, column);
  const size_t step = std::max<size_t>(1, input.rows.size() / kSampleRows);
  std::vector<uint64_t> hashes;
  hashes.reserve(kSampleRows + 1);
  double bytes = 0;
  for (size_t i = 0; i < input.rows.size(); i += step) {
    const ColumnView* view = source.Find(input.rows[i]);
    if (view == nullptr) continue;
    hashes.push_back(HashValue(shape, *view, input.rows[i].row));
    if (shape.type.physical() == PhysicalKind::kVariable) {
      bytes += static_cast<double>(view->Bytes(input.rows[i].row).size());
    }
  }
  ColumnSample sample;
  sample.values = static_cast<double>(hashes.size());
  if (hashes.empty()) return sample;
  sample.average_bytes = bytes / sample.values;
  std::sort(hashes.begin(), hashes.end());
  const auto distinct =
      static_cast<double>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
  sample.distinct = step == 1 ? distinct : EstimateDistinct(distinct, sample.values);
  return sample;
}

bool IsDeltaForm(LeafForm form) {
  switch (form) {
    case LeafForm::kInt8:
    case LeafForm::kInt16:
    case LeafForm::kInt32:
    case LeafForm::kInt64:
    case LeafForm::kDecimal32:
    case LeafForm::kDecimal64:
    case LeafForm::kTimeMillisOfMicros:
    case LeafForm::kTimeMillisOfNanos:
    case LeafForm::kTimeMicrosOfNanos:
    case LeafForm::kMillisOfMicros: return true;
    default: return false;
  }
}

void CollectLeafPaths(const pq::schema::Node& node,
                      std::vector<std::shared_ptr<pq::schema::ColumnPath>>* paths) {
  if (node.is_primitive()) {
    paths->push_back(node.path());
    return;
  }
  const auto& group = static_cast<const pq::schema::GroupNode&>(node);
  for (int i = 0; i < group.field_count(); ++i) CollectLeafPaths(*group.field(i), paths);
}

void ChooseEncoding(const ParquetColumn& column, const BuiltColumn& built, const EncodeInput& first,
                    bool plain_only, pq::WriterProperties::Builder* properties) {
  const SchemaNode& shape = built.shape;
  if (shape.leaf < 0) return;  // leaves of nested types stay plain
  const auto path = built.node->path();
  if (IsDeltaForm(shape.form) && !plain_only) {
    properties->encoding(path, pq::Encoding::DELTA_BINARY_PACKED);
    return;
  }
  if (shape.form == LeafForm::kBoolean) return;
  if (column.source != ParquetColumn::Source::kImage) {
    if (column.source == ParquetColumn::Source::kRowKind) properties->enable_dictionary(path);
    return;
  }
  const ColumnSample sample = Sample(shape, first, column.image_column);
  const auto rows = static_cast<double>(first.rows.size());
  const double width = shape.form == LeafForm::kBytes
                           ? sample.average_bytes + 4
                           : (shape.fixed_length > 0 ? shape.fixed_length : 8);
  if (sample.values > 0 && sample.distinct * 4 <= rows &&
      sample.distinct * width <= static_cast<double>(kDictionaryMaxBytes)) {
    properties->enable_dictionary(path);
  }
}

Result<::arrow::Compression::type> ParseCompression(const std::string& name) {
  if (name == "zstd") return ::arrow::Compression::ZSTD;
  if (name == "snappy") return ::arrow::Compression::SNAPPY;
  if (name == "lz4") return ::arrow::Compression::LZ4_HADOOP;
  if (name == "lz4_raw") return ::arrow::Compression::LZ4;
  if (name == "gzip") return ::arrow::Compression::GZIP;
  if (name == "none" || name == "uncompressed") return ::arrow::Compression::UNCOMPRESSED;
  return MakeError(ErrorKind::kInvalidConfig, "unknown Parquet compression '" + name + "'")
      .Hint("use zstd, snappy, lz4, gzip or none");
}

// --- Writing ------------------------------------------------------------------------------------

class Encoder : public ParquetEncoder {
 public:
  Encoder(std::unique_ptr<ObjectWriter> target, std::vector<ParquetColumn> columns,
          std::vector<BuiltColumn> built)
      : target_(std::move(target)),
        stream_(MakeObjectOutputStream(target_.get(), &failure_)),
        columns_(std::move(columns)),
        built_(std::move(built)) {}

  ~Encoder() override {
    // An encoder that was given up must not write a footer into the object.
    try {
      file_.reset();
    } catch (...) {  // NOLINT(bugprone-empty-catch): nothing of this file will be used
    }
  }

  void Start(std::shared_ptr<pq::schema::GroupNode> schema,
             std::shared_ptr<pq::WriterProperties> properties) {
    file_ = pq::ParquetFileWriter::Open(stream_, std::move(schema), std::move(properties));
  }

  Result<void> WriteRowGroup(const EncodeInput& input) override {
    if (input.rows.empty()) return {};
    try {
      pq::RowGroupWriter* group = file_->AppendRowGroup();
      for (size_t i = 0; i < columns_.size(); ++i) {
        DRIFTLESS_TRY(WriteColumn(group, columns_[i], built_[i].shape, input));
      }
      group->Close();
    } catch (const std::exception& e) {
      return Failure(e);
    }
    rows_ += static_cast<int64_t>(input.rows.size());
    return {};
  }

  int64_t bytes_written() const override { return stream_->Tell().ValueOr(0); }

  Result<ParquetSummary> Finish() override {
    ParquetSummary summary;
    try {
      file_->Close();
      const std::shared_ptr<pq::FileMetaData> metadata = file_->metadata();
      for (const BuiltColumn& built : built_) {
        summary.columns.push_back(Bounds(*metadata, built));
        summary.column_bytes.push_back(ColumnBytes(*metadata, built));
      }
      for (int g = 0; g < metadata->num_row_groups(); ++g) {
        summary.row_group_offsets.push_back(GroupOffset(*metadata->RowGroup(g)));
      }
      const ::arrow::Status closed = stream_->Close();
      if (!closed.ok()) throw pq::ParquetStatusException(closed);
      file_.reset();
    } catch (const std::exception& e) {
      return Failure(e);
    }
    DRIFTLESS_TRY(target_->Finish());
    summary.rows = rows_;
    summary.bytes = target_->size();
    return summary;
  }

 private:
  Error Failure(const std::exception& e) const {
    if (failure_.error) return *failure_.error;
    return MakeError(ErrorKind::kInternal, std::string("writing Parquet failed: ") + e.what());
  }

  Result<void> WriteColumn(pq::RowGroupWriter* group, const ParquetColumn& column,
                           const SchemaNode& shape, const EncodeInput& input) {
    switch (column.source) {
      case ParquetColumn::Source::kSequence: {
        auto* writer = static_cast<pq::Int64Writer*>(group->NextColumn());
        for (size_t at = 0; at < input.sequences.size(); at += kChunkRows) {
          const size_t n = std::min(kChunkRows, input.sequences.size() - at);
          writer->WriteBatch(static_cast<int64_t>(n), nullptr, nullptr,
                             input.sequences.data() + at);
        }
        writer->Close();
        return {};
      }
      case ParquetColumn::Source::kRowKind: {
        auto* writer = static_cast<pq::Int32Writer*>(group->NextColumn());
        auto* kinds = Scratch<int32_t>();
        for (size_t at = 0; at < input.rows.size(); at += kChunkRows) {
          const size_t n = std::min(kChunkRows, input.rows.size() - at);
          for (size_t i = 0; i < n; ++i) kinds[i] = static_cast<int32_t>(input.rows[at + i].kind);
          writer->WriteBatch(static_cast<int64_t>(n), nullptr, nullptr, kinds);
        }
        writer->Close();
        return {};
      }
      case ParquetColumn::Source::kImage: break;
    }
    const ColumnInput source(input, column.image_column);
    bool valid = true;
    if (shape.leaf < 0) {
      valid = WriteNested(group, shape, source, input.rows);
    } else if (shape.form == LeafForm::kDecimalBytes) {
      size_t used = 0;
      decimal_bytes_.resize(kChunkRows * static_cast<size_t>(shape.fixed_length));
      valid = WriteFlat(group, shape, source, input.rows,
                        AsDecimalBytes{shape.fixed_length, decimal_bytes_.data(), &used}, &used);
    } else {
      size_t unused = 0;
      VisitForm(shape.form, [&](auto convert) {
        valid = WriteFlat(group, shape, source, input.rows, convert, &unused);
      });
    }
    if (!valid) {
      return MakeError(ErrorKind::kInvalidInput,
                       "column " + column.name + " is NOT NULL, but a row has no value for it");
    }
    return {};
  }

  // Scratch for one chunk of one column; the columns of a file take turns.
  template <typename T>
  T* Scratch() {
    scratch_.resize(kChunkRows * sizeof(T) / sizeof(uint64_t) + 2);
    return reinterpret_cast<T*>(scratch_.data());
  }

  // Returns false when a NOT NULL column has a null in a row that does not retract.
  template <typename Convert>
  bool WriteFlat(pq::RowGroupWriter* group, const SchemaNode& shape, const ColumnInput& source,
                 std::span<const RowRef> rows, const Convert& convert, size_t* decimals_used) {
    using ParquetType = typename Convert::Type;
    using T = typename ParquetType::c_type;
    auto* writer = static_cast<pq::TypedColumnWriter<ParquetType>*>(group->NextColumn());
    T* values = Scratch<T>();
    levels_.resize(kChunkRows);
    bool valid = true;
    for (size_t at = 0; at < rows.size(); at += kChunkRows) {
      const size_t n = std::min(kChunkRows, rows.size() - at);
      size_t filled = 0;
      *decimals_used = 0;
      if (shape.nullable) {
        for (size_t i = 0; i < n; ++i) {
          const RowRef ref = rows[at + i];
          const ColumnView* view = source.Find(ref);
          levels_[i] = view != nullptr ? 1 : 0;
          if (view != nullptr) values[filled++] = convert(*view, ref.row);
        }
        writer->WriteBatch(static_cast<int64_t>(n), levels_.data(), nullptr, values);
      } else {
        for (size_t i = 0; i < n; ++i) {
          const RowRef ref = rows[at + i];
          const ColumnView* view = source.Find(ref);
          if (view != nullptr) {
            values[filled++] = convert(*view, ref.row);
          } else {
            valid &= IsRetract(ref.row_kind());
            values[filled++] = ZeroValue<T>();
          }
        }
        writer->WriteBatch(static_cast<int64_t>(n), nullptr, nullptr, values);
      }
    }
    writer->Close();
    return valid;
  }

  // --- Nested columns: Dremel levels for each leaf, then leaf by leaf ---

  struct LeafValues {
    const SchemaNode* shape = nullptr;
    std::vector<int16_t> definitions;
    std::vector<int16_t> repetitions;
    std::vector<std::pair<const ColumnView*, int64_t>> values;
  };

  static void CollectLeaves(const SchemaNode& node, std::vector<LeafValues>* leaves) {
    if (node.leaf >= 0) {
      leaves->emplace_back();
      leaves->back().shape = &node;
      return;
    }
    for (const SchemaNode& child : node.children) CollectLeaves(child, leaves);
  }

  static void EmitEmpty(const SchemaNode& node, int16_t def, int16_t rep, LeafValues** leaf) {
    if (node.leaf >= 0) {
      (*leaf)->definitions.push_back(def);
      (*leaf)->repetitions.push_back(rep);
      ++*leaf;
      return;
    }
    for (const SchemaNode& child : node.children) EmitEmpty(child, def, rep, leaf);
  }

  static LeafValues* SkipLeaves(const SchemaNode& node, LeafValues* leaf) {
    if (node.leaf >= 0) return leaf + 1;
    for (const SchemaNode& child : node.children) leaf = SkipLeaves(child, leaf);
    return leaf;
  }

  // Shreds one value; `view` null means null. Returns false for a null in a required node.
  static bool Shred(const SchemaNode& node, const ColumnView* view, int64_t row, int16_t rep,
                    LeafValues* leaf) {
    if (view == nullptr || view->IsNull(row)) {
      if (!node.nullable) return false;
      EmitEmpty(node, static_cast<int16_t>(node.present_level - 1), rep, &leaf);
      return true;
    }
    if (node.leaf >= 0) {
      leaf->definitions.push_back(node.present_level);
      leaf->repetitions.push_back(rep);
      leaf->values.emplace_back(view, row);
      return true;
    }
    if (node.type.kind() == TypeKind::kRow) {
      bool valid = true;
      for (size_t i = 0; i < node.children.size(); ++i) {
        valid &= Shred(node.children[i], &view->children[i], row, rep, leaf);
        leaf = SkipLeaves(node.children[i], leaf);
      }
      return valid;
    }
    const int32_t begin = view->offsets[row];
    const int32_t end = view->offsets[row + 1];
    if (begin == end) {
      EmitEmpty(node, node.present_level, rep, &leaf);
      return true;
    }
    bool valid = true;
    for (int32_t element = begin; element < end; ++element) {
      const int16_t element_rep = element == begin ? rep : node.repeat_level;
      if (node.type.kind() == TypeKind::kArray) {
        valid &= Shred(node.children[0], &view->children[0], element, element_rep, leaf);
      } else {
        const ColumnView& entry = view->children[0];
        valid &= Shred(node.children[0], &entry.children[0], element, element_rep, leaf);
        valid &= Shred(node.children[1], &entry.children[1], element, element_rep,
                       SkipLeaves(node.children[0], leaf));
      }
    }
    return valid;
  }

  bool WriteNested(pq::RowGroupWriter* group, const SchemaNode& shape, const ColumnInput& source,
                   std::span<const RowRef> rows) {
    std::vector<LeafValues> leaves;
    CollectLeaves(shape, &leaves);
    bool valid = true;
    for (const RowRef ref : rows) {
      const ColumnView* view = source.Find(ref);
      if (view == nullptr && !shape.nullable && IsRetract(ref.row_kind())) {
        // An empty list or a row of nothing; what a retraction holds here is never read.
        LeafValues* leaf = leaves.data();
        EmitEmpty(shape, shape.present_level, 0, &leaf);
        continue;
      }
      valid &= Shred(shape, view, ref.row, 0, leaves.data());
    }
    if (!valid) return false;
    for (LeafValues& leaf : leaves) WriteLeaf(group, leaf);
    return true;
  }

  void WriteLeaf(pq::RowGroupWriter* group, const LeafValues& leaf) {
    const auto write = [&](const auto& convert) {
      using ParquetType = typename std::decay_t<decltype(convert)>::Type;
      using T = typename ParquetType::c_type;
      auto* writer = static_cast<pq::TypedColumnWriter<ParquetType>*>(group->NextColumn());
      const auto values = std::make_unique<T[]>(leaf.values.size() + 1);
      for (size_t i = 0; i < leaf.values.size(); ++i) {
        values[i] = convert(*leaf.values[i].first, leaf.values[i].second);
      }
      writer->WriteBatch(static_cast<int64_t>(leaf.definitions.size()), leaf.definitions.data(),
                         leaf.repetitions.data(), values.get());
      writer->Close();
    };
    if (leaf.shape->form == LeafForm::kDecimalBytes) {
      size_t used = 0;
      const int32_t length = leaf.shape->fixed_length;
      std::vector<uint8_t> bytes((leaf.values.size() + 1) * static_cast<size_t>(length));
      write(AsDecimalBytes{length, bytes.data(), &used});
    } else {
      VisitForm(leaf.shape->form, write);
    }
  }

  // --- Bounds from the footer ---

  template <typename ParquetType, typename Take>
  static void MergeBounds(const pq::Statistics& statistics, Take take, ColumnBounds* bounds) {
    const auto& typed = static_cast<const pq::TypedStatistics<ParquetType>&>(statistics);
    auto low = take(typed.min());
    auto high = take(typed.max());
    using Value = decltype(low);
    if (!bounds->has_bounds || low < std::get<Value>(bounds->min)) bounds->min = low;
    if (!bounds->has_bounds || std::get<Value>(bounds->max) < high) bounds->max = high;
    bounds->has_bounds = true;
  }

  static int64_t ColumnBytes(const pq::FileMetaData& metadata, const BuiltColumn& built) {
    int64_t bytes = 0;
    for (int g = 0; built.shape.leaf >= 0 && g < metadata.num_row_groups(); ++g) {
      bytes += metadata.RowGroup(g)->ColumnChunk(built.shape.leaf)->total_compressed_size();
    }
    return bytes;
  }

  // The first page of the first column, which may be its dictionary.
  static int64_t GroupOffset(const pq::RowGroupMetaData& group) {
    const auto chunk = group.ColumnChunk(0);
    const int64_t data = chunk->data_page_offset();
    return chunk->has_dictionary_page() ? std::min(data, chunk->dictionary_page_offset()) : data;
  }

  static ColumnBounds Bounds(const pq::FileMetaData& metadata, const BuiltColumn& built) {
    ColumnBounds bounds;
    if (built.shape.leaf < 0) return bounds;
    bounds.null_count = 0;
    for (int g = 0; g < metadata.num_row_groups(); ++g) {
      const auto chunk = metadata.RowGroup(g)->ColumnChunk(built.shape.leaf);
      const std::shared_ptr<pq::Statistics> statistics = chunk->statistics();
      if (statistics == nullptr) return {};
      *bounds.null_count += statistics->null_count();
      const bool all_null = statistics->null_count() == chunk->num_values();
      if (!statistics->HasMinMax()) {
        if (all_null) continue;
        // One group without bounds: the file has none.
        for (int rest = g + 1; rest < metadata.num_row_groups(); ++rest) {
          const auto other = metadata.RowGroup(rest)->ColumnChunk(built.shape.leaf)->statistics();
          if (other == nullptr) return {};
          *bounds.null_count += other->null_count();
        }
        bounds.has_bounds = false;
        return bounds;
      }
      switch (statistics->physical_type()) {
        case pq::Type::BOOLEAN:
          MergeBounds<pq::BooleanType>(
              *statistics, [](bool v) { return static_cast<int64_t>(v); }, &bounds);
          break;
        case pq::Type::INT32:
          MergeBounds<pq::Int32Type>(
              *statistics, [](int32_t v) { return static_cast<int64_t>(v); }, &bounds);
          break;
        case pq::Type::INT64:
          MergeBounds<pq::Int64Type>(*statistics, [](int64_t v) { return v; }, &bounds);
          break;
        case pq::Type::FLOAT:
          MergeBounds<pq::FloatType>(
              *statistics, [](float v) { return static_cast<double>(v); }, &bounds);
          break;
        case pq::Type::DOUBLE:
          MergeBounds<pq::DoubleType>(*statistics, [](double v) { return v; }, &bounds);
          break;
        case pq::Type::BYTE_ARRAY:
          MergeBounds<pq::ByteArrayType>(
              *statistics,
              [](const pq::ByteArray& v) {
                return std::string(reinterpret_cast<const char*>(v.ptr), v.len);
              },
              &bounds);
          break;
        default: return bounds;  // decimals in bytes need a signed order; nobody asks for them
      }
    }
    return bounds;
  }

  std::unique_ptr<ObjectWriter> target_;
  StreamFailure failure_;
  std::shared_ptr<::arrow::io::OutputStream> stream_;
  std::vector<ParquetColumn> columns_;
  std::vector<BuiltColumn> built_;
  std::unique_ptr<pq::ParquetFileWriter> file_;
  int64_t rows_ = 0;
  std::vector<uint64_t> scratch_;
  std::vector<int16_t> levels_;
  std::vector<uint8_t> decimal_bytes_;
};

}  // namespace

Result<std::unique_ptr<ParquetEncoder>> ParquetEncoder::Open(std::unique_ptr<ObjectWriter> target,
                                                             const ParquetDialect& dialect,
                                                             std::vector<ParquetColumn> columns,
                                                             const EncodeSettings& settings,
                                                             const EncodeInput& first) {
  DRIFTLESS_ASSIGN_OR_RETURN(const auto compression, ParseCompression(settings.compression));
  std::vector<BuiltColumn> built;
  pq::schema::NodeVector nodes;
  int next_leaf = 0;
  for (const ParquetColumn& column : columns) {
    DRIFTLESS_ASSIGN_OR_RETURN(BuiltColumn one, BuildColumn(column, dialect, &next_leaf));
    nodes.push_back(one.node);
    built.push_back(std::move(one));
  }
  try {
    auto schema = std::static_pointer_cast<pq::schema::GroupNode>(
        pq::schema::GroupNode::Make(dialect.root_name, pq::Repetition::REQUIRED, nodes));
    pq::WriterProperties::Builder properties;
    properties.compression(compression)
        ->data_pagesize(kParquetPageBytes)
        ->max_rows_per_page(1 << 20)
        ->dictionary_pagesize_limit(static_cast<int64_t>(2 * kDictionaryMaxBytes))
        ->max_row_group_length(INT64_MAX)
        ->disable_dictionary()
        ->created_by("driftless");
    if (compression == ::arrow::Compression::ZSTD)
      properties.compression_level(settings.zstd_level);
    for (size_t i = 0; i < columns.size(); ++i) {
      ChooseEncoding(columns[i], built[i], first, settings.plain_only, &properties);
    }
    auto encoder =
        std::make_unique<Encoder>(std::move(target), std::move(columns), std::move(built));
    encoder->Start(std::move(schema), properties.build());
    return std::unique_ptr<ParquetEncoder>(std::move(encoder));
  } catch (const std::exception& e) {
    return MakeError(ErrorKind::kInternal,
                     std::string("opening a Parquet file failed: ") + e.what());
  }
}

}  // namespace driftless::lake
