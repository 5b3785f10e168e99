#include "sinks/api/sink.h"

namespace driftless {

void WriterRows::Reset(WriterIndex writers) {
  if (rows_.size() < writers) rows_.resize(writers);
  for (WriterIndex i = 0; i < writers; ++i) rows_[i].clear();
  count_ = writers;
}

}  // namespace driftless
