// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <set>

#include "actors/core/key_index.hpp"
#include "messages/call.hpp"

namespace riffle::core {

/// Finds which of many calls conflicts with one (`conflict`), without a look
/// at each.
class conflict_index {
 public:
  void add(const tool_call& x, call_place at);
  /// `x`: as it was added.
  void remove(const tool_call& x, call_place at);
  void clear();

  /// A call before `limit` that conflicts with `x`; nothing: there is none.
  /// Of several the last one that changes something, else the last one: it is
  /// the one that ends last, when calls end in their order.
  [[nodiscard]] std::optional<call_place> last_before(const tool_call& x,
                                                      call_place limit) const;
  /// The same among those that change something, and among the others.
  [[nodiscard]] std::optional<call_place> last_writer_before(
      const tool_call& x, call_place limit) const;
  /// One that changes something that both name.
  [[nodiscard]] std::optional<call_place> last_named_writer_before(
      const tool_call& x, call_place limit) const;
  [[nodiscard]] std::optional<call_place> last_reader_before(
      const tool_call& x, call_place limit) const;

 private:
  std::set<call_place> writers_;
  std::set<call_place> free_writers_;  ///< without keys: they touch everything
  std::set<call_place> readers_;
  key_index written_;
  key_index read_;
};

}  // namespace riffle::core
