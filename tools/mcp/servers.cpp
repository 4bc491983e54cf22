// SPDX-License-Identifier: MIT
#include "tools/mcp/servers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/names.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::steady_clock;

/// What takes longer is told.
constexpr auto patience = std::chrono::milliseconds{500};

/// How long servers are waited for.
struct patient_wait {
  time_point began = steady_clock::now();
  std::stop_token stop;
  duration limit{};  ///< beside that of each server; 0: none

  [[nodiscard]] time_point end_for(const server& x) const {
    // One that is out of service is tried anew.
    const bool anew = x.status().state == server_state::out_of_service;
    const auto from = anew ? began : std::min(began, x.waited_since());
    const time_point until = from + x.options().startup_timeout;
    return limit > duration{} ? std::min<time_point>(until, began + limit)
                              : until;
  }
};

void tell_late(const server& x, const patient_wait& how) {
  const auto now = x.status().state;
  if (now == server_state::ready || now == server_state::out_of_service ||
      now == server_state::closed || how.stop.stop_requested() ||
      steady_clock::now() >= how.end_for(x))
    return;
  const bool own =
      how.limit == duration{} || x.options().startup_timeout <= how.limit;
  const auto most =
      std::chrono::ceil<std::chrono::milliseconds>(how.end_for(x) - how.began);
  log_warn("mcp." + x.name(),
           "it is not there yet, and is waited for: " +
               short_duration(static_cast<std::uint64_t>(most.count())) +
               " at most (" + (own ? "startup_timeout" : "--timeout") + ")");
}

}  // namespace

servers::servers(servers_options options) : options_{std::move(options)} {
  for (const auto& x : options_.all) {
    const auto& name = x.how.name;
    entry one{x, {}, {}, {}, {}, {}};
    if (!options_.memory.empty()) one.known = recall(options_.memory, name);
    if (one.known.identity != x.identity) {
      if (one.known.approved)
        log_warn("mcp." + name,
                 "its command, folder or URL is not the one whose tools were "
                 "approved, so that counts no longer: 'riffle mcp approve " +
                     name + "' shows what it has now");
      one.known = {.identity = x.identity};
    }
    auto how = x.how;
    how.known_era = one.known.speaks;
    how.on_listing = [this, name](const listing& has) {
      on_listing(name, has);
    };
    const std::lock_guard lock{mutex_};
    auto& kept = all_[name] = std::move(one);
    kept.at = std::make_shared<server>(std::move(how));
  }
}

/// All at once: each has a grace.
servers::~servers() {
  for (auto& [name, x] : all_) x.at->close();
  for (auto& [name, x] : all_) x.at->join();
}

server* servers::find(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  return found == all_.end() ? nullptr : found->second.at.get();
}

std::vector<std::string> servers::names() const {
  const std::lock_guard lock{mutex_};
  std::vector<std::string> out;
  for (const auto& [name, x] : all_) out.push_back(name);
  return out;
}

std::vector<std::string> servers::ready(const std::set<std::string>& names,
                                        const std::stop_token& stop,
                                        duration limit) {
  const patient_wait how{.stop = stop, .limit = limit};
  for (const auto& name : names)
    if (auto* x = find(name)) x->want();
  for (const auto& name : names)
    if (auto* x = find(name))
      x->wait_ready(std::min<time_point>(how.began + patience, how.end_for(*x)),
                    stop);
  for (const auto& name : names)
    if (const auto* x = find(name)) tell_late(*x, how);
  std::vector<std::string> problems;
  for (const auto& name : names) {
    auto* x = find(name);
    // One that was tried above is not tried once more.
    if (x == nullptr || (x->status().state != server_state::out_of_service &&
                         x->wait_ready(how.end_for(*x), stop)))
      continue;
    const auto now = x->status();
    problems.push_back("the server " + name + " is " +
                       std::string{to_string(now.state)} +
                       (now.last_error.empty() ? "" : ": " + now.last_error));
  }
  return problems;
}

std::vector<std::string> servers::tools_of(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  return found == all_.end() ? std::vector<std::string>{} : found->second.order;
}

tools::tool_ptr servers::find_tool(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  for (const auto& [ignored, x] : all_)
    for (const auto& tool : x.tools)
      if (tool->spec().name == name) return tool;
  return {};
}

std::vector<change> servers::held_back(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  return found == all_.end() ? std::vector<change>{} : found->second.held;
}

review servers::reviewed(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  if (found == all_.end()) return {};
  const auto& x = found->second;
  const auto held = std::ranges::count_if(
      x.held, [](const change& c) { return c.kind != change::what::removed; });
  return {x.known.approved, static_cast<std::size_t>(held)};
}

bool servers::tells_unseen(const std::string& name) {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  if (found == all_.end()) return false;
  auto& x = found->second;
  if (x.known.approved || x.tools.empty()) return false;
  return !std::exchange(x.told, true);
}

/// A tool, once known, stays as it was: if its server changes it, calls are
/// refused until a person has looked (see call_tool). One at a time: a list
/// that was made earlier must not be told later.
void servers::on_listing(const std::string& name, const listing& has) {
  const std::lock_guard telling{telling_};
  std::vector<tools::tool_ptr> all;
  {
    const std::lock_guard lock{mutex_};
    auto& x = all_.at(name);
    note(x, has);
    for (const auto& [ignored, one] : all_)
      all.insert(all.end(), one.tools.begin(), one.tools.end());
  }
  if (options_.on_tools) options_.on_tools(all);
}

void servers::note(entry& x, const listing& has) const {
  const auto& name = x.setup.how.name;
  x.held =
      x.known.approved ? changes(x.known, has.tools) : std::vector<change>{};
  const auto is_held = [&](const std::string& tool) {
    return !options_.shows_all &&
           std::ranges::any_of(x.held, [&](const change& c) {
             return c.tool == tool && c.kind != change::what::removed;
           });
  };
  const auto add = [&](const std::string& as, const auto& make) {
    if (x.names.contains(as)) return;
    // A server that lives long may have ever new ones.
    if (x.names.size() >= page_reader::most_items) {
      if (x.told_held.insert(std::string{}).second)
        log_warn("mcp." + name,
                 "it has had 5000 tools: no further one is used");
      return;
    }
    x.names.insert(as);
    x.order.push_back(as);
    x.tools.push_back(make());
  };
  for (const auto& tool : has.tools) {
    if (is_held(tool.name)) {
      if (!x.told_held.insert(tool.name).second) continue;
      log_warn("mcp." + name,
               "its tool " + tool.name +
                   " is not as it was approved and is not used: 'riffle mcp "
                   "approve " +
                   name + "' shows it");
      continue;
    }
    add(tool_name(name, tool.name), [&] {
      return make_tool(x.at, tool, x.setup.rules(tool.name), x.setup.guarded,
                       x.setup.identity);
    });
  }
  if (has.about.has_resources)
    add(tool_name(name, "read_resource"), [&] {
      return make_resource_tool(x.at, x.setup.rules("read_resource"),
                                x.setup.guarded);
    });
  if (options_.memory.empty() || x.known.speaks == has.about.speaks) return;
  x.known.speaks = has.about.speaks;
  const auto done =
      change_memory(options_.memory, name, x.setup.identity,
                    [&](remembered& y) { y.speaks = has.about.speaks; });
  if (!done) log_warn("mcp." + name, done.error().message);
}

}  // namespace riffle::mcp
