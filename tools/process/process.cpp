// SPDX-License-Identifier: MIT
#include "tools/process/process.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <mutex>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <utility>

#include "runtime/base/log.hpp"
#include "tools/process/guarded_process.hpp"

namespace riffle::tools {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr std::size_t read_size = 64u << 10;
constexpr milliseconds quiet_time{100};
constexpr milliseconds long_line{500};
constexpr std::chrono::seconds stuck_after{30};
/// What a pipe can hold at most without privileges (pipe-max-size).
constexpr std::size_t most_left_over = 1u << 20;

unexpected failure(errc code, std::string message) {
  return unexpected{
      error{.code = code, .op = "process.run", .message = std::move(message)}};
}

unexpected no_space(const guard_report& report) {
  auto why =
      failure(errc::tool_execution_error,
              to_text({static_cast<space_step>(report.step), report.value}) +
                  "; namespace = \"none\" in the tool's table does without");
  why.value().retryable = report.value == ENOSPC || report.value == EAGAIN ||
                          report.value == ENOMEM;
  return why;
}

/// Moves what a process writes to its listener until it has ended.
class pump {
 public:
  pump(const process_request& request, process_listener& listener,
       guarded_process& process, std::stop_token stop)
      : request_{request},
        listener_{listener},
        process_{process},
        buffer_(read_size),
        token_{stop},
        stop_{std::move(stop), [this] { ::eventfd_write(wake_.get(), 1); }} {}

  expected<process_end> run() {
    for (;;) {
      // Where no descriptor was left for it, nothing wakes us.
      if (!asked_ && !wake_ && token_.stop_requested())
        ask_end(process_end::why::cancelled);
      if (!asked_ && request_.deadline &&
          steady_clock::now() >= *request_.deadline)
        ask_end(process_end::why::timed_out);
      if (asked_ && steady_clock::now() >= stuck_at_)
        return failure(errc::internal,
                       "processes of the command do not end, not even by "
                       "SIGKILL: they wait for the system, and end when it "
                       "lets them");
      if (wait_and_read()) break;
    }
    const auto report = process_.finish();
    drain(process_.out, output_stream::out);
    drain(process_.err, output_stream::err);
    if (!report)
      return failure(errc::interrupted,
                     "the command was cut off from outside of Riffle (somebody "
                     "killed the process that watches over it, or memory ran "
                     "out); parts of it may have gone on, and how far it came "
                     "is unknown: look at what it did before it runs again");
    return result(*report);
  }

 private:
  /// True when the guard has something to say.
  bool wait_and_read() {
    pollfd fds[] = {{process_.channel(), POLLIN, 0},
                    {process_.out.get(), POLLIN, 0},
                    {process_.err.get(), POLLIN, 0},
                    {asked_ ? -1 : wake_.get(), POLLIN, 0}};
    const auto ready = ::poll(fds, 4, timeout());
    // One that has ended wants no lease.
    if (fds[0].revents == 0) process_.look_after();
    if (ready == 0) listener_.on_quiet();
    if (ready <= 0) return false;
    if (fds[1].revents != 0) read_some(process_.out, output_stream::out);
    if (fds[2].revents != 0) read_some(process_.err, output_stream::err);
    tell_long_lines();
    if (fds[3].revents != 0) ask_end(process_end::why::cancelled);
    return fds[0].revents != 0;
  }

  [[nodiscard]] int timeout() const {
    auto result = quiet_time;
    if (!asked_ && request_.deadline)
      result = std::min(result, std::chrono::ceil<milliseconds>(
                                    *request_.deadline - steady_clock::now()));
    return static_cast<int>(std::max<milliseconds::rep>(result.count(), 0));
  }

  void ask_end(process_end::why how) {
    asked_ = how;
    stuck_at_ = steady_clock::now() + request_.kill_grace + stuck_after;
    process_.ask_end();
  }

  /// The number of bytes; 0 when there is nothing more (for now).
  std::size_t read_some(unique_fd& from, output_stream stream) {
    const auto count = ::read(from.get(), buffer_.data(), buffer_.size());
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return 0;
    if (count <= 0) {
      from.reset();
      return 0;
    }
    const auto size = static_cast<std::size_t>(count);
    const std::string_view bytes{buffer_.data(), size};
    auto& begun = stream == output_stream::out ? out_line_ : err_line_;
    if (bytes.back() == '\n')
      begun.reset();
    else if (!begun || bytes.find('\n') != bytes.npos)
      begun = steady_clock::now();
    listener_.on_output(stream, bytes);
    return size;
  }

  /// Who writes dots, or draws a bar, never pauses, and is not silent.
  void tell_long_lines() {
    const auto late = steady_clock::now() - long_line;
    if ((!out_line_ || *out_line_ > late) && (!err_line_ || *err_line_ > late))
      return;
    listener_.on_quiet();
    for (auto* begun : {&out_line_, &err_line_})
      if (*begun) *begun = steady_clock::now();
  }

  void drain(unique_fd& from, output_stream stream) {
    std::size_t total = 0;
    while (from && total < most_left_over) {
      const auto count = read_some(from, stream);
      if (count == 0) return;
      total += count;
    }
  }

  [[nodiscard]] expected<process_end> result(const guard_report& report) const {
    if (report.kind == guard_report::what::no_folder)
      return failure(errc::tool_execution_error,
                     "cannot run in the folder " + request_.folder.string() +
                         ": " + std::strerror(report.value));
    if (report.kind == guard_report::what::not_started)
      return failure(errc::tool_execution_error,
                     "cannot start " + request_.command.front() + ": " +
                         std::strerror(report.value));
    if (report.kind == guard_report::what::no_space) return no_space(report);
    process_end end;
    if (WIFSIGNALED(report.value)) {
      end.how = process_end::why::signalled;
      end.signal = WTERMSIG(report.value);
    } else {
      end.exit_code = WEXITSTATUS(report.value);
    }
    if (asked_) end.how = *asked_;
    return end;
  }

  const process_request& request_;
  process_listener& listener_;
  guarded_process& process_;
  std::vector<char> buffer_;
  /// When the line began that has no end yet, or was told of last.
  std::optional<time_point> out_line_;
  std::optional<time_point> err_line_;
  std::optional<process_end::why> asked_;
  time_point stuck_at_;
  const std::stop_token token_;
  unique_fd wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::stop_callback<std::function<void()>> stop_;  // after what it uses
};

void tell_of_shared_space() {
  static std::once_flag told;
  std::call_once(told, [] {
    log_info("process.space",
             "commands run without a PID namespace of their own: namespace is "
             "\"none\"");
  });
}

}  // namespace

expected<process_end> run_process(const process_request& request,
                                  process_listener& listener,
                                  std::stop_token stop) {
  if (request.space == pid_space::shared) tell_of_shared_space();
  auto process = guarded_process::start(request);
  if (!process) return unexpected{std::move(process).error()};
  auto end = pump{request, listener, *process, std::move(stop)}.run();
  // Otherwise the lock may still be held, or the guard did not end well.
  const bool orderly = end || end.error().code == errc::tool_execution_error;
  if (orderly && !request.lock.empty()) {
    std::error_code ignored;
    std::filesystem::remove(request.lock, ignored);
  }
  return end;
}

}  // namespace riffle::tools
