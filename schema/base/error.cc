#include "schema/base/error.h"

#include <cstdio>
#include <cstdlib>

#include "schema/base/check.h"

namespace driftless {

struct Error::Payload {
  ErrorKind kind;
  int line = 0;
  int column = 0;
  std::string message;
  std::vector<std::string> context;
  std::string hint;
  std::string position;
};

std::string_view ToString(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInvalidConfig: return "invalid configuration";
    case ErrorKind::kInvalidInput: return "invalid input";
    case ErrorKind::kParse: return "parse error";
    case ErrorKind::kUnsupported: return "unsupported";
    case ErrorKind::kNotFound: return "not found";
    case ErrorKind::kAlreadyExists: return "already exists";
    case ErrorKind::kConflict: return "conflict";
    case ErrorKind::kRefused: return "refused";
    case ErrorKind::kPermission: return "permission denied";
    case ErrorKind::kUnavailable: return "unavailable";
    case ErrorKind::kTimedOut: return "timed out";
    case ErrorKind::kCommitUnknown: return "commit state unknown";
    case ErrorKind::kResourceExhausted: return "resource exhausted";
    case ErrorKind::kCorrupt: return "corrupt data";
    case ErrorKind::kCancelled: return "cancelled";
    case ErrorKind::kInternal: return "internal error";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, std::string message) : payload_(std::make_unique<Payload>()) {
  payload_->kind = kind;
  payload_->message = std::move(message);
}
Error::Error(const Error& other)
    : payload_(other.payload_ ? std::make_unique<Payload>(*other.payload_) : nullptr) {}
Error& Error::operator=(const Error& other) {
  if (this != &other)
    payload_ = other.payload_ ? std::make_unique<Payload>(*other.payload_) : nullptr;
  return *this;
}
Error::Error(Error&&) noexcept = default;
Error& Error::operator=(Error&&) noexcept = default;
Error::~Error() = default;

ErrorKind Error::kind() const { return payload_->kind; }
const std::string& Error::message() const { return payload_->message; }
const std::vector<std::string>& Error::context() const { return payload_->context; }
const std::string& Error::hint() const { return payload_->hint; }
int Error::line() const { return payload_->line; }
int Error::column() const { return payload_->column; }
const std::string& Error::position() const { return payload_->position; }

Error& Error::Context(std::string text) & {
  payload_->context.insert(payload_->context.begin(), std::move(text));
  return *this;
}
Error&& Error::Context(std::string text) && {
  payload_->context.insert(payload_->context.begin(), std::move(text));
  return std::move(*this);
}
Error&& Error::Hint(std::string text) && {
  payload_->hint = std::move(text);
  return std::move(*this);
}
Error&& Error::At(int line, int column) && {
  payload_->line = line;
  payload_->column = column;
  return std::move(*this);
}
Error&& Error::Position(std::string text) && {
  payload_->position = std::move(text);
  return std::move(*this);
}

bool Error::IsRetryable() const {
  switch (payload_->kind) {
    case ErrorKind::kConflict:
    case ErrorKind::kUnavailable:
    case ErrorKind::kTimedOut: return true;
    default: return false;
  }
}

std::string Error::ToString() const {
  std::string text;
  for (const std::string& context : payload_->context) text += context + ": ";
  text += payload_->message;
  std::string where;
  if (payload_->line > 0) {
    where = "line " + std::to_string(payload_->line);
    if (payload_->column > 0) where += ", column " + std::to_string(payload_->column);
  }
  if (!payload_->position.empty()) {
    if (!where.empty()) where += "; ";
    where += "position " + payload_->position;
  }
  if (!where.empty()) text += " (" + where + ")";
  if (!payload_->hint.empty()) text += ". " + payload_->hint;
  return text;
}

void CheckFailed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "driftless: internal check failed: %s at %s:%d\n", condition, file, line);
  std::fflush(stderr);
  std::abort();
}

}  // namespace driftless
