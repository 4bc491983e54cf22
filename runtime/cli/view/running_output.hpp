// SPDX-License-Identifier: MIT
#pragma once

// What calls that work have written so far, as the events of their run tell it.
// Pure.

#include <cstddef>
#include <deque>
#include <set>
#include <string>

#include "messages/event.hpp"
#include "messages/time.hpp"

namespace riffle::cli {

class running_output {
 public:
  /// Of a call the newest part stays, about so many bytes.
  static constexpr std::size_t most_kept = 64u << 10;

  /// The events of one run, in order.
  void on(const event& x);

  /// A call works: one that waits for a person does not.
  [[nodiscard]] bool any() const;

  /// Of the one that wrote last, or of the newest where none did: "bash: make,
  /// running for 12s, so far:".
  [[nodiscard]] std::string head(wall_time now) const;
  /// What it wrote; empty: nothing.
  [[nodiscard]] std::string text() const;

 private:
  struct open_call {
    call_id id{};
    std::string name{};
    wall_time began{};
    std::string text{};
    bool complete = true;
  };
  [[nodiscard]] const open_call* newest() const;
  void write(const events::tool_progress& x, wall_time at);

  std::deque<open_call> open_;  ///< who wrote last stands last
  std::set<call_id> asks_;
};

}  // namespace riffle::cli
