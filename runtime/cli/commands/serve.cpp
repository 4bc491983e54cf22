// SPDX-License-Identifier: MIT
// riffle serve
#include <cstdlib>
#include <utility>

#include <systemd/sd-daemon.h>

#include "runtime/base/digest.hpp"
#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/serving.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/config/home.hpp"

namespace riffle::cli {

namespace {

int refuse(const std::string& why, console& io) {
  io.complain(why);
  return usage;
}

/// A token, and what stands of it in the configuration.
int make_token(const std::string& name, console& io) {
  const auto token = http::make_secret();
  io.out.write("token: " + token + "\n\n[server.tokens." + name +
               "]\nhash = \"" + sha256(token) +
               "\"\nroles = [\"run\", \"decide\", \"read\"]\n");
  io.complain("the token is shown this once; the configuration holds its hash");
  return completed;
}

/// The sockets that systemd hands over (sd_listen_fds(3)); -1: none.
int inherited_socket() {
  return ::sd_listen_fds(1) > 0 ? SD_LISTEN_FDS_START : -1;
}

void warn_of(const serving_options& x, const http::listen_address& at,
             console& io) {
  if (x.no_token)
    io.complain(
        "whoever reaches this port may run everything that its tools can do "
        "(--no-token)");
  if (!at.is_loopback() && x.settings.server.tls.certificate.empty())
    io.complain(
        "others can reach this port, and tokens travel as plain text: set "
        "server.tls, or put a proxy with TLS before it");
}

expected<serving_secrets> find_secrets(const config::config& settings) {
  const auto data = config::data_folder(settings.runtime);
  if (!data) return unexpected{data.error()};
  serving_secrets out;
  if (!settings.server.token_env.empty())
    out.token = read_key(settings.server.token_env).value_or("");
  if (out.token.empty()) {
    const auto file = *data / "server" / "token";
    auto made = http::secret_file(file);
    if (!made) return unexpected{made.error()};
    out.token = std::move(*made);
    out.token_file = file;
    add_secret(out.token);
  } else {
    take_key(settings.server.token_env);
    constexpr std::size_t least = 16;
    if (out.token.size() < least)
      log_warn("server", "the token in " + settings.server.token_env + " has " +
                             std::to_string(out.token.size()) +
                             " characters, and whoever guesses it may do "
                             "everything: take one of openssl rand -hex 32");
  }
  auto key = http::secret_file(*data / "server" / "cookie_key");
  if (!key) return unexpected{key.error()};
  add_secret(*key);
  out.cookie_key = std::move(*key);
  return out;
}

std::string banner(const serving& x, const serving_secrets& secrets,
                   const config::config& settings, bool no_token) {
  const auto at = http::parse_listen(settings.server.listen);
  const bool v6 = at->host.find(':') != std::string::npos;
  std::string out = "riffle serves ";
  out += settings.server.tls.certificate.empty() ? "http://" : "https://";
  out += (v6 ? "[" + at->host + "]" : at->host) + ":" +
         std::to_string(x.port()) + "\n";
  if (no_token) return out;
  return out +
         (secrets.token_file.empty()
              ? "token: that of $" + settings.server.token_env
              : "token: in " + secrets.token_file.string()) +
         "\n";
}

/// Tokens, names, certificates and the log's level; what else changed is said.
void reload(const serve_command& x, serving& serves, serving_secrets& secrets,
            console& io) {
  const auto fresh = load_config(x.common, config_use::again, true, io);
  if (!fresh) {
    log_warn(
        "server",
        "nothing was read again: the configuration does not count as it is");
    return;
  }
  if (auto again = find_secrets(*fresh))
    secrets = std::move(*again);
  else
    log_warn("server", "the token stays as it was: " + render(again.error()));
  serves.reload(*fresh, secrets);
  ::sd_notify(0, "READY=1");
}

}  // namespace

int execute(const serve_command& x, console& io) {
  if (!x.token_for.empty()) return make_token(x.token_for, io);
  serving_options how;
  {
    auto settings = load_config(x.common, config_use::acts, false, io);
    if (!settings) return usage;
    how.settings = std::move(*settings);
  }
  auto& settings = how.settings;
  if (!settings.origins.contains("runtime.log.level") &&
      x.common.level != verbosity::quiet)
    settings.runtime.log.level = "info";
  const auto at = http::parse_listen(settings.server.listen);
  if (!at)
    return refuse("server.listen must be HOST:PORT, such as 127.0.0.1:7433",
                  io);
  if (x.no_token && !at->is_loopback())
    return refuse(
        "--no-token is for loopback addresses alone, such as "
        "127.0.0.1:7433",
        io);
  how.no_token = x.no_token;
  how.listening = inherited_socket();
  auto secrets = find_secrets(settings);
  if (!secrets) return report(secrets.error(), io);
  interrupts signals;
  auto made = serving::start(how, *secrets);
  if (!made) return report(made.error(), io);
  auto& serves = **made;
  warn_of(how, *at, io);
  if (x.common.level != verbosity::quiet) {
    io.out.write(banner(serves, *secrets, settings, x.no_token));
    io.complain_of_output();  // not only when it ends
  }
  signals.on_reload([&] { reload(x, serves, *secrets, io); });
  signals.on_stop([&](const char*) { serves.ask_to_stop(); });
  ::sd_notify(0, "READY=1");
  const auto why = serves.wait();
  ::sd_notify(0, "STOPPING=1");
  signals.on_reload({});
  serves.stop();
  return why ? report(*why, io) : completed;
}

}  // namespace riffle::cli
