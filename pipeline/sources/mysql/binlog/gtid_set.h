#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless::mysql {

using Uuid = std::array<uint8_t, 16>;
std::string UuidText(const Uuid& uuid);  // lower case, with hyphens
// Hyphens are optional. False where it is none.
bool ParseUuid(std::string_view text, Uuid* uuid);

// Who made a transaction: a server and, from MySQL 8.3 on, a tag (lower case, may be empty).
struct GtidSource {
  Uuid uuid{};
  std::string tag;
  friend auto operator<=>(const GtidSource&, const GtidSource&) = default;
};

struct Gtid {
  GtidSource source;
  uint64_t number = 0;
  std::string ToString() const;  // "uuid:7", "uuid:tag:7"
};

// A set of MySQL's transaction ids (Reference Manual 8.4, 19.1.3.1, "GTID Sets").
class GtidSet {
 public:
  struct Interval {
    uint64_t begin = 0;  // inclusive
    uint64_t end = 0;    // exclusive
    friend bool operator==(const Interval&, const Interval&) = default;
  };

  // "uuid:1-5:8:tag:1-3,\nuuid2:7"; blanks and either case are accepted, empty text is the empty
  // set. Errors: kInvalidInput.
  static Result<GtidSet> Parse(std::string_view text);
  std::string ToString() const;

  void Add(const Gtid& gtid) { Add(gtid.source, {gtid.number, gtid.number + 1}); }
  void Add(const GtidSource& source, Interval interval);
  void Union(const GtidSet& other);
  void Subtract(const GtidSet& other);
  bool Contains(const Gtid& gtid) const;
  bool Contains(const GtidSet& other) const;
  bool empty() const { return sources_.empty(); }
  // Sorted, never empty, never touching.
  const std::map<GtidSource, std::vector<Interval>>& sources() const { return sources_; }

  // The encoding of COM_BINLOG_DUMP_GTID; the tagged form only where a tag is there.
  std::string Encode() const;
  static Result<GtidSet> Decode(std::string_view bytes);

  friend bool operator==(const GtidSet&, const GtidSet&) = default;

 private:
  std::map<GtidSource, std::vector<Interval>> sources_;
};

struct MariaGtid {
  uint32_t domain = 0;
  uint32_t server = 0;
  uint64_t sequence = 0;
  std::string ToString() const;  // "0-1-42"
  friend bool operator==(const MariaGtid&, const MariaGtid&) = default;
};

// A position in MariaDB's logs: the last transaction of each domain (Knowledge Base, "Global
// Transaction ID").
class MariaGtidList {
 public:
  // "0-1-42,1-2-7". Errors: kInvalidInput.
  static Result<MariaGtidList> Parse(std::string_view text);
  std::string ToString() const;

  // The transaction becomes its domain's last one.
  void Advance(const MariaGtid& gtid) { last_[gtid.domain] = gtid; }
  // Whether the transaction is at or before its domain's last one.
  bool Contains(const MariaGtid& gtid) const;
  bool Contains(const MariaGtidList& other) const;
  // Takes the further one of each domain.
  void Union(const MariaGtidList& other);
  bool empty() const { return last_.empty(); }
  const std::map<uint32_t, MariaGtid>& domains() const { return last_; }
  friend bool operator==(const MariaGtidList&, const MariaGtidList&) = default;

 private:
  std::map<uint32_t, MariaGtid> last_;
};

}  // namespace driftless::mysql
