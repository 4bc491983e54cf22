// SPDX-License-Identifier: MIT
#include "runtime/config/trust.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/base/digest.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/document.hpp"
#include "runtime/config/reader.hpp"

namespace riffle::config {

namespace {

constexpr double any = std::numeric_limits<double>::infinity();

/// Limits may be lowered below the default, never raised or taken away: what
/// more steps or requests cost is the person's money.
std::vector<harmless_key> make_harmless() {
  const agent_config usual;
  return {
      {"agents.*.max_steps", 1, static_cast<double>(usual.max_steps)},
      {"agents.*.max_calls_in_flight", 1,
       static_cast<double>(usual.max_calls_in_flight)},
      {"agents.*.max_calls_per_turn", 1,
       static_cast<double>(usual.max_calls_per_turn)},
      {"agents.*.loop_limit", 1, static_cast<double>(usual.loop_limit)},
      // Without a limit by default, so any limit is a lower one.
      {"agents.*.budget.tool_calls", 0, any},
      {"agents.*.budget.tokens", 0, any},
      {"agents.*.budget.cost_usd", 0, any},
      // How often what happens is written down; nothing is left out by it.
      {"publish.batching"},
  };
}

/// "agents.*.max_steps" and "agents.writer.max_steps", part by part.
bool matches(std::string_view pattern, const std::vector<std::string>& path) {
  for (std::size_t i = 0; i < path.size(); ++i) {
    const auto end = pattern.find('.');
    const auto part = pattern.substr(0, end);
    if (part != "*" && part != path[i]) return false;
    const bool last = end == std::string_view::npos;
    if (last) return i + 1 == path.size();
    pattern.remove_prefix(end + 1);
  }
  return false;
}

bool is_within(const harmless_key& x, const value& v) {
  const double number =
      v.type == kind::integer ? static_cast<double>(v.integer) : v.real;
  switch (v.type) {
    case kind::integer:
    case kind::real: return number >= x.least && number <= x.most;
    default: return x.most == 0;
  }
}

bool is_harmless(const std::vector<std::string>& path, const value& v) {
  return std::ranges::any_of(harmless_keys(), [&](const harmless_key& x) {
    return matches(x.pattern, path) && is_within(x, v);
  });
}

/// As TOML. The bounds of a document bound the recursion.
std::string text_of(const value& x) {
  switch (x.type) {
    case kind::boolean: return x.flag ? "true" : "false";
    case kind::integer: return std::to_string(x.integer);
    case kind::real: return number_text(x.real);
    case kind::text: return in_quotes(x.text);
    case kind::time: return x.text;
    case kind::list:
    case kind::table: break;
  }
  const bool table = x.type == kind::table;
  std::string out = table ? "{ " : "[";
  for (const auto& item : x.items) {
    if (&item != &x.items.front()) out += ", ";
    if (table) out += in_quotes(item.key) + " = ";
    out += text_of(item);
  }
  return out += table ? " }" : "]";
}

/// An empty table that is there without the file, too. Others name a server, a
/// tool, a client's token.
bool sets_nothing(const std::vector<std::string>& path) {
  static const auto usual = settings(config{});
  if (path.front() == "agents") return true;
  std::string name;
  for (const auto& part : path) name += (name.empty() ? "" : ".") + part;
  return std::ranges::any_of(usual, [&](const setting& x) {
    return x.section == name || x.section.starts_with(name + ".");
  });
}

void add_keys(const value& x, std::vector<std::string>& path,
              std::vector<set_key>& out) {
  for (const auto& item : x.items) {
    path.push_back(item.key);
    const bool inner = item.type == kind::table && !item.items.empty();
    if (inner) {
      add_keys(item, path, out);
    } else if (item.type == kind::table ? !sets_nothing(path)
                                        : !is_harmless(path, item)) {
      std::string name;
      for (const auto& part : path)
        name += (name.empty() ? "" : ".") + key_text(part);
      out.push_back({std::move(name), text_of(item), item.key_at.line});
    }
    path.pop_back();
  }
}

}  // namespace

std::span<const harmless_key> harmless_keys() {
  static const auto all = make_harmless();
  return all;
}

std::vector<set_key> keys_that_need_trust(const std::string& text) {
  std::vector<set_key> out;
  std::vector<std::string> path;
  if (const auto document = parse_toml(text, {}))
    add_keys(*document, path, out);
  std::ranges::stable_sort(out, {}, &set_key::line);
  return out;
}

expected<trust_state> judge_trust(const source& from) {
  trust_state out;
  out.trusted = true;
  if (!from.found_in_folder) return out;
  out.file = trust_name(from.file);
  out.text = from.text;
  out.keys = keys_that_need_trust(from.text);
  if (auto own = find_own_source({})) out.displaces = std::move(own->file);
  // Of what is no TOML its mistake would be told.
  const bool is_read = parse_toml(from.text, {}).has_value();
  if (is_read && out.keys.empty() && out.displaces.empty()) return out;
  out.trusted = false;
  auto store = trust_store::of_user();
  if (!store) return out;  // nothing can be kept, so nothing is trusted
  auto kept = store->find(out.file);
  if (!kept) return unexpected{std::move(kept.error())};
  out.before = std::move(*kept);
  out.trusted = out.before && out.before->digest == sha256(from.text);
  return out;
}

std::string trust_problem(const trust_state& x) {
  constexpr std::size_t most = 12;
  std::string out = "is not trusted";
  if (x.before) out += " any more: it was changed";
  for (std::size_t i = 0; i < std::min(most, x.keys.size()); ++i)
    out += (i == 0 ? "; it sets " : ", ") + x.keys[i].key;
  if (x.keys.size() > most)
    out += " and " + std::to_string(x.keys.size() - most) + " more";
  if (!x.displaces.empty())
    out += "; it takes the place of " + x.displaces.string();
  return out +
         ". If you know who wrote it, look at it and trust it with 'riffle "
         "config trust'; --config " +
         (x.displaces.empty() ? "FILE takes another one"
                              : x.displaces.string() + " goes on with yours");
}

}  // namespace riffle::config
