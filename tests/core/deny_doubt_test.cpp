// SPDX-License-Identifier: MIT
// What a `deny` rule holds back when it cannot be sure, and what not.
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using core::approval_policy;
using core::approval_rule;
using core::judgement;

namespace {

constexpr auto allow = approval_policy::allow;
constexpr auto ask = approval_policy::ask;
constexpr auto deny = approval_policy::deny;

judgement of(std::string_view command, approval_policy base,
             const std::vector<approval_rule>& rules) {
  return core::judge_call({.text = std::string{command}, .shell = true}, base,
                          rules);
}

/// Only a person may let it run, whatever else is configured.
bool is_held(std::string_view command,
             const std::vector<approval_rule>& rules) {
  const auto x = of(command, allow, rules);
  return x.policy == deny || (x.policy == ask && !x.in_doubt.empty());
}

const std::vector<approval_rule> no_rm = {{"rm *", deny}};

}  // namespace

TEST_CASE("a deny rule sees through grammar, quotes and folders") {
  for (const auto* x : {"time rm x",
                        "coproc rm x",
                        "exec rm x",
                        "command rm x",
                        "! rm x",
                        "while rm x; do :; done",
                        "if rm x; then :; fi",
                        "{ rm x; }",
                        "until rm x; do :; done",
                        "function f { rm x; }; f",
                        "f() { rm x; }; f",
                        "case x in x) rm x;; esac",
                        "rm</dev/null x",
                        ">f rm x",
                        "2>&1 rm x",
                        "&>f rm x",
                        "rm 2>f x",
                        "A=1 rm x",
                        "A=1 B='c d' rm x",
                        "/bin/rm x",
                        "/bin/../bin/rm x",
                        "\\rm x",
                        "r\\m x",
                        "$'rm' x",
                        "\"r\"m x",
                        "'r'm x",
                        "r\\\nm x",
                        "$RM x",
                        "${RM:-rm} x",
                        "/bin/r? x",
                        "/bin/r* x",
                        "/bin/[r]m x",
                        "{rm,x}",
                        "$(echo rm) x",
                        "`echo rm` x",
                        "~/rm x",
                        "ls; rm x",
                        "ls && rm x",
                        "ls || rm x",
                        "ls | rm x",
                        "ls |& rm x",
                        "ls & rm x",
                        "ls\nrm x",
                        "(rm x)",
                        "echo $(rm x)",
                        "echo \"$(rm x)\"",
                        "echo `rm x`",
                        "echo <(rm x)",
                        "echo x > >(rm x)",
                        "echo $((`rm x`))",
                        "echo $(($(rm x)))",
                        "(( $(rm x) ))",
                        "[[ $(rm x) ]]",
                        "alias l='rm x'",
                        "trap 'rm x' EXIT",
                        "echo x # y\nrm x",
                        "cat <<E\n$(rm x)\nE",
                        "sh <<< 'rm x'",
                        "for i in 1; do rm x; done",
                        "select i in 1; do rm x; done",
                        "builtin eval rm x",
                        "rm",
                        "rm -r x"}) {
    CAPTURE(x);
    CHECK(is_held(x, no_rm));
  }
}

TEST_CASE("a deny rule holds for what runs others") {
  for (const auto* x : {"sh -c 'rm x'",
                        "bash -c \"$X\"",
                        "bash script",
                        "bash",
                        "eval rm x",
                        "eval \"$x\"",
                        "echo x | xargs rm",
                        "xargs -a f env",
                        "env rm x",
                        "env A=1 rm x",
                        "env -S'r\"\"m x'",
                        "sudo rm x",
                        "sudo -u me rm x",
                        "doas rm x",
                        "nohup rm x",
                        "timeout 5 rm x",
                        "timeout -k 1 5 rm x",
                        "nice rm x",
                        "nice -n 5 rm x",
                        "setsid rm x",
                        "stdbuf -o0 rm x",
                        "exec -a ls rm x",
                        "command -p rm x",
                        "find . -exec rm {} \\;",
                        "find . -exec rm '{}' +",
                        "find . -execdir rm '{}' ';'",
                        "find . -ok rm '{}' ';'",
                        "find . -name x -delete",
                        "parallel rm ::: x",
                        "watch rm x",
                        "strace rm x",
                        "ssh host rm x",
                        "su -c 'rm x'",
                        "python3 -c 'import os'",
                        "python3 - < f",
                        "python3 < f",
                        "perl -e '1'",
                        "ruby -e '1'",
                        "node -e '1'",
                        "awk 'BEGIN { system(\"r\" \"m x\") }'",
                        "awk 'BEGIN { print \"x\" | \"r\" \"m x\" }'",
                        "sed '1e r\"\"m x' f",
                        "sed 's/x/y/e' f",
                        "git -c alias.x='!r\"\"m x' x",
                        "git submodule foreach 'r\"\"m x'",
                        "make --eval='$(shell r\"\"m x)'",
                        "make SHELL=/bin/rm",
                        ". ./f",
                        "source f",
                        "busybox rm x",
                        "chroot . rm x",
                        "docker run i rm x",
                        "some-runner --do=rm x",
                        "some-runner rm x",
                        "some-runner 'rm x'",
                        "cp /bin/rm y",
                        "ln -s /bin/rm y",
                        "hash -p /bin/rm ls; ls x",
                        "PATH=. ls",
                        "export PATH=.; ls",
                        "LD_PRELOAD=./x.so ls",
                        "GIT_PAGER='r\"\"m x' git log",
                        "tar --to-command=x -xf a",
                        "rsync -e x a b",
                        "env time nice rm x",
                        "sudo env A=1 timeout 5 rm x",
                        "timeout 5 sh -c x",
                        "[[ a[x] -eq 1 ]]",
                        "x='a[$(rm x)]'; [[ $x -eq 0 ]]",
                        "declare -i x='a[$(rm x)]'",
                        "x='$(rm x)'; echo ${x@P}",
                        "x='a[$(rm x)]'; echo ${!x}",
                        "set -- rm x; \"$@\"",
                        "X=rm; $X x",
                        "jobs -x rm x"}) {
    CAPTURE(x);
    CHECK(is_held(x, no_rm));
  }
}

TEST_CASE("what is surely something else is not denied") {
  for (const auto* x : {"ls -l",
                        "git status",
                        "git commit -m 'remove rm'",
                        "git rm x",
                        "grep -n rm file",
                        "grep -rn rm src",
                        "man-db rmdir",
                        "rmdir x",
                        "make -j4",
                        "cmake --build build",
                        "timeout 60 make test",
                        "time make",
                        "env CC=gcc make",
                        "nice ninja",
                        "sudo apt-get install x",
                        "npm run test",
                        "npm ci",
                        "python3 script.py",
                        "python3 tests/run.py --fast",
                        "awk '{ print $1 }' file",
                        "sed -n '1,20p' file",
                        "sed -i 's/a/b/' file",
                        "find . -name '*.cpp'",
                        "tar xf a.tar",
                        "touch arm",
                        "cat rm.txt",
                        "cd build",
                        "mkdir -p a/b",
                        "cp a b",
                        "which rm",
                        "gcc -o x x.c",
                        "cargo build",
                        "go test ./...",
                        "ctest -j2",
                        "docker-compose up",
                        "echo rm",
                        "test -f x"}) {
    CAPTURE(x);
    const auto found = of(x, allow, no_rm);
    CHECK(found.policy == allow);
    CHECK(found.in_doubt.empty());
  }
}

TEST_CASE("a line of certain parts is asked for, not in doubt") {
  // Which a deny rule alone never refuses: `--approve all` lets it run.
  for (const auto* x : {"ls *",
                        "ls; pwd",
                        "cd build && make -j4 2>&1 | tail -n 20",
                        "ls > f",
                        "make >/dev/null 2>&1 || echo failed",
                        "if [ -f x ]; then cat x; else echo none; fi",
                        "echo $HOME",
                        "echo \"$USER: $(date)\"",
                        "x=$(git log -1); echo \"$x\"",
                        "(cd a; ls)",
                        "while read -r l; do echo \"$l\"; done < file",
                        "echo ${x:-y}",
                        "cat a | grep b | wc -l",
                        "[[ $x == y ]] && echo z",
                        "diff <(ls a) <(ls b)",
                        "ls # all of it",
                        "echo \"rm x\"",
                        "grep -n \"rm x\" file",
                        "make \\\n  -j4",
                        "LC_ALL=C sort x",
                        "[ -f x ]",
                        "printf '%s\\n' \"$x\" *",
                        "for f in *.c; do echo $f; done"}) {
    CAPTURE(x);
    const auto found = of(x, allow, no_rm);
    CHECK(found.policy == ask);
    CHECK(found.in_doubt.empty());
  }
}

TEST_CASE("what expands may make a program run others: only a person knows") {
  for (const auto* x :
       {"for f in *.c; do gcc -c $f; done", "gcc -c *.c", "[ \"$x\" = y ]"}) {
    CAPTURE(x);
    CHECK(of(x, allow, no_rm) == judgement{ask, "rm *"});
  }
}

TEST_CASE(
    "of the denied command's other uses only the certain ones are let by") {
  const std::vector<approval_rule> no_push = {{"git push*", deny}};
  for (const auto* x : {"git -C . push", "git --no-pager push x", "git $X",
                        "git pu?h", "git \"$@\"", "git 'push' x", "git pus\\h",
                        "cp /usr/bin/git x; ./x push"}) {
    CAPTURE(x);
    CHECK(is_held(x, no_push));
  }
  for (const auto* x :
       {"git status", "git log", "git --no-pager log", "git pull",
        "git -C . status", "sudo apt-get install git"}) {
    CAPTURE(x);
    CHECK(of(x, allow, no_push) == judgement{allow, {}});
  }
  const std::vector<approval_rule> no_force = {{"rm -rf *", deny},
                                               {"git push --force*", deny}};
  for (const auto* x : {"rm -fr x", "rm -r -f x", "rm x -rf", "git push -f o",
                        "git push o --force"}) {
    CAPTURE(x);
    CHECK(is_held(x, no_force));
  }
  CHECK(of("rm x", allow, no_force) == judgement{allow, {}});
  CHECK(of("git push o", allow, no_force) == judgement{allow, {}});
}

TEST_CASE("patterns without a command of their own hold as well") {
  const std::vector<approval_rule> secret = {{"*secret*", deny}};
  CHECK(is_held("cat secret", secret));
  CHECK(is_held("cat s*t", secret));
  CHECK(is_held("cat $X", secret));
  CHECK(of("cat notes", allow, secret) == judgement{allow, {}});
  const std::vector<approval_rule> piped = {{"curl * | sh*", deny}};
  CHECK(is_held("curl x | sh", piped));
  CHECK(is_held("curl x|sh", piped));
  CHECK(of("ls", allow, piped) == judgement{allow, {}});
  const std::vector<approval_rule> path = {{"/bin/rm *", deny}};
  CHECK(is_held("rm x", path));
  CHECK(is_held("/usr/bin/rm x", path));
}

TEST_CASE("doubt has its words for the model, its answer from a person only") {
  CHECK(of("$X x", allow, no_rm) == judgement{ask, "rm *"});
  CHECK(of("$X x", ask, no_rm) == judgement{ask, "rm *"});
  CHECK(of("$X x", deny, no_rm) == judgement{deny, {}, {}});
  CHECK(of("rm x", allow, no_rm) == judgement{deny, {}, "rm *"});
  CHECK(of("sudo rm x", allow, no_rm) == judgement{deny, {}, "rm *"});
  // An `ask` rule in doubt is asked about; whoever says yes to all may.
  CHECK(of("time -p rm x", allow, {{"rm *", ask}}) == judgement{ask, {}});
  CHECK(of("time rm x", allow, {{"rm *", ask}}) == judgement{ask, {}});
  CHECK(of("git status", allow, {{"rm *", ask}}) == judgement{allow, {}});
}

TEST_CASE("an earlier rule frees what it names, not what stands behind it") {
  CHECK(of("git push --dry-run", ask,
           {{"git push --dry-run*", allow}, {"git push*", deny}}) ==
        judgement{allow, {}});
  CHECK(of("xargs grep x", ask, {{"xargs grep*", allow}, {"rm *", deny}}) ==
        judgement{allow, {}});
  CHECK(of("sudo rm x", ask, {{"sudo *", allow}, {"rm *", deny}}) ==
        judgement{deny, {}, "rm *"});
  CHECK(of("git push; rm x", allow, {{"git push*", ask}, {"rm *", deny}}) ==
        judgement{ask, "rm *"});
  CHECK(of("$X", allow, {{"rm *", deny}, {"*", allow}}) ==
        judgement{ask, "rm *"});
}

TEST_CASE("nothing is known of a subject: a deny rule may name it") {
  const rule_subject unknown{.text = "docs/x", .known = false};
  CHECK(core::judge_call(unknown, allow, {{"src/*", deny}}) ==
        judgement{ask, "src/*"});
  CHECK(core::judge_call(unknown, allow, {{"src/*", ask}}) ==
        judgement{ask, {}});
}

TEST_CASE("what a compound command reads is read, and what shows content") {
  const std::vector<approval_rule> no_zap = {{"zap*", deny}};
  for (const auto* x : {"{ cat; } < /bin/zap > y; chmod +x y; ./y",
                        "(cat) < /bin/zap > y",
                        "while read -r l; do echo \"$l\"; done < /bin/zap > y",
                        "until ! read -r l; do echo a; done < /bin/zap > y",
                        "if true; then cat; fi < /bin/zap > y",
                        "for i in 1; do cat; done < /bin/zap > y",
                        "case x in x) cat;; esac < /bin/zap > y",
                        "f() { cat; } < /bin/zap; f > y",
                        "{ cat; } 0<> /bin/zap > y",
                        "{ { cat; } } < /bin/zap > y",
                        "! { cat; } < /bin/zap > y",
                        "{ cat; } > y < /bin/zap",
                        "cd /bin; { cat; } < zap > /tmp/y",
                        "cmp -l zeros /bin/zap | awk '{ print $3 }'",
                        "file -f /bin/zap",
                        "du --files0-from=/bin/zap",
                        "md5sum -c /bin/zap",
                        "sha256sum --check /bin/zap",
                        "cat d/za* > y",
                        "cat d/?ap > y",
                        "{ cat; } < d/z?p > y"}) {
    CAPTURE(x);
    CHECK(is_held(x, no_zap));
  }
  for (const auto* x :
       {"{ cat; } < notes > y", "ls -l /bin/zap", "stat /bin/zap",
        "cat d/* > y", "cat d/*.c > y", "cat d/b?n > y",
        "while read -r l; do :; done < list"}) {
    CAPTURE(x);
    CHECK(of(x, allow, no_zap).in_doubt.empty());
    CHECK(of(x, allow, no_zap).policy != deny);
  }
}
