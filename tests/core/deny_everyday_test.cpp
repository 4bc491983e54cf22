// SPDX-License-Identifier: MIT
// Lines of every day that no deny rule holds, and those beside them that it
// does.
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
                                          "kubectl get pods"};
  for (const auto x : all) {
    CAPTURE(x);
    const auto found = without_rm(x);
    CHECK(found.policy != approval_policy::deny);
    CHECK(found.in_doubt.empty());
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
