#include "sinks/olap/front_ends.h"

#include <utility>

#include "schema/base/bytes_text.h"
#include "sinks/olap/olap_options.h"

namespace driftless::olap {
namespace {

constexpr int kMostRedirects = 4;
constexpr size_t kMostFetchedBytes = 64 << 10;

bool IsRedirect(int status) { return status == 307 || status == 302 || status == 308; }

// "http://user@be:8040/x" without what stands before the @: credentials travel in a header.
std::string WithoutUser(const std::string& url) {
  const size_t begin = url.find("://");
  if (begin == std::string::npos) return url;
  const size_t slash = url.find('/', begin + 3);
  const size_t at = url.rfind('@', slash);
  if (at == std::string::npos || at < begin + 3) return url;
  return url.substr(0, begin + 3) + url.substr(at + 1);
}

bool IsTls(std::string_view url) { return url.starts_with("https://"); }

}  // namespace

FrontEndOptions FrontEndOptionsOf(const OlapOptions& options) {
  return {options.load_addresses,      options.sql.user,
          options.sql.password,        options.connect_timeout_ms,
          options.continue_timeout_ms, options.answer_timeout_ms,
          options.sql.tls_ca,          options.plain_back_ends};
}

FrontEnds::FrontEnds(FrontEndOptions options)
    : options_(std::move(options)),
      http_({options_.answer_timeout_ms, options_.connect_timeout_ms, options_.tls_ca, true}) {
  authorization_ = "Basic ";
  AppendBase64(options_.user + ":" + options_.password, &authorization_);
}

Result<HttpResponse> FrontEnds::Follow(std::string url, const FrontEndRequest& request,
                                       bool with_credentials) {
  HttpRequest sent;
  sent.method = request.method;
  sent.headers = request.headers;
  if (with_credentials) sent.headers["Authorization"] = authorization_;
  sent.body = request.body;
  if (request.is_load && !request.body.empty()) {
    sent.continue_timeout_ms = options_.continue_timeout_ms;
  }
  const std::string first = url;
  for (int hops = 0;; ++hops) {
    sent.url = std::move(url);
    DRIFTLESS_ASSIGN_OR_RETURN(HttpResponse answer, http_.Send(sent));
    if (answer.status == 401 || answer.status == 403) {
      return MakeError(ErrorKind::kPermission, sent.method + " " + sent.url + ": status " +
                                                   std::to_string(answer.status) + " " +
                                                   answer.body)
          .Hint("Check username and password, and the user's right to load into the table.");
    }
    const auto location = answer.headers.find("location");
    if (!IsRedirect(answer.status) || location == answer.headers.end()) return answer;
    if (hops == kMostRedirects) {
      return MakeError(ErrorKind::kUnavailable, first + ": redirected without end");
    }
    url = WithoutUser(location->second);
    if (IsTls(sent.url) && !IsTls(url) && !options_.plain_back_ends) {
      return MakeError(ErrorKind::kInvalidConfig, sent.url + " sends the request on to " + url +
                                                      ", which would show the password and the "
                                                      "rows to the network")
          .Hint(
              "Switch TLS on at the back ends, or set tls.plain-back-ends: true where their "
              "network is trusted.");
    }
  }
}

Result<HttpResponse> FrontEnds::SendTo(const std::string& address, const FrontEndRequest& request) {
  return Follow(address + request.path, request);
}

Result<HttpResponse> FrontEnds::Send(const FrontEndRequest& request) {
  size_t first = 0;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    first = address_;
  }
  for (size_t tries = 0;; ++tries) {
    const size_t at = (first + tries) % options_.addresses.size();
    Result<HttpResponse> answer = SendTo(options_.addresses[at], request);
    // 5xx of a front end: it is starting, or has lost its leader. Nothing was done.
    const bool is_down = answer && (answer->status == 502 || answer->status == 503);
    const bool may_go_on = is_down || (!answer && answer.error().kind() == ErrorKind::kUnavailable);
    if (!may_go_on) {
      const std::lock_guard<std::mutex> lock(mutex_);
      address_ = at;
      return answer;
    }
    if (tries + 1 < options_.addresses.size()) continue;
    if (!answer) return answer;
    return MakeError(ErrorKind::kUnavailable, options_.addresses[at] + request.path + ": status " +
                                                  std::to_string(answer->status));
  }
}

std::string FrontEnds::Fetch(const std::string& url) {
  FrontEndRequest request;
  request.method = "GET";
  const std::string page = WithoutUser(url);
  const bool is_safe =
      IsTls(page) || !IsTls(options_.addresses.front()) || options_.plain_back_ends;
  Result<HttpResponse> answer = Follow(page, request, is_safe);
  if (!answer || answer->status != 200) return "";
  return answer->body.substr(0, kMostFetchedBytes);
}

}  // namespace driftless::olap
