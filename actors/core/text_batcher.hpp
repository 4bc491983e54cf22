// SPDX-License-Identifier: MIT
#pragma once

// Makes events of a model's text. When something leaves, its policy says; the
// batcher keeps order and kinds.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "actors/core/batch_policy.hpp"
#include "messages/time.hpp"
#include "messages/turn.hpp"

namespace riffle::core {

/// Keeps the order of all text, never mixes kinds in one event, and cuts only
/// between characters: at the end of a piece or where the policy says. Holds
/// at most `buffer_limit` plus one piece. Not thread safe.
class text_batcher {
 public:
  static constexpr std::size_t buffer_limit = 64u << 10;

  /// `flush_delay`: how long text may wait; at 0 nothing waits.
  text_batcher(batching mode, duration flush_delay)
      : policy_{make_batch_policy(mode, flush_delay)},
        holds_{policy_->holds()} {}

  /// Calls `emit(bool reasoning, std::string_view content)` for each event
  /// that is due now; without copying if the policy holds nothing. `last`: no
  /// more text follows, so that there is nothing to cut or to wait for.
  template <class Emit>
  void add(const piece_list& x, time_point now, Emit emit, bool last = false) {
    now_ = now;
    x.for_each([&](piece_kind kind, std::string_view content) {
      if (content.empty()) return;
      const auto reasoning = kind == piece_kind::reasoning;
      if (!holds_) {
        emit(reasoning, content);
        return;
      }
      if (!buffer_.empty() && reasoning != reasoning_)
        emit_front(buffer_.size(), emit);
      append(reasoning, content);
      if (buffer_.size() >= buffer_limit) emit_front(buffer_.size(), emit);
    });
    if (last) return flush(emit);
    if (const auto size = due_size(); size != 0) emit_front(size, emit);
  }

  /// Emits what is held: before anything that is no text, and at `due`.
  template <class Emit>
  void flush(Emit emit) {
    if (!buffer_.empty()) emit_front(buffer_.size(), emit);
  }

  /// When `flush` must happen by time; nothing if nothing is held.
  [[nodiscard]] std::optional<time_point> due() const;

  /// Bytes that are held.
  [[nodiscard]] std::size_t held() const noexcept { return buffer_.size(); }

 private:
  template <class Emit>
  void emit_front(std::size_t size, Emit& emit) {
    emit(reasoning_, std::string_view{buffer_}.substr(0, size));
    drop(size);
  }

  void append(bool reasoning, std::string_view content);
  /// Bytes at the front that have to leave now.
  [[nodiscard]] std::size_t due_size();
  void drop(std::size_t size);

  std::unique_ptr<batch_policy> policy_;
  bool holds_;
  std::string buffer_;
  bool reasoning_ = false;  ///< kind of what `buffer_` holds
  time_point now_{};        ///< last time that a caller told
  time_point since_{};      ///< age of the oldest byte in `buffer_`
};

}  // namespace riffle::core
