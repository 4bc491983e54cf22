// SPDX-License-Identifier: MIT
#include "runtime/cli/view/work_output.hpp"

#include "runtime/cli/terminal/screen.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"
#include "runtime/cli/view/output_text.hpp"

namespace riffle::cli {

namespace {

/// What a second Ctrl-C does to the line of the cursor, now that it stands
/// there.
void leave_screen_at(cursor_place x) noexcept {
  switch (x) {
    case cursor_place::status: return leave_screen_with(leaving::erases);
    case cursor_place::text: return leave_screen_with(leaving::ends_line);
    case cursor_place::above_status:
      return leave_screen_with(leaving::ends_line_erases);
    case cursor_place::clean: break;
  }
  leave_screen_with(leaving::nothing);
}

}  // namespace

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

/// Why a command failed, and what it came to, stands in its last lines.
void work_output::complete(event& x) const {
  auto* const end = std::get_if<events::tool_result>(&x.body);
  if (!end || !end->truncated || !view_->wants_end_of(*end)) return;
  auto text = end_of_output(end->id);
  if (text.size() <= end->output.size()) return;
  const bool cut = text.size() >= longest_end;
  const bool good = end->how == outcome::ok;
  if (good && cut) text.erase(0, text.find('\n') + 1);  // whole lines
  end->truncated = cut && !good;
  end->output = std::move(text);
}

bool work_output::uncover() {
  erasure_ = {};
  return std::exchange(uncovered_, false);
}

}  // namespace riffle::cli
