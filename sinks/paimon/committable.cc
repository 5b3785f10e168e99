#include <algorithm>
#include <utility>

#include "schema/base/check.h"
#include "sinks/formats/avro/decode.h"
#include "sinks/paimon/metadata.h"

namespace driftless::paimon {
namespace {

constexpr std::string_view kMagic = "DLP1";

const avro::Schema& PayloadSchema() {
  static const avro::SchemaPtr schema = *avro::ParseSchema(
      R"({"type":"record","name":"committable","fields":[{"name":"schema_id","type":"long"},)"
      R"({"name":"new_files","type":"bytes"},{"name":"changelog_files","type":"bytes"},)"
      R"({"name":"index_files","type":"bytes"}]})");
  return *schema;
}

}  // namespace

std::string EncodeCommittable(const Committable& committable) {
  std::string bytes(kMagic);
  avro::Encoder out(&bytes);
  out.Long(committable.schema_id);
  const auto put = [&](const Result<std::string>& part) {
    DRIFTLESS_CHECK(part.has_value());
    out.Bytes(*part);
  };
  put(EncodeManifest(committable.new_files, "zstd"));
  put(EncodeManifest(committable.changelog_files, "zstd"));
  put(EncodeIndexManifest(committable.index_files, "zstd"));
  return bytes;
}

Result<Committable> DecodeCommittable(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) {
    return MakeError(ErrorKind::kCorrupt, "not a Paimon committable of this version");
  }
  bytes.remove_prefix(kMagic.size());
  avro::Datum record;
  DRIFTLESS_TRY(avro::DecodeDatum(PayloadSchema(), &bytes, &record));
  if (!bytes.empty()) return MakeError(ErrorKind::kCorrupt, "bytes left over in a committable");
  Committable committable;
  committable.schema_id = record.children[0].number;
  DRIFTLESS_ASSIGN_OR_RETURN(committable.new_files, DecodeManifest(record.children[1].text));
  DRIFTLESS_ASSIGN_OR_RETURN(committable.changelog_files, DecodeManifest(record.children[2].text));
  DRIFTLESS_ASSIGN_OR_RETURN(committable.index_files, DecodeIndexManifest(record.children[3].text));
  // Rows were taken out of files that are there: the table as a whole is no longer only added to.
  const bool removes = std::ranges::any_of(committable.new_files, [](const ManifestEntry& entry) {
    return entry.kind == FileKind::kDelete;
  });
  if (removes) committable.kind = CommitKind::kOverwrite;
  return committable;
}

}  // namespace driftless::paimon
