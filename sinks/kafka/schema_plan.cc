#include "schema/plan/model_planner.h"
#include "sinks/api/registry.h"
#include "sinks/formats/row_json/mysql_text.h"
#include "sinks/kafka/options.h"
#include "sinks/kafka/planner.h"
#include "sinks/kafka/writer.h"

namespace driftless {
namespace {

// A message carries every type; the topic keeps no schema.
Result<LogicalType> MapType(const LogicalType& type, bool) { return type; }

const ModelTraits& Traits() {
  static const ModelTraits* const kTraits = new ModelTraits{
      .sink = "Kafka",
      .can = {EventKind::kCreateTable},
      .map_type = MapType,

  };
  return *kTraits;
}

// Creating a topic that is there is no harm, so every step may be repeated.
class KafkaPlanner : public SchemaPlanner {
 public:
  explicit KafkaPlanner(kafka::SinkOptions options)
      : options_(std::move(options)), model_(MakeModelPlanner(&Traits())) {}

  Result<LogicalType> MapType(const LogicalType& type, bool is_key) const override {
    return model_->MapType(type, is_key);
  }

  Result<SchemaPlan> Plan(const PlanRequest& request) const override {
    DRIFTLESS_ASSIGN_OR_RETURN(SchemaPlan plan, model_->Plan(request));
    for (Step& step : plan.steps) {
      if (!step.creates_table || !step.after) continue;
      if (options_.is_upsert() && step.after->primary_key.empty()) {
        return MakeError(ErrorKind::kUnsupported,
                         "value.format: json writes rows under their key, and table " +
                             plan.sink_table.ToString() +
                             " has no primary key; debezium-json takes tables without one");
      }
      const std::string topic = options_.TopicOf(plan.sink_table);
      step.action = "create topic " + topic;
      if (options_.new_topic.partitions > 0) {
        step.action += ", partitions " + std::to_string(options_.new_topic.partitions);
      }
      for (const auto& [key, value] : options_.new_topic.configs) {
        step.action += ", " + key + "=" + value;
      }
      if (!options_.create_topics) step.action = "write to topic " + topic;
      step.repeatable = true;
      step.payload = MessageOf(request).ToPayload();
    }
    if (request.parts.empty()) AddMessage(request, &plan);
    return plan;
  }

  StepState Recognise(const SchemaPlan& plan, size_t step, const SinkTable* actual) const override {
    return model_->Recognise(plan, step, actual);
  }

  bool Holds(const LogicalType& sink, const LogicalType& wanted) const override {
    return model_->Holds(sink, wanted);
  }

 private:
  // What is sent about the statement; no text: nothing.
  kafka::StatementMessage MessageOf(const PlanRequest& request) const {
    if (options_.schema_events == kafka::SchemaEvents::kNone || request.statement == nullptr) {
      return {};
    }
    kafka::StatementMessage message{kafka::StatementMessage::NameOf(*request.statement), ""};
    const StatementChange named = kafka::UnderSinkName(*request.statement, request.sink_table);
    if (!kafka::EncodeStatement(options_, named, &message.text)) return {};
    return message;
  }

  // The step that sends the message of a statement which is ignored otherwise. Sent twice, a reader
  // knows it by its name.
  void AddMessage(const PlanRequest& request, SchemaPlan* plan) const {
    const kafka::StatementMessage message = MessageOf(request);
    if (message.text.empty()) return;
    const StatementChange named = kafka::UnderSinkName(*request.statement, request.sink_table);
    Step step;
    step.action = "message in topic " +
                  (options_.schema_events == kafka::SchemaEvents::kTopic
                       ? options_.schema_topic
                       : options_.TopicOf(request.sink_table)) +
                  ": " + StatementText(named).value_or("");
    step.payload = message.ToPayload();
    step.before = plan->evolved.ToSinkTable();
    step.after = step.before;
    step.repeatable = true;
    plan->steps.push_back(std::move(step));
  }

  const kafka::SinkOptions options_;
  const std::unique_ptr<SchemaPlanner> model_;
};

}  // namespace

namespace kafka {

StatementChange UnderSinkName(const StatementChange& change, const TablePath& sink_table) {
  StatementChange named = change;
  named.table = sink_table;
  if (change.table != sink_table) named.statement = nullptr;
  const auto rename = [&](TableSchemaPtr* schema) {
    if (*schema == nullptr || (*schema)->path == sink_table) return;
    auto renamed = std::make_shared<TableSchema>(**schema);
    renamed->path = sink_table;
    *schema = std::move(renamed);
  };
  for (SchemaChange& part : named.parts) {
    rename(&part.before);
    rename(&part.after);
  }
  return named;
}

std::unique_ptr<SchemaPlanner> MakePlanner(SinkOptions options) {
  return std::make_unique<KafkaPlanner>(std::move(options));
}

}  // namespace kafka

Result<std::unique_ptr<SchemaPlanner>> MakeKafkaPlanner(const OptionValues& options) {
  if (options.specs().empty()) return MakeModelPlanner(&Traits());  // nothing is configured
  DRIFTLESS_ASSIGN_OR_RETURN(kafka::SinkOptions read, kafka::ReadSinkOptions(options));
  return kafka::MakePlanner(std::move(read));
}

}  // namespace driftless
