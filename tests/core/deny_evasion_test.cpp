// SPDX-License-Identifier: MIT
// Lines that a hostile reader got past a `deny` rule, and their families.
#include <chrono>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using core::approval_policy;
using core::approval_rule;
using core::judgement;

namespace {

constexpr auto allow = approval_policy::allow;
constexpr auto deny = approval_policy::deny;

judgement of(std::string_view command,
             const std::vector<approval_rule>& rules) {
  return core::judge_call({.text = std::string{command}, .shell = true}, allow,
                          rules);
}

/// Nobody but a person can let it run.
bool is_held(std::string_view command,
             const std::vector<approval_rule>& rules) {
  const auto x = of(command, rules);
  return x.policy == deny || !x.in_doubt.empty();
}

const std::vector<approval_rule> no_zap = {{"zap *", deny}};

void hold_all(const std::vector<std::string_view>& lines,
              const std::vector<approval_rule>& rules = no_zap) {
  for (const auto x : lines) {
    CAPTURE(x);
    CHECK(is_held(x, rules));
  }
}

std::string many_words(std::string line, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) line += " w" + std::to_string(i);
  return line;
}

/// Of CPU, as a build without sanitizers needs.
double seconds_for(const std::string& line,
                   const std::vector<approval_rule>& rules) {
  const auto begin = std::clock();
  static_cast<void>(of(line, rules));
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC /
         riffle::testing::time_scale;
}

}  // namespace

TEST_CASE("options that are shortened or bundled are still the options") {
  hold_all({"git clone --no-local -u 'bin/zap x;' ./repo q",
            "git clone --no-local -u zap ./repo q",
            "git clone --no-local --up='bin/z\"\"ap x;' ./repo q",
            "git clone -qu 'bin/z\"\"ap x;' ./repo q",
            "git fetch --u 'z\"\"ap x' o", "git grep --open x",
            "git rebase -ix 'z\"\"ap x' m", "git remote-ext x 'bin/z\"\"ap f'",
            "printf 'connect git-upload-pack\\n' | git remote-ext x 'bin/zap'",
            "git merge-index z\"\"ap -a", "tar cIf 'bin/zap v' o.tar f",
            "tar -cIf 'bin/zap v' o.tar f", "tar cf o.tar f --use='zap v'",
            "tar cf o --checkpoint=1 --checkpoint-ac=exec='z\"\"ap x'",
            "sort --comp='z\"\"ap' f", "split --fi='z\"\"ap x' f",
            "make --ev='x'", "make -sf - <<< 'all:;zap x'"});
  for (const auto* x :
       {"git push -u origin main", "git add -u", "git clean -fdx",
        "git clone --quiet ./repo q", "tar czf a.tar.gz Icons Fonts",
        "git commit --edit -m x", "rsync -a --delete a b"}) {
    CAPTURE(x);
    CHECK(of(x, no_zap) == judgement{allow, {}});
  }
}

TEST_CASE("only what sed surely does not run is let by") {
  hold_all({"sed '1 e zap y' f",
            "echo x | sed 's~x~zap y~epMI'",
            "sed 'e zap y' f",
            "sed '$!{p;e z\"\"ap y\n}' f",
            "sed 's/a\\/b/z\"\"ap/ge' f",
            "sed -n 's,x,y,;s,x,z,e' f",
            "sed p f -e 'e zap y'",
            "sed --exp='e zap y' f",
            "sed -f s f",
            "sed -ne '1e zap y' f",
            "sed 'a\\\ne\n' f",
            "sed '/a/,/b/ e x' f",
            "sed '/[/]e zap y/p' f",
            "sed 's/x/y/w /dev/stdout' f",
            "sed -s 'y/a/b/;e' f",
            "sed '1~2e zap' f",
            "sed \"$x\" f",
            "echo a | sed '/[/a]/e zap y'",
            "sed 's/x[/]/;i;tou/e' f",
            "sed -n '/[^]/]/e zap y' f",
            "sed '/[[:alpha:/]/e zap y' f"});
  for (const auto* x :
       {"sed -n '1,20p' f", "sed -i 's/a/b/g' f", "sed 's/the/he/;5q' f",
        "sed -E 's|(a)/b|\\1|gI' f", "sed -n '/re/,/te/p' f",
        "sed -e 's/a/b/' -e 's/e/f/' f", "sed -i.bak '/^$/d' f", "sed '$!d' f",
        "sed -n '/x/{p;q}' f", "sed '2i text here; e' f", "sed = f",
        "sed 's/[[:space:]]*$//' f", "sed '/^[]a]/d' f", "sed 's,[/],x,' f"}) {
    CAPTURE(x);
    CHECK(of(x, no_zap) == judgement{allow, {}});
  }
}

TEST_CASE("a list begins wherever a word may begin one") {
  hold_all({"set -- a; for i do zap x; done", "f() for i do zap x; done; f a",
            "for i { zap x; }", "select i do zap x; done",
            "for i do for j do zap x; done; done"});
  const auto x = of("echo what to do with zaps", no_zap);
  CHECK(x == judgement{allow, {}});
}

TEST_CASE("a program may be given anything by words that expand") {
  hold_all({"touch -- -exec; find . -maxdepth 0 -exe? zap {} +",
            "r=zap; setpriv $r x", "r=zap; env A-B=1 $r x",
            "x=zap; cp bin/$x q; ./q x", "cp bin/za[p] q; ./q x",
            "cp bin/z?p q; ./q x", "b=zap; ln bin/$b q; ./q x",
            "ln bin/{z,}ap q", "setpriv \"$r\" x", "git $x", "tar $x"});
}

TEST_CASE("a program may run the text that a word holds") {
  hold_all({"setpriv sh -c 'z\"\"ap x'",
            "setpriv git -c alias.q='!zap push x' q",
            "setpriv git -c alias.q='!z\"\"ap push x' q",
            "setpriv tar -I 'zap x' -xf y",
            "setpriv env 'z'\"a\"p x",
            "some-runner 'z\"\"ap x'",
            "some-runner 'z\\ap x'",
            "some-runner 'bin/z?p x'",
            "some-runner 'bin/{zap,x}'",
            "some-runner 'z{a,}p x'",
            "some-runner --do='bin/[z]ap x'",
            "env A-B=1 sh -c 'z\"\"ap'",
            "npm exec zap",
            "npx zap",
            "run-parts bin",
            "run-parts ./bin",
            "echo '.sh bin/zap x' | sqlite3",
            "sqlite3 d '.sh z\"\"ap'",
            "perl /dev/stdin <<< 'system(\"bin/zap x\")'",
            "python3 /dev/stdin <<< 'x'",
            "python3 /proc/self/fd/0 <<< 'x'",
            "python3 ../../dev/stdin",
            "ln -s /dev/stdin q; python3 q",
            "python3 q <<< 'x'",
            "dc -e '!z\"\"ap x'",
            "m4 f"});
}

TEST_CASE("what a program is given by variables may be a command") {
  hold_all({"env 'BASH_FUNC_echo%%=() { X=za; ${X}p canary; }' ./s.sh",
            "env 'BASH_FUNC_echo%%=() { z?p x; }' ldd --version",
            "nohup env 'BASH_FUNC_echo%%=() { z?p x; }' ./s.sh",
            "timeout 5 env 'BASH_FUNC_echo%%=() { z?p x; }' ./s.sh",
            "make 'CC=zap x #' q.o",
            "make 'CC=echo ZAP x|tr A-Z a-z|sh #' q.o",
            "make -B 'CFLAGS=; zap x' q.o",
            "gmake -B COMPILE.c='zap x ;' q.o",
            "make -B COMPILE.c=zap OUTPUT_OPTION=x q.o",
            "make CC=sh q.o",
            "env TARGET_ARCH='; zap x #' make -B q.o",
            "CC='echo ZAP x|tr A-Z a-z|sh #' make -B q.o",
            "export CC='echo ZAP x|tr A-Z a-z|./q #'; make -B q.o",
            "A=za; B=p; CC=$A$B make q.o",
            "A=za; B=p; export CC=$A$B; /usr/bin/make q.o",
            "CC='zap x #' ./build.sh",
            "export CC='zap x #'; ./build.sh",
            "env CC='a|sh' ./build.sh",
            "GOFLAGS=-toolexec=./q go build",
            "LUA_INIT=@q ./prog",
            "RUSTC_WRAPPER=./q cargo build",
            "npm_config_script_shell=./q npm test",
            "MAKEFILES=q make",
            "read CC <<< 'echo ZAP x|tr A-Z a-z|sh #'; export CC; make -B q.o",
            "for CC in q; do export CC; make -B q.o; done",
            "echo q | { read CC; export CC; make -B q.o; }",
            "select CC in q; do export CC; make q.o; break; done <<< 1",
            "make q.o -B COMPILE.c=zap"});
  for (const auto* x :
       {"make CC=clang CFLAGS=-O2 all", "make 'CFLAGS=-O2 -g' all",
        "CC=clang make -j4", "env CC=gcc make", "export CC=gcc; make",
        "GOOS=linux go build ./...", "LC_ALL=C sort f", "A='b c' ./prog",
        "make install DESTDIR=/tmp/x PREFIX=/usr", "cmake -DA=B -S . -B b",
        "git commit -m 'x = y'"}) {
    CAPTURE(x);
    CHECK(of(x, no_zap).in_doubt.empty());
    CHECK(of(x, no_zap).policy != deny);
  }
}

TEST_CASE("a program may run a shell that its text names") {
  hold_all({"gcc -wrapper sh,-c,'echo ZAP x|tr A-Z a-z|sh' q.c",
            "gcc -wrapper sh,-c,true q.c", "sg root 'echo ZAP x|tr A-Z a-z|sh'",
            "sg root -c 'echo ZAP x|tr A-Z a-z| /bin/sh'",
            "dpkg --pre-invoke='echo ZAP x|tr A-Z a-z|bash' --configure -a",
            "some-runner 'if true; then sh q; fi'",
            "zip -qTT 'echo ZAP x|tr A-Z a-z|sh #' -T x.zip a",
            "zip -TqTT './q #' x.zip a"});
  for (const auto* x :
       {"gh pr create --title 'Say which shell runs: the sh of the system'",
        "gh issue comment 3 --body 'it takes more time, less space'",
        "some-runner 'a, b; c | d'"}) {
    CAPTURE(x);
    CHECK(of(x, no_zap).in_doubt.empty());
  }
}

TEST_CASE("a program may run what it reads, or text behind a word") {
  hold_all({"echo 'ZAP x' | tr A-Z a-z | sg root", "newgrp root < q",
            "echo ZAP x | tr A-Z a-z | linux64", "echo q | setarch x86_64",
            "echo q | capsh --", "groff -U <<< '.sy zap x'", "deno eval q",
            "bun x q", "julia -e q", "raku -e q", "ocaml -e q",
            "clojure -e q"});
}

TEST_CASE("a program may get another name, or a script from where cd led") {
  const std::vector<approval_rule> rules = {{"zap push*", deny}};
  hold_all({"cd /bin && cp zap /tmp/q && cd - && /tmp/q push x",
            "cd /usr/bin; ln zap /tmp/q; cd -; /tmp/q push x",
            "cd bin; mv zap q; ./q push x", "cd bin; install -m755 zap q",
            "cd bin; tar cf - zap | tar xf - --transform s,zap,q,",
            "cd bin; rsync zap q"},
           rules);
  hold_all({"cd /dev && echo 'import os' | python3 stdin",
            "cd /proc/self/fd; echo x | python3 0", "cd /dev/fd; perl 3"});
  const std::vector<approval_rule> no_push = {{"git push*", deny}};
  hold_all({"/usr/lib/git-core/git-push . x", "git-push origin",
            "cd /usr/lib/git-core; ./git-push x"},
           no_push);
  CHECK(of("git-status", no_push).in_doubt.empty());
  CHECK(of("cp a b", rules).in_doubt.empty());
  CHECK(of("tar xf a.tar", rules).in_doubt.empty());
  CHECK(of("which zap", rules).in_doubt.empty());
  CHECK(of("python3 3.py", rules).in_doubt.empty());
}

TEST_CASE("whoever reads a denied program is held, however it is named") {
  hold_all({"awk 1 /bin/zap > q", "sed '' //bin/zap > q", "jq -R . /bin/zap",
            "awk 'BEGIN { while ((getline l < f) > 0) print l }' f=/bin/zap",
            "awk 'BEGIN { ARGV[1] = \"/bin/z\" \"ap\"; ARGC = 2 } 1'"});
  hold_all({"(cd /bin; cat zap) > q", "cd /usr/bin/../bin/. && awk 1 zap",
            "pushd /usr/local/sbin > /dev/null; cat zap",
            "cd /; cd bin; cat zap", "builtin cd /bin; cat < zap > q",
            "cd $d; cat zap > q", "cd /b?n; cat zap", "cd /bin; cat z?p",
            "cd /bin; echo x > zap", "CDPATH=/ cd bin; cat zap",
            "grep -rh '' /bin --include=zap > q", "{ cd /bin; cat -- zap; }"});
  hold_all({"cat $(which zap) > q", "p=$(command -v zap); cat \"$p\" > q",
            "read p < <(type -P zap); head $p", "cat $(whereis -b zap) > q",
            "f=$(find / -name zap); cp $f q"});
  hold_all({"cat $(echo /bin/zap) > q", "cat \"$(ls /usr/bin/zap)\" > q",
            "cat $(realpath /bin/zap)", "cat $(readlink -f /bin/zap) > q",
            "echo /bin/zap | while read -r f; do cat \"$f\"; done > q",
            "cat /bin/$(echo zap) > q", "cat $(ls -d /b?n/zap) > q"});
  hold_all({"cd /bin; command cat zap > /tmp/q", "cd /bin; command -p cat zap",
            "command cat /bin/zap > q", "cd /usr; cd -P bin; cat zap > /tmp/q",
            "cd /; cd -- bin; cat zap", "cd /; pushd -- bin; cat zap",
            "cd /usr; cd -L -- bin; cat zap"});
  hold_all({"echo \"$(</bin/zap)\" > q", "printf %s \"$(< /bin/zap)\"",
            "cd /bin; echo \"$(<zap)\" > /tmp/q", "x=$(< /bin/zap)"});
  for (const auto* x :
       {"ls -l /bin/zap", "echo /bin/zap", "cd - && cat zap",
        "cat $(ls /bin/zip)", "cd -P src; cat zap", "echo \"$(<a)\"",
        "cd src && cat zap", "cd .. && grep zap a", "which zap && ls /bin",
        "cd /bin && ls zap", "cd /bin && cat zip", "ls /usr/bin && cat a",
        "which zap; echo \"$HOME\"", "cd bin && ls && cd .. && cat a",
        "awk '{ print $1 }' a"}) {
    CAPTURE(x);
    CHECK(of(x, no_zap).in_doubt.empty());
    CHECK(of(x, no_zap).policy != deny);
  }
}

TEST_CASE("names of variables are evaluated, and some steer programs") {
  hold_all({"z='a[$'; z+='(bin/zap x)0]'; read \"$z\" <<< 1",
            "z='a[$'; z+='(bin/zap x)0]'; RANDOM=z",
            "z='a[$'; z+='(bin/zap x)0]'; o=-v; test $o \"$z\"",
            "z='a[$'; z+='(bin/zap x)0]'; o=-v; [ $o \"$z\" ]",
            "z='a[$'; z+='(bin/zap x)0]'; o=-v; printf $o \"$z\" x",
            "z='a[$'; z+='(bin/zap x)0]'; : {a[z]}>/dev/null",
            "z='a[$'; z+='(bin/zap x)0]'; OPTIND=z",
            "z='a[$'; z+='(bin/zap x)0]'; HISTCMD=z",
            "z='a[$'; z+='(bin/zap x)0]'; SECONDS=z",
            "z='a[$'; z+='(bin/zap x)0]'; wait -p \"$z\"",
            "z='a[$'; z+='(bin/zap x)0]'; unset \"$z\"",
            "z='a[$'; z+='(bin/zap x)0]'; unset 'a[z]'",
            "z='a[$'; z+='(bin/zap x)0]'; read 'a[z]' <<< 1",
            "z='a[$'; z+='(bin/zap x)0]'; declare 'a[z]=1'",
            "z='a[$'; z+='(bin/zap x)0]'; export 'a[z]=1'",
            "z='a[$'; z+='(bin/zap x)0]'; getopts a \"$z\" -a",
            "c=z; c+='ap x;:'; o=-C; mapfile $o \"$c\" -c 1 a <<< x",
            "z='$'; z+='(bin/zap y)'; read -r PS4 <<< \"$z\"; set -x; :",
            "z='$'; z+='(bin/zap y)'; for PS4 in \"$z\"; do set -x; :; done",
            "z='$'; z+='(bin/zap y)'; mapfile PS4 <<< \"$z\"; set -x; :",
            "z='$'; z+='(bin/zap y)'; printf -v PS4 %s \"$z\"; set -x; :",
            "z='$'; z+='(bin/zap y)'; unset PS4; : ${PS4:=x}; set -x; :",
            "export A PS4='${x@P}'",
            "set -k; ls PATH=bin",
            "set -o keyword",
            "o=-k; set $o"});
  for (const auto* x :
       {"while read -r l; do echo \"$l\"; done < file", "printf '%s\\n' \"$x\"",
        "set -euo pipefail; ls", "unset x", "mapfile -t all < file",
        "export A=\"$x\"", "[[ $x == y ]] && ls",
        "for f in *.c; do echo $f; done"}) {
    CAPTURE(x);
    CHECK(of(x, no_zap).in_doubt.empty());
    CHECK(of(x, no_zap).policy != deny);
  }
}

TEST_CASE("where a command reads from and writes to are words of it") {
  hold_all({"cat<.env", "cat <.e''nv", "cat < .e?v", "cat 0< .env",
            "cat <>.env", "<.env cat", "cat < $x", "cat a < .env b", "$(<.env)",
            "cat <<< \"$(cat < .env)\""},
           {{"cat *.env*", deny}, {"*.env*", deny}});
  hold_all({"cat<.env", "cat <.e''nv", "cat < .e?v", "<.env cat", "cat < $x"},
           {{"cat *.env*", deny}});
  hold_all({"cat < .e?v", "x=.en; cat < ${x}v", "echo \"$(< .env)\"",
            "echo x >.env", "echo x >>.env", "ls 2>.env", "ls &>.env"},
           {{"*.env*", deny}});
  CHECK(of("ls > zap", no_zap).in_doubt.empty());
  CHECK(of("make > $f 2>&1", no_zap).in_doubt.empty());
  CHECK(of("cat < notes", {{"cat *.env*", deny}}).in_doubt.empty());
}

TEST_CASE("to judge a command costs what it is long, and has a bound") {
  const std::vector<approval_rule> rules = {{"zap * -f *", deny}};
  for (const auto* command : {"prog", "env prog", "zap", "prog zap zap zap"}) {
    CAPTURE(command);
    const auto line = many_words(command, 40'000);
    // Of the square of the words it was minutes.
    CHECK(seconds_for(line, rules) < 1);
    CHECK(is_held(line, rules));
  }
  std::string same = "prog";
  std::string lists = "echo";
  std::string assignments;
  for (int i = 0; i < 40'000; ++i) {
    same += " zap";
    lists += " do x";
    assignments += "A=1 ";
  }
  CHECK(seconds_for(same, rules) < 1);
  CHECK(seconds_for(lists, rules) < 1);
  CHECK(seconds_for(assignments, rules) < 1);
  std::vector<approval_rule> many;
  for (int i = 0; i < 1300; ++i)
    many.push_back({"*x" + std::to_string(i) + " y*", deny});
  const auto line = many_words("echo", 40'000);
  CHECK(seconds_for(line, many) < 2);
  CHECK(is_held(line, many));
}

TEST_CASE("many words and lists cost little for many rules") {
  std::string line = "foo";
  for (int i = 0; i < 16; ++i) line += " do foo";
  line += many_words("", 4'000);
  std::vector<approval_rule> thirty;
  for (int i = 0; i < 30; ++i)
    thirty.push_back({"zap" + std::to_string(i) + " *", deny});
  CHECK(seconds_for(line, no_zap) < 0.5);
  std::string clones = "git";
  std::string others = "foo";
  for (int i = 0; i < 4'000; ++i) clones += " clone";
  for (int i = 0; i < 2'000; ++i) others += " git clone";
  CHECK(seconds_for(clones, no_zap) < 0.5);
  CHECK(seconds_for(others, no_zap) < 0.5);
  CHECK(seconds_for(line, thirty) < 0.5);
  CHECK(is_held(line, thirty));
}

TEST_CASE("what reads a denied program may write it under another name") {
  hold_all({"cat bin/zap > q", "cat < bin/zap > q", "tee q < bin/zap",
            "head -c 99 /usr/bin/zap > q", "cat x bin/zap | tail -c +1 > q",
            "exec 3< bin/zap; cat <&3 > q", "tr -d '' < ./zap > q",
            "grep -a '' /bin/zap > q", "comm -z bin/zap /dev/null > q",
            "nl bin/zap > q", "cat /bin/z[a]p > q", "cat /bin/za? > q",
            "cat /usr/bin/za* > q", "cat bin/{zap,} > q"});
  for (const auto* x :
       {"ls -l bin/zap", "test -x /usr/bin/zap", "cat docs/zap.md > q",
        "grep zap bin/list > q", "cat zap > q", "cat src/* > q",
        "cat bin/x* > q", "grep -r zap src"}) {
    CAPTURE(x);
    CHECK(of(x, no_zap).in_doubt.empty());
  }
}
