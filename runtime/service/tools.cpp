// SPDX-License-Identifier: MIT
#include "runtime/service/tools.hpp"

#include <atomic>
#include <chrono>
#include <utility>

#include "actors/core/control_tools.hpp"
#include "actors/tools/call_records.hpp"
#include "actors/tools/redaction.hpp"
#include "messages/duration_text.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/id_source.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/config/home.hpp"
#include "tools/ask.hpp"

namespace riffle::service {

namespace {

constexpr const char* tools_op = "tools";

tools::tool_output run_guarded(tools::tool& tool, const nlohmann::json& x,
                               tools::tool_context& context) {
  const auto died = [&](const std::string& why) {
    return tools::tool_output{{},
                              error{errc::tool_execution_error,
                                    tool.spec().name, "the tool died: " + why},
                              {}};
  };
  try {
    return tool.run(x, context);
  } catch (const std::exception& e) {
    return died(e.what());
  } catch (...) {
    return died("unknown exception");
  }
}

outcome outcome_of(const tools::tool_output& x, bool late, bool stopped) {
  if (!x.err && !late && !stopped) return outcome::ok;
  if (stopped) return outcome::cancelled;
  if (late || x.err->code == errc::timeout) return outcome::timed_out;
  return outcome::failed;
}

error over_limit(const std::string& tool, duration limit) {
  return {errc::timeout, tool,
          "over its time limit of " + duration_text(limit) + " (tools." + tool +
              ".timeout)"};
}

error silent_too_long(const std::string& tool, duration limit) {
  return {errc::timeout, tool,
          "the tool gave no sign of life within its limit of " +
              duration_text(limit) + " (tools." + tool + ".idle_timeout)"};
}

/// One call with its limit.
class call_job {
 public:
  call_job(tools::tool& tool, const tools::checked_arguments& arguments,
           const config::config& settings, hand_call& x)
      : tool_{tool}, arguments_{arguments}, asked_{x} {
    const auto& name = tool.spec().name;
    const auto& own = settings.tools.of(name);
    id_source ids;
    context_.call = ids.next<call_id>();
    context_.stop = stop_.get_token();
    context_.workspace =
        std::filesystem::absolute(settings.tools.defaults.workspace);
    context_.output_file = std::move(x.output_file);
    context_.kill_grace = own.kill_grace;
    context_.progress = [this](tool_progress_report report) {
      last_sign_ = steady_clock::now();
      redact(report);
      tell(events::tool_progress{context_.call, tool_.spec().name,
                                 std::move(report)});
    };
    limit_ = own.timeout;
    most_silence_ = own.idle_timeout;
  }

  hand_result run(std::size_t output_limit) {
    const std::stop_callback ends{asked_.stop,
                                  [this] { stop_.request_stop(); }};
    thread_timer clock;
    if (limit_ > duration{})
      clock.after(limit_, [this] {
        late_ = true;
        stop_.request_stop();
      });
    tell(begin());
    const auto began = steady_clock::now();
    last_sign_ = began;
    if (most_silence_ > duration{}) listen(clock, most_silence_);
    auto output = run_guarded(tool_, arguments_.value, context_);
    const auto took = steady_clock::now() - began;
    keep_secrets_out(output);
    auto result = to_result(output, output_limit);
    result.duration_ms = static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::milliseconds>(took).count());
    return {std::move(result), std::move(output.text)};
  }

 private:
  using steady_clock = std::chrono::steady_clock;

  /// Ends it where there was no sign of life for too long, after `wait`.
  void listen(timer& clock, duration wait) {
    clock.after(wait, [this, &clock] {
      const auto left = last_sign_.load() + most_silence_ - steady_clock::now();
      if (left > duration{})
        return listen(clock, std::chrono::duration_cast<duration>(left));
      silent_ = !late_;
      stop_.request_stop();
    });
  }

  /// As of a call of a model.
  void keep_secrets_out(tools::tool_output& x) const {
    x.text = redact(std::move(x.text));
    x.metadata = redact(std::move(x.metadata));
    if (x.err) x.err = redact(std::move(*x.err));
    if (!context_.output_file.empty()) redact_file(context_.output_file);
  }

  void tell(events::body x) const {
    if (asked_.on_event) asked_.on_event(std::move(x));
  }

  [[nodiscard]] events::tool_call begin() const {
    events::tool_call x;
    x.id = context_.call;
    x.tool = tool_.spec().name;
    x.title = tools::ask_title(tool_, arguments_.value).value_or(x.tool);
    x.arguments = arguments_.text;
    x.eff = tool_.spec().eff;
    return x;
  }

  events::tool_result to_result(const tools::tool_output& output,
                                std::size_t output_limit) const {
    events::tool_result x;
    x.id = context_.call;
    x.tool = tool_.spec().name;
    x.how = outcome_of(output, late_ || silent_, asked_.stop.stop_requested());
    x.output = cut_output(output.text, x.how != outcome::ok, output_limit,
                          x.truncated);
    x.attempts = 1;
    x.err = output.err;
    if (x.how == outcome::timed_out)
      x.err = silent_ ? silent_too_long(x.tool, most_silence_)
                      : over_limit(x.tool, limit_);
    x.metadata = output.metadata;
    return x;
  }

  tools::tool& tool_;
  const tools::checked_arguments& arguments_;
  const hand_call& asked_;
  std::stop_source stop_;
  tools::tool_context context_;
  duration limit_{};
  duration most_silence_{};
  std::atomic<steady_clock::time_point> last_sign_{};
  std::atomic<bool> late_ = false;
  std::atomic<bool> silent_ = false;
};

}  // namespace

std::vector<tool_view> list_tools(const tools::registry& tools,
                                  const config::config& settings) {
  const auto folder = config::data_folder(settings.runtime);
  auto outages = folder ? storage::read_outages(*folder / "service")
                        : std::vector<storage::tool_outage>{};
  std::vector<tool_view> out;
  for (const auto& name : tools.names()) {
    const auto& spec = (*tools.find(name))->spec();
    tool_view x{spec,
                spec.idempotent || settings.tools.of(name).idempotent,
                std::string{settings.tools.approval_of(name, spec.eff)},
                {}};
    for (const auto& one : outages)
      if (one.tool == name) x.outages.push_back(one);
    out.push_back(std::move(x));
  }
  return out;
}

expected<hand_result> call_tool(const tools::registry& tools,
                                const config::config& settings, hand_call x) {
  if (core::is_control_tool(x.tool))
    return unexpected{error{errc::invalid_request, tools_op,
                            "\"" + x.tool +
                                "\" is handled by the run itself, it cannot "
                                "be called alone"}};
  const auto arguments = tools.check(x.tool, x.arguments);
  if (!arguments) return unexpected{arguments.error()};
  call_job job{**tools.find(x.tool), *arguments, settings, x};
  return job.run(settings.publish.output_limit);
}

}  // namespace riffle::service
