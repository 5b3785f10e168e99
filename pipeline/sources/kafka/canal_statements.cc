#include "pipeline/sources/kafka/canal_statements.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace driftless {
namespace {

using debezium::MessageTurn;
using Turn = StatementAlignment::Turn;

// How long a row of a table that nothing told of waits: Canal sends a batch as a whole.
constexpr int64_t kBriefUs = 1'000'000;

// Rows look the same in front of the statement and behind it, and mean another column or table.
bool LookTheSame(const CanalStatement& statement, const TableSchema& before,
                 const TableSchemaPtr& after) {
  if (statement.is_of_whole_table || after == nullptr) return true;
  if (before.columns.size() != after->columns.size()) return false;
  bool is_other = false;
  for (size_t i = 0; i < before.columns.size(); ++i) {
    const Column& a = before.columns[i];
    const Column& b = after->columns[i];
    if (a.name != b.name || !a.type.EqualsIgnoringNullability(b.type)) return false;
    is_other |= a.id != b.id;
  }
  return is_other;
}

}  // namespace

Result<MessageTurn> CanalStatements::BeforeMessage(const debezium::Record& record) {
  // Programs that write Canal's form without its numbers write statements nowhere, or everywhere.
  const bool is_canals = record.batch > 0 && !is_marked_;
  reader_.output->SetRows(is_canals ? StatementAlignment::Rows::kMayChange
                                    : StatementAlignment::Rows::kShowOneSchema);
  row_.reset();
  if (!is_canals) return MessageTurn::kTake;
  if (record.kind == debezium::RecordKind::kSchemaChange) return Pass(record);
  if (record.kind != debezium::RecordKind::kChange) return MessageTurn::kTake;
  row_ = CanalPlace{record.built_ms, record.batch, record.commit_time_ms};
  row_table_.first = record.database;
  row_table_.second = record.table;
  if (is_home()) return MessageTurn::kTake;
  if (!partition_.schemas->IsBeyond(row_->built_ms)) DRIFTLESS_TRY(reader_.catch_up());
  if (partition_.schemas->Get(reader_.cursor->next) == nullptr) return MessageTurn::kTake;
  DRIFTLESS_ASSIGN_OR_RETURN(
      const bool go_on, reader_.take_statements([this](const SchemaTopic::Statement& statement) {
        return OrderOf(*row_, statement.canal) == CanalOrder::kBehind;
      }));
  return go_on ? MessageTurn::kTake : MessageTurn::kStop;
}

void CanalStatements::Done() {
  if (!row_) return;
  if (const int64_t now = reader_.stream->counters().other_keys; now > other_keys_) [[unlikely]] {
    other_keys_ = now;
    if (warned_of_.insert(row_table_).second) {
      spdlog::warn(
          "{}: a row of {}.{} gets another key: Canal sends it into the partition of the new one, "
          "and nothing shows its order to rows of the old one. Give such tables one partition "
          "(canal.mq.partitionHash with the table's name alone)",
          Position(), row_table_.first, row_table_.second);
    }
  }
  if (last_row_ == nullptr || last_row_->first != row_table_) {
    last_row_ = &*last_rows_.try_emplace(row_table_).first;
  }
  last_row_->second = *row_;
  row_.reset();
}

// A statement itself: in the first partition it stands where it is.
Result<MessageTurn> CanalStatements::Pass(const debezium::Record& record) {
  if (!is_home()) {
    return MakeError(ErrorKind::kUnsupported,
                     "a statement of Canal about " + std::string(record.database) + "." +
                         std::string(record.table) + " stands in partition " +
                         std::to_string(partition_.partition) +
                         ": its order to the rows of other partitions is not known")
        .Position(Position())
        .Hint("Canal writes statements into the first partition of a topic only.");
  }
  DRIFTLESS_TRY(reader_.catch_up());
  DRIFTLESS_ASSIGN_OR_RETURN(
      const bool go_on, reader_.take_statements([this](const SchemaTopic::Statement& statement) {
        return statement.offset <= offset_;
      }));
  if (!go_on) return MessageTurn::kStop;
  const SchemaTopic::Statement* self = partition_.schemas->Get(static_cast<uint64_t>(offset_));
  if (self != nullptr && self->offset == offset_) return MessageTurn::kPass;
  return MakeError(ErrorKind::kInvalidInput, "the statement is not written as Canal writes them")
      .Position(Position());
}

// The statement that the row waits for was made in the same millisecond, or is not there yet.
Result<bool> CanalStatements::WaitForMore(debezium::Patience patience) {
  if (!row_ || is_home()) return false;
  const SchemaTopic& statements = *partition_.schemas;
  const uint64_t before = reader_.cursor->taken;
  const int64_t wait_us =
      patience == debezium::Patience::kFull ? reader_.wait_us : std::min(reader_.wait_us, kBriefUs);
  const int64_t end_us = reader_.clock->MonotonicMicros() + wait_us;
  while (!reader_.output->stopping()) {
    // Whether all that stands in front of the row is known is asked first.
    if (reader_.is_bounded) DRIFTLESS_TRY(reader_.catch_up());
    const bool is_known = reader_.is_bounded || statements.IsBeyond(row_->built_ms);
    DRIFTLESS_ASSIGN_OR_RETURN(
        const bool go_on, reader_.take_statements([&](const SchemaTopic::Statement& statement) {
          return reader_.cursor->taken == before &&  // one may be enough
                 OrderOf(*row_, statement.canal) != CanalOrder::kBefore;
        }));
    if (!go_on) return false;
    if (reader_.cursor->taken > before) return true;
    if (is_known || statements.Get(reader_.cursor->next) != nullptr) return false;
    if (reader_.clock->MonotonicMicros() >= end_us) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return false;
}

// All partitions come to the statement before any of them takes it, so that each first takes up
// what the others have learnt from the rows in front of it.
Result<bool> CanalStatements::Take(const SchemaTopic::Statement& statement, const Point& place,
                                   const std::string& origin) {
  debezium::DebeziumStream& stream = *reader_.stream;
  StatementAlignment& alignment = *partition_.alignment;
  const uint64_t behind = alignment.unmarked(partition_.index);
  if (!stream.Flush()) return false;  // its rows are in front of it
  const Turn turn =
      alignment.Arrive(partition_.index, {0, statement.next}, /*knows=*/false, *reader_.output);
  if (turn == Turn::kStop) return false;
  for (const TableSchemaPtr& schema : alignment.Learnt(behind)) {
    DRIFTLESS_ASSIGN_OR_RETURN(const bool go_on, stream.AdoptLearnt(schema, place, origin));
    if (!go_on) return false;
  }
  const CanalStatement& canal = statement.canal;
  const TableSchemaPtr before = stream.SchemaOf(canal.database, canal.table);
  reader_.output->SetTurn(turn);
  auto taken = stream.Statement(statement.key, statement.text(), place, origin);
  reader_.output->SetTurn(std::nullopt);
  if (!taken || !*taken) return taken;
  if (turn == Turn::kSend) alignment.Sent(partition_.index);
  TellOfTie(canal, before, origin);
  return true;
}

// Rows whose order to the statement nothing shows were taken for rows in front of it.
void CanalStatements::TellOfTie(const CanalStatement& statement, const TableSchemaPtr& before,
                                const std::string& origin) const {
  const auto row = last_rows_.find({statement.database, statement.table});
  if (row == last_rows_.end() || before == nullptr || is_home()) return;
  if (OrderOf(row->second, statement) != CanalOrder::kUnknown) return;
  const TableSchemaPtr after = reader_.stream->SchemaOf(statement.database, statement.table);
  if (!LookTheSame(statement, *before, after)) return;
  spdlog::warn(
      "{}: Canal made rows of {} in the same millisecond as this statement, for another partition, "
      "and nothing shows whether they come before it: they are taken for rows before it. "
      "canal.instance.get.ddl.isolation=true sends statements apart",
      origin, before->path.ToString());
}

uint64_t CanalStatements::Cursor() const {
  const uint64_t read = partition_.schemas->next_offset();
  const uint64_t now = reader_.cursor->next;
  const SchemaTopic::Statement* next = partition_.schemas->Get(now);
  return std::max(now, next == nullptr ? read : static_cast<uint64_t>(next->offset));
}

}  // namespace driftless
