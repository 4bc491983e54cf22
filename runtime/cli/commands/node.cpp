// SPDX-License-Identifier: MIT
// riffle node, riffle nodes list|drain, riffle cluster init|add
#include "runtime/node/node.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include "messages/duration_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/cli.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/interrupts.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cluster/certificates.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/cluster_checks.hpp"
#include "runtime/node/cluster_observer.hpp"

namespace riffle::cli {

namespace {

using nlohmann::ordered_json;

/// Between asking what runs to end, and leaving it to its guards.
constexpr auto stop_limit = std::chrono::seconds{5};

/// How often it is looked whether the process can go on.
constexpr auto look = std::chrono::milliseconds{500};

/// What ends a node: told once from a signal's thread, or by a peer.
class ending {
 public:
  void ask() {
    const std::lock_guard lock{mutex_};
    ++asked_;
    changed_.notify_all();
  }
  /// Asked by others, who may ask again: what runs may end all the same.
  void drain() {
    const std::lock_guard lock{mutex_};
    asked_ = std::max(asked_, 1);
    changed_.notify_all();
  }
  void drained() {
    const std::lock_guard lock{mutex_};
    drained_ = true;
    changed_.notify_all();
  }
  /// Or until the process cannot go on: then why.
  std::optional<error> wait_until_asked(const node& of) {
    std::unique_lock lock{mutex_};
    while (!changed_.wait_for(lock, look, [&] { return asked_ > 0; }))
      if (auto why = of.failure()) return why;
    return {};
  }
  /// False: the time is over, or somebody asked again.
  bool wait_until_drained(duration limit) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, limit, [&] { return drained_ || asked_ > 1; });
    return drained_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int asked_ = 0;
  bool drained_ = false;
};

std::string place_of(const config::config& settings, const cluster_part& part) {
  std::string out = "node " + part.name();
  if (part.port())
    out += " listens on " +
           config::split_address(settings.cluster.listen).host + ":" +
           std::to_string(*part.port());
  if (!settings.cluster.join.empty())
    out += std::string{part.port() ? " and" : ""} + " joins " +
           join_some(settings.cluster.join);
  return out + "; it offers " + join_some(part.offered());
}

int refuse(const std::string& why, console& io) {
  io.complain(why);
  return usage;
}

void warn_of(const config::config& settings, console& io) {
  if (settings.cluster.insecure && settings.cluster.tls.certificate.empty())
    io.complain(
        "without TLS every process of this machine can run what is "
        "offered here (--insecure)");
}

}  // namespace

int execute(const node_command& x, console& io) {
  auto settings = load_config(x.common, config_use::acts, false, io);
  if (!settings) return usage;
  if (!settings->cluster.used())
    return refuse(
        "a node needs an address: set cluster.listen to its own (host:port), "
        "or cluster.join to those of others",
        io);
  if (settings->node.tools.empty())
    return refuse(
        "a node needs tools: set node.tools to what others may run "
        "here, such as [\"read\", \"grep\"]",
        io);
  if (!settings->origins.contains("runtime.log.level"))
    settings->runtime.log.level = "info";
  warn_of(*settings, io);
  ending end;
  interrupts signals;
  node_parts parts;
  parts.owns_process = true;
  parts.offers = true;
  parts.program = version;
  auto made = node::create(*settings, std::move(parts));
  if (!made) return report(made.error(), io);
  auto& part = *(*made)->cluster();
  part.on_drain_asked([&end] { end.drain(); });
  signals.on_stop([&end](const char*) { end.ask(); });
  io.out.write(place_of(*settings, part) + "\n");
  io.complain_of_output();  // not only when it ends
  if (const auto why = end.wait_until_asked(**made)) return report(*why, io);
  part.drain([&end] { end.drained(); });
  if (!end.wait_until_drained(settings->node.drain_timeout)) {
    io.complain("what still runs is asked to end (node.drain_timeout)");
    part.stop_calls();
    end.wait_until_drained(stop_limit);
  }
  part.on_drain_asked({});
  part.drain({});
  return completed;
}

namespace {

/// It refuses calls, as it failed too often.
bool is_out_of_service(const cluster::tool_load& x) { return x.places == 0; }

std::string tools_text(const observed_node& x) {
  std::vector<std::string> out;
  for (const auto& load : x.status.loads)
    out.push_back(
        load.tool + " " +
        (is_out_of_service(load) ? std::string{"out of service"}
                                 : std::to_string(load.running) + "/" +
                                       std::to_string(load.places)) +
        (load.waiting > 0 ? " (" + std::to_string(load.waiting) + " waiting)"
                          : ""));
  return out.empty() ? "no tools" : join_some(out);
}

/// Since when: the machine's clock and ours may differ, so it is only told.
std::string since_text(std::int64_t ms) {
  return to_string(wall_time{ms * 1000}).substr(0, 19) + "Z";
}

std::string line_of(const observed_node& x) {
  if (!x.problem.empty())
    return safe_text(x.address + "  not there: " + x.problem) + "\n";
  std::string out = x.who.name + "  " + x.status.state + "  " + tools_text(x);
  if (!x.who.labels.empty()) out += "  labels " + join_some(x.who.labels);
  if (!x.via.empty()) out += "  joined " + x.via;
  if (x.round_trip)
    out += "  " +
           duration_text(
               std::chrono::ceil<std::chrono::microseconds>(*x.round_trip)) +
           " away";
  out += "  Riffle " + x.who.program + " since " + since_text(x.who.since_ms);
  return safe_text(out) + "\n";
}

ordered_json json_of(const observed_node& x) {
  ordered_json out = {{"address", x.via.empty() ? x.address : ""}};
  if (!x.via.empty()) out["joined"] = x.via;
  if (!x.problem.empty()) {
    out["state"] = "unreachable";
    out["problem"] = x.problem;
    return out;
  }
  out["name"] = x.who.name;
  out["state"] = x.status.state;
  out["labels"] = x.who.labels;
  out["version"] = x.who.program;
  out["since"] = since_text(x.who.since_ms);
  if (x.round_trip)
    out["round_trip_us"] =
        std::chrono::duration_cast<std::chrono::microseconds>(*x.round_trip)
            .count();
  out["tools"] = ordered_json::array();
  for (const auto& load : x.status.loads)
    out["tools"].push_back({{"name", load.tool},
                            {"places", load.places},
                            {"running", load.running},
                            {"waiting", load.waiting}});
  out["origins"] = x.status.origins;
  return out;
}

/// Whom this look is for: a process that listens knows those that dial it.
std::vector<std::string> addresses_of(const config::config& x) {
  if (!x.cluster.join.empty() || x.cluster.listen.empty())
    return x.cluster.join;
  return {x.cluster.listen};
}

bool is_lost(const observed_node& x) { return x.status.state == "lost"; }

int no_such_node(const nodes_command& x, const std::vector<observed_node>& all,
                 console& io) {
  std::vector<std::string> there;
  for (const auto& one : all)
    there.push_back(!one.problem.empty()
                        ? one.address + " (" + one.problem + ")"
                        : one.who.name + (is_lost(one) ? " (lost)" : ""));
  io.complain("there is no node " + x.name +
              "; there are: " + join_some(there));
  return failed;
}

/// By its name, or by an address where two have one name.
int drain(const nodes_command& x, observation how,
          const config::config& settings, console& io) {
  const auto all = observe(settings, how);
  if (!all) return report(all.error(), io);
  std::vector<observed_node> found;
  for (const auto& one : *all)
    if (one.problem.empty() && !is_lost(one) &&
        (one.who.name == x.name || (one.via.empty() && one.address == x.name)))
      found.push_back(one);
  if (found.empty()) return no_such_node(x, *all, io);
  if (found.size() > 1)
    return refuse("two nodes are called " + x.name + ": drain the one at " +
                      found[0].address + " or at " + found[1].address +
                      " by its address, and set cluster.name",
                  io);
  how.addresses = {found[0].address};
  how.drain = true;
  if (!found[0].via.empty()) how.through = x.name;
  const auto done = observe(settings, how);
  if (!done) return report(done.error(), io);
  if (const auto& why = done->front().problem; !why.empty()) {
    io.complain(x.name + " was not drained: " + why);
    return failed;
  }
  if (x.common.level != verbosity::quiet)
    io.complain("node " + found[0].who.name +
                " takes no more calls, and ends when it has none");
  return completed;
}

}  // namespace

int execute(const nodes_command& x, console& io) {
  const bool drains = x.action == nodes_command::what::drain;
  auto settings = load_config(
      x.common, drains ? config_use::acts : config_use::looks, false, io);
  if (!settings) return usage;
  observation how;
  how.program = version;
  how.addresses = addresses_of(*settings);
  how.limit = std::max<duration>(settings->cluster.join_timeout,
                                 settings->cluster.timeout);
  if (how.addresses.empty())
    return refuse("which nodes? set cluster.join to their addresses", io);
  if (drains) return drain(x, std::move(how), *settings, io);
  const auto all = observe(*settings, how);
  if (!all) return report(all.error(), io);
  const int status = write_list(*all, x.common, "", line_of, json_of, io);
  const bool there = std::ranges::all_of(
      *all, [](const auto& one) { return one.problem.empty(); });
  return status == completed && !there ? failed : status;
}

int execute(const cluster_command& x, console& io) {
  auto sorted = x.names;
  std::ranges::sort(sorted);
  if (const auto twice = std::ranges::adjacent_find(sorted);
      twice != sorted.end())
    return refuse(config::in_quotes(*twice) + " stands there twice", io);
  for (const auto& name : x.names)
    if (!config::is_node_name(name) || name == cluster::authority)
      return refuse(config::in_quotes(name) +
                        " is no name of a process: letters, "
                        "digits, \".\", \"_\", \"-\"",
                    io);
  if (x.action == cluster_command::what::init) {
    if (auto done = cluster::make_authority(x.folder); !done)
      return report(done.error(), io);
    io.out.write((x.folder / "ca.pem").string() + "\n");
  }
  for (const auto& name : x.names) {
    const auto made = cluster::add_certificate(x.folder, name);
    if (!made) return report(made.error(), io);
    io.out.write(made->certificate.string() + "\n" + made->key.string() + "\n");
  }
  return completed;
}

}  // namespace riffle::cli
