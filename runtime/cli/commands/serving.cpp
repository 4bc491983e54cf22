// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/serving.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <systemd/sd-daemon.h>

#include "runtime/base/descriptor_limit.hpp"
#include "runtime/base/log.hpp"
#include "runtime/cli/cli.hpp"
#include "runtime/cli/commands/finishing.hpp"
#include "runtime/config/home.hpp"
#include "runtime/http/exporter.hpp"
#include "runtime/http/recovery.hpp"
#include "runtime/http/site.hpp"
#include "runtime/node/node.hpp"

namespace riffle::cli {

namespace {

constexpr const char* op = "server";

/// Threads that read pages for streams: as many as the journal has readers.
constexpr std::size_t read_threads = 4;
constexpr std::size_t feed_threads = 2;
/// And those of requests that block on the journal, or wait for a use case;
/// what use cases block on has threads of its own, or all might wait for one
/// that is none's. So have specs of runs, see `node`: they may wait for long.
/// One token's requests leave others two of them.
constexpr std::size_t work_threads = 8;
constexpr std::size_t works_of_token = 6;
constexpr std::size_t case_threads = 4;

/// How often it is looked whether the process can go on.
constexpr auto look = std::chrono::milliseconds{500};
/// Each so many of these it is looked for work that another process has let go
/// of.
constexpr unsigned looks_for_cut_off = 4;

/// For streams to end at their border once nothing runs.
constexpr auto close_limit = std::chrono::seconds{2};

std::shared_ptr<http::gate> make_gate(const config::config& x, bool no_token,
                                      const serving_secrets& secrets) {
  http::gate_rules rules;
  rules.hosts = x.server.hosts;
  if (const auto at = http::parse_listen(x.server.listen))
    rules.hosts.push_back(at->host);
  rules.origins = x.server.origins;
  for (const auto& one : x.server.trusted_proxies)
    if (const auto network = parse_network(one))
      rules.proxies.push_back(*network);
  rules.tokens_required = !no_token;
  return std::make_shared<http::gate>(
      std::move(rules),
      std::make_shared<http::token_book>(secrets.token, x.server.tokens,
                                         secrets.cookie_key));
}

/// A connection is a descriptor, and runs need some, too.
std::uint32_t connections_for(std::uint32_t wanted, bool asked_for) {
  constexpr std::uint64_t for_runs = 4;  // a quarter
  const auto files = raise_descriptor_limit(
      std::uint64_t{wanted} * for_runs / (for_runs - 1) + for_runs);
  if (files == 0) return wanted;
  const auto most = files - files / for_runs;
  if (wanted <= most) return wanted;
  const auto text = "this process may open " + std::to_string(files) +
                    " files: it takes " + std::to_string(most) +
                    " clients (`ulimit -Hn` and LimitNOFILE say how many)";
  if (asked_for)
    log_warn(op, "server.limits.connections is " + std::to_string(wanted) +
                     ", but " + text);
  else
    log_info(op, text);
  return static_cast<std::uint32_t>(most);
}

std::string named_file(const config::config& x, const std::string& name) {
  if (name.empty()) return name;
  const auto whole = config::named_path(x, name);
  return whole ? whole->string() : name;
}

/// Whether it is of a server that went: that counts at once.
bool is_of_ended(const std::string& section, const config::config& old,
                 const config::config& fresh) {
  return std::ranges::any_of(old.mcp, [&](const auto& x) {
    const auto table = "mcp." + x.first;
    return !fresh.mcp.contains(x.first) &&
           (section == table || section.starts_with(table + "."));
  });
}

/// Keys, and tables that came or went, that count after a restart. `tls`: its
/// files were looked at.
std::vector<std::string> counts_later(const config::config& old,
                                      const config::config& fresh, bool tls) {
  const auto reloads = [&](const std::string& section) {
    return section.starts_with("server.tokens") || section == "runtime.log" ||
           (tls && section == "server.tls") || is_of_ended(section, old, fresh);
  };
  std::vector<std::string> later;
  const auto before = config::settings(old);
  const auto after = config::settings(fresh);
  const auto differs = [&](const auto& x, const auto& others) {
    const auto key = x.section + "." + x.key;
    return !reloads(x.section) && key != "server.hosts" &&
           key != "server.origins" && key != "server.trusted_proxies" &&
           std::ranges::find(others, x) == others.end();
  };
  const auto has_section = [](const auto& all, const std::string& section) {
    return std::ranges::any_of(
        all, [&](const auto& x) { return x.section == section; });
  };
  // Of a table that came or went its name is enough.
  const auto add = [&](const auto& x, const auto& others) {
    const bool whole = !has_section(others, x.section);
    auto name = whole ? "[" + x.section + "]" : x.section + "." + x.key;
    if (std::ranges::find(later, name) == later.end())
      later.push_back(std::move(name));
  };
  for (const auto& x : after)
    if (differs(x, before)) add(x, before);
  for (const auto& x : before)
    if (differs(x, after) && !has_section(after, x.section)) add(x, after);
  return later;
}

http::server_options options_of(const config::config& x, int listening) {
  const auto at = http::parse_listen(x.server.listen);
  http::server_options out;
  out.address = at->host;
  out.port = at->port;
  out.listening = listening;
  out.certificate = named_file(x, x.server.tls.certificate);
  out.key = named_file(x, x.server.tls.key);
  out.header_bytes = x.server.limits.header_bytes;
  out.connections =
      connections_for(x.server.limits.connections,
                      x.origins.contains("server.limits.connections"));
  out.request_timeout = x.server.request_timeout;
  out.stall_timeout = x.server.stall_timeout;
  out.heartbeat = x.server.heartbeat;
  return out;
}

}  // namespace

struct serving::impl {
  config::config settings;
  bool no_token = false;
  // In the opposite of the order in which they end.
  std::shared_ptr<blocking_executor> reads =
      std::make_shared<blocking_executor>(read_threads);
  std::shared_ptr<blocking_executor> feeds =
      std::make_shared<blocking_executor>(feed_threads);
  std::shared_ptr<blocking_executor> works =
      std::make_shared<blocking_executor>(work_threads, works_of_token);
  std::shared_ptr<blocking_executor> cases =
      std::make_shared<blocking_executor>(case_threads);
  std::shared_ptr<http::exporter> metrics;
  std::unique_ptr<node> runtime;
  std::unique_ptr<http::site> site;
  std::unique_ptr<http::server> transport;
  std::shared_ptr<http::recovery> cut_off;
  std::mutex mutex;
  std::condition_variable changed;
  bool asked = false;
  bool stopped = false;
  bool left_behind = false;  ///< a thread did not end

  http::site_parts parts();
  [[nodiscard]] std::vector<http::gauge> gauges();
  void begin(const serving_secrets& secrets);
  [[nodiscard]] std::size_t running() const;
  bool renew_certificate(const config::config& fresh);
};

std::vector<http::gauge> serving::impl::gauges() {
  const auto count = [this](auto member) {
    return [this, member] {
      return static_cast<double>(transport->counts().*member);
    };
  };
  using http::server_counts;
  return {{"riffle_connections", "Clients that are connected.",
           count(&server_counts::connections)},
          {"riffle_streams", "Streams of events that are open.",
           count(&server_counts::streams)},
          {"riffle_streams_stalled",
           "Clients that were cut off since they took no byte.",
           count(&server_counts::stalled)},
          {"riffle_runs_active", "Runs that this process works on.",
           [this] { return static_cast<double>(running()); }}};
}

http::site_parts serving::impl::parts() {
  auto served = runtime->serve(cases);
  return {std::make_shared<const config::config>(settings),
          served.runs,
          served.sessions,
          served.proposals,
          served.decisions,
          served.volleys,
          runtime->tools(),
          runtime->shared_journal(),
          reads,
          feeds,
          works,
          runtime->shared_timer(),
          &runtime->ids(),
          [this] { return runtime->failure(); },
          [this] { return metrics->text(); },
          std::string{version},
          [this] { return runtime->tools_now(); },
          runtime->servers()};
}

void serving::impl::begin(const serving_secrets& secrets) {
  metrics = std::make_shared<http::exporter>(gauges());
  read_metrics(metrics);
  site = std::make_unique<http::site>(
      parts(), make_gate(settings, no_token, secrets),
      [this](std::function<void()> job) { transport->post(std::move(job)); });
  runtime->on_commit([hub = std::weak_ptr{site->hub()}] {
    if (const auto there = hub.lock()) there->nudge();
  });
  cut_off = std::make_shared<http::recovery>(*site);
  transport->start(*site);
  cut_off->look();
}

std::size_t serving::impl::running() const {
  return runs_here(site->parts().sessions);
}

serving::serving(std::unique_ptr<impl> x) : impl_{std::move(x)} {}

/// What a thread still uses that does not end stays until the process ends.
serving::~serving() {
  stop();
  if (impl_->left_behind) static_cast<void>(impl_.release());
}

expected<std::unique_ptr<serving>> serving::start(
    const serving_options& x, const serving_secrets& secrets) {
  auto made = std::make_unique<impl>();
  made->settings = x.settings;
  made->no_token = x.no_token;
  // First: a port that is taken costs nobody a run.
  auto opened = http::server::open(options_of(x.settings, x.listening));
  if (!opened) return unexpected{opened.error()};
  made->transport = std::move(*opened);
  node_parts parts;
  parts.owns_process = true;
  parts.program = version;
  auto runtime = node::create(x.settings, std::move(parts));
  if (!runtime) return unexpected{runtime.error()};
  made->runtime = std::move(*runtime);
  made->begin(secrets);
  return std::unique_ptr<serving>{new serving{std::move(made)}};
}

std::uint16_t serving::port() const { return impl_->transport->port(); }

/// False: it stays as it was, which is said.
bool serving::impl::renew_certificate(const config::config& fresh) {
  const auto& tls = fresh.server.tls;
  if (tls.certificate.empty() || settings.server.tls.certificate.empty())
    return false;
  const auto renewed = transport->renew_certificate(
      named_file(fresh, tls.certificate), named_file(fresh, tls.key));
  if (!renewed)
    log_warn(op, "the certificate stays as it was: " + render(renewed.error()));
  return renewed.has_value();
}

void serving::reload(const config::config& fresh,
                     const serving_secrets& secrets) {
  init_log(fresh.origins.contains("runtime.log.level")
               ? fresh.runtime.log.level
               : impl_->settings.runtime.log.level,
           fresh.runtime.log.format);
  impl_->site->replace_gate(make_gate(fresh, impl_->no_token, secrets));
  const bool renewed = impl_->renew_certificate(fresh);
  std::string what = "read again: tokens, hosts, origins, proxies, log";
  if (renewed) what += ", certificate";
  log_info(op, what);
  impl_->runtime->end_servers_not_in(fresh);
  const bool both = !fresh.server.tls.certificate.empty() &&
                    !impl_->settings.server.tls.certificate.empty();
  for (const auto& key : counts_later(impl_->settings, fresh, both))
    log_warn(op, key + " has changed, which counts after a restart");
}

void serving::ask_to_stop() {
  const std::lock_guard lock{impl_->mutex};
  impl_->asked = true;
  impl_->changed.notify_all();
}

std::optional<error> serving::wait() {
  std::unique_lock lock{impl_->mutex};
  for (unsigned looks = 0; !impl_->asked; ++looks) {
    impl_->changed.wait_for(lock, look);
    if (looks % looks_for_cut_off == 0) impl_->cut_off->look();
    if (auto why = impl_->runtime->failure()) return why;
    ::sd_notify(0, "WATCHDOG=1");
  }
  return {};
}

void serving::stop() {
  if (std::exchange(impl_->stopped, true)) return;
  const auto& how = impl_->settings.server;
  const auto until = std::chrono::steady_clock::now() + how.stop_timeout;
  impl_->site->stop_starting();
  impl_->transport->stop_listening();
  if (how.on_stop == "cancel") impl_->runtime->close(how.stop_timeout);
  if (how.on_stop == "finish") let_finish(*impl_->site, until);
  end_waited_for(*impl_->site);
  if (const auto left = impl_->running(); left > 0)
    log_warn(op, std::to_string(left) +
                     (left == 1 ? " run is left as it is: the next start goes "
                                  "on with it"
                                : " runs are left as they are: the next start "
                                  "goes on with them"));
  impl_->runtime->leave();
  impl_->transport->close(close_limit);
  read_metrics(nullptr);
  impl_->runtime->on_commit([] {});
  for (const auto& threads :
       {impl_->cases, impl_->works, impl_->feeds, impl_->reads})
    if (!threads->close(close_limit)) impl_->left_behind = true;
  if (!impl_->left_behind) return impl_->runtime.reset();
  log_warn(op, "a request does not end: its thread is left behind");
}

}  // namespace riffle::cli
