// SPDX-License-Identifier: MIT
#include "tools/mcp/token_holder.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_lock.hpp"
#include "runtime/base/log.hpp"
#include "tools/mcp/oauth/challenge.hpp"
#include "tools/mcp/oauth/grants.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr auto renewal_limit = seconds{10};
constexpr auto pause_after_failure = seconds{30};
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

/// RFC 9449, 9.
bool wants_other_proof(const exchange_end& x) {
  return x.status == unauthorized && !x.dpop_nonce.empty() &&
         oauth::read_challenge(x.authenticate).error == "use_dpop_nonce";
}

}  // namespace

token_holder::token_holder(token_holder_options options)
    : options_{std::move(options)},
      to_{options_.server, options_.allowed, renewal_limit} {}

token_holder::~token_holder() = default;

exchange_end token_holder::exchange(exchange_request x) {
  auto held = current();
  // A server that is told goodbye is not worth a new token.
  const bool renews = held && x.method != "DELETE";
  if (renews && held->soon)
    if (auto next = renewed(held->token, x)) held = std::move(next);
  auto end = held ? send_with(x, *held) : mcp::exchange(x);
  if (renews && end.status == unauthorized)
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
    to_.nonces().note(x.url, end.dpop_nonce);
    if (again || !wants_other_proof(end)) return end;
  }
}

std::optional<token_holder::credential> token_holder::current() {
  if (!options_.given.empty()) return std::nullopt;
  const std::lock_guard lock{mutex_};
  look_at_file();
  if (!login_ && !options_.ask) return std::nullopt;
  if (!login_) return credential{{}, {}, true};
  return credential{
      login_->access_token, key_,
      renewable() && oauth::ends_soon(*login_, system_wall_time())};
}

/// Under the lock.
bool token_holder::renewable() const {
  return options_.ask || (login_ && !login_->refresh_token.empty());
}

/// Under the lock.
void token_holder::take(std::optional<oauth::login> login) {
  login_ = std::move(login);
  key_.reset();
  if (!login_) return;
  if (auto key = oauth::dpop_key_of(*login_))
    key_ = std::make_shared<const oauth::signing_key>(*std::move(key));
}

/// Under the lock. A login or a logout of another process counts at once.
void token_holder::look_at_file() {
  if (options_.file.empty() || options_.ask) return;
  auto now = state_of(options_.file);
  if (now == seen_) return;
  seen_ = std::move(now);
  take(oauth::read_login(options_.file, options_.server));
  next_try_ = {};
  useless_.clear();
  problem_.clear();
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
  if (!renewable() || (!used.empty() && useless_ == used)) return std::nullopt;
  if (!renewing_) {
    if (steady_clock::now() < next_try_) return std::nullopt;
    renewing_ = true;
    // Not on this thread: a call that is stopped must not lose a token that
    // was given for the last one.
    worker_ = std::jthread{
        [this, used](const std::stop_token& stop) { renew(used, stop); }};
  }
  changed_.wait_until(
      lock, x.stop, std::min(x.until, steady_clock::now() + 2 * renewal_limit),
      [&] { return !renewing_; });
  return other();
}

void token_holder::renew(const std::string& used, const std::stop_token& stop) {
  auto got = options_.ask ? options_.ask(stop) : refreshed(used);
  const std::lock_guard lock{mutex_};
  renewing_ = false;
  if (!options_.ask) seen_ = state_of(options_.file);
  if (got) {
    take(*std::move(got));
    useless_ = login_->access_token;
    problem_.clear();
  } else {
    problem_ = got.error().message;
    next_try_ = steady_clock::now() + pause_after_failure;
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
  auto name = options_.file;
  name += ".lock";
  const unique_fd fd{::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
  if (!fd || !lock_until(fd, lock_kind::exclusive,
                         steady_clock::now() + renewal_limit))
    return no_renewal(errc::tool_unavailable,
                      name.string() + " cannot be locked");
  auto login = oauth::read_login(options_.file, options_.server);
  if (!login) return no_renewal(errc::approval_denied, "there is no login");
  if (login->access_token != used) return *std::move(login);
  const auto done = oauth::refresh(*login, to_, {});
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
  const bool narrow =
      end.status == forbidden && asked.error == "insufficient_scope";
  const auto scope = oauth::plain_scopes(asked.scope);
  if (!options_.given.empty())
    return options_.given +
           (narrow ? " allows too little" : " is not accepted") +
           (narrow && !scope.empty() ? ": it needs the scope " + scope : "");
  const std::lock_guard lock{mutex_};
  if (!options_.ask && login_ && end.status == forbidden && !narrow)
    return "your login does not allow this";
  if (!options_.ask) return advice_of_login(narrow, scope);
  if (narrow)
    return "its token allows too little" +
           (scope.empty() ? std::string{}
                          : ": it needs the scope " + scope + ", which mcp." +
                                options_.name + ".auth.scope has to name");
  if (!problem_.empty()) return "it gets no token: " + problem_;
  return end.status == forbidden ? "its token does not allow this"
                                 : "its token is not accepted";
}

/// Under the lock.
std::string token_holder::advice_of_login(bool narrow,
                                          const std::string& scope) const {
  const auto login = "'riffle mcp login " + options_.name;
  if (!login_)
    return "it wants a token: run " + login +
           "', or name the variable that holds one in token_env";
  if (narrow) {
    const auto all =
        oauth::plain_scopes(oauth::with_scopes(login_->scope, scope));
    return "your login allows too little: run " + login +
           (scope.empty() || all.empty() ? "'" : " --scope \"" + all + "\"'");
  }
  return "your login has ended" +
         (problem_.empty() ? "" : " (" + problem_ + ")") + ": run " + login +
         "'";
}

exchange_end exchange_as(token_holder* who, const exchange_request& x) {
  return who == nullptr ? exchange(x) : who->exchange(x);
}

}  // namespace riffle::mcp
