// SPDX-License-Identifier: MIT
#include "runtime/config/mcp_checks.hpp"

#include <algorithm>

#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/model_checks.hpp"

namespace riffle::config {

namespace {

constexpr std::size_t longest_server = 32;

using reporter = std::function<void(const std::string&, const std::string&)>;

void check_connection(const mcp_config& x, const reporter& report) {
  const bool runs = !x.command.empty();
  if (runs && !x.url.empty())
    return report("url", "give either command or url");
  if (!runs && x.url.empty())
    return report("command",
                  "is missing: the program and its arguments, such as "
                  "[\"npx\", \"-y\", \"…\"], or url instead");
  if (runs && x.command.front().empty())
    report("command", "the first text is the program and cannot be empty");
  if (runs) {
    if (x.headers.text != "{}") report("headers", "only a url has headers");
    if (!x.token_env.empty()) report("token_env", "only a url has a token");
    if (!x.client_id.empty()) report("client_id", "only a url has logins");
    if (!x.client_secret_env.empty())
      report("client_secret_env", "only a url has logins");
    return;
  }
  if (x.client_id.empty() && !x.client_secret_env.empty())
    report("client_secret_env", "is the secret of a client_id, give that, too");
  if (!x.env.empty()) report("env", "only a command sees variables");
  if (x.variables.text != "{}")
    report("variables", "only a command sees variables");
  if (!x.cwd.empty()) report("cwd", "only a command runs in a folder");
}

/// "token" of "http://h/?token=s3cret"; empty: none is a secret.
std::string secret_of_query(std::string_view url) {
  const auto begin = url.find('?');
  if (begin == url.npos) return {};
  auto rest = url.substr(begin + 1);
  rest = rest.substr(0, rest.find('#'));
  while (!rest.empty()) {
    const auto one = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
    const auto name = one.substr(0, one.find('='));
    if (names_secret(name) && name.size() + 1 < one.size())
      return std::string{name};
  }
  return {};
}

void check_secrets(const mcp_config& x, const reporter& report) {
  constexpr auto instead =
      "name its variable in token_env, or in headers as \"${NAME}\"";
  if (holds_user(x.url))
    report("url",
           std::string{"keys never stand in files, nor what stands before "
                       "\"@\": "} +
               instead);
  if (const auto name = secret_of_query(x.url); !name.empty())
    report("url", "keys never stand in files, and it has " + in_quotes(name) +
                      ": " + instead);
}

void check_keys(const config& x, const mcp_config& server,
                const reporter& report) {
  for (const auto& [model, m] : x.models)
    for (const auto& key : key_variables(m))
      if (std::ranges::find(server.env, key) != server.env.end())
        report("env", in_quotes(key) + " is the key of models." + model +
                          ", which no tool gets; give the server a key of "
                          "its own in another variable");
}

}  // namespace

void check_mcp(const config& x,
               const std::function<void(const std::vector<std::string>& key,
                                        const std::string& message)>& report) {
  for (const auto& [name, server] : x.mcp) {
    const reporter mine = [&, name = name](const std::string& key,
                                           const std::string& message) {
      if (key.empty())
        report({"mcp", name}, message);
      else
        report({"mcp", name, key}, message);
    };
    if (name.size() > longest_server || name.find("__") != name.npos)
      mine("", "the name of a server has at most 32 letters and no \"__\"");
    check_connection(server, mine);
    check_secrets(server, mine);
    check_keys(x, server, mine);
    for (const auto& agent : server.agents)
      if (!x.agents.contains(agent))
        mine("agents", "there is no agent " + in_quotes(agent));
  }
}

std::optional<std::string> server_of(const config& x, const std::string& tool) {
  constexpr std::string_view prefix = "mcp:";
  const auto name = tool.starts_with(prefix) ? tool.substr(prefix.size())
                                             : tool.substr(0, tool.find("__"));
  if (name.size() == tool.size() || !x.mcp.contains(name)) return {};
  return name;
}

}  // namespace riffle::config
