// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/waiting_run.hpp"

#include <algorithm>
#include <string_view>
#include <variant>

#include "runtime/cli/view/call_text.hpp"

namespace riffle::cli {

bool waiting_run::has_taken() {
  if (!answer_) read_on();
  return answer_ || !is_worked_on();
}

void waiting_run::read_on() {
  auto log = rt_.events(of_.run, seen_);
  if (!log) return;
  while (const auto batch = log->next({})) {
    batch->for_each([this](const event_view& x) { look_at(x); });
    seen_ = batch->last_seq();
  }
}

void waiting_run::look_at(const event_view& x) {
  if (x.line().find(of_.id.value) == std::string_view::npos) return;
  const auto parsed = x.parse();
  if (!parsed) return;
  const auto* answer = std::get_if<events::approval_resolved>(&parsed->body);
  if (answer != nullptr && answer->proposal == of_.id) answer_ = *answer;
}

bool waiting_run::is_worked_on() const {
  const auto run = rt_.find_run(of_.run);
  if (!run || run->state != storage::run_state::active) return false;
  const auto open = rt_.unfinished();
  return open && std::ranges::any_of(*open, [&](const unfinished_run& x) {
           return x.run.id == of_.run && x.owner != storage::run_owner::gone;
         });
}

std::string question_elsewhere(runtime& rt, const session_id& session) {
  proposal_filter open;
  open.session = session;
  open.undecided = true;
  const auto found = rt.proposals(open);
  if (!found) return {};
  // The newest is listed first.
  const auto at =
      std::find_if(found->rbegin(), found->rend(), [](const proposal& x) {
        return x.what.waits &&
               x.what.source == events::proposal_source::tool_call;
      });
  if (at == found->rend()) return {};
  events::approval_required asked;
  asked.tool = at->what.tool;
  asked.title = at->what.title;
  asked.arguments = at->what.arguments;
  return call_name(asked) + "\n  riffle proposals approve " + at->what.id.value;
}

}  // namespace riffle::cli
