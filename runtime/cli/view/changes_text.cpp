// SPDX-License-Identifier: MIT
#include "runtime/cli/view/changes_text.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/changed_words.hpp"
#include "runtime/cli/view/diff_lines.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_path = 500;
constexpr std::size_t longest_name = 80;
constexpr std::size_t most_named = 5;
constexpr std::size_t most_listed = 20;

std::string plain_path(const std::string& path) {
  return std::filesystem::path{path}.lexically_normal().string();
}

std::string whole_path(const std::string& folder, const std::string& path) {
  const bool within = !folder.empty() && !path.starts_with('/');
  return plain_path(within ? folder + "/" + path : path);
}

/// Shorter, where it is whole.
std::string path_within(const std::string& folder, const std::string& path) {
  auto out = plain_path(path);
  const bool within = !folder.empty() && out.size() > folder.size() &&
                      out.starts_with(folder) && out[folder.size()] == '/';
  return within ? out.substr(folder.size() + 1) : out;
}

/// The only one on record, which one that is not counts as; "": there is none;
/// nothing: there are several.
std::optional<std::string> only_folder(const session_changes& all) {
  std::string out;
  for (const auto& x : all.files) {
    if (x.folder.empty() || x.folder == out) continue;
    if (!out.empty()) return std::nullopt;
    out = x.folder;
  }
  return out;
}

bool is_called(std::string_view path, const std::string& name) {
  return path == name || (path.ends_with(name) && path.size() > name.size() &&
                          path[path.size() - name.size() - 1] == '/');
}

/// `name` is it, or a folder above it.
bool holds(const std::string& name, const std::string& path) {
  return path == name || (path.starts_with(name) && path[name.size()] == '/') ||
         name == ".";
}

/// As it was called, and where a link led it.
std::vector<std::string> names_of(const file_change& x,
                                  const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& path : {x.path, x.place}) {
    if (path.empty()) continue;
    out.push_back(plain_path(path));
    out.push_back(whole_path(folder, path));
  }
  return out;
}

/// Without the names, which stand above it.
std::string_view hunks_of(std::string_view diff) {
  if (diff.starts_with("@@ ")) return diff;
  const auto at = diff.find("\n@@ ");
  return at == diff.npos ? std::string_view{} : diff.substr(at + 1);
}

std::string lines_text(std::uint64_t added, std::uint64_t removed) {
  return "+" + std::to_string(added) + " -" + std::to_string(removed);
}

/// The lines that come and go by it.
std::string lines_in(std::string_view diff) {
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  for_each_line(hunks_of(diff), [&](std::string_view line) {
    added += line.starts_with('+') ? 1U : 0U;
    removed += line.starts_with('-') ? 1U : 0U;
  });
  return lines_text(added, removed);
}

std::string heading(const std::string& text, bool color) {
  return color ? "\x1b[1m" + text + "\x1b[0m\n" : text + "\n";
}

std::string head_of(const std::string& path, const std::string& counts) {
  return exact_name(path, longest_path) + "  " + counts;
}

}  // namespace

std::vector<changed_file> by_file(const session_changes& all,
                                  std::string_view only,
                                  const std::vector<run_id>& but_of) {
  auto wanted = only.empty() ? std::string{} : plain_path(std::string{only});
  if (wanted.size() > 1 && wanted.ends_with('/')) wanted.pop_back();
  const auto one = only_folder(all);
  const auto folder_of = [&](const file_change& x) {
    return one && x.folder.empty() ? *one : x.folder;
  };
  std::vector<changed_file> out;
  std::unordered_map<std::string, std::size_t> known;  // by node and place
  for (const auto& x : all.files) {
    if (std::ranges::find(but_of, x.run) != but_of.end()) continue;
    const auto& led = x.place.empty() ? x.path : x.place;
    const auto folder = folder_of(x);
    const auto [at, is_new] =
        known.try_emplace(x.node + '\n' + whole_path(folder, led), out.size());
    if (is_new)
      out.push_back(
          {one ? path_within(folder, x.path) : whole_path(folder, x.path),
           {},
           {}});
    out[at->second].calls.push_back(&x);
  }
  if (!wanted.empty())
    std::erase_if(out, [&](const changed_file& x) {
      return !is_called(x.path, wanted) && !holds(wanted, x.path) &&
             std::ranges::none_of(x.calls, [&](const file_change* call) {
               return std::ranges::any_of(names_of(*call, folder_of(*call)),
                                          [&](const std::string& name) {
                                            return is_called(name, wanted) ||
                                                   holds(wanted, name);
                                          });
             });
    });
  return out;
}

std::string colored_diff(std::string_view diff, const diff_look& look) {
  std::string out;
  for_each_line(with_line_ends(diff), [&](std::string_view line) {
    const auto paint = look.color ? paint_of(line) : std::string_view{};
    for (const auto& row : exact_rows(safe_text(line), look.columns))
      out.append(paint).append(row).append(paint.empty() ? "\n" : "\x1b[0m\n");
  });
  return out;
}

std::string change_text(const std::string& path, std::string_view diff,
                        const diff_look& look) {
  return heading(head_of(plain_path(path), lines_in(diff)), look.color) +
         colored_diff(hunks_of(diff), look);
}

std::string counts_text(const changed_file& x) {
  std::uint64_t added = 0;
  std::uint64_t removed = 0;
  for (const auto* one : x.calls) {
    added += one->added;
    removed += one->removed;
  }
  auto out = x.net ? lines_in(*x.net) : lines_text(added, removed);
  if (x.calls.front()->before.empty() && !x.calls.front()->after.empty())
    out += ", new";
  if (x.calls.size() > 1) out += ", " + counted(x.calls.size(), "change");
  if (const auto& node = x.calls.back()->node; !node.empty())
    out += ", on " + safe_line(node, 64);
  return out;
}

std::string changes_text(const std::vector<changed_file>& files,
                         const diff_look& look) {
  std::string out;
  for (const auto& x : files) {
    out += (out.empty() ? "" : "\n") +
           heading(head_of(x.path, counts_text(x)), look.color);
    if (x.net) {
      out += colored_diff(hunks_of(*x.net), look);
      continue;
    }
    for (const auto* one : x.calls) {
      out += colored_diff(hunks_of(one->diff), look);
      if (one->cut)
        out += "[the log holds only a part of this change: +" +
               std::to_string(one->added) + " -" +
               std::to_string(one->removed) + " lines in all]\n";
    }
  }
  return out;
}

std::string unchanged_text(std::string_view file,
                           const std::vector<changed_file>& all) {
  std::vector<std::string> names;
  for (const auto& x : all) names.push_back(exact_name(x.path, longest_path));
  const std::string none = "no call of write or edit has changed ";
  if (file.empty() || names.empty()) return none + "a file";
  return none + exact_name(file, longest_path) + "; the session changed " +
         join_some(names, most_listed);
}

std::string others_text(const std::vector<other_call>& others,
                        const std::vector<storage::call_record>& calls) {
  if (others.empty()) return {};
  std::vector<std::string> names;
  for (const auto& x : others) {
    const auto call = std::ranges::find_if(calls, [&](const auto& one) {
      return one.run == x.run && one.call.tool == x.tool &&
             one.call.title == x.title;
    });
    auto name = fit(call == calls.end() ? safe_line(x.tool, 64)
                                        : words_of(call->call).on({}),
                    longest_name);
    if (std::ranges::find(names, name) == names.end())
      names.push_back(std::move(name));
  }
  return "Only calls of write and edit are known; these may have changed "
         "more: " +
         join_some(names, most_named);
}

}  // namespace riffle::cli
