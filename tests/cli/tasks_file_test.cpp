// SPDX-License-Identifier: MIT
#include "runtime/cli/tasks_file.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

std::vector<listed_task> good(std::string_view text) {
  const auto x = parse_tasks(text, "t.txt");
  INFO((x ? "" : x.error().message));
  REQUIRE(x);
  return *x;
}

std::string bad(std::string_view text) {
  const auto x = parse_tasks(text, "t.txt");
  REQUIRE_FALSE(x);
  CHECK(x.error().code == errc::invalid_request);
  return x.error().message;
}

}  // namespace

TEST_CASE("a line is a task, and # is a comment only where a line begins") {
  const auto x = good("first # with this\n\n# no\n  \n #yes\r\nlast");
  REQUIRE(x.size() == 3);
  CHECK(x[0].task == "first # with this");
  CHECK(x[1].task == " #yes");
  CHECK(x[2].task == "last");
  CHECK_FALSE(x[0].agent);
  CHECK(good("\xef\xbb\xbfone").at(0).task == "one");
}

TEST_CASE("a task may say more than its text") {
  const listed_task whole{"do", "a", "m", "c", "s"};
  const std::string object =
      R"({"task":"do","agent":"a","model":"m","context":"c","session":"s"})";
  CHECK(good(object) == std::vector{whole});
  CHECK(good("plain\n" + object).at(1) == whole);
  CHECK(good(" \n[\"plain\",\n" + object + "]").at(1) == whole);
}

TEST_CASE("a task in a file names its pictures") {
  const auto x = good(R"({"task":"a","attachments":["b.png","c d.pdf"]})");
  CHECK(x[0].attachments == std::vector<std::string>{"b.png", "c d.pdf"});
  for (const auto* wrong : {R"("b.png")", R"([1])", R"([""])", R"({})"})
    CHECK(bad(std::string{R"({"task":"a","attachments":)"} + wrong + "}") ==
          "t.txt, line 1: \"attachments\" has to be a list of files");
}

TEST_CASE("what is wrong in a file of tasks is said with its place") {
  CHECK(bad("") == "t.txt: holds no task");
  CHECK(bad("# only this\n") == "t.txt: holds no task");
  CHECK(bad("[]") == "t.txt: holds no task");
  CHECK(bad("a\n{\"task\":") ==
        "t.txt, line 2: begins with '{' and is no JSON object");
  CHECK(bad("[1") ==
        "t.txt, line 1: the text begins with '[' and is no JSON array: it "
        "breaks off here");
  CHECK(bad("[\"a\",\n\"b\",\n]").starts_with("t.txt, line 3: "));
  CHECK(bad("[\"a\", 1]") ==
        "t.txt, element 2: a task is a text, or an object with \"task\"");
  CHECK(bad(R"({"agent":"a"})") == "t.txt, line 1: \"task\" is missing");
  CHECK(bad(R"({"task":" "})") == "t.txt, line 1: the task is empty");
  CHECK(bad("[\"\"]") == "t.txt, element 1: the task is empty");
  CHECK(bad(R"({"task":1})") == "t.txt, line 1: \"task\" has to be a text");
  CHECK(bad(R"({"task":"a","model":""})") ==
        "t.txt, line 1: \"model\" is empty");
  CHECK(bad(R"({"task":"a","moddel":"m"})") ==
        "t.txt, line 1: there is no key \"moddel\": task, agent, model, "
        "context, session, attachments");
  CHECK(bad(R"({"task":"a","moddel":1})") ==
        bad(R"({"task":"a","moddel":"m"})"));
  const std::string no_text =
      "t.txt, line 2: is no text: a byte that is no UTF-8, or a NUL";
  CHECK(bad("a\n\xff") == no_text);
  CHECK(bad(std::string{"a\n\0b", 4}) == no_text);
  CHECK(bad("a\n[\"\xc3\"]") == no_text);
}

TEST_CASE("all that is wrong in a file of tasks is said at once") {
  CHECK(bad("{\"taks\":\"a\"}\ngood\n{\"task\":3}\n") ==
        bad("{\"taks\":\"a\"}") + "\nt.txt, line 3: \"task\" has to be a text");
  CHECK(bad("[1, \"a\", \"\"]") ==
        bad("[1]") + "\nt.txt, element 3: the task is empty");
  std::string many;
  for (int i = 0; i < 25; ++i) many += "{}\n";
  CHECK(bad(many).ends_with("line 20: \"task\" is missing\n… and 5 more"));
}

TEST_CASE("ten thousand tasks are read") {
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "task " + std::to_string(i) + "\n";
  const auto x = good(text);
  REQUIRE(x.size() == 10'000);
  CHECK(x.back().task == "task 9999");
}
