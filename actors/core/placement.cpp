// SPDX-License-Identifier: MIT
#include "actors/core/placement.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "messages/duration_text.hpp"

namespace riffle::core {

namespace {

constexpr std::string_view here;  // the name of this process among nodes
constexpr std::string_view of_label = "label:";
/// Sessions whose node is remembered; more forget the one that sorts first,
/// which is the oldest: ids sort by time.
constexpr std::size_t most_stuck = 100'000;
/// Of a tool: nodes that had it are told, the newest.
constexpr std::size_t most_lost = 16;
/// Then a call of ours tries again a node that refused one.
constexpr auto refusal_rest = std::chrono::seconds{10};

/// "*": any characters, "?": one. Linear but for the last star.
bool matches(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  auto star = std::string_view::npos;
  std::size_t after = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == text[t] || pattern[p] == '?')) {
      ++p;
      ++t;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool means_node(std::string_view item, std::string_view node,
                const std::vector<std::string>& labels) {
  if (item.starts_with(of_label))
    return std::ranges::find(labels, item.substr(of_label.size())) !=
           labels.end();
  return item != "local" && matches(item, node);
}

placement::of_tool& placement::tool_named(const std::string& tool) {
  return tools_[tool];
}

void placement::set_rule(const std::string& tool, placement_rule rule) {
  auto& x = tool_named(tool);
  x.rule = std::move(rule);
  if (x.rule.here)
    x.places[std::string{here}].places = std::max(x.rule.places, 1U);
}

void placement::add(const std::string& node,
                    const std::vector<std::string>& labels,
                    const std::string& tool, std::uint32_t places) {
  labels_[node] = labels;
  auto& x = tool_named(tool);
  const bool back = x.lost.erase(node) > 0;
  x.unused.erase(node);
  end_hold(node, tool);
  const auto [at, joined] = x.places.try_emplace(node);
  if (joined) at->second.stay = ++turn_;
  // What it lost goes to another one.
  if (joined && back) at->second.last = turn_;
  at->second.places = std::max(places, 1U);
}

std::set<std::string> placement::remove(const std::string& node,
                                        const std::string& why, wall_time when,
                                        bool hold) {
  std::set<std::string> held;
  for (auto& [name, x] : tools_) {
    x.unused.erase(node);
    const auto at = x.places.find(node);
    if (at == x.places.end() || at->second.away) continue;
    x.places.erase(at);
    x.lost[node] = {why, when};
    if (hold && allows(x, node) &&
        std::ranges::none_of(
            x.places, [&](const auto& y) { return allows(x, y.first); })) {
      x.places[node] = {.stay = ++turn_, .away = true};
      held.insert(name);
    }
    if (x.lost.size() > most_lost)
      x.lost.erase(std::ranges::min_element(
          x.lost, {}, [](const auto& one) { return one.second.when.us; }));
  }
  std::erase_if(stuck_, [&](const auto& one) { return one.second == node; });
  std::erase_if(labels_, [&](const auto& one) {
    return std::ranges::none_of(tools_, [&](const auto& tool) {
      return tool.second.places.contains(one.first) ||
             tool.second.lost.contains(one.first);
    });
  });
  return held;
}

void placement::end_hold(const std::string& node, const std::string& tool) {
  auto& places = tool_named(tool).places;
  const auto at = places.find(node);
  if (at != places.end() && at->second.away) places.erase(at);
}

void placement::add_unused(const std::string& node, const std::string& tool,
                           const std::string& why) {
  tool_named(tool).unused[node] = why;
}

void placement::set_load(const std::string& node, const std::string& tool,
                         std::uint32_t calls) {
  const auto x = tools_.find(tool);
  if (x == tools_.end()) return;
  const auto i = x->second.places.find(node);
  if (i == x->second.places.end()) return;
  auto& at = i->second;
  at.others = calls > at.given ? calls - at.given : 0;
}

/// What a person wrote decides; without a word of his, this process's own tool
/// is nobody else's.
bool placement::allows(const of_tool& x, const std::string& node) const {
  const auto& nodes = x.rule.nodes;
  if (nodes.empty()) return node.empty() == x.rule.here;
  if (node.empty())
    return x.rule.here && std::ranges::find(nodes, "local") != nodes.end();
  const auto labels = labels_.find(node);
  return std::ranges::any_of(nodes, [&](const auto& item) {
    return means_node(
        item, node,
        labels == labels_.end() ? std::vector<std::string>{} : labels->second);
  });
}

std::string* placement::stuck(const of_tool& x, const std::string& tool,
                              const session_id& session) {
  if (!x.rule.sticky) return nullptr;
  const auto i = stuck_.find({session, tool});
  return i == stuck_.end() || !x.places.contains(i->second) ? nullptr
                                                            : &i->second;
}

expected<std::string> placement::choose(const std::string& tool,
                                        const run_id& run,
                                        const session_id& session,
                                        const call_id& call, wall_time now) {
  release(call);
  const auto found = tools_.find(tool);
  if (found == tools_.end()) return unexpected{unavailable(tool, {}, now)};
  auto& x = found->second;
  std::pair<const std::string, place>* best = nullptr;
  const auto worse = [&](const place& a, const place& b) {
    if (a.away != b.away) return a.away;
    const bool rests = a.rests_until.us > now.us;
    if (rests != (b.rests_until.us > now.us)) return rests;
    // a's share of its places, compared with b's, without division.
    return std::uint64_t{a.given + a.others} * b.places >
           std::uint64_t{b.given + b.others} * a.places;
  };
  for (auto& one : x.places) {
    if (!allows(x, one.first)) continue;
    const bool better =
        best == nullptr || worse(best->second, one.second) ||
        (!worse(one.second, best->second) && !best->first.empty() &&
         one.second.last < best->second.last);
    if (better) best = &one;
  }
  if (auto* known = stuck(x, tool, session))
    if (const auto i = x.places.find(*known); allows(x, i->first)) best = &*i;
  if (best == nullptr) return unexpected{unavailable(tool, x, now)};
  best->second.last = ++turn_;
  ++best->second.given;
  held_[call] = {best->first, tool, run, best->second.stay};
  of_run_[run].insert(call);
  if (x.rule.sticky) stick(tool, session, best->first);
  return best->first;
}

void placement::stick(const std::string& tool, const session_id& session,
                      const std::string& node) {
  stuck_[{session, tool}] = node;
  if (stuck_.size() > most_stuck) stuck_.erase(stuck_.begin());
}

void placement::remember(const std::string& tool, const session_id& session,
                         const std::string& node) {
  const auto x = tools_.find(tool);
  if (x != tools_.end() && x->second.rule.sticky &&
      !stuck_.contains({session, tool}))
    stick(tool, session, node);
}

bool placement::on_refused(const call_id& call, wall_time now) {
  const auto i = held_.find(call);
  if (i == held_.end()) return true;
  auto& x = tools_.at(i->second.tool);
  const auto at = x.places.find(i->second.node);
  if (at == x.places.end() || at->second.stay != i->second.stay) return true;
  at->second.rests_until = {now.us +
                            std::chrono::microseconds{refusal_rest}.count()};
  if (x.rule.sticky) return false;
  return std::ranges::any_of(x.places, [&](const auto& one) {
    return !one.second.away && one.second.rests_until.us <= now.us &&
           allows(x, one.first);
  });
}

void placement::release(const call_id& call) {
  const auto i = held_.extract(call);
  if (!i) return;
  const auto& held = i.mapped();
  if (const auto run = of_run_.find(held.run); run != of_run_.end()) {
    run->second.erase(call);
    if (run->second.empty()) of_run_.erase(run);
  }
  const auto x = tools_.find(held.tool);
  if (x == tools_.end()) return;
  const auto at = x->second.places.find(held.node);
  // A node that came back owes nothing for what it had before.
  if (at != x->second.places.end() && at->second.stay == held.stay)
    --at->second.given;
}

void placement::release_run(const run_id& run) {
  const auto i = of_run_.find(run);
  if (i == of_run_.end()) return;
  const auto calls = i->second;
  for (const auto& call : calls) release(call);
}

std::uint32_t placement::given(const std::string& node,
                               const std::string& tool) const {
  const auto x = tools_.find(tool);
  if (x == tools_.end()) return 0;
  const auto i = x->second.places.find(node);
  return i == x->second.places.end() ? 0 : i->second.given;
}

bool placement::has(const std::string& tool) const {
  const auto x = tools_.find(tool);
  return x != tools_.end() &&
         std::ranges::any_of(x->second.places, [&](const auto& one) {
           return !one.second.away && allows(x->second, one.first);
         });
}

error placement::problem(const std::string& tool, wall_time now) const {
  const auto x = tools_.find(tool);
  return unavailable(tool, x == tools_.end() ? of_tool{} : x->second, now);
}

error placement::unavailable(const std::string& tool, const of_tool& x,
                             wall_time now) const {
  std::string text;
  for (const auto& [node, how] : x.lost) {
    if (!allows(x, node)) continue;
    const auto ago =
        std::chrono::floor<std::chrono::seconds>(std::chrono::microseconds{
            std::max<std::int64_t>(now.us - how.when.us, 0)});
    text += (text.empty() ? "" : "; ") + node + " (" + how.why + " " +
            duration_text(ago) + " ago)";
  }
  for (const auto& [node, why] : x.unused)
    text += (text.empty() ? "" : "; ") + ("that of node " + node) +
            " is not used: " + why;
  const auto gone = std::ranges::any_of(
      x.lost, [&](const auto& y) { return allows(x, y.first); });
  const auto come = std::ranges::any_of(x.places, [&](const auto& y) {
    return !y.first.empty() && allows(x, y.first);
  });
  if (text.empty() && come)
    text = "its node joined after this run had begun; the next run uses it";
  else if (text.empty())
    text =
        std::ranges::all_of(x.places, [](auto& y) { return y.first.empty(); })
            ? "no node that has it has joined"
            : "tools." + tool + ".nodes allows none of the nodes that have it";
  else if (gone)
    text = "nodes that had it: " + text;
  return {errc::tool_unavailable, "placement",
          "no place for `" + tool + "`: " + text, true};
}

}  // namespace riffle::core
