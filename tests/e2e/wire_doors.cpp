// SPDX-License-Identifier: MIT
// How the servers are found and entered, and what they refuse at the door.
#include <sys/stat.h>

#include "tests/e2e/wire_servers.hpp"

namespace riffle::testing {

namespace {

using nlohmann::json;

constexpr auto azure_key = "azure-canary-1234";

/// A program that prints another token each time.
constexpr auto print_token =
    "#!/bin/sh\necho run >> tokens\n"
    "echo vertex-token-$(wc -l < tokens)\n";

const wire_server& wire_named(const std::string& model) {
  for (const auto& x : wires())
    if (x.model == model) return x;
  throw std::runtime_error("nobody has the model " + model);
}

std::string filled(std::string text, const work_folder& folder) {
  constexpr std::string_view place = "{folder}";
  for (auto at = text.find(place); at != text.npos; at = text.find(place))
    text.replace(at, place.size(), folder.path().string());
  return text;
}

}  // namespace

std::map<std::string, std::string> wire_environment() {
  return {{"AZURE_OPENAI_API_KEY", azure_key}};
}

/// A deployment of Azure is an address with a version, behind a header of its
/// own; what is not there is "not found", whatever is wrong.
std::optional<turned_away> azure_door(const http_request& request) {
  constexpr std::string_view right =
      "/openai/deployments/gpt-x/chat/completions?api-version=2024-10-21";
  if (!request.target.ends_with(right))
    return turned_away{404, "Resource not found"};
  if (request.header("api-key") != azure_key ||
      !request.header("authorization").empty())
    return turned_away{401,
                       "Access denied due to invalid subscription key or wrong "
                       "API endpoint."};
  return {};
}

std::optional<turned_away> vertex_door(const http_request& request) {
  if (!request.target.ends_with(
          "/projects/p/locations/l/endpoints/openapi/chat/completions"))
    return turned_away{404, "Not found"};
  if (!request.header("authorization").starts_with("Bearer vertex-token-"))
    return turned_away{401,
                       "Request had invalid authentication credentials. "
                       "Expected OAuth 2 access token."};
  return {};
}

/// Its models that think refuse what steers words; some refuse to be told how
/// much to think.
std::string fault_of_grok(const json& body) {
  for (const auto& [name, said] :
       {std::pair{"presence_penalty", "presencePenalty"},
        {"frequency_penalty", "frequencyPenalty"},
        {"stop", "stop"},
        {"reasoning_effort", "reasoningEffort"}})
    if (body.contains(name))
      return std::string{"Model grok-x does not support parameter "} + said +
             ".";
  return {};
}

std::optional<http_reply> refusal_of(const wire_server& x,
                                     const http_request& request,
                                     const json& told) {
  if (x.door)
    if (const auto away = x.door(request))
      return http_reply::json(
          json{{"error", {{"message", away->words}}}}.dump(), away->status);
  const auto why = x.judge(told);
  if (why.empty()) return {};
  return http_reply::json(json{{"error", {{"message", why}}}}.dump(), 400);
}

void configure_wires(const work_folder& folder, const std::string& url,
                     const std::vector<std::string>& models) {
  std::string text =
      "[runtime]\ndata_dir = \"data\"\n"
      "[agents.default]\nrecovery_attempts = 10\n";
  for (const auto& x : models) {
    const auto& wire = wire_named(x);
    text += "[models.\"" + x + "\"]\nbase_url = \"" + url + wire.place +
            "\"\napi_key_env = \"\"\ncontext_window = 100000\n" +
            filled(wire.settings, folder) +
            (x.find('/') == x.npos
                 ? "dialect = \"responses\"\nmodel = \"" + x + "\"\n"
                 : "");
  }
  folder.write("riffle.toml", text);
  folder.write("print-token", print_token);
  ::chmod((folder.path() / "print-token").c_str(), 0755);
  for (int i = 0; i < wire_steps; ++i)
    folder.write("f" + std::to_string(i) + ".txt",
                 "file " + std::to_string(i) + "\n");
}

}  // namespace riffle::testing
