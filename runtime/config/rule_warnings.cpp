// SPDX-License-Identifier: MIT
#include "runtime/config/rule_warnings.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "actors/core/control_tools.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/mcp_checks.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/reader.hpp"
#include "runtime/config/rule_problems.hpp"

namespace riffle::config {

namespace {

/// Where a server's table names a variable that holds a secret.
std::string key_of(const mcp_config& x, const std::string& variable) {
  const std::pair<const char*, const std::string*> all[] = {
      {".token_env", &x.token_env},
      {".client_secret_env", &x.client_secret_env},
      {".auth.private_key_env", &x.auth.private_key_env},
      {".auth.token_env", &x.auth.token_env},
      {".auth.idp_client_secret_env", &x.auth.idp_client_secret_env}};
  for (const auto& [key, value] : all)
    if (*value == variable) return key;
  return ".headers";
}

bool is_unset(const std::string& variable) {
  const char* value = std::getenv(variable.c_str());
  return value == nullptr || *value == '\0';
}

class finder {
 public:
  explicit finder(const config& x) : x_{x} {}

  std::vector<std::string> run() {
    find_covered("tools.rules", x_.tools.defaults.rules);
    for (const auto& [name, tool] : x_.tools.by_name) look(name, tool);
    for (const auto& [name, agent] : x_.agents) look(name, agent);
    for (const auto& [name, server] : x_.mcp) look(name, server);
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
      const auto told = item(i) + ": " + in_quotes(rule.match);
      if (const auto why = never_matches(rule, name, tool); !why.empty())
        add(table + ".rules", told + " can never match: " + why);
      else if (const auto odd = odd_about(rule, name, tool); !odd.empty())
        add(table + ".rules", told + " " + odd);
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

  /// A value may be what it is named after, or not: it is no mistake. Nor is a
  /// variable that this shell does not have.
  void look(const std::string& name, const mcp_config& server) {
    const auto table = "mcp." + name;
    if (const auto other = name.substr(0, name.size() - 1);
        name.ends_with('_') && x_.mcp.contains(other))
      add(table, "with the server " + in_quotes(other) +
                     " beside it, names of tools of the two look alike: give "
                     "it another name");
    const bool login = server.auth.grant == "login";
    for (const auto& variable : key_variables(server))
      if (is_unset(variable) &&
          !(login && variable == server.client_secret_env))
        add(table + key_of(server, variable),
            "the variable " + variable +
                " is not set here: without it the server is out of service");
    for (const auto& variable : server.env)
      if (is_unset(variable))
        add(table + ".env", "the variable " + variable +
                                " is not set here, so the server does not "
                                "see it");
    for (const auto& [variable, text] : texts_of(server.variables.text))
      if (variable_holds_secret(variable) && !text.empty())
        add("mcp." + name + ".variables",
            key_text(variable) +
                " looks like a key, and keys never stand in files: set it as "
                "an environment variable, and name it in env");
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
