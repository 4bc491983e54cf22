// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/compaction.hpp"

#include <algorithm>
#include <ranges>
#include <utility>

#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/stored_request.hpp"

namespace riffle::cli {

std::optional<std::string> summary_of(const storage::session_snapshot& x) {
  if (x.runs.empty()) return std::nullopt;
  const auto& run = x.runs.back();
  if (run.task != compact_task || run.state != storage::run_state::completed ||
      service::request_from_json(run.settings).request.context !=
          compact_context)
    return std::nullopt;
  const auto said = std::ranges::find_if(
      x.messages | std::views::reverse, [&](const auto& m) {
        return m.run == run.id && m.role == storage::message_role::assistant &&
               !m.text.empty();
      });
  if (said == std::ranges::rend(x.messages)) return std::nullopt;
  return "What came before, summed up:\n" + said->text;
}

void conversation::compact(interrupts& signals) {
  if (!snapshot()) return note("There is nothing to sum up yet.");
  auto asked = request(std::string{compact_task});
  asked.context = compact_context;
  asked.approval = approve::none;
  // What commands wrote is for the next task, not for this one.
  auto told = std::exchange(told_, {});
  const bool ran = run_task(std::move(asked), signals);
  told_ = std::move(told);
  if (ran && !take_up_summary())
    note("There is no summary; the session stays as it is.");
}

bool conversation::take_up_summary() {
  const auto whole = snapshot();
  auto summary = whole ? summary_of(*whole) : std::nullopt;
  if (!summary) return false;
  summary_ = *std::move(summary);
  note(
      "The next task begins a new session with this summary. The old one: "
      "/resume " +
      short_id(session_->value));
  summed_up_ = std::exchange(session_, std::nullopt);
  title_.clear();
  return true;
}

}  // namespace riffle::cli
