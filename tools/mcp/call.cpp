// SPDX-License-Identifier: MIT
#include "tools/mcp/call.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <mutex>
#include <utility>

#include "runtime/base/media.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "runtime/base/trace.hpp"
#include "tools/mcp/result.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int most_rounds = 8;
/// Of a report of progress: each is kept, and sent to everybody.
constexpr std::size_t longest_message = 500;
constexpr milliseconds least_poll{50};
constexpr milliseconds usual_poll{1000};
constexpr milliseconds most_poll{30000};

tools::tool_output failed(errc number, const std::string& where,
                          std::string message) {
  tools::tool_output out;
  out.text = redact(message);
  out.err = error{number, where, out.text};
  return out;
}

std::string text_at(const json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_string()) return {};
  return found->get<std::string>();
}

/// The call's lock is the server's: who waits for the call's processes after a
/// crash waits for those of the server.
class call_lock {
 public:
  call_lock(const std::filesystem::path& server, std::filesystem::path call)
      : file_{std::move(call)} {
    std::error_code ignored;
    if (server.empty() || file_.empty()) return;
    std::filesystem::create_hard_link(server, file_, ignored);
  }
  ~call_lock() {
    std::error_code ignored;
    if (!file_.empty()) std::filesystem::remove(file_, ignored);
  }
  call_lock(const call_lock&) = delete;
  call_lock& operator=(const call_lock&) = delete;

 private:
  std::filesystem::path file_;
};

/// One call, from its first request to its result.
class conversation {
 public:
  conversation(server& at, tool_def tool, std::string digest,
               tools::tool_context& context)
      : at_{at},
        tool_{std::move(tool)},
        digest_{std::move(digest)},
        context_{context} {}

  tools::tool_output run(const json& arguments) {
    json params = {{"name", tool_.name}, {"arguments", arguments}};
    if (tool_.needs_task) params["task"] = json::object();
    params["_meta"]["traceparent"] = trace_of_call(context_);
    for (int round = 0; round <= most_rounds; ++round) {
      auto result = ask_with_headers(params, arguments);
      if (!result) return std::move(result.error());
      const auto kind = text_at(*result, "resultType");
      if (kind == "input_required") {
        params["inputResponses"] = answers_to(*result);
        params.erase("requestState");
        if (result->contains("requestState"))
          params["requestState"] = result->at("requestState");
        continue;
      }
      if (kind == "task" || result->contains("task"))
        return follow_task(*std::move(result));
      if (!kind.empty() && kind != "complete")
        return failed(errc::tool_execution_error, at_.name(),
                      "it answers with a result of the unknown type " + kind);
      return read_result(*result, tool_, context_);
    }
    return failed(errc::tool_execution_error, at_.name(),
                  "it asks again and again for more input");
  }

 private:
  using asked = tl::expected<json, tools::tool_output>;

  /// Once more with the headers that its list asks for now, if it says that
  /// they were wrong.
  asked ask_with_headers(const json& params, const json& arguments);

  [[nodiscard]] std::map<std::string, std::string> headers_of(
      const json& arguments) const {
    std::map<std::string, std::string> out;
    for (const auto& [pointer, header] : tool_.headers) {
      const json::json_pointer at{pointer};
      if (arguments.contains(at) && !arguments.at(at).is_null())
        out["Mcp-Param-" + header] = header_text(arguments.at(at));
    }
    return out;
  }

  asked ask(const std::string& method, const json& params,
            std::map<std::string, std::string> headers = {}) {
    request x;
    x.method = method;
    x.params = params;
    x.stop = context_.stop;
    x.headers = std::move(headers);
    if (context_.progress)
      x.on_progress = [this](const progressed& y) { report(y); };
    const auto said = at_.ask(std::move(x));
    if (!said) {
      auto out = failed(said.error().code, at_.name(), said.error().message);
      return tl::unexpected{std::move(out)};
    }
    return judge(*said);
  }

  asked judge(const reply& said) {
    if (const auto* result = std::get_if<json>(&said)) return *result;
    tools::tool_output out;
    if (const auto* error = std::get_if<rpc_error>(&said)) {
      mismatch_ = error->number == code::header_mismatch;
      out = failed(
          error->number == code::invalid_params ? errc::invalid_arguments
                                                : errc::tool_execution_error,
          at_.name(),
          "the server " + at_.name() + " refuses the call: " + render(*error));
    } else if (const auto* gone = std::get_if<lost>(&said)) {
      out = failed(errc::interrupted, at_.name(),
                   "the server " + at_.name() + " was lost: " + gone->why);
      out.lost = true;
    } else {
      out = failed(errc::cancelled, at_.name(), "the call was stopped");
    }
    return tl::unexpected{std::move(out)};
  }

  void report(const progressed& x) const {
    tool_progress_report out;
    out.message = with_dots(redact(x.message), longest_message);
    out.progress = x.progress;
    out.total = x.total;
    context_.progress(std::move(out));
  }

  [[nodiscard]] json answers_to(const json& result) const {
    auto out = json::object();
    const auto questions = result.value("inputRequests", json::object());
    if (!questions.is_object()) return out;
    for (const auto& [key, x] : questions.items()) {
      if (!x.is_object()) continue;
      const auto said = respond(at_.options().me, text_at(x, "method"),
                                x.value("params", json::object()));
      if (const auto* answer = std::get_if<json>(&said))
        out[key] = *answer;
      else
        out[key] = {{"action", "decline"}};
    }
    return out;
  }

  tools::tool_output follow_task(json first) {
    auto task = first.value("task", json()).is_object() ? first.at("task")
                                                        : std::move(first);
    const auto id = text_at(task, "taskId");
    if (id.empty())
      return failed(errc::tool_execution_error, at_.name(),
                    "it began a task without an id");
    const json about = {{"taskId", id}};
    for (;;) {
      const auto status = text_at(task, "status");
      if (status == "completed" || status == "failed")
        return result_of_task(task, about);
      if (status == "cancelled")
        return failed(errc::tool_execution_error, at_.name(),
                      "the server cancelled its task");
      if (!pause(task)) {
        give_up(about);
        return failed(errc::cancelled, at_.name(), "the call was stopped");
      }
      auto next = ask("tasks/get", about);
      if (!next) return std::move(next.error());
      if (const auto& text = text_at(*next, "statusMessage");
          !text.empty() && context_.progress)
        context_.progress(
            {.message = with_dots(redact(text), longest_message)});
      task = *std::move(next);
    }
  }

  tools::tool_output result_of_task(const json& task, const json& about) {
    if (task.contains("result") && task.at("result").is_object())
      return read_result(task.at("result"), tool_, context_);
    auto result = ask("tasks/result", about);
    if (!result) return std::move(result.error());
    return read_result(*result, tool_, context_);
  }

  /// Between two looks at a task. False: stopped.
  bool pause(const json& task) const {
    auto wait = usual_poll;
    for (const auto* key : {"pollIntervalMs", "pollInterval"})
      if (const auto x = task.find(key);
          x != task.end() && x->is_number_unsigned())
        wait = milliseconds{std::min<std::uint64_t>(
            x->get<std::uint64_t>(),
            static_cast<std::uint64_t>(most_poll.count()))};
    std::mutex mutex;
    std::unique_lock lock{mutex};
    std::condition_variable_any never;
    never.wait_for(lock, context_.stop, std::clamp(wait, least_poll, most_poll),
                   [] { return false; });
    return !context_.stop.stop_requested();
  }

  void give_up(const json& about) const {
    request x;
    x.method = "tasks/cancel";
    x.params = about;
    x.until = steady_clock::now() + usual_poll;
    static_cast<void>(at_.ask(std::move(x)));
  }

  server& at_;
  tool_def tool_;
  const std::string digest_;
  tools::tool_context& context_;
  bool mismatch_ = false;  ///< of the headers, said the last error
};

std::string words_of_state(const std::string& server,
                           const server_status& now) {
  return "the server " + server + " is " + std::string{to_string(now.state)} +
         (now.last_error.empty() ? "" : ": " + now.last_error);
}

std::string why_of_tool(const std::string& server, const tool_def* found,
                        const std::string& tool, const std::string& digest) {
  if (found == nullptr)
    return "the server " + server + " has no tool " + tool + " any more";
  if (digest.empty() || digest_of(*found) == digest) return {};
  return "the server " + server + " has changed its tool " + tool +
         ", and nobody has looked at it: 'riffle mcp approve " + server +
         "' shows what is new; then start again";
}

/// The tool as it is now, if it is the one that was meant.
expected<tool_def> find(server& at, const std::string& tool,
                        const std::string& digest, time_point until,
                        std::stop_token stop) {
  const auto unavailable = [&](std::string message) {
    return unexpected{error{.code = errc::tool_unavailable,
                            .op = at.name(),
                            .message = std::move(message)}};
  };
  if (!at.wait_ready(until, std::move(stop)))
    return unavailable(words_of_state(at.name(), at.status()));
  const auto now = at.status();
  const auto* found = now.has ? now.has->find(tool) : nullptr;
  if (auto why = why_of_tool(at.name(), found, tool, digest); !why.empty())
    return unavailable(std::move(why));
  return *found;
}

conversation::asked conversation::ask_with_headers(const json& params,
                                                   const json& arguments) {
  auto first = ask("tools/call", params, headers_of(arguments));
  if (first || !std::exchange(mismatch_, false)) return first;
  if (!at_.list_anew()) return first;
  const auto until = steady_clock::now() + at_.options().startup_timeout;
  auto now = find(at_, tool_.name, digest_, until, context_.stop);
  if (!now)
    return tl::unexpected{
        failed(now.error().code, at_.name(), now.error().message)};
  tool_ = *std::move(now);
  return ask("tools/call", params, headers_of(arguments));
}

}  // namespace

std::string why_refused(const std::string& server, const server_status& now,
                        const std::string& tool, const std::string& digest) {
  if (now.state != server_state::ready) return words_of_state(server, now);
  if (tool.empty()) return {};
  return why_of_tool(server, now.has ? now.has->find(tool) : nullptr, tool,
                     digest);
}

std::string trace_of_call(const tools::tool_context& context) {
  auto of_run = current_trace();
  return of_run.empty() ? trace_of(run_id{context.call.value}) : of_run;
}

std::string header_text(const json& value) {
  const auto text = value.is_string() ? value.get<std::string>() : value.dump();
  const auto plain = [](char c) { return c >= 0x20 && c < 0x7F; };
  const bool fits =
      std::ranges::all_of(text, plain) &&
      (text.empty() || (text.front() != ' ' && text.back() != ' ')) &&
      !text.starts_with("=?base64?");
  return fits ? text : "=?base64?" + to_base64(text) + "?=";
}

tools::tool_output call_tool(server& at, const std::string& tool,
                             const std::string& digest, const json& arguments,
                             tools::tool_context& context) {
  const auto until = steady_clock::now() + at.options().startup_timeout;
  const auto found = find(at, tool, digest, until, context.stop);
  if (!found)
    return failed(found.error().code, at.name(), found.error().message);
  const call_lock lock{at.options().lock, context.guard_lock};
  return conversation{at, *found, digest, context}.run(arguments);
}

expected<std::string> call_preview(server& at, const std::string& tool,
                                   const std::string& digest,
                                   const json& arguments, time_point until) {
  const auto found = find(at, tool, digest, until, {});
  if (!found) return unexpected{found.error()};
  request x;
  x.method = "tools/call";
  x.params = {{"name", tool}, {"arguments", arguments}};
  x.until = until;
  auto said = at.ask(std::move(x));
  if (!said) return unexpected{std::move(said.error())};
  const auto* result = std::get_if<json>(&*said);
  const tools::tool_context plain;
  if (result != nullptr) return read_result(*result, *found, plain).text;
  const auto* refused = std::get_if<rpc_error>(&*said);
  return unexpected{
      error{errc::tool_execution_error, at.name(),
            refused != nullptr ? render(*refused) : "it did not answer"}};
}

}  // namespace riffle::mcp
