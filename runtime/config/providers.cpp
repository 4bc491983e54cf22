// SPDX-License-Identifier: MIT
#include "runtime/config/providers.hpp"

#include <algorithm>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/document.hpp"
#include "runtime/config/reader.hpp"

namespace riffle::embedded {
extern const std::string_view providers_toml;
}

namespace riffle::config {

namespace {

/// "api.x.ai:443" of "https://api.x.ai:443/v1".
std::string_view host_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme != url.npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const auto user = url.rfind('@');
  return user == url.npos ? url : url.substr(user + 1);
}

/// What stands behind the variables of a host, "openai.azure.com", for servers
/// that are named by a customer or a region.
bool is_host_of(std::string_view pattern, std::string_view host) {
  const auto variable = pattern.rfind('}');
  if (variable == pattern.npos) return pattern == host;
  const auto tail = pattern.substr(variable + 1);
  return host.size() > tail.size() && host.ends_with(tail);
}

bool is_local(std::string_view host) {
  return host.starts_with("127.") || host.starts_with("localhost");
}

}  // namespace

std::vector<provider> parse_providers(std::string_view text,
                                      std::vector<mistake>& mistakes) {
  constexpr auto name = "providers.toml";
  std::vector<provider> out;
  const auto document = parse_toml(text, name);
  if (!document) {
    mistakes.push_back(document.error());
    return out;
  }
  std::vector<const value*> tables;
  for (const auto& x : document->items) tables.push_back(&x);
  std::ranges::sort(tables, {}, [](const value* x) { return x->key_at.line; });
  mistake_list found{name};
  for (const auto* x : tables) {
    if (x->type != kind::table) {
      found.add(x->at, x->key + ": must be a table");
      continue;
    }
    auto& entry = out.emplace_back();
    entry.name = x->key;
    reader r{*x, {}, found};
    visit(r, entry);
    r.finish();
    entry.settings.provider = x->key;
  }
  mistakes = found.take();
  return out;
}

const std::vector<provider>& providers() {
  static const auto all = [] {
    std::vector<mistake> mistakes;
    auto out = parse_providers(embedded::providers_toml, mistakes);
    if (!mistakes.empty()) out.clear();
    return out;
  }();
  return all;
}

std::vector<std::string> provider_names() {
  std::vector<std::string> out;
  for (const auto& x : providers()) out.push_back(x.name);
  return out;
}

const provider* find_provider(std::string_view name) {
  const auto& all = providers();
  const auto i = std::ranges::find(all, name, &provider::name);
  return i == all.end() ? nullptr : &*i;
}

const provider* provider_of(const model_config& x) {
  if (!x.provider.empty()) return find_provider(x.provider);
  const auto host = host_of(x.base_url);
  if (is_local(host)) return nullptr;  // anything may listen there
  for (const auto& known : providers())
    if (is_host_of(host_of(known.settings.base_url), host)) return &known;
  return nullptr;
}

model::quirks quirks_of(const model_config& x) {
  const auto* known = provider_of(x);
  return known ? known->odd : model::quirks{};
}

model_config with_name(const provider& x, std::string model) {
  auto out = x.settings;
  out.model = std::move(model);
  return out;
}

std::optional<model_config> provided_model(std::string_view name) {
  const auto slash = name.find('/');
  if (slash == name.npos || slash + 1 == name.size()) return std::nullopt;
  const auto* known = find_provider(name.substr(0, slash));
  if (!known) return std::nullopt;
  return with_name(*known, std::string{name.substr(slash + 1)});
}

void add_provided_models(config& x) {
  const auto add = [&](const std::string& name) {
    if (x.models.contains(name)) return;
    if (auto known = provided_model(name))
      x.models.emplace(name, *std::move(known));
  };
  for (const auto& [name, agent] : x.agents) add(agent.model);
  std::vector<std::string> named;
  for (const auto& [name, model] : x.models)
    named.insert(named.end(), model.fallback.begin(), model.fallback.end());
  for (const auto& name : named) add(name);
}

std::optional<model_config> find_model(const config& x,
                                       const std::string& name) {
  if (const auto i = x.models.find(name); i != x.models.end()) return i->second;
  return provided_model(name);
}

namespace {

/// The name that was meant, most likely; of a provider's model the provider may
/// be misspelled.
std::string near_model(const std::vector<std::string>& models,
                       const std::string& name) {
  if (auto near = nearest(name, models); !near.empty()) return near;
  const auto slash = std::min(name.find('/'), name.size());
  const auto near = nearest(lower(name.substr(0, slash)), provider_names());
  return near.empty() ? near : near + name.substr(slash);
}

}  // namespace

std::string unknown_model(const config& x, const std::string& name) {
  const auto provider = name.substr(0, name.find('/'));
  if (find_provider(provider) != nullptr)
    return in_quotes(name) + " names no model of " + provider +
           ": write it as " + provider + "/MODEL; 'riffle models list " +
           provider + "' lists them";
  std::vector<std::string> models;
  for (const auto& entry : x.models) models.push_back(entry.first);
  auto out = "there is no model " + in_quotes(name) +
             "; known: " + join_some(models) + ", and PROVIDER/MODEL of: ";
  const auto names = out.size();
  for (const auto& known : provider_names())
    out += (out.size() == names ? "" : ", ") + known;
  const auto near = near_model(models, name);
  return near.empty() ? out : out + "; did you mean " + in_quotes(near) + "?";
}

}  // namespace riffle::config
