#pragma once

#include <map>
#include <string>
#include <string_view>

#include "schema/base/result.h"

namespace driftless {

// One request as AWS Signature Version 4 sees it ("AWS Signature Version 4 for API requests",
// Amazon S3 API Reference). Keys and values are not encoded yet.
struct S3Request {
  std::string method;
  std::string path;  // begins with '/'
  std::map<std::string, std::string> query;
  std::map<std::string, std::string> headers;  // lower-case names; `host` must be there
  std::string_view body;
};

struct S3Credentials {
  std::string access_key;
  std::string secret_key;
  std::string session_token;  // may be empty
  friend bool operator==(const S3Credentials&, const S3Credentials&) = default;
};

// Keys that change while a store is open, as catalogs vend them. Thread-safe.
class S3KeySource {
 public:
  virtual ~S3KeySource() = default;
  // The keys to sign with now. `refused`: keys that the store has just refused, or null; they are
  // not given again. Errors: whatever keeps new keys from coming.
  virtual Result<S3Credentials> Keys(const S3Credentials* refused) = 0;
};

// Adds x-amz-date, x-amz-content-sha256, x-amz-security-token and authorization to the headers.
// `date` is UTC as "20130524T000000Z".
void SignS3Request(const S3Credentials& credentials, std::string_view region, std::string_view date,
                   S3Request* request);

// Percent-encoding as the signature wants it: everything but letters, digits and "-_.~".
std::string UriEncode(std::string_view text, bool keep_slashes);
std::string UriDecode(std::string_view text);
// "a=1&b=2", encoded, in order of names.
std::string CanonicalQuery(const std::map<std::string, std::string>& query);

// The time now, for SignS3Request.
std::string S3Date();

}  // namespace driftless
