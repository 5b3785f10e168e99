#include "schema/types/json_text.h"

#include <simdjson.h>

namespace driftless {

struct JsonChecker::Impl {
  simdjson::dom::parser parser;
};

JsonChecker::JsonChecker() : impl_(std::make_unique<Impl>()) {}
JsonChecker::~JsonChecker() = default;

bool JsonChecker::IsJson(std::string_view text) {
  return impl_->parser.parse(text.data(), text.size()).error() == simdjson::SUCCESS;
}

}  // namespace driftless
