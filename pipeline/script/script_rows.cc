#include "pipeline/script/script_rows.h"

#include <simdjson.h>

#include <optional>

#include "schema/base/bytes_text.h"
#include "schema/types/casts.h"
#include "schema/types/json_text.h"

namespace driftless {
namespace {

enum class Image : uint8_t { kAfter, kBefore };

std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && static_cast<unsigned char>(text.back()) <= ' ') text.remove_suffix(1);
  return text;
}

Error BadRow(const ScriptLine& line, std::string message) {
  return MakeError(ErrorKind::kInvalidInput, std::move(message)).At(line.line, line.column);
}

void AppendValue(const ColumnView& value, ColumnBuilder* out) {
  switch (out->physical()) {
    case PhysicalKind::kBit: return out->AppendBit(value.Bit(0));
    case PhysicalKind::kFixed8: return out->AppendInt(value.Fixed<int8_t>(0));
    case PhysicalKind::kFixed16: return out->AppendInt(value.Fixed<int16_t>(0));
    case PhysicalKind::kFixed32: return out->AppendInt(value.Fixed<int32_t>(0));
    case PhysicalKind::kFixed64: return out->AppendInt(value.Fixed<int64_t>(0));
    case PhysicalKind::kFixed128: return out->AppendInt128(value.Fixed<__int128>(0));
    case PhysicalKind::kVariable: return out->AppendBytes(value.Bytes(0));
    case PhysicalKind::kList:
    case PhysicalKind::kStruct: return out->AppendNull();  // refused before
  }
}

class RowReader {
 public:
  RowReader(const ScriptDirective& directive, const TableSchemaPtr& schema, StreamId stream)
      : directive_(directive), schema_(schema), stream_(stream), builder_(schema, stream) {}

  Result<ChangeBatchPtr> Read() {
    for (size_t i = 0; i < directive_.body.size(); ++i) {
      const ScriptLine& line = directive_.body[i];
      if (line.text.empty() || line.text.front() == '#') continue;
      DRIFTLESS_TRY(ReadLine(line));
    }
    if (pending_before_) {
      return BadRow(*pending_before_, "a -U line must be followed by its +U line");
    }
    return builder_.Seal();
  }

 private:
  Result<void> ReadLine(const ScriptLine& line) {
    const std::string_view op = std::string_view(line.text).substr(0, 2);
    const std::string_view json = Trimmed(std::string_view(line.text).substr(op.size()));
    auto fields = ParseJsonRow(json);
    if (!fields) return BadRow(line, fields.error().message());
    if (pending_before_ && op != "+U") {
      return BadRow(line, "a -U line must be followed by its +U line");
    }
    if (op == "-U") {
      pending_before_ = &line;
      before_ = *std::move(fields);
      return {};
    }
    if (op == "+I" || op == "+R") return Add(line, op == "+I" ? Op::kInsert : Op::kRead, *fields);
    if (op == "+U") return Add(line, Op::kUpdate, *fields);
    if (op == "-D") return Add(line, Op::kDelete, *fields);
    return BadRow(line, "a row begins with +I, +R, -U, +U or -D");
  }

  Result<void> Add(const ScriptLine& line, Op op, const std::vector<JsonField>& fields) {
    builder_.BeginRow(op, Point{stream_, 0, static_cast<uint64_t>(line.line), 0, 0},
                      line.line * 1000LL);
    if (pending_before_) {
      DRIFTLESS_TRY(Fill(*pending_before_, before_, Image::kBefore, /*nulls=*/false));
      pending_before_ = nullptr;
    }
    const Image image = op == Op::kDelete ? Image::kBefore : Image::kAfter;
    const bool whole = op == Op::kInsert || op == Op::kRead;
    DRIFTLESS_TRY(Fill(line, fields, image, whole));
    builder_.EndRow();
    return {};
  }

  Result<void> Fill(const ScriptLine& line, const std::vector<JsonField>& fields, Image image,
                    bool nulls) {
    std::vector<bool> named(schema_->columns.size(), false);
    for (const JsonField& field : fields) {
      const int index = schema_->IndexOfName(field.name);
      if (index < 0) {
        return BadRow(line, "table " + schema_->path.ToString() + " has no column \"" + field.name +
                                "\" here");
      }
      if (named[static_cast<size_t>(index)]) {
        return BadRow(line, "column " + field.name + " is given twice");
      }
      named[static_cast<size_t>(index)] = true;
      DRIFTLESS_TRY(AppendField(line, field, schema_->columns[static_cast<size_t>(index)].type,
                                &Builder(image, index)));
    }
    for (size_t i = 0; nulls && i < named.size(); ++i) {
      if (!named[i]) Builder(image, static_cast<int>(i)).AppendNull();
    }
    return {};
  }

  ColumnBuilder& Builder(Image image, int index) {
    return image == Image::kAfter ? builder_.after(index) : builder_.before(index);
  }

  Result<void> AppendField(const ScriptLine& line, const JsonField& field, const LogicalType& type,
                           ColumnBuilder* out) {
    if (field.is_null) {
      out->AppendNull();
      return {};
    }
    std::string text = field.text;
    if (type.IsBytes() && text.starts_with("0x")) {
      std::string bytes;
      if (!DecodeHex(std::string_view(text).substr(2), &bytes)) {
        return BadRow(line, "column " + field.name + ": " + text + " is not hexadecimal");
      }
      text = std::move(bytes);
    }
    const int32_t offsets[] = {0, static_cast<int32_t>(text.size())};
    ColumnView view;
    view.length = 1;
    view.values = reinterpret_cast<const uint8_t*>(text.data());
    view.offsets = offsets;
    OwnedColumn value;
    ColumnCast(LogicalType::String(), type, TimeZone()).Run(view, &value);
    if (value.misfit_count > 0) {
      return BadRow(line, "column " + field.name + ": \"" + text + "\" is no " + type.ToString());
    }
    AppendValue(value.view(), out);
    return {};
  }

  const ScriptDirective& directive_;
  const TableSchemaPtr& schema_;
  const StreamId stream_;
  ChangeBatchBuilder builder_;
  const ScriptLine* pending_before_ = nullptr;  // a -U line that waits for its +U
  std::vector<JsonField> before_;
};

}  // namespace

Result<std::vector<JsonField>> ParseJsonRow(std::string_view json) {
  // Checked as a whole first: reading on demand would not notice what stands behind the object.
  if (!JsonChecker().IsJson(json)) return MakeError(ErrorKind::kParse, "not a JSON object");
  std::vector<JsonField> fields;
  try {
    simdjson::ondemand::parser parser;
    const simdjson::padded_string padded(json.data(), json.size());
    simdjson::ondemand::document document = parser.iterate(padded);
    for (simdjson::ondemand::field item : document.get_object()) {
      JsonField& field = fields.emplace_back();
      field.name = std::string(item.unescaped_key().value());
      simdjson::ondemand::value value = item.value();
      switch (value.type().value()) {
        case simdjson::ondemand::json_type::null: field.is_null = value.is_null(); break;
        case simdjson::ondemand::json_type::string:
          field.text = std::string(value.get_string().value());
          break;
        case simdjson::ondemand::json_type::object:
        case simdjson::ondemand::json_type::array:
          field.text = std::string(std::string_view(simdjson::to_json_string(value)));
          break;
        default: field.text = std::string(Trimmed(value.raw_json_token())); break;
      }
    }
  } catch (const std::exception& e) {
    return MakeError(ErrorKind::kParse, "not a JSON object: " + std::string(e.what()));
  }
  return fields;
}

Result<ChangeBatchPtr> ReadRows(const ScriptDirective& directive, const TableSchemaPtr& schema,
                                StreamId stream) {
  return RowReader(directive, schema, stream).Read();
}

}  // namespace driftless
