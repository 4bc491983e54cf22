// SPDX-License-Identifier: MIT
#include "runtime/cli/view/terminal_command.hpp"

#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"

using namespace riffle::cli;

TEST_CASE("programs that draw on the whole terminal are known") {
  for (const auto* x : {"vi a.cpp",
                        "/usr/bin/less x",
                        "man ls",
                        "top",
                        "sudo vi x",
                        "python3",
                        "git commit",
                        "git -C d commit -a",
                        "git commit --amend",
                        "git add -p",
                        "git -c a=b rebase -i HEAD~3",
                        "git rebase --continue",
                        "git commit -p -m x",
                        "git tag -a v1",
                        "git config --global -e",
                        "git stash --patch",
                        "git mergetool",
                        "git branch --edit-description",
                        "git merge --continue",
                        "git revert -e HEAD",
                        "git revert --continue",
                        "git am -i x",
                        "git tag -u KEY v1",
                        "git --git-dir x commit",
                        "git notes add",
                        "git --work-tree y --git-dir x commit",
                        "sudo -u me git commit",
                        "git cherry-pick --continue",
                        "git notes --ref=x add",
                        "sudo -E vi x",
                        "docker run --rm -it debian",
                        "docker attach x",
                        "sudo podman exec -ti x sh",
                        "kubectl edit pod x",
                        "crontab -e",
                        "systemctl edit x",
                        "npm init",
                        "gh auth login",
                        "git add -A && git commit",
                        "git stash; git commit --amend",
                        "EDITOR=vim git commit --amend",
                        "FOO=1 vim README.md",
                        "env A=1 B=2 vim x",
                        "vim README.md; echo done",
                        "(cd docs; vim plans.md)",
                        "cd docs && vim plans.md",
                        "for f in a b; do vim $f; done",
                        "vim $(git ls-files | head -1)",
                        "git log | less",
                        "git diff 2>&1 | less -R",
                        "ls | vim -",
                        "vi a; make",
                        "less x 2>/dev/null",
                        "rm -i n1.txt",
                        "sqlite3 x.db",
                        "python3 -i",
                        "time man ls",
                        "ssh host",
                        "ssh -t host top",
                        "psql",
                        "tmux attach",
                        "docker exec -it x sh",
                        "git commit -m x -p",
                        "git commit -pm x",
                        "git stash push -p",
                        "less < file",
                        "vim -d <(ls a) <(ls b)",
                        "vimdiff a b",
                        "sudo -i",
                        "bash -l",
                        "bc -l",
                        "sudo -n vim x",
                        "time -p vim x",
                        "rm -vi x",
                        "cp -ai a b",
                        "git rebase -i --exec 'make -j'",
                        "git send-email x"}) {
    CAPTURE(x);
    CHECK(wants_terminal(x));
  }
  for (const auto* x : {"cat a",
                        "less x | head",
                        "man ls > x",
                        "make vi",
                        "",
                        "violin",
                        "vi < x",
                        "vim x &",
                        "make | vim",
                        "less x | head; make",
                        "echo 'a; vi b'",
                        "echo \"a && vi b\"",
                        "echo a \\; vi",
                        "echo $(vi; x)",
                        "git commit -m 'a; vi b'",
                        "git commit -m x && make",
                        "sqlite3 x.db 'select 1'",
                        "ssh host uptime",
                        "psql -c 'select 1'",
                        "mysql -e 'select 1'",
                        "gdb -batch -ex bt x",
                        "tmux ls",
                        "screen -ls",
                        "top -bn1",
                        "vim --version",
                        "nvim --headless +q",
                        "passwd -S",
                        "npm init -y",
                        "npm run init",
                        "python3 build.py -i in.txt",
                        "node app.js -i",
                        "python3 --version",
                        "man -k x",
                        "ls -d / && git stash show -p",
                        "git stash list -p",
                        "git am --continue",
                        "git rebase -Xignore-all-space main",
                        "git rebase --exec 'make -i' main",
                        "git commit -h",
                        "GIT_EDITOR=true git rebase --continue",
                        "git -c core.editor=true commit",
                        "git merge --no-edit --continue",
                        "ls # then; vim x",
                        "cat <<E\nvim x\nE",
                        "echo \"say \\\"hi\\\"; vim x\"",
                        "rm -f x",
                        "cp a b",
                        "A=1",
                        "cd docs && make",
                        "python3 a.py",
                        "sudo",
                        "git",
                        "git commit -m \"-p and -e\"",
                        "git commit -am x",
                        "git commit --amend --no-edit",
                        "git status",
                        "git commit --message=x",
                        "git commit -F -",
                        "git add -A",
                        "git log -p",
                        "git diff -- -e",
                        "git tag v1",
                        "git tag -a v1 -m x",
                        "git rebase main",
                        "git checkout main",
                        "git merge main",
                        "git notes",
                        "git notes list",
                        "git notes d",
                        "git notes add -m x",
                        "git tag -u KEY -m x v1",
                        "git --git-dir commit",
                        "git am x",
                        "sudo -u git commit",
                        "docker build -t x .",
                        "docker ps",
                        "kubectl get pods",
                        "crontab -l",
                        "npm test",
                        "systemctl status x",
                        "git -C"}) {
    CAPTURE(x);
    CHECK_FALSE(wants_terminal(x));
  }
}

TEST_CASE("an alias of git wants what it stands for") {
  std::vector<std::string> asked;
  const auto wants = [&](std::string_view command) {
    return wants_terminal(command, [&](std::string_view name) -> std::string {
      asked.emplace_back(name);
      if (name == "ci") return "commit -v";
      if (name == "save") return "commit -m";
      if (name == "ui") return "!tig --all";
      if (name == "again") return "again";
      return "";
    });
  };
  CHECK(wants("git ci"));
  CHECK(wants("git -C d ci --amend"));
  CHECK_FALSE(wants("git ci -m x"));
  CHECK_FALSE(wants("git save x"));
  CHECK(wants("git ui"));
  CHECK_FALSE(wants("git again"));
  CHECK_FALSE(wants("git nothing"));
  asked.clear();
  CHECK_FALSE(wants("git status"));
  CHECK_FALSE(wants("git add -A"));
  CHECK(asked.empty());
}

TEST_CASE("an output that ends with a question is known") {
  for (const auto* x : {"rm: remove regular file 'n1.txt'? ", "a\nPassword:",
                        "Go on? [y/N] ", "> ", "Name (you): "}) {
    CAPTURE(x);
    CHECK(ends_as_question(x));
  }
  for (const auto* x : {"", "Why?\n", "50%", "done", "a:\n  b", "  \n"}) {
    CAPTURE(x);
    CHECK_FALSE(ends_as_question(x));
  }
}
