// SPDX-License-Identifier: MIT
#include "runtime/config/server_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/home.hpp"

namespace riffle::config {

namespace {

constexpr std::size_t hash_length = 64;

bool is_hash(std::string_view text) {
  return text.size() == hash_length &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

void check_files(const config& x, const server_mistake& report) {
  const auto& tls = x.server.tls;
  const std::vector<std::pair<std::string, const std::string*>> files = {
      {"certificate", &tls.certificate}, {"key", &tls.key}};
  const bool used = !tls.certificate.empty() || !tls.key.empty();
  for (const auto& [name, file] : files) {
    if (used && file->empty())
      report({"server", "tls", name},
             "is missing: certificate and key belong together");
    if (file->empty()) continue;
    const auto whole = named_path(x, *file);
    if (!whole) continue;
    if (const auto why = no_plain_file(*whole, *file); !why.empty())
      report({"server", "tls", name}, why);
  }
}

void check_token(const config& x, const std::string& name,
                 const token_config& token, const server_mistake& report) {
  const auto mistake = [&](const char* key, const std::string& message) {
    report({"server", "tokens", name, key}, message);
  };
  if (name == "default")
    report({"server", "tokens", name},
           "is the name of the token of server.token_env; choose another");
  if (!is_hash(token.hash))
    mistake("hash",
            "must be the SHA-256 of a token, 64 characters of lower-case hex; "
            "`riffle serve token " +
                name + "` makes a token and its hash");
  if (token.roles.empty()) mistake("roles", "a token without roles is useless");
  for (const auto& agent : token.agents)
    if (!x.agents.contains(agent))
      mistake("agents", "there is no agent " + in_quotes(agent));
  std::error_code ignored;
  if (!token.workspace.empty() &&
      !std::filesystem::is_directory(token.workspace, ignored))
    mistake("workspace", "there is no folder " + in_quotes(token.workspace));
  for (const auto& [other, its] : x.server.tokens)
    if (other < name && its.hash == token.hash)
      mistake("hash", "is that of server.tokens." + other + " too");
}

}  // namespace

void check_server(const config& x, const server_mistake& report) {
  check_files(x, report);
  for (const auto& [name, token] : x.server.tokens)
    check_token(x, name, token, report);
  for (const auto& origin : x.server.origins)
    if (origin.find('/', origin.find("//") + 2) != std::string::npos)
      report({"server", "origins"},
             in_quotes(origin) +
                 " is no origin: scheme, host and port only, "
                 "such as \"https://app.example\"");
}

}  // namespace riffle::config
