// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"
#include "tests/support/skip.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/search/ignore_rules.hpp"
#include "tools/builtin/search/tree_walk.hpp"

using namespace riffle;
using namespace riffle::tools;
namespace fs = std::filesystem;

namespace {

bool ignored(std::string_view rules, std::string_view path,
             bool folder = false) {
  return ignore_rules{rules}.of(path, folder) == verdict::ignored;
}

/// Files that the walk finds, in its order.
std::vector<std::string> walked(const fs::path& top,
                                const std::string& start = ".",
                                bool include_ignored = false) {
  const unique_fd root{::open(top.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
  tree_walk walk{root.get(), {.include_ignored = include_ignored}, {}};
  std::vector<std::string> result;
  CHECK(walk.run(start, {.enter = [](const std::string&) { return true; },
                         .visit =
                             [&](const std::string& path, entry_kind kind) {
                               if (kind != entry_kind::folder)
                                 result.push_back(path);
                               return true;
                             }}) == 0);
  return result;
}

using names = std::vector<std::string>;

int git(const fs::path& folder, const std::string& arguments) {
  const auto command = "cd '" + folder.string() +
                       "' && GIT_CONFIG_GLOBAL=/dev/null "
                       "GIT_CONFIG_SYSTEM=/dev/null git " +
                       arguments;
  return std::system(command.c_str());  // NOLINT(bugprone-command-processor)
}

/// What git would add: untracked files that no rule ignores, sorted.
names git_files(const fs::path& folder, const fs::path& list) {
  REQUIRE(git(folder, "ls-files -z --others --exclude-standard > '" +
                          list.string() + "'") == 0);
  names result;
  std::istringstream text{testing::slurp(list)};
  for (std::string name; std::getline(text, name, '\0');)
    result.push_back(name);
  std::sort(result.begin(), result.end());
  return result;
}

class random_tree {
 public:
  explicit random_tree(std::uint64_t seed) : random{seed} {}

  void fill(const testing::temp_folder& to, const std::string& folder,
            int depth) {
    for (auto n = random.below(5) + 1; n-- > 0;) {
      const auto name = random.one_of(file_names);
      const auto path = folder + name;
      if (fs::exists(to.path() / path)) continue;
      if (depth > 0 && random.chance(0.4))
        fill(to, path + "/", depth - 1);
      else
        to.write(path, "");
    }
    if (random.chance(0.5)) to.write(folder + ".gitignore", rules());
  }

  std::string rules() {
    static const names parts = {
        "a",           "b",    "ab", "*", "**", "/",   "/",   "?",
        "[ab]",        "[!a]", "\\", " ", ".c", "a.c", "**/", "/**",
        "[[:alpha:]]", "[a",   "x",  "!", "#",  "-"};
    std::string result;
    for (auto n = random.below(6); n-- > 0;) {
      if (random.chance(0.25)) result += "!";
      if (random.chance(0.2)) result += "/";
      for (auto k = random.below(4) + 1; k-- > 0;)
        result += random.one_of(parts);
      if (random.chance(0.2)) result += "/";
      if (random.chance(0.1)) result += random.chance(0.5) ? " " : "\\ ";
      result += random.chance(0.1) ? "\r\n" : "\n";
    }
    return result;
  }

  testing::random_values random;
  const names file_names = {"a",   "b",  "ab", "a.c", "b.c", "x", "ba",
                            "a b", "#a", "!b", ".c",  "a ",  "-"};
};

}  // namespace

TEST_CASE("rules of gitignore(5) hold, the last one that matches decides") {
  CHECK(ignored("*.o\n", "x/a.o"));
  CHECK(ignored("# no\n\n*.o", "a.o"));
  CHECK_FALSE(ignored("*.o\n!keep.o\n", "keep.o"));
  CHECK(ignored("!keep.o\n*.o\n", "keep.o"));
  CHECK(ignored("/top", "top"));
  CHECK_FALSE(ignored("/top", "x/top"));
  CHECK(ignored("a/b", "a/b"));
  CHECK_FALSE(ignored("a/b", "x/a/b"));
  CHECK(ignored("build/", "x/build", true));
  CHECK_FALSE(ignored("build/", "x/build", false));
  CHECK(ignored("a/**/b", "a/b"));
  CHECK(ignored("a/**/b", "a/x/y/b"));
  CHECK(ignored("**/foo", "x/foo"));
  CHECK(ignored("abc/**", "abc/x/y"));
  CHECK_FALSE(ignored("abc/**", "abc", true));
  CHECK(ignored("\\#a", "#a"));
  CHECK(ignored("\\!a", "!a"));
  CHECK(ignored("a   ", "a"));
  CHECK(ignored("a\\ ", "a "));
  CHECK(ignored("a\r\n", "a"));
  CHECK(
      ignored("\xEF\xBB\xBF"
              "a\n",
              "a"));
  CHECK_FALSE(ignored("[a", "[a"));
  CHECK_FALSE(ignored("", "a"));
}

TEST_CASE("rules of folders add up, and an ignored folder is not entered") {
  const testing::temp_folder x;
  x.write(".gitignore", "*.o\n/out/\nlogs/*\n!logs/keep\n");
  x.write("a.o", "");
  x.write("b.c", "");
  x.write("out/x", "");
  x.write("sub/.gitignore", "!a.o\n*.c\n");
  x.write("sub/a.o", "");
  x.write("sub/b.c", "");
  x.write("sub/out/x", "");
  x.write("logs/keep", "");
  x.write("logs/other", "");
  x.write("out/.gitignore", "!x\n");
  x.write(".git/info/exclude", "private\n!*.c\n");
  x.write(".git/config", "");
  x.write("private", "");
  CHECK(walked(x.path()) == names{".gitignore", "b.c", "logs/keep",
                                  "sub/.gitignore", "sub/a.o", "sub/out/x"});
  // A start that is ignored itself is walked; the rules above it hold.
  CHECK(walked(x.path(), "out") == names{"out/.gitignore", "out/x"});
  CHECK(walked(x.path(), "sub") ==
        names{"sub/.gitignore", "sub/a.o", "sub/out/x"});
  CHECK(walked(x.path(), ".", true).size() == 12);
}

TEST_CASE("rules are not read through a symbolic link") {
  const testing::temp_folder x;
  x.write("rules", "a\n");
  x.write("ws/a", "");
  fs::create_symlink("../rules", x.path() / "ws/.gitignore");
  CHECK(walked(x.path() / "ws") == names{".gitignore", "a"});
}

TEST_CASE("what is ignored on random trees is what git ignores") {
  if (std::system("git --version > /dev/null 2>&1") != 0) {
    testing::skip("git is not installed");
    return;
  }
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  random_tree make{seed};
  const testing::temp_folder lists;
  std::size_t left_out = 0;
  for (int round = 0; round < 60; ++round) {
    const testing::temp_folder x;
    make.fill(x, "", 3);
    const auto all = walked(x.path(), ".", true).size();
    REQUIRE(git(x.path(), "init -q .") == 0);
    x.write(".git/info/exclude", make.rules());
    auto ours = walked(x.path());
    left_out += all - ours.size();
    std::sort(ours.begin(), ours.end());
    const auto theirs = git_files(x.path(), lists.path() / "list");
    if (ours == theirs) continue;
    std::string rules;
    for (const auto& file : walked(x.path(), ".", true))
      if (file.ends_with(".gitignore"))
        rules += "== " + file + "\n" + testing::slurp(x.path() / file);
    rules += "== exclude\n" + testing::slurp(x.path() / ".git/info/exclude");
    CAPTURE(round, rules);
    REQUIRE(ours == theirs);
  }
  CHECK(left_out > 20);
}
