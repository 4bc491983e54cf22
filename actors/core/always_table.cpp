// SPDX-License-Identifier: MIT
#include "actors/core/always_table.hpp"

#include <algorithm>
#include <ranges>

#include "actors/core/command_table.hpp"

namespace riffle::core {

bool is_harmless(std::string_view command) {
  return matches_any(
      "echo : true false cd pwd ls dir cat head tail wc grep egrep fgrep which "
      "whereis type basename dirname realpath readlink stat df du seq sleep "
      "cut tr diff cmp comm nl fold md5sum sha1sum sha256sum uname whoami id "
      "uptime free ps",
      command);
}

bool names_files(std::string_view command) {
  return is_harmless(command) &&
         !matches_any(
             "echo : true false cd pwd type seq sleep uname whoami id "
             "uptime free ps",
             command);
}

bool has_subcommands(std::string_view command) {
  return matches_any(
      "git gh glab cargo rustup go npm pnpm yarn pip pip3 pipx uv "
      "poetry "
      "apt apt-get dnf yum zypper pacman apk brew snap flatpak systemctl "
      "dotnet gem bundle mix composer terraform conda nix find rg",
      command);
}

bool runs_the_folder(std::string_view command) {
  return matches_any(
      "make gmake ninja cmake ctest pytest cargo go npm pnpm yarn pip pip3 "
      "pipx uv poetry dotnet gem bundle mix composer terraform conda nix",
      command);
}

bool takes_texts(std::string_view command) {
  return matches_any("git gh glab find rg", command);
}

bool is_builder(std::string_view command) {
  return matches_any("make gmake ninja ctest pytest", command);
}

bool is_runner(std::string_view subcommand) {
  return matches_any("run run-script exec x dlx tool script extension alias",
                     subcommand);
}

namespace {

/// Others may have the next word as their value, and shift the names.
bool is_git_switch(const shell_word& x) {
  return matches_any(
      "-u --set-upstream -f --force --force-with-lease -q --quiet -v "
      "--verbose -n --dry-run -a --all --tags --prune --no-verify "
      "--follow-tags -d --delete --rebase --ff-only --no-rebase",
      x.text);
}

}  // namespace

bool git_writes_output(const shell_part& command) {
  const auto is_output = [](const shell_word& x) {
    const std::string_view word = x.text;
    if (!word.starts_with("--"))
      return word.starts_with('-') && word.find('o') != word.npos;
    const auto name = word.substr(0, word.find('='));
    return name.size() > 2 &&
           std::string_view{"--output-directory"}.starts_with(name);
  };
  return !command.empty() && command.front().text == "git" &&
         std::ranges::any_of(command, is_output);
}

bool git_runs_others(const shell_part& command) {
  if (command.size() < 2 || command[0].text != "git") return false;
  const auto& act = command[1].text;
  const auto words = command | std::views::drop(2);
  const auto has = [&](std::string_view patterns) {
    return std::ranges::any_of(words, [&](const shell_word& x) {
      return matches_any(patterns, x.text);
    });
  };
  if (matches_any("maintenance lfs", act)) return true;
  if (act == "bisect") return has("vi* view");
  if (act == "archive") return has("--rem* --exe*");
  // Whose hooks and configuration lie in this folder.
  const auto is_place = [](const shell_word& x) {
    return !x.text.starts_with('-') && x.text.find('/') != x.text.npos;
  };
  if (act == "remote") return std::ranges::any_of(words, is_place);
  if (!matches_any("push fetch pull ls-remote", act)) return false;
  const auto first = std::ranges::find_if_not(words, is_git_switch);
  return (first != words.end() && is_place(*first)) ||
         (act == "push" && has("--rep*"));
}

bool git_names_host(const shell_part& command) {
  if (command.size() < 3 || command[0].text != "git") return false;
  const auto& act = command[1].text;
  // A file of the folder names them.
  if (act == "submodule") return true;
  if (act == "clone" && std::ranges::any_of(command, [](const shell_word& x) {
        return x.text.starts_with(
            "--rec");  // --recurse-submodules, --recursive
      }))
    return true;
  if (matches_any(
          "show diff log blame annotate checkout restore reset cat-file "
          "rev-parse rev-list grep ls-tree ls-files merge-base range-diff rm "
          "mv add status commit cherry-pick revert merge rebase stash tag "
          "branch switch describe shortlog",
          act))
    return false;
  const bool has_revisions = matches_any("push fetch pull", act);
  const auto is_colon = [](const shell_word& x) {
    return x.text.find(':') != x.text.npos;
  };
  const auto words = command | std::views::drop(2);
  const auto first = std::ranges::find_if_not(words, is_git_switch);
  const bool is_named = first != words.end() && !first->text.starts_with('-') &&
                        !is_colon(*first);
  if (has_revisions && is_named)
    return std::ranges::any_of(first, words.end(), [&](const shell_word& x) {
      return x.text.starts_with('-') && is_colon(x);
    });
  return std::ranges::any_of(words, is_colon);
}

}  // namespace riffle::core
