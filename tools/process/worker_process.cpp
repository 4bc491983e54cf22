// SPDX-License-Identifier: MIT
#include "tools/process/worker_process.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/file_limit.hpp"
#include "tools/builtin/shell/output_spool.hpp"
#include "tools/process/unique_fd.hpp"
#include "tools/process/worker_packets.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

std::atomic<bool> main_asks{false};

/// A longer result is kept as an output is that is too long for memory.
constexpr std::size_t longest_text = 32u << 20;
constexpr std::size_t longest_message = 4096;
constexpr int first_own_fd = 16;

std::string dumped(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

struct call_request {
  json context;
  std::string arguments;
  std::string state;
};

class worker_process {
 public:
  explicit worker_process(const tool_maker& make) : make_{make} {}

  int run() {
    fd_ = unique_fd{::fcntl(0, F_DUPFD_CLOEXEC, first_own_fd)};
    const unique_fd null{::open("/dev/null", O_RDWR | O_CLOEXEC)};
    ::dup2(null.get(), 0);
    ::prctl(PR_SET_NAME, "riffle-worker");
    outlive_file_limit();
    if (!get_ready()) return 0;
    std::thread{[this] { listen(); }}.detach();
    for (;;) run_call(next_call());
  }

 private:
  /// Builds the tool. False: the runtime has gone.
  bool get_ready() {
    std::string configuration;
    packet x;
    while (x.kind != packet_kind::tool) {
      if (receive(fd_.get(), true, x) != receive_state::received) return false;
      if (x.kind == packet_kind::configuration) configuration += x.payload;
    }
    auto made = make_(configuration, x.payload);
    json ready{{"pid", ::getpid()}};
    if (made)
      tool_ = std::move(*made);
    else
      ready["error"] = made.error().message;
    tell(packet_kind::ready, dumped(ready));
    // A socket that is closed with something unread loses what was sent, too.
    while (!made && receive(fd_.get(), true, x) == receive_state::received) {
    }
    return made.has_value();
  }

  /// On a thread of its own, for a call may be stopped while it runs. The end
  /// of the channel is the runtime's end; what the tool does then, is of no
  /// use to anybody.
  void listen() {
    call_request request;
    for (;;) {
      packet x;
      if (receive(fd_.get(), true, x) != receive_state::received) ::_exit(0);
      const std::lock_guard lock{mutex_};
      if (x.kind == packet_kind::stop) stop_.request_stop();
      if (x.kind == packet_kind::arguments) request.arguments += x.payload;
      if (x.kind == packet_kind::state) request.state += x.payload;
      if (x.kind != packet_kind::call) continue;
      request.context = json::parse(x.payload);
      stop_ = std::stop_source{};
      next_ = std::exchange(request, {});
      changed_.notify_one();
    }
  }

  call_request next_call() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return next_.has_value(); });
    auto out = std::move(*next_);
    next_.reset();
    return out;
  }

  void run_call(const call_request& x) {
    tool_context context;
    const auto& about = x.context;
    context.call = call_id{about.at("call").get<std::string>()};
    context.attempt = about.at("attempt");
    context.basis = about.at("basis");
    context.workspace = about.at("workspace").get<std::string>();
    context.kill_grace = duration{about.at("kill_grace").get<std::int64_t>()};
    context.output_file = about.at("output_file").get<std::string>();
    context.output_cap = about.at("output_cap");
    if (about.contains("judged"))
      context.judged = about.at("judged").get<std::string>();
    {
      const std::lock_guard lock{mutex_};
      context.stop = stop_.get_token();
    }
    state_values values;
    if (!x.state.empty()) values = json::parse(x.state).get<state_values>();
    context.state = std::make_shared<call_state>(std::move(values));
    context.progress = [this](tool_progress_report report) {
      report_progress(std::move(report));
    };
    try {
      finish(tool_->run(json::parse(x.arguments), context), context);
    } catch (const std::exception& e) {
      tell(packet_kind::died, cut_utf8(e.what(), longest_message));
    } catch (...) {
      tell(packet_kind::died, "unknown exception");
    }
  }

  /// Never waits: what does not fit is dropped, and counted in the next.
  void report_progress(tool_progress_report x) {
    const std::lock_guard lock{progress_mutex_};
    json out{{"message", cut_utf8(x.message, longest_message)},
             {"stream", x.stream},
             {"coalesced", x.coalesced + dropped_}};
    if (x.progress) out["progress"] = *x.progress;
    if (x.total) out["total"] = *x.total;
    const auto bytes = to_packet(packet_kind::progress, dumped(out));
    if (send_packet(fd_.get(), false, bytes) == send_state::full)
      dropped_ += x.coalesced + 1;
    else
      dropped_ = 0;
  }

  void finish(tool_output x, const tool_context& context) {
    if (x.text.size() > longest_text) {
      output_spool kept{context.output_cap, context.output_file};
      kept.append(x.text);
      x.text = kept.text();
    }
    for (const auto& piece : in_pieces(packet_kind::text, x.text)) put(piece);
    for (const auto& piece : in_pieces(packet_kind::metadata, x.metadata))
      put(piece);
    if (const auto changes = context.state->changes(); !changes.empty())
      for (const auto& piece :
           in_pieces(packet_kind::state, dumped(json(changes))))
        put(piece);
    json rest = json::object();
    if (x.err)
      rest["error"] = {{"code", to_string(x.err->code)},
                       {"op", x.err->op},
                       {"message", cut_utf8(x.err->message, longest_message)}};
    if (x.moved) rest["moved"] = true;
    tell(packet_kind::result, dumped(rest));
  }

  void tell(packet_kind kind, std::string_view payload) {
    put(to_packet(kind, payload));
  }

  void put(std::string_view bytes) {
    if (send_packet(fd_.get(), true, bytes) != send_state::sent) ::_exit(0);
  }

  const tool_maker& make_;
  unique_fd fd_;
  tool_ptr tool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::stop_source stop_;
  std::optional<call_request> next_;
  std::mutex progress_mutex_;
  std::uint64_t dropped_ = 0;
};

}  // namespace

int run_worker_if_asked(int argc, char** argv, const tool_maker& make) {
  if (argc < 2 || std::strcmp(argv[1], worker_argument) != 0) {
    main_asks = true;
    return -1;
  }
  return worker_process{make}.run();
}

bool can_be_worker() noexcept { return main_asks; }

}  // namespace riffle::tools
