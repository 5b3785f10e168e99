#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "schema/plan/schema_plan.h"
#include "sinks/api/projected_batch.h"
#include "sinks/formats/message_encoder.h"
#include "sinks/formats/row_json/row_json.h"

namespace driftless {

// Writes message keys: equal keys have equal bytes, whatever the batch (topics are compacted and
// partitions chosen by them).
class KeyEncoder {
 public:
  enum class Style : uint8_t {
    kFlinkCdc,  // {"TableId":"shop.orders","id":7}; without a key: the table alone
    kPlain,     // {"id":7}
    kMaxwell,   // {"database":"shop","table":"orders","pk.id":7}
  };
  KeyEncoder(const EvolvedSchema& table, KeyFormat format, Style style);

  // False: this table has no key to write.
  bool Append(std::span<const ColumnView> columns, int64_t row, std::string* out) const;

 private:
  const KeyFormat format_;
  RowJson values_;
  std::string prefix_;           // everything before the first value's key
  std::vector<size_t> columns_;  // of the table
  std::vector<LogicalType> types_;
  std::vector<std::string> names_;  // `"id":`
  bool has_key_ = true;
};

// The image that a row's key is read from: what was, for a delete; else what is.
inline std::span<const ColumnView> KeyImage(const ProjectedBatch& batch, uint32_t row) {
  return batch.source().ops()[row] == Op::kDelete ? batch.before() : batch.after();
}

// One message for each row of a batch: its key, and what `append_value(row, &bytes)` appends. That
// returns false for a value that is null, a tombstone.
template <typename AppendValue>
void EncodeRows(const ProjectedBatch& batch, const KeyEncoder& keys, EncodedMessages* out,
                const AppendValue& append_value) {
  std::string& bytes = out->bytes;
  for (const uint32_t row : batch.rows()) {
    EncodedMessages::Message message;
    message.row = row;
    message.key_begin = bytes.size();
    message.has_key = keys.Append(KeyImage(batch, row), row, &bytes);
    message.value_begin = bytes.size();
    message.is_tombstone = !append_value(row, &bytes);
    message.value_end = bytes.size();
    out->messages.push_back(message);
  }
}

// `shop.orders`, missing parts left out.
std::string TableIdText(const TablePath& path);

}  // namespace driftless
