// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "messages/turn.hpp"

namespace riffle::core {

/// Folds the deltas of one turn into the message that they make. Pure.
class message_assembler {
 public:
  /// `request_bytes`: size of the request, for an estimate of its tokens.
  explicit message_assembler(std::size_t request_bytes = 0)
      : request_bytes_{request_bytes} {}

  void add(const turn_delta& x);

  /// What a reader sees: text and refusals, in order of arrival.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::string& reasoning() const noexcept {
    return reasoning_;
  }
  /// The part of `text` that was sent as a refusal.
  [[nodiscard]] const std::string& refusal() const noexcept { return refusal_; }
  /// The last one seen; see `turn_state::text`.
  [[nodiscard]] const std::string& state() const noexcept { return state_; }
  /// Bytes of text and reasoning so far.
  [[nodiscard]] std::uint64_t said() const noexcept {
    return text_.size() + reasoning_.size();
  }
  /// Nothing more is read: the answer ends for its length.
  void cut_off() noexcept { finish_ = finish_reason::length; }
  /// The last one seen; nothing: none yet.
  [[nodiscard]] std::optional<finish_reason> finish() const noexcept {
    return finish_;
  }
  /// The first one.
  [[nodiscard]] const std::optional<error>& failure() const noexcept {
    return failure_;
  }
  /// The dialect's end mark came.
  [[nodiscard]] bool done() const noexcept { return done_; }

  /// What the provider said last; if it said nothing, an estimate of four
  /// bytes a token of what was sent and received, flagged `estimated`.
  [[nodiscard]] token_usage usage() const;

 private:
  std::size_t request_bytes_;
  std::size_t call_bytes_ = 0;
  std::string text_;
  std::string reasoning_;
  std::string refusal_;
  std::string state_;
  std::optional<finish_reason> finish_;
  std::optional<token_usage> usage_;
  std::optional<error> failure_;
  bool done_ = false;
};

}  // namespace riffle::core
