// SPDX-License-Identifier: MIT
#include "runtime/service/stopped_plan.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <variant>

#include "messages/event_line.hpp"
#include "runtime/base/digest.hpp"

namespace riffle::service {

namespace {

constexpr std::string_view plan_prefix = "plan_";
constexpr std::size_t page_bytes = 256u << 10;

using ended_steps = std::vector<events::plan_step_finished>;

void note_ends(std::string_view lines, ended_steps& out) {
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    // The type stands in front of what a tool put out.
    const auto head = line.substr(0, line.find(R"(,"data":)"));
    if (head.find(R"("plan_step_finished")") == head.npos) continue;
    auto x = parse_line(line);
    if (!x) continue;
    if (auto* end = std::get_if<events::plan_step_finished>(&x->body))
      out.push_back(std::move(*end));
  }
}

/// A page at a time: calls may have put out much.
expected<ended_steps> ends_in_log(storage::event_log& log, const run_id& plan) {
  ended_steps out;
  for (std::uint64_t after = 0;;) {
    const auto page = log.read_events(plan, after, page_bytes);
    if (!page) return unexpected{page.error()};
    for (const auto& block : page->blocks) {
      note_ends(*block.lines, out);
      after = block.last_seq;
    }
    if (page->end || page->blocks.empty()) return out;
  }
}

/// The calls of the steps that called a tool, by step.
std::map<std::uint32_t, call_id> calls_of_steps(
    const storage::session_snapshot& plan, const run_id& id) {
  std::map<std::uint32_t, call_id> out;
  for (const auto& m : plan.messages)
    if (m.run == id && m.role == storage::message_role::user &&
        !m.calls.empty())
      out.insert_or_assign(m.step, m.calls.front());
  return out;
}

/// Later steps may refer to what it said.
expected<void> check_there(storage::journal& from,
                           const events::plan_step_finished& x) {
  if (x.run.empty()) return {};
  const auto run = from.load_run(x.run);
  if (run) return {};
  if (run.error().code != errc::not_found) return unexpected{run.error()};
  return unexpected{
      error{errc::not_found, "plan",
            "what step \"" + x.id +
                "\" said has been deleted with its session, so the plan "
                "cannot go on; 'riffle plan FILE' begins it anew"}};
}

}  // namespace

bool is_stopped_plan(const storage::run_record& x) noexcept {
  return x.id.value.starts_with(plan_prefix) &&
         x.state == storage::run_state::cancelled;
}

/// As other ids: the time of the first plan, and what looks like chance.
run_id next_plan(const run_id& plan) {
  constexpr std::size_t time = plan_prefix.size() + 10;
  constexpr std::size_t rest = 16;
  return {plan.value.substr(0, time) + sha256(plan.value).substr(0, rest)};
}

expected<std::vector<run_id>> plans_from(storage::session_records& from,
                                         const run_id& plan) {
  std::vector<run_id> out{plan};
  for (;;) {
    auto next = next_plan(out.back());
    const auto there = from.load_run(next);
    if (!there && there.error().code == errc::not_found) return out;
    if (!there) return unexpected{there.error()};
    out.push_back(std::move(next));
  }
}

expected<std::vector<kept_step>> steps_of_stopped(storage::journal& from,
                                                  const run_id& plan,
                                                  std::size_t most) {
  const auto session = from.load_session(session_id{plan.value});
  if (!session) return unexpected{session.error()};
  auto ends = ends_in_log(from, plan);
  if (!ends) return unexpected{std::move(ends.error())};
  if (!ends->empty() && ends->back().status == events::run_status::cancelled)
    ends->pop_back();
  const auto calls = calls_of_steps(*session, plan);
  std::vector<kept_step> out;
  for (auto& x : *ends) {
    if (out.size() == most) break;
    if (auto ok = check_there(from, x); !ok)
      return unexpected{std::move(ok.error())};
    const auto call = calls.find(x.step);
    auto& kept = out.emplace_back();
    if (call != calls.end()) kept.call = call->second;
    kept.end = std::move(x);
  }
  return out;
}

}  // namespace riffle::service
