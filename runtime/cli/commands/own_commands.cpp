// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/own_commands.hpp"

#include <algorithm>
#include <functional>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "actors/tools/call_policy.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/folders.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/commands/file_part.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/chat_line.hpp"
#include "runtime/config/home.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_entries = 1000;
constexpr auto ending = ".md";
constexpr auto of_folder = ".riffle/commands";

fs::path own_folder() {
  const auto base = config::user_folder("XDG_CONFIG_HOME", "~/.config");
  return base ? *base / "riffle" / "commands" : fs::path{};
}

/// A folder of commands.
struct source {
  fs::path folder;
  std::string shown;
  bool foreign = false;
};

/// The user's own count first.
std::vector<source> sources() {
  std::vector<source> out;
  if (const auto own = own_folder(); !own.empty())
    out.push_back({own, own.string(), false});
  out.push_back({of_folder, std::string{"./"} + of_folder, true});
  return out;
}

own_command command_in(const source& x, const std::string& name) {
  const auto file = name + ending;
  return {name, x.folder / file, x.shown + "/" + file, x.foreign};
}

/// Why no command may have this name; empty: it may.
std::string why_taken(const std::string& name) {
  if (!is_command_word(name))
    return "a command is named with small letters, digits, - and _, a letter "
           "first";
  if (is_built_in(name)) return "/" + name + " is built in";
  if (name.find("__") != name.npos) return "names with __ are of servers";
  return {};
}

std::string why_refused(const std::string& name, const own_commands& known) {
  if (auto why = why_taken(name); !why.empty()) return why;
  const auto other = std::ranges::find(known.all, name, &own_command::name);
  return other == known.all.end() ? "" : "/" + name + " is " + other->shown;
}

void add_from(const source& from, own_commands& to) {
  std::vector<std::string> names;
  std::error_code problem;
  fs::directory_iterator at{from.folder, problem};
  for (std::size_t n = 0;
       !problem && at != fs::directory_iterator{} && n < most_entries;
       at.increment(problem), ++n) {
    const auto& file = at->path();
    const auto name = file.stem().string();
    // What explains a folder, or is hidden, is meant for no command.
    if (file.extension() == ending && name != "README" &&
        !name.starts_with('.'))
      names.push_back(name);
  }
  std::ranges::sort(names);
  for (const auto& name : names) {
    auto one = command_in(from, name);
    if (const auto why = why_refused(name, to); !why.empty())
      to.refused.push_back(one.shown + " is not used: " + why);
    else
      to.all.push_back(std::move(one));
  }
}

unexpected refused(const own_command& x, const std::string& why) {
  return unexpected{error{errc::invalid_request, "chat", x.shown + " " + why}};
}

bool is_plain_text(std::string_view x) {
  while (!x.empty()) {
    const auto c = first_character(x);
    if (!c.valid || c.code == 0) return false;
    x.remove_prefix(c.size);
  }
  return true;
}

bool leads_out(const fs::path& file) {
  std::error_code gone;
  const auto here = fs::canonical(fs::current_path(gone), gone);
  const auto whole = gone ? fs::path{} : fs::canonical(file, gone);
  return gone || !is_within(whole, here);
}

}  // namespace

own_commands find_own_commands() {
  own_commands out;
  for (const auto& from : sources()) add_from(from, out);
  std::ranges::sort(out.all, {}, &own_command::name);
  return out;
}

std::optional<own_command> find_own_command(const std::string& name) {
  if (!why_taken(name).empty()) return std::nullopt;
  for (const auto& from : sources()) {
    auto one = command_in(from, name);
    std::error_code gone;
    if (fs::exists(fs::symlink_status(one.file, gone))) return one;
  }
  return std::nullopt;
}

expected<own_text> read_own(const own_command& x) {
  struct stat about{};
  if (::stat(x.file.c_str(), &about) != 0 || !S_ISREG(about.st_mode))
    return refused(x, "is no file that can be read");
  if (about.st_uid != ::geteuid())
    return refused(x, "belongs to another user, so it is not used");
  if (x.of_folder && leads_out(x.file))
    return refused(x, "leads out of this folder, so it is not used");
  if (std::cmp_greater(about.st_size, most_of_command))
    return refused(x, "is larger than " + size_text(most_of_command) +
                          ": name files in it by '@PATH'");
  const auto text = read_within(x.file, {.bytes = most_of_command});
  if (!text) return refused(x, text.error());
  if (!is_plain_text(*text)) return refused(x, "is no text in UTF-8");
  auto out = parse_own(*text);
  if (out.task.empty()) return refused(x, "says nothing");
  return out;
}

namespace {

/// Words of `task` that nobody typed, of whose files this holds.
std::vector<std::string> untyped(
    const std::string& task, const std::string& typed,
    const std::function<bool(const fs::path&)>& holds) {
  const auto own = mentioned_files(typed);
  std::vector<std::string> out;
  for (auto& word : mentioned_files(task)) {
    const auto part = find_part(word).part;
    if (part && std::ranges::find(own, word) == own.end() && holds(part->name))
      out.push_back(std::move(word));
  }
  return out;
}

}  // namespace

std::vector<std::string> leading_out(const std::string& task,
                                     const std::string& typed) {
  return untyped(task, typed, leads_out);
}

std::vector<std::string> kept_from_read(const std::string& task,
                                        const std::string& typed,
                                        const config::tools_config& settings) {
  const auto rules = rules_of(settings, "read");
  const auto otherwise = otherwise_of(settings, "read", effect::read_only);
  return untyped(task, typed, [&](const fs::path& file) {
    std::error_code gone;
    const auto here = fs::canonical(settings.of("read").workspace, gone);
    const auto whole = gone ? fs::path{} : fs::canonical(file, gone);
    const auto place = whole.lexically_relative(here).string();
    return gone || core::policy_of({.text = place, .place = true}, otherwise,
                                   rules) != core::approval_policy::allow;
  });
}

}  // namespace riffle::cli
