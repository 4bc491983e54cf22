// SPDX-License-Identifier: MIT
#include "tools/mcp/token_holder.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

#include "messages/duration_text.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/file_lock.hpp"
#include "runtime/base/log.hpp"
#include "tools/mcp/oauth/grants.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr auto request_limit = seconds{10};
constexpr int unauthorized = 401;
constexpr int forbidden = 403;

unexpected no_renewal(errc code, std::string message) {
  return unexpected{
      error{.code = code, .op = "mcp", .message = std::move(message)}};
}

/// Another one: somebody wrote the file, or took it away.
std::string state_of(const std::filesystem::path& file) {
  struct stat x{};
  if (::stat(file.c_str(), &x) != 0) return "none";
  return std::to_string(x.st_ino) + " " + std::to_string(x.st_size) + " " +
         std::to_string(x.st_mtim.tv_sec) + " " +
         std::to_string(x.st_mtim.tv_nsec);
}

bool is_too_narrow(const exchange_end& x, const oauth::challenge& asked) {
  return x.status == forbidden && asked.error == "insufficient_scope";
}

/// RFC 9449, 9.
bool wants_other_proof(const exchange_end& x) {
  return x.status == unauthorized &&
         oauth::read_challenge(x.authenticate).error == "use_dpop_nonce";
}

}  // namespace

token_holder::token_holder(token_holder_options options)
    : options_{std::move(options)},
      to_{options_.server, options_.allowed, request_limit} {}

token_holder::~token_holder() = default;

exchange_end token_holder::exchange(exchange_request x) {
  try {
    return carry(x);
  } catch (const std::exception& e) {  // OpenSSL fails, there is no thread …
    exchange_end out;
    out.problem = e.what();
    return out;
  }
}

exchange_end token_holder::carry(const exchange_request& x) {
  auto held = current();
  // A server that is told goodbye is not worth a new token.
  const bool renews = held && x.method != "DELETE";
  if (renews && held->soon)
    if (auto next = renewed(held->token, x)) held = std::move(next);
  auto end = held ? send_with(x, *held) : mcp::exchange(x);
  // What is wrong with a proof, another token does not mend.
  if (renews && end.status == unauthorized && !wants_other_proof(end))
    if (auto next = renewed(held->token, x)) {
      held = std::move(next);
      end = send_with(x, *held);
    }
  if (held && end.status != 0 && end.status != unauthorized)
    accepted(held->token);
  end.advice = advice(end);
  return end;
}

exchange_end token_holder::send_with(const exchange_request& x,
                                     const credential& held) {
  if (held.token.empty()) return mcp::exchange(x);
  auto asked = x;
  asked.headers.push_back(std::string{held.key ? "Authorization: DPoP "
                                               : "Authorization: Bearer "} +
                          held.token);
  if (!held.key) return mcp::exchange(asked);
  for (bool again = false;; again = true) {
    auto proved = asked;
    proved.headers.push_back("DPoP: " + oauth::dpop_proof(*held.key, x.method,
                                                          x.url, held.token,
                                                          to_.nonces()));
    auto end = mcp::exchange(proved);
    const bool noted = to_.nonces().note(x.url, end.dpop_nonce);
    if (again || !noted || !wants_other_proof(end)) return end;
  }
}

std::optional<token_holder::credential> token_holder::current() {
  if (!options_.given.empty()) return std::nullopt;
  const std::lock_guard lock{mutex_};
  look_at_file();
  if (!login_ && !options_.ask) return std::nullopt;
  if (!login_) return credential{{}, {}, true};
  const bool fresh =
      made_ && steady_clock::now() < *made_ + options_.least_life;
  return credential{
      login_->access_token, key_,
      renewable() && !fresh && oauth::ends_soon(*login_, system_wall_time())};
}

/// Under the lock.
bool token_holder::renewable() const {
  return options_.ask || (login_ && !login_->refresh_token.empty());
}

/// Under the lock. Whether a new token that nobody took is left alone: for a
/// while, and that of a login until it ends.
bool token_holder::rests(const std::string& used) const {
  if (used.empty() || useless_ != used) return false;
  return steady_clock::now() < made_.value_or(time_point{}) + options_.pause ||
         (!options_.ask && !oauth::ends_soon(*login_, system_wall_time()));
}

/// Under the lock. The login of the file, if it is one that is wanted.
std::optional<oauth::login> token_holder::kept() {
  auto out = oauth::read_login(options_.file, options_.server);
  problem_ = out ? oauth::misfit(*out, options_.issuer, options_.bound_only)
                 : std::string{};
  return problem_.empty() ? std::move(out) : std::nullopt;
}

/// Under the lock.
void token_holder::take(std::optional<oauth::login> login) {
  login_ = std::move(login);
  key_.reset();
  if (!login_) return;
  secrets_.add(login_->access_token);
  secrets_.add(login_->refresh_token);
  if (auto key = oauth::dpop_key_of(*login_))
    key_ = std::make_shared<const oauth::signing_key>(*std::move(key));
}

/// Under the lock. A login or a logout of another process counts at once.
void token_holder::look_at_file() {
  if (options_.file.empty() || options_.ask) return;
  auto now = state_of(options_.file);
  if (now == seen_) return;
  seen_ = std::move(now);
  take(kept());
  next_try_ = {};
  made_.reset();
  useless_.clear();
}

/// Another token than `used`, waiting for it as long as the request may.
std::optional<token_holder::credential> token_holder::renewed(
    const std::string& used, const exchange_request& x) {
  std::unique_lock lock{mutex_};
  look_at_file();
  const auto other = [&]() -> std::optional<credential> {
    if (!login_ || login_->access_token == used) return std::nullopt;
    return credential{login_->access_token, key_, false};
  };
  if (auto found = other()) return found;
  if (!renewable() || rests(used)) return std::nullopt;
  if (!renewing_) {
    if (steady_clock::now() < next_try_) return std::nullopt;
    // Not on this thread: a call that is stopped must not lose a token that
    // was given for the last one.
    worker_ = std::jthread{
        [this, used, anew = !useless_.empty()](const std::stop_token& stop) {
          renew(used, anew, stop);
        }};
    renewing_ = true;
  }
  changed_.wait_until(
      lock, x.stop, std::min(x.until, steady_clock::now() + oauth::token_limit),
      [&] { return !renewing_; });
  return other();
}

/// Nothing is thrown on a thread of its own.
expected<oauth::login> token_holder::next(const std::string& used, bool anew,
                                          const std::stop_token& stop) const {
  try {
    return options_.ask ? options_.ask(stop, anew) : refreshed(used);
  } catch (const std::exception& e) {
    return no_renewal(errc::internal, e.what());
  }
}

void token_holder::renew(const std::string& used, bool anew,
                         const std::stop_token& stop) {
  auto got = next(used, anew, stop);
  const std::lock_guard lock{mutex_};
  renewing_ = false;
  if (!options_.ask) seen_ = state_of(options_.file);
  if (got) {
    take(*std::move(got));
    useless_ = login_->access_token;
    made_ = steady_clock::now();
    problem_.clear();
  } else {
    problem_ = got.error().message;
    next_try_ = steady_clock::now() + options_.pause;
    if (login_ && got.error().code == errc::approval_denied)
      login_->refresh_token.clear();
    log_warn(
        "mcp." + options_.name,
        (options_.ask ? "it gets no token: " : "its token is not made new: ") +
            problem_);
  }
  changed_.notify_all();
}

/// One process at a time: a token that makes new ones is often good for once.
expected<oauth::login> token_holder::refreshed(const std::string& used) const {
  const auto to = to_.within(oauth::token_limit);
  auto name = options_.file;
  name += ".lock";
  const unique_fd fd{::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!fd || !lock_until(fd, lock_kind::exclusive,
                         steady_clock::now() + request_limit))
    return no_renewal(errc::tool_unavailable,
                      name.string() + " cannot be locked");
  auto login = oauth::read_login(options_.file, options_.server);
  if (!login) return no_renewal(errc::approval_denied, "there is no login");
  if (auto why = oauth::misfit(*login, options_.issuer, options_.bound_only);
      !why.empty())
    return no_renewal(errc::approval_denied, std::move(why));
  if (login->access_token != used) return *std::move(login);
  const auto done = oauth::refresh(*login, to, {});
  if (!done && done.error().code != errc::approval_denied)
    return unexpected{done.error()};
  if (!done) login->refresh_token.clear();
  const auto kept = oauth::write_login(options_.file, *login);
  if (!done) return unexpected{done.error()};
  if (!kept) log_warn("mcp." + options_.name, kept.error().message);
  return *std::move(login);
}

void token_holder::accepted(const std::string& token) {
  const std::lock_guard lock{mutex_};
  if (useless_ == token) useless_.clear();
}

std::string token_holder::advice(const exchange_end& end) const {
  if (end.status != unauthorized && end.status != forbidden) return {};
  const auto asked = oauth::read_challenge(end.authenticate);
  if (!options_.given.empty()) {
    const auto scope = oauth::plain_scopes(asked.scope);
    const bool narrow = is_too_narrow(end, asked);
    return options_.given +
           (narrow ? " allows too little" : " is not accepted") +
           (narrow && !scope.empty() ? ": it needs the scope " + scope : "");
  }
  const std::lock_guard lock{mutex_};
  return options_.ask ? advice_of_token(end, asked)
                      : advice_of_login(end, asked);
}

/// Under the lock.
std::string token_holder::advice_of_token(const exchange_end& end,
                                          const oauth::challenge& asked) const {
  const auto auth = "mcp." + options_.name + ".auth";
  if (is_too_narrow(end, asked)) {
    const auto scope = oauth::plain_scopes(asked.scope);
    return "its token allows too little" +
           (scope.empty() ? std::string{}
                          : ": it needs the scope " + scope + ", which " +
                                auth + ".scope has to name");
  }
  if (!problem_.empty()) return "it gets no token: " + problem_;
  if (end.status == forbidden) return "its token does not allow this";
  if (const auto why = no_key_wanted(asked); !why.empty()) return why;
  return "its token is not accepted, though it was just given: look at the "
         "issuer and the scope in " +
         auth + ", and into the server's log; another is asked for in " +
         duration_text(options_.pause);
}

/// Under the lock. What a server says that knows bearers alone, and gets a
/// token which a key binds, as its authorization server can bind them.
std::string token_holder::no_key_wanted(const oauth::challenge& asked) const {
  if (!key_ || asked.bound || useless_.empty()) return {};
  return "its token is not accepted: it is bound to a key (DPoP), and the "
         "server does not say that it knows such ones: set mcp." +
         options_.name + ".auth.dpop = \"never\"";
}

/// Under the lock.
std::string token_holder::advice_of_login(const exchange_end& end,
                                          const oauth::challenge& asked) const {
  const auto login = "'riffle mcp login " + options_.name;
  const bool narrow = is_too_narrow(end, asked);
  if (!login_ && !problem_.empty())
    return problem_ + ": run " + login + "' again";
  if (!login_)
    return "it wants a token: run " + login +
           "', or name the variable that holds one in token_env";
  if (end.status == forbidden && !narrow)
    return "your login does not allow this";
  if (narrow) {
    const auto scope = oauth::plain_scopes(asked.scope);
    const auto all =
        oauth::plain_scopes(oauth::with_scopes(login_->scope, scope));
    return "your login allows too little: run " + login +
           (scope.empty() || all.empty() ? "'" : " --scope \"" + all + "\"'");
  }
  if (const auto why = no_key_wanted(asked); !why.empty())
    return why + ", and run " + login + "' again";
  return "your login has ended" +
         (problem_.empty() ? "" : " (" + problem_ + ")") + ": run " + login +
         "'";
}

exchange_end exchange_as(token_holder* who, const exchange_request& x) {
  return who == nullptr ? exchange(x) : who->exchange(x);
}

}  // namespace riffle::mcp
