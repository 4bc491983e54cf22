// SPDX-License-Identifier: MIT
#include "actors/core/text_batcher.hpp"

namespace riffle::core {

std::optional<time_point> text_batcher::due() const {
  if (buffer_.empty()) return std::nullopt;
  return policy_->due({buffer_, since_});
}

void text_batcher::append(bool reasoning, std::string_view content) {
  if (buffer_.empty()) {
    reasoning_ = reasoning;
    since_ = now_;
  }
  buffer_.append(content);
}

std::size_t text_batcher::due_size() {
  if (buffer_.empty()) return 0;
  const auto ready = policy_->ready(buffer_, now_);
  return now_ >= policy_->due({buffer_, since_}) ? buffer_.size() : ready;
}

void text_batcher::drop(std::size_t size) {
  buffer_.erase(0, size);
  policy_->on_left(size);
  since_ = now_;  // a sentence end is found when it comes: the rest is newer
}

}  // namespace riffle::core
