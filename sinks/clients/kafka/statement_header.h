#pragma once

namespace driftless::kafka {

// The header of every statement that our sink writes between rows, which our source reads:
// "RUN.NUMBER NAME". RUN is of the writing process, NUMBER counts its statements: both grow, and a
// statement has the same in every partition. NAME says which statement of the source it is: one
// that is sent again, after its writer was killed, has the same name and the same message.
inline constexpr char kStatementHeader[] = "driftless.statement";

}  // namespace driftless::kafka
