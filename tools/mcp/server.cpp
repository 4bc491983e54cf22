// SPDX-License-Identifier: MIT
#include "tools/mcp/server.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "tools/mcp/measured_link.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::steady_clock;

/// Changes of a list that come together are read once.
constexpr auto gather = std::chrono::milliseconds{50};
constexpr auto list_limit = std::chrono::seconds{30};
/// Of the time to start, what the question for the newer era may take.
constexpr int share_of_probe = 2;

unexpected failure(errc code, std::string message) {
  return unexpected{
      error{.code = code, .op = "mcp", .message = std::move(message)}};
}

std::string why_of(const reply& x) {
  if (const auto* gone = std::get_if<lost>(&x)) return gone->why;
  if (const auto* error = std::get_if<rpc_error>(&x)) return render(*error);
  return "it did not answer in time";
}

}  // namespace

std::string_view to_string(server_state x) noexcept {
  switch (x) {
    case server_state::idle: return "idle";
    case server_state::starting: return "starting";
    case server_state::ready: return "ready";
    case server_state::resting: return "restarting";
    case server_state::out_of_service: return "out of service";
    case server_state::closed: return "closed";
  }
  return "";
}

const tool_def* listing::find(std::string_view name) const {
  const auto found = std::ranges::find(tools, name, &tool_def::name);
  return found == tools.end() ? nullptr : &*found;
}

server::server(server_options options)
    : options_{std::move(options)},
      era_{options_.known_era},
      breaker_{options_.name, options_.supervision},
      thread_{[this](const std::stop_token& stop) { live(stop); }} {}

server::~server() { close(); }

server_status server::status() const {
  const std::lock_guard lock{mutex_};
  return {state_, listing_, restarts_, last_error_};
}

void server::want() {
  const std::lock_guard lock{mutex_};
  if (std::exchange(wanted_, true)) return;
  if (state_ == server_state::idle) state_ = server_state::starting;
  changed_.notify_all();
}

bool server::wait_ready(time_point until, std::stop_token stop) {
  want();
  std::unique_lock lock{mutex_};
  changed_.wait_until(lock, stop, until, [&] {
    return state_ == server_state::ready ||
           state_ == server_state::out_of_service ||
           state_ == server_state::closed;
  });
  return state_ == server_state::ready;
}

error server::unavailable() const {
  std::string why =
      "the server " + options_.name + " is " + std::string{to_string(state_)};
  if (!last_error_.empty()) why += ": " + last_error_;
  return {errc::tool_unavailable, "mcp", std::move(why)};
}

expected<reply> server::ask(request x) {
  const auto limit = steady_clock::now() + options_.startup_timeout;
  if (!wait_ready(std::min(x.until, limit), x.stop)) {
    if (x.stop.stop_requested())
      return failure(errc::cancelled, "the call was stopped");
    const std::lock_guard lock{mutex_};
    return unexpected{unavailable()};
  }
  std::unique_lock lock{mutex_};
  const auto to = link_;
  const auto about = listing_;
  lock.unlock();
  if (!to || !about) return reply{lost{"its connection ended"}};
  x.params = with_meta(std::move(x.params), options_.me, about->about.version);
  auto said = to->ask(x);
  if (std::holds_alternative<given_up>(said)) suspect();
  return said;
}

expected<std::vector<json>> server::list(const std::string& method,
                                         const std::string& key) {
  page_reader pages{key};
  std::optional<std::string> cursor;
  do {
    request x;
    x.method = method;
    if (cursor) x.params["cursor"] = *cursor;
    x.until = steady_clock::now() + list_limit;
    const auto said = ask(std::move(x));
    if (!said) return unexpected{said.error()};
    const auto* page = std::get_if<json>(&*said);
    if (page == nullptr)
      return failure(errc::tool_execution_error,
                     options_.name + ": " + why_of(*said));
    auto next = pages.on_page(*page);
    if (!next) return unexpected{std::move(next.error())};
    cursor = *std::move(next);
  } while (cursor);
  return pages.items();
}

void server::suspect() {
  const std::lock_guard lock{mutex_};
  suspected_ = true;
  changed_.notify_all();
}

void server::close() {
  thread_.request_stop();
  const std::lock_guard lock{mutex_};
  state_ = server_state::closed;
  changed_.notify_all();
}

void server::join() {
  if (thread_.joinable()) thread_.join();
}

link_events server::events_of(std::uint64_t generation) {
  link_events out;
  out.on_notification = [this, generation](const notified& x) {
    if (x.method != "notifications/tools/list_changed") return;
    const std::lock_guard lock{mutex_};
    if (generation != generation_) return;
    list_due_ = steady_clock::now() + gather;
    changed_.notify_all();
  };
  out.on_broken = [this, generation](const std::string& why) {
    const std::lock_guard lock{mutex_};
    if (generation != generation_) return;
    broken_ = redact(why);
    if (state_ == server_state::ready) state_ = server_state::resting;
    changed_.notify_all();
  };
  return out;
}

void server::set_state(server_state x) {
  if (state_ != server_state::closed) state_ = x;
  changed_.notify_all();
}

/// From the first wish to the end.
void server::live(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (changed_.wait(lock, stop, [&] { return wanted_; })) {
    if (stop.stop_requested()) break;
    set_state(server_state::starting);
    broken_.reset();
    list_due_.reset();
    suspected_ = false;
    const auto generation = ++generation_;
    lock.unlock();
    const auto to = connect_measured(options_, events_of(generation));
    auto has = begin_safely(*to, stop);
    lock.lock();
    if (has) {
      keep(lock, *std::move(has));
      link_ = to;
      set_state(server_state::ready);
      serve(lock, stop);
    } else if (!broken_) {
      broken_ = redact(has.error().message);
    }
    link_.reset();
    const auto why = broken_.value_or("it was closed");
    lock.unlock();
    to->close();
    lock.lock();
    if (stop.stop_requested()) break;
    last_error_ = why;
    ++restarts_;
    log_warn("mcp." + options_.name, why);
    rest(lock, stop);
  }
}

/// The pause before the next start.
void server::rest(std::unique_lock<std::mutex>& lock,
                  const std::stop_token& stop) {
  const auto fraction = std::uniform_real_distribution<double>{}(random_);
  const auto delay = breaker_.on_crash(steady_clock::now(), fraction);
  set_state(delay ? server_state::resting : server_state::out_of_service);
  changed_.wait_for(lock, stop, delay.value_or(options_.supervision.cool_down),
                    [] { return false; });
  if (!delay) breaker_.admit(steady_clock::now());
}

/// While the connection lives.
void server::serve(std::unique_lock<std::mutex>& lock,
                   const std::stop_token& stop) {
  if (!breaker_.is_closed()) breaker_.on_success();
  while (!broken_ && !stop.stop_requested()) {
    const auto due = [&] {
      return broken_ || suspected_ ||
             (list_due_ && *list_due_ <= steady_clock::now());
    };
    if (list_due_)
      changed_.wait_until(lock, stop, *list_due_, due);
    else
      changed_.wait(lock, stop, [&] { return due() || list_due_; });
    if (broken_ || stop.stop_requested()) return;
    if (suspected_) check_life(lock, stop);
    if (list_due_ && *list_due_ <= steady_clock::now()) list_again(lock, stop);
  }
}

void server::check_life(std::unique_lock<std::mutex>& lock,
                        const std::stop_token& stop) {
  suspected_ = false;
  const auto to = link_;
  request x;
  const bool modern = listing_->about.speaks == era::modern;
  x.method = modern ? "server/discover" : "ping";
  x.params = with_meta({}, options_.me, listing_->about.version);
  x.stop = stop;
  x.until = steady_clock::now() + options_.ping_limit;
  lock.unlock();
  const auto said = to->ask(x);
  lock.lock();
  const auto* silent = std::get_if<given_up>(&said);
  if (silent != nullptr && silent->late && !broken_)
    broken_ =
        "it hangs: it does not answer a call, nor a question for a "
        "sign of life";
}

void server::keep(std::unique_lock<std::mutex>& lock, listing x) {
  const bool same = listing_ && listing_->tools == x.tools;
  listing_ = std::make_shared<const listing>(std::move(x));
  if (same || !options_.on_listing) return;
  const auto now = listing_;
  lock.unlock();
  options_.on_listing(*now);
  lock.lock();
}

void server::list_again(std::unique_lock<std::mutex>& lock,
                        const std::stop_token& stop) {
  list_due_.reset();
  auto now = *listing_;
  const auto to = link_;
  request like;
  like.stop = stop;
  like.until = steady_clock::now() + list_limit;
  lock.unlock();
  auto tools = list_safely(*to, now.about, like);
  lock.lock();
  if (!tools) {
    log_warn("mcp." + options_.name,
             "its tools stay as they were: " + redact(tools.error().message));
    return;
  }
  now.tools = *std::move(tools);
  keep(lock, std::move(now));
}

// -- the first words ----------------------------------------------------------

/// What a server says is read with care; if that was not enough, it costs the
/// connection.
expected<listing> server::begin_safely(link& to, const std::stop_token& stop) {
  try {
    return begin(to, stop);
  } catch (const std::exception& e) {
    return failure(errc::tool_unavailable,
                   std::string{"what it says cannot be read: "} + e.what());
  }
}

expected<listing> server::begin(link& to, const std::stop_token& stop) {
  request x;
  x.stop = stop;
  x.until = steady_clock::now() + options_.startup_timeout;
  auto about = introduce(to, x);
  if (!about) return unexpected{std::move(about.error())};
  to.set_version(about->version);
  if (about->speaks == era::legacy)
    to.notify("notifications/initialized", json{});
  {
    const std::lock_guard lock{mutex_};
    era_ = about->speaks;
  }
  auto tools = list_tools(to, *about, x);
  if (!tools) return unexpected{std::move(tools.error())};
  return listing{*std::move(about), *std::move(tools)};
}

expected<introduction> server::introduce(link& to, request x) {
  std::unique_lock lock{mutex_};
  const auto known = era_;
  lock.unlock();
  const auto until = x.until;
  if (known != era::legacy) {
    const auto now = steady_clock::now();
    x.method = "server/discover";
    x.params = with_meta({}, options_.me, modern_version);
    if (!known) x.until = now + (until - now) / share_of_probe;
    auto said = to.ask(x);
    if (std::holds_alternative<lost>(said) && !known) {
      lock.lock();
      era_ = era::legacy;  // it may have died of the question
    }
    if (const auto* gone = std::get_if<lost>(&said))
      return failure(errc::tool_unavailable, gone->why);
    const auto* silent = std::get_if<given_up>(&said);
    if (silent != nullptr && (known || !silent->late))
      return failure(errc::tool_unavailable, why_of(said));
    if (silent == nullptr) {
      const auto as_answer = std::holds_alternative<json>(said)
                                 ? answer{std::get<json>(std::move(said))}
                                 : answer{std::get<rpc_error>(std::move(said))};
      if (auto judged = judge_discovery(as_answer)) return *std::move(judged);
    }
  }
  x.method = "initialize";
  x.params = initialize_params(options_.me);
  x.until = until;
  auto said = to.ask(x);
  if (std::holds_alternative<given_up>(said))
    return failure(errc::tool_unavailable,
                   "it did not answer within startup_timeout");
  if (auto* result = std::get_if<json>(&said))
    return judge_initialize(answer{std::move(*result)});
  return failure(errc::tool_unavailable, why_of(said));
}

expected<std::vector<tool_def>> server::list_safely(link& to,
                                                    const introduction& about,
                                                    const request& like) {
  try {
    return list_tools(to, about, like);
  } catch (const std::exception& e) {
    return failure(errc::tool_unavailable,
                   std::string{"its list cannot be read: "} + e.what());
  }
}

expected<std::vector<tool_def>> server::list_tools(link& to,
                                                   const introduction& about,
                                                   const request& like) {
  if (!about.has_tools) return std::vector<tool_def>{};
  page_reader pages{"tools"};
  std::optional<std::string> cursor;
  do {
    auto x = like;
    x.method = "tools/list";
    x.params = json::object();
    if (cursor) x.params["cursor"] = *cursor;
    x.params = with_meta(std::move(x.params), options_.me, about.version);
    const auto said = to.ask(x);
    const auto* page = std::get_if<json>(&said);
    if (page == nullptr)
      return failure(errc::tool_unavailable,
                     "its tools cannot be listed: " + why_of(said));
    auto next = pages.on_page(*page);
    if (!next) return unexpected{std::move(next.error())};
    cursor = *std::move(next);
  } while (cursor);
  std::vector<std::string> problems;
  auto out = read_tools(pages.items(), problems);
  for (const auto& x : problems)
    log_warn("mcp." + options_.name, "a tool is left out: " + redact(x));
  return out;
}

}  // namespace riffle::mcp
