// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/cancel_run.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/run_folder.hpp"

namespace riffle::cli {

namespace {

using namespace std::chrono_literals;
using storage::run_state;

/// Longest wait for the end: calls get eight seconds to settle, on nodes some
/// more.
constexpr auto end_limit = 15s;
constexpr auto between_looks = 50ms;

/// The run's state once it has ended, or what it was at last.
template <class Find>
expected<run_state> await_end(Find find, const run_id& id) {
  const auto until = std::chrono::steady_clock::now() + end_limit;
  for (;;) {
    const auto run = find(id);
    if (!run) return unexpected{run.error()};
    if (run->state != run_state::active ||
        std::chrono::steady_clock::now() >= until)
      return run->state;
    std::this_thread::sleep_for(between_looks);
  }
}

/// Nobody works on it: a runtime of our own adopts and ends it.
expected<run_state> end_here(const sessions_command& x,
                             const config::config& given,
                             const storage::run_record& run) {
  const auto& id = run.id;
  auto settings = without_keys(given, {run});
  choose_log_level(x.common.level, settings);
  auto rt = runtime::create(std::move(settings), {.owns_process = true});
  if (!rt) return unexpected{rt.error()};
  return end_run_here(*rt, id, x.reason);
}

/// Whose process works on it, for people; empty: nobody's.
expected<std::string> worked_on_by(const run_id& id,
                                   const service::sessions& all) {
  const auto open = all.unfinished(service::most_unfinished);
  if (!open) return unexpected{open.error()};
  const auto found = std::ranges::find_if(
      *open, [&](const auto& x) { return x.run.id == id; });
  const bool free =
      found == open->end() || found->owner == storage::run_owner::gone;
  return free ? std::string{} : found->owner_name;
}

int report_end(const sessions_command& x, const run_id& id, run_state state,
               console& io) {
  const auto how = std::string{to_string(state)};
  if (x.common.output != output_kind::text) {
    nlohmann::ordered_json out{
        {"session_id", x.id}, {"run_id", id.value}, {"state", how}};
    io.out.write(
        out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
        "\n");
  } else if (state == run_state::active) {
    io.complain("run " + id.value +
                " was asked to end and has not yet; 'riffle sessions show " +
                x.id + "' says how it goes on");
  } else if (x.common.level != verbosity::quiet) {
    io.complain(
        (x.common.level == verbosity::verbose ? "run " + id.value : "the run") +
        " of session " + short_id(x.id) + " is " + how);
  }
  return state == run_state::active ? failed : completed;
}

}  // namespace

error still_works(const std::string& id, const std::string& who) {
  return {errc::session_busy, "sessions",
          id + " is not interrupted, " + who +
              " works on it: 'riffle sessions cancel " + id + "' ends it"};
}

config::config without_keys(config::config settings,
                            const std::vector<storage::run_record>& runs) {
  for (const auto& x : runs)
    if (!x.model.empty()) settings.models.try_emplace(x.model);
  for (auto& [name, model] : settings.models) {
    if (model.dialect == "scripted") continue;
    config::model_config none;
    none.api_key_env.clear();
    none.base_url = "http://127.0.0.1";
    none.model = model.model;
    model = std::move(none);
  }
  return settings;
}

expected<run_state> end_run_here(runtime& rt, const run_id& id,
                                 const std::string& reason) {
  const auto done = rt.cancel(id, reason);
  if (!done) return unexpected{done.error()};
  return await_end([&](const run_id& run) { return rt.find_run(run); }, id);
}

int cancel_run_of(const sessions_command& x, const config::config& settings,
                  const storage::session_snapshot& session,
                  const service::sessions& all, console& io) {
  const auto run = std::ranges::find(session.runs, run_state::active,
                                     &storage::run_record::state);
  if (run == session.runs.end())
    return report({errc::invalid_request,
                   "sessions",
                   "no run of session " + x.id + " is under way",
                   false,
                   {}},
                  io);
  if (x.forgets)
    if (const auto by = worked_on_by(run->id, all); !by || !by->empty())
      return report(by ? still_works(x.id, *by) : by.error(), io);
  const auto asked = all.ask_end(run->id, x.reason);
  if (!asked) return report(asked.error(), io);
  const auto state =
      *asked == storage::cancel_verdict::gone
          ? end_here(x, settings, *run)
          : await_end([&](const run_id& one) { return all.find_run(one); },
                      run->id);
  if (!state) return report(state.error(), io);
  return report_end(x, run->id, *state, io);
}

}  // namespace riffle::cli
