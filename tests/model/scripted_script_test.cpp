// SPDX-License-Identifier: MIT
#include "runtime/model/scripted_script.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include "runtime/model/scripted_reference.hpp"
#include "tests/model/scripted_player.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::model;
using nlohmann::json;

namespace {

std::string problems(std::string_view text,
                     script_format format = script_format::toml) {
  const auto x = parse_script(text, format, "s.toml");
  if (x) return "none";
  CHECK(x.error().code == errc::invalid_config);
  return x.error().message;
}

bool has(const std::string& text, std::string_view part) {
  CAPTURE(text);
  return text.find(part) != std::string::npos;
}

const script_scope scope{
    "the task",
    {{"a0", "a1"}, {"one\ntwo\nthree\n", R"({"x":{"y":[1,"z"]}})", " b "}},
};

std::string expanded(std::string_view text) {
  const auto x = expand_text(text, scope);
  return x ? *x : "problem: " + x.error();
}

}  // namespace

TEST_CASE("references name the task and results of earlier steps") {
  CHECK(expanded("plain { } }}") == "plain { } }}");
  CHECK(expanded("<{{task}}>") == "<the task>");
  CHECK(expanded("{{ result.2 }}{{step.0.result.1}}{{step.0.result}}") ==
        " b a1a0");
  CHECK(expanded("{{result}}") == "one\ntwo\nthree\n");
}

TEST_CASE("filters count, cut and pick") {
  CHECK(expanded("{{result.0 | lines}}") == "3");
  CHECK(expanded("{{result.0 | size}}") == "14");
  CHECK(expanded("{{result.0 | first 2}}") == "one\ntwo");
  CHECK(expanded("{{result.0 | last 1}}") == "three");
  CHECK(expanded("{{result.0 | first 9}}") == "one\ntwo\nthree");
  CHECK(expanded("{{result.0 | last 9 | first 1}}") == "one");
  CHECK(expanded("{{result.0 | cut 5}}") == "one\nt");
  CHECK(expanded("{{result.2 | trim}}") == "b");
  CHECK(expanded("{{result.0 | first 2 | json}}") == "\"one\\ntwo\"");
  CHECK(expanded("{{result.1 | get /x/y/1}}") == "z");
  CHECK(expanded("{{result.1 | get /x}}") == R"({"y":[1,"z"]})");
}

TEST_CASE("references to what is not there say so") {
  CHECK(has(expanded("{{result.7}}"), "step 1 has no result 7"));
  CHECK(has(expanded("{{step.2.result.0}}"), "step 2 has not ended"));
  CHECK(has(expanded("{{result.0 | get /x}}"), "no JSON"));
  CHECK(has(expanded("{{result.1 | get /q}}"), "no /q"));
  const auto none = expand_text("{{result.0}}", script_scope{"t", {}});
  CHECK_FALSE(none);
}

TEST_CASE("ill-formed references are found before they are used") {
  CHECK_FALSE(check_references("{{task}} {{result.0 | first 3 | json}}"));
  for (const char* text :
       {"{{", "{{}}", "{{tsak}}", "{{result.x}}", "{{result.0.1}}",
        "{{step.result.0}}", "{{task | shout}}", "{{task | first}}",
        "{{task | first x}}", "{{task | lines 3}}", "{{task | get x}}"}) {
    CAPTURE(text);
    CHECK(check_references(text));
  }
}

TEST_CASE("references in arguments are text, or values where asked for") {
  const json arguments = {{"t", "{{result.0 | lines}} lines"},
                          {"n", "{{result.0 | lines | value}}"},
                          {"o", {"{{ result.1 | get /x | value }}"}},
                          {"k", 7}};
  const auto x = expand_value(arguments, scope);
  REQUIRE(x);
  CHECK(*x ==
        json{{"t", "3 lines"}, {"n", 3}, {"o", {{{"y", {1, "z"}}}}}, {"k", 7}});
  CHECK_FALSE(expand_value(json("{{task | value}}"), scope));
}

TEST_CASE("arguments and texts are filled from the conversation") {
  testing::script_player player{R"(
    [[steps]]
    calls = [{ tool = "a" }, { tool = "b" }]
    [[steps]]
    text = "{{result.1 | lines}} lines"
    call = { tool = "c", arguments = { path = "{{result.0}}", n = "{{result.1 | lines | value}}" } }
  )"};
  using namespace riffle::testing;
  const auto got =
      player.play(request_with({user("x"), assistant({"a", "b"}),
                                tool_result("R\"0"), tool_result("1\n2")}));
  const auto x = understand(got->reads);
  CHECK(x.message.text() == "2 lines");
  CHECK(x.calls.calls().at(0).arguments == R"({"n":2,"path":"R\"0"})");
  const auto lost = player.play(
      request_with({user("x"), assistant({"a"}), tool_result("r")}));
  CHECK(lost->end->http_status == 400);
  CHECK(has(lost->end->failure->message, "{{result.1 | lines}}"));
}

TEST_CASE("JSON scripts say the same as TOML scripts") {
  const auto x = parse_script(
      R"({"bytes_per_read":5,"steps":[{"text":"a","delay":30},{"delay":"1.5s"}]})",
      script_format::json, "s.json");
  REQUIRE(x);
  CHECK(x->bytes_per_read == 5);
  REQUIRE(x->steps.size() == 2);
  const auto& say = std::get<script_say>(x->steps[0].events.at(0));
  CHECK(say.text == "a");
  CHECK(say.delay == std::chrono::milliseconds{30});
  const auto& pause = std::get<script_pause>(x->steps[1].events.at(0));
  CHECK(pause.length == std::chrono::milliseconds{1500});
}

TEST_CASE("text that is no TOML or JSON is refused with its place") {
  CHECK(has(problems("[[steps]]\ntext = oops"), "s.toml:2:"));
  CHECK(has(problems("{\"steps\": [}", script_format::json), "line 1"));
  CHECK(has(problems("[]", script_format::json), "not an object"));
}

TEST_CASE("a script has its most keys and items, whatever its language") {
  const auto list = [](std::size_t n) {
    std::string out = "[0";
    for (std::size_t i = 1; i < n; ++i) out += ",0";
    return out + "]";
  };
  const std::string too_many = "more than 1048576 keys and items";
  CHECK(has(problems("steps = " + list(1u << 20)), too_many));
  const auto in_json = [&](std::size_t n) {
    return problems(R"({"steps":[{"call":{"tool":"t","arguments":{"a":)" +
                        list(n) + "}}}]}",
                    script_format::json);
  };
  const std::size_t around = 6;
  CHECK(in_json((1u << 20) - around) == "none");
  CHECK(has(in_json((1u << 20) - around + 1), too_many));
  // What stands in texts is none.
  CHECK(has(problems(R"({"steps":")" + std::string(2u << 20, ',') + R"("})",
                     script_format::json),
            "is not a list of tables"));
}

TEST_CASE("all mistakes of a script are told at once, with their places") {
  const auto text = problems(R"(chunk = -1
[[steps]]
txet = "a"
text = "{{nope}}"
delay = "soon"
finish = 3
[[steps]]
call = { arguments = { a = "{{result.x}}" } }
error = { status = 200, midstream = "what" }
[[steps]]
call = { tool = "t", arguments = { a = 1, "a/b" = "{{nope}}" } }
)");
  CHECK(has(text, "s.toml:1:9: chunk: is not a whole number"));
  CHECK(has(text, "s.toml:3:8: steps/0/txet: unknown key; allowed are: "));
  CHECK(has(text, "s.toml:4:8: steps/0/text: unknown reference 'nope'"));
  CHECK(has(text, "s.toml:5:9: steps/0/delay: is not a length of time"));
  CHECK(has(text, "s.toml:6:10: steps/0/finish: is not a text"));
  CHECK(has(text, "steps/1/call/tool: is missing"));
  CHECK(has(text, "s.toml:8:28: steps/1/call/arguments/a: unknown reference"));
  CHECK(has(text, "steps/1/error/status: is not 0 or an HTTP status"));
  CHECK(has(text, "steps/1/error/midstream: is not one of: openai, vllm"));
  CHECK(has(text, "s.toml:11:51: steps/2/call/arguments/a/b: unknown"));
}

TEST_CASE("a script needs steps, cases a match, and a status comes first") {
  CHECK(has(problems("chunk = 3"), "there are no steps"));
  CHECK(has(problems("steps = 3"), "is not a list of tables"));
  CHECK(has(problems("steps = [3]"), "is not a table"));
  CHECK(has(problems("[[cases]]\nsteps = []"), "match: is missing"));
  CHECK(has(problems("[[steps]]\nevents = [{ text = 'a' }, "
                     "{ error = { status = 500 } }]"),
            "after an answer began"));
  CHECK(problems("[[steps]]\ncut = true\nno_done = true") == "none");
  CHECK(problems("[[steps]]\nerror = 'boom'\ncount = 1") != "none");
}

TEST_CASE("scripts are loaded from files by their name") {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("riffle_script_" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream{folder / "a.json"} << R"({"steps":[{"text":"a"}]})";
  std::ofstream{folder / "a.toml"} << "[[steps]]\ntext = 'a'\nx = 1\n";
  CHECK(load_script(folder / "a.json"));
  const auto bad = load_script(folder / "a.toml");
  REQUIRE_FALSE(bad);
  CHECK(has(bad.error().message, (folder / "a.toml").string() + ":3:5: "));
  const auto missing = load_script(folder / "none.toml");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == errc::not_found);
  CHECK_FALSE(load_script(folder));
  std::filesystem::remove_all(folder);
}
