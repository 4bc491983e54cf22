// SPDX-License-Identifier: MIT
// riffle mcp login|logout: a person's login at a server over HTTP.
#include <cerrno>
#include <cstring>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/mcp_commands.hpp"
#include "runtime/cli/terminal/browser.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/node/mcp_auth.hpp"
#include "runtime/node/node.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_reason = 1000;

int complain_of(const error& x, console& io) {
  io.complain(safe_line(redact(x.message), longest_reason));
  return failed;
}

/// How one logs in at the server that was named; says why one cannot.
std::optional<mcp::oauth::sign_in_options> way_in(
    const mcp_command& x, const config::config& settings, bool logs_in,
    console& io) {
  if (!settings.mcp.contains(x.name)) {
    io.complain("there is no server " + config::in_quotes(x.name) +
                " in the configuration: 'riffle mcp list' shows what there "
                "is");
    return std::nullopt;
  }
  auto out = mcp_way_in(settings, x.name);
  if (!out) {
    io.complain(out.error().message);
    return std::nullopt;
  }
  // One that is named here stands above that of the configuration, with all.
  const auto& server = settings.mcp.at(x.name);
  const bool given = !x.client_id.empty();
  out->client_id = given ? x.client_id : server.client_id;
  const auto& variable = given ? x.client_secret_env : server.client_secret_env;
  if (!variable.empty() && logs_in) {
    const auto secret = read_key(variable);
    if (!secret) {
      io.complain("the variable " + variable + " is not set");
      return std::nullopt;
    }
    out->client_secret = *secret;
  }
  if (!x.scope.empty()) out->scope = x.scope;
  out->port = x.port;
  out->limit = x.limit;
  return *std::move(out);
}

void show_way(const mcp_command& x, const std::string& url, console& io) {
  const bool opened = !x.no_browser && open_in_browser(url);
  io.err.write(
      (opened ? "Your browser opens this page, where you agree:\n\n"
              : "Open this page in a browser on this machine, and "
                "agree:\n\n") +
      safe_line(url, url.size()) + "\n\nWaiting for the answer, " +
      short_duration(static_cast<std::uint64_t>(
          std::chrono::ceil<std::chrono::milliseconds>(x.limit).count())) +
      " at most.\n");
}

int tell(const mcp_command& x, const nlohmann::json& facts,
         const std::string& words, console& io) {
  if (x.common.output != output_kind::text)
    io.out.write(
        facts.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
        "\n");
  else if (x.common.level != verbosity::quiet)
    io.complain(words);
  return io.out.good() ? completed : failed;
}

}  // namespace

int mcp_login(const mcp_command& x, console& io) {
  const auto settings = load_config(x.common, config_use::acts, false, io);
  if (!settings) return usage;
  if (!x.client_secret_env.empty()) take_key(x.client_secret_env);
  own_process(*settings);
  auto how = way_in(x, *settings, true, io);
  if (!how) return usage;
  how->show = [&](const std::string& url) { show_way(x, url, io); };
  const auto got = mcp::oauth::sign_in(*how);
  if (!got) return complain_of(got.error(), io);
  const auto file = mcp_login_file(*settings, x.name);
  if (auto done = mcp::oauth::write_login(file, *got); !done)
    return report(done.error(), io);
  const auto scope = safe_line(got->scope, longest_reason);
  nlohmann::json facts = {{"server", x.name},
                          {"logged_in", true},
                          {"issuer", got->issuer},
                          {"scope", got->scope}};
  if (got->expires_at)
    facts["expires_at"] = to_string(wall_time{*got->expires_at * 1'000'000});
  return tell(x, facts,
              "you are logged in at " + x.name +
                  (scope.empty() ? "" : ", with the scope " + scope),
              io);
}

int mcp_logout(const mcp_command& x, console& io) {
  const auto settings = load_config(x.common, config_use::acts, false, io);
  if (!settings) return usage;
  own_process(*settings);
  const auto how = way_in(x, *settings, false, io);
  if (!how) return usage;
  const auto file = mcp_login_file(*settings, x.name);
  const auto had = mcp::oauth::read_login(file, how->server);
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) {
    io.complain("cannot remove " + file.string() + ": " + std::strerror(errno));
    return failed;
  }
  const nlohmann::json facts = {{"server", x.name}, {"logged_in", false}};
  if (!had) return tell(x, facts, "you were not logged in at " + x.name, io);
  const mcp::oauth::reach to{how->server, how->allowed};
  if (const auto done = mcp::oauth::revoke(*had, to, {}); !done)
    io.complain("the token is removed here, but its giver was not told: " +
                safe_line(done.error().message, longest_reason));
  return tell(x, facts, "you are logged out of " + x.name, io);
}

}  // namespace riffle::cli
