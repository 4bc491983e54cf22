// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/plan_offer.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/base/clock.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/cancel_run.hpp"
#include "runtime/cli/commands/watch_plan.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/service/plan_file.hpp"
#include "runtime/service/stopped_plan.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_id = 64;

/// As it was when it began: its first message. Null: it never did.
nlohmann::json document_of(const storage::session_snapshot& plan) {
  for (const auto& m : plan.messages)
    if (m.step == 0 && m.role == storage::message_role::user)
      return nlohmann::json::parse(m.text, nullptr, false);
  return {};
}

std::size_t steps_of(const nlohmann::json& document) {
  const auto steps = document.find("steps");
  return steps != document.end() && steps->is_array() ? steps->size() : 0;
}

/// Of a step, from 1; "" where the document has none.
std::string text_of_step(const nlohmann::json& document, std::uint32_t number,
                         const char* key) {
  if (number == 0 || number > steps_of(document)) return {};
  const auto& step = document["steps"][number - 1];
  const auto found = step.find(key);
  return found != step.end() && found->is_string() ? found->get<std::string>()
                                                   : std::string{};
}

std::string id_of_step(const nlohmann::json& document, std::uint32_t number) {
  auto id = text_of_step(document, number, "id");
  return id.empty() ? std::to_string(number) : id;
}

/// The newest with these words whose process is gone, of this folder.
std::optional<storage::session_snapshot> interrupted_plan(
    runtime& rt, const plan_command& x, const std::string& text) {
  const auto wanted = service::plan_text(text, x.file == "-" ? "plan" : x.file);
  const auto all = rt.unfinished();
  if (wanted.empty() || !all) return std::nullopt;
  std::error_code gone;
  const auto here = std::filesystem::current_path(gone).string();
  const auto same = nlohmann::json::parse(wanted, nullptr, false);
  for (const auto& one : *all) {
    if (one.owner != storage::run_owner::gone || folder_of(one.run) != here ||
        !one.run.id.value.starts_with("plan_"))
      continue;
    auto session = rt.session(one.run.session);
    if (session && document_of(*session) == same) return std::move(*session);
  }
  return std::nullopt;
}

/// It had begun, and was ended before its time.
bool may_have_acted(const storage::call_record& x) {
  return x.stage == storage::call_stage::settled && x.attempt > 0 &&
         (x.how == outcome::cancelled || x.how == outcome::interrupted);
}

/// It ends as it is; the plan begins all the same.
std::optional<int> never_go_on(runtime& rt, const run_id& plan, console& io) {
  const auto ended = end_run_here(rt, plan, "it is not to be finished");
  if (!ended) return report(ended.error(), io);
  io.complain("plan " + plan.value + " is " + std::string{to_string(*ended)} +
              "; it begins anew");
  return std::nullopt;
}

}  // namespace

std::optional<cut_step> cut_step_of(const storage::session_snapshot& plan) {
  if (plan.runs.empty()) return std::nullopt;
  const auto& run = plan.runs.back();
  const bool open = run.state == storage::run_state::active && run.step > 0 &&
                    !run.turn_committed && !run.turn_safe;
  const bool stopped = service::is_stopped_plan(run) && run.step > 0;
  if (!(open || stopped) || !run.id.value.starts_with("plan_"))
    return std::nullopt;
  const auto found =
      std::ranges::find_if(plan.calls, [&](const storage::call_record& x) {
        const bool cut =
            open ? x.stage == storage::call_stage::intent : may_have_acted(x);
        return x.run == run.id && x.call.step == run.step && cut &&
               x.call.eff == effect::mutating && !x.call.idempotent;
      });
  if (found == plan.calls.end()) return std::nullopt;
  const auto document = document_of(plan);
  const auto policy = text_of_step(document, run.step, "on_error");
  if (!policy.empty() && policy != "stop") return std::nullopt;
  return cut_step{run.step, id_of_step(document, run.step), found->call.tool};
}

std::optional<step_failure> ask_about_cut_step(
    const storage::session_snapshot& plan, int keyboard,
    const interrupts& signals, console& io) {
  const auto cut = cut_step_of(plan);
  if (!cut) return std::nullopt;
  io.err.write("Step " + std::to_string(cut->number) + " (" +
               safe_line(cut->id, longest_id) + ": " +
               safe_line(cut->tool, longest_id) +
               ") was cut while it worked: nobody knows how far it came.\n");
  const auto given = ask(
      "Run it again?",
      {{"y", "yes", "[y]es"},
       {"n", "no", "[n]o: the plan ends there"},
       {"c", "continue", "[c]ontinue with the next step"}},
      keyboard, [&] { return signals.asked_to_stop(); }, io);
  if (given == 0) return step_failure::retry;
  if (given == 2) return step_failure::go_on;
  return std::nullopt;
}

std::string interrupted_plan_text(const storage::session_snapshot& plan,
                                  wall_time now, const std::string& which) {
  const auto& run = plan.runs.back();
  const auto document = document_of(plan);
  const auto s = std::max<std::int64_t>(0, now.us - run.started.us) / 1'000'000;
  std::string at;
  if (run.step > 0)
    at = "at step " + std::to_string(run.step) + " of " +
         std::to_string(steps_of(document)) + ", \"" +
         safe_line(id_of_step(document, run.step), longest_id) + "\", ";
  return which + " was not finished: " + safe_line(run.id.value, longest_id) +
         " (" + at + "begun " +
         (s < 60 ? std::to_string(s) + "s"
                 : short_duration(static_cast<std::uint64_t>(s) * 1000)) +
         " ago).";
}

std::optional<int> go_on_with_plan(runtime& rt, const plan_command& x,
                                   const std::string& text, interrupts& signals,
                                   room_wait& room, console& io) {
  if (x.common.level == verbosity::quiet) return std::nullopt;
  const auto left = interrupted_plan(rt, x, text);
  if (!left) return std::nullopt;
  const auto id = left->runs.back().id;
  const auto what = interrupted_plan_text(*left, system_wall_time());
  auto keyboard = open_keyboard(x.file == "-");
  if (!keyboard || x.common.output != output_kind::text) {
    io.complain(what + " It begins anew; 'riffle sessions resume " + id.value +
                "' goes on with it instead");
    return std::nullopt;
  }
  io.say(what + "\n");
  const auto stopped = [&] { return signals.asked_to_stop(); };
  const auto given = ask("Go on with it?",
                         {{"y", "yes", "[y]es"},
                          {"n", "no", "[n]o: from its first step"},
                          {"v", "never", "ne[v]er"}},
                         keyboard->get(), stopped, io);
  if (stopped()) return interrupted_by_user;
  if (given == 2) return never_go_on(rt, id, io);
  if (given != 0) return std::nullopt;
  auto choices = x.choices;
  if (!choices.approval) choices.approval = approve::ask;
  choices.on_error = ask_about_cut_step(*left, keyboard->get(), signals, io);
  if (stopped()) return interrupted_by_user;
  if (choices.approval != approve::ask) keyboard.reset();
  const auto resumed =
      with_room(room, [&] { return rt.resume(id, {}, choices); });
  if (room.status()) return *room.status();
  if (!resumed) return report(resumed.error(), io);
  return watch_plan({rt, *resumed, std::move(keyboard)}, x.common, x.show,
                    signals, room, io);
}

}  // namespace riffle::cli
