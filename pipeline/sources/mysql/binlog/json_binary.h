#pragma once

#include <string>
#include <string_view>

namespace driftless::mysql {

// MySQL's binary JSON (sql-common/json_binary.h describes it) as the text that the server prints.
// An empty document is NULL's text "null": older servers log it where a column was added.
// False where the bytes are no such document; what was appended must be thrown away then.
bool AppendJsonText(std::string_view document, std::string* out);

// The same after the differences of a PARTIAL_UPDATE_ROWS event (binlog_row_value_options) were
// applied to the document.
bool AppendPatchedJsonText(std::string_view document, std::string_view differences,
                           std::string* out);

}  // namespace driftless::mysql
