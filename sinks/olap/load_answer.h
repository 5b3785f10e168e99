#pragma once

#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless::olap {

// What front and back ends say about a load or a transaction, in JSON. StarRocks and Doris spell
// fields alike, in several letter cases over the versions.
struct LoadAnswer {
  std::string status;   // "Success", "OK", "Fail", "Label Already Exists", ...
  std::string message;  // Message or msg
  std::string state;    // of a label: "PREPARED", "VISIBLE"
  std::string existing_job_status;
  std::string error_url;
  int64_t txn_id = -1;
  int64_t filtered_rows = 0;

  bool Is(std::string_view text) const;  // status, ignoring letter case
};

// Errors: kUnavailable where the text is no such answer, because a proxy or a dying server wrote
// it; `what` says what was asked.
Result<LoadAnswer> ParseLoadAnswer(int http_status, std::string_view body, std::string_view what);

}  // namespace driftless::olap
