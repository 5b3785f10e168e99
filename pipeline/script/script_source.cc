#include "pipeline/script/script_source.h"

#include <algorithm>
#include <utility>

#include "pipeline/script/script_rows.h"
#include "schema/ddl/mysql/catalog.h"
#include "schema/ddl/mysql/lexer.h"
#include "schema/ddl/mysql/splitter.h"

namespace driftless {
namespace {

using Kind = ScriptDirective::Kind;

std::string PositionText(const Point& point) { return "line " + std::to_string(point.offset); }

// One playing of a script.
class ScriptPlay {
 public:
  ScriptPlay(const ScriptSourceOptions& options, const SourceContext& context, StreamId stream,
             std::optional<Point> from, SourceOutput* output)
      : options_(options),
        context_(context),
        stream_(stream),
        from_(from),
        output_(output),
        catalog_(options.server) {}

  Result<void> Run() {
    for (size_t i = 0; i < options_.end && !stopped_; ++i) {
      const ScriptDirective& directive = options_.script->directives[i];
      if (directive.kind == Kind::kDdl) DRIFTLESS_TRY(PlayDdl(directive));
      if (directive.kind == Kind::kRows) DRIFTLESS_TRY(PlayRows(directive));
    }
    return {};
  }

 private:
  bool IsNew(const Point& point) const { return !from_ || from_->Precedes(point); }

  void Sent(bool went_on) { stopped_ = stopped_ || !went_on; }

  void Progress(const Point& point) {
    if (!stopped_ && IsNew(point)) {
      Sent(output_->Progress(point, "", static_cast<int64_t>(point.offset) * 1000));
    }
  }

  Result<void> PlayRows(const ScriptDirective& directive) {
    DRIFTLESS_ASSIGN_OR_RETURN(const TablePath path, PathOf(directive));
    const TableSchemaPtr schema = catalog_.Find(path);
    if (schema == nullptr) {
      return MakeError(ErrorKind::kNotFound, "the source has no table " + path.ToString() + " here")
          .At(directive.line, 1);
    }
    DRIFTLESS_ASSIGN_OR_RETURN(const ChangeBatchPtr batch, ReadRows(directive, schema, stream_));
    if (batch == nullptr) return {};
    // A block of rows is one batch: a position inside of it comes from nowhere.
    if (IsNew(batch->last_point())) Sent(output_->Changes(batch));
    Progress(batch->last_point());
    return {};
  }

  Result<TablePath> PathOf(const ScriptDirective& directive) const {
    auto path = ParseTablePath(directive.words[0]);
    if (!path) return std::move(path).error().At(directive.line, 1);
    return path;
  }

  Result<void> PlayDdl(const ScriptDirective& directive) {
    mysql::StatementContext session;
    if (!directive.words.empty()) session.default_database = directive.words[0];
    const std::string script = JoinBody(directive);
    const int first_line = directive.body.empty() ? directive.line : directive.body[0].line;
    uint32_t number = 0;
    for (const mysql::StatementText& statement :
         mysql::SplitStatements(script, options_.server, session.sql_mode)) {
      const int line = first_line + mysql::LocateOffset(script, statement.begin).line - 1;
      auto effect = catalog_.Apply(statement.text, session);
      if (!effect) {
        const int error_line = line + std::max(effect.error().line(), 1) - 1;
        const int column = effect.error().column();
        return std::move(effect).error().At(error_line, column).Context("ddl");
      }
      if (effect->kind == mysql::StatementEffect::Kind::kUse) {
        session.default_database = effect->database;
      }
      for (StatementChange& change : effect->changes) {
        change.point = {stream_, 0, static_cast<uint64_t>(line), number++, 0};
        DRIFTLESS_TRY(Send(std::move(change), statement.text));
      }
    }
    return {};
  }

  Result<void> Send(StatementChange change, std::string_view text) {
    const Point point = change.point;
    change.commit_time_ms = static_cast<int64_t>(point.offset) * 1000;
    change.statement = std::make_shared<const std::string>(text);
    if (!IsNew(point) || stopped_) return {};
    if (context_.history != nullptr) {
      SchemaVersion version;
      version.table = change.table;
      version.point = point;
      version.position = PositionText(point);
      version.time_ms = change.commit_time_ms;
      version.schema = change.after();
      version.statement = text;
      DRIFTLESS_TRY(context_.history->Put(version));
    }
    Sent(output_->Schema(std::make_shared<const StatementChange>(std::move(change)),
                         PositionText(point)));
    Progress(point);
    return {};
  }

  const ScriptSourceOptions& options_;
  const SourceContext& context_;
  const StreamId stream_;
  const std::optional<Point> from_;
  SourceOutput* const output_;
  mysql::DdlCatalog catalog_;
  bool stopped_ = false;  // the pipeline stops: nothing more is taken
};

class ScriptSource : public Source {
 public:
  explicit ScriptSource(ScriptSourceOptions options) : options_(std::move(options)) {}

  Result<void> Connect(const SourceContext& context) override {
    context_ = context;
    return {};
  }
  std::vector<std::string> streams() const override { return {"script"}; }
  Result<void> Run(StreamId stream, size_t, const CutPosition& from,
                   SourceOutput* output) override {
    auto played = ScriptPlay(options_, context_, stream, from.Last(stream), output).Run();
    if (!played) return std::move(played).error().Context(options_.script->file);
    if (options_.crash) options_.crash();
    return {};
  }

 private:
  const ScriptSourceOptions options_;
  SourceContext context_;
};

}  // namespace

std::unique_ptr<Source> MakeScriptSource(ScriptSourceOptions options) {
  return std::make_unique<ScriptSource>(std::move(options));
}

}  // namespace driftless
