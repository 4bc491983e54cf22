// SPDX-License-Identifier: MIT
#include "tools/mcp/server.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/measured_link.hpp"
#include "tools/mcp/server_words.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::steady_clock;

/// Changes of a list that come together are read once.
constexpr auto gather = std::chrono::milliseconds{50};
constexpr auto least_between_lists = std::chrono::milliseconds{500};
constexpr auto list_limit = std::chrono::seconds{30};

/// A server says what it likes, and says it at each start.
constexpr std::size_t longest_reason = 1000;

/// Who uses a server that is out of service has it tried again, but not more
/// often than this, and only if it says at once that it is not there.
constexpr auto between_uses = std::chrono::seconds{1};
constexpr auto fast_failure = std::chrono::seconds{2};

constexpr int most_misses = 2;

/// That a subscription stands; what the server says of it.
bool stands(const notified& x) {
  return x.method == "notifications/subscriptions/acknowledged";
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
  since_ = steady_clock::now();
  if (state_ == server_state::idle) state_ = server_state::starting;
  tell_change();
}

time_point server::waited_since() const {
  const std::lock_guard lock{mutex_};
  return since_;
}

bool server::wait_ready(time_point until, std::stop_token stop) {
  want();
  std::unique_lock lock{mutex_};
  if (state_ == server_state::out_of_service && fails_fast_ &&
      steady_clock::now() - last_start_ >= between_uses) {
    wanted_again_ = true;
    since_ = steady_clock::now();
    changed_.notify_all();
  }
  changed_.wait_until(lock, stop, until, [&] {
    return state_ == server_state::ready ||
           (state_ == server_state::out_of_service && !wanted_again_) ||
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
      return failure_of_server(errc::cancelled, "the call was stopped");
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
                                         const std::string& key,
                                         const std::stop_token& stop) {
  page_reader pages{key};
  std::optional<std::string> cursor;
  do {
    request x;
    x.method = method;
    if (cursor) x.params["cursor"] = *cursor;
    x.stop = stop;
    x.until = steady_clock::now() + list_limit;
    const auto said = ask(std::move(x));
    if (!said) return unexpected{said.error()};
    const auto* page = std::get_if<json>(&*said);
    if (page == nullptr)
      return failure_of_server(errc::tool_execution_error,
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
  tell_change();
}

bool server::await_end(time_point until) {
  std::unique_lock lock{mutex_};
  return changed_.wait_until(lock, until, [this] { return ended_; });
}

link_events server::events_of(std::uint64_t generation) {
  link_events out;
  out.on_notification = [this, generation](const notified& x) {
    if (!stands(x) && x.method != "notifications/tools/list_changed") return;
    const std::lock_guard lock{mutex_};
    if (generation != generation_) return;
    // Between two subscriptions nobody listened.
    if (stands(x) && !std::exchange(listened_, true)) return;
    // From the first on: news that do not end must not put it off.
    if (list_due_) return;
    list_due_ =
        std::max(steady_clock::now() + gather, listed_ + least_between_lists);
    changed_.notify_all();
  };
  out.on_broken = [this, generation](const std::string& why) {
    const std::lock_guard lock{mutex_};
    if (generation != generation_) return;
    broken_ = redact(why);
    if (state_ == server_state::ready) {
      state_ = server_state::resting;
      since_ = steady_clock::now();
    }
    tell_change();
  };
  return out;
}

void server::set_state(server_state x) {
  if (state_ != server_state::closed) state_ = x;
  tell_change();
}

void server::tell_change() {
  changed_.notify_all();
  if (options_.on_change) options_.on_change();
}

/// From the first wish to the end.
void server::live(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (changed_.wait(lock, stop, [&] { return wanted_; }) &&
         !stop.stop_requested())
    live_once(lock, stop);
  ended_ = true;
  changed_.notify_all();
}

/// One connection, from its start to the pause behind it.
void server::live_once(std::unique_lock<std::mutex>& lock,
                       const std::stop_token& stop) {
  set_state(server_state::starting);
  wanted_again_ = false;
  last_start_ = steady_clock::now();
  broken_.reset();
  list_due_.reset();
  suspected_ = false;
  listened_ = false;
  nobody_ = false;
  const auto generation = ++generation_;
  lock.unlock();
  auto to = connect_measured(options_, events_of(generation));
  auto has = begin_safely(*to, stop);
  lock.lock();
  if (has) {
    keep(lock, *std::move(has));
    serve_and_listen(lock, to, stop);
  } else if (!broken_) {
    broken_ = redact(has.error().message);
  }
  link_.reset();
  const auto why = with_dots(broken_.value_or("it was closed"), longest_reason);
  lock.unlock();
  to->close();
  // Its end waits for its threads, which tell us news under the lock.
  to.reset();
  lock.lock();
  if (stop.stop_requested()) return;
  fails_fast_ = steady_clock::now() - last_start_ < fast_failure;
  // The same again and again is told once.
  const auto news = has || why != last_error_ ? why : std::string{};
  last_error_ = why;
  ++restarts_;
  misses_ = nobody_ ? misses_ + 1 : 0;
  // What has never been there is not looked for again and again, either.
  const bool person = !has && (has.error().code == errc::invalid_config ||
                               (!listing_ && misses_ >= most_misses));
  if (person) last_start_ = {};  // it may be done: the next use looks
  rest(lock, stop, person, news);
}

void server::serve_and_listen(std::unique_lock<std::mutex>& lock,
                              const link_ptr& to, const std::stop_token& stop) {
  link_ = to;
  set_state(server_state::ready);
  const bool news =
      listing_->about.speaks == era::modern && listing_->about.tells_changes;
  std::jthread listener;
  if (news)
    listener =
        std::jthread{[this, to](const std::stop_token& x) { listen(*to, x); }};
  serve(lock, stop);
  lock.unlock();
  listener = {};  // stops it, and waits
  lock.lock();
}

/// The pause before the next start. What only a person can change is not tried
/// again and again.
void server::rest(std::unique_lock<std::mutex>& lock,
                  const std::stop_token& stop, bool needs_person,
                  const std::string& why) {
  std::optional<duration> delay;
  if (!needs_person) {
    const auto fraction = std::uniform_real_distribution<double>{}(random_);
    delay = breaker_.on_crash(steady_clock::now(), fraction);
  }
  if (!why.empty()) tell_end(why, delay.has_value(), needs_person);
  const auto cool_down = options_.supervision.cool_down;
  set_state(delay ? server_state::resting : server_state::out_of_service);
  changed_.wait_for(lock, stop, delay.value_or(cool_down),
                    [this] { return wanted_again_; });
  // Its trial may come earlier than the breaker would have it.
  if (!delay) breaker_.admit(steady_clock::now() + cool_down);
}

/// Why it ended, and what comes of it.
void server::tell_end(const std::string& why, bool again,
                      bool needs_person) const {
  auto text = why;
  if (again)
    text += "; it is started again";
  else if (!needs_person)
    text += "; it died too often, and is left alone for " +
            short_duration(static_cast<std::uint64_t>(
                std::chrono::ceil<std::chrono::milliseconds>(
                    options_.supervision.cool_down)
                    .count()));
  if (!listing_) text += "; until it starts none of its tools can be used";
  log_about(log_level::warn, "mcp." + options_.name, text,
            {{"cause", again ? why : text}});
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
  tell_change();
  if (same || !options_.on_listing) return;
  const auto now = listing_;
  lock.unlock();
  options_.on_listing(*now);
  lock.lock();
}

void server::list_again(std::unique_lock<std::mutex>& lock,
                        const std::stop_token& stop) {
  list_due_.reset();
  listed_ = steady_clock::now();
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

}  // namespace riffle::mcp
