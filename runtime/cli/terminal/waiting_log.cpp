// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/waiting_log.hpp"

#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"

namespace riffle::cli {

void last_lines::add(std::string lines) {
  if (lines.empty()) return;
  bytes_ += lines.size();
  kept_.push_back(std::move(lines));
  while (kept_.size() > 1 &&
         (kept_.size() > most_lines || bytes_ > most_bytes)) {
    bytes_ -= kept_.front().size();
    kept_.pop_front();
    ++left_out_;
  }
}

std::string last_lines::take() {
  std::string out;
  if (left_out_ > 0)
    out = "… " + counted(left_out_, "line") + " of the log left out …\n";
  for (const auto& x : kept_) out += x;
  kept_.clear();
  bytes_ = left_out_ = 0;
  return out;
}

waiting_log::waiting_log(fd_writer& err, std::optional<log_text> people)
    : err_{err}, people_{std::move(people)} {
  set_log_sink([this](const log_line& x) { on(x); });
}

waiting_log::~waiting_log() {
  set_log_sink({});
  err_.write(take());
}

void waiting_log::on(const log_line& x) {
  const std::lock_guard lock{mutex_};
  const bool words = people_ && !log_enabled(log_level::info);
  const auto line = words ? people_->on(x) : render(x) + "\n";
  if (held_ > 0)
    lines_.add(line);
  else
    err_.write(words ? wrap_lines(line, err_.columns()) : line);
}

std::string waiting_log::take() {
  const std::lock_guard lock{mutex_};
  return lines_.take();
}

void waiting_log::hold() {
  const std::lock_guard lock{mutex_};
  ++held_;
}

/// Who drew has left an empty line.
void waiting_log::release() {
  const std::lock_guard lock{mutex_};
  if (--held_ > 0) return;
  const auto lines = lines_.take();
  err_.write(people_ ? wrap_lines(lines, err_.columns()) : lines);
}

}  // namespace riffle::cli
