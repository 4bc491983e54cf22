// SPDX-License-Identifier: MIT
#include "runtime/cli/view/call_text.hpp"

#include <algorithm>
#include <optional>
#include <ranges>

#include <nlohmann/json.hpp>

#include "actors/core/plain_command.hpp"
#include "actors/core/writing_notice.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/trace_writer.hpp"
#include "tools/subject_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_subject = 200;
constexpr std::size_t longest_progress = 200;

nlohmann::json parse_object(std::string_view text) {
  auto x = nlohmann::json::parse(text, nullptr, false);
  return x.is_object() ? x : nlohmann::json::object();
}

std::string subject(std::string_view json, std::string_view title,
                    std::string_view tool, std::string_view other) {
  const auto arguments = parse_object(json);
  // Without a title of its own that says its name once more.
  const bool plain = title.starts_with("Using ") || title == tool;
  auto text = plain ? tools::any_subject_text(arguments)
                    : tools::subject_text(arguments);
  if (!text.empty()) return text;
  return std::string{plain || title.empty() ? other : title};
}

/// Its title says more than its name, and all of what it is about.
bool is_of_server(const events::tool_call& x) {
  return x.tool.find("__") != std::string::npos && !x.title.empty() &&
         x.title != x.tool && !x.title.starts_with("Using " + x.tool);
}

/// The first line that is not blank, with a mark if more follow.
std::string first_line(std::string_view text) {
  constexpr auto blank = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(blank), text.size()));
  text = text.substr(0, text.find_last_not_of(blank) + 1);
  const auto end = text.find('\n');
  constexpr std::size_t most_bytes = 5 * longest_subject;
  auto out = safe_line(exact_text(text.substr(0, std::min(end, most_bytes))),
                       longest_subject);
  return end == std::string_view::npos || out.ends_with("…") ? out : out + " …";
}

std::optional<std::uint64_t> number(const nlohmann::json& x, const char* key) {
  const auto found = x.find(key);
  if (found == x.end() || !found->is_number_unsigned()) return std::nullopt;
  return found->get<std::uint64_t>();
}

std::string count(std::uint64_t n, const char* one, const char* many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

/// The last line of a report that is not blank: the newest.
std::string_view last_line(std::string_view text) {
  const auto end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  const auto begin = text.find_last_of("\r\n");
  return begin == std::string_view::npos ? text : text.substr(begin + 1);
}

std::string number(double x) {
  auto out = std::to_string(x);
  out.erase(out.find_last_not_of('0') + 1);
  if (out.back() == '.') out.pop_back();
  return out;
}

}  // namespace

std::string call_words::on(std::string_view node) const {
  auto out = name;
  if (!node.empty()) out += "@" + safe_line(node, 64);
  return about.empty() ? out : out + ": " + about;
}

call_words words_of(const events::tool_call& x) {
  // Not all of them came.
  if (const auto file = core::begun_file(x.tool, x.arguments_text);
      x.arguments.empty() && !file.empty())
    return {safe_line(x.tool, 64), first_line(file)};
  if (!is_of_server(x))
    return {
        safe_line(x.tool, 64),
        first_line(subject(x.arguments, x.title, x.tool, x.arguments_text))};
  const auto title = safe_line(exact_text(x.title), 2 * longest_subject);
  const auto end = std::min(title.find(": "), title.size());
  return {title.substr(0, end), title.substr(std::min(end + 2, title.size()))};
}

call_words words_of(const riffle::tool_call& x) {
  events::tool_call call;
  call.tool = x.tool;
  call.title = x.title;
  call.arguments = x.arguments;
  call.arguments_text = x.arguments_text;
  return words_of(call);
}

std::string call_name(const events::approval_required& x) {
  const auto text = first_line(subject(x.arguments, x.title, x.tool, {}));
  return safe_line(x.tool, 64) + (text.empty() ? "" : " " + text);
}

std::string waiting_name(const events::approval_required& x) {
  const auto name = call_name(x);
  const bool plain = x.tool == "bash" || x.tool.empty();
  const auto used = plain ? x.tool.size() + 1 : 0;
  return name.size() > used ? name.substr(used) : name;
}

std::string waiting_name(const events::tool_call& x) {
  return waiting_name(events::approval_required{
      .tool = x.tool, .title = x.title, .arguments = x.arguments});
}

std::string result_detail(std::string_view metadata) {
  const auto x = parse_object(metadata);
  if (const auto n = number(x, "matches")) {
    return " → " + count(*n, "match", "matches");
  }
  const auto added = number(x, "added");
  const auto removed = number(x, "removed");
  if (added && removed) {
    return " (+" + std::to_string(*added) + " -" + std::to_string(*removed) +
           ")";
  }
  const auto exit = number(x, "exit_code").value_or(0);
  std::string inside = exit == 0 ? "" : "exit " + std::to_string(exit);
  const auto items = number(x, "items");
  if (items) inside = count(*items, "item", "items");
  // That a command said nothing is no news.
  if (inside.empty() && number(x, "lines") == 0 && number(x, "bytes") == 0)
    return {};
  if (const auto n = number(x, "lines"); n && !items)
    inside += (inside.empty() ? "" : ", ") + count(*n, "line", "lines");
  if (const auto n = number(x, "bytes"); n && exit == 0)
    inside += (inside.empty() ? "" : ", ") + short_size(*n);
  return inside.empty() ? "" : " (" + inside + ")";
}

std::string result_node(std::string_view metadata) {
  const auto x = parse_object(metadata);
  const auto found = x.find("node");
  return found != x.end() && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

bool is_search(std::string_view tool, std::string_view arguments) {
  if (tool != "bash") return false;
  const auto given = parse_object(arguments);
  const auto found = given.find("command");
  if (found == given.end() || !found->is_string()) return false;
  const auto line = found->get<std::string>();
  auto all = core::joined_commands(line);
  if (all.empty())
    if (const auto plain = core::plain_command(line)) all.push_back({*plain});
  // Else the status may be that of another command.
  const bool one = std::ranges::all_of(all | std::views::drop(1),
                                       &core::joined_command::piped);
  const auto last = all.empty() ? std::string{} : all.back().text;
  return one && (last.starts_with("grep ") || last.starts_with("rg "));
}

bool found_nothing(std::string_view metadata) {
  const auto x = parse_object(metadata);
  return number(x, "exit_code") == 1 && number(x, "bytes") == 0;
}

bool has_exit_code(std::string_view metadata) {
  return number(parse_object(metadata), "exit_code").value_or(0) != 0;
}

std::string result_diff(std::string_view metadata) {
  const auto x = parse_object(metadata);
  const auto found = x.find("diff");
  return found != x.end() && found->is_string() ? found->get<std::string>()
                                                : std::string{};
}

std::string progress_text(const tool_progress_report& x) {
  std::string out;
  if (x.progress && x.total) {
    out = number(*x.progress) + "/" + number(*x.total);
  } else if (x.progress) {
    out = number(*x.progress);
  }
  const auto message = safe_line(last_line(x.message), longest_progress);
  if (!out.empty() && !message.empty()) out += ": ";
  return out + message;
}

}  // namespace riffle::cli
