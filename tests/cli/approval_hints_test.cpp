// SPDX-License-Identifier: MIT
// What a question says beside its picture.
#include "runtime/cli/terminal/approval_dialog.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using Catch::Matchers::Contains;

namespace {

events::approval_required a_call() {
  events::approval_required x;
  x.proposal = proposal_id{"prop_1"};
  x.id = call_id{"call_1"};
  x.tool = "write";
  x.title = "Writing notes.md";
  x.arguments = R"({"content":"two","path":"notes.md"})";
  x.always = true;
  return x;
}

}  // namespace

TEST_CASE("it is said why a command has no pattern") {
  const auto scopes = [](const std::string& command,
                         const std::string& pattern = {}) {
    auto about = a_call();
    about.tool = "bash";
    about.arguments = R"({"command":")" + command + R"("})";
    about.pattern = pattern;
    approval_dialog x{about, {}};
    x.on_line("a");
    return x.prompt();
  };
  const auto says = [&](const std::string& command, const std::string& why) {
    CAPTURE(command);
    CHECK_THAT(scopes(command), Contains("  (no pattern: " + why + ")\n"));
  };
  says("make test > log", "there is more than plain words in it");
  says("rm x", "what follows rm can mean anything");
  says("grep 'a b' c", "what stands in quotes behind grep can mean anything");
  says("rm 'a b'", "what follows rm can mean anything");
  // Of several commands that one which has none.
  says("rm -rf x && git status --short", "what follows rm can mean anything");
  says("git status --short; curl a.org | head",
       "what follows curl can mean anything");
  says("./dev test && git status", "./dev has one alone, not beside others");
  says("cd docs && make test", "make is about another folder there");
  says("cat a | make test", "make reads what comes from anywhere");
  says("grep 'a*' b", "what stands in quotes behind grep can mean anything");
  says("ls; make -C " + std::string(120, 'a'), "it would be too long to read");
  // What the file holds could not be read.
  says("./dev test", "nobody knows what it runs");
  CHECK_THAT(scopes("make test", "make *"),
             Contains("  p  any `make` with plain words\n") &&
                 !Contains("no pattern"));
}

TEST_CASE("what a pattern lets run beside its words is said at the question") {
  const auto* const pattern = GENERATE("pytest *", "go test *", "cargo test *",
                                       "npm run build *", "make -C lib *");
  auto about = a_call();
  about.tool = "bash";
  about.pattern = pattern;
  const auto words = about.pattern.substr(0, about.pattern.size() - 2);
  approval_dialog x{about, {}};
  x.on_line("a");
  CHECK_THAT(x.prompt(),
             Contains("  p  any `" + words +
                      "` with plain words\n     its words name no file "
                      "outside of this folder, "
                      "but it runs what the files\n     here say by then, and "
                      "that may do anything, anywhere\n"));
}

TEST_CASE("where lines are read that is said, and what is no answer, too") {
  approval_dialog x{a_call(), {.columns = 60, .rows = 40, .plain = true}};
  CHECK(x.prompt() ==
        "Run it? (a letter and Enter)\n"
        "[y]es, [n]o, [e]dit, [a]lways, [v]iew, [s]top, [?] > ");
  CHECK_THAT(x.on_line("ys").show, Contains("That is no answer: one of y, "));
  CHECK(x.on_line("").show.empty());
}

TEST_CASE("no row of a question has its [?] alone") {
  const std::string first = "[y]es, [n]o, [e]dit, [a]lways, [v]iew,";
  const auto prompt = [](std::size_t columns, std::string stops) {
    return approval_dialog{
        a_call(), {.columns = columns, .rows = 40, .stops = std::move(stops)}}
        .prompt();
  };
  CHECK(prompt(62, "the run") == "Run it? " + first + " [s]top, [?] > ");
  CHECK(prompt(60, "the run") == "Run it? " + first + "\n[s]top, [?] > ");
  CHECK(prompt(60, "this task") ==
        "Run it? " + first + "\n[s]top this task, [?] > ");
  CHECK(prompt(40, "the run") == "Run it?\n" + first + "\n[s]top, [?] > ");
}

TEST_CASE("keys that are no answers are told of where a line takes them") {
  for (const bool line : {true, false}) {
    dialog_options options;
    options.line = line;
    approval_dialog x{a_call(), options};
    const auto help = x.on_key("?").show;
    CHECK((help.find("goes to the input line") != help.npos) == line);
    CHECK((help.find("any other key does nothing") != help.npos) == !line);
  }
}

TEST_CASE("the help of a question is broken where its own rows end") {
  approval_dialog x{a_call(), {.columns = 60, .rows = 40}};
  CHECK(x.on_key("?").show ==
        "  y  runs this call with exactly these arguments\n"
        "  n  does not; the model can be told why\n"
        "  e  lets you change it in $VISUAL or $EDITOR\n"
        "  a  runs it, and further calls like it without asking:\n"
        "     you are asked which\n"
        "  v  shows what it does, all of it\n"
        "  s  does not run it and ends the run\n"
        "  No Enter behind a letter. While something stands in the\n"
        "  input line, letters are that text's: Tab goes to the\n"
        "  question, and back. A key that is no answer goes to the\n"
        "  input line.\n");
}

TEST_CASE("a pattern that means this very command is none") {
  events::approval_required about;
  about.tool = "bash";
  about.arguments = R"({"command":"python3 test.py"})";
  about.pattern = "python3 test.py";
  about.always = true;
  approval_dialog exact{about, {}};
  exact.on_line("a");
  CHECK(exact.prompt().find("  p  ") == std::string::npos);
  CHECK(exact.prompt().find("no pattern") == std::string::npos);
  CHECK_FALSE(exact.on_key("p").decided);
  about.pattern = "python3 *";
  approval_dialog wide{about, {}};
  wide.on_line("a");
  CHECK(wide.prompt().find("  p  any `python3` with plain words") !=
        std::string::npos);
  CHECK(wide.on_key("p").decided);
}

TEST_CASE("the pattern of a file shows what nobody would see of its name") {
  auto about = a_call();
  const auto says = [&](const std::string& pattern, const std::string& shown) {
    about.pattern = pattern;
    approval_dialog x{about, {}};
    x.on_line("a");
    CHECK_THAT(x.prompt(), Contains("  p  any write of " + shown + "\n"));
  };
  says("README.md ", "README.md\\u{0020}");
  says("README.md" + std::string(200, ' ') + ".sh",
       "README.md\\u{0020}×200.sh");
}
