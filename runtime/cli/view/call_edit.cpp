// SPDX-License-Identifier: MIT
#include "runtime/cli/view/call_edit.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "tools/arguments.hpp"
#include "tools/builtin/files/line_diff.hpp"
#include "tools/builtin/files/text_places.hpp"

namespace riffle::cli {

namespace {

using ordered = nlohmann::ordered_json;

constexpr auto lenient = ordered::error_handler_t::replace;

ordered object_of(const std::string& arguments) {
  auto x = ordered::parse(arguments, nullptr, false);
  return x.is_object() ? std::move(x) : ordered::object();
}

std::string member(const ordered& x, const char* name) {
  const auto i = x.find(name);
  return i != x.end() && i->is_string() ? i->get<std::string>() : std::string{};
}

bool has_member(const ordered& x, const char* name) {
  return x.contains(name) && x.at(name).is_string();
}

bool ends_lines_with_crlf(const std::string& text) {
  bool any = false;
  for (auto at = text.find('\n'); at != std::string::npos;
       at = text.find('\n', at + 1)) {
    if (at == 0 || text[at - 1] != '\r') return false;
    any = true;
  }
  return any;
}

/// The file behind the change; nothing: it is not one that is known here. Line
/// ends are those of the file, as the tool takes them.
std::optional<std::string> changed(const std::string& file, const ordered& x) {
  auto before = member(x, "old_string");
  auto after = member(x, "new_string");
  if (ends_lines_with_crlf(file)) {
    before = tools::with_crlf(before);
    after = tools::with_crlf(after);
  }
  if (before.empty() || file.find(before) == std::string::npos)
    return std::nullopt;
  const auto all = x.find("replace_all");
  const bool each = all != x.end() && all->is_boolean() && all->get<bool>();
  std::string out;
  std::size_t at = 0;
  std::size_t places = 0;
  for (auto found = file.find(before); found != std::string::npos;
       found = file.find(before, at)) {
    out.append(file, at, found - at).append(after);
    at = found + before.size();
    ++places;
  }
  if (places > 1 && !each) return std::nullopt;
  return out.append(file, at);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto x = first_character(text);
    if (!x.valid) return false;
    text.remove_prefix(x.size);
  }
  return true;
}

unexpected cannot(std::string why) {
  return unexpected{
      error{errc::invalid_arguments, "edit", std::move(why), false, {}}};
}

}  // namespace

call_edit::call_edit(std::string tool, std::string arguments,
                     std::optional<std::string> file)
    : tool_{std::move(tool)},
      arguments_{std::move(arguments)},
      file_{std::move(file)} {
  const auto x = object_of(arguments_);
  if (tool_ == "write" && has_member(x, "content"))
    what_ = what::content;
  else if (tool_ == "bash" && has_member(x, "command"))
    what_ = what::command;
  else if (tool_ == "edit" && file_ && !file_->empty() && changed(*file_, x))
    what_ = what::change;
}

std::optional<std::string> call_edit::path_to_edit(
    std::string_view tool, const std::string& arguments) {
  if (tool != "write" && tool != "edit") return std::nullopt;
  auto path = member(object_of(arguments), "path");
  return path.empty() ? std::nullopt : std::optional{std::move(path)};
}

std::string call_edit::text() const {
  const auto x = object_of(arguments_);
  switch (what_) {
    case what::content: return member(x, "content");
    case what::change: return *changed(*file_, x);
    case what::command: return member(x, "command") + "\n";
    case what::json: break;
  }
  return (x.empty() ? arguments_ : x.dump(2, ' ', false, lenient)) + "\n";
}

std::string call_edit::ending() const {
  if (what_ == what::command) return ".sh";
  if (what_ == what::json) return ".json";
  const auto path = member(object_of(arguments_), "path");
  const auto name = path.substr(path.rfind('/') + 1);
  const auto dot = name.rfind('.');
  constexpr std::size_t longest = 16;
  constexpr std::string_view usual =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-";
  if (dot == std::string::npos || name.size() - dot > longest ||
      name.find_first_not_of(usual, dot + 1) != std::string::npos)
    return ".txt";
  return name.substr(dot);
}

std::size_t call_edit::first_line() const {
  if (!is_of_content() || !file_) return 1;
  const auto now = text();
  const auto end = std::ranges::mismatch(now, *file_).in1;
  return 1 + static_cast<std::size_t>(std::count(now.begin(), end, '\n'));
}

bool call_edit::is_of_content() const {
  return what_ == what::content || what_ == what::change;
}

expected<std::string> call_edit::arguments_of(
    std::string_view text, const std::optional<std::string>& now) const {
  if (what_ == what::json) {
    const auto value = tools::parse_object(text);
    if (!value) return cannot(value.error());
    return object_of(std::string{text}).dump();
  }
  if (!is_utf8(text)) return cannot("the text is not valid UTF-8");
  auto x = object_of(arguments_);
  const auto shown = this->text();
  // An editor that ends the last line changes nothing by that.
  if (text.size() == shown.size() + 1 && text.ends_with('\n') &&
      text.starts_with(shown))
    text.remove_suffix(1);
  if (what_ == what::command) {
    const auto command = trimmed(text);
    if (command.empty()) return cannot("there is no command");
    x["command"] = text == shown ? member(x, "command") : std::string{command};
  } else if (what_ == what::content) {
    x["content"] = std::string{text};
  } else if (text != shown || !now || !changed(*now, x)) {
    if (!now || now->empty())
      return cannot(member(x, "path") +
                    " is empty, gone, or cannot be read by now");
    if (text == *now) return cannot("the file would stay as it is");
    x.erase("replace_all");
    x["old_string"] = *now;
    x["new_string"] = std::string{text};
  }
  // In the order of the model, which makes the same call so again.
  return x.dump();
}

bool call_edit::replaces_all(const std::string& arguments,
                             const std::optional<std::string>& now) const {
  return what_ == what::content ||
         (what_ == what::change && now &&
          member(object_of(arguments), "old_string") == *now);
}

std::string call_edit::preview_of(const std::string& arguments) const {
  const auto x = object_of(arguments);
  if (what_ == what::command) return member(x, "command");
  if (what_ == what::json) return {};
  const auto path = member(x, "path");
  const auto before = file_.value_or("");
  const auto after =
      what_ == what::content ? member(x, "content") : member(x, "new_string");
  if (before == after) return "Leaves the file as it is";
  constexpr std::size_t most = 240u << 10;
  return tools::unified_diff(before, after,
                             {.before = file_ ? "a/" + path : "/dev/null",
                              .after = "b/" + path,
                              .most_bytes = most})
      .text;
}

}  // namespace riffle::cli
