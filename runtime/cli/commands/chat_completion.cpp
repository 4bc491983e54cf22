// SPDX-License-Identifier: MIT
#include "runtime/cli/commands/chat_completion.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fcntl.h>
#include <filesystem>
#include <system_error>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/chat_line.hpp"
#include "runtime/cli/view/chat_offer.hpp"
#include "tools/builtin/search/tree_walk.hpp"

namespace riffle::cli {

namespace {

namespace fs = std::filesystem;

using strings = std::vector<std::string>;

constexpr std::size_t most_entries = 10'000;

/// Nobody can type that, and a line end would begin another line.
bool has_control(std::string_view name) {
  return std::ranges::any_of(
      name, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

/// What a word may become.
struct candidates {
  strings all{};
  bool cut = false;  ///< not everything was looked at
};

constexpr std::string_view told_cut =
    "  (not all of this folder was looked at)\n";

/// Entries of the path's folder that begin as it does; folders end with '/'.
candidates paths_like(const std::string& part) {
  const auto slash = part.rfind('/');
  const auto folder =
      slash == std::string::npos ? "" : part.substr(0, slash + 1);
  const auto name = part.substr(folder.size());
  candidates out;
  std::error_code problem;
  fs::directory_iterator at{folder.empty() ? "." : folder, problem};
  for (std::size_t n = 0; !problem && at != fs::directory_iterator{};
       at.increment(problem), ++n) {
    out.cut = n == most_entries;
    if (out.cut) break;
    auto found = at->path().filename().string();
    const bool hidden = found.starts_with('.') && !name.starts_with('.');
    if (hidden || !found.starts_with(name) || has_control(found)) continue;
    std::error_code ignored;
    if (at->is_directory(ignored)) found += '/';
    out.all.push_back(folder + found);
  }
  std::ranges::sort(out.all);
  return out;
}

std::string choices_text(const std::vector<std::string>& all,
                         std::size_t columns) {
  constexpr std::size_t most = 40;
  std::string out;
  for (std::size_t i = 0; i < all.size() && i < most; ++i)
    out += "  " + fit(safe_line(all[i], 200), columns > 4 ? columns - 3 : 1) +
           "\n";
  if (all.size() > most)
    out += "  … " + std::to_string(all.size() - most) + " more\n";
  return out;
}

bool holds(std::string_view name, const std::string& part) {
  return lower(name).find(part) != std::string::npos;
}

std::string_view name_of(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

bool is_hidden(std::string_view path) { return name_of(path).starts_with('.'); }

/// Paths of this folder whose name holds `part`, or the whole path if that has
/// a '/'; those whose name begins with it first. Nobody waits for a Tab: of a
/// large folder not all is looked at.
candidates paths_with(const std::string& part) {
  constexpr auto longest = std::chrono::milliseconds{300};
  constexpr std::uint64_t most_seen = 100'000;
  constexpr std::size_t most_found = 200;
  candidates out;
  const auto wanted = lower(part);
  const bool whole = part.find('/') != part.npos;
  const bool hidden = part.starts_with('.');
  const unique_fd root{::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (root.get() < 0 || part.starts_with('/') || part.starts_with("../"))
    return out;
  const auto until = std::chrono::steady_clock::now() + longest;
  tools::tree_walk walk{root.get(), {.most_names = most_entries}, {}};
  walk.run(".", {.enter =
                     [&](const std::string& folder) {
                       return hidden || !is_hidden(folder);
                     },
                 .visit =
                     [&](const std::string& path, tools::entry_kind kind) {
                       const bool fits =
                           holds(whole ? path : name_of(path), wanted) &&
                           (hidden || !is_hidden(path)) && !has_control(path);
                       const bool folder = kind == tools::entry_kind::folder;
                       if (fits) out.all.push_back(folder ? path + "/" : path);
                       out.cut = out.all.size() >= most_found ||
                                 walk.seen() >= most_seen ||
                                 std::chrono::steady_clock::now() >= until;
                       return !out.cut;
                     }});
  out.cut = out.cut || walk.cut_folders() > 0;
  std::ranges::stable_partition(out.all, [&](const std::string& x) {
    return lower(name_of(x)).starts_with(wanted);
  });
  return out;
}

/// What there is of `x` in place of `part`; where that is not certain, what
/// they have in common, if it says more. Where there may be others, a person
/// chooses.
chat_prompt::completion choice_of(const candidates& x, const std::string& part,
                                  std::size_t columns) {
  const auto& all = x.all;
  if (x.cut) return {0, {}, choices_text(all, columns) + std::string{told_cut}};
  const auto by = common_beginning(all);
  const bool certain = all.size() == 1 && !by.ends_with('/');
  if (certain) return {part.size(), by + " ", {}};
  if (by.size() > part.size() && holds(by, lower(without_here(part))))
    return {part.size(), by, {}};
  return {0, {}, choices_text(all, columns)};
}

chat_prompt::completion nothing_like(const candidates& x,
                                     const std::string& part) {
  const auto name = safe_line(part, 100) + "\n";
  if (!x.cut) return {0, {}, "  nothing here is called " + name};
  return {0,
          {},
          "  nothing was found that is called " + name + std::string{told_cut}};
}

candidates paths_for(const std::string& part) {
  auto out = paths_like(part);
  if (!out.all.empty() || part.empty()) return out;
  const auto wanted = without_here(part);
  out = paths_with(wanted);
  // As the person names them.
  for (auto& x : out.all) x.insert(0, part, 0, part.size() - wanted.size());
  return out;
}

/// Those that begin with `part`, else those that hold it.
strings names_like(const strings& names, const std::string& part) {
  const auto wanted = lower(part);
  strings out;
  for (const auto& x : names)
    if (lower(x).starts_with(wanted) && !has_control(x)) out.push_back(x);
  if (!out.empty()) return out;
  for (const auto& x : names)
    if (holds(x, wanted) && !has_control(x)) out.push_back(x);
  return out;
}

/// "/agent re"
chat_prompt::completion complete_argument(const begun_word& x,
                                          std::size_t columns,
                                          const argument_names& names) {
  constexpr std::array<std::string_view, 4> named{"agent", "model", "approve",
                                                  "resume"};
  const bool of_path = takes_path(x.command);
  if (!of_path &&
      (!names || std::ranges::find(named, x.command) == named.end()))
    return {};
  const auto found = of_path ? paths_for(x.part)
                             : candidates{names_like(names(x.command), x.part)};
  if (!found.all.empty()) return choice_of(found, x.part, columns);
  // Of what is saved the name may be new.
  return x.command == "save" || x.part.empty() ? chat_prompt::completion{}
                                               : nothing_like(found, x.part);
}

chat_prompt::completion complete_command(std::string_view word,
                                         std::size_t columns,
                                         std::span<const std::string> more) {
  std::vector<std::string> all;
  for (const auto& x : chat_commands()) {
    auto name = "/" + std::string{x.word};
    if (name.starts_with(word)) all.push_back(std::move(name));
  }
  for (const auto& x : more)
    if (("/" + x).starts_with(word)) all.push_back("/" + x);
  if (all.empty()) return {};
  auto by = common_beginning(all);
  if (all.size() == 1) return {word.size(), by + " ", {}};
  const bool longer = by.size() > word.size();
  return {word.size(), longer ? by : "",
          longer ? "" : choices_text(all, columns)};
}

chat_prompt::completion complete_path(const begun_word& x,
                                      std::size_t columns) {
  const auto paths = paths_for(x.part);
  const auto& all = paths.all;
  if (all.empty())
    return x.part.empty() ? chat_prompt::completion{}
                          : nothing_like(paths, x.part);
  auto found = choice_of(paths, x.part, columns);
  if (found.by.empty()) return found;
  const bool whole = all.size() == 1 && !all.front().ends_with('/');
  if (whole) found.by.pop_back();
  found.replaces = x.size();
  found.by = path_in_text(found.by, x.quoted, whole) + (whole ? " " : "");
  return found;
}

}  // namespace

chat_prompt::completion complete_chat(std::string_view before_cursor,
                                      std::size_t columns,
                                      std::span<const std::string> more,
                                      const argument_names& names) {
  const auto x = word_before(before_cursor);
  switch (x.what) {
    case word_kind::command:
      return complete_command(before_cursor, columns, more);
    case word_kind::argument: return complete_argument(x, columns, names);
    case word_kind::path: return complete_path(x, columns);
    case word_kind::none: break;
  }
  return {};
}

}  // namespace riffle::cli
