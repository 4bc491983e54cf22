// SPDX-License-Identifier: MIT
// What a person looks at before a server's tools count. Nothing is cut: what
// is not seen here would be approved unseen.
#include <algorithm>
#include <limits>

#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/config/assign.hpp"

namespace riffle::cli {

namespace {

using lines = std::vector<std::string>;

lines split(const std::string& text) {
  lines out;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

void add_line(std::string& out, char mark, const std::string& text) {
  constexpr auto whole = std::numeric_limits<std::size_t>::max();
  out += std::string{"    "} + mark + " " + safe_line(exact_text(text), whole) +
         "\n";
}

/// What stands between the lines with which both begin and end.
void add_difference(std::string& out, const std::string& before,
                    const std::string& now) {
  const auto old = split(before);
  const auto fresh = split(now);
  const auto [a, b] = std::ranges::mismatch(old, fresh);
  auto old_end = old.end();
  auto fresh_end = fresh.end();
  while (old_end != a && fresh_end != b &&
         *std::prev(old_end) == *std::prev(fresh_end)) {
    --old_end;
    --fresh_end;
  }
  for (auto i = a; i != old_end; ++i) add_line(out, '-', *i);
  for (auto i = b; i != fresh_end; ++i) add_line(out, '+', *i);
}

std::string head_of(char mark, const std::string& name,
                    const std::string& effect) {
  return std::string{mark} + " " + safe_line(exact_text(name), 200) +
         (effect.empty() ? "" : "  " + effect) + "\n";
}

/// The argument that makes a call of it a look; empty: it has none.
std::string dry_argument(const mcp::tool_def& tool) {
  const auto schema = mcp::json::parse(tool.input_schema, nullptr, false);
  if (!schema.is_object()) return {};
  const auto properties = schema.value("properties", mcp::json::object());
  for (const auto* name : {"dryRun", "dry_run"}) {
    const auto found = properties.find(name);
    if (found == properties.end() || !found->is_object()) continue;
    if (found->value("type", mcp::json()) == "boolean") return name;
  }
  return {};
}

std::string as_key(const std::string& name) {
  const bool plain = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
  return plain ? name : config::in_quotes(name);
}

}  // namespace

std::string mcp_preview_hint(const std::string& server,
                             const config::mcp_config& x,
                             const std::vector<mcp::tool_def>& tools) {
  constexpr std::size_t most = 5;
  std::string tables;
  std::size_t count = 0;
  for (const auto& tool : tools) {
    const auto argument = dry_argument(tool);
    const auto own = x.tools.find(tool.name);
    const bool known = own != x.tools.end() && own->second.preview.text != "{}";
    if (argument.empty() || known || ++count > most) continue;
    tables += "    [mcp." + server + ".tools." + as_key(tool.name) +
              "]\n    preview = { " + argument + " = true }\n";
  }
  if (tables.empty()) return {};
  return "with this in the configuration you see what a call would do before "
         "you approve it:\n" +
         tables;
}

std::string mcp_difference_text(const mcp::change& x) {
  std::string out;
  add_difference(out, x.before.shown, mcp::shown_text(x.now));
  return out;
}

std::string mcp_changes_text(
    const std::vector<mcp::change>& all,
    const std::function<std::string(const mcp::tool_def&)>& effect) {
  std::string out;
  for (const auto& x : all) {
    if (x.kind == mcp::change::what::removed) {
      out += head_of('-', x.tool, {});
      continue;
    }
    const bool added = x.kind == mcp::change::what::added;
    out += head_of(added ? '+' : '~', x.tool, effect(x.now));
    add_difference(out, added ? std::string{} : x.before.shown,
                   mcp::shown_text(x.now));
  }
  return out;
}

std::string mcp_whole_text(
    const std::vector<mcp::tool_def>& all,
    const std::vector<mcp::change>& changed,
    const std::function<std::string(const mcp::tool_def&)>& effect) {
  std::string out;
  for (const auto& tool : all) {
    const auto found =
        std::ranges::find(changed, tool.name, &mcp::change::tool);
    if (found != changed.end() && found->kind == mcp::change::what::added)
      continue;
    if (out.empty()) out = "the others as they are now:\n";
    out += head_of(' ', tool.name, effect(tool));
    for (const auto& line : split(mcp::shown_text(tool)))
      add_line(out, ' ', line);
  }
  return out;
}

std::string mcp_instructions_text(const std::string& before,
                                  const std::string& now) {
  if (before == now) return {};
  std::string out = "what it says of its use, which models are told:\n";
  add_difference(out, before, now);
  return out;
}

std::string mcp_late_text(
    const std::map<std::string, mcp::approved_tool>& tools,
    const std::map<std::string, mcp::approved_tool>& approved) {
  std::string out;
  for (const auto& [name, tool] : tools) {
    const auto before = approved.find(name);
    const bool added = before == approved.end();
    out += (added ? "+ " : "~ ") + safe_line(exact_text(name), 200) +
           "  (it came while the server ran)\n";
    add_difference(out, added ? std::string{} : before->second.shown,
                   tool.shown);
  }
  return out;
}

}  // namespace riffle::cli
