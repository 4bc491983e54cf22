// SPDX-License-Identifier: MIT
// Lines of every day that no deny rule holds, and those beside them that it
// does.
#include <algorithm>
#include <ctime>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "actors/core/approval_rules.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using core::approval_policy;
using core::judgement;

namespace {

judgement without_rm(std::string_view command) {
  return core::judge_call({.text = std::string{command}, .shell = true},
                          approval_policy::allow,
                          {{"rm *", approval_policy::deny}});
}

}  // namespace

TEST_CASE("what a shell leaves as it is, is in no doubt") {
  const std::vector<std::string_view> all{"git diff HEAD~1",
                                          "git reset --soft HEAD~2",
                                          "git log main~3..HEAD^ --oneline",
                                          "git show HEAD^{commit}",
                                          "git stash drop stash@{0}",
                                          "git add ./*",
                                          "git add src/*.cpp && git commit",
                                          "gcc -c src/*.c",
                                          "tar czf x.tgz docs/*.md",
                                          "node -v",
                                          "python3 --version",
                                          "perl -V",
                                          "bash --version",
                                          "docker ps",
                                          "docker ps --format '{{.Names}}'",
                                          "docker ps -aq --no-trunc",
                                          "docker images --filter x=y",
                                          "kubectl get pods",
                                          "kubectl get pods -A -o wide",
                                          "kubectl version --client"};
  for (const auto x : all) {
    CAPTURE(x);
    const auto found = without_rm(x);
    CHECK(found.policy != approval_policy::deny);
    CHECK(found.in_doubt.empty());
  }
}

TEST_CASE("what only looks like an option or a command is none") {
  const std::vector<std::string_view> all{
      "git switch -c feature",
      "git commit -c HEAD",
      "git add config",
      "git branch run",
      "git checkout -b run",
      "git log --oneline -- hook",
      "git add bin",
      "git log -- bin",
      "find bin -type f",
      "du -sh bin",
      "go build -o bin ./...",
      "find . -type f \\( -name a -o -name b \\)",
      "find . -name a \\! -name b",
      "make -j$(nproc)",
      "make -j\"$(nproc)\" all",
      "cmake --build build -j$(nproc)",
      "command -v git",
      "go test -race ./...",
      "go test -cover ./...",
      "go test -count=1 ./...",
      "go test -timeout 30s ./...",
      "go test -bench=. ./...",
      "rsync -avz a b",
      "curl -s -X POST -d '{\"a\": 1}' http://127.0.0.1:1/",
      "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:1/",
      "cat > f <<'EOF'\nit is `text` of $(many) \"kinds\nEOF",
      "cat > f <<\"EOF\" && make\nx\nEOF\nls"};
  for (const auto x : all) {
    CAPTURE(x);
    CHECK(without_rm(x).in_doubt.empty());
    const auto how = core::judge_call({.text = std::string{x}, .shell = true},
                                      approval_policy::allow,
                                      {{"git push*", approval_policy::deny}});
    CHECK(how.policy != approval_policy::deny);
    CHECK(how.in_doubt.empty());
  }
}

TEST_CASE("a line is read once, whatever it repeats") {
  const std::vector<std::string_view> all{"a~", "@",  "@{",  "^{",
                                          "~",  "=~", "@{a", "'='~"};
  for (const auto x : all) {
    CAPTURE(x);
    const auto cpu_of = [&](std::size_t n) {
      std::string line = "echo ";
      while (line.size() < n) line += x;
      const auto begin = std::clock();
      static_cast<void>(without_rm(line));
      return static_cast<double>(std::clock() - begin);
    };
    auto few = std::numeric_limits<double>::max();
    auto many = few;
    for (int round = 0; round < 5; ++round) {
      few = std::min(few, cpu_of(32u << 10));
      many = std::min(many, cpu_of(512u << 10));
    }
    CAPTURE(few, many);
    CHECK(many < 64 * few + 10'000);  // 256 times, were it quadratic
  }
}

TEST_CASE("what may be an option, or a program, is in doubt") {
  // A file's name may begin as an option does, or be a program's.
  const std::vector<std::string_view> all{"git add *",
                                          "gcc -c ./*",
                                          "tar czf x.tgz docs/*",
                                          "make src/*.o",
                                          "setpriv src/r*",
                                          "setpriv bin/*.so",
                                          "awk src/*.c",
                                          "git diff x=~/rm",
                                          "git diff ~",
                                          "git diff {a,b}",
                                          "git show x@{a,b}",
                                          "git show x@{1..2}",
                                          "docker exec ps rm x",
                                          "docker ps \"$X\"",
                                          "kubectl exec get rm x",
                                          "kubectl get x --kubeconfig=y",
                                          "kubectl get x <<< 'a: rm'",
                                          "kubectl get -f /dev/stdin",
                                          "kubectl get x /dev/stdin",
                                          "KUBECONFIG=k kubectl version",
                                          "export KUBECONFIG=k; kubectl get x",
                                          "DOCKER_HOST=ssh://h docker ps",
                                          "export DOCKER_HOST=h; docker info",
                                          "docker ps -H ssh://h",
                                          "docker ps -aH ssh://h",
                                          "docker ps --host ssh://h",
                                          "podman info --runtime x",
                                          "CONTAINER_HOST=x podman ps",
                                          "CDPATH=h; cd i; ls",
                                          "CDPATH=h cd i",
                                          "export CDPATH=h",
                                          "OLDPWD=h; cd -",
                                          "phpunit -v",
                                          "luatex -v",
                                          "perltidy -v",
                                          "bash -v",
                                          "python3 -v",
                                          "node -v -e 'r\"\"m x'",
                                          "node --version -e 'r\"\"m x'",
                                          "ssh -V host rm x",
                                          "eval --version"};
  for (const auto x : all) {
    CAPTURE(x);
    CHECK_FALSE(without_rm(x).in_doubt.empty());
  }
}
