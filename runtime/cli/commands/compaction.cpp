// SPDX-License-Identifier: MIT
// "/compact": a run of the session whose answer is what the model is told from
// then on, in the place of all that was said before.
#include <string>
#include <utility>

#include "actors/run/recovery.hpp"
#include "runtime/cli/commands/conversation.hpp"

namespace riffle::cli {

void conversation::compact(interrupts& signals) {
  if (!snapshot()) return note("There is nothing to sum up yet.");
  if (!knows_the_last_turn("Nothing was summed up: Enter does it.")) return;
  auto asked = request(std::string{sum_up_task});
  asked.context = sum_up_context;
  asked.approval = approve::none;
  // What commands wrote is for the next task, not for this one.
  auto told = std::exchange(told_, {});
  const bool ran = run_task(std::move(asked), signals);
  told_ = std::move(told);
  if (!ran) return;
  const auto whole = snapshot();
  const auto summary = whole ? session_summary_of(*whole) : std::nullopt;
  if (!summary || !summary->runs.contains(whole->runs.back().id))
    return note(
        std::string{"There is no summary"} +
        (whole && whole->runs.back().state == storage::run_state::completed
             ? " (it has to say something, in at most 64 KiB)"
             : "") +
        "; the session stays as it is.");
  note(
      "From here the model is told this summary, and nothing of what came "
      "before. Your title, the plan and what you allowed stay.");
}

}  // namespace riffle::cli
