// SPDX-License-Identifier: MIT
#include "tools/mcp/stderr_log.hpp"

#include <algorithm>

#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/text.hpp"

namespace riffle::mcp {

void stderr_log::append(std::string_view bytes, std::int64_t minute) {
  while (!bytes.empty()) {
    const auto end = std::min(bytes.find('\n'), bytes.size());
    const auto room = longest_line - std::min(line_.size(), longest_line);
    line_ += bytes.substr(0, std::min(end, room));
    if (end == bytes.size()) return;
    end_line(minute);
    bytes.remove_prefix(end + 1);
  }
}

void stderr_log::finish(std::int64_t minute) {
  if (!line_.empty()) end_line(minute);
}

void stderr_log::end_line(std::int64_t minute) {
  std::string text;
  tools::utf8_stream utf8;
  utf8.feed(line_, text);
  utf8.finish(text);
  line_.clear();
  text = redact(std::string{trimmed(text)});
  if (text.empty()) return;
  last_ = text;
  if (minute != minute_) {
    minute_ = minute;
    written_ = 0;
  }
  if (++written_ > lines_of_a_minute) {
    ++dropped_;
    return;
  }
  log_info("mcp." + name_,
           text + (written_ == lines_of_a_minute
                       ? " (what else it writes this minute is left out)"
                       : ""));
}

}  // namespace riffle::mcp
