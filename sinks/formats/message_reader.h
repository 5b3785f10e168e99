#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sinks/formats/debezium_json/decode.h"

namespace driftless {

// Takes messages of one format apart into the same records as Debezium's (debezium::RecordReader is
// the reader of those). Keeps buffers between messages; one thread.
class MessageReader {
 public:
  virtual ~MessageReader() = default;
  // Reads a message; `value` is followed by kJsonPadding readable bytes, an empty one is a
  // tombstone. `topic` and `key` are empty where lines of a file are read. False where it is none
  // of the format: fault() says why, fault_offset() where in the value (0-based). The record's
  // views live until the next message.
  virtual bool Read(std::string_view topic, std::string_view key, std::string_view value,
                    debezium::Record* record) = 0;
  // Canal's messages hold several rows: goes on to the next one. False: there is none, or (where
  // failed() says so) the message is malformed behind the row before.
  virtual bool NextRow(debezium::Record*) { return false; }
  bool failed() const { return failed_; }

  const char* fault() const { return fault_; }
  size_t fault_offset() const { return fault_offset_; }

 protected:
  bool Fail(const char* fault, size_t offset = 0) {
    fault_ = fault;
    fault_offset_ = offset;
    failed_ = true;
    return false;
  }
  // The string at the cursor, null as an empty one; goes past it.
  bool ReadText(JsonCursor* cursor, std::string* scratch, std::string_view* text);
  bool ReadNumber(JsonCursor* cursor, int64_t* number);

  bool failed_ = false;

 private:
  const char* fault_ = "";
  size_t fault_offset_ = 0;
};

// Flat messages of Canal (canal.mq.flatMessage=true), and of programs that write its form.
std::unique_ptr<MessageReader> MakeCanalReader();
// Maxwell's rows, and its statements (output_ddl=true).
std::unique_ptr<MessageReader> MakeMaxwellReader();

// How plain rows name their table.
struct PlainJsonOptions {
  // Fields whose values, joined by dots, are the table's name; empty: the topic's name is.
  std::vector<std::string> table_fields;
  std::string table;  // for lines of files, which have no topic
};
// Rows alone: each is the newest state of its key; a tombstone deletes the key's row.
std::unique_ptr<MessageReader> MakePlainJsonReader(PlainJsonOptions options);

}  // namespace driftless
