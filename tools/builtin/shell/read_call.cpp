// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/read_call.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "runtime/base/folders.hpp"
#include "runtime/base/read_within.hpp"
#include "tools/builtin/files/place.hpp"
#include "tools/process/find_program.hpp"

namespace riffle::tools {

namespace {

namespace fs = std::filesystem;

/// Change what these programs do, or name others.
constexpr std::array unwanted = {"GIT_",
                                 "LESS",
                                 "MAGIC",
                                 "GREP_OPTIONS",
                                 "RIPGREP_CONFIG_PATH",
                                 "PAGER",
                                 "BASH_ENV",
                                 "BASH_FUNC_",
                                 "POSIXLY_CORRECT",
                                 "ENV=",
                                 "TEXTDOMAIN",
                                 "TMPDIR="};

std::vector<std::string> quiet_environment(
    const std::vector<std::string>& from) {
  std::vector<std::string> out;
  for (const auto& entry : from)
    if (std::ranges::none_of(
            unwanted, [&](const char* x) { return entry.starts_with(x); }))
      out.push_back(entry);
  for (const auto* entry :
       {"GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
        "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none", "PAGER=cat",
        // The person's own settings may name filters and other programs.
        "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1",
        // `sort` of more than fits into memory would write files.
        "TMPDIR=/dev/null"})
    out.emplace_back(entry);
  return out;
}

/// The program of that name as PATH has it; empty if that is a file of the
/// workspace, which anybody may have put there.
std::string find_outside(const std::string& name, const fs::path& workspace,
                         const std::vector<std::string>& environment) {
  constexpr std::string_view key = "PATH=";
  std::string_view path = "/usr/bin:/bin";
  for (const auto& entry : environment)
    if (entry.starts_with(key)) path = std::string_view{entry}.substr(5);
  if (name.find('/') != std::string::npos) return {};
  for (const fs::path folder : path_folders(path)) {
    // A shell would look into the workspace now: that is no certain answer.
    if (!folder.is_absolute()) return {};
    const auto file = folder / name;
    if (::access(file.c_str(), X_OK) != 0) continue;
    std::error_code failed;
    const auto real = fs::canonical(file, failed);
    if (failed || !fs::is_regular_file(real, failed)) continue;
    const auto home = fs::canonical(workspace, failed);
    const auto real_folder = fs::canonical(folder, failed);
    if (failed || is_within(real, home) || is_within(real_folder, home))
      return {};
    return file.string();
  }
  return {};
}

/// A folder and files of this user, no links.
bool is_own(const fs::path& file, mode_t kind) {
  struct stat about{};
  return ::lstat(file.c_str(), &about) == 0 &&
         (about.st_mode & S_IFMT) == kind && about.st_uid == ::geteuid();
}

/// Whether all that git reads in this folder lies in it: no link, and no file
/// that names another folder. Hooks are not read.
bool holds_all_it_reads(const fs::path& git) {
  constexpr int most = 32768;
  std::error_code failed;
  for (const auto* other : {"commondir", "objects/info/alternates"})
    if (fs::exists(fs::symlink_status(git / other, failed))) return false;
  fs::recursive_directory_iterator at{git, failed};
  for (int seen = 0; !failed && at != fs::recursive_directory_iterator{};
       at.increment(failed)) {
    if (at.depth() == 0 && at->path().filename() == "hooks") {
      at.disable_recursion_pending();
      continue;
    }
    if (++seen > most || at->is_symlink(failed) || failed) return false;
  }
  return !failed;
}

bool is_own_repository(const fs::path& workspace) {
  constexpr std::size_t most = 65536;
  const auto git = workspace / ".git";
  const auto config = git / "config";
  std::error_code failed;
  if (!is_own(git, S_IFDIR) || !is_own(config, S_IFREG)) return false;
  if (fs::file_size(config, failed) > most || failed) return false;
  const auto text = read_within(config);
  return text && core::is_harmless_git_config(*text) && holds_all_it_reads(git);
}

/// What stands in front of the words that the model gave.
std::vector<std::string> git_words(const std::string& program,
                                   const std::vector<std::string>& given) {
  std::vector<std::string> out = {program,      "--git-dir=.git",
                                  "--no-pager", "--no-optional-locks",
                                  "-c",         "core.fsmonitor=false",
                                  "-c",         "core.hooksPath=/dev/null",
                                  "-c",         "diff.autoRefreshIndex=false",
                                  "-c",         "log.showSignature=false",
                                  "-c",         "gpg.program=/dev/null",
                                  "-c",         "gpg.x509.program=/dev/null",
                                  "-c",         "gpg.ssh.program=/dev/null"};
  const auto& name = given.size() > 1 ? given[1] : given[0];
  const bool changes = name == "diff" || name == "log" || name == "show";
  for (std::size_t i = 1; i < given.size(); ++i) {
    out.push_back(given[i]);
    if (i > 1) continue;
    if (changes) {
      out.emplace_back("--no-ext-diff");
      out.emplace_back("--no-textconv");
    }
    // Git would start itself in them, with settings of their own.
    if (changes || name == "status")
      out.emplace_back("--ignore-submodules=dirty");
  }
  return out;
}

}  // namespace

std::optional<read_call> make_read_call(
    const std::string& line, const std::vector<std::string>& list,
    const fs::path& workspace, const std::vector<std::string>& environment) {
  auto command = core::as_read_command(line, list);
  if (!command) return {};
  read_call out;
  for (const auto& path : command->places) {
    auto place = path_subject(workspace, path);
    std::error_code absent;
    if (!place.known ||
        (command->files_only && fs::is_directory(workspace / path, absent)))
      return {};
    out.claim.places.push_back(std::move(place));
  }
  out.claim.sweeps = command->sweeps;
  auto program = find_outside(command->words.front(), workspace, environment);
  if (program.empty()) return {};
  if (command->git && !is_own_repository(workspace)) return {};
  out.environment = quiet_environment(environment);
  if (command->git) {
    out.command = git_words(program, command->words);
  } else {
    out.command = std::move(command->words);
    out.command.front() = std::move(program);
  }
  return out;
}

}  // namespace riffle::tools
