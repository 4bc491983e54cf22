// SPDX-License-Identifier: MIT
#include "runtime/cli/view/mcp_approval.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/config/assign.hpp"

namespace riffle::cli {

namespace {

using nlohmann::ordered_json;
using change_kind = mcp::change::what;

constexpr std::size_t whole_line = 4096;

using changes_by_name = std::map<std::string, const mcp::change*>;

changes_by_name by_name(const std::vector<mcp::change>& all) {
  changes_by_name out;
  for (const auto& x : all) out.emplace(x.tool, &x);
  return out;
}

struct hint {
  const char* key;
  std::optional<bool> says;
  const char* yes;
  const char* no;
};

/// What a tool says of itself, where it says anything.
std::vector<hint> hints_of(const mcp::tool_def& x) {
  std::vector<hint> out{
      {"reads_only", x.read_only, "only reads", "may write"},
      {"destructive", x.destructive, "destructive", "not destructive"},
      {"idempotent", x.idempotent, "idempotent", "not idempotent"},
      {"open_world", x.open_world, "reaches outside", "stays inside"}};
  std::erase_if(out, [](const hint& y) { return !y.says; });
  return out;
}

/// "[mutating; says: only reads, not destructive]"
std::string own_words(const mcp::tool_def& x, const std::string& effect) {
  auto out = effect;
  const char* between = out.empty() ? "says: " : "; says: ";
  for (const auto& y : hints_of(x))
    out.append(std::exchange(between, ", ")).append(*y.says ? y.yes : y.no);
  return out.empty() ? out : "[" + out + "]";
}

std::string tool_line(char mark, const mcp::tool_def& x,
                      const std::string& effect, std::size_t columns) {
  // Before all that the server has chosen: no name can look like it.
  auto out = std::string{mark} + " ";
  if (const auto facts = own_words(x, effect); !facts.empty())
    out += facts + "  ";
  out += mcp_signature(x);
  const auto& words = x.description.empty() ? x.title : x.description;
  if (!words.empty()) out += "  " + safe_line(exact_text(words), whole_line);
  return (columns > 1 ? fit(out, columns - 1) : out) + "\n";
}

ordered_json schema_of(const std::string& text) {
  auto out = ordered_json::parse(text, nullptr, false);
  return out.is_discarded() ? ordered_json() : out;
}

/// Signs of the signature's own within it are seen to be the name's.
std::string name_text(const std::string& name, std::size_t longest) {
  const bool plain =
      name.find_first_of(" ,()[]?\"\t\n") == name.npos && !name.empty();
  return safe_line(exact_text(plain ? name : config::in_quotes(name)), longest);
}

}  // namespace

std::string mcp_signature(const mcp::tool_def& x) {
  constexpr std::size_t most = 8;
  constexpr std::size_t longest_name = 64;
  const auto schema = schema_of(x.input_schema);
  const auto member = [&](const char* name) {
    const auto found = schema.is_object() ? schema.find(name) : schema.end();
    return schema.is_object() && found != schema.end() ? *found
                                                       : ordered_json();
  };
  std::set<std::string> required;
  for (const auto& name : member("required"))
    if (name.is_string()) required.insert(name.get<std::string>());
  std::vector<std::string> names;
  std::vector<std::string> optional;
  if (const auto all = member("properties"); all.is_object())
    for (const auto& [name, ignored] : all.items())
      (required.contains(name) ? names : optional).push_back(name);
  const auto sure = names.size();
  names.insert(names.end(), optional.begin(), optional.end());
  auto out = name_text(x.name, 200) + "(";
  for (std::size_t i = 0; i < names.size() && i < most; ++i)
    out += (i == 0 ? "" : ", ") + name_text(names[i], longest_name) +
           (i < sure ? "" : "?");
  return out + (names.size() > most ? ", …)" : ")");
}

std::string mcp_tools_text(const std::vector<mcp::tool_def>& all,
                           const std::vector<mcp::change>& changed,
                           const effect_namer& effect, std::size_t columns) {
  const auto known = by_name(changed);
  std::string out;
  for (const auto& x : all) {
    const auto found = known.find(x.name);
    const auto* about = found == known.end() ? nullptr : found->second;
    const char mark = !about                              ? ' '
                      : about->kind == change_kind::added ? '+'
                                                          : '~';
    out += tool_line(mark, x, effect(x), columns);
    // How it differs is never cut: a new one has its whole text for `v`.
    if (mark == '~') out += mcp_difference_text(*about);
  }
  for (const auto& x : changed)
    if (x.kind == change_kind::removed)
      out += "- " + safe_line(exact_text(x.tool), 200) + "\n";
  return out;
}

std::string mcp_place_text(const config::mcp_config& x) {
  if (x.command.empty()) return "url: " + safe_line(x.url, whole_line);
  std::string words;
  for (const auto& word : x.command)
    words += (words.empty() ? "" : " ") +
             (word.find_first_of(" \t\n\"'") == word.npos && !word.empty()
                  ? word
                  : config::in_quotes(word));
  return "command: " + safe_line(words, whole_line);
}

std::string mcp_question(const std::string& server, const config::mcp_config& x,
                         std::size_t tools,
                         const std::vector<mcp::change>& changed) {
  constexpr std::size_t columns_of_place = 60;
  const auto count = [&](change_kind kind) {
    return static_cast<std::size_t>(
        std::ranges::count(changed, kind, &mcp::change::kind));
  };
  auto out = "Let `" + server + "` (" + counted(tools, "tool");
  const auto added = count(change_kind::added);
  if (added < tools && added > 0) out += ", " + std::to_string(added) + " new";
  for (const auto& [n, word] :
       {std::pair{count(change_kind::changed), " changed"},
        std::pair{count(change_kind::removed), " gone"}})
    if (n > 0) out += ", " + std::to_string(n) + word;
  return out + ", " + fit(mcp_place_text(x), columns_of_place) + ") be used?";
}

ordered_json mcp_tools_json(const std::vector<mcp::tool_def>& all,
                            const std::vector<mcp::change>& changed,
                            const effect_namer& effect) {
  const auto known = by_name(changed);
  auto out = ordered_json::array();
  for (const auto& x : all) {
    const auto found = known.find(x.name);
    ordered_json one{
        {"name", x.name},
        {"change", found == known.end()                        ? "none"
                   : found->second->kind == change_kind::added ? "new"
                                                               : "changed"},
        {"effect", effect(x)},
        {"description", x.description}};
    if (!x.title.empty()) one["title"] = x.title;
    for (const auto& y : hints_of(x)) one["says"][y.key] = *y.says;
    one["arguments"] = schema_of(x.input_schema);
    if (!x.output_schema.empty()) one["result"] = schema_of(x.output_schema);
    out.push_back(std::move(one));
  }
  for (const auto& x : changed)
    if (x.kind == change_kind::removed)
      out.push_back({{"name", x.tool}, {"change", "gone"}});
  return out;
}

}  // namespace riffle::cli
