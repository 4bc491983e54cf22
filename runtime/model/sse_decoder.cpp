// SPDX-License-Identifier: MIT
#include "runtime/model/sse_decoder.hpp"

#include <charconv>
#include <system_error>

namespace riffle::model {

namespace {

constexpr std::string_view bom = "\xEF\xBB\xBF";

// A rare large event must not cost memory for the rest of the stream.
void empty(std::string& buffer) {
  if (buffer.capacity() > (64u << 10)) buffer = {};
  buffer.clear();
}

}  // namespace

// Exactly one leading BOM is dropped; a part of one that turns out to be none
// is the start of the first line.
const char* sse_decoder::skip_bom(const char* p, const char* end) {
  while (p != end && bom_bytes_ < bom.size() && *p == bom[bom_bytes_]) {
    ++p;
    ++bom_bytes_;
  }
  if (bom_bytes_ == bom.size()) {
    starting_ = false;
  } else if (p != end) {
    line_.append(bom.substr(0, bom_bytes_));
    starting_ = false;
  }
  return p;
}

bool sse_decoder::take_line(std::string_view line, bool copied,
                            const char* end) {
  if (line.size() > limit_) return die();
  if (line.empty()) {
    if (has_id_) last_id_ = id_;
    if (!has_data_) type_.clear();
    return true;
  }
  // The common line first, then the general rule.
  if (line.starts_with("data:")) {
    line.remove_prefix(line.size() > 5 && line[5] == ' ' ? 6 : 5);
    return take_data(line, copied, end);
  }
  const auto colon = line.find(':');
  if (colon == 0) return true;
  auto value = std::string_view{};
  if (colon != std::string_view::npos) {
    value = line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    line = line.substr(0, colon);
  }
  return take_field(line, value);
}

bool sse_decoder::take_field(std::string_view name, std::string_view value) {
  if (name == "data") return take_data(value, true, nullptr);
  if (name == "event") {
    type_.assign(value);
  } else if (name == "id") {
    if (value.find('\0') == std::string_view::npos) {
      id_.assign(value);
      has_id_ = true;
    }
  } else if (name == "retry") {
    take_retry(value);
  }
  return true;
}

bool sse_decoder::take_data(std::string_view value, bool copied,
                            const char* end) {
  if (!has_data_ && !copied) {
    event_.data = value;
    event_.readable = size(value.data() + value.size(), end);
    has_data_ = true;
    return true;
  }
  if (has_data_) {
    if (!in_joined_) joined_.assign(event_.data);
    joined_.push_back('\n');
    joined_.append(value);
  } else {
    joined_.assign(value);
  }
  has_data_ = true;
  in_joined_ = true;
  return joined_.size() <= limit_ || die();
}

void sse_decoder::take_retry(std::string_view value) {
  std::uint64_t ms = 0;
  const auto* const last = value.data() + value.size();
  const auto [p, failure] = std::from_chars(value.data(), last, ms);
  if (failure == std::errc{} && p == last && !value.empty()) retry_ms_ = ms;
}

bool sse_decoder::keep_partial(const char* p, const char* end) {
  line_.append(p, size(p, end));
  if (line_.size() > limit_) return die();
  return keep_data();
}

// What still points into the read that ends now has to be copied.
bool sse_decoder::keep_data() {
  if (has_data_ && !in_joined_) {
    joined_.assign(event_.data);
    in_joined_ = true;
  }
  return true;
}

bool sse_decoder::die() noexcept {
  dead_ = true;
  return false;
}

const sse_event& sse_decoder::finish_event() {
  if (in_joined_) {
    const auto length = joined_.size();
    joined_.append(copy_padding, '\0');
    event_.data = std::string_view{joined_}.substr(0, length);
    event_.readable = copy_padding;
  }
  event_.type = type_;
  return event_;
}

void sse_decoder::clear_event() {
  empty(joined_);
  type_.clear();
  event_ = {};
  has_data_ = false;
  in_joined_ = false;
}

void sse_decoder::clear_line() { empty(line_); }

}  // namespace riffle::model
