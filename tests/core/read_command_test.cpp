// SPDX-License-Identifier: MIT
// Which command lines surely only read; and that no disguise is one of them.
#include "actors/core/read_command.hpp"

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/config/config.hpp"
#include "tests/core/disguises.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using core::read_command;

namespace {

const std::vector<std::string>& usual_list() {
  static const auto list = config::with_tool_defaults("bash", {}).read_only;
  return list;
}

bool is_read(std::string_view line) {
  return core::as_read_command(line, usual_list()).has_value();
}

std::vector<std::string> places_of(std::string_view line) {
  const auto x = core::as_read_command(line, usual_list());
  REQUIRE(x);
  return x->places;
}

using text_list = std::vector<std::string_view>;

void all_are(bool expected, const text_list& lines) {
  for (const auto x : lines) {
    CAPTURE(x);
    CHECK(is_read(x) == expected);
  }
}

}  // namespace

TEST_CASE("plain commands of programs that read are reads") {
  all_are(true, {"ls",
                 "ls -la src",
                 "pwd",
                 "which gcc",
                 "cat a.txt b.txt",
                 "head -n 5 a",
                 "head -5 a",
                 "tail -n +3 a",
                 "wc -l a b",
                 "stat a",
                 "file a",
                 "grep -rn 'a b' src",
                 "grep -e x -e y f",
                 "rg foo",
                 "rg -n --glob '*.cpp' foo src",
                 "find . -name '*.c'",
                 "find src -type f -maxdepth 2",
                 "find a b '(' -name x -o "
                 "-name y ')' -print",
                 "sed -n 5p a",
                 "sed -n '1,20p' a b",
                 "sed -n '7,$p' a",
                 "sed -n '$p' a",
                 "nl -ba a",
                 "sort a",
                 "sort -rnu -k 2,2 -t : a b",
                 "uniq -c a",
                 "cut -d : -f 1,3- a",
                 "diff a b",
                 "diff -u --label x a b",
                 "cmp -s a b",
                 "du -sh",
                 "du -h --max-depth=1 src",
                 "basename a/b.c .c",
                 "dirname a/b",
                 "realpath a",
                 "readlink -f a",
                 "sha256sum a b",
                 "md5sum a",
                 "date",
                 "date -u +%F",
                 "date -d yesterday '+%F %T'",
                 "git status",
                 "git status --short",
                 "git log --oneline -5",
                 "git log -n 3 main -- src",
                 "git diff --stat",
                 "git show HEAD^",
                 "git diff HEAD~1",
                 "git show HEAD~2:src/f.c",
                 "git log --oneline main~3..",
                 "git log HEAD~~..HEAD^~2",
                 "git branch --list -a",
                 "git branch --list 'x*'",
                 "  ls\t-l  ",
                 "'ls' \"src\""});
}

TEST_CASE("what has a second reading for a shell is no read") {
  all_are(false, {"ls; rm x",
                  "ls & rm x",
                  "ls | sh",
                  "ls $X",
                  "ls $(rm x)",
                  "ls `x`",
                  "ls > x",
                  "cat < x",
                  "ls (x)",
                  "ls\nrm x",
                  "ls ~",
                  "cat ~/x",
                  "cat *",
                  "cat a?",
                  "cat [a]",
                  "cat {a,b}",
                  "cat \\x",
                  "cat !x",
                  "A=1 ls",
                  "ls # x",
                  "cat 'a",
                  "cat \"$x\"",
                  "ls\rrm",
                  "",
                  " ",
                  "cat a\x01",
                  "ls && ls",
                  "! ls",
                  "time ls",
                  "command ls",
                  "exec ls",
                  "sudo ls",
                  "env ls",
                  "/bin/ls",
                  "./ls",
                  "bin/cat x",
                  "LS",
                  "l\\s",
                  "git diff ~1",
                  "cat --x=a~/f",
                  "cat x:~/f",
                  "cat a:b~/f",
                  "cat \"\"~/f",
                  "cat ''~",
                  "git diff a=HEAD~1",
                  "cat \u02dc/x",
                  "git diff -~1",
                  "cat /~/x",
                  "cat .~",
                  "cat <<< x",
                  "cat <(ls)",
                  "\"\" ls"});
}

TEST_CASE("options that execute, write, follow or wait are no reads") {
  all_are(false, {"find . -exec rm {} +",
                  "find . -exec rm x ';'",
                  "find . -execdir x ';'",
                  "find . -ok x ';'",
                  "find . -delete",
                  "find . -fprint x",
                  "find . -fprintf x y",
                  "find . -fls x",
                  "find -L .",
                  "find . -follow",
                  "find -H .",
                  "find . -files0-from x",
                  "find . -name",
                  "find . -samefile x",
                  "grep -f x y",
                  "grep -R x .",
                  "grep --file=x y",
                  "grep --fil=x y",
                  "grep --dereference-recursive x .",
                  "grep -rR x .",
                  "grep",
                  "rg --pre sh x",
                  "rg --pre=sh x",
                  "rg -z x",
                  "rg --search-zip x",
                  "rg -L x",
                  "rg --follow x",
                  "rg -f x",
                  "rg --hostname-bin=x y",
                  "rg --ignore-file x y",
                  "tail -f x",
                  "tail -F x",
                  "tail --follow x",
                  "tail -nf x -f",
                  "wc --files0-from=x",
                  "ls -L x",
                  "ls --dereference",
                  "ls -lL x",
                  "stat -L x",
                  "stat --dereference x",
                  "file -f x",
                  "file -C -m x",
                  "file -m x y",
                  "file -z x",
                  "file -s x",
                  "file -L x",
                  "cat --unknown x",
                  "cat --number=3 x",
                  "pwd x",
                  "git -c core.pager=x status",
                  "git -C .. status",
                  "git --git-dir=x status",
                  "git --exec-path=x status",
                  "git --paginate log",
                  "git -p log",
                  "git diff --output=x",
                  "git diff --output x",
                  "git diff --outp=x",
                  "git diff --ext-diff",
                  "git log --ext-diff",
                  "git show --textconv",
                  "git diff --no-index a b",
                  "git log -c x",
                  "git log --show-signature",
                  "git log --format=%G?",
                  "git log '--format=%+G?'",
                  "git log --format=%-GG",
                  "git log '--pretty=format:% GK'",
                  "git branch --list --sort=signature:grade",
                  "git diff -U f",
                  "git diff -U",
                  "git diff -U5",
                  "git log --pretty=format:%h%GS",
                  "git log -L1,2:x",
                  "git diff -O x",
                  "git diff --submodule=diff",
                  "git status -v",
                  "git branch",
                  "git branch x",
                  "git branch -D x",
                  "git branch --list --edit-description",
                  "git branch --list -D x",
                  "git push",
                  "git commit -m x",
                  "git grep x",
                  "git show :/x",
                  "git diff ':(top)x'",
                  "git log ':/x'",
                  "git",
                  "git stash",
                  "git log --stdin",
                  "git log --remerge-diff",
                  "git diff --word-diff-regex",
                  "git status --ignore-submodules=none",
                  "git fetch",
                  "git log -pO x"});
}

TEST_CASE("what a command would read is named") {
  using list = std::vector<std::string>;
  CHECK(places_of("cat a ../b") == list{"a", "../b"});
  CHECK(places_of("cat -- -n") == list{"-n"});
  CHECK(places_of("grep x a b") == list{"a", "b"});
  CHECK(places_of("grep a -e x") == list{"a"});
  CHECK(places_of("grep -ie x a") == list{"a"});
  CHECK(places_of("grep -A 3 x a") == list{"a"});
  CHECK(places_of("grep -r x") == list{"."});
  CHECK(places_of("rg x") == list{"."});
  CHECK(places_of("rg --files ..") == list{".."});
  CHECK(places_of("ls") == list{"."});
  CHECK(places_of("find") == list{"."});
  CHECK(places_of("find a -newer /b") == list{"a", "/b"});
  CHECK(places_of("head -n 3 /etc/passwd") == list{"/etc/passwd"});
  CHECK(places_of("git diff main..x ../y") == list{"main..x", "../y"});
  CHECK(places_of("which x").empty());
  CHECK(places_of("sed -n 1,2p a ../b") == list{"a", "../b"});
  CHECK(places_of("sort -k 2 a /b") == list{"a", "/b"});
  CHECK(places_of("uniq a") == list{"a"});
  CHECK(places_of("diff a /b") == list{"a", "/b"});
  CHECK(places_of("cmp -n 5 a b") == list{"a", "b"});
  CHECK(places_of("du") == list{"."});
  CHECK(places_of("du -d 1 ..") == list{".."});
  CHECK(places_of("realpath /a") == list{"/a"});
  CHECK(places_of("md5sum a b") == list{"a", "b"});
  CHECK(places_of("basename /a /b").empty());
  CHECK(places_of("date -u +%F").empty());
  CHECK(core::as_read_command("diff a b", usual_list())->files_only);
  CHECK(core::as_read_command("du a", usual_list())->sweeps);
  CHECK_FALSE(core::as_read_command("sort a", usual_list())->sweeps);
  CHECK(core::as_read_command("cat a", usual_list()) ==
        read_command{{"cat", "a"}, {"a"}, false, false});
  CHECK(core::as_read_command("git log -5", usual_list()) ==
        read_command{{"git", "log", "-5"}, {"."}, true, true});
  CHECK_FALSE(core::as_read_command("cat a", usual_list())->sweeps);
  CHECK(core::as_read_command("grep -r x a", usual_list())->sweeps);
}

TEST_CASE("only what the list names is a read") {
  CHECK(core::as_read_command("ls -l", {"ls"}));
  CHECK_FALSE(core::as_read_command("cat x", {"ls"}));
  CHECK_FALSE(core::as_read_command("ls", {}));
  CHECK_FALSE(core::as_read_command("git log", {"git status"}));
  CHECK_FALSE(core::as_read_command("git log", {"git"}));
  // What is not known counts as it is written, and in no other way.
  CHECK(core::as_read_command("date", {"date"}));
  CHECK(core::as_read_command("npm  ls", {"npm ls"}));
  CHECK_FALSE(core::as_read_command("date -s x", {"date"}));
  CHECK_FALSE(core::as_read_command("npm ls x", {"npm ls"}));
  CHECK_FALSE(core::as_read_command("ls x; y", {"ls x; y"}));
  CHECK(core::is_read_entry("git status"));
  CHECK_FALSE(core::is_read_entry("ls | x"));
  CHECK_FALSE(core::is_read_entry("./x"));
  CHECK_FALSE(core::is_read_entry(""));
}

TEST_CASE("no disguised command is a read") {
  std::mt19937 random{20261124};
  const auto list = usual_list();
  int reads = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto line = testing::make_disguise(random, testing::any_ban(random));
    for (const auto* reader : {"zap", "cat", "ls", "find", "grep", "sort",
                               "sed", "diff", "uniq", "date", "realpath"}) {
      const auto seen = testing::replaced(line, "zap", reader);
      const auto x = core::as_read_command(seen, list);
      if (!x) continue;
      ++reads;
      CAPTURE(seen);
      // The line is these words and nothing that a shell could add to them.
      CHECK(seen.find_first_of(";&|$`<>\n\\") == std::string::npos);
      for (const auto& word : x->words) CHECK(word.find("zap") == word.npos);
    }
  }
  CAPTURE(reads);
  CHECK(reads > 0);
}

TEST_CASE("a line of 10,000 words is told without delay") {
  std::string line = "cat";
  for (int i = 0; i < 2'000; ++i) line += " w" + std::to_string(i);
  CHECK(is_read(line));
  for (int i = 0; i < 10'000; ++i) line += " w" + std::to_string(i);
  CHECK_FALSE(is_read(line));
}

TEST_CASE("settings of a repository that name nothing to run are harmless") {
  CHECK(core::is_harmless_git_config(
      "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false"
      "\n\tlogallrefupdates = true\n[remote \"origin\"]\n\turl = git@x:y.git\n"
      "\tfetch = +refs/heads/*:refs/remotes/origin/*\n# x\n[branch \"main\"]\n"
      "\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A \"B\" C"
      "\n"));
  CHECK(core::is_harmless_git_config(""));
}

TEST_CASE("all other settings of a repository are not") {
  for (const auto* x : {"[core]\nfsmonitor = ./x",
                        "[core] fsmonitor = ./x",
                        "[CORE]\nFsMonitor=./x",
                        "[core]\npager = x",
                        "[core]\nworktree = /",
                        "[core]\nhooksPath = x",
                        "[core]\nsshCommand = x",
                        "[core]\nattributesFile = x",
                        "[diff]\nexternal = x",
                        "[diff \"a\"]\ntextconv = x",
                        "[diff.a]\ncommand = x",
                        "[filter \"a\"]\nclean = x",
                        "[filter \"a\"]\nprocess = x",
                        "[include]\npath = x",
                        "[includeIf \"gitdir:/\"]\npath = x",
                        "[gpg]\nprogram = x",
                        "[log]\nshowSignature = true",
                        "[alias]\nstatus = !x",
                        "[pager]\nlog = x",
                        "[pretty]\nx = %G?",
                        "[extensions]\nworktreeConfig = true",
                        "[extensions]\npartialClone = x",
                        "[remote \"x\"]\npromisor = true",
                        "[remote \"x\"]\nuploadpack = x",
                        "[core]\nbare = a \\\nfsmonitor = x",
                        "[core]\nbare = false\x01",
                        "[core",
                        "bare = true",
                        "[]\nx = y",
                        "\xEF\xBB\xBF[core]\nfsmonitor = x",
                        "[remote \"a\"b\"]\nurl = x",
                        "[core]\nfilemode",
                        "[core]\nfsmonitor",
                        "[user] x",
                        "[submodule \"x\"]\nupdate = !x",
                        "[credential]\nhelper = x"}) {
    CAPTURE(std::string{x});
    const bool harmless = std::string_view{x} == "[core]\nfilemode";
    CHECK(core::is_harmless_git_config(x) == harmless);
  }
}
