#include "config/yaml/yaml.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "config/yaml/references.h"
#include "config/yaml/source_text.h"

namespace driftless {
namespace {

constexpr size_t kTextBytesMax = 16u << 20;
constexpr size_t kNodesMax = 200'000;

// Thrown by the builder through yaml-cpp's parser, and caught in ParseYaml, to end the parse.
struct Stop {};

size_t CountNodes(const YamlNode& node) {
  size_t count = 1;
  for (const YamlNode& item : node.items) count += CountNodes(item);
  for (const YamlNode::Entry& entry : node.entries) count += CountNodes(entry.value);
  return count;
}

// Turns yaml-cpp's events into a tree of ours. Events rather than its nodes, because only they tell
// duplicate keys, quoted text, and where a key stands.
class TreeBuilder : public YAML::EventHandler {
 public:
  TreeBuilder(const SourceText& source, const ReferenceResolver& resolver, Problems* problems)
      : source_(source), resolver_(resolver), problems_(problems) {}

  YamlNode TakeRoot() { return std::move(root_); }
  int documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 2) {
      problems_->AddError(At(mark), "a second document starts here",
                          "Keep one pipeline per file; remove the \"---\" line.");
      throw Stop{};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.at = At(mark);
    const std::string_view rest = source_.RestOfLine(node.at);
    for (std::string_view word : {"null", "Null", "NULL", "~"}) {
      if (rest.starts_with(word)) node.text = word;
    }
    Close(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto it = anchors_.find(anchor);
    if (it == anchors_.end()) {
      problems_->AddError(At(mark), "an alias inside the node that it names");
      throw Stop{};
    }
    nodes_ += CountNodes(it->second);
    CheckNodeCount(mark);
    YamlNode copy = it->second;
    copy.at = At(mark);
    Close(std::move(copy), 0);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.at = At(mark);
    node.quoted = tag == "!";
    CheckTag(node.at, tag);
    if (node.quoted && !source_.QuoteCloses(node.at)) {
      problems_->AddError(node.at, "this quote is not closed", "Add the missing quote.");
      throw Stop{};
    }
    const bool is_key = !stack_.empty() && stack_.back().node.is_map() && !stack_.back().key;
    if (is_key) {
      node.text = value;
    } else {
      ResolveReferences(value, node.at, resolver_, &node, problems_);
    }
    Close(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kSequence, mark, tag, anchor);
  }
  void OnSequenceEnd() override { CloseTop(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    Open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { CloseTop(); }

 private:
  struct Level {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::optional<YamlNode> key;   // of the entry whose value comes next
    std::vector<YamlNode> merged;  // values of "<<"
  };

  Location At(const YAML::Mark& mark) const { return source_.At(mark.line, mark.column); }

  void CheckTag(Location at, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!" || tag == "tag:yaml.org,2002:str") return;
    problems_->AddError(at, fmt::format("the tag \"{}\" is not supported", tag),
                        "Remove it: every value is text until its option reads it.");
  }

  void CheckNodeCount(const YAML::Mark& mark) {
    if (nodes_ <= kNodesMax) return;
    problems_->AddError(At(mark), fmt::format("the file has more than {} nodes", kNodesMax));
    throw Stop{};
  }

  void Open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag,
            YAML::anchor_t anchor) {
    Level level;
    level.node.kind = kind;
    level.node.at = At(mark);
    level.anchor = anchor;
    CheckTag(level.node.at, tag);
    ++nodes_;
    CheckNodeCount(mark);
    stack_.push_back(std::move(level));
  }

  void CloseTop() {
    Level level = std::move(stack_.back());
    stack_.pop_back();
    for (YamlNode& merged : level.merged) Merge(std::move(merged), &level.node);
    Close(std::move(level.node), level.anchor);
  }

  // A finished node goes to its parent: as an item, as a key, or as the value of the last key.
  void Close(YamlNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_[anchor] = node;
    ++nodes_;
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& parent = stack_.back();
    if (parent.node.is_sequence()) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      if (!node.is_scalar()) {
        problems_->AddError(node.at, fmt::format("a key must be text, not {}", node.KindText()));
      }
      parent.key = std::move(node);
    } else {
      YamlNode key = *std::move(parent.key);
      parent.key.reset();
      AddEntry(std::move(key), std::move(node), &parent);
    }
  }

  void AddEntry(YamlNode key, YamlNode value, Level* map) {
    if (key.text == "<<" && !key.quoted) {
      map->merged.push_back(std::move(value));
      return;
    }
    if (const YamlNode::Entry* first = map->node.Find(key.text)) {
      problems_->AddError(key.at,
                          fmt::format("duplicate key \"{}\"; it stands in line {} already",
                                      key.text, first->at.line),
                          "Remove one of the two.");
      return;
    }
    map->node.entries.push_back({std::move(key.text), key.at, std::move(value)});
  }

  // YAML 1.1's merge key: entries of the merged map that the map does not have itself.
  void Merge(YamlNode merged, YamlNode* into) {
    if (merged.is_sequence()) {
      for (YamlNode& item : merged.items) Merge(std::move(item), into);
      return;
    }
    if (!merged.is_map()) {
      problems_->AddError(merged.at, "\"<<\" needs a map to merge");
      return;
    }
    for (YamlNode::Entry& entry : merged.entries) {
      if (into->Find(entry.key) == nullptr) into->entries.push_back(std::move(entry));
    }
  }

  const SourceText& source_;
  const ReferenceResolver& resolver_;
  Problems* problems_;
  YamlNode root_;
  std::vector<Level> stack_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  size_t nodes_ = 0;
  int documents_ = 0;
};

// yaml-cpp's messages name its own state; these say what is usually wrong.
struct Explanation {
  std::string_view theirs;
  std::string_view ours;
  std::string_view hint;
};
constexpr Explanation kExplanations[] = {
    {"end of map not found", "this line does not belong to the block above it",
     "Check the indentation: entries of one block start in the same column, and a list item "
     "starts with \"- \"."},
    {"end of sequence not found", "this line does not belong to the list above it",
     "Check the indentation: every item of a list starts with \"- \" in the same column."},
    {"illegal map value", "a value cannot stand here",
     "A text that holds \": \" needs quotes; otherwise check the indentation."},
    {"illegal map key", "a key cannot stand here", "Check the indentation and the quotes above."},
    {"illegal block entry", "a list item cannot stand here",
     "Put the list on lines of its own, below its key."},
    {"end of map flow not found", "a \"{\" is not closed", "Add the missing \"}\"."},
    {"end of sequence flow not found", "a \"[\" is not closed", "Add the missing \"]\"."},
    {"illegal EOF in scalar", "a quote is not closed before the end of the file",
     "Add the missing quote."},
    {"unknown escape character", "unknown escape in a text in double quotes",
     "Inside double quotes a backslash is written twice; single quotes keep it as it is."},
    {"alias not found after *", "\"*\" starts an alias, and no name follows",
     "Quote the text: '*', or write \\*."},
    {"illegal character found while scanning alias", "\"*\" starts an alias",
     "Quote the text, or write \\* in a projection."},
    {"the referenced anchor is not defined", "this alias names no anchor",
     "Quote a text that begins with \"*\", or define the anchor above."},
};

void ReportSyntaxError(const YAML::Exception& error, const SourceText& source, Problems* problems) {
  const bool has_place = !error.mark.is_null();
  Location at = has_place ? source.At(error.mark.line, error.mark.column) : Location{};
  if (const std::optional<Location> tab = source.FirstIndentingTab(at.line)) {
    problems->AddError(*tab, "a tab indents this line", "YAML wants spaces; use two per level.");
    return;
  }
  for (const Explanation& explanation : kExplanations) {
    if (error.msg.find(explanation.theirs) == std::string::npos) continue;
    // yaml-cpp has read the backslash and its character already.
    if (explanation.theirs.starts_with("unknown escape")) at.column = std::max(at.column - 2, 1);
    problems->AddError(at, std::string(explanation.ours), std::string(explanation.hint));
    return;
  }
  problems->AddError(at, "not YAML: " + error.msg);
}

}  // namespace

const YamlNode::Entry* YamlNode::Find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry;
  }
  return nullptr;
}

std::string_view YamlNode::KindText() const {
  switch (kind) {
    case Kind::kNull: return "nothing";
    case Kind::kScalar: return "a value";
    case Kind::kSequence: return "a list";
    case Kind::kMap: return "a map";
  }
  return "";
}

YamlNode ParseYaml(std::string_view text, const ReferenceResolver& resolver, Problems* problems) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  if (text.size() > kTextBytesMax) {
    problems->AddError({}, fmt::format("the file has more than {} MiB", kTextBytesMax >> 20));
    return {};
  }
  const SourceText source(text);
  if (const std::optional<Location> bad = source.FirstInvalidCharacter()) {
    problems->AddError(*bad, "this is not UTF-8 text", "Save the file as UTF-8.");
    return {};
  }
  TreeBuilder builder(source, resolver, problems);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    return builder.TakeRoot();
  } catch (const YAML::Exception& error) {
    ReportSyntaxError(error, source, problems);
  } catch (const Stop&) {
    // The builder has said why.
  } catch (const std::exception& error) {
    problems->AddError({}, fmt::format("not YAML: {}", error.what()));
  }
  return {};
}

}  // namespace driftless
