// SPDX-License-Identifier: MIT
#include "tools/process/worker_process.hpp"

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <mutex>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/file_limit.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/shell/output_spool.hpp"
#include "tools/process/worker_pipe.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

std::atomic<bool> main_asks{false};

/// A longer result is kept as an output is that is too long for memory.
constexpr std::size_t longest_text = 32u << 20;
constexpr std::size_t longest_words = 4096;
constexpr std::size_t longest_stream = 64;
constexpr int first_own_fd = 16;

struct call_request {
  call_place place;
  work::assignment task;
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
  /// Builds the tool. False: there is none, or the runtime has gone.
  bool get_ready() {
    child_message x;
    const auto state = reader_.receive(fd_.get(), true, x);
    if (state == receive_state::closed) return false;
    work::offer offer;
    offer.process = ::getpid();
    if (const auto* wanted = std::get_if<child_setup>(&x);
        wanted == nullptr || state == receive_state::malformed) {
      offer.problem = "what came is no setup: " + reader_.problem();
    } else if (auto made = make_(wanted->configuration, wanted->tool)) {
      tool_ = std::move(*made);
      offer.tools.push_back(wanted->tool);
    } else {
      offer.problem = std::move(made.error().message);
    }
    tell(std::move(offer));
    // A socket that is closed with something unread loses what was sent, too.
    std::array<char, 1> unread;
    while (!tool_ && ::recv(fd_.get(), unread.data(), unread.size(), 0) > 0) {
    }
    return tool_ != nullptr;
  }

  /// On a thread of its own, for a call may be stopped while it runs. The end
  /// of the channel is the runtime's end; what the tool does then, is of no
  /// use to anybody.
  void listen() {
    call_place place;
    for (;;) {
      child_message x;
      if (reader_.receive(fd_.get(), true, x) != receive_state::received)
        ::_exit(0);
      const std::lock_guard lock{mutex_};
      if (std::holds_alternative<work::stop>(x)) stop_.request_stop();
      if (auto* where = std::get_if<call_place>(&x)) place = std::move(*where);
      auto* task = std::get_if<work::assignment>(&x);
      if (task == nullptr) continue;
      stop_ = std::stop_source{};
      next_ = call_request{std::exchange(place, {}), std::move(*task)};
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

  void run_call(call_request x) {
    const auto& call = x.task.call;
    tool_context context;
    context.call = call.id;
    context.attempt = x.task.attempt;
    context.basis = call.basis;
    context.judged = call.judged;
    context.workspace = std::move(x.place.workspace);
    context.kill_grace = x.place.kill_grace;
    context.output_file = std::move(x.place.output_file);
    context.output_cap = x.place.output_cap;
    context.files = std::move(x.task.files);
    {
      const std::lock_guard lock{mutex_};
      context.stop = stop_.get_token();
    }
    context.state = std::make_shared<call_state>(std::move(x.task.state));
    reported_ = 0;
    context.progress =
        [this, about = work::progress{call.id, x.task.attempt, 0, call.tool}](
            tool_progress_report report) {
          report_progress(about, std::move(report));
        };
    const auto lost = [&](const std::string& why) {
      tell(work::lost{call.id, x.task.attempt,
                      std::string{cut_utf8(why, longest_words)}});
    };
    try {
      finish(tool_->run(json::parse(call.arguments), context), context);
    } catch (const std::exception& e) {
      lost(e.what());
    } catch (...) {
      lost("unknown exception");
    }
  }

  /// Never waits: what does not fit is dropped, and counted in the next.
  void report_progress(work::progress about, tool_progress_report x) {
    x.message = cut_utf8(x.message, longest_words);
    x.stream = cut_utf8(x.stream, longest_stream);
    const auto stands_for = x.coalesced + 1;
    const std::lock_guard counting{progress_mutex_};
    x.coalesced += dropped_;
    about.report = std::move(x);
    about.number = reported_ + 1;
    const auto packets = in_packets(encode(std::move(about)));
    const std::unique_lock sending{send_mutex_, std::try_to_lock};
    if (packets.size() > 1 || !sending ||
        send_packet(fd_.get(), false, packets.front()) == send_state::full) {
      dropped_ += stands_for;
      return;
    }
    ++reported_;
    dropped_ = 0;
  }

  void finish(tool_output x, const tool_context& context) {
    if (x.text.size() > longest_text) {
      output_spool kept{context.output_cap, context.output_file};
      kept.append(x.text);
      x.text = kept.text();
    }
    if (x.err) x.err->message = cut_utf8(x.err->message, longest_words);
    work::done done{context.call, context.attempt};
    done.result.how = x.err ? outcome::failed : outcome::ok;
    done.result.output = std::move(x.text);
    done.result.err = std::move(x.err);
    done.result.metadata = std::move(x.metadata);
    done.last_progress = reported_;
    done.state = context.state->changes();
    done.moved = x.moved;
    done.result.files = std::move(x.files);
    tell(std::move(done));
  }

  /// Waits until all of it is sent: no other message gets in between.
  void tell(child_message x) {
    const std::lock_guard lock{send_mutex_};
    for (const auto& packet : in_packets(encode(std::move(x))))
      if (send_packet(fd_.get(), true, packet) != send_state::sent) ::_exit(0);
  }

  const tool_maker& make_;
  unique_fd fd_;
  tool_ptr tool_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::stop_source stop_;
  std::optional<call_request> next_;
  message_reader reader_;
  std::mutex send_mutex_;
  std::mutex progress_mutex_;
  std::atomic<std::uint64_t> reported_ = 0;  ///< of the call that runs
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
