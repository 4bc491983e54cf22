// SPDX-License-Identifier: MIT
// Lines that hide a denied program from who reads them: half of its name, a
// list of files, a shell under another name.
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

constexpr auto deny = core::approval_policy::deny;

bool is_held(std::string_view command, const std::string& rule = "rm *") {
  const auto how =
      core::judge_call({.text = std::string{command}, .shell = true},
                       core::approval_policy::allow, {{rule, deny}});
  return how.policy == deny || !how.in_doubt.empty();
}

void hold(const std::vector<std::string_view>& all) {
  for (const auto x : all) {
    CAPTURE(x);
    CHECK(is_held(x));
  }
}

void leave(const std::vector<std::string_view>& all) {
  for (const auto x : all) {
    CAPTURE(x);
    CHECK_FALSE(is_held(x));
  }
}

}  // namespace

TEST_CASE("the end of a name behind an expansion may be that of a program") {
  hold({"cat ${BASH%bash}rm > y", "cat ${SHELL%bash}rm > y",
        "a=/bin/r; cat ${a}m > y", "head -c 9 ${BASH%bash}rm > y",
        "tee y < ${BASH%bash}rm", "exec 3< ${BASH%bash}rm; cat <&3 > y",
        "cat /usr/bi{n,}/{r,}m > y", "cat /usr/bi{n,}/{rm,ls} > y",
        "cat {/usr/bin/rm,x} > y", "cat {/usr/bin/r,x}m > y",
        "cat ${PATH%%:*}/r[m] > y", "cat ${a}? > y", "cp $(dirname $X)rm y"});
  leave({"cat $X", "cat \"$f\"", "cat \"$d/x.md\" > y", "cat ${a}.c",
         "echo $Xm", "wc -l $f.form", "grep x \"$d\"/*.c",
         "for f in $d/*; do cat x; done"});
  CHECK(is_held("cat ${a}m5", "rm*"));
  CHECK_FALSE(is_held("cat ${a}.c", "rm*"));
}

TEST_CASE("a URL of a file may have signs that stand for others") {
  hold({"curl -s file:///usr/bin/r%6d -o y", "curl -s file:///usr/b%69n/rm",
        "curl FILE:///x/%6c -o y", "curl 'file:///x/r{m}' -o y",
        "curl 'fi{l}e:///usr/bin/r{m}' -o y", "curl file:///usr/bin/rm#a"});
  leave({"curl -s http://h/x%20y", "curl -s 'http://h/x?a=b' -o y"});
}

TEST_CASE("names of files that a program reads are not seen") {
  hold({"echo /usr/bin/rm | tar cf - -T - | tar xOf -", "tar cfT x.tar l",
        "tar cf x.tar --files-from=l", "echo x | zip -q -@ y.zip",
        "zip -q@ y.zip", "echo x | curl -s -K - -o y", "curl -sK x",
        "curl --config x", "git hash-object -w --stdin-paths",
        "git add --pathspec-from-file=x", "sort --files0-from=x",
        "rsync --files-from=x a b", "echo x | cpio -o", "pax -w < x",
        "git --work-tree=/usr add x"});
}

TEST_CASE("a shell or an editor may have another name") {
  hold({"echo X | rzsh",
        "vim.basic -es x",
        "editor -es",
        "rvim x",
        "view x",
        "vimdiff a b",
        "pager x",
        "pdb3 s.py",
        "ipython3 -c x",
        "gdbtui -q",
        "slogin h x",
        "bash-static x",
        "npx",
        "npx --offline",
        "npx -p x",
        "npx true",
        "npx --offline true",
        "npm exec",
        "npm exec --offline",
        "npm x",
        "npm --offline exec",
        "npm exec -- -x",
        "npm explore x",
        "npm explore x -- 'a | . /dev/stdin'",
        "npx $X"});
  leave({"npx tsc", "npx --yes tsc --noEmit", "npm exec -- tsc", "npm run x",
         "npm i -D x", "npx --version"});
}

TEST_CASE("a text that reads its input as commands is in doubt") {
  hold({"setpriv 'x | . /dev/stdin'", "setpriv '. ./x y'", "setpriv 'eval $x'",
        "setpriv 'a; source x'", "setpriv 'command sh x'",
        "make CC='. /dev/fd/0' x.o"});
  leave({"setpriv a", "make O=. x", "make DIR=./x y"});
}

TEST_CASE("what looks like a free line may be another one") {
  hold({// A folder's name is not git's command.
        "git -C switch -c alias.x=!x x", "git -c alias.x=!x add y",
        "git clone -c x=y z", "git clone --template=t y", "git init-db --tem t",
        "git --exec-path=x add y", "git log --ext-diff", "git config x",
        "git -C add hook", "git submodule foreach x",
        // Numbers that may be words.
        "nproc() { echo 4 SHELL=./x; }; make -j$(nproc)",
        "make -j$(echo 4 SHELL=./x)", "echo $((a[$(x)]))", "echo $((x+1))",
        // Documents that end earlier, later, or are none.
        "cat <<'EOF'\nx\nEOF\nrm x", "cat <<'EOF'\nEOF \nEOF\nrm x",
        "a[1 <<'EOF' ]=1\nrm x\nEOF", "cat <<'A' <<'B'\nA\nrm x\nB",
        "cat <<'EOF' \\\nx\nEOF", "cat <<'E'F\nE\nrm x", "cat <<EOF\n$(x)\nEOF",
        "bash <<'EOF'\nx\nEOF", "python3 <<'EOF'\nx\nEOF",
        "$(cat <<'EOF'\nx\nEOF\n)", "cat <<'EOF'\nx",
        // Options of a sort.
        "go test -exec x", "go build -toolexec=x", "go vet -vettool=x",
        "go build -ldflags '-s -extld=x'", "rsync -ave x a b",
        "rsync --rsync-path=x a b", "rsync -M--x a b",
        "command -v rm > y; cat $(cat y)", "command -p x",
        "find . \\( -delete \\)", "find . -exec rm {} \\;", "git mv bin x",
        "git add /usr/bin", "du --files0-from=bin", "cp bin x",
        "find /usr/bin -type f"});
  hold({"./l$((3+4)) canary", "cat l$((3+4)) > y", "i$((386))",
        "linux$((64)) x", "./l$(nproc) canary", "$(nproc) canary",
        "npr\\\noc() { echo rm; }; $(nproc) canary",
        "npr\\\noc() { echo 4 SHELL=./x; }; make -j$(nproc)",
        "function nproc { echo 4 SHELL=./x; }; make -j$(nproc)",
        "curl -s -T '/usr/bin/r[m-m]' file:///tmp/y",
        "curl -sT '{l,notes}' file:///tmp/", "curl --upload '{l,x}' x",
        "ar -M <<'EOF'\nADDMOD /usr/bin/rm\nEOF", "objcopy @i"});
  CHECK(is_held("python$((1+2)) s.py", "python3 *"));
  CHECK(is_held("cat ${a}m > y"));
  CHECK(is_held("cat $(echo /bin/r)m > y"));
}

TEST_CASE("the name of a variable is no end of a file's, a title no command") {
  const auto is_free = [](std::string_view x, const std::string& rule) {
    CAPTURE(x, rule);
    CHECK_FALSE(is_held(x, rule));
  };
  is_free("for m in a b; do cat $m; done", "rm *");
  is_free("cat \"logs/$m\"", "rm *");
  is_free("for t in a b; do cat $t; done", "git push*");
  is_free("cat \"$manifest\"", "rm*");
  is_free("du -sk \"$d\"", "dd *");
  is_free("npx tsc -p tsconfig.json", "rm *");
  is_free("yarn tsc -p .", "rm *");
  is_free("gh pr create --title \"source maps\" --body \"x\"", "rm *");
  is_free("gh issue list --search \"trap errors\"", "rm *");
}
