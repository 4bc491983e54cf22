// SPDX-License-Identifier: MIT
// riffle mcp serve: runs, sessions and outputs for clients of the protocol.
#include <array>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/api/version.hpp"
#include "runtime/base/id_source.hpp"
#include "runtime/base/trace.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/commands/mcp_commands.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/config/home.hpp"
#include "runtime/http/run_request_json.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/single_call.hpp"
#include "runtime/service/views.hpp"
#include "runtime/storage/read_only_journal.hpp"
#include "tools/mcp/line_reader.hpp"
#include "tools/mcp/run_task.hpp"
#include "tools/mcp/serving.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t listed_sessions = 50;

/// A client that takes nothing keeps no program from its end for longer.
constexpr auto reading_limit = std::chrono::seconds{2};

mcp::json result_of(const run_outcome& x, std::uint32_t denied) {
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
  end.denied = denied;
  return mcp::task_result(end);
}

/// The arguments of `run_task`, read as `POST /v1/runs` reads them. A client
/// approves no more than who started this program.
expected<run_request> read_task(const mcp::json& arguments, approve most) {
  const auto asked = arguments.value("approve", mcp::json{});
  if (asked == "all" && most != approve::all)
    return unexpected{error{
        errc::invalid_request, "mcp",
        "approve: \"all\" is for a server that was started with --approve "
        "all"}};
  http::caller client;
  client.roles = {http::role::admin};
  auto out = http::read_run(http::json(arguments), client);
  if (!out) return out;
  if (!asked.is_string()) out->approval = most;
  out->origin = {};
  return out;
}

class mcp_service {
 public:
  struct offer {
    std::shared_ptr<const tools::registry> all;
    std::vector<std::string> names;  ///< of single tools
  };
  mcp_service(runtime& rt, const mcp_command& x, offer tools,
              std::filesystem::path data, console& io)
      : rt_{rt},
        asked_{x},
        tools_{std::move(tools)},
        data_{std::move(data)},
        io_{io},
        core_{options()} {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
    woken_ = unique_fd{ends[0]};
    wake_ = unique_fd{ends[1]};
  }

  /// Until the client closes our input, or a signal asks for the end.
  int run(interrupts& signals) {
    io_.out.give_up_if([this](std::chrono::milliseconds waited) {
      return ending_ && waited > reading_limit;
    });
    signals.on_stop([this](const char*) {
      ending_ = true;
      [[maybe_unused]] const auto n = ::write(wake_.get(), "x", 1);
    });
    const auto how = read_all();
    signals.on_stop({});
    const bool asked = ending_.exchange(true);
    {
      const std::lock_guard lock{mutex_};
      // Who asked for the end may still read what came of its calls.
      for (auto& [key, stop] : stops_) stop.request_stop();
    }
    if (!asked) with_core([&](auto& out) { core_.on_closed(out); });
    threads_.clear();  // each waits for the end of its run
    io_.out.give_up_if({});
    if (how == input::too_long) {
      io_.complain("a line of more than 8 MB came, which no client sends");
      return failed;
    }
    return asked || io_.out.good() ? completed : failed;
  }

 private:
  enum class input : std::uint8_t { closed, too_long, stopped };

  input read_all() {
    mcp::line_reader lines;
    std::array<char, 64u << 10> buffer{};
    for (;;) {
      std::array<pollfd, 2> all{{{0, POLLIN, 0}, {woken_.get(), POLLIN, 0}}};
      if (::poll(all.data(), all.size(), -1) < 0 && errno != EINTR)
        return input::closed;
      if (ending_) return input::stopped;
      if (all[0].revents == 0) continue;
      const auto n = ::read(0, buffer.data(), buffer.size());
      if (n < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (n <= 0) return input::closed;
      const bool open =
          lines.feed({buffer.data(), static_cast<std::size_t>(n)},
                     [this](std::string_view line) {
                       with_core([&](auto& out) { core_.on_text(line, out); });
                     });
      if (!open) return input::too_long;
    }
  }

  mcp::serving_options options() {
    mcp::serving_options out;
    out.version = RIFFLE_VERSION;
    out.tools.push_back(mcp::run_task_tool());
    for (const auto& name : tools_.names)
      out.tools.push_back(mcp::offered_tool((*tools_.all->find(name))->spec()));
    out.list = [this] { return list(); };
    out.read = [this](const std::string& uri) { return read(uri); };
    out.templates = mcp::uri_templates();
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
    auto request = read_task(call.arguments, asked_.approval);
    if (!request) return mcp::task_refusal(request.error().message);
    request->stop = stop;
    request->id = run_id{ids_.make(service::waited_for_prefix)};
    if (!call.trace.empty()) keep_trace(*request->id, call.trace);
    const bool waits = request->approval == approve::ask;
    const auto denied = std::make_shared<std::atomic<std::uint32_t>>(0);
    const auto outcome =
        rt_.execute(*std::move(request), teller(call.key, waits, denied));
    return outcome ? result_of(*outcome, *denied)
                   : mcp::task_refusal(outcome.error().message);
  }

  /// A single tool: a plan of one step, so that rules, approvals, limits and
  /// the journal hold for it.
  mcp::json work_tool(const mcp::begin_call& call,
                      const std::stop_token& stop) {
    const auto refused = [](const error& x) {
      return mcp::call_result({false, service::without_step(x.message)});
    };
    auto request =
        service::plan_of_single_call(*tools_.all, call.tool, call.arguments);
    if (!request) return refused(request.error());
    request->with.approval = asked_.approval;
    request->with.stop = stop;
    request->with.id = run_id{ids_.make(service::single_call_prefix)};
    if (!call.trace.empty()) keep_trace(*request->with.id, call.trace);
    const auto started = rt_.start_plan(
        *std::move(request),
        teller(call.key, asked_.approval == approve::ask, nullptr));
    if (!started) return refused(started.error());
    auto end = started->wait(std::chrono::hours{1});
    while (!end && end.error().code == errc::timeout)
      end = started->wait(std::chrono::hours{1});
    if (!end) return refused(end.error());
    const bool good = end->status == events::run_status::completed;
    return told(
        {started->id(), good, end->answer,
         good || !end->failure ? std::string{} : end->failure->message});
  }

  mcp::json told(const service::single_call_end& x) {
    auto opened = storage::open_read_only_journal(data_);
    if (!opened)
      return mcp::call_result(
          {false, "what came of it cannot be read: " + opened.error().message});
    const std::shared_ptr<storage::journal> journal = std::move(*opened);
    const service::sessions all{journal, data_ / "outputs"};
    return mcp::call_result(service::told_of(x, all, *journal, true));
  }

  /// Steps, calls and their progress are what a client is told; that a call
  /// waits for a person, where it does. Counts the calls that are `denied`.
  event_handler teller(std::uint64_t key, bool waits,
                       std::shared_ptr<std::atomic<std::uint32_t>> denied) {
    return [this, key, waits, denied = std::move(denied),
            count = 0.0](const event_batch& batch) mutable {
      batch.for_each([&](const event_view& x) {
        if (denied && mcp::is_denial(x.type(), x.line())) ++*denied;
        if (!waits && x.type() == "approval_required") return;
        const auto message = mcp::task_news(x.type(), x.line());
        if (message.empty()) return;
        with_core(
            [&](auto& out) { core_.on_progress(key, ++count, message, out); });
      });
    };
  }

  mcp::json list() {
    auto out = mcp::json::array();
    const auto all = rt_.sessions(listed_sessions);
    if (!all) return out;
    for (const auto& x : *all)
      out.push_back(mcp::session_resource(x.id.value, x.title));
    return out;
  }

  std::optional<std::string> read(const std::string& uri) {
    if (const auto id = mcp::id_in(uri, "sessions")) {
      const auto found = rt_.session(session_id{*id});
      if (!found) return std::nullopt;
      return service::dump(service::to_json(*found));
    }
    const auto call = mcp::id_in(uri, "outputs");
    if (!call) return std::nullopt;
    const auto found = rt_.output(call_id{*call});
    if (!found) return std::nullopt;
    auto text = service::first_part_of(*found);
    if (!text) return std::nullopt;
    return std::move(*text);
  }

  runtime& rt_;
  const mcp_command& asked_;
  const offer tools_;
  const std::filesystem::path data_;
  console& io_;
  id_source ids_;
  unique_fd woken_;
  unique_fd wake_;
  std::atomic<bool> ending_ = false;
  std::mutex mutex_;
  mcp::serving_core core_;
  std::map<std::uint64_t, std::stop_source> stops_;
  std::map<std::uint64_t, std::jthread> threads_;
  std::vector<std::uint64_t> finished_;  ///< of `threads_`
};

/// What a process of this kind left behind nobody waits for any more.
void end_cut_off(runtime& rt) {
  constexpr std::size_t most = 1000;
  std::error_code gone;
  const auto here = std::filesystem::current_path(gone).string();
  const auto all = rt.unfinished(most);
  if (!all) return;
  for (const auto& x : *all)
    if (x.owner == storage::run_owner::gone && origin_of(x.run).by.empty() &&
        service::is_waited_for(x.run.id) && folder_of(x.run) == here)
      static_cast<void>(rt.cancel(x.run.id, "its client is gone"));
}

}  // namespace

int mcp_serve(const mcp_command& x, console& io) {
  auto settings = load_config(x.common, config_use::acts, true, io);
  if (!settings) return usage;
  choose_log_level(x.common.level, *settings);
  const auto data = config::data_folder(settings->runtime);
  if (!data) return report(data.error(), io);
  auto registry = make_registry(*settings, {});
  if (!registry) return report(registry.error(), io);
  mcp_service::offer tools{std::move(*registry), {}};
  for (const auto& name : settings->mcp_server.tools)
    if (tools.all->find(name) != nullptr) tools.names.push_back(name);
  interrupts signals;
  auto rt = runtime::create(*settings, {.owns_process = true});
  if (!rt) return report(rt.error(), io);
  end_cut_off(*rt);
  return mcp_service{*rt, x, std::move(tools), *data, io}.run(signals);
}

}  // namespace riffle::cli
