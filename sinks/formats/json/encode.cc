#include "sinks/formats/message_encoder.h"
#include "sinks/formats/row_json/key_encode.h"
#include "sinks/formats/row_json/row_json.h"

namespace driftless {
namespace {

class JsonEncoder : public MessageEncoder {
 public:
  JsonEncoder(const EvolvedSchema& table, const EncoderOptions& options)
      : rows_(table, {.date_time_separator = options.date_time_separator,
                      .ignore_null_fields = options.ignore_null_fields}),
        keys_(table, options.key_format,
              options.key_has_table ? KeyEncoder::Style::kFlinkCdc : KeyEncoder::Style::kPlain) {}

  void Encode(const ProjectedBatch& batch, EncodedMessages* out) override {
    EncodeRows(batch, keys_, out, [&](uint32_t row, std::string* bytes) {
      if (batch.source().ops()[row] == Op::kDelete) return false;
      rows_.Append(batch.after(), row, bytes);
      return true;
    });
  }

 private:
  const RowJson rows_;
  const KeyEncoder keys_;
};

}  // namespace

std::unique_ptr<MessageEncoder> MakeJsonEncoder(const EvolvedSchema& table,
                                                const EncoderOptions& options) {
  return std::make_unique<JsonEncoder>(table, options);
}

}  // namespace driftless
