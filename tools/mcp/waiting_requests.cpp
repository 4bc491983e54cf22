// SPDX-License-Identifier: MIT
#include "tools/mcp/waiting_requests.hpp"

#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"

namespace riffle::mcp {

namespace {

/// Of what no honest server says, so many lines are logged.
constexpr std::uint64_t most_complaints = 20;

}  // namespace

waiting_requests::waiting_requests(std::string name, responder answers,
                                   sender send, link_events events)
    : name_{std::move(name)},
      send_{std::move(send)},
      events_{std::move(events)},
      core_{std::move(answers)} {}

reply waiting_requests::ask(const request& x) {
  std::unique_lock lock{mutex_};
  rpc_effects out;
  const auto id =
      core_.request(x.method, x.params, static_cast<bool>(x.on_progress), out);
  auto& mine = waiting_[id];
  mine.what = &x;
  act(lock, std::move(out));
  const auto done = [&] { return mine.came.has_value(); };
  if (x.until == time_point::max())
    mine.changed.wait(lock, x.stop, done);
  else
    mine.changed.wait_until(lock, x.stop, x.until, done);
  auto came = std::move(mine.came);
  if (!came) {
    const bool stopped = x.stop.stop_requested();
    waiting_.erase(id);
    rpc_effects more;
    core_.cancel(id, stopped ? "the call was stopped" : "the time is over",
                 x.method != "initialize", more);
    act(lock, std::move(more));
    return given_up{!stopped};
  }
  waiting_.erase(id);
  return std::visit([](auto& y) { return reply{std::move(y)}; }, *came);
}

void waiting_requests::notify(std::string_view method, const json& params) {
  std::unique_lock lock{mutex_};
  rpc_effects out;
  core_.notify(method, params, out);
  act(lock, std::move(out));
}

void waiting_requests::on_text(std::string_view text) {
  std::unique_lock lock{mutex_};
  rpc_effects out;
  core_.on_text(text, out);
  act(lock, std::move(out));
}

void waiting_requests::on_closed(const lost& how) {
  std::unique_lock lock{mutex_};
  if (std::exchange(closed_, true)) return;
  lock.unlock();
  // Before the answers: who asks again then waits for the next connection.
  if (events_.on_broken) events_.on_broken(how.why);
  lock.lock();
  rpc_effects out;
  core_.on_closed(how, out);
  act(lock, std::move(out));
}

void waiting_requests::act(std::unique_lock<std::mutex>& lock,
                           rpc_effects all) {
  for (auto& x : all) act_on(lock, x);
}

void waiting_requests::act_on(std::unique_lock<std::mutex>& lock,
                              rpc_effect& x) {
  if (auto* done = std::get_if<settled>(&x)) {
    const auto found = waiting_.find(done->id);
    if (found == waiting_.end()) return;
    found->second.came = std::move(done->how);
    return found->second.changed.notify_all();
  }
  if (const auto* report = std::get_if<progressed>(&x)) {
    const auto found = waiting_.find(report->id);
    // Under the lock: who asked does not leave before.
    if (found != waiting_.end()) found->second.what->on_progress(*report);
    return;
  }
  if (const auto* strange = std::get_if<odd>(&x))
    return complain(strange->what);
  lock.unlock();
  if (auto* text = std::get_if<send_text>(&x))
    send_(std::move(text->text));
  else if (const auto* said = std::get_if<notified>(&x))
    if (events_.on_notification) events_.on_notification(*said);
  lock.lock();
}

void waiting_requests::complain(const std::string& what) {
  if (++complaints_ > most_complaints) return;
  log_about(
      log_level::warn, "mcp." + name_,
      redact(what) +
          (complaints_ == most_complaints ? "; no more of these are told" : ""),
      {{"cause", cause_of_oddities}});
}

}  // namespace riffle::mcp
