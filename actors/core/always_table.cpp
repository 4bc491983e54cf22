// SPDX-License-Identifier: MIT
#include "actors/core/always_table.hpp"

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
  return matches_any("run run-script exec x dlx tool script", subcommand);
}

}  // namespace riffle::core
