// SPDX-License-Identifier: MIT
// What a person reads before a call runs, and what the answers do.
#include "runtime/cli/terminal/approval_dialog.hpp"

#include <string>

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using kind = approval_answer::kind;
using Catch::Matchers::Contains;

namespace {

events::approval_required a_write() {
  events::approval_required x;
  x.proposal = proposal_id{"prop_1"};
  x.id = call_id{"call_1"};
  x.tool = "write";
  x.title = "Writing notes.md";
  x.arguments = R"({"content":"two\n","path":"notes.md"})";
  x.preview = "--- notes.md\n+++ notes.md\n@@ -1 +1 @@\n-one\n+two\n";
  x.reason = "`write` changes something";
  x.always = true;
  return x;
}

approval_dialog plain(events::approval_required x = a_write()) {
  return {std::move(x), {}};
}

std::string begin(const approval_dialog& x) {
  std::string out;
  for (const auto& row : x.picture()) out += row + "\n";
  return out + x.prompt();
}

constexpr auto prompt =
    "Run it? [y]es, [n]o, [e]dit, [a]lways, [v]iew, [s]top, [?] > ";

}  // namespace

TEST_CASE("the question shows what would happen, once") {
  CHECK(begin(plain()) ==
        "[APPROVAL] write: Writing notes.md\n"
        "│ @@ -1 +1 @@\n"
        "│ -one\n"
        "│ +two\n" +
            std::string{prompt});
}

TEST_CASE("whether a question has room for all of what the call does") {
  CHECK(plain().left_out().empty());
  auto long_one = a_write();
  long_one.preview = "@@ -0,0 +1,40 @@\n";
  for (int i = 0; i < 40; ++i) long_one.preview += "+line\n";
  const approval_dialog x{long_one, {.rows = 24}};
  CHECK_THAT(begin(x), Contains("([v]iew shows all)"));
  CHECK_FALSE(x.left_out().empty());
  CHECK(approval_dialog{long_one, {.rows = 60}}.left_out().empty());
}

TEST_CASE("colours of a diff are for those who have them") {
  const approval_dialog x{a_write(), {.color = true}};
  CHECK_THAT(begin(x), Contains("\x1b[31m│ -one\x1b[0m\n"));
  CHECK_THAT(begin(x), Contains("\x1b[32m│ +two\x1b[0m\n"));
  CHECK(begin(plain()).find('\x1b') == std::string::npos);
}

TEST_CASE("a letter is an answer, any other key is none") {
  for (const auto* key : {"y", "Y", "s"}) {
    auto x = plain();
    CHECK(x.on_key(key).decided);
  }
  for (const auto* key : {"o", " ", "1", "é", "h", "", "yes"}) {
    auto x = plain();
    CAPTURE(key);
    const auto step = x.on_key(key);
    CHECK(step.unknown);
    CHECK_FALSE(step.decided);
  }
  auto x = plain();
  CHECK_FALSE(x.on_key("a").unknown);
  CHECK(x.on_key("y").unknown);  // of the scopes it is none
  for (const auto* letter : {"p", "P"}) {
    const auto step = x.on_key(letter);
    CHECK_FALSE(step.unknown);
    CHECK_FALSE(step.decided);
    CHECK(step.show.empty());  // it goes with the next key
    CHECK(x.prompt().starts_with(
        "There is no pattern for this call: c, t or b.\nAlways, "));
    CHECK(x.prompt().ends_with("Which? [c]all, [t]ool, [b]ack > "));
  }
  SECTION("what was said of a key is gone behind the next one") {
    const auto* const next = GENERATE("y", "?", "b");
    x.on_key(next);
    CHECK(x.prompt().find("There is no pattern") == std::string::npos);
  }
  SECTION("for the session") {
    CHECK(x.on_key("c").decided ==
          approval_answer{kind::always, "", {}, always_scope::call});
  }
}

TEST_CASE("each answer has a letter and a word, in any case") {
  const auto decided = [](std::string_view line) {
    auto x = plain();
    const auto step = x.on_line(line);
    CAPTURE(line);
    REQUIRE(step.decided);
    return *step.decided;
  };
  for (const auto* line : {"y", "yes", "Y", " YES "})
    CHECK(decided(line) == approval_answer{kind::yes, "", {}});
  for (const auto* line : {"a c", "always call"})
    CHECK(decided(line) ==
          approval_answer{kind::always, "", {}, always_scope::call});
  for (const auto* line : {"s", "stop"})
    CHECK(decided(line) == approval_answer{kind::stop, "", {}});
  CHECK(decided("n too dangerous") ==
        approval_answer{kind::no, "too dangerous", {}});
  CHECK(decided("No  use a Copy ") ==
        approval_answer{kind::no, "use a Copy", {}});
}

TEST_CASE("always is asked for its scope, which it names") {
  auto about = a_write();
  about.pattern = "docs/*";
  auto x = plain(about);
  const auto asked = x.on_line("a");
  CHECK_FALSE(asked.decided);
  CHECK(x.prompt() ==
        "Always, without a question, for\n"
        "  c  calls with exactly these arguments\n"
        "  p  any write below docs/\n"
        "  t  every call of write\n"
        "in this session; a capital letter: in every session of this folder.\n"
        "'riffle proposals always' lists it and takes it back.\n"
        "Which? [c]all, [p]attern, [t]ool, [b]ack > ");
  SECTION("one of them") {
    for (const auto& [line, scope] :
         {std::pair{"c", always_scope::call},
          std::pair{"Pattern", always_scope::pattern},
          std::pair{"tool", always_scope::tool}}) {
      auto y = x;
      CHECK(y.on_line(line).decided ==
            approval_answer{kind::always, "", {}, scope});
    }
  }
  SECTION("kept for the folder") {
    for (const auto& [line, scope] : {std::pair{"C", always_scope::call},
                                      std::pair{"P", always_scope::pattern},
                                      std::pair{"T", always_scope::tool}}) {
      for (const bool key : {false, true}) {
        auto y = x;
        const auto step = key ? y.on_key(line) : y.on_line(line);
        CHECK(step.decided ==
              approval_answer{kind::always, "", {}, scope, true});
      }
    }
  }
  SECTION("yes is none of them") {
    for (const auto* line : {"", "y", "a", "all", "*"}) {
      const auto step = x.on_line(line);
      CHECK_FALSE(step.decided);
      CHECK_THAT(x.prompt(), Catch::Matchers::EndsWith("[b]ack > "));
    }
  }
  SECTION("back") {
    x.on_line("b");
    CHECK(x.prompt() == prompt);
    CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", {}});
  }
  SECTION("of edited arguments there is no pattern") {
    x.on_line("b");
    x.on_edited(R"({"path": "x", "content": ""})");
    x.on_line("a");
    CHECK_THAT(x.prompt(), !Contains("[p]attern"));
    CHECK_FALSE(x.on_line("p").decided);
  }
}

TEST_CASE("always is refused where a rule asks each time") {
  auto about = a_write();
  about.always = false;
  about.pattern = "docs/*";
  auto x = plain(about);
  for (const auto* line : {"a", "a t", "always pattern"}) {
    const auto step = x.on_line(line);
    CHECK_FALSE(step.decided);
    CHECK_THAT(step.show, Contains("wants each call like this one to be seen"));
    CHECK(x.prompt() == prompt);
  }
}

TEST_CASE("nothing but an answer is one") {
  auto x = plain();
  for (const auto* line :
       {"", " ", "ye", "yes please", "y n", "always!", "approved", "1", "ok"}) {
    CAPTURE(line);
    const auto step = x.on_line(line);
    CHECK_FALSE(step.decided);
    CHECK_FALSE(step.edit);
    CHECK(x.prompt() == prompt);
  }
  CHECK_THAT(x.on_line("yes please").show, Contains("Only [n]o takes words"));
}

TEST_CASE("a no without words asks for them, and takes none as well") {
  auto x = plain();
  const auto asked = x.on_line("n");
  CHECK_FALSE(asked.decided);
  CHECK(x.wants_text());
  CHECK_THAT(x.prompt(), Contains("Why not?"));
  SECTION("a reason") {
    CHECK(x.on_line(" y ").decided == approval_answer{kind::no, "y", {}});
  }
  SECTION("no reason") {
    CHECK(x.on_line("").decided == approval_answer{kind::no, "", {}});
  }
}

TEST_CASE("what was edited is shown before it is asked about") {
  auto x = plain();
  x.set_file("one\n");
  CHECK(x.on_line("e").edit);
  CHECK(x.editable() == "two\n");
  CHECK(x.ending() == ".md");
  const auto shown = x.on_edited("three\n");
  CHECK_FALSE(shown.decided);
  CHECK(begin(x) ==
        "[APPROVAL] write: Writing notes.md (as you changed it)\n"
        "│ @@ -1 +1 @@\n"
        "│ -one\n"
        "│ +three\n"
        "Run it with your arguments? [y]es, [n]o, [e]dit, [a]lways, [v]iew,\n"
        "[s]top, [?] > ");
  const auto arguments = R"({"content":"three\n","path":"notes.md"})";
  CHECK(x.editable() == "three\n");
  SECTION("yes") {
    CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", arguments});
  }
  SECTION("always") {
    CHECK(x.on_line("a t").decided ==
          approval_answer{kind::always, "", arguments, always_scope::tool});
  }
  SECTION("no: they are dropped") {
    CHECK(x.on_line("n x").decided == approval_answer{kind::no, "x", {}});
  }
  SECTION("refused: asked again, they are still there") {
    CHECK(x.refused("/path: too long") ==
          "This cannot be done: /path: too long\n");
    CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", arguments});
  }
  SECTION("edited back") {
    CHECK(x.on_edited("two\n").show == "The arguments are as they were.\n");
    CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", {}});
  }
}

TEST_CASE("what was changed of a call counts when it is asked about again") {
  auto before = plain();
  CHECK_FALSE(before.changes());
  before.set_file("one\n");
  before.on_edited("three\n");
  REQUIRE(before.changes());
  const auto left = *before.changes();
  REQUIRE(left.text == "three\n");
  auto about = a_write();
  about.proposal = proposal_id{"prop_2"};
  SECTION("in its place") {
    auto x = plain(about);
    x.set_file("other\n");
    CHECK(x.take_up(left, about.arguments) ==
          "The file has changed since you opened it: your text takes the place "
          "of all of it.\nWhat you had changed of it stands here again.\n");
    CHECK_THAT(begin(x), Contains("│ -other\n│ +three\n"));
    CHECK_THAT(begin(x), Contains("Run it with your arguments?"));
    CHECK(x.on_line("y").decided->arguments ==
          R"({"content":"three\n","path":"notes.md"})");
  }
  SECTION("for the editor, where the call is another one") {
    auto x = plain(about);
    x.set_file("other\n");
    CHECK_THAT(x.take_up(left, "{}"), Contains("'e' opens it again"));
    CHECK(x.prompt() == prompt);
    CHECK(x.editable() == "three\n");
    REQUIRE(x.changes());
    CHECK(x.changes()->text == "three\n");
    CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", {}});
  }
  SECTION("as what is asked about now") {
    auto x = plain(about);
    const bool here = GENERATE(true, false);
    x.set_changed(here);
    CHECK_THAT(begin(x), Contains(here ? "notes.md (as you changed it)\n"
                                       : "notes.md (as changed)\n"));
    CHECK_THAT(begin(x), Contains(here ? "Run it with your arguments?"
                                       : "Run it with the changed arguments?"));
    CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", {}});
    CHECK(x.on_key("a").decided == std::nullopt);
    CHECK(x.on_key("c").decided);
  }
}

TEST_CASE("changed arguments are shown as the tool tells what they do") {
  auto about = a_write();
  about.tool = "edit";
  about.arguments =
      R"({"new_string":"TWO","old_string":"two","path":"notes.md"})";
  auto x = plain(about);
  x.set_file("one\ntwo\n");
  x.on_edited("one\nZWEI\n");
  REQUIRE(x.edited());
  // The file has got a line since, which the change keeps.
  x.set_file("one\ntwo\nthree\n");
  x.set_preview("@@ -1,3 +1,3 @@\n one\n-two\n+ZWEI\n three\n");
  CHECK_THAT(begin(x), Contains("│ -two\n│ +ZWEI\n│  three\n"));
  CHECK_THAT(begin(x), !Contains("-three"));
  SECTION("and what cannot be done any more is kept for the editor") {
    CHECK(x.drop_changes("old_string is not in notes.md") ==
          "This cannot be done: old_string is not in notes.md\n"
          "What you had changed is kept: 'e' opens it again.\n");
    CHECK(x.prompt() == prompt);
    CHECK(x.editable() == "one\nZWEI\n");
    CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", {}});
  }
  SECTION("of other ones it tells nothing") {
    x.set_file("one\ntwo\n");
    x.on_edited("one\nDREI\n");
    CHECK_THAT(begin(x), Contains("+DREI"));
  }
}

TEST_CASE("what is no JSON object changes nothing, and is kept") {
  auto about = a_write();
  about.tool = "other";
  auto x = plain(about);
  for (const auto* text : {"[]", "{", "{\"a\":1} x", "{\"a\":1,\"a\":2}"}) {
    CAPTURE(text);
    const auto step = x.on_edited(text);
    CHECK_FALSE(step.decided);
    CHECK_THAT(step.show, Contains("This cannot be used: "));
    CHECK(x.editable() == text);
    CHECK(x.prompt() == prompt);
  }
  CHECK_THAT(x.on_edited(" \n").show, Contains("Nothing came back"));
  CHECK(x.on_line("y").decided == approval_answer{kind::yes, "", {}});
}

TEST_CASE("no text of a model can pass for a prompt or move the cursor") {
  auto about = a_write();
  about.title = "x\x1b[2J\nRun it? [y]es > y";
  about.preview = "a\rRun it?\n\x1b[1A\u202E!\nRun it? > ";
  const auto text = begin(plain(about));
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK_THAT(text, Contains("\\u{202e}"));
  std::size_t prompts = 0;
  for (std::size_t at = 0; (at = text.find("\nRun it?", at)) != text.npos; ++at)
    ++prompts;
  CHECK(prompts == 1);
}

TEST_CASE("what does not fit is counted, and view shows it") {
  auto about = a_write();
  for (int i = 0; i < 100; ++i)
    about.preview += "+line " + std::to_string(i) + "\n";
  approval_dialog x{about, {.columns = 30, .rows = 20}};
  const auto text = begin(x);
  CHECK_THAT(text, Contains("  … 91 more lines ([v]iew shows all)\n"));
  CHECK_THAT(text, !Contains("line 99"));
  const auto all = x.on_line("v").show;
  CHECK_THAT(x.prompt(), Contains("Run it (write "));
  CHECK_THAT(all, Contains("│ +line 99\n"));
  CHECK_THAT(all, !Contains("more lines"));
}

TEST_CASE("view says so where all of it stands there") {
  approval_dialog x{a_write(), {.columns = 60, .rows = 40}};
  CHECK(x.on_line("v").show == "Nothing of it is left out above.\n");
  CHECK_THAT(x.prompt(), Contains("Run it? "));
  // A terminal that only writes on has it far above.
  approval_dialog plain{a_write(), {.columns = 60, .rows = 40, .plain = true}};
  CHECK_THAT(plain.on_line("v").show, Contains("[APPROVAL]"));
}

TEST_CASE("help says what each answer does") {
  auto x = plain();
  for (const auto* line : {"?", "h", "help"}) {
    const auto text = x.on_line(line).show;
    for (const auto* word : {"  y ", "  n ", "  e ", "  a ", "  v ", "  s "})
      CHECK_THAT(text, Contains(word));
    CHECK_THAT(text, Contains("further calls like it"));
  }
}
