// SPDX-License-Identifier: MIT
#include "runtime/config/rule_warnings.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include "actors/core/control_tools.hpp"
#include "runtime/config/assign.hpp"

namespace riffle::config {

namespace {

constexpr auto npos = std::string_view::npos;
constexpr std::array<std::string_view, 5> tools_of_places{
    "read", "write", "edit", "glob", "grep"};

bool holds_any(std::string_view text, std::string_view set) {
  return text.find_first_of(set) != npos;
}

bool has_part(std::string_view path, std::string_view part) {
  for (;;) {
    const auto end = path.find('/');
    if (path.substr(0, end) == part) return true;
    if (end == npos) return false;
    path.remove_prefix(end + 1);
  }
}

std::string absolute_problem(std::string_view pattern,
                             const std::string& workspace) {
  std::error_code ignored;
  auto prefix =
      std::filesystem::absolute(workspace, ignored).lexically_normal().string();
  while (prefix.ends_with('/')) prefix.pop_back();
  prefix += '/';
  const std::string said = "rules see paths relative to the workspace";
  if (pattern.starts_with(prefix))
    return said + "; write " + in_quotes(pattern.substr(prefix.size()));
  return said + ", and no tool for files leaves it";
}

/// Rules see places: tools/builtin/files/place.hpp.
std::string path_problem(std::string_view pattern,
                         const std::string& workspace) {
  if (pattern.starts_with('/')) return absolute_problem(pattern, workspace);
  if (pattern.starts_with("~/"))
    return "~ means nothing in paths; rules see them relative to the workspace";
  if (has_part(pattern, ".") || has_part(pattern, ".."))
    return "rules see paths without \".\" and \"..\"; leave them out";
  if (pattern.starts_with('{') && pattern.find("\":") != npos)
    return "rules of this tool see a path, not arguments as JSON";
  if (pattern.ends_with('/'))
    return "no path ends with \"/\"; for all that is in the folder write " +
           in_quotes(std::string{pattern} + "*");
  if (pattern.find("//") != npos) return "no path holds \"//\"";
  return {};
}

/// What is quoted counts as one letter.
std::string outside_quotes(std::string_view pattern) {
  std::string out;
  bool quoted = false;
  for (const char c : pattern) {
    if (c == '\'' && (quoted = !quoted))
      out += 'q';  // stands for the quoted word
    else if (c != '\'' && !quoted)
      out += c;
  }
  return out;
}

/// See actors/core/plain_command.hpp.
std::string command_problem(std::string_view pattern, bool allows) {
  const auto bare = outside_quotes(pattern);
  constexpr std::string_view borders = ";&|<>()`{}\n\r";
  constexpr std::string_view never_plain = "$\\[]~!#\"";
  const auto at = bare.find_first_of(borders);
  const auto first = bare.substr(0, bare.find_first_of(" *?"));
  if (allows && first.find('=') != npos)
    return "an \"allow\" matches plain commands only, which have no assignment "
           "in front";
  if (allows && (at != npos || holds_any(bare, never_plain)))
    return "an \"allow\" matches plain commands only, which hold no operators "
           "and nothing that a shell replaces";
  if (at != npos)
    return "rules see the commands on both sides of " +
           in_quotes(bare.substr(at, 1)) +
           " one by one; write a pattern for each";
  if (pattern.starts_with(' ') || pattern.ends_with(' ') ||
      bare.find("  ") != npos)
    return "rules see one blank between words, and none around them";
  return {};
}

bool is_scheme(std::string_view pattern, std::size_t end) {
  if (end == npos)
    return pattern.starts_with("http") && holds_any(pattern, "*?");
  const auto scheme = pattern.substr(0, end);
  return holds_any(scheme, "*?") || scheme == "http" || scheme == "https";
}

/// See `url_spelling` (tools/builtin/web/url.hpp).
std::string url_problem(std::string_view pattern) {
  if (pattern.starts_with('*') || pattern.starts_with('?')) return {};
  const auto end = pattern.find("://");
  if (!is_scheme(pattern, end))
    return "URLs begin with http:// or https://; write " +
           in_quotes("https://" + std::string{pattern}) + ", or begin with *";
  if (end == npos) return {};
  const auto scheme = pattern.substr(0, end);
  const auto rest = pattern.substr(end + 3);
  const auto host = rest.substr(0, rest.find('/'));
  if (host.size() == rest.size() && !holds_any(host, "*?"))
    return "a URL has at least a \"/\" behind its host; write " +
           in_quotes(std::string{pattern} + "/*");
  if (host.find('@') != npos) return "no URL with a user name is fetched";
  if (std::ranges::any_of(host, [](char c) { return c >= 'A' && c <= 'Z'; }))
    return "rules see hosts in lower case";
  if ((scheme == "https" && host.ends_with(":443")) ||
      (scheme == "http" && host.ends_with(":80")))
    return "rules see no port that is the scheme's own; leave it out";
  if (rest.find('#') != npos)
    return "rules see URLs without what stands behind \"#\"";
  const auto path = rest.substr(host.size());
  if (has_part(path, ".") || has_part(path, ".."))
    return "rules see URLs without \".\" and \"..\"; leave them out";
  return {};
}

std::string json_problem(std::string_view pattern) {
  constexpr std::string_view first = "*?{";
  constexpr std::string_view last = "*?}";
  if (first.find(pattern.front()) != npos && last.find(pattern.back()) != npos)
    return {};
  return "rules of this tool see its arguments, a JSON object such as "
         "{\"id\":\"7\"}; begin and end with * where you do not write all of "
         "it";
}

std::string problem_of(const approval_rule& rule, const std::string& name,
                       const tool_config& tool) {
  if (!tool.type.empty()) return json_problem(rule.match);
  if (std::ranges::find(tools_of_places, name) != tools_of_places.end())
    return path_problem(rule.match, tool.workspace);
  if (name == "bash")
    return command_problem(rule.match, rule.approval == "allow");
  if (name == "fetch") return url_problem(rule.match);
  return {};
}

class finder {
 public:
  explicit finder(const config& x) : x_{x} {}

  std::vector<std::string> run() {
    find_covered("tools.rules", x_.tools.defaults.rules);
    for (const auto& [name, tool] : x_.tools.by_name) look(name, tool);
    for (const auto& [name, agent] : x_.agents) look(name, agent);
    return std::move(out_);
  }

 private:
  void look(const std::string& name, const tool_config& tool) {
    const auto table = "tools." + name;
    const bool own_rules = tool.rules != x_.tools.defaults.rules;
    if (core::is_control_tool(name)) {
      const std::string why =
          "this tool acts on the run only, nobody is asked about it";
      if (own_rules) add(table + ".rules", why);
      if (tool.approval != tool_config{}.approval)
        add(table + ".approval", why);
      return;
    }
    if (!own_rules) return;
    for (std::size_t i = 0; i < tool.rules.size(); ++i) {
      const auto& rule = tool.rules[i];
      const auto problem = problem_of(rule, name, tool);
      if (problem.empty()) continue;
      add(table + ".rules", item(i) + ": " + in_quotes(rule.match) +
                                " can never match: " + problem);
    }
    find_covered(table + ".rules", tool.rules);
  }

  /// An agent of which `complete` is never asked, though it says so.
  void look(const std::string& name, const agent_config& agent) {
    const auto has = [](const auto& all, const auto& what) {
      return std::ranges::find(all, what) != all.end();
    };
    const bool schema = agent.response_schema.text != "{}";
    if (agent.completion != "tool" || schema ||
        !has(agent.exempt_phases, agent.phase) || has(agent.tools, "set_phase"))
      return;
    add("agents." + name + ".completion",
        "\"tool\" has no effect: sessions begin in the phase " +
            in_quotes(agent.phase) +
            ", which is one of exempt_phases, and stay there unless `riffle "
            "run --phase` moves them; set phase = \"work\", or take " +
            in_quotes(agent.phase) + " out of exempt_phases");
  }

  void find_covered(const std::string& key,
                    const std::vector<approval_rule>& rules) {
    for (std::size_t i = 1; i < rules.size(); ++i) {
      for (std::size_t before = 0; before < i; ++before) {
        if (!pattern_covers(rules[before].match, rules[i].match)) continue;
        add(key, item(i) + ": " + in_quotes(rules[i].match) +
                     " decides nothing: the first that matches does, and " +
                     item(before) + ", " + in_quotes(rules[before].match) +
                     ", matches all of it");
        break;
      }
    }
  }

  static std::string item(std::size_t i) {
    return "item " + std::to_string(i + 1);
  }

  void add(const std::string& key, const std::string& text) {
    const auto origin = x_.origins.find(key);
    out_.push_back((origin == x_.origins.end() ? "" : origin->second + ": ") +
                   key + ": " + text);
  }

  const config& x_;
  std::vector<std::string> out_;
};

}  // namespace

bool pattern_covers(std::string_view earlier, std::string_view pattern) {
  // covered[j]: the rest of `earlier` covers the rest of `pattern` from j.
  std::vector<bool> covered(pattern.size() + 1, false);
  covered[pattern.size()] = true;
  for (auto i = earlier.size(); i-- > 0;) {
    std::vector<bool> here(pattern.size() + 1, false);
    for (auto j = pattern.size() + 1; j-- > 0;) {
      const bool more = j < pattern.size();
      if (earlier[i] == '*')
        here[j] = covered[j] || (more && here[j + 1]);
      else if (earlier[i] == '?')
        here[j] = more && pattern[j] != '*' && covered[j + 1];
      else
        here[j] = more && pattern[j] == earlier[i] && covered[j + 1];
    }
    covered = std::move(here);
  }
  return covered[0];
}

std::vector<std::string> rule_warnings(const config& x) {
  return finder{x}.run();
}

}  // namespace riffle::config
