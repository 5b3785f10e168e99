#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace driftless {

// What went wrong, as far as a caller can act on it. Whether a retry can help is a function of the
// kind alone (IsRetryable), so that no caller has to read a message.
enum class ErrorKind : uint8_t {
  kInvalidConfig,      // the user's file or command line is wrong
  kInvalidInput,       // a row, an event or a file does not say what its format promises
  kParse,              // a statement or document does not parse; has line and column
  kUnsupported,        // well-formed, but nothing that we or the peer can do
  kNotFound,           // a table, file or object is not there
  kAlreadyExists,      // exclusive creation found something
  kConflict,           // somebody else changed the same thing; re-read and decide again
  kRefused,            // the sink understood and said no
  kPermission,         // the peer or the operating system denies access
  kUnavailable,        // the peer does not answer; try again
  kTimedOut,           // no answer in time, and no effect that could have happened
  kCommitUnknown,      // the answer to a commit was lost: look it up, never repeat blindly
  kResourceExhausted,  // disk full, memory budget used up
  kCorrupt,            // stored bytes fail their own checks
  kCancelled,          // the pipeline is stopping
  kInternal,           // a bug of ours that was caught
};

std::string_view ToString(ErrorKind kind);

// An error is one pointer wide. Build it with MakeError and add to it on its way up:
//   return MakeError(ErrorKind::kParse, "unknown column 'c'").At(3, 14).Hint("did you mean 'b'?");
class Error {
 public:
  Error(ErrorKind kind, std::string message);
  Error(Error&&) noexcept;
  Error& operator=(Error&&) noexcept;
  Error(const Error& other);
  Error& operator=(const Error& other);
  ~Error();

  ErrorKind kind() const;
  const std::string& message() const;
  // What was being done, outermost first: "pipeline orders", "sink lake", "table shop.orders".
  const std::vector<std::string>& context() const;
  const std::string& hint() const;      // what the user can do; may be empty
  int line() const;                     // 1-based; 0 where there is none
  int column() const;                   // 1-based, in characters; 0 where there is none
  const std::string& position() const;  // source position as text; may be empty

  Error&& Context(std::string text) &&;
  Error& Context(std::string text) &;
  Error&& Hint(std::string text) &&;
  Error&& At(int line, int column) &&;
  Error&& Position(std::string text) &&;

  bool IsRetryable() const;

  // "context: context: message (line 3, column 14; position ...). hint"
  std::string ToString() const;

 private:
  struct Payload;
  std::unique_ptr<Payload> payload_;
};

inline Error MakeError(ErrorKind kind, std::string message) {
  return Error(kind, std::move(message));
}

}  // namespace driftless
