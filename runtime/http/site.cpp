// SPDX-License-Identifier: MIT
#include "runtime/http/site.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <exception>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/metrics.hpp"

namespace riffle::http {

/// What was found out about a request before its body came.
struct passport {
  route_match where;
  caller_ptr who;
  duration wait{};  ///< for its turn
};

namespace {

/// How long a stream waits for its turn: at a 429 an EventSource stops for
/// good, and after a restart all of them come at once.
constexpr auto longest_wait = std::chrono::seconds{10};

/// Logins that are tried, of each address.
const std::string login_bucket = "\nlogin ";

bool is_json(const request& x) {
  const auto type = x.header("content-type");
  return lower(type.substr(0, type.find(';'))) == "application/json";
}

std::string_view word_of(role x) {
  constexpr std::array<std::string_view, 4> words{"run", "decide", "read",
                                                  "admin"};
  return words[static_cast<std::size_t>(x)];
}

/// "/v1/runs/{id}" takes "/v1/runs/x"; what stands in the braces is added.
bool fits(std::string_view pattern, std::string_view path,
          std::vector<std::string>& names) {
  while (!pattern.empty() && !path.empty()) {
    const auto end = std::min(pattern.find('/', 1), pattern.size());
    const auto wanted = pattern.substr(0, end);
    const auto stop = std::min(path.find('/', 1), path.size());
    const auto there = path.substr(0, stop);
    if (wanted.starts_with("/{")) {
      auto name = percent_decoded(there.substr(1));
      if (!name || name->empty()) return false;
      names.push_back(std::move(*name));
    } else if (wanted != there) {
      return false;
    }
    pattern.remove_prefix(end);
    path.remove_prefix(stop);
  }
  return pattern.empty() && path.empty();
}

}  // namespace

route_match find_route(std::string_view method, std::string_view path) {
  route_match out;
  if (method == "HEAD") method = "GET";
  for (const auto& x : routes()) {
    std::vector<std::string> names;
    if (!fits(x.path, path, names)) continue;
    if (x.method == method) return {&x, std::move(names), {}};
    out.allowed += (out.allowed.empty() ? "" : ", ") + std::string{x.method};
    if (x.method == "GET") out.allowed += ", HEAD";
  }
  return out;
}

site::site(site_parts parts, std::shared_ptr<gate> gate, poster post)
    : parts_{std::move(parts)},
      gate_{std::move(gate)},
      permits_{parts_.config->server.limits.streams,
               parts_.config->server.limits.streams_per_token},
      logged_out_{parts_.journal},
      limiter_{parts_.config->server.limits.requests_per_second} {
  auto x = std::make_shared<stream_parts>();
  x->post = std::move(post);
  x->journal = parts_.journal;
  x->reads = parts_.reads;
  x->feeds = parts_.feeds;
  x->clock = parts_.clock;
  x->attach = [runs = parts_.runs](const run_id& run, subscriber_ptr who) {
    runs.follow(run, std::move(who));
  };
  x->retry_ms = static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(
          parts_.config->server.retry)
          .count());
  hub_ = std::make_shared<event_hub>(std::move(x));
  volleys_ = std::make_shared<volley_table>(parts_.journal, parts_.works);
  room_ = std::make_shared<run_room>(parts_.sessions,
                                     parts_.config->server.limits.runs);
}

std::shared_ptr<gate> site::current_gate() const {
  const std::lock_guard lock{mutex_};
  return gate_;
}

/// Streams of tokens that are gone, or may less, end.
void site::replace_gate(std::shared_ptr<gate> x) {
  permits_.withdraw_unless([&](const caller& who) { return x->still_is(who); });
  const std::lock_guard lock{mutex_};
  gate_ = std::move(x);
}

std::string site::counting_cookie(const request& x) {
  if (x.has_header("authorization")) return {};
  return std::string{cookie_of(x.header("cookie"), cookie_name)};
}

/// A cookie that was logged out is none any more.
caller_ptr site::recognise(const request& x) const {
  const auto cookie = counting_cookie(x);
  if (!cookie.empty() && logged_out_.contains(cookie)) return nullptr;
  return current_gate()->recognise(x, system_wall_time());
}

namespace {

reply too_fast() {
  return std::move(problem(429, "invalid_request",
                           "more requests than server.limits."
                           "requests_per_second; try again in a second")
                       .with("Retry-After", "1"));
}

reply not_known(const request& x) {
  const std::string what = x.has_header("authorization")
                               ? "this token is not known here (any more)"
                               : "a token is required";
  return std::move(
      problem(401, "invalid_request",
              what + ": send the header \"Authorization: Bearer TOKEN\"; "
                     "`riffle serve` says where it stands")
          .with("WWW-Authenticate", "Bearer"));
}

/// How long a request waits for its turn; nothing: it is refused.
std::optional<duration> wait_of(const request& x, const passport& pass,
                                rate_limiter& limiter, time_point now) {
  const auto* const to = pass.where.found;
  const bool of_health = to && !to->has_body && x.path != "/openapi.json";
  if (to && !to->needs)
    return of_health ? duration{}
                     : limiter.delay(login_bucket + x.peer, now, {});
  if (to && to->path.ends_with("/events"))
    return limiter.delay("\nstreams " + pass.who->name, now, longest_wait);
  return limiter.delay(pass.who->name, now, {});
}

}  // namespace

std::optional<reply> site::check_request(
    const request& x, const std::shared_ptr<passport>& pass) {
  const auto now = std::chrono::steady_clock::now();
  const auto rules = current_gate();
  if (auto refused = rules->check_place(x)) return refused;
  if (x.method == "OPTIONS") return rules->preflight(x);
  auto& where = pass->where;
  where = find_route(x.method, x.path);
  if (!where.found || where.found->needs) {
    pass->who = recognise(x);
    // Who guesses does not guess faster than he may ask.
    if (!pass->who)
      return limiter_.admit(login_bucket + x.peer, now) ? not_known(x)
                                                        : too_fast();
  }
  const auto wait = wait_of(x, *pass, limiter_, now);
  if (!wait) return too_fast();
  pass->wait = *wait;
  if (!where.found && where.allowed.empty())
    return problem(404, "not_found",
                   "there is no " + x.path + "; /openapi.json lists what is");
  if (!where.found)
    return std::move(
        problem(405, "invalid_request",
                x.path + " takes " + where.allowed + ", not " + x.method)
            .with("Allow", where.allowed));
  const auto& needs = where.found->needs;
  if (needs && !pass->who->may(*needs))
    return problem(403, "invalid_request",
                   "the token \"" + pass->who->name + "\" has not the role \"" +
                       std::string{word_of(*needs)} + "\"");
  const bool sends =
      x.has_header("content-length") || x.has_header("transfer-encoding");
  if (where.found->has_body && x.header("content-length") != "0" && sends &&
      !is_json(x))
    return problem(415, "invalid_request",
                   "the body must be JSON: Content-Type: application/json");
  return {};
}

admission site::admit(request& x) {
  current_gate()->see_through_proxy(x);
  auto pass = std::make_shared<passport>();
  admission out;
  out.refusal = check_request(x, pass);
  if (pass->where.found) x.route = pass->where.found->path;
  if (!out.refusal) {
    const auto& limits = parts_.config->server.limits;
    const auto& to = *pass->where.found;
    // In base64 four characters are three bytes.
    out.body_limit = to.has_body ? limits.body_bytes : 0;
    if (to.may_attach) out.body_limit += limits.attachment_bytes / 3 * 4;
  }
  out.ticket = std::move(pass);
  return out;
}

void site::handle(request x, std::shared_ptr<void> ticket, responder to) {
  const auto pass = std::static_pointer_cast<passport>(ticket);
  // Where that delays nobody.
  const bool large = x.body.size() > (64u << 10);
  auto c = std::make_shared<call>(call{
      this, std::move(x), pass->who, std::move(pass->where.names), to, {}});
  const auto go = [c, to, answer = pass->where.found->answer] {
    try {
      answer(std::move(*c));
    } catch (const std::exception& e) {
      log_error("server", e.what());
      to(problem(500, "internal", "the request failed; the log says why"));
    }
  };
  if (pass->wait > duration{})
    return parts_.clock->after(pass->wait,
                               [post = hub_->parts()->post, go] { post(go); });
  large ? parts_.works->submit(go) : go();
}

namespace {

/// OpenTelemetry's attributes; a method that no route has is "_OTHER".
void meter(const request& x, const reply& to) {
  if (!metrics_are_read()) return;
  constexpr std::array known{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"};
  const bool is_known = std::ranges::find(known, x.method) != known.end();
  const auto passed = std::chrono::steady_clock::now() - x.since;
  measure(metric::http_duration, std::chrono::duration<double>(passed).count(),
          {{metric_key::http_method, is_known ? x.method : "_OTHER"},
           {metric_key::http_route, x.route},
           {metric_key::http_status, std::to_string(to.status)}});
}

}  // namespace

void site::finish(const request& x, reply& to) {
  to.with("X-Content-Type-Options", "nosniff");
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(to.fields,
                               [&](const field& y) { return y.name == name; });
  };
  if (!has("Cache-Control")) to.with("Cache-Control", "no-store");
  current_gate()->allow_origin(x, to);
  meter(x, to);
  if (!log_enabled(log_level::debug)) return;
  log_debug("server", x.peer + " " + x.method + " " + x.path + " " +
                          std::to_string(to.status));
}

void in_turn(call& c, turns::names names, std::function<void()> f) {
  if (names.empty()) return f();
  c.out = [to = c.out, at = c.at, names](reply x) {
    to(std::move(x));
    at->in_turn().end(names);
  };
  c.at->in_turn().take(names, std::move(f));
}

void work(std::shared_ptr<call> c,
          std::function<std::optional<reply>(call&)> f) {
  const auto refuse = [c](unsigned status, const std::string& why) {
    c->out(problem(status, "internal", why));
  };
  try {
    queue_ticket turn{c->who ? c->who->name : std::string{}};
    const auto job = [c, f = std::move(f), refuse] {
      try {
        if (auto out = f(*c)) c->out(std::move(*out));
      } catch (const std::exception& e) {
        log_error("server", e.what());
        refuse(500, "the request failed; the log says why");
      }
    };
    c->at->parts().works->submit(job, std::move(turn), {});
  } catch (const std::exception& e) {
    log_error("server", e.what());
    refuse(503, "no thread is to be had; try again");
  }
}

void work(call c, std::function<reply(call&)> f) {
  work(std::make_shared<call>(std::move(c)),
       [f = std::move(f)](call& x) -> std::optional<reply> { return f(x); });
}

bool nests_too_deep(std::string_view text) noexcept {
  constexpr int most = 100;
  int depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > most) return true;
  }
  return false;
}

bool may_see(const caller& who, const storage::run_record& x) {
  return who.sees_all || may_see(who, origin_of(x).by);
}

expected<storage::run_record> visible_run(const call& c, const run_id& id) {
  auto x = c.at->parts().sessions.find_run(id);
  if (x && may_see(*c.who, *x)) return x;
  if (!x && x.error().code != errc::not_found) return x;
  return unexpected{
      error{errc::not_found, "server", "there is no run \"" + id.value + "\""}};
}

namespace {

/// Whose a session is says its first run. Nothing: it has none yet.
expected<std::optional<bool>> is_own(const call& c, const session_id& id) {
  using answer = std::optional<bool>;
  if (c.who->sees_all) return answer{true};
  storage::run_filter of;
  of.session = id;
  of.ordinal = 1;
  const auto runs = c.at->parts().journal->list_runs(of);
  if (!runs) return unexpected{runs.error()};
  if (runs->empty()) return answer{};
  return answer{may_see(*c.who, runs->front())};
}

/// What the server keeps for itself is nobody's session.
bool is_of_server(const session_id& id) {
  return id.value.starts_with("riffle:");
}

unexpected no_session(const session_id& id) {
  return unexpected{error{errc::not_found, "server",
                          "there is no session \"" + id.value + "\""}};
}

}  // namespace

expected<void> check_session(const call& c, const session_id& id) {
  if (is_of_server(id)) return no_session(id);
  const auto own = is_own(c, id);
  if (!own) return unexpected{own.error()};
  if (own->value_or(false)) return {};
  return no_session(id);
}

expected<void> check_may_add(const call& c, const session_id& id) {
  if (auto ok = service::check_name(id); !ok) return ok;
  const auto own = is_own(c, id);
  if (!own) return unexpected{own.error()};
  if (own->value_or(true)) return {};
  return no_session(id);
}

void log_deed(const call& c, const std::string& what, const std::string& run,
              const std::string& session) {
  const auto text = "token " + c.who->name + " " + what;
  if (run.empty())
    return log_about(log_level::info, "server", text,
                     {{"session_id", session}});
  log_about(log_level::info, "server", text,
            {{"run_id", run}, {"session_id", session}});
}

std::optional<reply> cannot_start(const call& c, bool takes) {
  if (c.at->is_stopping())
    return std::move(problem(503, "cancelled", "the server is about to stop")
                         .with("Retry-After", "1"));
  const auto room = c.at->room();
  if (takes ? room->take() : room->is_there()) return {};
  return std::move(problem(429, "session_busy",
                           "as many runs as server.limits.runs are under way; "
                           "try again when one has ended")
                       .with("Retry-After", "5"));
}

}  // namespace riffle::http
