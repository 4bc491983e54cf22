// SPDX-License-Identifier: MIT
#include "tools/mcp/servers.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/names.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::steady_clock;

/// What takes longer is told.
constexpr auto start_timeout = std::chrono::milliseconds{500};

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
  const auto [now, ignored, restarts, cause] = x.status();
  if (now == server_state::ready || now == server_state::out_of_service ||
      now == server_state::closed || how.stop.stop_requested() ||
      steady_clock::now() >= how.end_for(x))
    return;
  const bool own =
      how.limit == duration{} || x.options().startup_timeout <= how.limit;
  const auto most =
      std::chrono::ceil<std::chrono::milliseconds>(how.end_for(x) - how.began);
  log_about(log_level::warn, "mcp." + x.name(),
            "it is not there yet, and is waited for: " +
                short_duration(static_cast<std::uint64_t>(most.count())) +
                " at most (" + (own ? "startup_timeout" : "--timeout") + ")",
            {{"cause", "waited for: " + cause}});
}

}  // namespace

servers::servers(servers_options options) : options_{std::move(options)} {
  for (const auto& x : options_.all) {
    const auto& name = x.how.name;
    entry one{x, {}, {}, {}, {}, {}};
    if (!options_.memory.empty()) {
      one.stamp = memory_stamp(options_.memory, x.kept_as());
      one.known = recall(options_.memory, x.kept_as());
    }
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
    how.on_change = options_.on_change;
    const std::lock_guard lock{mutex_};
    auto& kept = all_[name] = std::move(one);
    kept.at = std::make_shared<server>(std::move(how));
  }
}

servers::~servers() { static_cast<void>(end(time_point::max())); }

bool servers::end(time_point until) {
  std::vector<std::shared_ptr<server>> all;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [name, x] : all_) all.push_back(x.at);
  }
  for (const auto& x : all) x->close();
  return std::ranges::all_of(all, [&](const auto& x) {
    if (x->await_end(until)) return true;
    log_error("mcp." + x->name(), "it does not end, and is left behind");
    return false;
  });
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

std::vector<missing_server> servers::ready(const std::set<std::string>& names,
                                           const std::stop_token& stop,
                                           duration limit) {
  const patient_wait how{.stop = stop, .limit = limit};
  for (const auto& name : names)
    if (auto* x = find(name)) x->want();
  for (const auto& name : names)
    if (auto* x = find(name))
      x->wait_ready(
          std::min<time_point>(how.began + start_timeout, how.end_for(*x)),
          stop);
  for (const auto& name : names)
    if (const auto* x = find(name)) tell_late(*x, how);
  for (const auto& name : names) look_again(name);
  std::vector<missing_server> problems;
  for (const auto& name : names) {
    auto* x = find(name);
    // One that was tried above is not tried once more.
    if (x == nullptr || (x->status().state != server_state::out_of_service &&
                         x->wait_ready(how.end_for(*x), stop)))
      continue;
    const auto now = x->status();
    problems.push_back(
        {name,
         "the server " + name + " is " + std::string{to_string(now.state)} +
             (now.last_error.empty() ? "" : ": " + now.last_error),
         now.last_error});
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

bool servers::would_wait(const std::set<std::string>& names) const {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const auto* x = find(name);
    if (x == nullptr) return false;
    const auto now = x->status().state;
    return now != server_state::ready && now != server_state::closed;
  });
}

bool servers::are_starting(const std::set<std::string>& names) const {
  return std::ranges::any_of(names, [&](const std::string& name) {
    const auto* x = find(name);
    return x != nullptr && would_wait({name}) &&
           x->status().state != server_state::out_of_service;
  });
}

std::vector<server_view> servers::views() const {
  const std::lock_guard lock{mutex_};
  std::vector<server_view> out;
  for (const auto& [name, x] : all_) {
    const auto now = x.at->status();
    if (now.state == server_state::closed) continue;
    out.push_back(view_of(name, now, review_of(x)));
    out.back().of = digest_of_server(x.setup.identity);
  }
  return out;
}

/// What its tools are now is a digest of each: nobody waits for these.
std::map<std::string, std::string> servers::refused_tools() const {
  struct known {
    std::string name;
    server_status now;
    std::map<std::string, meant_tool> meant;
  };
  std::vector<known> all;
  {
    const std::lock_guard lock{mutex_};
    for (const auto& [name, x] : all_)
      all.push_back({name, x.at->status(), x.meant});
  }
  std::map<std::string, std::string> out;
  for (const auto& x : all)
    for (const auto& [as, one] : x.meant) {
      auto why = why_refused(x.name, x.now, one.tool, one.digest);
      if (!why.empty()) out.emplace(as, std::move(why));
    }
  return out;
}

std::vector<tools::tool_ptr> servers::tools_of_all() const {
  std::vector<tools::tool_ptr> out;
  for (const auto& [ignored, one] : all_)
    out.insert(out.end(), one.tools.begin(), one.tools.end());
  return out;
}

/// A tool, once known, stays as it was: if its server changes it, calls are
/// refused until a person has looked (see call_tool, `use`). One at a time: a
/// list that was made earlier must not be told later.
void servers::on_listing(const std::string& name, const listing& has) {
  const std::lock_guard telling{telling_};
  std::vector<tools::tool_ptr> all;
  {
    const std::lock_guard lock{mutex_};
    auto& x = all_.at(name);
    note(x, has);
    all = tools_of_all();
  }
  if (options_.on_tools) options_.on_tools(all);
  if (options_.on_change) options_.on_change();  // what is held is known now
}

void servers::note(entry& x, const listing& has) const {
  const auto& name = x.setup.how.name;
  x.held =
      x.known.approved ? changes(x.known, has.tools) : std::vector<change>{};
  std::set<std::string> held;
  if (!options_.shows_all)
    for (const auto& one : x.held)
      if (one.kind != change::what::removed) held.insert(one.tool);
  for (const auto& tool : has.tools) {
    if (held.contains(tool.name)) continue;
    use(x, tool_name(name, tool.name), {tool.name, digest_of(tool)}, [&] {
      return make_tool(x.at, tool, x.setup.rules(tool.name), x.setup.guarded,
                       x.setup.identity);
    });
  }
  if (!held.empty()) tell_held(x);
  // Who refused its tools does not want to read from it, either.
  const bool refused = x.known.approved && x.known.tools.empty() &&
                       !has.tools.empty() && !options_.shows_all;
  if (has.about.has_resources && !refused)
    use(x, tool_name(name, "read_resource"), {}, [&] {
      return make_resource_tool(x.at, x.setup.rules("read_resource"),
                                x.setup.guarded, has.templates);
    });
  tell_unknown(x, has);
  if (options_.memory.empty() || x.known.speaks == has.about.speaks) return;
  x.known.speaks = has.about.speaks;
  const auto done =
      change_memory(options_.memory, x.setup.kept_as(), x.setup.identity,
                    [&](remembered& y) { y.speaks = has.about.speaks; });
  if (!done) log_warn("mcp." + name, done.error().message);
}

/// As one of its tools, unless it has had too many, or another server's tool is
/// called so. Takes the place of an earlier version if it is the approved one.
void servers::use(entry& x, const std::string& as, meant_tool what,
                  const std::function<tools::tool_ptr()>& make) const {
  if (const auto known = x.meant.find(as); known != x.meant.end()) {
    auto& digest = known->second.digest;
    if (digest == what.digest || !x.known.approved || options_.shows_all)
      return;
    digest = std::move(what.digest);
    x.tools[static_cast<std::size_t>(std::ranges::find(x.order, as) -
                                     x.order.begin())] = make();
    return;
  }
  const auto& name = x.setup.how.name;
  // A server that lives long may have ever new ones.
  if (x.meant.size() >= page_reader::most_items) {
    if (x.told_held.insert(std::string{}).second)
      log_warn("mcp." + name, "it has had 5000 tools: no further one is used");
    return;
  }
  for (const auto& [other, y] : all_) {
    if (&y == &x || !y.meant.contains(as)) continue;
    if (x.told_held.insert("as " + as).second)
      log_warn("mcp." + name, "its tool " + as + " is not used: the server " +
                                  other + " has one that is called so");
    return;
  }
  x.meant.emplace(as, std::move(what));
  x.order.push_back(as);
  x.tools.push_back(make());
}

/// A mistyped rule would count for nothing, in silence.
void servers::tell_unknown(entry& x, const listing& has) {
  if (std::exchange(x.told_named, true)) return;
  std::vector<std::string> known;
  for (const auto& tool : has.tools) known.push_back(tool.name);
  if (has.about.has_resources) known.emplace_back("read_resource");
  const auto& name = x.setup.how.name;
  for (const auto& tool : x.setup.named) {
    if (std::ranges::find(known, tool) != known.end()) continue;
    const auto near = nearest(tool, known);
    log_warn("mcp." + name,
             "it lists no tool `" + tool + "`, so [mcp." + name + ".tools." +
                 tool + "] counts for nothing" +
                 (near.empty() ? "" : "; did you mean `" + near + "`?"));
  }
}

}  // namespace riffle::mcp
