// SPDX-License-Identifier: MIT
#include "actors/core/conflict_index.hpp"

#include <algorithm>

namespace riffle::core {

void conflict_index::add(const tool_call& x, call_place at) {
  const bool writes = x.eff == effect::mutating;
  (writes ? writers_ : readers_).insert(at);
  if (writes && x.keys.empty()) free_writers_.insert(at);
  for (const auto& key : x.keys) (writes ? written_ : read_).add(key, at);
}

void conflict_index::remove(const tool_call& x, call_place at) {
  const bool writes = x.eff == effect::mutating;
  (writes ? writers_ : readers_).erase(at);
  if (writes && x.keys.empty()) free_writers_.erase(at);
  for (const auto& key : x.keys) (writes ? written_ : read_).remove(key, at);
}

void conflict_index::clear() { *this = conflict_index{}; }

std::optional<call_place> conflict_index::last_before(const tool_call& x,
                                                      call_place limit) const {
  const auto writer = last_writer_before(x, limit);
  return writer ? writer : last_reader_before(x, limit);
}

std::optional<call_place> conflict_index::last_writer_before(
    const tool_call& x, call_place limit) const {
  if (x.eff == effect::mutating) return last_below(writers_, limit);
  auto found = last_below(free_writers_, limit);
  for (const auto& key : x.keys)
    found = std::max(found, written_.last_before(key, limit));
  return found;
}

std::optional<call_place> conflict_index::last_named_writer_before(
    const tool_call& x, call_place limit) const {
  std::optional<call_place> found;
  for (const auto& key : x.keys)
    found = std::max(found, written_.last_before(key, limit));
  return found;
}

std::optional<call_place> conflict_index::last_reader_before(
    const tool_call& x, call_place limit) const {
  if (x.eff != effect::mutating) return {};
  if (x.keys.empty()) return last_below(readers_, limit);
  std::optional<call_place> found;
  for (const auto& key : x.keys)
    found = std::max(found, read_.last_before(key, limit));
  return found;
}

}  // namespace riffle::core
