// SPDX-License-Identifier: MIT
#include "runtime/config/model_checks.hpp"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/json_text.hpp"
#include "runtime/config/providers.hpp"
#include "runtime/config/reader.hpp"

namespace riffle::config {

namespace {

bool is_variable(std::string_view x) {
  return !x.empty() && std::ranges::all_of(x, [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z');
  });
}

/// RFC 9110: what a header's name may hold.
bool is_header_name(std::string_view x) {
  static constexpr std::string_view others = "!#$%&'*+-.^_`|~";
  return !x.empty() && std::ranges::all_of(x, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
           (c >= 'a' && c <= 'z') || others.find(c) != others.npos;
  });
}

bool has_control(std::string_view x) {
  return std::ranges::any_of(x, [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
}

bool holds_key(std::string_view header) {
  const auto name = lower(header);
  return name == "authorization" || name == "cookie" || name.ends_with("key") ||
         name.ends_with("token") || name.ends_with("secret");
}

/// How a request is sent is not for a file to say: with another length, or
/// framing, a part of it would be the next request.
bool frames_a_request(std::string_view header) {
  const auto name = lower(header);
  return name == "content-length" || name == "transfer-encoding" ||
         name == "connection" || name == "trailer" || name == "upgrade" ||
         name == "expect" || name == "te";
}

constexpr auto variable_form =
    "must name variables as in \"${NAME}\", closed by \"}\"";
constexpr auto no_key_here =
    "keys never stand in files: put it into an environment variable and write "
    "\"${NAME}\"";

class model_checker {
 public:
  model_checker(const config& all, const std::string& name,
                const model_config& x, const value* table,
                const model_mistake& report)
      : all_{all}, name_{name}, x_{x}, table_{table}, report_{report} {}

  void run() {
    if (is_set("provider") && !x_.provider.empty() && !is_set("model") &&
        !provided_model(name_))
      report_("model", "is missing: the name that " + x_.provider +
                           " has for the model");
    check_name();
    check_key();
    check_address();
    check_headers();
    check_query();
    check_extra();
    check_organization();
    check_fallback();
    check_parameters(x_.parameters, x_, report_);
  }

 private:
  bool is_set(const char* key) const {
    return table_ != nullptr && table_->find(key) != nullptr;
  }

  /// OpenAI itself has no such names.
  void check_name() {
    const auto* server = provider_of(x_);
    const auto slash = x_.model.find('/');
    if (!is_set("model") || !server || server->name != "openai" ||
        slash == x_.model.npos)
      return;
    if (const auto* meant = find_provider(x_.model.substr(0, slash)))
      report_("model", "is a name as -m takes it: write provider = " +
                           in_quotes(meant->name) + " and model = " +
                           in_quotes(x_.model.substr(slash + 1)));
  }

  void check_key() {
    const auto& command = x_.api_key_command;
    if (command.empty()) return;
    if (command.front().empty())
      report_("api_key_command", "its first text, the program, is empty");
    if (is_set("api_key_env") && is_set("api_key_command") &&
        !x_.api_key_env.empty())
      report_("api_key_command", "give either api_key_env or api_key_command");
  }

  void check_address() {
    const auto names = variables_in(x_.base_url);
    if (!names)
      report_("base_url", variable_form);
    else if (holds_user(x_.base_url))
      report_("base_url",
              "keys never stand in files, nor what stands before \"@\": write "
              "\"https://${NAME}@…\", or use headers");
  }

  void check_headers() {
    for (const auto& [name, text] : texts_of(x_.headers.text)) {
      const auto at = "headers." + key_text(name);
      if (const auto wrong = mistake_in_header(name, text); !wrong.empty())
        report_(at, wrong);
      else if (holds_key(name) && variables_in(text)->empty())
        report_(at, no_key_here);
    }
  }

  void check_query() {
    for (const auto& [name, text] : texts_of(x_.query.text)) {
      const auto at = "query." + key_text(name);
      if (name.empty() || has_control(name + text))
        report_("query", "must not hold empty names or control characters");
      else if (!variables_in(text))
        report_(at, variable_form);
      else if (names_secret(name) && variables_in(text)->empty())
        report_(at, no_key_here);
    }
  }

  void check_extra() {
    const auto parsed = nlohmann::json::parse(x_.extra.text, nullptr, false);
    for (const auto* own : {"model", "messages", "input", "system", "tools",
                            "stream", "stream_options"})
      if (parsed.is_object() && parsed.contains(own))
        report_("extra." + std::string{own},
                "is what Riffle itself writes; it cannot be replaced");
    if (!parsed.is_object()) return;
    for (const auto& [name, member] : parsed.items())
      if (names_secret(name) && member.is_string())
        report_("extra." + key_text(name),
                "keys never stand in files: name its variable in api_key_env, "
                "or in headers as \"${NAME}\"");
  }

  void check_organization() {
    if (x_.organization.empty()) return;
    if (has_control(x_.organization))
      report_("organization", "must not hold control characters");
    if (x_.dialect != "openai" && x_.dialect != "responses")
      report_("organization",
              "the dialect " + in_quotes(x_.dialect) + " has no such thing");
  }

  void check_fallback() {
    for (const auto& other : x_.fallback) {
      if (other == name_)
        report_("fallback", "a model cannot take its own place");
      else if (!find_model(all_, other))
        report_("fallback", unknown_model(all_, other));
    }
  }

  const config& all_;
  const std::string& name_;
  const model_config& x_;
  const value* table_;
  const model_mistake& report_;
};

}  // namespace

void check_model_table(const config& all, const std::string& name,
                       const model_config& x, const value* table,
                       const model_mistake& report) {
  model_checker{all, name, x, table, report}.run();
}

std::vector<std::string> set_parameters(const parameters_config& x) {
  std::vector<std::string> out;
  const auto add = [&](const char* name, bool set) {
    if (set) out.emplace_back(name);
  };
  add("temperature", x.temperature.has_value());
  add("top_p", x.top_p.has_value());
  add("max_output_tokens", x.max_output_tokens.has_value());
  add("stop", !x.stop.empty());
  add("seed", x.seed.has_value());
  add("reasoning_effort", !x.reasoning_effort.empty());
  add("thinking_budget", x.thinking_budget.has_value());
  add("tool_choice", !x.tool_choice.empty());
  add("parallel_tool_calls", x.parallel_tool_calls.has_value());
  add("keep_alive", !x.keep_alive.empty());
  return out;
}

void check_parameters(const parameters_config& asked, const model_config& of,
                      const model_mistake& report) {
  if (of.dialect == "scripted") return;
  if (of.dialect == "anthropic" && asked.thinking_budget &&
      asked.max_output_tokens && *asked.thinking_budget > 0 &&
      *asked.thinking_budget >= *asked.max_output_tokens)
    report("thinking_budget",
           "must be less than max_output_tokens, in which thinking counts");
  const auto* known = provider_of(of);
  const auto refused = quirks_of(of).refuses;
  for (const auto& name : set_parameters(asked)) {
    if (!model::can_express(of.dialect, name))
      report(name, "the dialect " + in_quotes(of.dialect) +
                       " has no such thing; leave it out");
    else if (std::ranges::find(refused, name) != refused.end())
      report(name, "the provider " + in_quotes(known->name) +
                       " has no such thing; leave it out");
  }
}

std::string mistake_in_header(std::string_view name, std::string_view text) {
  if (!is_header_name(name)) return "is no name of an HTTP header";
  if (frames_a_request(name))
    return "says how a request is sent, which is Riffle's business";
  if (has_control(text))
    return "must not hold a line end or another control character";
  return variables_in(text) ? "" : variable_form;
}

std::optional<std::vector<std::string>> variables_in(std::string_view text) {
  std::vector<std::string> out;
  for (auto at = text.find("${"); at != text.npos; at = text.find("${")) {
    const auto end = text.find('}', at);
    if (end == text.npos) return std::nullopt;
    const auto name = text.substr(at + 2, end - at - 2);
    if (!is_variable(name)) return std::nullopt;
    out.emplace_back(name);
    text.remove_prefix(end + 1);
  }
  return out;
}

namespace {

/// What stands before the "@" of its authority; nothing if there is none.
std::optional<std::string_view> user_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == url.npos) return std::nullopt;
  url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const auto at = url.rfind('@');
  if (at == url.npos) return std::nullopt;
  return url.substr(0, at);
}

/// `first`, if it is a name, and what stands in the texts of an object.
std::vector<std::string> variables_of(const std::string& first,
                                      const json_object& headers) {
  std::vector<std::string> out;
  if (!first.empty()) out.push_back(first);
  for (const auto& [name, text] : texts_of(headers.text))
    for (auto& variable :
         variables_in(text).value_or(std::vector<std::string>{}))
      out.push_back(std::move(variable));
  return out;
}

}  // namespace

bool names_secret(std::string_view name) {
  auto plain = lower(name);
  std::erase_if(plain, [](char c) { return c == '_' || c == '-'; });
  if (plain == "key" || plain == "token" || plain == "authorization")
    return true;
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{
          "apikey", "accesskey", "secretkey", "privatekey", "accesstoken",
          "authtoken", "apitoken", "bearertoken", "secret", "password"},
      [&](std::string_view end) { return plain.ends_with(end); });
}

bool holds_user(std::string_view url) {
  const auto user = user_of(url);
  if (!user) return false;
  const auto names = variables_in(*user);
  return !names || names->empty();
}

std::vector<std::string> key_variables(const model_config& x) {
  auto out = variables_of(x.api_key_env, x.headers);
  std::ranges::move(variables_of({}, x.query), std::back_inserter(out));
  if (const auto user = user_of(x.base_url))
    std::ranges::move(variables_in(*user).value_or(std::vector<std::string>{}),
                      std::back_inserter(out));
  return out;
}

std::vector<std::string> key_variables(const mcp_config& x) {
  auto out = variables_of(x.token_env, x.headers);
  for (const auto* one : {&x.client_secret_env, &x.auth.private_key_env,
                          &x.auth.token_env, &x.auth.idp_client_secret_env})
    if (!one->empty()) out.push_back(*one);
  return out;
}

}  // namespace riffle::config
