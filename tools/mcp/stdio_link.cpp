// SPDX-License-Identifier: MIT
#include "tools/mcp/stdio_link.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tools/mcp/line_reader.hpp"
#include "tools/mcp/stderr_log.hpp"
#include "tools/mcp/waiting_requests.hpp"
#include "tools/process/process.hpp"
#include "tools/process/signal_name.hpp"

namespace riffle::mcp {

namespace {

/// What may wait for a server that does not read.
constexpr std::size_t most_unsent = 32u << 20;
constexpr int look_ms = 100;

std::int64_t minute_now() {
  return std::chrono::duration_cast<std::chrono::minutes>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Lines on their way to a pipe. A thread of its own writes what does not fit
/// at once, so that nobody waits for a server that does not read.
class line_writer {
 public:
  explicit line_writer(unique_fd to)
      : to_{std::move(to)}, thread_{[this] { run(); }} {}
  ~line_writer() {
    close();
    if (thread_.joinable()) thread_.join();
  }
  line_writer(const line_writer&) = delete;
  line_writer& operator=(const line_writer&) = delete;

  /// False: too much waits.
  bool send(std::string text) {
    text += '\n';
    std::unique_lock lock{mutex_};
    if (closed_) return true;  // its end is told elsewhere
    if (waiting_.size() - written_ + text.size() > most_unsent) return false;
    waiting_ += text;
    write_some();
    if (waiting_.empty()) return true;
    lock.unlock();
    more_.notify_one();
    return true;
  }

  void close() {
    {
      const std::lock_guard lock{mutex_};
      closed_ = true;
      to_.reset();
    }
    more_.notify_one();
  }

 private:
  void run() {
    std::unique_lock lock{mutex_};
    while (!closed_) {
      more_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (closed_) return;
      pollfd fd{to_.get(), POLLOUT, 0};
      lock.unlock();
      ::poll(&fd, 1, look_ms);
      lock.lock();
      if (!closed_) write_some();
    }
  }

  void write_some() {
    while (written_ < waiting_.size()) {
      const auto n = ::write(to_.get(), waiting_.data() + written_,
                             waiting_.size() - written_);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0 && errno == EAGAIN) return;
      if (n < 0) break;  // nobody reads any more: the end of the process tells
      written_ += static_cast<std::size_t>(n);
    }
    waiting_.clear();
    written_ = 0;
  }

  std::mutex mutex_;
  std::condition_variable more_;
  unique_fd to_;
  std::string waiting_;
  std::size_t written_ = 0;
  bool closed_ = false;
  std::thread thread_;
};

class stdio_link final : public link, private tools::process_listener {
 public:
  stdio_link(stdio_options options, link_events events)
      : options_{std::move(options)},
        log_{options_.name},
        requests_{
            options_.name,
            [me = options_.me](const std::string& method, const json& params) {
              return respond(me, method, params);
            },
            [this](std::string text) { return send(std::move(text)); },
            std::move(events)} {
    start();
  }

  ~stdio_link() override {
    stdio_link::close();
    if (thread_.joinable()) thread_.join();
  }

  reply ask(const request& x) override { return requests_.ask(x); }

  void notify(std::string_view method, const json& params) override {
    requests_.notify(method, params);
  }

  void set_version(std::string_view) override {}

  /// Closes its input, waits, asks the guard to end it.
  void close() override {
    if (writer_) writer_->close();
    std::unique_lock lock{mutex_};
    if (ended_.wait_for(lock, options_.grace, [&] { return has_ended_; }))
      return;
    lock.unlock();
    stop_.request_stop();
    lock.lock();
    ended_.wait(lock, [&] { return has_ended_; });
  }

 private:
  void start() {
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0)
      return begin([this, why = std::string{std::strerror(errno)}] {
        end({"it cannot be started: no pipe: " + why});
      });
    input_ = unique_fd{ends[0]};
    unique_fd output{ends[1]};
    ::fcntl(output.get(), F_SETFL, O_NONBLOCK);
    writer_.emplace(std::move(output));
    begin([this] { run(); });
  }

  void begin(std::function<void()> what) {
    thread_ = std::thread{std::move(what)};
  }

  void run() {
    tools::process_request process;
    process.command = options_.command;
    process.folder = options_.folder;
    process.environment = options_.environment;
    process.input = input_.get();
    process.kill_grace = options_.grace;
    process.lock = options_.lock;
    process.guard_program = options_.guard_program;
    process.space = options_.space;
    const auto how = tools::run_process(process, *this, stop_.get_token());
    log_.finish(minute_now());
    writer_->close();  // before nobody reads it
    input_.reset();
    std::unique_lock lock{mutex_};
    const auto broken = broken_;
    lock.unlock();
    // A program that cannot be started is there when a person has seen to it.
    end(broken.empty() ? lost{describe(how), !how} : lost{broken});
  }

  void end(const lost& how) {
    requests_.on_closed(how);
    const std::lock_guard lock{mutex_};
    has_ended_ = true;
    ended_.notify_all();
  }

  void on_output(tools::output_stream from, std::string_view bytes) override {
    if (from == tools::output_stream::err)
      return log_.append(bytes, minute_now());
    const bool fits = lines_.feed(
        bytes, [this](std::string_view line) { requests_.on_text(line); });
    if (!fits) give_up("it wrote a line of more than 8 MB");
  }

  bool send(std::string text) {
    if (!writer_ || writer_->send(std::move(text))) return true;
    give_up("it does not read what it is sent");
    return false;
  }

  /// What such a server says next means nothing.
  void give_up(std::string why) {
    {
      const std::lock_guard lock{mutex_};
      if (broken_.empty()) broken_ = std::move(why);
    }
    stop_.request_stop();
  }

  std::string describe(const expected<tools::process_end>& how) const {
    if (!how) return how.error().message;
    std::string out =
        how->signal != 0
            ? "it was ended by " + tools::signal_name(how->signal)
            : "it ended with exit status " + std::to_string(how->exit_code);
    if (!log_.last_line().empty())
      out += "; it said last: " + with_dots(log_.last_line(), 300);
    return out;
  }

  const stdio_options options_;
  stderr_log log_;
  line_reader lines_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool has_ended_ = false;
  std::string broken_;
  std::stop_source stop_;
  unique_fd input_;
  std::optional<line_writer> writer_;
  waiting_requests requests_;
  std::thread thread_;
};

}  // namespace

link_ptr open_stdio(stdio_options options, link_events events) {
  return std::make_shared<stdio_link>(std::move(options), std::move(events));
}

}  // namespace riffle::mcp
