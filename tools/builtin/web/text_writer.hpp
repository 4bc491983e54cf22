// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace riffle::tools {

/// Writes running text as browsers lay it out: white space becomes one blank,
/// none at the ends of lines; breaks that follow each other are one.
class text_writer {
 public:
  explicit text_writer(std::size_t limit) : limit_{limit} {}

  /// Text with white space to be folded.
  void flow(std::string_view text);
  /// Text as it stands.
  void verbatim(std::string_view text);
  /// What comes next begins a new line; 2: after an empty one.
  void line_break(unsigned lines);
  /// Comes before the next visible character on its line, if there is one.
  void before_next(std::string_view text) { pending_ += text; }
  /// Takes back what `before_next` got last, if nothing came after it.
  bool take_back(std::string_view text) {
    if (!pending_.ends_with(text)) return false;
    pending_.resize(pending_.size() - text.size());
    return true;
  }
  /// Directly after the last character.
  void after_last(std::string_view text);

  [[nodiscard]] bool full() const { return out_.size() >= limit_; }
  [[nodiscard]] bool at_line_start() const {
    return out_.empty() || breaks_ > 0 || out_.back() == '\n';
  }
  std::string take();

 private:
  void settle();

  std::size_t limit_;
  std::string out_;
  std::string pending_;
  unsigned breaks_ = 0;
  bool space_ = false;
};

}  // namespace riffle::tools
