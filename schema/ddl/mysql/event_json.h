#pragma once

#include <string>

#include "schema/ddl/mysql/catalog.h"

namespace driftless::mysql {

// The effect of a statement as JSON: `"events":[...]`, and where there are any, `"meta":[...]`
// (what changed without an event of its own: key, defaults, attributes, charsets) and
// `"rows_change_without_row_events":true`. Without the braces around it. Every event can be
// replayed by itself: names in it are those of its moment.
std::string EffectJson(const StatementEffect& effect, const ServerSettings& settings);

// The text as a JSON string, quotes included. Bytes that are no UTF-8 become U+FFFD.
std::string JsonString(std::string_view text);

}  // namespace driftless::mysql
