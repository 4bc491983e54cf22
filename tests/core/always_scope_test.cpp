// SPDX-License-Identifier: MIT
#include "actors/core/always_scope.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using core::always_matches;
using core::always_pattern;

namespace {

rule_subject command(const std::string& text) {
  return {.text = text, .shell = true};
}

rule_subject place(const std::string& text) { return {.text = text}; }

}  // namespace

TEST_CASE("the pattern of a command is its first words") {
  CHECK(always_pattern(command("git status -s")) == "git status *");
  CHECK(always_pattern(command("git status")) == "git status *");
  CHECK(always_pattern(command("make")) == "make *");
  CHECK(always_pattern(command("make -j2 test")) == "make *");
  CHECK(always_pattern(command("ninja riffle")) == "ninja *");
  CHECK(always_pattern(command("ls -la docs")) == "ls *");
  CHECK(always_pattern(command("find src -name x")) == "find src *");
  CHECK(always_pattern(command("npm run build -- -x")) == "npm run build *");
  CHECK(always_pattern(command("cargo test")) == "cargo test *");
}

TEST_CASE("where something is built is a part of the pattern") {
  for (const std::string folder :
       {"make -C lib", "gmake -C lib", "ninja -C lib/a", "ctest --test-dir lib",
        "cmake --build lib"}) {
    CAPTURE(folder);
    CHECK(always_pattern(command(folder)) == folder + " *");
    CHECK(always_pattern(command(folder + " -j2 all")) == folder + " *");
    CHECK(always_matches(folder + " *", command(folder + " -j4")));
    const auto program = folder.substr(0, folder.find(' '));
    CHECK_FALSE(always_matches(program + " *", command(folder)));
    CHECK_FALSE(always_matches(folder + " *", command(folder + "x")));
    const auto option = folder.substr(0, folder.find_last_of(' '));
    CHECK_FALSE(always_matches(option + " *", command(folder)));
    CHECK_FALSE(always_matches(folder + " *", command(option + " x")));
    CHECK_FALSE(always_matches(
        folder + " *", command(folder + option.substr(program.size()) + " x")));
  }
  for (const auto* text : {"make -j2 -C evil",
                           "make -Cevil",
                           "make all -C evil",
                           "make --directory=evil",
                           "make --directory evil",
                           "make -I evil",
                           "make -Ievil",
                           "make --include-dir=x",
                           "make -f evil/m",
                           "make -fm",
                           "make --file=m",
                           "make --makefile=m",
                           "make --eval=x",
                           "make A=b",
                           "make -j2C evil",
                           "ninja -j2 -C evil",
                           "ninja -Cevil",
                           "ctest -j2 --test-dir evil",
                           "ctest --test-dir=evil",
                           "make -C",
                           "make -C -j",
                           "make -C /x",
                           "ninja -C ../x",
                           "cmake --build"}) {
    CAPTURE(text);
    CHECK(always_pattern(command(text)).empty());
    const std::string first{text, std::string_view{text}.find(' ')};
    CHECK_FALSE(always_matches(first + " *", command(text)));
  }
}

TEST_CASE("a pattern lets no program write what it only reads at first") {
  for (const auto* text :
       {"uniq a.txt", "uniq a.txt f.txt", "file a", "file -C -m a.txt",
        "date -u", "date -s x", "hostname -f", "hostname x", "case x",
        "whatis x", "touch a", "kill 1", "hg log -p", "svn diff a"}) {
    CAPTURE(text);
    CHECK(always_pattern(command(text)).empty());
    const std::string first{text, std::string_view{text}.find(' ')};
    CHECK_FALSE(always_matches(first + " *", command(text)));
  }
  CHECK(always_pattern(command("date")) == "date");
  CHECK_FALSE(always_matches("date", command("date -s x")));
  for (const std::string git : {"git log", "git diff", "git show"}) {
    for (const auto* option :
         {"--output=/x/y", "--output /x/y", "'--output=a b'", "--outp=x",
          "--o=x", "\"--output=x\"", "-o x", "-po x", "-ox",
          "--output-directory=x", "--output-d x", "--ext-diff", "-O x",
          "--exec=x", "--open-files-in-pager=x"}) {
      const auto line = git + " -p " + option;
      CAPTURE(line);
      CHECK(always_pattern(command(line)).empty());
      CHECK_FALSE(always_matches(git + " *", command(line)));
    }
    CHECK(always_matches(git + " *", command(git + " -p --oneline -- out/o")));
  }
}

TEST_CASE("no pattern is offered where it would say nothing") {
  for (const auto* text :
       {"sudo rm x", "sh -c ls", "/bin/sh x.sh", "env A=1 make", "xargs rm",
        "find . -exec rm {} +", "git -c a=b st", "git -C . status",
        "sed -n p f", "awk -f x", "tar -cf x y", "setpriv --help",
        "python3 -m x", "python3 /x.py", "python3 ../x.py", "time make",
        "git status; rm x", "echo $(date)", "rm *", "echo 'a b'", "A=1 make",
        "",
        // What follows would be anything.
        "touch a", "mkdir -p a", "rm x", "mv a b", "chmod +x f",
        "curl http://a/", "make CC=./s.sh", "ctest -S s.cmake",
        "ninja -f x.ninja", "cmake -P s.cmake", "./make test", "gcc foo.c",
        "zip x.zip a", "npm run", "../build.sh fast", "/x/build.sh fast",
        // What runs is not the file's, or means more than a word.
        "./dev sh x", "./dev test /etc", "./dev test ../x", "./dev test a=b",
        "./dev --with=/x", "./dev --with=../x", "./dev test -e 'a b'",
        "./dev test $X", "./dev test; x", "./dev test > x", "./dev ~/x",
        "./dev test -o/etc/x", "./dev test -I/root", "./dev -ox/y",
        "./dev test @/etc/passwd", "./dev test x:/etc/y",
        "./dev test http://host/p", "./dev test user@host:/x",
        "./dev test --with=@/x", "./dev test +/etc/x", "make x:/etc/y",
        // A name of a command says nothing about a file that has it, too.
        "./file a", "./file", "./stat x", "./id", "./ps", "bin/date x",
        "bin/date", "./git status", "/usr/bin/git status", "./find x -name y",
        "scripts/test", "scripts/test all", "./make", "./npm run build",
        // Nor is it known what these hold.
        "../dev", "/abs/dev", "./a,b", "./a,b c", "~/dev", "./dev python3 x",
        "bin/sh x.sh", "./sudo x", "python3 x.py sh y", "node --require x y.js",
        "A=1 ./dev test", "env ./dev test"}) {
    CAPTURE(text);
    CHECK(always_pattern(command(text)).empty());
  }
  CHECK(always_pattern({.text = "a", .known = false}).empty());
  CHECK(always_pattern(place(R"({"n":1})")).empty());
  CHECK(always_pattern(place("docs/a*b.md")).empty());
  CHECK(always_pattern(place("")).empty());
}

TEST_CASE("the pattern of a script is its file, and what it is told first") {
  CHECK(always_pattern(command("./dev test")) == "./dev test *");
  CHECK(always_pattern(command("./dev test --jobs=2 unit/a")) ==
        "./dev test *");
  CHECK(always_pattern(command("./dev")) == "./dev");
  CHECK(always_pattern(command("tools/check.sh -v")) == "tools/check.sh -v *");
  CHECK(always_pattern(command("python3 x.py")) == "python3 x.py");
  CHECK(always_pattern(command("python3 a/x.py all")) ==
        "python3 a/x.py all *");
  CHECK(always_pattern(command("perl5.36.0 x")) == "perl5.36.0 x");
  CHECK(always_pattern(command("node x.js --fast y")) == "node x.js --fast *");
  CHECK(always_matches("./dev test *", command("./dev test")));
  CHECK(always_matches("./dev test *", command("./dev test unit -x")));
  for (const auto* text :
       {"./dev", "./dev testx", "./dev lint", "./dev -x test", "./devx test",
        "dev test", "/dev test", "./dev test /etc", "./dev test 'a b'",
        "./dev test; x", "./dev test $(x)", "./dev sh test", "./dev  tests"}) {
    CAPTURE(text);
    CHECK_FALSE(always_matches("./dev test *", command(text)));
  }
  CHECK(always_pattern(command("./dev test a@b c:d x/y+z")) == "./dev test *");
  // Nobody offers these.
  CHECK_FALSE(always_matches("./dev *", command("./dev test")));
  CHECK_FALSE(always_matches("python3 *", command("python3 x.py")));
  for (const auto* text : {"./file", "../dev", "/abs/dev", "./a,b", "./git"})
    CHECK_FALSE(always_matches(text, command(text)));
  CHECK_FALSE(always_matches("./file *", command("./file a")));
  CHECK_FALSE(always_matches("./git status *", command("./git status")));
}

TEST_CASE("the file that a pattern runs is named") {
  CHECK(core::script_of_line("./dev test *") == "./dev");
  CHECK(core::script_of_line("./dev test -x") == "./dev");
  CHECK(core::script_of_line("./dev") == "./dev");
  CHECK(core::script_of_line("python3 x.py -v *") == "python3 x.py");
  for (const auto* text : {"make *", "git status *", "ls *", "docs/*",
                           "notes.md", "https://a.org/*", "", " *", "/x/y"})
    CHECK(core::script_of_line(text).empty());
}

TEST_CASE("a pattern of a program with commands stays in the folder") {
  for (const auto* line :
       {"cargo test", "go test ./...", "npm run build -- -x",
        "npm test --a=b/c", "go build -o x ./cmd/y", "go get a.org/x/y@v1.2",
        "git log main..dev", "git show dev:docs/x", "find src -name a.b",
        "cargo build --target-dir=out/x"}) {
    CAPTURE(line);
    CHECK_FALSE(always_pattern(command(line)).empty());
  }
  CHECK(always_matches("git commit *", command("git commit -m 'a/b: c'")));
  for (const std::string line :
       {"cargo test --target-dir /x",
        "cargo test --target-dir=/x",
        "cargo +nightly test",
        "go build -o ../x",
        "go build -o/x",
        "go build -o=~/x",
        "go test a/../../x",
        "npm install --prefix /x",
        "npm install --prefix=../x",
        "npm run build -- /x",
        "npm run ../x",
        "npm install https://a.org/x",
        "pip install /x",
        "uv run ../x.py",
        "go test 'a b'",
        "cargo build x:/y",
        "git clone a /x",
        "git clone host.org:x",
        "git clone --template=a a b",
        "git clone --temp a a b",
        "git init --template=a b",
        "git push me@host.org:x/y",
        "git push host.org:x main",
        "git push -u host.org:x main",
        "git push --repo=host.org:x",
        "git push --repo host.org:x main",
        "git push -o x host.org:y",
        "git push origin --repo=host.org:x",
        "git fetch host.org:x",
        "git pull host.org:x main",
        "git ls-remote host.org:x",
        "git remote add a host.org:x",
        "git fetch-pack host.org:x main",
        "git request-pull v1 host.org:x",
        "git subtree push --prefix=d host.org:x main",
        "git submodule update --init",
        "git init-db --template=t b",
        "git cherry-pick --strategy ./x o2",
        "git cherry-pick --strat=./x o2",
        "git revert --strategy=./x o2",
        "git rebase -s ./x o2",
        "git rebase -qs ./x o2",
        "git pull --rebase -s ./x . o",
        "git merge -s./x o2",
        "git apply --unsafe-paths p.diff",
        "git apply --unsafe p.diff",
        "git svn rebase --authors-prog=./x",
        "git mv hk .git/hooks/post-commit",
        "git mv hk ./.git/hooks/post-commit",
        "git checkout-index --prefix=.git/hooks/ ev.sh",
        "git format-patch -o.git/hooks o",
        "git bundle create .git/hooks/post-commit o",
        "git worktree add sub/.git/hooks/zz",
        "cargo build --target-dir=.git/hooks",
        "git clone --recurse-submodules r x",
        "git clone --recursive r x",
        "git clone --rec r x",
        "git remote set-url origin host.org:x",
        "git worktree add ../x",
        "git worktree add b/../../x",
        "git init ~/x",
        "git log -X/x",
        "git diff --no-index a --x=/y",
        "find / -name x",
        "find src /x -name y",
        "find ../x -name y",
        "apt install /x/y.deb"}) {
    CAPTURE(line);
    CHECK(always_pattern(command(line)).empty());
    const auto end = line.find(' ', line.find(' ') + 1);
    CHECK_FALSE(always_matches(line.substr(0, end) + " *", command(line)));
  }
}

TEST_CASE("what git pushes and fetches may have a colon") {
  for (const std::string line : {"git push origin HEAD:main",
                                 "git push -u origin a:b c",
                                 "git fetch origin main:main",
                                 "git pull --rebase origin a:b",
                                 "git push -u origin feature/x",
                                 "git fetch origin feature/x",
                                 "git archive HEAD",
                                 "git bisect start",
                                 "git bisect good",
                                 "git show HEAD:a.txt",
                                 "git diff a:x b:x",
                                 "git clone a b",
                                 "git remote -v",
                                 "git commit -s",
                                 "git cherry-pick -s o",
                                 "git merge o",
                                 "git merge --squash o",
                                 "git rebase -X ours o",
                                 "git apply p.diff",
                                 "git add .gitignore .github/x",
                                 "git mv a.git b"}) {
    CAPTURE(line);
    const auto end = line.find(' ', line.find(' ') + 1);
    CHECK(always_pattern(command(line)) == line.substr(0, end) + " *");
  }
}

TEST_CASE("what a pattern covers beside its words is told") {
  using core::reach_of_pattern;
  const auto runs = [](std::string_view x) {
    return reach_of_pattern(x).find("may do anything") != std::string::npos;
  };
  for (const auto* x : {"pytest *", "make *", "make -C lib *", "ninja *",
                        "cmake --build b *", "go test *", "cargo build *",
                        "npm run build *", "pip install *", "uv run x *"}) {
    CAPTURE(x);
    CHECK(runs(x));
  }
  for (const auto* x : {"git status *", "find src *", "./dev test *", "ls *"}) {
    CAPTURE(x);
    CHECK_FALSE(runs(x));
    CHECK_FALSE(reach_of_pattern(x).empty());
  }
  for (const auto* x :
       {"echo *", "docs/*", "notes.md", "date", "https://a.org/*", ""})
    CHECK(reach_of_pattern(x).empty());
}

TEST_CASE("the reach of a pattern is said in words, alike for every tool") {
  using core::words_of_pattern;
  CHECK(words_of_pattern("bash", "git push *") ==
        "any `git push` with plain words");
  CHECK(words_of_pattern("own_shell", "ls *") == "any `ls` with plain words");
  CHECK(words_of_pattern("bash", "date") == "any `date` alone");
  CHECK(words_of_pattern("write", "docs/*") == "any write below docs/");
  CHECK(words_of_pattern("edit", "notes.md") == "any edit of notes.md");
  CHECK(words_of_pattern("fetch", "https://a.org/*") ==
        "any fetch below https://a.org/");
}

TEST_CASE("the pattern of a file is its folder, of an address its host") {
  CHECK(always_pattern(place("docs/a/plan.md")) == "docs/a/*");
  CHECK(always_pattern(place("notes.md")) == "notes.md");
  CHECK(always_pattern(place("https://a.org/x/y?z")) == "https://a.org/*");
  CHECK(always_pattern(place("https://a.org?x=/y")).empty());
  CHECK(always_pattern(place("https://a.org#x/y")).empty());
}

TEST_CASE("a pattern matches as a rule does, and never in doubt") {
  const std::string git = "git status *";
  CHECK(always_matches(git, command("git status")));
  CHECK(always_matches(git, command("git  'status' -s")));
  for (const auto* text :
       {"git statusx", "git push", "git status; rm x", "git status $(rm x)",
        "git status > f", "git status && rm x", "git status `rm x`",
        "git status --ext-diff", "git status\u00a0-s", "git\u00a0status",
        "git status x\u200b", "git status\u2003x", "git status\u3000", ""}) {
    CAPTURE(text);
    CHECK_FALSE(always_matches(git, command(text)));
  }
  CHECK(always_matches("find src *", command("find src -name x")));
  CHECK_FALSE(always_matches("find src *", command("find src -delete")));
  CHECK(always_matches("npm test *", command("npm test -- x")));
  CHECK_FALSE(
      always_matches("npm test *", command("npm test --script-shell=./s.sh")));
  CHECK(always_matches("make *", command("make foo.o -j8")));
  CHECK(always_matches("make *", command("make")));
  for (const auto* text :
       {"make CC=./s.sh", "make foo.o COMPILE.c=rm", "make -f x", "make -C /x",
        "make --eval=x", "make 'CFLAGS=; touch x #'", "make; rm x",
        "make SHELL=/bin/x", "gmake", "makex"}) {
    CAPTURE(text);
    CHECK_FALSE(always_matches("make *", command(text)));
  }
  CHECK_FALSE(always_matches("cmake --build *", command("cmake -P s.cmake")));
  CHECK_FALSE(always_matches("make foo.o *", command("make foo.o CC=./s.sh")));
  CHECK_FALSE(
      always_matches("make foo.o *", command("make foo.o COMPILE.c=rm")));
  CHECK_FALSE(always_matches("make foo.o *",
                             command("make foo.o 'CFLAGS=; touch x #'")));
  CHECK(always_matches("docs/*", place("docs/a/b")));
  CHECK_FALSE(always_matches("docs/*", place("docs")));
  CHECK_FALSE(always_matches("docs/*", {.text = "docs/a", .known = false}));
  CHECK_FALSE(always_matches("", place("")));
}
