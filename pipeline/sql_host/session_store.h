#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "schema/base/result.h"

namespace driftless {

namespace flink {
class SqlHost;
}  // namespace flink

// A Flink SQL session that outlives the process where a folder is given. Not thread-safe.
class SqlSessionStore {
 public:
  // Without a folder the session lives in memory. Errors: kUnavailable and kPermission where the
  // folder cannot be used, kCorrupt where the journal does not play again as it was written.
  static Result<SqlSessionStore> Open(const std::string& folder);

  SqlSessionStore(SqlSessionStore&&) noexcept;
  SqlSessionStore& operator=(SqlSessionStore&&) noexcept;
  ~SqlSessionStore();

  // Executes one statement and makes what it changed durable before it returns. Errors: those of
  // flink::Session::Execute, and those of the journal.
  Result<std::string> Execute(std::string_view sql);

  // Where rows go that statements put into tables with the connector `print` from here on.
  void SetPrint(std::function<void(std::string_view)> print);
  // Who carries out INSERTs between tables of connectors from here on.
  void SetHost(flink::SqlHost* host);
  // What a name may be that a person begins to type: catalogs, databases, tables, their columns.
  std::vector<std::string> Names() const;

 private:
  struct Impl;
  explicit SqlSessionStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace driftless
