#include "sinks/iceberg/commit_group.h"

#include <algorithm>

namespace driftless::iceberg {
namespace {

// Cuts that are remembered behind the newest one; later ones are of runs that were given up.
constexpr CutId kRemembered = 16;

}  // namespace

void CommitGroups::Sealed(const CommitToken& token) {
  const std::lock_guard lock(mutex_);
  const CutId cut = token.identity.cut;
  std::erase_if(groups_, [cut](const auto& group) { return group.first + kRemembered < cut; });
  auto& group = groups_[cut];
  if (group == nullptr) group = std::make_shared<Group>();
  group->tokens.push_back(token);
}

Result<void> CommitGroups::Run(const CommitToken& token, const Commit& commit) {
  std::shared_ptr<Group> group;
  std::vector<CommitToken> tokens;
  {
    const std::lock_guard lock(mutex_);
    const auto found = groups_.find(token.identity.cut);
    if (found != groups_.end()) {
      group = found->second;
      tokens = group->tokens;
    }
  }
  // A token of a former process, or one that was sealed anew, goes alone.
  const bool is_member = std::ranges::any_of(
      tokens, [&](const CommitToken& other) { return other.payload == token.payload; });
  if (is_member && tokens.size() > 1) {
    const std::lock_guard lock(group->mutex);
    if (!group->tried) {
      group->tried = true;
      group->done = commit(tokens).has_value();
    }
    if (group->done) return {};
  }
  return commit({&token, 1});
}

}  // namespace driftless::iceberg
