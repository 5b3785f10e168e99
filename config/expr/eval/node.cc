#include "config/expr/eval/node.h"

#include <algorithm>

namespace driftless::flink {

void Node::TakeErrors(const Node& arg, int64_t rows) {
  if (!arg.errors.any) return;
  if (!errors.any) {
    errors.any = true;
    errors.bits.assign(BitmapBytes(rows), 0);
    errors.what = arg.errors.what;
  }
  if (arg.constant) {
    std::fill(errors.bits.begin(), errors.bits.end(), uint8_t{0xFF});
    return;
  }
  for (size_t i = 0; i < errors.bits.size(); ++i) errors.bits[i] |= arg.errors.bits[i];
}

void Node::TakeNulls(const Node& arg, int64_t rows) {
  TakeErrors(arg, rows);
  if (arg.view.validity == nullptr) return;
  if (arg.constant) {
    if (arg.view.IsNull(0)) std::fill(out_.validity.begin(), out_.validity.end(), uint8_t{0});
    return;
  }
  const size_t bytes = BitmapBytes(rows);
  for (size_t i = 0; i < bytes; ++i) out_.validity[i] &= arg.view.validity[i];
}

}  // namespace driftless::flink
