// SPDX-License-Identifier: MIT
#include "tools/process/child_conversation.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

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
constexpr std::size_t longest_text = 64u << 20;
constexpr std::size_t longest_tail = 2048;

std::string context_text(const tool_context& x) {
  json out{{"call", x.call.value},
           {"attempt", x.attempt},
           {"basis", x.basis},
           {"workspace", x.workspace.string()},
           {"kill_grace", x.kill_grace.count()},
           {"output_file", x.output_file.string()},
           {"output_cap", x.output_cap}};
  if (x.judged) out["judged"] = *x.judged;
  return out.dump();
}

std::string end_text(const std::optional<guard_report>& report) {
  if (!report) return "its guard was killed";
  if (report->kind != guard_report::what::ended)
    return "its process could not start";
  if (WIFSIGNALED(report->value))
    return "its process was ended by " + signal_name(WTERMSIG(report->value));
  return "its process ended with exit status " +
         std::to_string(WEXITSTATUS(report->value));
}

}  // namespace

child_conversation::child_conversation(worker_child& child)
    : child_{child}, wake_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)} {}

child_call child_conversation::run(const json& arguments,
                                   tool_context& context) {
  context_ = &context;
  const std::stop_callback on_stopped{
      context.stop, [this] { ::eventfd_write(wake_.get(), 1); }};
  for (auto& x : in_pieces(packet_kind::arguments, arguments.dump()))
    child_.unsent_.push_back(std::move(x));
  if (const auto values = context.state->values(); !values.empty())
    for (auto& x : in_pieces(packet_kind::state, json(values).dump()))
      child_.unsent_.push_back(std::move(x));
  child_.unsent_.push_back(to_packet(packet_kind::call, context_text(context)));
  send_some();
  while (!child_.ended_ && (!done_ || end_asked_ || stop_asked_)) {
    const auto now = clock::now();
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
  packet x;
  while (child_.fd_) {
    switch (receive(child_.fd_.get(), false, x)) {
      case receive_state::received: on_packet(x); break;
      case receive_state::nothing: return;
      case receive_state::closed: return on_closed();
      case receive_state::garbage: return lose("it sent garbage");
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

void child_conversation::on_packet(const packet& x) {
  if (done_) return;
  try {
    understand(x);
  } catch (const json::exception&) {
    lose("it sent garbage");
  }
}

void child_conversation::understand(const packet& x) {
  switch (x.kind) {
    case packet_kind::ready: return on_ready(x.payload);
    case packet_kind::progress: return on_progress(x.payload);
    case packet_kind::text: output_.text += x.payload; break;
    case packet_kind::metadata: output_.metadata += x.payload; break;
    case packet_kind::state: state_ += x.payload; break;
    case packet_kind::result: return on_result(x.payload);
    case packet_kind::died: threw_ = true; return lose(x.payload);
    default: return lose("it sent garbage");
  }
  if (output_.text.size() + output_.metadata.size() + state_.size() >
      longest_text)
    lose("its result is longer than 64 MiB");
}

void child_conversation::on_ready(const std::string& text) {
  const auto x = json::parse(text, nullptr, false);
  if (!x.is_object()) return lose("it sent garbage");
  child_.pid_ = x.value("pid", -1);
  if (!x.contains("error")) return;
  failed_start_ = true;
  output_.err =
      error{errc::invalid_config, "isolation", x.value("error", std::string{})};
  ask_end();
}

void child_conversation::on_progress(const std::string& text) {
  const auto x = json::parse(text, nullptr, false);
  if (!x.is_object()) return lose("it sent garbage");
  if (!context_ || !context_->progress || stop_asked_) return;
  tool_progress_report report;
  report.message = x.value("message", std::string{});
  report.stream = x.value("stream", std::string{});
  report.coalesced = x.value("coalesced", std::uint64_t{0});
  if (x.contains("progress")) report.progress = x["progress"].get<double>();
  if (x.contains("total")) report.total = x["total"].get<double>();
  context_->progress(std::move(report));
}

void child_conversation::on_result(const std::string& text) {
  const auto x = json::parse(text, nullptr, false);
  if (!x.is_object()) return lose("it sent garbage");
  if (const auto e = x.find("error"); e != x.end()) {
    const auto code = parse_errc(e->value("code", std::string{}));
    output_.err = error{code.value_or(errc::tool_execution_error),
                        e->value("op", std::string{}),
                        e->value("message", std::string{})};
  }
  output_.moved = x.value("moved", false);
  take_state();
  done_ = true;
}

void child_conversation::take_state() {
  if (state_.empty() || context_ == nullptr) return;
  for (const auto& [key, text] : json::parse(state_).get<state_values>()) {
    auto kept = context_->state->set(
        key, text.empty() ? json(nullptr) : json::parse(text));
    if (!kept && !output_.err) output_.err = std::move(kept.error());
  }
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
  child_.unsent_.push_back(to_packet(packet_kind::stop, {}));
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
  if (child_.pid_ <= 0) return false;
  std::ifstream in{"/proc/" + std::to_string(child_.pid_) + "/stat"};
  std::string text;
  std::getline(in, text);
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() &&
         text[name_end + 2] == 'T';
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
