// SPDX-License-Identifier: MIT
// What a person has looked at of a server's tools and words, and what waits for
// that: the part of servers.hpp about approvals.
#include <algorithm>
#include <utility>

#include "runtime/base/log.hpp"
#include "tools/mcp/names.hpp"
#include "tools/mcp/servers.hpp"

namespace riffle::mcp {

std::vector<change> servers::held_back(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  return found == all_.end() ? std::vector<change>{} : found->second.held;
}

review servers::reviewed(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  return found == all_.end() ? review{} : review_of(found->second);
}

review servers::review_of(const entry& x) {
  const auto held = std::ranges::count_if(
      x.held, [](const change& c) { return c.kind != change::what::removed; });
  const bool refused = x.known.tools.empty() && held > 0;
  return {x.known.approved && !refused, static_cast<std::size_t>(held),
          has_other_advice(x)};
}

bool servers::has_other_advice(const entry& x) {
  const bool trusted = x.setup.rules && x.setup.rules({}).trusts;
  const auto has = x.at->status().has;
  return has && x.known.approved && !trusted &&
         !has->about.instructions.empty() &&
         has->about.instructions != x.known.instructions;
}

std::string servers::instructions_of(const std::string& name) const {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  if (found == all_.end()) return {};
  const auto& x = found->second;
  const auto has = x.at->status().has;
  if (!has) return {};
  const auto& text = has->about.instructions;
  const bool seen = x.known.approved && x.known.instructions == text;
  const bool trusted = x.setup.rules && x.setup.rules({}).trusts;
  return seen || trusted ? text : std::string{};
}

std::size_t servers::definition_bytes(const std::string& name,
                                      std::size_t large) {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  if (found == all_.end() || found->second.told_large) return 0;
  std::size_t out = 0;
  for (const auto& tool : found->second.tools) {
    const auto& x = tool->spec();
    out += x.name.size() + x.description.size() + x.parameters.size();
  }
  if (out < large) return 0;
  found->second.told_large = true;
  return out;
}

bool servers::tells_unseen(const std::string& name) {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  if (found == all_.end()) return false;
  auto& x = found->second;
  if (x.known.approved || x.tools.empty()) return false;
  return !std::exchange(x.told, true);
}

bool servers::tells_advice(const std::string& name) {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(name);
  if (found == all_.end() || !has_other_advice(found->second)) return false;
  return !std::exchange(found->second.told_advice, true);
}

/// What a person approved meanwhile, elsewhere. Nothing is taken back here: who
/// has forgotten a server has no rule for it that counts.
void servers::look_again(const std::string& name) {
  if (options_.memory.empty()) return;
  const std::lock_guard telling{telling_};
  std::vector<tools::tool_ptr> all;
  {
    const std::lock_guard lock{mutex_};
    const auto found = all_.find(name);
    if (found == all_.end()) return;
    auto& x = found->second;
    auto stamp = memory_stamp(options_.memory, x.setup.kept_as());
    if (stamp == x.stamp) return;
    x.stamp = std::move(stamp);
    auto now = recall(options_.memory, x.setup.kept_as());
    if (!now.approved || now.identity != x.setup.identity) return;
    if (x.known.approved && now.tools == x.known.tools &&
        now.instructions == x.known.instructions)
      return;
    x.known = std::move(now);
    x.told_held.clear();  // what is another one again is told again
    x.told_advice = false;
    const auto has = x.at->status().has;
    if (!has) return;
    note(x, *has);
    all = tools_of_all();
  }
  if (options_.on_tools) options_.on_tools(all);
  if (options_.on_change) options_.on_change();
}

/// A line a list, and so many for a server: it may have ever new ones.
void servers::tell_held(entry& x) const {
  constexpr int most_lines = 20;
  constexpr std::size_t most_names = 5;
  std::vector<change> fresh;
  std::string names;
  for (const auto& one : x.held) {
    if (one.kind == change::what::removed ||
        x.told_held.size() >= page_reader::most_items ||
        !x.told_held.insert(one.tool).second)
      continue;
    if (fresh.size() < most_names)
      names += (names.empty() ? "" : ", ") + one.tool;
    fresh.push_back(one);
  }
  if (fresh.empty()) return;
  keep_pending(x, fresh);
  if (++x.held_lines > most_lines) return;
  const auto& name = x.setup.how.name;
  if (x.known.tools.empty())
    return log_warn("mcp." + name,
                    "none of its tools is approved, so none is used: 'riffle "
                    "mcp approve " +
                        name + "' asks about them again");
  const bool one = fresh.size() == 1;
  log_warn(
      "mcp." + name,
      (one ? "its tool " + names + " is not as it was approved and is "
           : std::to_string(fresh.size()) + " of its tools (" + names +
                 (fresh.size() > most_names ? ", …" : "") +
                 ") are not as they were approved and are ") +
          "not used: 'riffle mcp approve " + name + "' shows " +
          (one ? "it" : "them") +
          (x.held_lines == most_lines ? "; no more of these are told" : ""));
}

/// What is new may be known to this process of the server alone, and so may
/// what has become of a tool that came late.
void servers::keep_pending(const entry& x,
                           const std::vector<change>& fresh) const {
  constexpr std::size_t most = 200;
  if (options_.memory.empty()) return;
  const auto done = change_memory(
      options_.memory, x.setup.kept_as(), x.setup.identity, [&](remembered& y) {
        for (const auto& one : fresh)
          if ((one.kind == change::what::added || one.before.late) &&
              y.pending.size() < most)
            y.pending[one.tool] = approval_of(one.now);
      });
  if (!done) log_warn("mcp." + x.setup.how.name, done.error().message);
}

}  // namespace riffle::mcp
