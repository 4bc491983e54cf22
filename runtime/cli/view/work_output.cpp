// SPDX-License-Identifier: MIT
#include "runtime/cli/view/work_output.hpp"

#include "runtime/cli/terminal/leave_screen.hpp"

namespace riffle::cli {

void work_output::write(const screen_writes& all) {
  for (const auto& x : all) {
    if (unread_ == unread::nothing && !out_.good()) return;
    if (erasure_ && !x.bytes.empty()) {
      err_.write(std::exchange(erasure_, {})());
      uncovered_ = true;
    }
    (x.to_out ? out_ : err_).write(x.bytes);
  }
  leave_screen_at(view_->cursor());
}

bool work_output::uncover() {
  erasure_ = {};
  return std::exchange(uncovered_, false);
}

}  // namespace riffle::cli
