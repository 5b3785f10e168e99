#include <gtest/gtest.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <algorithm>
#include <numeric>

#include "config/yaml/problems.h"
#include "schema/events/change_batch_builder.h"
#include "sinks/api/component.h"
#include "sinks/api/projected_batch.h"
#include "sinks/api/projection.h"
#include "sinks/api/registry.h"
#include "sinks/kafka/producer.h"
#include "tests/doubles/source_table.h"

// The sink on librdkafka's mock cluster: real connections, no broker's disk. It cannot create
// topics, so topic.create is false here; tests/e2e/kafka_round_trip.py does that on a real one.
namespace driftless {
namespace {

using Value = OptionValues::Value;

OptionValues Options(const std::map<std::string, std::string>& options) {
  std::map<std::string, Value, std::less<>> values;
  std::map<std::string, std::string> properties;
  for (const auto& [key, text] : options) {
    if (key.starts_with("properties.") && key != "properties.bootstrap.servers") {
      properties[key.substr(11)] = text;
    } else {
      values[key].text = text;
      values[key].explicitly_set = true;
      if (key != "sink.custom-header") continue;
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(';', at), text.size());
        const size_t colon = text.find(':', at);
        values[key].entries[text.substr(at, colon - at)] = text.substr(colon + 1, end - colon - 1);
        at = end + 1;
      }
    }
  }
  if (!properties.empty()) values["properties.*"].entries = properties;
  return OptionValues(KafkaOptions(), std::move(values));
}

class MockCluster {
 public:
  MockCluster() {
    char text[512];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set_log_cb(conf, [](const rd_kafka_t*, int, const char*, const char*) {});
    handle_ = rd_kafka_new(RD_KAFKA_PRODUCER, conf, text, sizeof text);
    cluster_ = rd_kafka_mock_cluster_new(handle_, 1);
  }
  ~MockCluster() {
    rd_kafka_mock_cluster_destroy(cluster_);
    rd_kafka_destroy(handle_);
  }
  std::string bootstrap() const { return rd_kafka_mock_cluster_bootstraps(cluster_); }
  void CreateTopic(const char* name, int partitions) {
    rd_kafka_mock_topic_create(cluster_, name, partitions, 1);
  }
  void FailProduce(rd_kafka_resp_err_t error) {
    rd_kafka_mock_push_request_errors(cluster_, /*Produce=*/0, 1, error);
  }

  // The answer comes late: requests behind it are on their way by then, and are accepted.
  void FailProduceLate(rd_kafka_resp_err_t error) {
    constexpr size_t kRttMs = 200;
    rd_kafka_mock_broker_push_request_error_rtts(cluster_, 1, /*Produce=*/0, 1, error, kRttMs);
  }

  void FailTopic(const char* name, rd_kafka_resp_err_t error) {
    rd_kafka_mock_topic_set_error(cluster_, name, error);
  }
  void Stop() { rd_kafka_mock_broker_set_down(cluster_, 1); }
  void Start() { rd_kafka_mock_broker_set_up(cluster_, 1); }

  struct Message {
    int32_t partition;
    std::string key;
    std::string value;
    bool is_tombstone;
    std::string headers = "";  // "name=value;" of each
    friend bool operator==(const Message&, const Message&) = default;
  };
  static std::string HeadersOf(const rd_kafka_message_t* message) {
    std::string text;
    rd_kafka_headers_t* headers = nullptr;
    if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return text;
    const char* name = nullptr;
    const void* value = nullptr;
    size_t size = 0;
    for (size_t i = 0; rd_kafka_header_get_all(headers, i, &name, &value, &size) == 0; ++i) {
      text += std::string(name) + "=" + std::string(static_cast<const char*>(value), size) + ";";
    }
    return text;
  }
  // Everything in the topic, partition by partition.
  std::vector<Message> Read(const std::string& topic, int partitions) const {
    char text[512];
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", bootstrap().c_str(), text, sizeof text);
    rd_kafka_conf_set(conf, "enable.partition.eof", "true", text, sizeof text);
    rd_kafka_conf_set(conf, "fetch.wait.max.ms", "10", text, sizeof text);
    rd_kafka_t* reader = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof text);
    rd_kafka_topic_t* handle = rd_kafka_topic_new(reader, topic.c_str(), nullptr);
    rd_kafka_queue_t* queue = rd_kafka_queue_new(reader);
    for (int32_t i = 0; i < partitions; ++i) {
      rd_kafka_consume_start_queue(handle, i, RD_KAFKA_OFFSET_BEGINNING, queue);
    }
    std::vector<Message> messages;
    for (int at_end = 0; at_end < partitions;) {
      rd_kafka_message_t* message = rd_kafka_consume_queue(queue, 30'000);
      if (message == nullptr) break;
      if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
        ++at_end;
      } else {
        messages.push_back({message->partition,
                            {static_cast<const char*>(message->key), message->key_len},
                            {static_cast<const char*>(message->payload), message->len},
                            message->payload == nullptr,
                            HeadersOf(message)});
      }
      rd_kafka_message_destroy(message);
    }
    std::stable_sort(messages.begin(), messages.end(),
                     [](const Message& x, const Message& y) { return x.partition < y.partition; });
    for (int32_t i = 0; i < partitions; ++i) rd_kafka_consume_stop(handle, i);
    rd_kafka_queue_destroy(queue);
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(reader);
    return messages;
  }

 private:
  rd_kafka_t* handle_;
  rd_kafka_mock_cluster_t* cluster_;
};

class KafkaSinkTest : public ::testing::Test {
 protected:
  KafkaSinkTest() : table_("shop.orders", {"id BIGINT NOT NULL", "name STRING"}, {"id"}) {}

  void Open(const std::map<std::string, std::string>& options) {
    ASSERT_EQ(OpenError(options), "");
  }
  // Empty where the sink and its writer are open.
  std::string OpenError(std::map<std::string, std::string> options) {
    options["properties.bootstrap.servers"] = cluster_.bootstrap();
    options["topic.create"] = "false";
    SinkEnvironment environment;
    environment.pipeline_name = "p";
    environment.sink_name = "k";
    writer_.reset();  // goes before the sink does
    const auto opened = [&]() -> Result<void> {
      DRIFTLESS_ASSIGN_OR_RETURN(sink_, MakeKafkaSink(Options(options), environment));
      DRIFTLESS_TRY(sink_->Connect());
      const auto create = table_.Create();
      PlanRequest request;
      request.statement = create.get();
      request.parts = create->parts;
      request.sink_table = create->table;
      DRIFTLESS_ASSIGN_OR_RETURN(const SchemaPlan plan, sink_->planner().Plan(request));
      evolved_ = plan.evolved;
      DRIFTLESS_TRY(sink_->ExecuteStep(plan, 0));
      WriterContext context;
      context.reporter = &reporter_;
      DRIFTLESS_ASSIGN_OR_RETURN(writer_, sink_->OpenWriter(evolved_, 0, context));
      return {};
    }();
    return opened ? "" : opened.error().ToString();
  }

  struct Reporter : RowReporter {
    void DeadLetter(const ChangeBatch&, uint32_t row, const Error& why) override {
      letters.push_back(std::to_string(row) + ": " + why.ToString());
    }
    void Count(const TablePath&, std::string_view, Loss, int64_t) override {}
    std::vector<std::string> letters;
  };

  // An ALTER TABLE of a source table as a step: what the sink plans for a statement whose parts it
  // ignores.
  Result<SchemaPlan> PlanStatement(const TablePath& source) {
    auto schema = std::make_shared<TableSchema>(*table_.schema());
    schema->path = source;
    for (Column& column : schema->columns) column.source.type_text = "text";
    auto after = std::make_shared<TableSchema>(*schema);
    after->comment = "x";
    StatementChange change;
    change.table = source;
    change.statement = std::make_shared<std::string>("ALTER TABLE orders COMMENT 'x'");
    change.parts.push_back({0, AlterTableComment{"", "x"}, schema, after});
    PlanRequest request;
    request.statement = &change;
    request.evolved = &evolved_;
    request.sink_table = evolved_.path;
    return sink_->planner().Plan(request);
  }
  // Carries it out; true where there is one.
  bool SendStatement() {
    const auto plan = PlanStatement(table_.schema()->path);
    EXPECT_TRUE(plan.has_value());
    if (plan->steps.empty()) return false;
    const auto sent = sink_->ExecuteStep(*plan, 0);
    EXPECT_TRUE(sent.has_value()) << sent.error().ToString();
    return true;
  }

  // Inserts of these keys; a negative one deletes.
  Result<void> Write(const std::vector<int64_t>& keys, size_t value_bytes = 1) {
    ChangeBatchBuilder builder(table_.schema(), 0);
    for (const int64_t key : keys) {
      const Point point{0, 0, ++offset_, 0, 0};
      builder.BeginRow(key < 0 ? Op::kDelete : Op::kInsert, point, 1000);
      ColumnBuilder& id = key < 0 ? builder.before(0) : builder.after(0);
      id.AppendInt(key < 0 ? -key : key);
      ColumnBuilder& name = key < 0 ? builder.before(1) : builder.after(1);
      name.AppendBytes(std::string(value_bytes, 'x'));
      builder.EndRow();
    }
    const ChangeBatchPtr batch = builder.Seal();
    ProjectionPolicy policy;
    policy.partial_update = true;
    const Projection projection = Projection::Make(*batch->schema(), evolved_, policy);
    std::vector<uint32_t> rows(static_cast<size_t>(batch->size()));
    std::iota(rows.begin(), rows.end(), 0u);
    return writer_->Write(batch, projection, rows);
  }

  MockCluster cluster_;
  SourceTable table_;
  std::unique_ptr<Sink> sink_;
  EvolvedSchema evolved_;
  TableWriterPtr writer_;
  Reporter reporter_;
  uint64_t offset_ = 0;
};

TEST_F(KafkaSinkTest, WhatIsPreparedIsInTheTopicInOrder) {
  cluster_.CreateTopic("shop.orders", 3);
  Open({});
  ASSERT_TRUE(Write({1, 2}).has_value());
  ASSERT_TRUE(Write({-1}).has_value());
  ASSERT_TRUE(writer_->Prepare(1).has_value());
  const auto messages = cluster_.Read("shop.orders", 3);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_EQ(messages[0].key, R"({"TableId":"shop.orders","id":1})");
  EXPECT_EQ(messages[1].key, R"({"TableId":"shop.orders","id":2})");
  EXPECT_NE(messages[2].value.find(R"("op":"d")"), std::string::npos);
  for (const auto& message : messages) EXPECT_EQ(message.partition, 0);
}

TEST_F(KafkaSinkTest, UpsertModeHasRowsAndTombstonesInJavasPartitions) {
  cluster_.CreateTopic("shop.orders", 16);
  Open({{"value.format", "json"}, {"partition.strategy", "hash-by-key"}});
  ASSERT_TRUE(Write({7, -7}).has_value());
  ASSERT_TRUE(writer_->Prepare(1).has_value());
  // murmur2 of {"id":7} is -1038564011: partition 5 of 16 in the Java client too.
  const std::vector<MockCluster::Message> expected = {
      {5, R"({"id":7})", R"({"id":7,"name":"x"})", false}, {5, R"({"id":7})", "", true}};
  EXPECT_EQ(cluster_.Read("shop.orders", 16), expected);
}

TEST_F(KafkaSinkTest, StatementsGoIntoEveryPartitionBetweenTheRows) {
  cluster_.CreateTopic("shop.orders", 2);
  Open({{"partition.strategy", "hash-by-key"}, {"value.format", "canal-json"}});
  ASSERT_TRUE(SendStatement());
  const auto messages = cluster_.Read("shop.orders", 2);
  ASSERT_EQ(messages.size(), 2u);
  for (int32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(messages[static_cast<size_t>(i)].partition, i);
    EXPECT_NE(messages[static_cast<size_t>(i)].value.find("ALTER TABLE orders COMMENT 'x'"),
              std::string::npos);
  }
  // All partitions have the same number, and the source's name for the statement.
  EXPECT_EQ(messages[0].headers, messages[1].headers);
  EXPECT_TRUE(messages[0].headers.starts_with("driftless.statement=")) << messages[0].headers;
  EXPECT_TRUE(messages[0].headers.ends_with(".1 shop.orders@0:0:0:0.0;")) << messages[0].headers;
}

TEST_F(KafkaSinkTest, StatementsGoToATopicOfTheirOwnOrNowhere) {
  cluster_.CreateTopic("shop.orders", 1);
  cluster_.CreateTopic("changes", 1);
  Open({{"schema.change.events", "topic"}, {"schema.change.topic", "changes"}});
  ASSERT_TRUE(SendStatement());
  EXPECT_EQ(cluster_.Read("shop.orders", 1).size(), 0u);
  ASSERT_EQ(cluster_.Read("changes", 1).size(), 1u);
  EXPECT_EQ(cluster_.Read("changes", 1)[0].key, R"({"databaseName":"shop"})");
  Open({{"schema.change.events", "none"}});
  EXPECT_FALSE(SendStatement());
  EXPECT_EQ(cluster_.Read("shop.orders", 1).size(), 0u);
  EXPECT_EQ(cluster_.Read("changes", 1).size(), 1u);
}

TEST_F(KafkaSinkTest, TopicsByMappingKeysAsCsvAndHeaders) {
  cluster_.CreateTopic("all-orders", 1);
  Open({{"sink.tableId-to-topic.mapping", "shop.users:users;shop.ord\\.*:all-orders"},
        {"key.format", "csv"},
        {"sink.add-tableId-to-header-enabled", "true"},
        {"sink.custom-header", "team:data;region:north"}});
  ASSERT_TRUE(Write({7}).has_value());
  ASSERT_TRUE(writer_->Prepare(1).has_value());
  const auto messages = cluster_.Read("all-orders", 1);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(messages[0].key, "shop.orders,7");
  EXPECT_EQ(messages[0].headers,
            "namespace=;schemaName=shop;tableName=orders;region=north;team=data;");
}

TEST_F(KafkaSinkTest, AMessageThatIsTooLargeIsNamedByItsKey) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({{"properties.message.max.bytes", "2000"}});
  const auto written = Write({42}, 5000);
  ASSERT_FALSE(written.has_value());
  EXPECT_EQ(written.error().kind(), ErrorKind::kRefused);
  EXPECT_NE(written.error().ToString().find("\"id\":42"), std::string::npos);
  EXPECT_NE(written.error().ToString().find("message.max.bytes"), std::string::npos);
}

TEST_F(KafkaSinkTest, AMessageThatIsTooLargeIsPutAsideWhereOneSaysSo) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({{"properties.message.max.bytes", "2000"}, {"on-message-too-large", "dead-letter"}});
  ASSERT_TRUE(Write({1}).has_value());
  ASSERT_TRUE(Write({42}, 5000).has_value());
  ASSERT_TRUE(Write({2}).has_value());
  ASSERT_TRUE(writer_->Prepare(1).has_value());
  ASSERT_EQ(reporter_.letters.size(), 1u);
  EXPECT_NE(reporter_.letters[0].find("\"id\":42"), std::string::npos) << reporter_.letters[0];
  EXPECT_EQ(cluster_.Read("shop.orders", 1).size(), 2u);
}

TEST_F(KafkaSinkTest, ABrokerThatGoesAndComesLosesAndDoublesNothing) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({});
  ASSERT_TRUE(Write({1}).has_value());
  ASSERT_TRUE(writer_->Prepare(1).has_value());
  cluster_.Stop();
  std::vector<int64_t> keys(1000);
  std::iota(keys.begin(), keys.end(), 2);
  ASSERT_TRUE(Write(keys).has_value());
  cluster_.Start();
  ASSERT_TRUE(writer_->Prepare(2).has_value());
  const auto messages = cluster_.Read("shop.orders", 1);
  ASSERT_EQ(messages.size(), 1001u);
  for (size_t i = 0; i < messages.size(); ++i) {
    EXPECT_EQ(messages[i].key, R"({"TableId":"shop.orders","id":)" + std::to_string(i + 1) + "}");
  }
}

// A leader that moves and refuses, and a request that times out: the client sends again, in order.
TEST_F(KafkaSinkTest, WhatABrokerRefusesForAMomentIsSentAgain) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({});
  cluster_.FailProduce(RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION);
  cluster_.FailProduce(RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT);
  cluster_.FailProduce(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
  ASSERT_TRUE(Write({1, 2, 3}).has_value());
  const auto prepared = writer_->Prepare(1);
  ASSERT_TRUE(prepared.has_value()) << prepared.error().ToString();
  EXPECT_EQ(cluster_.Read("shop.orders", 1).size(), 3u);
}

// A broker that knows nothing of the producer yet refuses its first request (the partition is just
// being made) and accepts the second: librdkafka takes both for delivered.
TEST_F(KafkaSinkTest, AFirstMessageThatABrokerRefusesForAMomentIsNotLost) {
  cluster_.CreateTopic("shop.orders", 2);
  Open({{"partition.strategy", "hash-by-key"}, {"properties.batch.num.messages", "1"}});
  cluster_.FailProduceLate(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  std::vector<int64_t> keys(20);
  std::iota(keys.begin(), keys.end(), 1);
  ASSERT_TRUE(Write(keys).has_value());
  const auto prepared = writer_->Prepare(1);
  ASSERT_TRUE(prepared.has_value()) << prepared.error().ToString();
  EXPECT_EQ(cluster_.Read("shop.orders", 2).size(), 20u);
}

TEST_F(KafkaSinkTest, AFirstStatementThatABrokerRefusesForAMomentIsNotLost) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({{"partition.strategy", "hash-by-key"}, {"properties.batch.num.messages", "1"}});
  cluster_.FailProduceLate(RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS);
  ASSERT_TRUE(SendStatement());
  ASSERT_TRUE(Write({1, 2}).has_value());
  ASSERT_TRUE(writer_->Prepare(1).has_value());
  const auto messages = cluster_.Read("shop.orders", 1);
  ASSERT_EQ(messages.size(), 3u);
  EXPECT_NE(messages[0].value.find("ALTER TABLE"), std::string::npos);
}

TEST_F(KafkaSinkTest, ATopicThatIsNotThereIsNamed) {
  cluster_.CreateTopic("other", 1);
  cluster_.FailTopic("missing", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
  const std::string error = OpenError({{"topic", "missing"}});
  EXPECT_NE(error.find("topic missing"), std::string::npos) << error;
  EXPECT_NE(error.find("topic.create"), std::string::npos) << error;
}

TEST_F(KafkaSinkTest, ATopicThatMayNotBeWrittenIsNamed) {
  cluster_.FailTopic("secret", RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  const std::string error = OpenError({{"topic", "secret"}});
  EXPECT_NE(error.find("topic secret"), std::string::npos) << error;
  EXPECT_NE(error.find("rights"), std::string::npos) << error;
}

TEST_F(KafkaSinkTest, WhatABrokerRefusesFailsTheCut) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({});
  cluster_.FailProduce(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
  Result<void> result = Write({1});
  if (result) {
    auto prepared = writer_->Prepare(1);
    ASSERT_FALSE(prepared.has_value());
    result = std::move(prepared.error());
  }
  EXPECT_EQ(result.error().kind(), ErrorKind::kPermission) << result.error().ToString();
}

TEST_F(KafkaSinkTest, ExactlyOnceCommitsACutOnceAndKnowsIt) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({{"sink.delivery-guarantee", "exactly-once"}});
  ASSERT_TRUE(sink_->traits().transactional);
  ASSERT_TRUE(Write({1}).has_value());
  const auto part = writer_->Prepare(1);
  ASSERT_TRUE(part.has_value()) << part.error().ToString();
  CommitIdentity identity{"p", "k", evolved_.path, 1, 1};
  const auto token = sink_->Seal(identity, evolved_, std::span(&*part, 1));
  ASSERT_TRUE(token.has_value());
  EXPECT_EQ(*sink_->LookUp(*token), CommitState::kPrepared);
  const auto committed = sink_->Commit(std::span(&*token, 1));
  ASSERT_TRUE(committed.has_value()) << committed.error().ToString();
  EXPECT_EQ(*sink_->LookUp(*token), CommitState::kCommitted);
  EXPECT_TRUE(sink_->Commit(std::span(&*token, 1)).has_value()) << "again is a success";
}

TEST_F(KafkaSinkTest, AnAbortedCutIsGone) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({{"sink.delivery-guarantee", "exactly-once"}});
  ASSERT_TRUE(Write({1}).has_value());
  const auto part = writer_->Prepare(1);
  ASSERT_TRUE(part.has_value()) << part.error().ToString();
  const CommitIdentity identity{"p", "k", evolved_.path, 1, 1};
  const auto token = sink_->Seal(identity, evolved_, std::span(&*part, 1));
  ASSERT_TRUE(token.has_value());
  ASSERT_TRUE(sink_->Abort(std::span(&*token, 1)).has_value());
  const auto state = sink_->LookUp(*token);
  ASSERT_TRUE(state.has_value()) << state.error().ToString();
  EXPECT_EQ(*state, CommitState::kGone);
  EXPECT_FALSE(sink_->Commit(std::span(&*token, 1)).has_value());
}

// Its transaction carries its name, which the sink reads back after a crash.
TEST_F(KafkaSinkTest, AStatementStandsOnceHoweverOftenItsStepIsCarriedOut) {
  cluster_.CreateTopic("shop.orders", 2);
  Open({{"sink.delivery-guarantee", "exactly-once"}, {"partition.strategy", "hash-by-key"}});
  writer_.reset();
  ASSERT_TRUE(SendStatement());
  ASSERT_TRUE(SendStatement());
  EXPECT_EQ(cluster_.Read("shop.orders", 2).size(), 2u);
}

TEST_F(KafkaSinkTest, AStatementThatCannotBeSentIsSentWhenTheBrokerIsThereAgain) {
  for (const char* guarantee : {"at-least-once", "exactly-once"}) {
    const std::string topic = std::string("of-") + guarantee;
    cluster_.CreateTopic(topic.c_str(), 1);
    Open({{"sink.delivery-guarantee", guarantee}, {"topic", topic}});
    writer_.reset();
    cluster_.FailProduce(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    const auto plan = PlanStatement(table_.schema()->path);
    ASSERT_TRUE(plan.has_value());
    const auto refused = sink_->ExecuteStep(*plan, 0);
    EXPECT_FALSE(refused.has_value());
    const auto sent = sink_->ExecuteStep(*plan, 0);
    EXPECT_TRUE(sent.has_value()) << sent.error().ToString();
    EXPECT_EQ(cluster_.Read(topic, 1).size(), 1u) << guarantee;
  }
}

TEST_F(KafkaSinkTest, AStatementAboutARoutedTableNamesTheSinksTable) {
  cluster_.CreateTopic("shop.orders", 1);
  Open({});
  const auto plan = PlanStatement(*ParseTablePath("app.invoices"));
  ASSERT_TRUE(plan.has_value());
  ASSERT_EQ(plan->steps.size(), 1u);
  EXPECT_EQ(plan->steps[0].action,
            "message in topic shop.orders: ALTER TABLE `shop`.`orders` COMMENT = 'x'");
  ASSERT_TRUE(sink_->ExecuteStep(*plan, 0).has_value());
  const auto messages = cluster_.Read("shop.orders", 1);
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_NE(messages[0].value.find("\"databaseName\":\"shop\""), std::string::npos);
  EXPECT_EQ(messages[0].value.find("invoices"), std::string::npos) << messages[0].value;
}

// The commit of a transaction whose broker is away is asked for again and again.
TEST(TableTransactionsTest, ACommitThatTimesOutGoesOn) {
  MockCluster cluster;
  cluster.CreateTopic("t", 1);
  kafka::Properties properties = {{"bootstrap.servers", cluster.bootstrap()},
                                  {"enable.idempotence", "true"},
                                  {"delivery.report.only.error", "true"}};
  kafka::TableTransactions transactions(properties, "id", "t", /*call_ms=*/1500);
  ASSERT_TRUE(transactions.Open().has_value());
  ASSERT_TRUE(transactions.Begin().has_value());
  kafka::Outgoing message;
  message.value = "v";
  ASSERT_TRUE(kafka::ProducerTopic(transactions.client().get(), "t").Send(message, {}).has_value());
  const auto token = transactions.Prepare(7);
  ASSERT_TRUE(token.has_value()) << token.error().ToString();
  cluster.Stop();
  for (int i = 0; i < 3; ++i) {
    const auto committed = transactions.Commit(*token);
    ASSERT_FALSE(committed.has_value());
    EXPECT_EQ(committed.error().kind(), ErrorKind::kTimedOut) << committed.error().ToString();
  }
  cluster.Start();
  Result<void> committed = transactions.Commit(*token);
  for (int i = 0; i < 20 && !committed; ++i) committed = transactions.Commit(*token);
  EXPECT_TRUE(committed.has_value()) << committed.error().ToString();
}

struct Contradicting {
  std::map<std::string, std::string> options;
  std::vector<std::string> names;
};

TEST(KafkaSinkOptionsTest, ContradictionsNameBothSides) {
  const Contradicting cases[] = {
      {{{"properties.enable.idempotence", "false"}},
       {"properties.enable.idempotence", "sink.delivery-guarantee"}},
      {{{"properties.acks", "1"}}, {"properties.acks", "sink.delivery-guarantee"}},
      {{{"properties.transactional.id", "x"}},
       {"properties.transactional.id", "sink.delivery-guarantee"}},
      {{{"properties.partitioner", "random"}}, {"properties.partitioner", "partition.strategy"}},
      {{{"value.format", "json"}, {"schema.change.events", "inline"}},
       {"schema.change.events", "value.format"}},
      {{{"schema.change.events", "topic"}}, {"schema.change.events", "schema.change.topic"}},
  };
  for (const Contradicting& one : cases) {
    std::map<std::string, std::string> options = one.options;
    options["properties.bootstrap.servers"] = "localhost:1";
    const auto sink = MakeKafkaSink(Options(options), {});
    ASSERT_FALSE(sink.has_value()) << one.names[0];
    for (const std::string& name : one.names) {
      EXPECT_NE(sink.error().ToString().find(name), std::string::npos) << sink.error().ToString();
    }
  }
}

}  // namespace
}  // namespace driftless
