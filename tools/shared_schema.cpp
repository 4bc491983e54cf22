// SPDX-License-Identifier: MIT
#include "tools/shared_schema.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "runtime/base/digest.hpp"

namespace riffle::tools {

namespace {

/// All that anybody has, and what was tried.
class schema_table {
 public:
  std::shared_ptr<const shared_schema> find(const std::string& text) {
    const std::lock_guard lock{mutex_};
    const auto found = all_.find(text);
    return found == all_.end() ? nullptr : found->second.lock();
  }

  /// The first one that was made counts.
  std::shared_ptr<const shared_schema> keep(
      const std::string& text, std::shared_ptr<const shared_schema> made) {
    const std::lock_guard lock{mutex_};
    if (all_.size() >= sweep_at_) {
      std::erase_if(all_, [](const auto& x) { return x.second.expired(); });
      sweep_at_ = std::max(least_sweep, 2 * all_.size());
    }
    auto& place = all_[text];
    if (auto known = place.lock()) return known;
    place = made;
    return made;
  }

  void note_tried(std::string digest) {
    const std::lock_guard lock{mutex_};
    if (tried_.size() >= most_tried) tried_.clear();
    tried_.insert(std::move(digest));
  }
  bool was_tried(const std::string& digest) {
    const std::lock_guard lock{mutex_};
    return tried_.contains(digest);
  }

 private:
  static constexpr std::size_t least_sweep = 64;
  static constexpr std::size_t most_tried = 20'000;

  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const shared_schema>> all_;
  std::size_t sweep_at_ = least_sweep;
  std::unordered_set<std::string> tried_;  ///< SHA-256
};

schema_table& table() {
  static auto* const x = new schema_table;  // threads may outlive statics
  return *x;
}

}  // namespace

tl::expected<std::shared_ptr<const shared_schema>, std::string>
shared_schema::of(const std::string& text) {
  if (auto known = table().find(text)) return known;
  std::optional<schema> compiled;
  if (!table().was_tried(sha256(text))) {
    auto made = schema::compile(text);  // others compile theirs meanwhile
    if (!made) return tl::unexpected{std::move(made).error()};
    compiled = *std::move(made);
  }
  return table().keep(
      text, std::make_shared<const shared_schema>(text, std::move(compiled)));
}

tl::expected<void, std::string> shared_schema::try_out(
    const std::string& text) {
  auto digest = sha256(text);
  if (table().was_tried(digest)) return {};
  if (auto made = schema::compile(text); !made)
    return tl::unexpected{std::move(made).error()};
  table().note_tried(std::move(digest));
  return {};
}

std::vector<violation> shared_schema::check(const nlohmann::json& value) const {
  {
    const std::lock_guard lock{mutex_};
    if (!compiled_) {
      auto made = schema::compile(text_);
      if (!made) return {{"", "its schema cannot be used: " + made.error()}};
      compiled_ = *std::move(made);
    }
  }
  return compiled_->check(value);
}

}  // namespace riffle::tools
