// SPDX-License-Identifier: MIT
#include "runtime/cli/view/mcp_text.hpp"

#include <algorithm>

#include "messages/duration_text.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/config/assign.hpp"

namespace riffle::cli {

namespace {

std::string list_of(const std::vector<std::string>& all) {
  std::string out = "[";
  for (const auto& x : all)
    out += (out.size() > 1 ? ", " : "") + config::in_quotes(x);
  return out + "]";
}

std::string table_of(const std::string& object) {
  std::string out;
  const auto x = mcp::json::parse(object, nullptr, false);
  if (!x.is_object()) return "{}";
  for (const auto& [key, value] : x.items())
    if (value.is_string())
      out += (out.empty() ? "" : ", ") + config::in_quotes(key) + " = " +
             config::in_quotes(value.get<std::string>());
  return "{ " + out + " }";
}

bool names_table(std::string_view line, const std::string& name) {
  line = trimmed(line);
  while (line.starts_with('[')) line.remove_prefix(1);
  line = trimmed(line);
  for (const auto& head : {"mcp." + name, "mcp.\"" + name + "\""})
    if (line.starts_with(head) && line.size() > head.size() &&
        (line[head.size()] == ']' || line[head.size()] == '.'))
      return true;
  return false;
}

}  // namespace

std::string mcp_table(const std::string& name, const config::mcp_config& x) {
  std::string out = "[mcp." + name + "]\n";
  if (!x.command.empty()) out += "command = " + list_of(x.command) + "\n";
  if (!x.url.empty()) out += "url = " + config::in_quotes(x.url) + "\n";
  if (!x.agents.empty()) out += "agents = " + list_of(x.agents) + "\n";
  if (!x.env.empty()) out += "env = " + list_of(x.env) + "\n";
  if (x.variables.text != "{}")
    out += "variables = " + table_of(x.variables.text) + "\n";
  if (!x.cwd.empty()) out += "cwd = " + config::in_quotes(x.cwd) + "\n";
  if (x.headers.text != "{}")
    out += "headers = " + table_of(x.headers.text) + "\n";
  if (!x.token_env.empty())
    out += "token_env = " + config::in_quotes(x.token_env) + "\n";
  if (!x.client_id.empty())
    out += "client_id = " + config::in_quotes(x.client_id) + "\n";
  if (x.timeout > duration{})
    out += "timeout = " + config::in_quotes(duration_text(x.timeout)) + "\n";
  if (x.trust != "none") out += "trust = " + config::in_quotes(x.trust) + "\n";
  return out;
}

/// Comments right in front of a table belong to that one.
std::optional<std::string> without_mcp_table(const std::string& text,
                                             const std::string& name) {
  std::string out;
  std::string comments;  // behind what is taken out
  bool found = false;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line{text.data() + at, end - at};
    const auto plain = trimmed(line);
    at = end;
    if (plain.starts_with('[') && plain.find(']') != plain.npos &&
        plain.find("[\"") == plain.npos) {
      inside = names_table(plain, name);
      if (!inside) out += comments;
      comments.clear();
    }
    found = found || inside;
    if (!inside)
      out += line;
    else if (plain.starts_with('#'))
      comments += line;
    else
      comments.clear();
  }
  if (!found) return std::nullopt;
  return out;
}

std::string prompt_text(const server_prompt& x, std::size_t columns) {
  constexpr std::size_t longest = 200;
  auto out = "/" + safe_line(x.name, longest);
  for (const auto& one : x.arguments) {
    const auto name = safe_line(one.name, longest);
    out += one.required ? " " + name : " [" + name + "]";
  }
  if (!x.about.empty()) out += "  " + safe_line(x.about, longest);
  return "  " + fit(out, columns > 4 ? columns - 3 : 1) + "\n";
}

std::string mcp_line(const mcp::server_view& x) {
  std::string out = x.name;
  out.resize(std::max<std::size_t>(out.size() + 1, 16), ' ');
  auto state = safe_line(x.state, 40);
  state.resize(std::max<std::size_t>(state.size() + 1, 15), ' ');
  out += state;
  if (x.tools) {
    out += safe_line(x.era + " " + x.version, 40) + "  " +
           std::to_string(*x.tools) + " tools";
    if (!x.server.empty())
      out += "  " + safe_line(x.server, 60) + " " +
             safe_line(x.server_version, 40);
  }
  if (!x.tokens.empty()) out += "  tokens: " + x.tokens;
  out += x.seen.approved ? "  approved" : "  not approved";
  if (x.seen.held > 0)
    out += ", " + counted(x.seen.held, "tool") +
           (x.seen.approved ? " changed since" : " not used");
  if (x.seen.other_advice) out += ", what it says of its use changed since";
  if (x.restarts > 0) out += "  " + counted(x.restarts, "restart");
  if (x.process != 0) out += "  in process " + std::to_string(x.process);
  if (!x.last_error.empty()) out += "\n  ✗ " + safe_line(x.last_error, 400);
  return out + "\n";
}

}  // namespace riffle::cli
