// SPDX-License-Identifier: MIT
#include "runtime/service/model_links.hpp"

#include <utility>

#include "runtime/base/encoding.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/config/home.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/model_checks.hpp"
#include "runtime/model/http_transport.hpp"
#include "runtime/model/rate_limited_transport.hpp"
#include "runtime/model/scripted_transport.hpp"
#include "runtime/service/first_model.hpp"

namespace riffle::service {

namespace {

struct address {
  std::string url;
  std::string variable;  ///< of the environment, that says it; empty: none
};

/// A provider's own address, unless the environment has another for it.
address address_of(const config::model_config& model) {
  const auto* known = config::provider_of(model);
  if (known == nullptr || model.base_url != known->settings.base_url)
    return {model.base_url, {}};
  auto own = place_in_environment(*known);
  if (own.empty()) return {model.base_url, {}};
  return {std::move(own), place_variable(*known)};
}

model::model_advice advice_for(const std::string& name,
                               const config::model_config& model,
                               const std::string& base,
                               const std::string& variable) {
  const auto* known = config::provider_of(model);
  model::model_advice out;
  const auto add = [&out](const std::string& text) {
    out.unreachable += (out.unreachable.empty() ? "" : "; ") + text;
  };
  if (known != nullptr && !known->start.empty())
    add("does it run? Start it: " + known->start);
  else if (is_loopback(base))
    add("does the server run?");
  if (!model.api_key_command.empty())
    out.refused = "the key is what " + model.api_key_command.front() +
                  " prints (api_key_command)";
  else if (const auto keys = config::key_variables(model);
           !keys.empty() && read_key(keys.front()))
    out.refused = "the key is that of the environment variable " + keys.front();
  out.not_found = "riffle models list " + name + " shows those that it has";
  if (!variable.empty()) {
    add("the environment variable " + variable + " says that it is there");
    out.not_found +=
        "; its address is that of the environment variable " + variable;
  }
  return out;
}

/// All at once, so that a person sets them in one go.
expected<void> check_variables(const std::string& name,
                               const config::model_config& model) {
  if (model.dialect == "scripted") return {};
  auto missing = missing_variables(model);
  if (!model.api_key_command.empty() || is_loopback(model.base_url))
    std::erase(missing, model.api_key_env);
  if (missing.size() < 2) return {};
  std::string all;
  for (std::size_t i = 0; i < missing.size(); ++i)
    all += (i == 0                    ? ""
            : i + 1 == missing.size() ? " and "
                                      : ", ") +
           missing[i];
  return unexpected{error{errc::invalid_config, "model " + name,
                          name + " needs the environment variables " + all +
                              ", which are not set"}};
}

expected<std::string> base_of(const std::string& name,
                              const config::model_config& model) {
  const auto [address, variable] = address_of(model);
  if (address != model.base_url && !address.starts_with("http://") &&
      !address.starts_with("https://"))
    return unexpected{
        error{errc::invalid_config, "model " + name,
              redact("the environment variable " + variable +
                     " says that it is at \"" + address +
                     "\": an address begins with http:// or https://")}};
  auto base = expand(address, "base_url of the model " + name, false);
  if (!base) return base;
  constexpr std::string_view place = "{model}";
  if (const auto at = base->find(place); at != base->npos)
    base->replace(at, place.size(), percent_encoded(model.model));
  add_secrets_of_url(*base);
  while (base->ends_with('/')) base->pop_back();
  return base;
}

expected<std::string> query_of(const std::string& model_name,
                               const config::model_config& model, bool lent) {
  std::string out;
  for (const auto& [name, text] : config::texts_of(model.query.text)) {
    const auto value =
        expand(text, name + " in the query of the model " + model_name, true);
    if (!value && !lent) return value;
    out += (out.empty() ? "?" : "&") + percent_encoded(name) + "=" +
           percent_encoded(value ? *value : std::string{});
  }
  return out;
}

expected<std::vector<std::string>> headers_of(const std::string& name,
                                              const config::model_config& model,
                                              bool lent) {
  std::vector<std::string> out;
  if (!model.organization.empty())
    out.push_back("OpenAI-Organization: " + model.organization);
  for (const auto& [header, text] : config::texts_of(model.headers.text)) {
    auto value =
        expand(text, "the header " + header + " of the model " + name, true);
    if (!value && !lent) return unexpected{std::move(value.error())};
    if (value) out.push_back(header + ": " + *value);
  }
  return out;
}

}  // namespace

expected<void> check_model(const std::string& name,
                           const config::model_config& model) {
  if (auto ok = check_variables(name, model); !ok) return ok;
  const auto base = base_of(name, model);
  if (!base) return unexpected{base.error()};
  if (!model.api_key_command.empty()) return {};
  const auto key = key_of_variable(model, *base, false);
  if (!key) return unexpected{key.error()};
  return {};
}

expected<model_link> model_links::open(const std::string& name,
                                       const config::model_config& model,
                                       const std::stop_token& stop) {
  model_link out;
  if (!parts_.lent)
    if (auto ok = check_variables(name, model); !ok)
      return unexpected{std::move(ok.error())};
  auto base = base_of(name, model);
  if (!base) return unexpected{std::move(base.error())};
  out.base = *std::move(base);
  const auto variable = address_of(model).variable;
  out.redirected = !variable.empty();
  out.advice = advice_for(name, model, out.base, variable);
  auto query = query_of(name, model, parts_.lent != nullptr);
  if (!query) return unexpected{std::move(query.error())};
  out.query = *std::move(query);
  auto headers = headers_of(name, model, parts_.lent != nullptr);
  if (!headers) return unexpected{std::move(headers.error())};
  out.headers = *std::move(headers);
  if (auto found = find_key(name, model, stop, out); !found)
    return unexpected{std::move(found.error())};
  auto transport = transport_of(name, model);
  if (!transport) return unexpected{std::move(transport.error())};
  out.transport = *std::move(transport);
  return out;
}

expected<void> model_links::find_key(const std::string& name,
                                     const config::model_config& model,
                                     const std::stop_token& stop,
                                     model_link& to) {
  expected<std::string> key;
  if (model.api_key_command.empty() || parts_.lent) {
    key = key_of_variable(model, to.base, parts_.lent != nullptr);
  } else {
    std::unique_lock lock{mutex_};
    auto& found = keys_[name];
    if (!found) found = std::make_shared<command_key>(model.api_key_command);
    const auto source = found;
    lock.unlock();
    std::stop_source either;
    const auto ask = [&either] { either.request_stop(); };
    const std::stop_callback asked{stop, ask};
    const std::stop_callback closed{closed_.get_token(), ask};
    key = source->get(either.get_token());
  }
  if (!key) return unexpected{std::move(key.error())};
  to.key = *std::move(key);
  return {};
}

expected<model_links::transport_ptr> model_links::transport_of(
    const std::string& name, const config::model_config& model) {
  const std::lock_guard lock{mutex_};
  auto& found = transports_[name];
  if (found) return found;
  auto inner = plain_transport(name, model);
  if (!inner) return inner;
  const bool paced = model.dialect != "scripted" && !parts_.lent;
  found = model::make_rate_limited_transport(
      std::move(*inner),
      {model.max_concurrent, model.requests_per_minute, paced}, *parts_.clock,
      {}, [board = parts_.capacity, name](std::uint32_t most) {
        if (board) board->report(name, most);
      });
  if (const auto key = keys_.find(name); key != keys_.end())
    found = model::make_renewing_transport(found, key->second, parts_.waits);
  return found;
}

expected<model_links::transport_ptr> model_links::plain_transport(
    const std::string& name, const config::model_config& model) {
  if (model.dialect == "scripted") {
    const auto given = parts_.scripts.find(name);
    auto script =
        given == parts_.scripts.end()
            ? config::named_path(*parts_.config, model.script)
                  .and_then(model::load_script)
            : model::parse_script(given->second, model::script_format::toml,
                                  "the script of model " + name);
    if (!script) return unexpected{std::move(script.error())};
    return model::make_scripted_transport(std::move(*script), *parts_.clock);
  }
  if (parts_.lent) return parts_.lent;
  if (!http_) {
    model::http_options options;
    options.around_listeners = parts_.around_listeners;
    http_ = model::make_http_transport(std::move(options));
  }
  return http_;
}

}  // namespace riffle::service
