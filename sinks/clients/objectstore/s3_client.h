#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "schema/base/result.h"
#include "sinks/clients/http/http_client.h"
#include "sinks/clients/objectstore/object_store.h"
#include "sinks/clients/objectstore/s3_signature.h"

namespace driftless {

using S3Response = HttpResponse;

// Sends signed requests to one bucket over kept-alive connections. Thread-safe.
class S3Client {
 public:
  S3Client(std::string bucket, S3Options options);

  // kRepeatable requests are sent again after a failure of the transport and after 429 and 5xx,
  // with growing waits. kOnce is for requests whose effect a repetition would hide: only what
  // surely was not carried out is repeated; a lost answer is kCommitUnknown.
  enum class Repeat : uint8_t { kRepeatable, kOnce };

  // `key` is the object's, without the bucket; headers have lower-case names. Answers below 500 are
  // returned whatever they say. Errors: kUnavailable, kCommitUnknown.
  Result<S3Response> Send(std::string_view method, std::string_view key,
                          std::map<std::string, std::string> query,
                          std::map<std::string, std::string> headers, std::string_view body,
                          Repeat repeat = Repeat::kRepeatable);

  const std::string& bucket() const { return bucket_; }

  // The error that an answer stands for, from its status and XML body.
  Error ToError(const S3Response& response, std::string_view what) const;

 private:
  struct Attempt {
    enum class Outcome : uint8_t { kAnswered, kNotSent, kLost } outcome = Outcome::kAnswered;
    std::string message;
  };
  Attempt SendOnce(const S3Request& request, S3Response* response);

  const std::string bucket_;
  const S3Options options_;
  std::string base_url_;  // scheme and host
  std::string host_;
  std::string path_prefix_;
  HttpClient http_;
};

}  // namespace driftless
