#include "sinks/clients/http/http_client.h"

#include <curl/curl.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "schema/base/letter_case.h"

namespace driftless {
namespace {

// From here on a body is worth a buffer of its own (64 KiB are libcurl's default).
constexpr size_t kLargeBody = 256 << 10;
constexpr size_t kUploadBuffer = 1 << 20;

size_t TakeBody(char* data, size_t size, size_t count, void* to) {
  static_cast<HttpResponse*>(to)->body.append(data, size * count);
  return size * count;
}

size_t TakeHeader(char* data, size_t size, size_t count, void* to) {
  std::string_view line(data, size * count);
  auto* response = static_cast<HttpResponse*>(to);
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n' || line.back() == ' ')) {
    line.remove_suffix(1);
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) {
    if (line.starts_with("HTTP/")) response->headers.clear();  // after a 100 Continue
    return size * count;
  }
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && (value.front() == ' ' || value.front() == '\t')) value.remove_prefix(1);
  response->headers[LowerCase(line.substr(0, colon))] = value;
  return size * count;
}

// Deliberately without a way back to the beginning: libcurl repeats a request by itself where a
// kept-alive connection breaks before the answer, which it cannot do with a body that it cannot
// rewind (curl_easy_setopt(3), CURLOPT_SEEKFUNCTION).
size_t GiveBody(char* to, size_t size, size_t count, void* from) {
  auto* rest = static_cast<std::string_view*>(from);
  const size_t length = std::min(size * count, rest->size());
  std::copy_n(rest->data(), length, to);
  rest->remove_prefix(length);
  return length;
}

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};
using Headers = std::unique_ptr<curl_slist, FreeList>;

Headers MakeHeaders(const HttpRequest& request) {
  Headers headers;
  const auto add = [&](const std::string& line) {
    curl_slist* grown = curl_slist_append(headers.get(), line.c_str());
    static_cast<void>(headers.release());
    headers.reset(grown);
  };
  for (const auto& [name, value] : request.headers) add(name + ": " + value);
  // Without it libcurl lets large bodies wait a second for servers that do not know it.
  add(request.continue_timeout_ms > 0 ? "Expect: 100-continue" : "Expect:");
  return headers;
}

Error ToError(const HttpRequest& request, CURLcode code) {
  std::string what = request.method + " " + request.url + ": " + curl_easy_strerror(code);
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT: return MakeError(ErrorKind::kUnavailable, std::move(what));
    case CURLE_SSL_CONNECT_ERROR: return MakeError(ErrorKind::kUnavailable, std::move(what));
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return MakeError(ErrorKind::kPermission, std::move(what))
          .Hint("Name the file of the certificates that are to be trusted.");
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL: return MakeError(ErrorKind::kInvalidConfig, std::move(what));
    default: return MakeError(ErrorKind::kCommitUnknown, std::move(what));
  }
}

}  // namespace

HttpClient::HttpClient(HttpSettings settings) : settings_(std::move(settings)) {
  static const CURLcode global = curl_global_init(CURL_GLOBAL_DEFAULT);
  static_cast<void>(global);
}

HttpClient::~HttpClient() {
  for (void* handle : idle_) curl_easy_cleanup(handle);
}

void* HttpClient::TakeHandle() {
  const std::lock_guard lock(mutex_);
  if (idle_.empty()) return curl_easy_init();
  void* handle = idle_.back();
  idle_.pop_back();
  return handle;
}

void HttpClient::GiveBack(void* handle) {
  const std::lock_guard lock(mutex_);
  idle_.push_back(handle);
}

Result<HttpResponse> HttpClient::Send(const HttpRequest& request) {
  CURL* curl = TakeHandle();
  if (curl == nullptr) {
    return MakeError(ErrorKind::kResourceExhausted, "no memory for a connection");
  }
  curl_easy_reset(curl);
  const Headers headers = MakeHeaders(request);
  HttpResponse response;
  std::string_view rest = request.body;
  curl_easy_setopt(curl, CURLOPT_URL, request.url.c_str());
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(settings_.timeout_ms));
  if (request.continue_timeout_ms > 0) {
    curl_easy_setopt(curl, CURLOPT_EXPECT_100_TIMEOUT_MS,
                     static_cast<long>(request.continue_timeout_ms));
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  }
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS,
                   static_cast<long>(settings_.connect_timeout_ms));
  // Servers close idle connections after some time; a body that meets a closed one is in doubt.
  curl_easy_setopt(curl, CURLOPT_MAXAGE_CONN, 15L);
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  // "": whatever libcurl can unpack.
  if (settings_.unpacks) curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  if (!settings_.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, settings_.ca_file.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, TakeBody);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &response);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, TakeHeader);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &response);
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, GiveBody);
    curl_easy_setopt(curl, CURLOPT_READDATA, &rest);
    if (rest.size() > kLargeBody) {
      curl_easy_setopt(curl, CURLOPT_UPLOAD_BUFFERSIZE, static_cast<long>(kUploadBuffer));
    }
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(rest.size()));
  }
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  response.status = static_cast<int>(status);
  if (code != CURLE_OK) {
    curl_easy_cleanup(curl);  // its connection may be in an odd state
    return ToError(request, code);
  }
  GiveBack(curl);
  return response;
}

std::string UrlEncode(std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kHex[byte >> 4];
    encoded += kHex[byte & 15];
  }
  return encoded;
}

std::string UrlForm(const std::map<std::string, std::string>& fields) {
  std::string form;
  for (const auto& [name, value] : fields) {
    if (!form.empty()) form += '&';
    form += UrlEncode(name) + "=" + UrlEncode(value);
  }
  return form;
}

}  // namespace driftless
