#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/events/schema_change.h"
#include "schema/plan/schema_plan.h"
#include "sinks/api/projected_batch.h"

namespace driftless {

// The messages of one batch, keys and values one after the other in one buffer.
struct EncodedMessages {
  struct Message {
    uint32_t row = 0;  // in the batch
    size_t key_begin = 0;
    size_t value_begin = 0;  // the key ends here
    size_t value_end = 0;
    bool has_key = false;
    bool is_tombstone = false;  // the value is null, not empty
  };
  std::string bytes;
  std::vector<Message> messages;

  void Clear() {
    bytes.clear();
    messages.clear();
  }
  std::string_view key(const Message& m) const {
    return std::string_view(bytes).substr(m.key_begin, m.value_begin - m.key_begin);
  }
  std::string_view value(const Message& m) const {
    return std::string_view(bytes).substr(m.value_begin, m.value_end - m.value_begin);
  }
};

enum class KeyFormat : uint8_t { kJson, kCsv };

// What an encoder is made for.
struct EncoderOptions {
  KeyFormat key_format = KeyFormat::kJson;
  bool include_schema = false;      // debezium-json: {schema, payload}
  bool full_table_id = false;       // debezium-json: db, schema and table in `source`
  bool key_has_table = true;        // json: whether keys begin with the table's name
  bool ignore_null_fields = false;  // fields that are NULL are left out
  char date_time_separator = ' ';   // 'T': ISO-8601
  std::string name;                 // debezium-json: the prefix of schema names
};

// Writes change messages of one sink table. One thread; work is per batch.
class MessageEncoder {
 public:
  virtual ~MessageEncoder() = default;
  // Appends one message per row of the batch (plain json: a tombstone for a delete).
  virtual void Encode(const ProjectedBatch& batch, EncodedMessages* out) = 0;
};

std::unique_ptr<MessageEncoder> MakeDebeziumJsonEncoder(const EvolvedSchema& table,
                                                        const EncoderOptions& options);
std::unique_ptr<MessageEncoder> MakeCanalJsonEncoder(const EvolvedSchema& table,
                                                     const EncoderOptions& options);
std::unique_ptr<MessageEncoder> MakeMaxwellJsonEncoder(const EvolvedSchema& table,
                                                       const EncoderOptions& options);
// Rows alone: the key is the primary key, the value the row, a delete a tombstone.
std::unique_ptr<MessageEncoder> MakeJsonEncoder(const EvolvedSchema& table,
                                                const EncoderOptions& options);

// The message of a statement, in the form of the format's own programs: Debezium's schema-change
// record, Canal's DDL message, Maxwell's with output_ddl. False: the statement says nothing that a
// reader could use.
bool EncodeDebeziumStatement(const StatementChange& change, const EncoderOptions& options,
                             std::string* value);
bool EncodeCanalStatement(const StatementChange& change, std::string* value);
bool EncodeMaxwellStatement(const StatementChange& change, std::string* value);

}  // namespace driftless
