#pragma once

// Reads our own JSON documents (state database, plans). Includes simdjson: only for .cc files that
// parse such documents; never include it from a header.

#include <simdjson.h>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "schema/base/bytes_text.h"
#include "schema/base/result.h"

namespace driftless {

// The first thing that was wrong with a document. Getters go on with default values after it, so
// that reading code needs no check per field; the caller asks once at the end.
class JsonProblem {
 public:
  void Set(std::string text) {
    if (text_.empty()) text_ = std::move(text);
  }
  bool ok() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// One JSON object. A key that is not there gives the default value, because writers leave defaults
// out; a value of another kind is a problem. Lives no longer than the document.
class JsonObject {
 public:
  JsonObject(simdjson::dom::element element, std::string path, JsonProblem* problem)
      : path_(std::move(path)), problem_(problem) {
    is_object_ = element.get(object_) == simdjson::SUCCESS;
    if (!is_object_) Fail(path_.empty() ? "the document" : path_, "an object");
  }
  // Stands for an object that is missing: every getter gives its default.
  JsonObject(std::string path, JsonProblem* problem) : path_(std::move(path)), problem_(problem) {}

  bool Has(std::string_view key) const {
    simdjson::dom::element element;
    return Get(key, &element);
  }
  std::string String(std::string_view key) const {
    simdjson::dom::element element;
    return Get(key, &element) ? ToText(element, key) : std::string();
  }
  template <typename Integer = int64_t>
  Integer Int(std::string_view key, Integer fallback = 0) const {
    simdjson::dom::element element;
    if (!Get(key, &element)) return fallback;
    return ToInt<Integer>(element, key);
  }
  bool Bool(std::string_view key) const {
    simdjson::dom::element element;
    bool value = false;
    if (Get(key, &element) && element.get(value) != simdjson::SUCCESS) Fail(Path(key), "a boolean");
    return value;
  }
  std::vector<std::string> Strings(std::string_view key) const {
    std::vector<std::string> values;
    Each(key, [&](simdjson::dom::element item) { values.push_back(ToText(item, key)); });
    return values;
  }
  template <typename Integer>
  std::vector<Integer> Ints(std::string_view key) const {
    std::vector<Integer> values;
    Each(key, [&](simdjson::dom::element item) { values.push_back(ToInt<Integer>(item, key)); });
    return values;
  }
  std::map<std::string, std::string> StringMap(std::string_view key) const {
    std::map<std::string, std::string> values;
    simdjson::dom::element element;
    if (!Get(key, &element)) return values;
    simdjson::dom::object object;
    if (element.get(object) != simdjson::SUCCESS) {
      Fail(Path(key), "an object");
      return values;
    }
    for (const auto& [name, value] : object) values[std::string(name)] = ToText(value, key);
    return values;
  }
  // An object that must be there.
  JsonObject Object(std::string_view key) const {
    simdjson::dom::element element;
    if (!Get(key, &element)) {
      problem_->Set(Path(key) + " is missing");
      return JsonObject(Path(key), problem_);
    }
    return JsonObject(element, Path(key), problem_);
  }
  // Calls `read` with a JsonObject for every item of an array of objects.
  template <typename Read>
  void Objects(std::string_view key, Read read) const {
    Each(key, [&](simdjson::dom::element item) { read(JsonObject(item, Path(key), problem_)); });
  }
  // For values that the caller checks himself: "DECIMAL(39, 0) is not ...".
  void Fail(std::string_view key, std::string_view wanted) const {
    problem_->Set(std::string(key) + " is not " + std::string(wanted));
  }
  JsonProblem* problem() const { return problem_; }
  std::string Path(std::string_view key) const {
    return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  }

 private:
  bool Get(std::string_view key, simdjson::dom::element* element) const {
    return is_object_ && object_[key].get(*element) == simdjson::SUCCESS;
  }
  template <typename Visit>
  void Each(std::string_view key, Visit visit) const {
    simdjson::dom::element element;
    if (!Get(key, &element)) return;
    simdjson::dom::array array;
    if (element.get(array) != simdjson::SUCCESS) return Fail(Path(key), "an array");
    for (const simdjson::dom::element item : array) visit(item);
  }
  std::string ToText(simdjson::dom::element element, std::string_view key) const {
    std::string_view text;
    if (element.get(text) == simdjson::SUCCESS) return std::string(text);
    std::string bytes;
    simdjson::dom::object encoded;
    if (element.get(encoded) != simdjson::SUCCESS ||
        encoded["base64"].get(text) != simdjson::SUCCESS || !DecodeBase64(text, &bytes)) {
      Fail(Path(key), "a string");
    }
    return bytes;
  }
  template <typename Integer>
  Integer ToInt(simdjson::dom::element element, std::string_view key) const {
    int64_t number = 0;
    if (element.get(number) == simdjson::SUCCESS && std::in_range<Integer>(number)) {
      return static_cast<Integer>(number);
    }
    uint64_t big = 0;
    if (element.get(big) == simdjson::SUCCESS && std::in_range<Integer>(big)) {
      return static_cast<Integer>(big);
    }
    Fail(Path(key), "an integer in range");
    return 0;
  }

  simdjson::dom::object object_;
  bool is_object_ = false;
  std::string path_;
  JsonProblem* problem_;
};

// Parses one document and hands its root object to `read`; `what` names the document in errors,
// which are kCorrupt: we wrote it ourselves.
template <typename T, typename Read>
Result<T> ReadJson(std::string_view text, std::string_view what, Read read) {
  try {
    simdjson::dom::parser parser;
    simdjson::dom::element root;
    const simdjson::error_code error = parser.parse(text.data(), text.size()).get(root);
    JsonProblem problem;
    if (error != simdjson::SUCCESS) {
      problem.Set(simdjson::error_message(error));
    } else {
      T value = read(JsonObject(root, "", &problem));
      if (problem.ok()) return value;
    }
    return MakeError(ErrorKind::kCorrupt,
                     "the stored text is not " + std::string(what) + ": " + problem.text());
  } catch (const std::exception& e) {
    return MakeError(ErrorKind::kCorrupt,
                     "the stored text is not " + std::string(what) + ": " + e.what());
  }
}

}  // namespace driftless
