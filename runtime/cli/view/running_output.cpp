// SPDX-License-Identifier: MIT
#include "runtime/cli/view/running_output.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <variant>

#include "actors/core/wait_notice.hpp"
#include "messages/duration_text.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/call_text.hpp"

namespace riffle::cli {

namespace {

/// A program's own lines are as they are, a report of a server is a line.
std::string lines_of(const tool_progress_report& x) {
  if (!x.stream.empty()) return x.message;
  auto line = progress_text(x);
  return line.empty() ? line : line + "\n";
}

std::string seconds_between(wall_time from, wall_time to) {
  const std::chrono::microseconds passed{
      std::max<std::int64_t>(to.us - from.us, 0)};
  return duration_text(
      std::chrono::duration_cast<std::chrono::seconds>(passed));
}

}  // namespace

void running_output::on(const event& x) {
  const auto drop = [&](const call_id& id) {
    std::erase_if(open_, [&](const open_call& c) { return c.id == id; });
  };
  const auto begins_now = [&](const call_id& id) {
    for (auto& c : open_)
      if (c.id == id) c.began = x.at;
  };
  if (const auto* call = std::get_if<events::tool_call>(&x.body)) {
    drop(call->id);
    if (call->status == events::call_status::starting)
      open_.push_back({call->id, words_of(*call).on(call->node), x.at});
  } else if (const auto* said = std::get_if<events::tool_progress>(&x.body)) {
    write(*said, x.at);
  } else if (const auto* end = std::get_if<events::tool_result>(&x.body)) {
    drop(end->id);
  } else if (const auto* asked =
                 std::get_if<events::approval_required>(&x.body)) {
    asks_.insert(asked->id);
  } else if (const auto* decided =
                 std::get_if<events::approval_resolved>(&x.body)) {
    asks_.erase(decided->id);
    begins_now(decided->id);
  } else if (std::holds_alternative<events::run_finished>(x.body)) {
    open_.clear();
  }
}

void running_output::write(const events::tool_progress& x, wall_time at) {
  const auto found = std::ranges::find(open_, x.id, &open_call::id);
  if (found == open_.end() || x.report.message == core::waits_for_worker)
    return;
  if (core::is_waited_notice(x.report.message)) {
    found->began = at;
    return;
  }
  auto& text = found->text;
  if (x.report.coalesced > 0) {
    if (!text.empty() && !text.ends_with('\n')) text += '\n';
    text += "…\n";
    found->complete = false;
  }
  text += lines_of(x.report);
  if (text.size() > 2 * most_kept) {
    const auto end = tail_utf8(text, most_kept);
    text = std::string{end.substr(end.find('\n') + 1)};  // npos + 1 is 0
    found->complete = false;
  }
  std::rotate(found, found + 1, open_.end());
}

const running_output::open_call* running_output::newest() const {
  const open_call* out = nullptr;
  for (const auto& x : open_)
    if (!asks_.contains(x.id) &&
        (out == nullptr || !x.text.empty() || out->text.empty()))
      out = &x;
  return out;
}

bool running_output::any() const { return newest() != nullptr; }

std::string running_output::text() const {
  const auto* const x = newest();
  return x == nullptr ? std::string{} : x->text;
}

std::string running_output::head(wall_time now) const {
  const auto* const x = newest();
  if (x == nullptr) return {};
  const auto works = static_cast<std::size_t>(std::ranges::count_if(
      open_, [&](const open_call& c) { return !asks_.contains(c.id); }));
  constexpr std::size_t longest = 160;
  auto out =
      fit(x->name, longest) + ", running for " + seconds_between(x->began, now);
  if (works > 1) out += " (" + std::to_string(works - 1) + " more)";
  if (x->text.empty()) return out + ": nothing so far.";
  return out + (x->complete ? ", so far:" : ", so far, not all of it:");
}

}  // namespace riffle::cli
