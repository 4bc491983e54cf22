// SPDX-License-Identifier: MIT
// riffle mcp serve: runs, sessions and outputs for clients of the protocol.
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/api/version.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/cli/commands/mcp_commands.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/views.hpp"
#include "tools/mcp/line_reader.hpp"
#include "tools/mcp/run_task.hpp"
#include "tools/mcp/serving.hpp"
#include "tools/schema.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t listed_sessions = 50;
constexpr std::string_view session_prefix = "riffle://sessions/";
constexpr std::string_view output_prefix = "riffle://outputs/";

mcp::json result_of(const run_outcome& x) {
  const bool good = x.status == events::run_status::completed;
  mcp::task_end end;
  end.status = good                                        ? "completed"
               : x.status == events::run_status::cancelled ? "cancelled"
                                                           : "failed";
  end.answer = good || !x.failure ? x.answer : x.failure->message;
  end.run = x.run.value;
  end.session = x.session.value;
  end.steps = x.steps;
  end.tool_calls = x.tool_calls;
  return mcp::task_result(end);
}

/// What is wrong with the arguments of `run_task`, or nothing.
std::string task_mistake(const mcp::json& arguments) {
  auto schema = mcp::run_task_tool().at("inputSchema");
  schema["additionalProperties"] = false;
  static const auto known = tools::schema::compile(schema.dump());
  std::string out;
  if (known)
    for (const auto& x : known->check(arguments))
      out += (out.empty() ? "" : "; ") +
             (x.pointer.empty() ? "" : x.pointer + ": ") + x.message;
  return out;
}

class mcp_service {
 public:
  /// `tools`: single ones, as `tools/list` has them.
  mcp_service(runtime& rt, const mcp_command& x, std::vector<mcp::json> tools,
              console& io)
      : rt_{rt}, asked_{x}, io_{io}, core_{options(std::move(tools))} {}

  /// Until the client closes our input.
  int run() {
    mcp::line_reader lines;
    std::array<char, 64u << 10> buffer{};
    bool open = true;
    while (open) {
      const auto n = ::read(0, buffer.data(), buffer.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) break;
      open =
          lines.feed({buffer.data(), static_cast<std::size_t>(n)},
                     [this](std::string_view line) {
                       with_core([&](auto& out) { core_.on_text(line, out); });
                     });
    }
    with_core([&](auto& out) { core_.on_closed(out); });
    threads_.clear();  // each waits for the end of its run
    if (!open) {
      io_.complain("a line of more than 8 MB came, which no client sends");
      return failed;
    }
    return io_.out.good() ? completed : failed;
  }

 private:
  mcp::serving_options options(std::vector<mcp::json> tools) {
    mcp::serving_options out;
    out.version = RIFFLE_VERSION;
    out.tools = std::move(tools);
    out.tools.insert(out.tools.begin(), mcp::run_task_tool());
    out.list = [this] { return list(); };
    out.read = [this](const std::string& uri) { return read(uri); };
    return out;
  }

  template <class F>
  void with_core(F f) {
    mcp::serving_effects out;
    const std::lock_guard lock{mutex_};
    f(out);
    for (auto& x : out) {
      if (auto* text = std::get_if<mcp::send_text>(&x))
        io_.out.write(text->text + "\n");
      else if (auto* call = std::get_if<mcp::begin_call>(&x))
        begin(std::move(*call));
      else if (const auto* stop = std::get_if<mcp::stop_call>(&x))
        stops_[stop->key].request_stop();
    }
  }

  /// Under the lock.
  void begin(mcp::begin_call call) {
    auto stop = stops_[call.key].get_token();
    for (const auto key : finished_) threads_.erase(key);
    finished_.clear();
    const auto key = call.key;
    threads_[key] =
        std::jthread{[this, call = std::move(call), stop = std::move(stop)] {
          auto result = call.tool == mcp::run_task_name ? work(call, stop)
                                                        : work_tool(call, stop);
          with_core([&](auto& out) {
            stops_.erase(call.key);
            finished_.push_back(call.key);
            core_.on_done(call.key, std::move(result), out);
          });
        }};
  }

  mcp::json work(const mcp::begin_call& call, const std::stop_token& stop) {
    run_request request;
    const auto text = [&](const char* key) {
      const auto x = call.arguments.find(key);
      return x != call.arguments.end() && x->is_string() ? x->get<std::string>()
                                                         : std::string{};
    };
    if (auto wrong = task_mistake(call.arguments); !wrong.empty())
      return mcp::task_refusal(wrong);
    request.task = text("task");
    if (request.task.empty()) return mcp::task_refusal("there is no task");
    if (auto id = text("session_id"); !id.empty())
      request.session = session_id{std::move(id)};
    if (auto agent = text("agent"); !agent.empty())
      request.agent = std::move(agent);
    request.context = text("context");
    if (const auto x = call.arguments.find("max_steps");
        x != call.arguments.end() && x->is_number_unsigned())
      request.max_steps = x->get<std::uint32_t>();
    request.approval = asked_.approval;
    request.stop = stop;
    const auto outcome = rt_.execute(
        request,
        [this, key = call.key, count = 0.0](const event_batch& batch) mutable {
          batch.for_each([&](const event_view& x) { tell(key, count, x); });
        });
    return outcome ? result_of(*outcome)
                   : mcp::task_refusal(outcome.error().message);
  }

  /// A single tool: a plan of one step, so that rules, approvals, limits and
  /// the journal hold for it.
  mcp::json work_tool(const mcp::begin_call& call,
                      const std::stop_token& stop) {
    plan_request request;
    request.plan = mcp::plan_of_call(call.tool, call.arguments);
    request.name = call.tool;
    request.with.approval = asked_.approval;
    request.with.stop = stop;
    struct last_call {
      std::mutex mutex;
      call_id id;
    };
    const auto last = std::make_shared<last_call>();
    const auto started =
        rt_.start_plan(request, [this, last, key = call.key, count = 0.0](
                                    const event_batch& batch) mutable {
          batch.for_each([&](const event_view& x) {
            tell(key, count, x);
            if (x.type() != "tool_result") return;
            const auto line = mcp::json::parse(x.line(), nullptr, false);
            const std::lock_guard lock{last->mutex};
            last->id.value =
                line.value(mcp::json::json_pointer{"/data/id"}, "");
          });
        });
    if (!started) return mcp::call_result({false, started.error().message});
    auto end = started->wait(std::chrono::hours{1});
    while (!end && end.error().code == errc::timeout)
      end = started->wait(std::chrono::hours{1});
    if (!end) return mcp::call_result({false, end.error().message});
    if (end->status == events::run_status::completed)
      return mcp::call_result({true, end->answer});
    const auto why = end->failure ? end->failure->message : "it failed";
    const std::lock_guard lock{last->mutex};
    const auto kept = rt_.output(last->id);
    return mcp::call_result(
        {false,
         mcp::failed_call_text(why, kept ? text_of(*kept).value_or("") : "")});
  }

  /// Steps, calls and their progress are what a client is told.
  void tell(std::uint64_t key, double& count, const event_view& x) {
    const auto message = mcp::task_news(x.type(), x.line());
    if (message.empty()) return;
    with_core(
        [&](auto& out) { core_.on_progress(key, ++count, message, out); });
  }

  mcp::json list() {
    auto out = mcp::json::array();
    const auto all = rt_.sessions(listed_sessions);
    if (!all) return out;
    for (const auto& x : *all)
      out.push_back({{"uri", std::string{session_prefix} + x.id.value},
                     {"name", x.id.value},
                     {"mimeType", "application/json"}});
    return out;
  }

  std::optional<std::string> read(const std::string& uri) {
    if (uri.starts_with(session_prefix)) {
      const auto found =
          rt_.session(session_id{uri.substr(session_prefix.size())});
      if (!found) return std::nullopt;
      return service::dump(service::to_json(*found));
    }
    if (!uri.starts_with(output_prefix)) return std::nullopt;
    auto found = rt_.output(call_id{uri.substr(output_prefix.size())});
    if (!found) return std::nullopt;
    return text_of(*found);
  }

  static std::optional<std::string> text_of(const kept_output& x) {
    if (x.file.empty()) return x.text;
    auto text = read_within(x.file, {.bytes = std::size_t{4} << 20});
    if (!text) return std::nullopt;
    return std::move(*text);
  }

  runtime& rt_;
  const mcp_command& asked_;
  console& io_;
  std::mutex mutex_;
  mcp::serving_core core_;
  std::map<std::uint64_t, std::stop_source> stops_;
  std::map<std::uint64_t, std::jthread> threads_;
  std::vector<std::uint64_t> finished_;  ///< of `threads_`
};

}  // namespace

int mcp_serve(const mcp_command& x, console& io) {
  auto settings = load_config(x.common, config_use::acts, true, io);
  if (!settings) return usage;
  choose_log_level(x.common.level, *settings);
  const auto registry = make_registry(*settings, {});
  if (!registry) return report(registry.error(), io);
  std::vector<mcp::json> tools;
  for (const auto& name : settings->mcp_server.tools)
    if (const auto* tool = (*registry)->find(name))
      tools.push_back(mcp::offered_tool((*tool)->spec()));
  auto rt = runtime::create(*settings, {.owns_process = true});
  if (!rt) return report(rt.error(), io);
  return mcp_service{*rt, x, std::move(tools), io}.run();
}

}  // namespace riffle::cli
