// SPDX-License-Identifier: MIT
#pragma once

// Framing of server-sent events: bytes in, events out. A push decoder; any
// split of the bytes gives the same events (WHATWG HTML, section 9.2.6).

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

namespace riffle::model {

/// One event. The views are valid during the callback only.
struct sse_event {
  std::string_view type;  ///< empty: none was sent, which means "message"
  std::string_view data;  ///< lines joined by '\n'
  /// Bytes behind `data` that may be read (their value means nothing), for
  /// parsers that read ahead.
  std::size_t readable = 0;
};

class sse_decoder {
 public:
  /// Longest line, and most data of one event, in bytes. A parser's document
  /// of it may take twenty times as much.
  static constexpr std::size_t default_limit = 2u << 20;
  /// What `readable` is at least when an event had to be copied.
  static constexpr std::size_t copy_padding = 64;

  explicit sse_decoder(std::size_t limit = default_limit) : limit_{limit} {}

  /// Calls `f(const sse_event&)` for each event that the bytes complete. An
  /// event that lies in `bytes` as a whole (one data line) is not copied.
  /// False: an event or a line is beyond the limit; the decoder is dead then.
  template <class F>
  bool feed(std::string_view bytes, F f) {
    if (dead_) return false;
    const char* p = bytes.data();
    const char* const end = p + bytes.size();
    if (starting_) p = skip_bom(p, end);
    // One pass over the read tells whether lines end in '\n' only.
    has_cr_ = p != end && std::memchr(p, '\r', size(p, end)) != nullptr;
    while (p != end) {
      if (skip_lf_) {
        skip_lf_ = false;
        if (*p == '\n') {
          ++p;
          continue;
        }
      }
      const char* const stop = line_end(p, end);
      if (stop == nullptr) return keep_partial(p, end);
      skip_lf_ = *stop == '\r';
      std::string_view line{p, size(p, stop)};
      p = stop + 1;
      const bool copied = !line_.empty();
      if (copied) {
        line_.append(line);
        line = line_;
      }
      if (!take_line(line, copied, end)) return false;
      if (line.empty() && has_data_) {
        f(static_cast<const sse_event&>(finish_event()));
        clear_event();
      }
      if (copied) clear_line();
    }
    return keep_data();
  }

  /// The stream ended. True: in the middle of an event, which is dropped.
  [[nodiscard]] bool half_event() const noexcept {
    return has_data_ || (!line_.empty() && line_.front() != ':');
  }

  /// Of the last block that ended with its blank line.
  [[nodiscard]] const std::string& last_event_id() const noexcept {
    return last_id_;
  }
  [[nodiscard]] std::optional<std::uint64_t> retry_ms() const noexcept {
    return retry_ms_;
  }

 private:
  static std::size_t size(const char* first, const char* last) noexcept {
    return static_cast<std::size_t>(last - first);
  }

  const char* line_end(const char* p, const char* end) const noexcept {
    const auto* lf =
        static_cast<const char*>(std::memchr(p, '\n', size(p, end)));
    if (!has_cr_) return lf;
    const char* const last = lf != nullptr ? lf : end;
    const auto* cr =
        static_cast<const char*>(std::memchr(p, '\r', size(p, last)));
    return cr != nullptr ? cr : lf;
  }

  const char* skip_bom(const char* p, const char* end);
  bool take_line(std::string_view line, bool copied, const char* end);
  bool take_field(std::string_view name, std::string_view value);
  bool take_data(std::string_view value, bool copied, const char* end);
  void take_retry(std::string_view value);
  bool keep_partial(const char* p, const char* end);
  bool keep_data();
  bool die() noexcept;
  const sse_event& finish_event();
  void clear_event();
  void clear_line();

  std::size_t limit_;
  std::string line_;    ///< of a line that spans reads, what came before
  std::string joined_;  ///< data of an event that had to be copied
  std::string type_;
  std::string id_;
  std::string last_id_;
  std::optional<std::uint64_t> retry_ms_;
  sse_event event_;  ///< `data` is in the read that is being fed, or unset
  std::uint8_t bom_bytes_ = 0;
  bool starting_ = true;
  bool has_cr_ = false;
  bool skip_lf_ = false;
  bool has_data_ = false;
  bool in_joined_ = false;
  bool has_id_ = false;
  bool dead_ = false;
};

}  // namespace riffle::model
