// SPDX-License-Identifier: MIT
#pragma once

// `[mcp.NAME]`: a server of the Model Context Protocol whose tools are
// Riffle's. Part of config.hpp.

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "messages/time.hpp"

namespace riffle::config {

/// A JSON object, as compact text; empty: not set. Written in TOML as a table,
/// or as a text that holds JSON.
struct json_object {
  std::string text{};

  bool operator==(const json_object&) const = default;
};

/// `[mcp.NAME.tools.TOOL]`: what is known of a tool, whatever its server says.
struct mcp_tool_config {
  std::string effect{};             ///< read_only mutating; "": see `trust`
  std::vector<std::string> keys{};  ///< JSON pointers into the arguments
  duration timeout{};               ///< 0: as its server's
  /// Arguments that make a call a preview of itself: { dryRun = true }.
  json_object preview{"{}"};
};

/// `[mcp.NAME.auth]`: how the tokens of a url are had.
struct mcp_auth_config {
  /// login: a person's; client_credentials: this program's own;
  /// workload_identity: for a token of where it runs; enterprise: for one of a
  /// person's company.
  std::string grant = "login";
  std::string issuer{};  ///< who gives them; "": whom the server names
  std::string scope{};   ///< "": what the server asks for
  /// auto: bound to a key where the server knows how (DPoP); always, never.
  std::string dpop = "auto";
  std::string private_key_file{};  ///< PEM, mode 0600; or
  std::string private_key_env{};
  std::string key_id{};
  /// Of the workload, or the ID token of a person; read anew each time. Or
  std::string token_file{};
  std::string token_env{};
  std::string idp{};  ///< issuer of that ID token
  std::string idp_client_id{};
  std::string idp_client_secret_env{};

  bool operator==(const mcp_auth_config&) const = default;
};

struct mcp_config {
  /// A program that speaks on its standard input and output; or `url`.
  std::vector<std::string> command{};
  std::string url{};                  ///< http:// or https://
  std::vector<std::string> agents{};  ///< that get all of its tools
  /// Names of variables that it sees beside PATH, HOME and LANG.
  std::vector<std::string> env{};
  json_object variables{"{}"};  ///< variables and their values
  std::string cwd{};            ///< where it runs; "": the working directory
  json_object headers{"{}"};    ///< texts; "${NAME}": a variable, kept secret
  std::string token_env{};      ///< variable that holds a bearer token
  /// A program that the authorization server knows; "": at a login Riffle is
  /// registered there.
  std::string client_id{};
  std::string client_secret_env{};  ///< variable that holds its secret
  mcp_auth_config auth{};
  /// none: each tool may change anything; annotations: what it says of itself.
  std::string trust = "none";
  /// Longest wait of a run for a server that is not there yet.
  duration startup_timeout = std::chrono::seconds{30};
  duration timeout{};  ///< of each call of its tools; 0: as [tools] says
  std::vector<std::string> roots{};     ///< folders that it is told of
  std::string elicitation = "decline";  ///< decline defaults
  std::map<std::string, mcp_tool_config> tools{};
};

/// `[mcp_server]`: what Riffle offers as such a server, beside `run_task`.
struct mcp_server_config {
  std::vector<std::string> tools{};  ///< single tools, by Riffle's names
};

}  // namespace riffle::config
