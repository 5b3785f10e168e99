#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "schema/events/change_batch.h"

namespace driftless {

// A sealed batch as bytes and back, for files that only this product reads (parked items). The slab
// is written as it lies, with the places of its columns; nothing is converted, so absent values,
// before images and bad characters come back exactly. The schema is not part of it.
class ChangeBatchImage {
 public:
  // Appends the image to *out. Little-endian machines only, as everything in a slab is.
  static void Append(const ChangeBatch& batch, std::string* out);
  // Errors: kCorrupt where the bytes are not an image for `schema`.
  static Result<ChangeBatchPtr> Parse(std::string_view bytes, TableSchemaPtr schema);
};

}  // namespace driftless
