#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "schema/base/result.h"
#include "schema/events/change_batch_builder.h"

namespace driftless::mysql {

// Text of one MySQL character set to UTF-8, as the servers convert it: codes without a character
// become '?'. Bytes that are no UTF-8 in a column of it become U+FFFD. One thread.
class Transcoder {
 public:
  // Errors: kUnsupported for a character set that cannot be read.
  static Result<Transcoder> Make(std::string_view charset);
  Transcoder(Transcoder&&) noexcept;
  Transcoder& operator=(Transcoder&&) noexcept;
  ~Transcoder();

  void Append(std::string_view text, ColumnBuilder* column);
  void Append(std::string_view text, std::string* out);

 private:
  struct Impl;
  explicit Transcoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless::mysql
