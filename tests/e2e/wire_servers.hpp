// SPDX-License-Identifier: MIT
#pragma once

// Providers of each dialect that play one script: five steps that read a file,
// then an answer; and judges of what they are sent, as strict as the real ones.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/e2e/program.hpp"

namespace riffle::testing {

constexpr int wire_steps = 5;

/// What a server says instead of reading a request.
struct turned_away {
  int status = 401;
  std::string words;
};

struct wire_server {
  std::string model;  ///< PROVIDER/MODEL
  /// How many results the request has.
  std::function<int(const nlohmann::json& body)> step;
  /// Step 0 to 4 reads a file, the last one answers.
  std::function<http_reply(int step)> reply;
  /// Why a request is refused; empty: it is not.
  std::function<std::string(const nlohmann::json& body)> judge;
  /// It gets something back.
  bool keeps = true;
  /// Behind the address of the test's server, and more of the model's table;
  /// "{folder}" is that of the test.
  std::string place{};
  std::string settings{};
  /// What it wants before it reads the body: address, headers.
  std::function<std::optional<turned_away>(const http_request&)> door{};

  /// The user spoke last.
  [[nodiscard]] bool last_is_user(const nlohmann::json& body) const;
};

const std::vector<wire_server>& wires();

/// What it says to a request that it refuses; `told`: the part of the body that
/// it judges.
std::optional<http_reply> refusal_of(const wire_server& x,
                                     const http_request& request,
                                     const nlohmann::json& told);

/// What programs need to know of keys.
std::map<std::string, std::string> wire_environment();

/// Of servers at customers' addresses (wire_doors.cpp).
std::optional<turned_away> azure_door(const http_request& request);
std::optional<turned_away> vertex_door(const http_request& request);
std::string fault_of_grok(const nlohmann::json& body);

/// A riffle.toml in which these models are reached at `url`, and the files.
void configure_wires(const work_folder& folder, const std::string& url,
                     const std::vector<std::string>& models);

/// The request without what was told before the last message of the user, and
/// with nothing else.
nlohmann::json newest_part(nlohmann::json body);
nlohmann::json older_part(nlohmann::json body);

/// Why a provider refuses a conversation in which others spoke before; empty:
/// it does not.
std::string fault_of_strangers(const wire_server& x,
                               const nlohmann::json& body);

/// Fails the test unless each request begins with what the one before it was:
/// without the marks of the cache, which move.
void check_prefixes(const std::vector<http_request>& requests);

}  // namespace riffle::testing
