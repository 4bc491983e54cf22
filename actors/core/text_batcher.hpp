// SPDX-License-Identifier: MIT
#pragma once

// Makes events of a model's text: one for each piece, for each sentence, or as
// fast as readers can follow (publish.batching, publish.flush_delay).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "messages/time.hpp"
#include "messages/turn.hpp"

namespace riffle::core {

enum class batching : std::uint8_t {
  token,     ///< every piece at once
  sentence,  ///< at sentence ends; what is left by timer
  adaptive,  ///< at once while text is slow, in batches when it is fast
};

/// Text or reasoning of one event. A refusal is visible text.
struct text_out {
  piece_kind kind = piece_kind::text;
  std::string_view content;
};

/// One past the last sentence end in `text`, 0 if there is none. Ends: a line
/// break; `.`, `!`, `?` or `…`, then closing quotes or brackets, then a blank;
/// `。`, `！`, `？`. `from` is where the search starts and is moved to where a
/// search in a longer text has to go on.
[[nodiscard]] std::size_t sentence_cut(std::string_view text,
                                       std::size_t& from) noexcept;

/// Keeps the order of all text, never mixes kinds in one event, and cuts only
/// between characters: at the end of a piece or behind a sentence end. Holds
/// at most `buffer_limit` plus one piece. Not thread safe.
class text_batcher {
 public:
  static constexpr std::size_t buffer_limit = 64 * 1024;

  /// `flush_delay`: how long text may wait; at 0 nothing waits.
  text_batcher(batching mode, duration flush_delay)
      : mode_{mode}, delay_{flush_delay} {}

  /// Calls `emit(bool reasoning, std::string_view content)` for each event
  /// that is due now. Without copying in mode `token`. `last`: no more text
  /// follows, so that there is nothing to cut or to wait for.
  template <class Emit>
  void add(const piece_list& x, time_point now, Emit emit, bool last = false) {
    now_ = now;
    x.for_each([&](piece_kind kind, std::string_view content) {
      if (content.empty()) return;
      if (mode_ == batching::token) {
        emit(kind == piece_kind::reasoning, content);
        return;
      }
      const auto reasoning = kind == piece_kind::reasoning;
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

  /// The same, for a caller that knows the time; then `adaptive` measures its
  /// distance from here and not from the last `add`.
  template <class Emit>
  void flush(time_point now, Emit emit) {
    now_ = now;
    flush(emit);
  }

  /// When `flush` must happen by time; nothing if nothing is held.
  [[nodiscard]] std::optional<time_point> due() const noexcept;

  /// Bytes that are held.
  [[nodiscard]] std::size_t held() const noexcept { return buffer_.size(); }

 private:
  template <class Emit>
  void emit_front(std::size_t size, Emit& emit) {
    const auto x = front(size);
    emit(x.kind == piece_kind::reasoning, x.content);
    drop(size);
  }

  void append(bool reasoning, std::string_view content);
  /// Bytes at the front that have to leave now.
  [[nodiscard]] std::size_t due_size() noexcept;
  [[nodiscard]] text_out front(std::size_t size) const noexcept;
  void drop(std::size_t size);

  batching mode_;
  duration delay_;
  std::string buffer_;
  bool reasoning_ = false;   ///< kind of what `buffer_` holds
  std::size_t scanned_ = 0;  ///< where the search for sentence ends goes on
  time_point now_{};         ///< last time that a caller told
  time_point since_{};       ///< age of the oldest byte in `buffer_`
  std::optional<time_point> emitted_;  ///< last emission
};

}  // namespace riffle::core
