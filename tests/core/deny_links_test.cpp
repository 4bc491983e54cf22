// SPDX-License-Identifier: MIT
// What a `deny` rule holds of words that links lead to programs.
#include <string>
#include <vector>

#include "actors/core/led_words.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using core::approval_policy;
using core::approval_rule;
using core::led_words;

namespace {

constexpr auto allow = approval_policy::allow;
constexpr auto deny = approval_policy::deny;
const std::vector<approval_rule> no_rm = {{"rm *", deny}};

core::judgement of(const std::string& command, const led_words& led,
                   const std::vector<approval_rule>& rules = no_rm) {
  return core::judge_led_call({.text = command, .shell = true}, allow, rules,
                              led);
}

}  // namespace

TEST_CASE("a word that a link leads to programs is that of programs") {
  const led_words led{{{"d", {"/usr/bin"}},
                       {"d/*", {"/usr/bin/*"}},
                       {"d/*m", {"/usr/bin/*m"}},
                       {"l", {"/usr/bin/rm"}},
                       {"of=l", {"of=/usr/bin/rm"}}}};
  for (const auto* x :
       {"cat d/* > q", "cp d/* q", "head -c 9 d/*m", "cd d; cat rm > q",
        "pushd d && cat r? > q", "cat l > q", "cat < l", "dd if=x of=l",
        "cp l q", "tr a b < l > q"}) {
    CAPTURE(x);
    const auto how = of(x, led);
    CHECK(how.in_doubt == "rm *");
    CHECK(of(x, {}).policy != deny);
  }
  CHECK(of("./l x", {{{"./l", {"/usr/bin/rm"}}}}).policy == deny);
  for (const auto* x : {"cat src/* > q", "ls d", "cat docs/rm.md", "cd src"}) {
    CAPTURE(x);
    CHECK(of(x, led).in_doubt.empty());
  }
}

TEST_CASE("a word that may lead to two places may lead to either") {
  const led_words led{{{"./l", {"/usr/bin/ls", "/usr/bin/rm"}},
                       {"push", {"/w/x"}},
                       {"./g", {"/w/g", "/usr/bin/git"}}}};
  CHECK(of("./l x", led).policy == deny);
  CHECK(of("cat ./l > q", led).in_doubt == "rm *");
  // Whether "push" is a file git knows.
  CHECK(of("./g push", led, {{"git push*", deny}}).policy == deny);
  CHECK(of("cat push ./g", led).in_doubt.empty());
}

TEST_CASE("a pattern that takes a program in by a link is held") {
  led_words led;
  led.taken_in["x/*.c"] = {"/usr/bin/rm"};
  for (const auto* x : {"setpriv x/*.c y", "cp x/*.c q/", "cat x/*.c > q",
                        "tar czf q.tgz x/*.c", "rsync -L x/*.c q"}) {
    CAPTURE(x);
    CHECK(of(x, led).in_doubt == "rm *");
    CHECK(of(x, {}).in_doubt.empty());
  }
  led.taken_in["x/*.c"] = {"/w/AGENTS.md"};
  CHECK(of("cp x/*.c q/", led).in_doubt.empty());
}

TEST_CASE("what links do is nothing to a rule that does not deny") {
  const led_words led{{{"d/*", {"/usr/bin/*"}}}};
  const std::vector<approval_rule> asks = {{"rm *", approval_policy::ask}};
  CHECK(of("cat d/x", {{{"d/x", {"/usr/bin/rm"}}}}, asks).policy == allow);
  CHECK(of("cat d/*", led, {{"rm *", allow}}).in_doubt.empty());
}

TEST_CASE("a line with too many words to follow is in doubt") {
  CHECK(of("cat a", {.to = {}, .all = false}).in_doubt == "rm *");
  CHECK(of("cat a", {}).in_doubt.empty());
}

TEST_CASE("who takes a whole folder of programs is in doubt") {
  for (const auto* x : {"ln -s /usr/bin d; cat d/*m > q",
                        "cat /usr/lib/git-core/* > q",
                        "cd /usr/bin; cat ./*m > q",
                        "cp -r /usr/bin q",
                        "ln -s /bin d",
                        "cp -r /usr/bin/. q",
                        "cp -r bin q",
                        "cp -t q -r bin",
                        "grep -rh '' bin > y",
                        "grep -r '' /bin/ > y",
                        "cd bin; grep -rh '' . > ../y",
                        "cd bin && grep -rh '' > ../y",
                        "cd bin; cat ./* > ../y",
                        "tar cf x.tar bin",
                        "tar c bin --transform s/z/q/ | tar x",
                        "zip -qr x.zip bin",
                        "cd bin; tar cf ../x.tar .",
                        "find bin -type f -print0 | tar c --null -T - | tar xO",
                        "sudo tar cf x.tar bin",
                        "cd bin; cp -r . ../q"}) {
    CAPTURE(x);
    CHECK(of(x, {}).in_doubt == "rm *");
  }
  for (const auto* x :
       {"install x /usr/local/bin", "cp x bin", "cp -r src /usr/bin",
        "ln -s /usr/bin/x y", "ls -l bin", "test -d bin", "mkdir -p bin",
        "grep -r x src", "cd src; grep -r x .", "tar cf x.tar src",
        "git commit -m 'fix the cabin'", "wc -c firmware.bin",
        "find . -name robin", "pip install sentry-bin"}) {
    CAPTURE(x);
    CHECK(of(x, {}).in_doubt.empty());
  }
}
