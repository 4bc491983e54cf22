// SPDX-License-Identifier: MIT
#include "actors/core/key_index.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace riffle::core {

namespace {

/// Without the slash behind a folder. Nothing: it covers everything.
std::optional<std::string_view> path_of(std::string_view key) {
  if (key.empty() || key == "/" || key == ".") return {};
  if (key.ends_with('/')) key.remove_suffix(1);
  return key;
}

std::string_view first_component(std::string_view path) {
  return path.substr(0, path.find('/'));
}

/// Whether `path` is `folder`, or in it.
bool within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/');
}

/// Bytes of the components that both begin with; the first one is equal.
std::size_t common_part(std::string_view a, std::string_view b) {
  const auto ends = std::ranges::mismatch(a, b);
  const auto equal = static_cast<std::size_t>(ends.in1 - a.begin());
  return a.substr(0, equal).rfind('/');
}

using place_or_none = std::optional<call_place>;

}  // namespace

std::optional<call_place> last_below(const std::set<call_place>& all,
                                     call_place limit) {
  const auto i = all.lower_bound(limit);
  if (i == all.begin()) return {};
  return *std::prev(i);
}

struct key_index::node {
  using child_list = std::map<std::string, std::unique_ptr<node>, std::less<>>;

  std::string label;  ///< behind the parent's; one component or more
  child_list children;
  std::set<call_place> own;    ///< with this very key
  std::set<call_place> below;  ///< with this key or one in it
  /// What would make the tree too high: what is left of the keys.
  std::map<call_place, std::vector<std::string>> deep;
  std::size_t height = 0;  ///< of the levels that ever were below it

  void add(std::string_view rest, call_place x, std::size_t level) {
    below.insert(x);
    auto i = children.find(first_component(rest));
    if (i == children.end()) {
      if (level + 1 >= most_levels) return add_deep(rest, x);
      i = put(rest);
    } else if (!within(rest, i->second->label)) {
      if (level + i->second->height + 2 >= most_levels)
        return add_deep(rest, x);
      split(*i->second, rest);
    }
    auto& child = *i->second;
    if (child.label.size() < rest.size()) {
      child.add(rest.substr(child.label.size() + 1), x, level + 1);
    } else {
      child.own.insert(x);
      child.below.insert(x);
    }
    height = std::max(height, child.height + 1);
  }

  /// True: nothing is left here.
  bool remove(std::string_view rest, call_place x) {
    below.erase(x);
    deep.erase(x);
    const auto i = children.find(first_component(rest));
    if (i != children.end() && within(rest, i->second->label)) {
      auto& child = *i->second;
      bool gone = false;
      if (child.label.size() < rest.size()) {
        gone = child.remove(rest.substr(child.label.size() + 1), x);
      } else {
        child.own.erase(x);
        child.below.erase(x);
        gone = child.below.empty();
      }
      if (gone) children.erase(i);
    }
    return below.empty();
  }

  [[nodiscard]] place_or_none last_before(std::string_view rest,
                                          call_place limit) const {
    auto best = std::max(last_below(own, limit), last_deep(rest, limit));
    const auto i = children.find(first_component(rest));
    if (i == children.end()) return best;
    const auto& child = *i->second;
    if (within(child.label, rest))  // all of it is in `rest`
      return std::max(best, last_below(child.below, limit));
    if (within(rest, child.label))
      best = std::max(
          best, child.last_before(rest.substr(child.label.size() + 1), limit));
    return best;
  }

 private:
  child_list::iterator put(std::string_view rest) {
    auto fresh = std::make_unique<node>();
    fresh->label = rest;
    return children.emplace(first_component(rest), std::move(fresh)).first;
  }

  /// Makes a node of what this child and `rest` begin with.
  static void split(node& child, std::string_view rest) {
    const auto size = within(child.label, rest)
                          ? rest.size()
                          : common_part(child.label, rest);
    auto lower = std::make_unique<node>(std::move(child));
    child = node{};
    child.label = lower->label.substr(0, size);
    child.below = lower->below;
    child.height = lower->height + 1;
    lower->label.erase(0, size + 1);
    auto name = std::string{first_component(lower->label)};
    child.children.emplace(std::move(name), std::move(lower));
  }

  void add_deep(std::string_view rest, call_place x) {
    deep[x].emplace_back(rest);
  }

  [[nodiscard]] place_or_none last_deep(std::string_view rest,
                                        call_place limit) const {
    auto i = deep.lower_bound(limit);
    while (i != deep.begin()) {
      --i;
      if (std::ranges::any_of(i->second, [&](std::string_view x) {
            return within(x, rest) || within(rest, x);
          }))
        return i->first;
    }
    return {};
  }
};

key_index::key_index() : root_{std::make_unique<node>()} {}
key_index::~key_index() = default;
key_index::key_index(key_index&& x) noexcept = default;
key_index& key_index::operator=(key_index&&) noexcept = default;

void key_index::add(const std::string& key, call_place x) {
  if (const auto path = path_of(key)) return root_->add(*path, x, 0);
  root_->own.insert(x);
  root_->below.insert(x);
}

void key_index::remove(const std::string& key, call_place x) {
  if (const auto path = path_of(key)) {
    root_->remove(*path, x);
  } else {
    root_->own.erase(x);
    root_->below.erase(x);
  }
}

void key_index::clear() { root_ = std::make_unique<node>(); }

std::optional<call_place> key_index::last_before(const std::string& key,
                                                 call_place limit) const {
  if (const auto path = path_of(key)) return root_->last_before(*path, limit);
  return last_below(root_->below, limit);
}

}  // namespace riffle::core
