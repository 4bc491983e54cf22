// SPDX-License-Identifier: MIT
#include "tools/process/child_conversation.hpp"

#include <algorithm>
#include <array>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/proc_stat.hpp"
#include "tools/process/signal_name.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr milliseconds look_time{500};
constexpr milliseconds short_time{50};
constexpr milliseconds stop_timeout{500};
constexpr milliseconds death_timeout{200};
constexpr std::chrono::seconds stuck_after{30};
constexpr std::size_t longest_tail = 2048;

std::string end_text(const std::optional<guard_report>& report) {
  if (!report) return "it was ended from outside of Riffle";
  if (report->kind != guard_report::what::ended)
    return "its process could not start";
  if (WIFSIGNALED(report->value))
    return "its process was ended by " + signal_name(WTERMSIG(report->value));
  return "its process ended with exit status " +
         std::to_string(WEXITSTATUS(report->value));
}

child_call too_long() {
  child_call out;
  out.usable = true;
  const std::string why =
      "the arguments and the session's values of a call "
      "have more than 64 MiB";
  out.output = {why, error{errc::invalid_arguments, "isolation", why}};
  return out;
}

}  // namespace

child_conversation::child_conversation(worker_child& child)
    : child_{child}, wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

child_call child_conversation::run(const json& arguments,
                                   tool_context& context) {
  context_ = &context;
  const std::stop_callback on_stopped{
      context.stop, [this] { ::eventfd_write(wake_.get(), 1); }};
  work::assignment task;
  task.call.id = context.call;
  task.call.tool = child_.tool_;
  task.call.arguments = arguments.dump();
  task.call.judged = context.judged;
  task.call.basis = context.basis;
  task.attempt = context.attempt;
  task.state = context.state->values();
  task.files = context.files;
  const auto message = encode(std::move(task));
  if (message.size() > longest_message) return too_long();
  child_.send(
      encode(call_place{context.workspace.string(), context.kill_grace,
                        context.output_file.string(), context.output_cap}));
  child_.send(message);
  send_some();
  while (!child_.ended_ && (!done_ || end_asked_ || stop_asked_)) {
    const auto now = clock::now();
    // Where no descriptor was left for it, nothing wakes us.
    if (!wake_ && !stop_asked_ && context.stop.stop_requested()) on_stop();
    if (end_at_ && !end_asked_ && (done_ || now >= *end_at_)) {
      if (closed_ && lost_.empty()) lost_ = "it closed its channel";
      ask_end();
    }
    if (stuck_at_ && now >= *stuck_at_) break;
    const auto pause = end_at_ || end_asked_ ? short_time : look_time;
    wait_and_read(static_cast<int>(pause.count()));
  }
  return outcome(context.stop.stop_requested());
}

bool child_conversation::end(duration limit) {
  ask_end();
  const auto deadline = clock::now() + limit;
  while (!child_.ended_ && clock::now() < deadline)
    wait_and_read(static_cast<int>(look_time.count()));
  return child_.ended_;
}

void child_conversation::send_some() {
  auto& all = child_.unsent_;
  while (!all.empty()) {
    const auto state = send_packet(child_.fd_.get(), false, all.front());
    if (state == send_state::full) return;
    if (state == send_state::closed) return all.clear();  // `receive` tells it
    all.pop_front();
  }
}

bool child_conversation::wait_and_read(int timeout_ms) {
  const auto wanted =
      static_cast<short>(POLLIN | (child_.unsent_.empty() ? 0 : POLLOUT));
  pollfd fds[] = {{child_.fd_.get(), wanted, 0},
                  {child_.process_.channel(), POLLIN, 0},
                  {child_.process_.out.get(), POLLIN, 0},
                  {child_.process_.err.get(), POLLIN, 0},
                  {stop_asked_ ? -1 : wake_.get(), POLLIN, 0}};
  const auto ready = ::poll(fds, 5, timeout_ms);
  child_.process_.look_after();
  if (ready == 0) on_quiet();
  if (ready <= 0) return false;
  quiet_frozen_ = 0;
  if (fds[2].revents != 0) read_output(child_.process_.out);
  if (fds[3].revents != 0) read_output(child_.process_.err);
  if ((fds[0].revents & POLLOUT) != 0) send_some();
  if ((fds[0].revents & ~POLLOUT) != 0) read_packets();
  if (fds[4].revents != 0) on_stop();
  if (fds[1].revents != 0) on_guard();
  return true;
}

void child_conversation::read_packets() {
  child_message x;
  while (child_.fd_) {
    switch (child_.reader_.receive(child_.fd_.get(), false, x)) {
      case receive_state::received:
        if (!done_) std::visit([this](auto& y) { on(y); }, x);
        break;
      case receive_state::nothing: return;
      case receive_state::closed: return on_closed();
      case receive_state::malformed: return lose(child_.reader_.problem());
    }
  }
}

void child_conversation::read_output(unique_fd& from) {
  std::array<char, 4096> bytes;
  const auto count = ::read(from.get(), bytes.data(), bytes.size());
  if (count == 0) from.reset();
  if (count <= 0) return;
  tail_.append(bytes.data(), static_cast<std::size_t>(count));
  if (tail_.size() > 2 * longest_tail)
    tail_.erase(0, tail_.size() - longest_tail);
}

void child_conversation::on(work::offer& x) {
  child_.pid_ = static_cast<pid_t>(x.process);
  if (!x.tools.empty()) return;
  failed_start_ = true;
  output_.err = error{errc::invalid_config, "isolation", std::move(x.problem)};
  ask_end();
}

bool child_conversation::is_mine(const call_id& call,
                                 std::uint32_t attempt) const {
  return context_ != nullptr && context_->call == call &&
         context_->attempt == attempt;
}

void child_conversation::on(work::progress& x) {
  if (is_mine(x.id, x.attempt) && context_->progress && !stop_asked_)
    context_->progress(std::move(x.report));
}

void child_conversation::on(work::done& x) {
  if (!is_mine(x.id, x.attempt)) return;
  output_ = {std::move(x.result.output), std::move(x.result.err),
             std::move(x.result.metadata), x.moved, std::move(x.result.files)};
  if (!take_state(x.state)) return lose("it sent garbage");
  done_ = true;
}

void child_conversation::on(work::lost& x) {
  threw_ = true;
  lose(std::move(x.reason));
}

bool child_conversation::take_state(const state_values& changes) {
  for (const auto& [key, text] : changes) {
    const auto value =
        text.empty() ? json(nullptr) : json::parse(text, nullptr, false);
    if (value.is_discarded()) return false;
    auto kept = context_->state->set(key, value);
    if (!kept && !output_.err) output_.err = std::move(kept.error());
  }
  return true;
}

/// Most likely by its death, which its guard is about to tell.
void child_conversation::on_closed() {
  closed_ = true;
  child_.fd_.reset();
  child_.unsent_.clear();
  end_at_ = clock::now() + death_timeout;
}

void child_conversation::on_stop() {
  stop_asked_ = true;
  end_at_ = clock::now() + stop_timeout;
  child_.send(encode(work::stop{context_->call, context_->attempt}));
  send_some();
}

/// The guard says that nothing is left, or is dead itself.
void child_conversation::on_guard() {
  read_packets();  // what came before the end
  const auto report = child_.process_.finish();
  child_.ended_ = true;
  while (child_.process_.err) {
    const auto before = tail_.size();
    read_output(child_.process_.err);
    if (tail_.size() == before) break;
  }
  if (lost_.empty()) lost_ = end_text(report);
}

void child_conversation::on_quiet() {
  if (end_asked_) return;
  quiet_frozen_ = is_frozen() ? quiet_frozen_ + 1 : 0;
  if (quiet_frozen_ >= 2) lose("its process was stopped (SIGSTOP)");
}

void child_conversation::lose(std::string why) {
  if (lost_.empty()) lost_ = std::move(why);
  child_.fd_.reset();
  child_.unsent_.clear();
  ask_end();
}

void child_conversation::ask_end() {
  if (end_asked_ || child_.ended_) return;
  end_asked_ = true;
  stuck_at_ = clock::now() + stuck_after;
  child_.process_.ask_end();
}

/// As the kernel says: T is a process that a signal stopped.
bool child_conversation::is_frozen() const {
  return child_.pid_ > 0 && proc_stat{child_.pid_}.word(3) == "T";
}

child_call child_conversation::outcome(bool stopped) {
  child_call out;
  const bool answered = done_ || failed_start_;
  out.usable = !child_.ended_ && !end_asked_;
  if (stopped) {
    if (!done_) output_ = {};
    output_.err = error{errc::cancelled, "isolation", "cancelled"};
    out.output = std::move(output_);
  } else if (answered) {
    out.output = std::move(output_);
  } else {
    out.lost =
        lost_.empty() ? "its process does not end, not even by SIGKILL" : lost_;
    utf8_stream utf8;
    std::string tail;
    if (!threw_) utf8.feed(tail_, tail);
    if (!tail.empty())
      out.lost += ": " + std::string{tail_utf8(tail, longest_tail)};
  }
  return out;
}

}  // namespace riffle::tools
