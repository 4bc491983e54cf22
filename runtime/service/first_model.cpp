// SPDX-License-Identifier: MIT
#include "runtime/service/first_model.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <utility>

#include "runtime/base/secrets.hpp"
#include "runtime/base/timer.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/service/model_asking.hpp"

namespace riffle::service {

namespace {

using namespace std::chrono_literals;

/// Of the environment, or what was taken out of it since (a user in it).
std::string variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? value : read_key(name).value_or("");
}

/// "127.0.0.1:11434" as a URL; $OLLAMA_HOST is written in many ways. As Ollama
/// reads it: the port is its own only where there is no scheme.
std::string url_of_host(std::string host) {
  while (host.ends_with('/')) host.pop_back();
  if (host.starts_with(':')) host.insert(0, "127.0.0.1");
  const bool whole = host.find("://") != host.npos;
  if (!whole) {
    const auto end = std::min(host.find('/'), host.size());
    if (host.find(':') >= end) host.insert(end, ":11434");
    host.insert(0, "http://");
  }
  // Where a server listens everywhere, it is reached here.
  if (const auto any = host.find("//0.0.0.0"); any != host.npos)
    host.replace(any + 2, 7, "127.0.0.1");
  return host;
}

/// "/v1" of "https://api.example/v1".
std::string_view path_of(std::string_view url) {
  const auto scheme = url.find("://");
  const auto from = scheme == url.npos ? 0 : scheme + 3;
  const auto path = url.find('/', from);
  return path == url.npos ? std::string_view{} : url.substr(path);
}

bool needs_key(const config::provider& x) {
  return !config::key_variables(x.settings).empty() ||
         !x.settings.api_key_command.empty();
}

/// The variables of keys, and those in the address.
std::vector<std::string> variables_of(const config::model_config& x) {
  auto out = config::key_variables(x);
  const auto of_url = config::variables_in(x.base_url);
  if (of_url) out.insert(out.end(), of_url->begin(), of_url->end());
  return out;
}

usable_provider made_of(const config::provider& x) {
  usable_provider out{x.name, config::with_name(x, ""), false, {}};
  if (auto place = place_in_environment(x); !place.empty()) {
    out.moved = place != out.settings.base_url;
    out.settings.base_url = std::move(place);
  }
  return out;
}

}  // namespace

std::string place_variable(const config::provider& x) {
  if (x.name == "ollama") return "OLLAMA_HOST";
  constexpr std::string_view end = "_API_KEY";
  const auto& key = x.settings.api_key_env;
  if (!key.ends_with(end)) return {};
  return key.substr(0, key.size() - end.size()) + "_BASE_URL";
}

std::string place_in_environment(const config::provider& x) {
  const auto name = place_variable(x);
  auto place = name.empty() ? name : variable(name);
  if (place.empty()) return place;
  if (x.name == "ollama") return url_of_host(std::move(place));
  while (place.ends_with('/')) place.pop_back();
  const bool whole = place.find("://") != place.npos;
  if (whole && path_of(place).empty()) place += path_of(x.settings.base_url);
  return place;
}

std::vector<usable_provider> usable_providers() {
  std::vector<usable_provider> out;
  std::vector<usable_provider> here;
  for (const auto& x : config::providers()) {
    auto made = made_of(x);
    if (!needs_key(x))
      here.push_back(std::move(made));
    else if (x.settings.api_key_command.empty() &&
             missing_variables(made.settings).empty())
      out.push_back(std::move(made));
  }
  model_links links{{std::make_shared<const config::config>(),
                     std::make_shared<thread_timer>(),
                     std::make_shared<blocking_executor>(1),
                     {},
                     nullptr,
                     {}}};
  for (auto& x : here) {
    auto brief = x.settings;
    brief.timeouts = {1s, 1s, 1s, 1s};
    brief.retry.max_attempts = 1;
    auto models = list_models(links, x.name, brief);
    if (!models) continue;
    x.models = std::move(*models);
    out.push_back(std::move(x));
  }
  return out;
}

std::vector<std::string> missing_variables(const config::model_config& x) {
  std::vector<std::string> out;
  const auto add = [&out](const std::string& name) {
    if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  };
  for (const auto& name : config::key_variables(x))
    if (!read_key(name)) add(name);
  // An address is no secret, but for a user in it.
  if (const auto of_url = config::variables_in(x.base_url))
    for (const auto& name : *of_url)
      if (variable(name).empty() && !read_key(name)) add(name);
  return out;
}

std::vector<std::string> wanted_keys() {
  std::vector<std::string> out;
  for (const auto& x : config::providers()) {
    std::string line;
    for (const auto& name : variables_of(x.settings))
      line += (line.empty() ? "" : " with ") + name;
    if (!line.empty() && x.settings.api_key_command.empty())
      out.push_back(std::move(line));
  }
  return out;
}

}  // namespace riffle::service
