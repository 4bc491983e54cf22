// SPDX-License-Identifier: MIT
// How a command that only reads is started, and of which repositories.
#include "tools/builtin/shell/read_call.hpp"

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/tools/tool_fixture.hpp"

using namespace riffle;
namespace fs = std::filesystem;

namespace {

void make_repository(const testing::temp_folder& folder) {
  for (const auto* x : {"objects/info", "refs/heads", "hooks", "logs"})
    fs::create_directories(folder.path() / ".git" / x);
  folder.write(".git/HEAD", "ref: refs/heads/topic\n");
  folder.write(".git/config", "[core]\n\tbare = false\n");
}

auto read_of(const testing::temp_folder& folder,
             const std::string& command = "git log") {
  return tools::make_read_call(
      command, {command}, folder.path(),
      {"PATH=/usr/bin:/bin", "GIT_CONFIG_GLOBAL=/x", "GIT_CONFIG_COUNT=1"});
}

}  // namespace

TEST_CASE("git reads with nobody's settings, and runs no other program") {
  const testing::temp_folder folder;
  make_repository(folder);
  const auto call = read_of(folder);
  REQUIRE(call);
  const auto has = [](const auto& all, const std::string& x) {
    return std::ranges::find(all, x) != all.end();
  };
  CHECK(has(call->environment, "GIT_CONFIG_GLOBAL=/dev/null"));
  CHECK(has(call->environment, "GIT_CONFIG_NOSYSTEM=1"));
  CHECK_FALSE(has(call->environment, "GIT_CONFIG_GLOBAL=/x"));
  CHECK_FALSE(has(call->environment, "GIT_CONFIG_COUNT=1"));
  for (const std::string kind : {"", "x509.", "ssh."})
    CHECK(has(call->command, "gpg." + kind + "program=/dev/null"));
  for (const std::string name : {"status", "diff", "log", "show"}) {
    CAPTURE(name);
    const auto one = read_of(folder, "git " + name);
    REQUIRE(one);
    for (const auto* always :
         {"--no-pager", "--no-optional-locks", "core.fsmonitor=false",
          "core.hooksPath=/dev/null", "--ignore-submodules=dirty"})
      CHECK(has(one->command, always));
    for (const auto* of_changes : {"--no-ext-diff", "--no-textconv"})
      CHECK(has(one->command, of_changes) == (name != "status"));
  }
}

TEST_CASE("a repository that leads to another one is not surely read") {
  const testing::temp_folder folder;
  const testing::temp_folder other;
  const auto git = folder.path() / ".git";
  for (const auto* link :
       {"refs/heads/o", "logs/HEAD", "packed-refs", "objects/ab",
        "objects/pack/x.pack", "index", "info"}) {
    CAPTURE(link);
    make_repository(folder);
    fs::create_directories((git / link).parent_path());
    fs::create_symlink(other.path(), git / link);
    CHECK_FALSE(read_of(folder));
    fs::remove(git / link);
    CHECK(read_of(folder));
  }
  for (const auto* file : {".git/objects/info/alternates", ".git/commondir"}) {
    CAPTURE(file);
    folder.write(file, other.path().string() + "\n");
    CHECK_FALSE(read_of(folder));
    fs::remove(folder.path() / file);
  }
  fs::create_symlink(other.path(), git / "hooks/pre-commit");
  CHECK(read_of(folder));
}
