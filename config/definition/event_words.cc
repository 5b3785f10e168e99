#include "config/definition/event_words.h"

#include <fmt/format.h>

#include "config/options/suggest.h"

namespace driftless {

std::optional<std::set<EventKind>> ReadEventWord(std::string_view key, std::string_view word,
                                                 Location at, Problems* problems) {
  std::optional<std::set<EventKind>> events = EventsNamed(word);
  if (events) return events;
  std::string hint = Suggest(word, EventWords());
  if (word == Tag(EventKind::kTightenNullability)) {
    hint = "NULLABLE to NOT NULL never becomes an event at a sink.";
  } else if (hint.empty()) {
    hint = fmt::format("Tags and families are: {}.", fmt::join(EventWords(), ", "));
  }
  problems->AddError(at, fmt::format("\"{}\": unknown event \"{}\"", key, word), std::move(hint));
  return std::nullopt;
}

std::set<EventKind> ReadEventWords(std::string_view key, const OptionValues::Value& list,
                                   Problems* problems) {
  std::set<EventKind> events;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const Location at = i < list.item_locations.size() ? list.item_locations[i] : list.location;
    if (auto named = ReadEventWord(key, list.items[i], at, problems)) {
      events.insert(named->begin(), named->end());
    }
  }
  return events;
}

}  // namespace driftless
