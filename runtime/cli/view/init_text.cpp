// SPDX-License-Identifier: MIT
#include "runtime/cli/view/init_text.hpp"

#include <algorithm>
#include <charconv>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/model_checks.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_name = 200;

bool has_part(std::string_view name, std::string_view part) {
  return lower(name).find(lower(part)) != std::string::npos;
}

}  // namespace

std::vector<std::string> meant_by(std::string_view typed,
                                  const std::vector<std::string>& names) {
  typed = trimmed(typed);
  if (names.empty()) return {};
  if (typed.empty()) return {names.front()};
  // A name before a number: a model may be called "4".
  if (const auto same = std::ranges::find(names, typed); same != names.end())
    return {*same};
  std::size_t number = 0;
  const auto* end = typed.data() + typed.size();
  const auto read = std::from_chars(typed.data(), end, number);
  if (read.ec == std::errc{} && read.ptr == end && number > 0 &&
      number <= names.size())
    return {names[number - 1]};
  std::vector<std::string> out;
  for (const auto& name : names)
    if (has_part(name, typed)) out.push_back(name);
  return out;
}

std::string numbered(const std::vector<std::string>& names, std::size_t most) {
  std::string out;
  const auto shown = std::min(most, names.size());
  const auto width = std::to_string(shown).size();
  for (std::size_t i = 0; i < shown; ++i) {
    const auto number = std::to_string(i + 1);
    out.append(2 + width - number.size(), ' ').append(number).append("  ");
    out += safe_line(names[i], longest_name) + "\n";
  }
  if (shown < names.size())
    out += "  … and " + std::to_string(names.size() - shown) +
           " more: type a part of the name\n";
  return out;
}

std::string provider_text(const service::usable_provider& x) {
  const auto keys = config::key_variables(x.settings);
  auto out = x.name + " (";
  if (keys.empty())
    out += "running here, " + counted(x.models.size(), "model");
  else
    out += "key in $" + keys.front();
  if (x.moved) out += ", at " + safe_line(x.settings.base_url, longest_name);
  return out + ")";
}

std::string no_provider_text(const std::vector<std::string>& keys) {
  std::string out =
      "no key of a provider is in the environment, and no model server answers "
      "on this machine. Set a variable and come back, one of:\n";
  for (const auto& key : keys) out += "  " + key + "\n";
  return out +
         "or start a server here: ollama (ollama pull qwen3), LM Studio, "
         "llama.cpp, vllm. Any other server is a [models.NAME] with base_url, "
         "see 'riffle config init'";
}

bool names_no_model(const std::map<std::string, std::string>& origins) {
  return std::ranges::none_of(origins, [](const auto& x) {
    const std::string_view key = x.first;
    return key.starts_with("models.") ||
           (key.starts_with("agents.") && key.ends_with(".model"));
  });
}

std::string first_config(const service::usable_provider& x,
                         const std::string& model,
                         const std::map<std::string, std::string>& there) {
  using config::in_quotes;
  const auto has = [&there](std::string_view table) {
    const auto found = there.lower_bound(std::string{table});
    return found != there.end() && found->first.starts_with(table);
  };
  const auto keys = config::key_variables(x.settings);
  std::string out =
      "# Written by 'riffle init'. Every key, explained: riffle config init\n"
      "[models.default]\nprovider = " +
      in_quotes(x.name);
  if (!keys.empty()) out += "  # its key is in $" + keys.front();
  out += "\nmodel = " + in_quotes(model) + "\n";
  if (x.moved) out += "base_url = " + in_quotes(x.settings.base_url) + "\n";
  if (!has("agents.default."))
    out += "\n[agents.default]\nmodel = \"default\"\n";
  if (!has("approvals."))
    out +=
        "\n[approvals]\nmode = \"wait\"  # for an answer before a call "
        "changes something\n";
  return out;
}

}  // namespace riffle::cli
