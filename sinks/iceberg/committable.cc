#include "sinks/iceberg/committable.h"

#include <utility>

#include "sinks/formats/avro/decode.h"

namespace driftless::iceberg {
namespace {

constexpr std::string_view kMagic = "DLI1";

const avro::Schema& PayloadSchema() {
  static const avro::SchemaPtr schema = *avro::ParseSchema(
      R"({"type":"record","name":"committable","fields":[{"name":"mark","type":"string"},)"
      R"({"name":"uuid","type":"string"},{"name":"base","type":"long"},)"
      R"({"name":"schema_id","type":"int"},{"name":"spec_id","type":"int"},)"
      R"({"name":"batches","type":{"type":"array","items":"bytes"}},)"
      R"({"name":"removals","type":{"type":"array","items":"string"}}]})");
  return *schema;
}

// The same with the batches still encoded.
struct Envelope {
  std::string mark;
  std::string uuid;
  int64_t base = -1;
  int32_t schema_id = 0;
  int32_t spec_id = 0;
  std::vector<std::string> batches;
  std::vector<std::string> removals;
};

std::string Encode(const Envelope& envelope) {
  std::string bytes(kMagic);
  avro::Encoder out(&bytes);
  out.String(envelope.mark);
  out.String(envelope.uuid);
  out.Long(envelope.base);
  out.Int(envelope.schema_id);
  out.Int(envelope.spec_id);
  for (const auto* list : {&envelope.batches, &envelope.removals}) {
    out.BeginItems(list->size());
    for (const std::string& item : *list) out.Bytes(item);
    out.EndItems();
  }
  return bytes;
}

Result<Envelope> Decode(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) {
    return MakeError(ErrorKind::kCorrupt, "not an Iceberg committable of this version");
  }
  bytes.remove_prefix(kMagic.size());
  avro::Datum record;
  DRIFTLESS_TRY(avro::DecodeDatum(PayloadSchema(), &bytes, &record));
  Envelope envelope;
  envelope.mark = record.children[0].text;
  envelope.uuid = record.children[1].text;
  envelope.base = record.children[2].number;
  envelope.schema_id = static_cast<int32_t>(record.children[3].number);
  envelope.spec_id = static_cast<int32_t>(record.children[4].number);
  for (const avro::Datum& batch : record.children[5].children) {
    envelope.batches.emplace_back(batch.text);
  }
  for (const avro::Datum& uri : record.children[6].children) {
    envelope.removals.emplace_back(uri.text);
  }
  return envelope;
}

}  // namespace

Result<std::string> EncodeCommittable(const Committable& committable, const Schema& schema,
                                      const PartitionSpec& spec, int format_version) {
  Envelope envelope{committable.mark,      committable.table_uuid, committable.base_snapshot,
                    committable.schema_id, committable.spec_id,    {},
                    committable.removals};
  const ManifestContext context{format_version, &schema, &spec, false};
  for (const std::vector<DataFile>& batch : committable.batches) {
    std::vector<ManifestEntry> entries(batch.size());
    for (size_t i = 0; i < batch.size(); ++i) entries[i].file = batch[i];
    DRIFTLESS_ASSIGN_OR_RETURN(std::string bytes, EncodeManifest(entries, context));
    envelope.batches.push_back(std::move(bytes));
  }
  return Encode(envelope);
}

Result<Committable> DecodeCommittable(std::string_view bytes) {
  DRIFTLESS_ASSIGN_OR_RETURN(Envelope envelope, Decode(bytes));
  Committable committable;
  committable.mark = std::move(envelope.mark);
  committable.table_uuid = std::move(envelope.uuid);
  committable.base_snapshot = envelope.base;
  committable.schema_id = envelope.schema_id;
  committable.spec_id = envelope.spec_id;
  committable.removals = std::move(envelope.removals);
  for (const std::string& batch : envelope.batches) {
    DRIFTLESS_ASSIGN_OR_RETURN(std::vector<ManifestEntry> entries, DecodeManifest(batch, {}));
    std::vector<DataFile> files;
    for (ManifestEntry& entry : entries) files.push_back(std::move(entry.file));
    committable.batches.push_back(std::move(files));
  }
  return committable;
}

Result<std::string> SealParts(const std::vector<std::string_view>& parts, const std::string& mark,
                              const std::string& table_uuid, int64_t base_snapshot) {
  Envelope whole;
  for (const std::string_view part : parts) {
    DRIFTLESS_ASSIGN_OR_RETURN(Envelope one, Decode(part));
    whole.schema_id = one.schema_id;
    whole.spec_id = one.spec_id;
    for (std::string& batch : one.batches) whole.batches.push_back(std::move(batch));
    for (std::string& uri : one.removals) whole.removals.push_back(std::move(uri));
  }
  whole.mark = mark;
  whole.uuid = table_uuid;
  whole.base = base_snapshot;
  return Encode(whole);
}

}  // namespace driftless::iceberg
