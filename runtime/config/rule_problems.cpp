// SPDX-License-Identifier: MIT
#include "runtime/config/rule_problems.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include "runtime/base/text.hpp"
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

/// What other programs understand in a pattern; empty: nothing like it.
std::string_view foreign_part(std::string_view pattern) {
  const auto holds_pair = [&](char open, char close) {
    const auto begin = pattern.find(open);
    return begin != npos && pattern.find(close, begin) != npos;
  };
  if (pattern.starts_with('!')) return "!";
  if (pattern.starts_with('^')) return "^";
  if (holds_pair('[', ']')) return "[ ]";
  return holds_pair('{', '}') ? "{ }" : "";
}

std::string letters_text(std::string_view part) {
  return "matches " + in_quotes(part) +
         " as it stands: only * and ? mean something; write a rule for each "
         "name";
}

bool is_there(const std::string& workspace, std::string_view path) {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path{workspace} / path,
                                 ignored);
}

/// Of a rule that denies or asks: what it lets through.
std::string odd_path(std::string_view pattern, const std::string& workspace) {
  constexpr std::string_view deep = "**/";
  if (pattern.starts_with(deep))
    return "does not match in the workspace's own folder; add a rule " +
           in_quotes(pattern.substr(deep.size()));
  if (const auto at = pattern.find("/**/"); at != npos)
    return "does not match " +
           in_quotes(std::string{pattern.substr(0, at)} +
                     std::string{pattern.substr(at + 3)}) +
           "; add a rule for it";
  if (const auto part = foreign_part(pattern);
      !part.empty() && !is_there(workspace, pattern))
    return letters_text(part);
  std::error_code ignored;
  if (holds_any(pattern, "*?") ||
      !std::filesystem::is_directory(std::filesystem::path{workspace} / pattern,
                                     ignored))
    return {};
  return "matches the folder alone; for what is in it write " +
         in_quotes(std::string{pattern} + "/*");
}

/// A rule of `glob` or `grep` that denies or asks.
std::string odd_search(std::string_view pattern) {
  if (pattern.find_first_not_of('*') == npos) return {};
  return "sees only the folder where a search begins (\".\" if none is named); "
         "to keep files out of searches deny them to read: tools.read.rules";
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

/// The commands of a line, as far as its operators tell.
std::vector<std::string> commands_in(std::string_view line) {
  std::vector<std::string> out{""};
  bool quoted = false;
  for (const char c : line) {
    if (c == '\'') quoted = !quoted;
    if (!quoted && holds_any(";&|\n\r", {&c, 1}))
      out.emplace_back();
    else
      out.back() += c;
  }
  for (auto& x : out) x = std::string{trimmed(x)};
  std::erase(out, "");
  return out;
}

std::string several_commands(std::string_view pattern) {
  std::string out =
      "an \"allow\" never covers a line of several commands; each of them "
      "alone: ";
  for (const auto& x : commands_in(pattern))
    out += (out.ends_with(' ') ? "" : ", ") + in_quotes(x);
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
  if (allows && at != npos && holds_any(bare, ";&|\n\r") &&
      !holds_any(bare, "<>()`{}") && !holds_any(bare, never_plain))
    return several_commands(pattern);
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

std::string odd_command(std::string_view pattern) {
  if (!pattern.starts_with('^')) return {};
  return "matches \"^\" as it stands: patterns are no regular expressions, and "
         "begin where the command does";
}

bool is_scheme(std::string_view pattern, std::size_t end) {
  if (end == npos)
    return pattern.starts_with("http") && holds_any(pattern, "*?");
  const auto scheme = pattern.substr(0, end);
  return holds_any(scheme, "*?") || scheme == "http" || scheme == "https";
}

/// Of a scheme that is written out and is another than rules see.
std::string scheme_problem(std::string_view pattern, std::size_t end) {
  if (end == npos || holds_any(pattern.substr(0, end), "*?")) return {};
  const auto scheme = lower(pattern.substr(0, end));
  if (scheme != "http" && scheme != "https")
    return "fetch takes http and https only";
  if (scheme == pattern.substr(0, end)) return {};
  const auto rest = pattern.substr(end + 3);
  const auto host = rest.substr(0, rest.find('/'));
  return "rules see scheme and host in small letters; write " +
         in_quotes(scheme + "://" + lower(host) +
                   std::string{rest.substr(host.size())});
}

/// A pattern of which a part stands for any host, with more than that.
std::string odd_url(std::string_view pattern, bool allows) {
  const auto end = pattern.find("://");
  const bool open = end == npos && pattern.starts_with('*');
  const auto rest = pattern.substr(
      open          ? std::min(pattern.find_first_not_of('*'), pattern.size())
      : end == npos ? 0
                    : end + 3);
  const auto host = rest.substr(0, rest.find('/'));
  const bool has_name = host.find_first_not_of("*?") != npos;
  if (open && host.size() == rest.size() && !holds_any(rest, "*?") &&
      rest.find('.') != npos)
    return "matches no host, for a \"/\" stands behind each, but what a path "
           "ends with; write " +
           in_quotes("https://*" + std::string{rest} + "/*");
  if (!allows || !has_name || (!open && !host.starts_with('*'))) return {};
  auto name = host;
  while (holds_any(name.substr(0, 1), "*?.")) name.remove_prefix(1);
  return "allows other hosts, too, such as " +
         in_quotes("https://evil.test/x." + std::string{name} + "/") +
         ", for * stands for \"/\" as well; name each host";
}

/// See `url_spelling` (tools/builtin/web/url.hpp).
std::string url_problem(std::string_view pattern) {
  if (pattern.starts_with('*') || pattern.starts_with('?')) return {};
  const auto end = pattern.find("://");
  if (const auto other = scheme_problem(pattern, end); !other.empty())
    return other;
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

bool sees_places(const std::string& tool) {
  return std::ranges::find(tools_of_places, tool) != tools_of_places.end();
}

}  // namespace

std::string never_matches(const approval_rule& rule, const std::string& tool,
                          const tool_config& of) {
  if (!of.type.empty()) return json_problem(rule.match);
  if (sees_places(tool)) return path_problem(rule.match, of.workspace);
  if (tool == "bash")
    return command_problem(rule.match, rule.approval == "allow");
  return tool == "fetch" ? url_problem(rule.match) : std::string{};
}

std::string odd_about(const approval_rule& rule, const std::string& tool,
                      const tool_config& of) {
  const bool allows = rule.approval == "allow";
  if (!of.type.empty()) return {};
  if (tool == "fetch") return odd_url(rule.match, allows);
  if (tool == "bash") return odd_command(rule.match);
  if (allows || !sees_places(tool)) return {};
  return tool == "glob" || tool == "grep" ? odd_search(rule.match)
                                          : odd_path(rule.match, of.workspace);
}

}  // namespace riffle::config
