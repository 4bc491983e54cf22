// SPDX-License-Identifier: MIT
#include "tools/mcp/http_link.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/http_answers.hpp"
#include "tools/mcp/reply_sender.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr int most_resumptions = 20;
constexpr auto notify_limit = seconds{5};
/// For what is still to be told when the connection ends.
constexpr auto farewell = milliseconds{300};
constexpr auto least_retry = milliseconds{200};
constexpr auto longest_retry = seconds{30};
constexpr int bad_request = 400;
constexpr int not_found = 404;
constexpr int server_fault = 500;

class http_link final : public link {
 public:
  http_link(http_link_options options, link_events events)
      : options_{std::move(options)},
        events_{std::move(events)},
        core_{
            [me = options_.me](const std::string& method, const json& params) {
              return respond(me, method, params);
            }} {}

  ~http_link() override {
    http_link::close();
    if (listener_.joinable()) listener_.join();
  }

  reply ask(const request& x) override {
    rpc_effects out;
    std::unique_lock lock{mutex_};
    if (broken_) return lost{*broken_};
    const auto id = core_.request(x.method, x.params,
                                  static_cast<bool>(x.on_progress), out);
    waiting_.emplace(id, waiter{&x, {}});
    std::string text;
    for (auto& y : out)
      if (auto* sent = std::get_if<send_text>(&y)) text = std::move(sent->text);
    lock.unlock();
    const auto end = carry(x, id, std::move(text));
    return settle(x, id, end);
  }

  void notify(std::string_view method, const json& params) override {
    rpc_effects out;
    {
      const std::lock_guard lock{mutex_};
      core_.notify(method, params, out);
    }
    for (auto& y : out)
      if (auto* sent = std::get_if<send_text>(&y))
        post(std::move(sent->text), method);
    if (method == "notifications/initialized") listen();
  }

  void set_version(std::string_view version) override {
    const std::lock_guard lock{mutex_};
    version_ = version;
  }

  void close() override {
    stop_.request_stop();
    replies_.stop(farewell);
    std::string session;
    {
      const std::lock_guard lock{mutex_};
      session = std::exchange(session_, {});
      if (!broken_) broken_ = "it was closed";
    }
    if (session.empty()) return;
    exchange_request x;
    x.method = "DELETE";
    x.url = options_.url;
    x.headers = headers_of("", {});
    x.headers.push_back("Mcp-Session-Id: " + session);
    x.until = steady_clock::now() + notify_limit / 5;
    static_cast<void>(exchange_as(options_.who.get(), x));
  }

 private:
  struct waiter {
    const request* what = nullptr;
    std::optional<answer> came{};
  };

  bool is_modern() const { return version_ == modern_version; }

  std::vector<std::string> headers_of(std::string_view method,
                                      const request& x) const {
    auto out = options_.headers;
    out.emplace_back("Content-Type: application/json");
    out.emplace_back("Accept: application/json, text/event-stream");
    const std::lock_guard lock{mutex_};
    // The question for the newer era is of the newer era.
    const bool modern = is_modern() || method == "server/discover";
    const std::string version{modern ? modern_version
                                     : std::string_view{version_}};
    if (has_version_header(version) && !version.empty())
      out.push_back("MCP-Protocol-Version: " + version);
    if (!session_.empty() && !modern)
      out.push_back("Mcp-Session-Id: " + session_);
    if (!modern || method.empty()) return out;
    out.push_back("Mcp-Method: " + std::string{method});
    for (const auto* key : {"name", "uri", "taskId"})
      if (const auto found = x.params.find(key);
          found != x.params.end() && found->is_string()) {
        out.push_back("Mcp-Name: " + header_text(*found));
        break;
      }
    for (const auto& [name, value] : x.headers)
      out.push_back(name + ": " + value);
    return out;
  }

  exchange_request exchange_of(const request& x, request_id id) {
    exchange_request out;
    out.url = options_.url;
    out.connect_timeout = options_.connect_timeout;
    out.stop = x.stop;
    out.until = x.until;
    out.largest_message = options_.largest_message;
    out.on_message = [this, id](std::string_view text) {
      on_text(text);
      return !has_come(id);
    };
    out.on_time = [this, id] {
      const std::lock_guard lock{mutex_};
      return !broken_ && !waiting_.at(id).came;
    };
    return out;
  }

  /// The request, and its stream again where that breaks and may go on.
  exchange_end carry(const request& x, request_id id, std::string text) {
    auto one = exchange_of(x, id);
    one.headers = headers_of(x.method, x);
    one.body = std::move(text);
    auto end = exchange_patiently(options_.who.get(), one);
    if (x.method == "initialize" && !end.session.empty()) {
      const std::lock_guard lock{mutex_};
      session_ = end.session;
    }
    for (int i = 0; i < most_resumptions && may_resume(end, id); ++i) {
      if (!pause(x, end)) break;
      auto more = exchange_of(x, id);
      more.method = "GET";
      more.headers = headers_of("", x);
      more.headers.push_back("Last-Event-ID: " + end.last_event_id);
      auto next = exchange_as(options_.who.get(), more);
      if (next.last_event_id.empty()) next.last_event_id = end.last_event_id;
      if (!next.retry_ms) next.retry_ms = end.retry_ms;
      end = std::move(next);
    }
    return end;
  }

  bool may_resume(const exchange_end& end, request_id id) const {
    const std::lock_guard lock{mutex_};
    return !is_modern() && end.stream && !end.last_event_id.empty() &&
           !end.stopped && !end.late && !broken_ && !waiting_.at(id).came;
  }

  bool pause(const request& x, const exchange_end& end) const {
    auto wait = std::chrono::duration_cast<duration>(options_.retry);
    if (end.retry_ms)
      wait = std::clamp<duration>(milliseconds{*end.retry_ms}, least_retry,
                                  longest_retry);
    wait_until(std::min(steady_clock::now() + wait, x.until), x.stop);
    return !x.stop.stop_requested() && steady_clock::now() < x.until;
  }

  reply settle(const request& x, request_id id, const exchange_end& end) {
    std::unique_lock lock{mutex_};
    auto came = std::move(waiting_.at(id).came);
    waiting_.erase(id);
    if (came)
      return std::visit([](auto& y) { return reply{std::move(y)}; }, *came);
    rpc_effects out;
    // Closing its stream cancels a request of the modern era.
    core_.cancel(
        id, "nobody waits for it",
        (end.stopped || end.late) && !is_modern() && x.method != "initialize",
        out);
    lock.unlock();
    // On the side: who has given up waits for nothing more.
    for (auto& y : out)
      if (auto* sent = std::get_if<send_text>(&y))
        static_cast<void>(replies_.add(std::move(sent->text)));
    if (end.stopped || end.late) return given_up{end.late};
    return judge(end, x.method == "initialize");
  }

  /// What an exchange without an answer to its request means.
  reply judge(const exchange_end& end, bool begins) {
    if (end.status == 0) {
      give_up("it cannot be reached: " + end.problem);
      return lost{"it cannot be reached: " + end.problem, false, end.nobody};
    }
    if (end.status == not_found && has_session()) {
      give_up("it has ended the session");
      return lost{"it has ended the session"};
    }
    if (!end.advice.empty())
      return rpc_error{code::not_let_in, status_text(end), {}};
    if (begins && is_not_here(end))
      return rpc_error{code::not_here, status_text(end), {}};
    if (auto error = error_in(end.body)) return *std::move(error);
    if (end.status >= server_fault) return lost{status_text(end)};
    if (end.status >= bad_request || end.status / 100 == 3)
      return rpc_error{code::internal, status_text(end), {}};
    return lost{end.problem.empty() ? "its answer ended without a result"
                                    : end.problem};
  }

  bool has_session() const {
    const std::lock_guard lock{mutex_};
    return !session_.empty();
  }

  void give_up(const std::string& why) {
    {
      const std::lock_guard lock{mutex_};
      if (broken_) return;
      broken_ = why;
      rpc_effects ignored;
      core_.on_closed(lost{why}, ignored);
      for (auto& y : ignored)
        if (auto* done = std::get_if<settled>(&y)) come(*done);
    }
    if (events_.on_broken) events_.on_broken(why);
  }

  bool has_come(request_id id) const {
    const std::lock_guard lock{mutex_};
    const auto found = waiting_.find(id);
    return found == waiting_.end() || found->second.came.has_value();
  }

  void come(settled& x) {
    const auto found = waiting_.find(x.id);
    if (found != waiting_.end()) found->second.came = std::move(x.how);
  }

  void on_text(std::string_view text) {
    std::vector<notified> told;
    {
      const std::lock_guard lock{mutex_};
      rpc_effects out;
      core_.on_text(text, out);
      for (auto& y : out) {
        if (auto* done = std::get_if<settled>(&y)) come(*done);
        if (auto* sent = std::get_if<send_text>(&y))
          if (!replies_.add(std::move(sent->text)))
            complain("it asks more than it takes answers for");
        if (auto* said = std::get_if<notified>(&y))
          told.push_back(std::move(*said));
        if (const auto* report = std::get_if<progressed>(&y)) {
          const auto found = waiting_.find(report->id);
          if (found != waiting_.end()) found->second.what->on_progress(*report);
        }
        if (const auto* strange = std::get_if<odd>(&y)) complain(strange->what);
      }
    }
    for (const auto& x : told)
      if (events_.on_notification) events_.on_notification(x);
  }

  void complain(const std::string& what) {
    constexpr int most = 20;
    if (++complaints_ <= most)
      log_about(log_level::warn, "mcp." + options_.name, redact(what),
                {{"cause", cause_of_oddities}});
  }

  void post(std::string text, std::string_view method,
            const std::stop_token& stop = {}) {
    exchange_request x;
    x.url = options_.url;
    x.headers = headers_of(method, {});
    x.body = std::move(text);
    x.stop = stop;
    x.connect_timeout = options_.connect_timeout;
    x.until = steady_clock::now() + notify_limit;
    static_cast<void>(exchange_as(options_.who.get(), x));
  }

  /// The server's own stream, if it offers one: one that refuses the request
  /// (405 says so) has none; one that cannot be reached, or is in trouble, is
  /// asked again. Waits a moment until it is there: what a server sends before,
  /// it may send to nobody.
  void listen() {
    auto there = std::make_shared<listening>();
    listener_ = std::jthread{[this, there] {
      const listening::end at_end{*there};
      std::string last;
      auto wait = std::chrono::duration_cast<duration>(options_.retry);
      bool told = false;
      while (!stop_.stop_requested()) {
        const auto end = follow_stream(there, last);
        constexpr int refused = 400;
        constexpr int trouble = 500;
        if (!end.stream && end.status >= refused && end.status < trouble)
          return;
        if (!end.stream && !stop_.stop_requested() &&
            !std::exchange(told, true))
          log_warn("mcp." + options_.name,
                   "its stream of news cannot be opened, it is tried again: " +
                       redact(end.status == 0
                                  ? end.problem
                                  : "HTTP " + std::to_string(end.status)));
        told = told && !end.stream;
        if (!end.last_event_id.empty()) last = end.last_event_id;
        if (end.retry_ms)
          wait = std::clamp<duration>(milliseconds{*end.retry_ms}, least_retry,
                                      longest_retry);
        wait_until(steady_clock::now() + wait, stop_.get_token());
      }
    }};
    there->wait();
  }

  exchange_end follow_stream(const std::shared_ptr<listening>& there,
                             const std::string& last) {
    exchange_request x;
    x.method = "GET";
    x.url = options_.url;
    x.headers = headers_of("", {});
    if (!last.empty()) x.headers.push_back("Last-Event-ID: " + last);
    x.stop = stop_.get_token();
    x.largest_message = options_.largest_message;
    x.connect_timeout = options_.connect_timeout;
    x.on_message = [this](std::string_view text) {
      on_text(text);
      return true;
    };
    x.on_time = [this] { return true; };
    x.on_answer = [there] { there->tell(); };
    return exchange_as(options_.who.get(), x);
  }

  const http_link_options options_;
  const link_events events_;
  mutable std::mutex mutex_;
  rpc_core core_;
  std::map<request_id, waiter> waiting_;
  std::string version_;
  std::string session_;
  std::optional<std::string> broken_;
  int complaints_ = 0;
  std::stop_source stop_;
  reply_sender replies_{[this](std::string text, const std::stop_token& stop) {
    post(std::move(text), "", stop);
  }};
  std::jthread listener_;
};

}  // namespace

link_ptr open_streamable(http_link_options options, link_events events) {
  return std::make_shared<http_link>(std::move(options), std::move(events));
}

}  // namespace riffle::mcp
