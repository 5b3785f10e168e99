#include "sinks/clients/objectstore/s3_signature.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <ctime>

#include "schema/base/check.h"

namespace driftless {
namespace {

std::string Hex(std::string_view bytes) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<uint8_t>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string Sha256Hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  DRIFTLESS_CHECK(
      EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) == 1);
  return Hex({reinterpret_cast<const char*>(digest.data()), length});
}

std::string Hmac(std::string_view key, std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
  unsigned int length = 0;
  DRIFTLESS_CHECK(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
                       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                       digest.data(), &length) != nullptr);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

}  // namespace

std::string UriEncode(std::string_view text, bool keep_slashes) {
  static constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' || c == '~' ||
                          (c == '/' && keep_slashes);
    if (is_plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<uint8_t>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 15];
  }
  return encoded;
}

std::string UriDecode(std::string_view text) {
  const auto digit = [](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  };
  std::string decoded;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 &&
        digit(text[i + 2]) >= 0) {
      decoded += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      decoded += text[i] == '+' ? ' ' : text[i];
    }
  }
  return decoded;
}

std::string CanonicalQuery(const std::map<std::string, std::string>& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    text += (text.empty() ? "" : "&") + UriEncode(name, false) + "=" + UriEncode(value, false);
  }
  return text;
}

void SignS3Request(const S3Credentials& credentials, std::string_view region, std::string_view date,
                   S3Request* request) {
  const std::string body_hash = Sha256Hex(request->body);
  request->headers["x-amz-date"] = date;
  request->headers["x-amz-content-sha256"] = body_hash;
  if (!credentials.session_token.empty()) {
    request->headers["x-amz-security-token"] = credentials.session_token;
  }
  std::string names;
  std::string canonical = request->method + "\n" + UriEncode(request->path, true) + "\n" +
                          CanonicalQuery(request->query) + "\n";
  for (const auto& [name, value] : request->headers) {
    canonical += name + ":" + value + "\n";
    names += (names.empty() ? "" : ";") + name;
  }
  canonical += "\n" + names + "\n" + body_hash;
  const std::string day(date.substr(0, 8));
  const std::string scope = day + "/" + std::string(region) + "/s3/aws4_request";
  const std::string to_sign =
      "AWS4-HMAC-SHA256\n" + std::string(date) + "\n" + scope + "\n" + Sha256Hex(canonical);
  const std::string key =
      Hmac(Hmac(Hmac(Hmac("AWS4" + credentials.secret_key, day), region), "s3"), "aws4_request");
  request->headers["authorization"] = "AWS4-HMAC-SHA256 Credential=" + credentials.access_key +
                                      "/" + scope + ",SignedHeaders=" + names +
                                      ",Signature=" + Hex(Hmac(key, to_sign));
}

std::string S3Date() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[20];
  std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &utc);
  return text;
}

}  // namespace driftless
