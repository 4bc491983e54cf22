// SPDX-License-Identifier: MIT
#include "runtime/config/mcp_checks.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/mcp_auth_checks.hpp"
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
    if (x.auth != mcp_auth_config{}) report("auth", "only a url has tokens");
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

/// Headers that the protocol gives a meaning.
bool is_of_transport(std::string_view lowered) {
  constexpr std::array names{"host",          "accept", "content-type",
                             "last-event-id", "origin", "accept-encoding"};
  return lowered.starts_with("mcp-") ||
         std::ranges::find(names, lowered) != names.end();
}

void check_headers(const mcp_config& x, const reporter& report) {
  std::set<std::string> seen;
  for (const auto& [name, text] : texts_of(x.headers.text)) {
    const auto told = in_quotes(name) + " ";
    if (const auto wrong = mistake_in_mcp_header(name, text); !wrong.empty())
      report("headers", told + wrong);
    else if (!seen.insert(lower(name)).second)
      report("headers", told + "stands twice");
    else if (lower(name) == "authorization" && !x.token_env.empty())
      report("headers", told + "is what token_env gives: take out one of them");
  }
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
    check_headers(server, mine);
    check_keys(x, server, mine);
    check_mcp_auth(server, [&, name = name](const std::string& key,
                                            const std::string& message) {
      report({"mcp", name, "auth", key}, message);
    });
    for (const auto& agent : server.agents)
      if (!x.agents.contains(agent))
        mine("agents", "there is no agent " + in_quotes(agent));
  }
}

std::string mistake_in_mcp_name(const std::string& name) {
  const bool fits = std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
  if (fits && !name.empty() && name.size() <= longest_server &&
      name.find("__") == name.npos)
    return {};
  return "the name of a server has letters, digits, - and _, at most 32 of "
         "them, and no \"__\"";
}

std::string mistake_in_mcp_header(const std::string& name,
                                  const std::string& text) {
  constexpr std::size_t longest = 8192;  // of most servers, for all of them
  if (is_of_transport(lower(name)))
    return "is a header of the transport, which Riffle sets itself";
  if (text.size() > longest)
    return "is longer than 8,192 bytes, which servers refuse";
  return mistake_in_header(name, text);
}

bool variable_holds_secret(const std::string& variable) {
  const auto name = lower(variable);
  return names_secret(name) || name.ends_with("token") ||
         name.ends_with("_key") || name.ends_with("_pat");
}

void keep_secrets_of_mcp(const config& x) {
  constexpr std::size_t shortest = 8;  // what is shorter stands everywhere
  for (const auto& [ignored, server] : x.mcp)
    for (const auto& [variable, text] : texts_of(server.variables.text))
      if (variable_holds_secret(variable) && text.size() >= shortest)
        add_secret(text);
}

namespace {

/// What `mcp::tool_name` puts behind the names of a server "x_", so that they
/// are not those of a server "x".
bool ends_with_digest(std::string_view tool) {
  constexpr std::size_t digits = 8;
  if (tool.size() <= digits || tool[tool.size() - digits - 1] != '_')
    return false;
  return tool.substr(tool.size() - digits)
             .find_first_not_of("0123456789abcdef") == tool.npos;
}

}  // namespace

std::optional<std::string> server_of(const config& x, const std::string& tool) {
  constexpr std::string_view prefix = "mcp:";
  auto name = tool.starts_with(prefix) ? tool.substr(prefix.size())
                                       : tool.substr(0, tool.find("__"));
  if (tool.starts_with(name + "___") && ends_with_digest(tool) &&
      x.mcp.contains(name + "_"))
    name += '_';
  if (name.size() == tool.size() || !x.mcp.contains(name)) return {};
  return name;
}

}  // namespace riffle::config
