// SPDX-License-Identifier: MIT
#pragma once

// Which calls touch a key, where a folder covers what is in it. Pure.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace riffle::core {

/// A call's place in the order of its step.
using call_place = std::uint64_t;

/// Keys of calls, as a tree of their components; a node is a component, or a
/// run of components at which nothing branches. A look-up costs what the key
/// is long, not how many calls there are.
///
/// Each node knows the places in its whole subtree, so a tree costs memory by
/// its levels: those beyond `most_levels` (paths that branch at each of their
/// folders) are kept as a list, which is looked through.
class key_index {
 public:
  static constexpr std::size_t most_levels = 24;

  key_index();
  ~key_index();
  key_index(const key_index&) = delete;
  key_index& operator=(const key_index&) = delete;
  key_index(key_index&&) noexcept;
  key_index& operator=(key_index&&) noexcept;

  void add(const std::string& key, call_place x);
  /// Of a call all keys are taken out, or none. Unknown ones are ignored.
  void remove(const std::string& key, call_place x);
  void clear();

  /// The last place before `limit` with a key that overlaps this one, in the
  /// sense of `keys_overlap`.
  [[nodiscard]] std::optional<call_place> last_before(const std::string& key,
                                                      call_place limit) const;

 private:
  struct node;

  std::unique_ptr<node> root_;
};

/// The largest element of a set below `limit`.
[[nodiscard]] std::optional<call_place> last_below(
    const std::set<call_place>& all, call_place limit);

}  // namespace riffle::core
