#pragma once

#include "schema/events/schema_change.h"
#include "sinks/api/sink.h"

namespace driftless {

// A sink whose rows travel together with the statements between them (Kafka): its writers are
// StatementWriters.
class StatementSink : public Sink {};

// Is told of every statement of its table but those that create it (they are steps), behind the
// rows before it and in front of the rows after it; what it writes belongs to the cut of the rows
// before it.
class StatementWriter : public TableWriter {
 public:
  virtual Result<void> Announce(const StatementChange& change) = 0;
};

}  // namespace driftless
