// SPDX-License-Identifier: MIT
#include "actors/run/run_log.hpp"

namespace riffle {

namespace {

constexpr const char* run_op = "run";

std::string count(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string in_time(std::uint64_t ms) {
  return " in " + std::to_string(ms) + " ms";
}

std::string why_of(const std::optional<error>& x) {
  return x ? ": " + render_chain(*x) : std::string{};
}

run_log_line say(const events::run_started& x) {
  auto text = "begins: session " + x.session.value + ", agent " + x.agent +
              ", model " + x.model;
  if (x.cause) text += ", executes proposal " + x.cause->value;
  return {log_level::info, std::move(text)};
}

run_log_line say(const events::run_finished& x) {
  return {log_level::info,
          "ended: " + std::string{to_string(x.status)} +
              in_time(x.duration_ms) + ", " + count(x.steps, "step") + ", " +
              count(x.tool_calls, "call") + ", " +
              count(x.usage.input_tokens, "input token") + ", " +
              count(x.usage.output_tokens, "output token") + why_of(x.err)};
}

run_log_line say(const events::step_start& x) {
  return {log_level::info, "step " + std::to_string(x.step) + " of " +
                               std::to_string(x.max_steps) + " begins"};
}

run_log_line say(const events::step_restarted& x) {
  return {log_level::info, "step " + std::to_string(x.step) +
                               " begins again, attempt " +
                               std::to_string(x.attempt) + ": " + x.reason};
}

run_log_line say(const events::tool_call& x) {
  if (x.status == events::call_status::not_started) return {};  // its end says
  return {log_level::info, "call " + x.id.value + " begins: " + x.tool + " (" +
                               std::string{to_string(x.eff)} + "), step " +
                               std::to_string(x.step)};
}

run_log_line say(const events::tool_result& x) {
  auto text = "call " + x.id.value + " ended: " + x.tool + " " +
              std::string{to_string(x.how)} + in_time(x.duration_ms) + ", " +
              count(x.attempts, "attempt");
  return {log_level::info, text + why_of(x.err)};
}

run_log_line say(const events::approval_required& x) {
  return {log_level::info, "call " + x.id.value +
                               " waits for a decision: proposal " +
                               x.proposal.value};
}

run_log_line say(const events::approval_resolved& x) {
  return {log_level::info, "proposal " + x.proposal.value + " is " +
                               std::string{to_string(x.how)} + " by " + x.by};
}

run_log_line say(const events::retry& x) {
  auto text = std::string{to_string(x.what)};
  if (x.id) text += " " + x.id->value;
  return {log_level::info,
          text + " is tried again in " + std::to_string(x.delay_ms) +
              " ms, attempt " + std::to_string(x.attempt) + " of " +
              std::to_string(x.max_attempts) + " failed: " + x.reason};
}

run_log_line say(const events::failure& x) {
  return {log_level::info, "fails: " + render_chain(x.err)};
}

run_log_line say(const events::status& x) { return {log_level::info, x.text}; }

run_log_line say(const events::usage& x) {
  return {log_level::debug, "step " + std::to_string(x.step) + " used " +
                                count(x.tokens.input_tokens, "input token") +
                                ", " +
                                count(x.tokens.output_tokens, "output token")};
}

run_log_line say(const events::plan_started& x) {
  return {log_level::info, "begins: a plan of " + count(x.steps, "step")};
}

run_log_line say(const events::plan_step_started& x) {
  return {log_level::info,
          "step " + std::to_string(x.step) + " (" + x.id + ") begins" +
              (x.run.empty() ? std::string{} : ": run " + x.run.value)};
}

run_log_line say(const events::plan_step_finished& x) {
  return {log_level::info, "step " + std::to_string(x.step) + " (" + x.id +
                               ") " + std::string{to_string(x.status)} +
                               in_time(x.duration_ms) + why_of(x.err)};
}

run_log_line say(const events::plan_finished& x) {
  return {log_level::info, "ended: " + std::string{to_string(x.status)} +
                               in_time(x.duration_ms) + why_of(x.err)};
}

// What the model said, and what else only clients want.
template <class Other>
run_log_line say(const Other&) {
  return {};
}

}  // namespace

run_log_line log_line_of(const events::body& x) {
  return std::visit([](const auto& body) { return say(body); }, x);
}

void log_event(const run_id& run, const session_id& session,
               const events::body& x) {
  if (!log_enabled(log_level::info)) return;
  const auto line = log_line_of(x);
  if (line.text.empty() || !log_enabled(line.level)) return;
  std::string_view call;
  std::string_view tool;
  if (const auto* begun = std::get_if<events::tool_call>(&x)) {
    call = begun->id.value;
    tool = begun->tool;
  } else if (const auto* ended = std::get_if<events::tool_result>(&x)) {
    call = ended->id.value;
    tool = ended->tool;
  }
  log_about(line.level, run_op, run.value + " " + line.text,
            {{"run_id", run.value},
             {"session_id", session.value},
             {"call_id", call},
             {"tool", tool}});
}

void log_run(log_level level, const run_id& run, std::string_view text) {
  if (!log_enabled(level)) return;
  const auto line = run.value + " " + std::string{text};
  switch (level) {
    case log_level::trace:
    case log_level::debug: return log_debug(run_op, line);
    case log_level::info: return log_info(run_op, line);
    case log_level::warn: return log_warn(run_op, line);
    case log_level::error:
    case log_level::off: return log_error(run_op, line);
  }
}

}  // namespace riffle
