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
    std::string& bytes = out->bytes;
    for (const uint32_t row : batch.rows()) {
      EncodedMessages::Message message;
      message.row = row;
      message.key_begin = bytes.size();
      message.has_key = keys_.Append(KeyImage(batch, row), row, &bytes);
      message.value_begin = bytes.size();
      message.is_tombstone = batch.source().ops()[row] == Op::kDelete;
      if (!message.is_tombstone) rows_.Append(batch.after(), row, &bytes);
      message.value_end = bytes.size();
      out->messages.push_back(message);
    }
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
