#include "pipeline/sources/mysql/binlog/gtid_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pipeline/sources/mysql/binlog/byte_reader.h"
#include "schema/base/letter_case.h"

namespace driftless::mysql {
namespace {

constexpr uint64_t kMaxNumber = 0x7fffffffffffffff;
constexpr size_t kMaxTag = 32;

Error BadSet(std::string_view part) {
  return MakeError(ErrorKind::kInvalidInput, fmt::format("\"{}\" is not part of a GTID set", part))
      .Hint("write uuid:1-5:7,uuid:9, with a tag uuid:tag:1-5");
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

template <typename Number>
bool ReadNumber(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Takes the text up to the separator off the front.
std::string_view Take(std::string_view* text, char separator) {
  const size_t end = text->find(separator);
  const std::string_view part = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return part;
}

bool ReadInterval(std::string_view text, GtidSet::Interval* interval) {
  const size_t dash = text.find('-');
  if (!ReadNumber(text.substr(0, dash), &interval->begin)) return false;
  interval->end = interval->begin;
  if (dash != std::string_view::npos && !ReadNumber(text.substr(dash + 1), &interval->end)) {
    return false;
  }
  if (interval->begin < 1 || interval->end > kMaxNumber) return false;
  ++interval->end;
  return true;  // an interval that ends before it begins is empty, as at the server
}

bool IsTag(std::string_view text) {
  if (text.empty() || text.size() > kMaxTag) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || c == '_';
    if (!letter && (i == 0 || c < '0' || c > '9')) return false;
  }
  return true;
}

void AppendLittle(uint64_t value, int bytes, std::string* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

using Intervals = std::vector<GtidSet::Interval>;

bool Covers(const Intervals& all, const GtidSet::Interval& part) {
  const auto at = std::upper_bound(all.begin(), all.end(), part.begin,
                                   [](uint64_t number, const auto& i) { return number < i.begin; });
  return at != all.begin() && std::prev(at)->end >= part.end;
}

}  // namespace

std::string UuidText(const Uuid& uuid) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += kDigits[uuid[i] >> 4];
    text += kDigits[uuid[i] & 15];
  }
  return text;
}

bool ParseUuid(std::string_view text, Uuid* uuid) {
  size_t digits = 0;
  for (const char c : text) {
    if (c == '-') continue;
    const int digit = HexDigit(c);
    if (digit < 0 || digits == 32) return false;
    uint8_t& byte = (*uuid)[digits / 2];
    byte = static_cast<uint8_t>(digits % 2 == 0 ? digit << 4 : byte | digit);
    ++digits;
  }
  return digits == 32;
}

std::string Gtid::ToString() const {
  std::string text = UuidText(source.uuid);
  if (!source.tag.empty()) text += ":" + source.tag;
  return text + ":" + std::to_string(number);
}

Result<GtidSet> GtidSet::Parse(std::string_view text) {
  std::string compact;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\r' && c != '\t') compact += c;
  }
  compact = LowerCase(compact);
  GtidSet set;
  std::string_view rest = compact;
  while (!rest.empty()) {
    std::string_view entry = Take(&rest, ',');
    if (entry.empty()) continue;
    GtidSource source;
    const std::string_view uuid = Take(&entry, ':');
    if (!ParseUuid(uuid, &source.uuid) || entry.empty()) return BadSet(uuid);
    while (!entry.empty()) {
      const std::string_view part = Take(&entry, ':');
      Interval interval;
      if (IsTag(part)) {
        source.tag = part;
      } else if (ReadInterval(part, &interval)) {
        set.Add(source, interval);
      } else {
        return BadSet(part);
      }
    }
  }
  return set;
}

std::string GtidSet::ToString() const {
  std::string text;
  const Uuid* last = nullptr;
  for (const auto& [source, intervals] : sources_) {
    if (last == nullptr || *last != source.uuid) {
      text += (text.empty() ? "" : ",") + UuidText(source.uuid);
      last = &source.uuid;
    }
    if (!source.tag.empty()) text += ":" + source.tag;
    for (const Interval& interval : intervals) {
      text += ":" + std::to_string(interval.begin);
      if (interval.end - interval.begin > 1) text += "-" + std::to_string(interval.end - 1);
    }
  }
  return text;
}

void GtidSet::Add(const GtidSource& source, Interval interval) {
  if (interval.begin >= interval.end) return;
  Intervals& all = sources_[source];
  // The way of every transaction that is the next one.
  if (!all.empty() && all.back().end == interval.begin) {
    all.back().end = interval.end;
    return;
  }
  auto first = std::lower_bound(all.begin(), all.end(), interval.begin,
                                [](const Interval& i, uint64_t begin) { return i.end < begin; });
  auto last = first;
  while (last != all.end() && last->begin <= interval.end) {
    interval.begin = std::min(interval.begin, last->begin);
    interval.end = std::max(interval.end, last->end);
    ++last;
  }
  first = all.erase(first, last);
  all.insert(first, interval);
}

void GtidSet::Union(const GtidSet& other) {
  for (const auto& [source, intervals] : other.sources_) {
    for (const Interval& interval : intervals) Add(source, interval);
  }
}

void GtidSet::Subtract(const GtidSet& other) {
  for (const auto& [source, removed] : other.sources_) {
    const auto found = sources_.find(source);
    if (found == sources_.end()) continue;
    Intervals left;
    for (Interval have : found->second) {
      for (const Interval& gone : removed) {
        if (gone.end <= have.begin || gone.begin >= have.end) continue;
        if (gone.begin > have.begin) left.push_back({have.begin, gone.begin});
        have.begin = std::min(gone.end, have.end);
      }
      if (have.begin < have.end) left.push_back(have);
    }
    if (left.empty()) {
      sources_.erase(found);
    } else {
      found->second = std::move(left);
    }
  }
}

bool GtidSet::Contains(const Gtid& gtid) const {
  const auto found = sources_.find(gtid.source);
  return found != sources_.end() && Covers(found->second, {gtid.number, gtid.number + 1});
}

bool GtidSet::Contains(const GtidSet& other) const {
  for (const auto& [source, intervals] : other.sources_) {
    const auto found = sources_.find(source);
    if (found == sources_.end()) return false;
    for (const Interval& interval : intervals) {
      if (!Covers(found->second, interval)) return false;
    }
  }
  return true;
}

std::string GtidSet::Encode() const {
  bool tagged = false;
  for (const auto& [source, unused] : sources_) tagged = tagged || !source.tag.empty();
  std::string out;
  if (tagged) {
    out += '\1';
    AppendLittle(sources_.size(), 6, &out);
    out += '\1';
  } else {
    AppendLittle(sources_.size(), 8, &out);
  }
  for (const auto& [source, intervals] : sources_) {
    out.append(reinterpret_cast<const char*>(source.uuid.data()), source.uuid.size());
    if (tagged) {
      out += static_cast<char>(source.tag.size() << 1);
      out += source.tag;
    }
    AppendLittle(intervals.size(), 8, &out);
    for (const Interval& interval : intervals) {
      AppendLittle(interval.begin, 8, &out);
      AppendLittle(interval.end, 8, &out);
    }
  }
  return out;
}

Result<GtidSet> GtidSet::Decode(std::string_view bytes) {
  ByteReader reader(bytes);
  const uint64_t head = reader.U64();
  const bool tagged = (head >> 56) == 1;
  const uint64_t count = tagged ? (head >> 8) & 0xffffffffffff : head;
  GtidSet set;
  for (uint64_t i = 0; i < count && !reader.failed(); ++i) {
    GtidSource source;
    const std::string_view uuid = reader.Bytes(source.uuid.size());
    if (reader.failed()) break;
    std::memcpy(source.uuid.data(), uuid.data(), uuid.size());
    if (tagged) source.tag = reader.Bytes(reader.U8() >> 1);
    const uint64_t intervals = reader.U64();
    for (uint64_t j = 0; j < intervals && !reader.failed(); ++j) {
      Interval interval;
      interval.begin = reader.U64();
      interval.end = reader.U64();
      if (interval.begin < 1 || interval.begin >= interval.end) reader.Fail();
      if (!reader.failed()) set.Add(source, interval);
    }
  }
  if (reader.failed() || reader.remaining() != 0) {
    return MakeError(ErrorKind::kInvalidInput,
                     fmt::format("a GTID set of {} bytes is malformed", bytes.size()));
  }
  return set;
}

std::string MariaGtid::ToString() const {
  return fmt::format("{}-{}-{}", domain, server, sequence);
}

Result<MariaGtidList> MariaGtidList::Parse(std::string_view text) {
  MariaGtidList list;
  while (!text.empty()) {
    std::string_view part = Take(&text, ',');
    const auto is_blank = [](char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; };
    while (!part.empty() && is_blank(part.front())) part.remove_prefix(1);
    while (!part.empty() && is_blank(part.back())) part.remove_suffix(1);
    if (part.empty()) continue;
    const std::string_view whole = part;
    MariaGtid gtid;
    const bool ok = ReadNumber(Take(&part, '-'), &gtid.domain) &&
                    ReadNumber(Take(&part, '-'), &gtid.server) && ReadNumber(part, &gtid.sequence);
    if (!ok) {
      return MakeError(ErrorKind::kInvalidInput, fmt::format("\"{}\" is no MariaDB GTID", whole))
          .Hint("write domain-server-sequence, as in 0-1-42");
    }
    list.Advance(gtid);
  }
  return list;
}

std::string MariaGtidList::ToString() const {
  std::string text;
  for (const auto& [unused, gtid] : last_) text += (text.empty() ? "" : ",") + gtid.ToString();
  return text;
}

bool MariaGtidList::Contains(const MariaGtid& gtid) const {
  const auto found = last_.find(gtid.domain);
  return found != last_.end() && found->second.sequence >= gtid.sequence;
}

bool MariaGtidList::Contains(const MariaGtidList& other) const {
  return std::all_of(other.last_.begin(), other.last_.end(),
                     [&](const auto& entry) { return Contains(entry.second); });
}

void MariaGtidList::Union(const MariaGtidList& other) {
  for (const auto& [unused, gtid] : other.last_) {
    if (!Contains(gtid)) Advance(gtid);
  }
}

}  // namespace driftless::mysql
