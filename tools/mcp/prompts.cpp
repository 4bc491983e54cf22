// SPDX-License-Identifier: MIT
#include "tools/mcp/prompts.hpp"

#include <utility>

#include "runtime/base/secrets.hpp"
#include "tools/mcp/result.hpp"

namespace riffle::mcp {

namespace {

constexpr auto limit = std::chrono::seconds{60};
constexpr std::string_view blanks = " \t\r\n";

std::string text_in(const json& x, const char* key) {
  const auto found = x.find(key);
  return found != x.end() && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

std::vector<prompt_argument> read_arguments(const json& x) {
  std::vector<prompt_argument> out;
  const auto all = x.find("arguments");
  if (all == x.end() || !all->is_array()) return out;
  for (const auto& one : *all) {
    if (!one.is_object()) continue;
    prompt_argument made{text_in(one, "name"),
                         redact(text_in(one, "description")), false};
    const auto required = one.find("required");
    made.required = required != one.end() && required->is_boolean() &&
                    required->get<bool>();
    if (!made.name.empty()) out.push_back(std::move(made));
  }
  return out;
}

/// The next word, taken from `rest`; all of it if `last`.
std::string take(std::string_view& rest, bool last) {
  const auto from = std::min(rest.find_first_not_of(blanks), rest.size());
  rest.remove_prefix(from);
  const auto end = last ? rest.find_last_not_of(blanks) + 1
                        : std::min(rest.find_first_of(blanks), rest.size());
  std::string out{rest.substr(0, end)};
  rest.remove_prefix(end);
  return out;
}

unexpected refused(const prompt& of, const std::string& why) {
  return unexpected{error{errc::invalid_arguments,
                          "mcp",
                          "the prompt " + of.name + " " + why,
                          false,
                          {}}};
}

}  // namespace

std::vector<prompt> read_prompts(const std::vector<json>& listed) {
  std::vector<prompt> out;
  for (const auto& x : listed) {
    if (!x.is_object()) continue;
    prompt made{text_in(x, "name"), redact(text_in(x, "description")),
                read_arguments(x)};
    if (made.about.empty()) made.about = redact(text_in(x, "title"));
    if (!made.name.empty()) out.push_back(std::move(made));
  }
  return out;
}

expected<json> prompt_arguments(const prompt& of, std::string_view words) {
  auto out = json::object();
  for (const auto& x : of.arguments) {
    auto word = take(words, &x == &of.arguments.back());
    if (!word.empty())
      out[x.name] = std::move(word);
    else if (x.required)
      return refused(of, "needs " + x.name +
                             (x.about.empty() ? "" : " (" + x.about + ")"));
  }
  if (words.find_first_not_of(blanks) != words.npos)
    return refused(of, "takes no words");
  return out;
}

expected<std::vector<prompt>> list_prompts(server& at,
                                           const std::stop_token& stop) {
  const auto has = at.status().has;
  if (!has || !has->about.has_prompts) return std::vector<prompt>{};
  return at.list("prompts/list", "prompts", stop).map(read_prompts);
}

expected<std::string> get_prompt(server& at, const prompt& what,
                                 const json& arguments,
                                 const std::stop_token& stop) {
  request x;
  x.stop = stop;
  x.method = "prompts/get";
  x.params = {{"name", what.name}, {"arguments", arguments}};
  x.until = std::chrono::steady_clock::now() + limit;
  const auto said = at.ask(std::move(x));
  if (!said) return unexpected{said.error()};
  if (stop.stop_requested() && std::holds_alternative<given_up>(*said))
    return unexpected{error{errc::cancelled, at.name(), "asked to stop"}};
  std::string why = "it did not answer";
  if (const auto* result = std::get_if<json>(&*said)) {
    auto text = read_contents(result->value("messages", json()));
    if (!text.empty()) return text;
    why = "the prompt " + what.name + " has no text";
  } else if (const auto* refusal = std::get_if<rpc_error>(&*said)) {
    why = render(*refusal);
  }
  return unexpected{
      error{errc::tool_execution_error, at.name(), at.name() + ": " + why}};
}

}  // namespace riffle::mcp
