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
/// What all of a family have in common: the time of the first plan.
constexpr std::size_t common_part = plan_prefix.size() + 10;

using ended_steps = std::vector<events::plan_step_finished>;

error plan_error(errc code, const std::string& message) {
  return {code, "plan", message + "; 'riffle plan FILE' begins it anew"};
}

expected<void> note_ends(std::string_view lines, ended_steps& out) {
  while (!lines.empty()) {
    const auto line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    // The type stands in front of what a tool put out.
    const auto head = line.substr(0, line.find(R"(,"data":)"));
    if (head.find(R"("plan_step_finished")") == head.npos) continue;
    auto x = parse_line(line);
    auto* end = x ? std::get_if<events::plan_step_finished>(&x->body) : nullptr;
    if (end == nullptr || end->step != out.size() + 1)
      return unexpected{
          plan_error(errc::storage_corrupt, "the end of its step " +
                                                std::to_string(out.size() + 1) +
                                                " cannot be read")};
    out.push_back(std::move(*end));
  }
  return {};
}

/// A page at a time: calls may have put out much.
expected<ended_steps> ends_in_log(storage::event_log& log, const run_id& plan) {
  ended_steps out;
  for (std::uint64_t after = 0;;) {
    const auto page = log.read_events(plan, after, page_bytes);
    if (!page) return unexpected{page.error()};
    for (const auto& block : page->blocks) {
      if (auto ok = note_ends(*block.lines, out); !ok)
        return unexpected{std::move(ok.error())};
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
      plan_error(errc::not_found,
                 "what step \"" + x.id +
                     "\" said has been deleted with its session, so the plan "
                     "cannot go on")};
}

/// It did not end, or the plan would not have gone on behind its end.
bool is_cut(const events::plan_step_finished& x, core::step_policy policy) {
  return x.status == events::run_status::cancelled ||
         (x.status == events::run_status::failed &&
          policy != core::step_policy::go_on);
}

}  // namespace

bool is_stopped_plan(const storage::run_record& x) noexcept {
  return x.id.value.starts_with(plan_prefix) &&
         x.state == storage::run_state::cancelled;
}

/// As other ids: a time, and what looks like chance.
run_id next_plan(const run_id& plan) {
  constexpr std::size_t rest = 16;
  return {plan.value.substr(0, common_part) +
          sha256(plan.value).substr(0, rest)};
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

std::optional<run_id> newest_of_family(storage::session_records& from,
                                       const std::vector<run_id>& plans) {
  // So that few are looked up.
  const auto related = [&](const run_id& x) {
    return x.value.starts_with(plan_prefix) &&
           x.value.starts_with(plans.front().value.substr(0, common_part));
  };
  if (!std::ranges::all_of(plans, related)) return std::nullopt;
  for (const auto& first : plans) {
    const auto all = plans_from(from, first);
    const auto goes_on = [&](const run_id& x) {
      return std::ranges::find(*all, x) != all->end();
    };
    if (all && std::ranges::all_of(plans, goes_on)) return all->back();
  }
  return std::nullopt;
}

expected<std::vector<kept_step>> steps_of_stopped(
    storage::journal& from, const run_id& plan,
    const std::vector<core::planned_step>& steps, bool behind_it) {
  constexpr std::size_t most_bytes = 64u << 20;
  const auto session = from.load_session(session_id{plan.value});
  if (!session) return unexpected{session.error()};
  auto ends = ends_in_log(from, plan);
  if (!ends) return unexpected{std::move(ends.error())};
  if (ends->size() > steps.size()) ends->resize(steps.size());
  if (!ends->empty() && !behind_it &&
      is_cut(ends->back(), steps[ends->size() - 1].on_error))
    ends->pop_back();
  const auto calls = calls_of_steps(*session, plan);
  std::vector<kept_step> out;
  std::size_t bytes = 0;
  for (auto& x : *ends) {
    bytes += x.output.size();
    if (bytes > most_bytes)
      return unexpected{plan_error(
          errc::invalid_request,
          "what its steps said is too much for a plan to begin with (64 MiB "
          "at most)")};
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
