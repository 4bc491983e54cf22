// SPDX-License-Identifier: MIT
#include "runtime/cli/terminal/waiting_log.hpp"

#include <utility>

#include "runtime/base/log.hpp"

namespace riffle::cli {

waiting_log::waiting_log(bool on, fd_writer& err) : on_{on}, err_{err} {
  if (!on_) return;
  set_log_sink([this](const log_line& x) {
    const std::lock_guard lock{mutex_};
    lines_ += render(x) + "\n";
  });
}

waiting_log::~waiting_log() {
  if (!on_) return;
  set_log_sink({});
  err_.write(take());
}

std::string waiting_log::take() {
  const std::lock_guard lock{mutex_};
  return std::exchange(lines_, {});
}

}  // namespace riffle::cli
