#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <atomic>
#include <thread>

#include "schema/base/bytes_text.h"
#include "sinks/iceberg/catalog.h"
#include "sinks/iceberg/rest_messages.h"
#include "sinks/iceberg/rest_session.h"
#include "sinks/iceberg/schema_step.h"
#include "sinks/iceberg/table_access.h"

namespace driftless::iceberg {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Repeat = RestSession::Repeat;

class HandClock : public Clock {
 public:
  int64_t NowMillis() const override { return now_ms; }
  int64_t MonotonicMicros() const override { return now_ms * 1000; }
  std::atomic<int64_t> now_ms = 1'700'000'000'000;
};

// A catalog's server that answers what the test says, and remembers what it was asked.
class Server {
 public:
  using Answer = std::function<void(const httplib::Request&, httplib::Response&)>;
  Server() {
    const auto take = [this](const httplib::Request& request, httplib::Response& response) {
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(request.method + " " + request.target);
        tokens_.push_back(request.get_header_value("Authorization"));
        last_body = request.body;
      }
      if (answer && !request.path.ends_with("/config")) return answer(request, response);
      response.set_content(config, "application/json");
    };
    server_.Get(".*", take).Post(".*", take);
    port_ = server_.bind_to_any_port("127.0.0.1");
    thread_ = std::thread([this] { server_.listen_after_bind(); });
    while (!server_.is_running()) std::this_thread::yield();
  }
  ~Server() {
    server_.stop();
    thread_.join();
  }

  std::string uri() const { return "http://127.0.0.1:" + std::to_string(port_); }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return std::exchange(asked_, {});
  }
  std::vector<std::string> tokens() {
    const std::lock_guard lock(mutex_);
    return std::exchange(tokens_, {});
  }

  std::string config = "{}";
  Answer answer;
  std::string last_body;

 private:
  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::vector<std::string> tokens_;
};

void Status(httplib::Response& response, int status, std::string_view message = "so it is") {
  response.status = status;
  response.set_content("{\"error\":{\"message\":\"" + std::string(message) +
                           "\",\"type\":\"T\",\"code\":" + std::to_string(status) + "}}",
                       "application/json");
}

// Closes the connection where the answer should be.
void Break(httplib::Response& response) {
  response.set_content_provider(10, "text/plain",
                                [](size_t, size_t, httplib::DataSink&) { return false; });
}

TEST(RestSession, TheHandshakeMergesWhatBothSidesSay) {
  Server server;
  server.config =
      R"({"defaults":{"a":"theirs","b":"theirs"},"overrides":{"c":"theirs","prefix":"p/q",)"
      R"("namespace-separator":"%2E"},"endpoints":["POST /v1/{prefix}/transactions/commit"]})";
  server.answer = [](const auto&, auto& response) { Status(response, 404); };
  HandClock clock;
  RestSession session({{"uri", server.uri() + "/api/"},
                       {"warehouse", "w h"},
                       {"a", "ours"},
                       {"c", "ours"},
                       {"header.X-Mine", "7"}},
                      &clock);
  const auto properties = session.EffectiveProperties();
  ASSERT_TRUE(properties) << properties.error().ToString();
  EXPECT_EQ(properties->at("a"), "ours");
  EXPECT_EQ(properties->at("b"), "theirs");
  EXPECT_EQ(properties->at("c"), "theirs");
  EXPECT_TRUE(session.Offers("POST /v1/{prefix}/transactions/commit"));
  EXPECT_FALSE(session.Offers("DELETE /v1/{prefix}/namespaces"));
  EXPECT_EQ(*session.NamespacePath({"a", "b/ü"}), "namespaces/a%2Eb%2F%C3%BC");
  EXPECT_EQ(session.Call("GET", "namespaces", "", Repeat::kRepeatable)->status, 404);
  EXPECT_THAT(server.asked(),
              ElementsAre("GET /api/v1/config?warehouse=w%20h", "GET /api/v1/p/q/namespaces"));
}

TEST(RestSession, WhatMayHaveHappenedIsNeverRepeated) {
  Server server;
  HandClock clock;
  RestSession session({{"uri", server.uri()}}, &clock);
  ASSERT_TRUE(session.Configure());
  for (const int status : {500, 502, 503, 504, 0}) {
    SCOPED_TRACE(status);
    server.answer = [&](const auto&, auto& response) {
      if (status == 0) return Break(response);
      Status(response, status);
    };
    server.asked();
    const auto once = session.Call("POST", "x", "{}", Repeat::kOnce);
    ASSERT_FALSE(once);
    EXPECT_EQ(once.error().kind(), ErrorKind::kCommitUnknown);
    EXPECT_EQ(server.asked().size(), 1U);
    int left = 2;
    server.answer = [&](const auto&, auto& response) {
      if (left-- == 0) return response.set_content("{}", "application/json");
      if (status == 0) return Break(response);
      Status(response, status);
    };
    const auto repeated = session.Call("GET", "x", "", Repeat::kRepeatable);
    ASSERT_TRUE(repeated) << repeated.error().ToString();
    EXPECT_EQ(repeated->status, 200);
  }
}

TEST(RestSession, ABusyServerHasDoneNothing) {
  Server server;
  HandClock clock;
  RestSession session({{"uri", server.uri()}}, &clock);
  int left = 1;
  server.answer = [&](const auto&, auto& response) {
    if (left-- > 0) return Status(response, 429);
    response.set_content("{}", "application/json");
  };
  EXPECT_EQ(session.Call("POST", "x", "{}", Repeat::kOnce)->status, 200);
}

TEST(RestSession, AnAddressWithoutCatalogIsSaid) {
  HandClock clock;
  RestSession nobody({{"uri", "http://127.0.0.1:1"}}, &clock);
  EXPECT_EQ(nobody.Configure().error().kind(), ErrorKind::kUnavailable);
  Server server;
  server.config = "<html>";
  RestSession page({{"uri", server.uri()}}, &clock);
  EXPECT_EQ(page.Configure().error().kind(), ErrorKind::kInvalidConfig);
}

TEST(RestAuth, TokensAreRenewedBeforeTheyExpireAndWhenTheyAreRefused) {
  Server server;
  HandClock clock;
  int issued = 0;
  bool refuse_all = false;
  std::string valid;
  server.answer = [&](const httplib::Request& request, httplib::Response& response) {
    if (request.path == "/login") {
      EXPECT_EQ(request.get_param_value("grant_type"), "client_credentials");
      EXPECT_EQ(request.get_param_value("client_id"), "me");
      EXPECT_EQ(request.get_param_value("client_secret"), "a:b");
      EXPECT_EQ(request.get_param_value("scope"), "all");
      valid = "t" + std::to_string(++issued);
      return response.set_content(
          R"({"access_token":")" + valid + R"(","token_type":"bearer","expires_in":1000})",
          "application/json");
    }
    if (refuse_all || request.get_header_value("Authorization") != "Bearer " + valid) {
      return Status(response, 401);
    }
    response.set_content("{}", "application/json");
  };
  RestSession session({{"uri", server.uri()},
                       {"credential", "me:a:b"},
                       {"scope", "all"},
                       {"oauth2-server-uri", server.uri() + "/login"}},
                      &clock);
  const auto call = [&] { return session.Call("POST", "x", "{}", Repeat::kOnce); };
  EXPECT_EQ(call()->status, 200);
  EXPECT_EQ(issued, 1);
  clock.now_ms += 899'000;
  EXPECT_EQ(call()->status, 200);
  EXPECT_EQ(issued, 1);
  clock.now_ms += 2'000;  // a tenth of its life before the end
  EXPECT_EQ(call()->status, 200);
  EXPECT_EQ(issued, 2);
  valid = "something else";  // the server has forgotten it
  EXPECT_EQ(call()->status, 200);
  EXPECT_EQ(issued, 3);
  refuse_all = true;
  const auto refused = call();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::kPermission);
  EXPECT_EQ(issued, 4) << "one renewal, not one after the other";
}

TEST(RestAuth, ABearerTokenIsExchangedBeforeItExpires) {
  Server server;
  HandClock clock;
  std::string claims;
  AppendBase64("{\"exp\":" + std::to_string(clock.now_ms / 1000 + 1000) + "}", &claims);
  const std::string token = "x." + claims + ".y";
  server.answer = [&](const httplib::Request& request, httplib::Response& response) {
    if (request.path == "/v1/oauth/tokens") {
      EXPECT_EQ(request.get_param_value("subject_token"), token);
      return response.set_content(R"({"access_token":"newer"})", "application/json");
    }
    response.set_content("{}", "application/json");
  };
  RestSession session({{"uri", server.uri()}, {"token", token}}, &clock);
  ASSERT_TRUE(session.Call("GET", "x", "", Repeat::kRepeatable));
  clock.now_ms += 950'000;
  ASSERT_TRUE(session.Call("GET", "x", "", Repeat::kRepeatable));
  EXPECT_THAT(server.tokens(),
              ElementsAre("Bearer " + token, "Bearer " + token, "Bearer " + token, "Bearer newer"));
  RestSession signed_requests({{"uri", server.uri()}, {"rest.sigv4-enabled", "true"}}, &clock);
  EXPECT_EQ(signed_requests.Configure().error().kind(), ErrorKind::kUnsupported);
}

LoadedTable Loaded(const std::string& folder) {
  LoadedTable table;
  table.metadata.uuid = "u-1";
  table.metadata.location = "file://" + folder + "/t";
  table.metadata.last_column_id = 2;
  Schema schema;
  schema.fields = {{1, "id", LogicalType::BigInt().NotNull(), "\"long\"", "", "", ""}};
  table.metadata.schemas = {schema};
  table.metadata.specs = {{}};
  table.files = TableFiles(*OpenObjectStore(folder, {}));
  return table;
}

TEST(RestMessages, CommitsSayWhatTheyBuildOn) {
  LoadedTable table = Loaded(testing::TempDir());
  table.metadata.main_ref_json = ",\"max-snapshot-age-ms\":5";
  MetadataChange change;
  change.snapshots.resize(2);
  for (int64_t i = 0; i < 2; ++i) {
    Snapshot& snapshot = change.snapshots[static_cast<size_t>(i)];
    snapshot = {.id = 7 + i, .sequence_number = 1 + i, .timestamp_ms = 5, .manifest_list = "m"};
  }
  change.set_properties["k"] = "v";
  EXPECT_EQ(
      CommitBody({{"db"}, "t"}, table.metadata, change),
      R"({"identifier":{"namespace":["db"],"name":"t"},"requirements":[)"
      R"({"type":"assert-table-uuid","uuid":"u-1"},)"
      R"({"type":"assert-ref-snapshot-id","ref":"main","snapshot-id":null}],"updates":[)"
      R"({"action":"add-snapshot","snapshot":{"sequence-number":1,"snapshot-id":7,)"
      R"("timestamp-ms":5,"summary":{},"manifest-list":"m"}},)"
      R"({"action":"add-snapshot","snapshot":{"sequence-number":2,"snapshot-id":8,)"
      R"("timestamp-ms":5,"summary":{},"manifest-list":"m"}},)"
      R"({"action":"set-snapshot-ref","ref-name":"main","type":"branch","max-snapshot-age-ms":5,)"
      R"("snapshot-id":8},{"action":"set-properties","updates":{"k":"v"}}]})");
  MetadataChange evolved;
  evolved.schema = table.metadata.schema();
  evolved.schema->fields[0].name = "other";
  evolved.last_column_id = 3;
  EXPECT_THAT(CommitBody({{"db"}, "t"}, table.metadata, evolved),
              HasSubstr(R"({"type":"assert-current-schema-id","current-schema-id":0},)"
                        R"({"type":"assert-last-assigned-field-id","last-assigned-field-id":2}],)"
                        R"("updates":[{"action":"add-schema")"));
  evolved.schema = table.metadata.schema();
  EXPECT_THAT(CommitBody({{"db"}, "t"}, table.metadata, evolved),
              HasSubstr(R"("updates":[{"action":"set-current-schema","schema-id":0}])"));
}

TEST(RestCatalog, OutcomesOfCommits) {
  Server server;
  HandClock clock;
  const auto catalog = MakeRestCatalog({{"uri", server.uri()}}, &clock);
  const LoadedTable table = Loaded(testing::TempDir());
  MetadataChange change;
  change.set_properties["k"] = "v";
  const CatalogCommit commit{{"", "db", "t"}, &table, &change};
  for (const auto& [status, kind] : std::map<int, ErrorKind>{{409, ErrorKind::kConflict},
                                                             {404, ErrorKind::kConflict},
                                                             {400, ErrorKind::kRefused},
                                                             {403, ErrorKind::kPermission},
                                                             {500, ErrorKind::kCommitUnknown}}) {
    server.answer = [status = status](const auto&, auto& response) { Status(response, status); };
    const auto results = catalog->Commit({&commit, 1});
    ASSERT_FALSE(results.front());
    EXPECT_EQ(results.front().error().kind(), kind) << status;
  }
}

TEST(RestCatalog, TheServerMayHaveDefaultsForTables) {
  Server server;
  server.config =
      R"({"defaults":{"table-default.a":"theirs"},"overrides":{"table-override.b":"2"}})";
  HandClock clock;
  const std::map<std::string, std::string> own = {{"uri", server.uri()}, {"table-default.c", "3"}};
  const auto catalog = MakeRestCatalog(own, &clock);
  const auto properties = catalog->EffectiveProperties(own);
  ASSERT_TRUE(properties) << properties.error().ToString();
  std::map<std::string, std::string> table = {{"a", "ours"}, {"b", "ours"}, {"d", "4"}};
  AddCatalogDefaults(*properties, &table);
  EXPECT_THAT(table,
              ElementsAre(Pair("a", "ours"), Pair("b", "2"), Pair("c", "3"), Pair("d", "4")));
}

TEST(RestCatalog, SeveralTablesAreOneTransactionWhereThereIsOne) {
  Server server;
  server.config = R"({"endpoints":["POST /v1/{prefix}/transactions/commit"]})";
  HandClock clock;
  const auto catalog = MakeRestCatalog({{"uri", server.uri()}}, &clock);
  const LoadedTable table = Loaded(testing::TempDir());
  MetadataChange change;
  change.set_properties["k"] = "v";
  const std::vector<CatalogCommit> commits = {{{"", "db", "a"}, &table, &change},
                                              {{"", "db", "b"}, &table, &change}};
  server.answer = [&](const auto&, httplib::Response& response) { response.status = 204; };
  for (const auto& result : catalog->Commit(commits)) EXPECT_TRUE(result);
  EXPECT_THAT(server.asked(), ElementsAre("GET /v1/config", "POST /v1/transactions/commit"));
  EXPECT_THAT(server.last_body,
              HasSubstr(R"({"table-changes":[{"identifier":{"namespace":["db"])"));
  // Where one is in conflict, each goes alone.
  server.answer = [&](const httplib::Request& request, httplib::Response& response) {
    if (!request.path.ends_with("/b")) return Status(response, 409);
    response.set_content("{}", "application/json");
  };
  const auto results = catalog->Commit(commits);
  EXPECT_EQ(results[0].error().kind(), ErrorKind::kConflict);
  EXPECT_TRUE(results[1]);
  server.answer = [](const auto&, auto& response) { Status(response, 500); };
  server.asked();
  for (const auto& result : catalog->Commit(commits)) {
    EXPECT_EQ(result.error().kind(), ErrorKind::kCommitUnknown);
  }
  EXPECT_EQ(server.asked().size(), 1U);
}

TEST(VendedKeys, AreAskedForBeforeTheyExpireAndWhenTheyAreRefused) {
  HandClock clock;
  int asked = 0;
  const auto config = [&](int number) {
    return FileProperties{
        {"s3.access-key-id", "key" + std::to_string(number)},
        {"s3.secret-access-key", "secret"},
        {"s3.session-token-expires-at-ms", std::to_string(clock.now_ms + 1'000'000)}};
  };
  VendedKeys keys([&]() -> Result<FileProperties> { return config(++asked); }, &clock);
  EXPECT_FALSE(keys.Take({{"s3.endpoint", "x"}}));
  EXPECT_TRUE(keys.Take(config(0)));
  S3Credentials now = *keys.Keys(nullptr);
  EXPECT_EQ(now.access_key, "key0");
  EXPECT_EQ(keys.Keys(&now)->access_key, "key1");
  EXPECT_EQ(keys.Keys(&now)->access_key, "key1") << "the refused ones are old already";
  clock.now_ms += 901'000;
  EXPECT_EQ(keys.Keys(nullptr)->access_key, "key2");
  EXPECT_EQ(keys.Keys(nullptr)->access_key, "key2");
}

TEST(TableAccess, TheLongestPrefixOfVendedKeysHolds) {
  const auto answer = ParseLoadAnswer(
      R"({"metadata-location":"s3://b/t/m","config":{"x":"y"},"storage-credentials":[)"
      R"({"prefix":"s3://b/t","config":{"s3.access-key-id":"right"}},)"
      R"({"prefix":"s3","config":{"s3.access-key-id":"all"}},)"
      R"({"prefix":"s3://b/other","config":{"s3.access-key-id":"wrong"}}],"metadata":{)"
      R"("format-version":2,"table-uuid":"u","location":"s3://b/t","last-column-id":1,)"
      R"("schemas":[{"schema-id":0,"fields":[]}],"current-schema-id":0,)"
      R"("partition-specs":[{"spec-id":0,"fields":[]}]}})");
  ASSERT_TRUE(answer) << answer.error().ToString();
  EXPECT_EQ(answer->config.at("s3.access-key-id"), "right");
  EXPECT_EQ(answer->config.at("x"), "y");
  EXPECT_EQ(StoreRootOf("s3a://b/x/t"), "s3://b");
  EXPECT_EQ(StoreRootOf("file:/wh/db/t"), "file:///wh/db");
}

}  // namespace
}  // namespace driftless::iceberg
