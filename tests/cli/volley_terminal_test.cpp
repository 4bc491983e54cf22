// SPDX-License-Identifier: MIT
// A volley at a pseudo-terminal: the others live while a question is open, and
// stop stops one task.
#include <optional>

#include <nlohmann/json.hpp>

#include "runtime/cli/terminal/erasure.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/skip.hpp"

using namespace std::chrono_literals;
using nlohmann::json;
using riffle::testing::http_reply;
using riffle::testing::http_request;
using riffle::testing::http_server;
using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

std::string piece(const json& delta, const json& reason) {
  return "data: " +
         json{{"id", "1"},
              {"object", "chat.completion.chunk"},
              {"model", "m"},
              {"choices",
               {{{"index", 0}, {"delta", delta}, {"finish_reason", reason}}}}}
             .dump() +
         "\n\n";
}

std::string said(const std::string& text) {
  return piece({{"content", text}}, nullptr) + piece(json::object(), "stop") +
         "data: [DONE]\n\n";
}

std::string writes() {
  return piece({{"tool_calls",
                 {{{"index", 0},
                   {"id", "call_1"},
                   {"type", "function"},
                   {"function",
                    {{"name", "write"},
                     {"arguments", R"({"path":"x","content":"y"})"}}}}}}},
               nullptr) +
         piece(json::object(), "tool_calls") + "data: [DONE]\n\n";
}

constexpr auto prompt = "[?] > ";  // the rest is wrapped at 60 columns

}  // namespace

TEST_CASE("the others go on while a person thinks, and stop stops one task") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const unsigned short columns = GENERATE(100, 60);
  CAPTURE(columns);
  http_server server{[](const http_request& x) {
    if (x.body.find("asks first") != std::string::npos)
      return http_reply::sse().send(writes());
    if (x.body.find("waits") != std::string::npos)
      return http_reply::sse().stall("go").send(said("Late."));
    return http_reply::sse().stall("on").send(said("Done."));
  }};
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\nbase_url = \"" +
                   server.url("/v1") + "\"\nmodel = \"m\"\n");
  terminal_program riffle{
      folder.path(),
      {"run", "--no-color", "asks first", "goes on", "waits", "--workers", "3"},
      columns};
  REQUIRE(riffle.read_next(prompt));
  server.release("on");
  REQUIRE(riffle.read_next("✓ goes on"));  // though nobody has answered
  REQUIRE(riffle.read_next(prompt));       // which stands below it again
  terminal_picture now{columns};
  now.feed(riffle.written());
  const auto picture = now.text();
  CAPTURE(picture);
  CHECK(picture.find("✓ goes on") < picture.rfind("[s]top this task"));
  CHECK(picture.find("Run it?") == picture.rfind("Run it?"));  // once
  riffle.answer("?");
  REQUIRE(riffle.read_next("s  does not run it and ends this task"));
  REQUIRE(riffle.read_next(prompt));
  riffle.answer("s");
  REQUIRE(riffle.read_next("✗ asks first"));
  server.release("go");
  REQUIRE(riffle.read_next("✓ waits"));
  CHECK(riffle.finish() == 130);  // one was stopped
  const auto all = riffle.written();
  const auto why = all.find("stopped by the user");
  CHECK(why != std::string::npos);
  CHECK(all.find("stopped by the user", why + 1) == std::string::npos);
  CHECK(all.find("(cancelled") == std::string::npos);  // in place of an answer
  CHECK(all.find("Late.") != std::string::npos);
}

TEST_CASE("a model's answer moves nothing at the terminal of a volley") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  http_server server{[](const http_request&) {
    return http_reply::sse().send(said("a\x1b]0;owned\x07 \x1b[2J\u009bm"));
  }};
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\nbase_url = \"" +
                   server.url("/v1") + "\"\nmodel = \"m\"\n");
  terminal_program riffle{folder.path(), {"run", "a b", "c d"}, 80};
  CHECK(riffle.finish() == 0);
  const auto all = riffle.written();
  CHECK(all.find("owned") != std::string::npos);
  CHECK(all.find("\x1b]0;") == std::string::npos);
  CHECK(all.find('\x07') == std::string::npos);
  CHECK(all.find("\x1b[2J") == std::string::npos);
  CHECK(all.find("\u009b") == std::string::npos);
}

TEST_CASE("a second Ctrl-C ends a volley and a plan on a clean line") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  constexpr auto deaf =
      "trap '' TERM INT; echo ready; while true; do sleep 1; done";
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n"
               // Nothing ends before the second one.
               "[tools]\nkill_grace = \"5s\"\n"
               "[tools.bash]\napproval = \"allow\"\n");
  folder.write("s.toml", std::string{"[[steps]]\n[[steps.calls]]\ntool = "
                                     "\"bash\"\narguments = { command = \""} +
                             deaf + "\" }\n");
  folder.write("p.toml",
               std::string{"[[steps]]\ntool = \"bash\"\narguments = { command "
                           "= \""} +
                   deaf + "\" }\n");
  const std::vector<std::string> words =
      GENERATE(std::vector<std::string>{"run", "a b", "c d"},
               std::vector<std::string>{"plan", "p.toml"});
  CAPTURE(words.front());
  terminal_program riffle{folder.path(), words, 80};
  REQUIRE(riffle.read_until("(ready)"));
  riffle.type("\x03");
  REQUIRE(riffle.read_next(" ended, cancelling"));
  riffle.type("\x03");
  CHECK(riffle.finish() == 130);
  CHECK(riffle.written().ends_with(riffle::cli::erase_rows));
  terminal_picture last{80};
  last.feed(riffle.written());
  const auto picture = last.text();
  CAPTURE(picture);
  CHECK(picture.find("cancelling") == std::string::npos);
  CHECK(picture.find("▶") == std::string::npos);
}

TEST_CASE("a stopped volley is gone on with as it was begun") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  http_server server{[](const http_request& x) {
    if (x.body.find("is quick") != std::string::npos)
      return http_reply::sse().send(said("Done."));
    return http_reply::sse().stall("never");
  }};
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\nbase_url = \"" +
                   server.url("/v1") + "\"\nmodel = \"m\"\n");
  const bool all = GENERATE(true, false);
  CAPTURE(all);
  std::vector<std::string> words{"run", "--no-color", "is quick", "is slow",
                                 "is late"};
  if (all) words.insert(words.end(), {"--approve", "all"});
  terminal_program riffle{folder.path(), words, 200};
  REQUIRE(riffle.read_until("✓ is quick"));
  riffle.type("\x03");
  CHECK(riffle.finish() == 130);
  CAPTURE(riffle.written());
  REQUIRE(riffle.written().find("\r\n3 tasks: 1 done, 2 stopped, ") !=
          std::string::npos);
  CHECK(riffle.written().find("of 3 tasks") == std::string::npos);
  const auto hint = riffle.written().find("riffle sessions resume volley_");
  REQUIRE(hint != std::string::npos);
  CHECK((riffle.written().find(" --approve all", hint) != std::string::npos) ==
        all);
}

TEST_CASE("answers of a volley and of a plan are rendered as those of a run") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  http_server server{[](const http_request&) {
    return http_reply::sse().send(
        said("- **one** thing that is so long that it is wrapped at a word"));
  }};
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\nbase_url = \"" +
                   server.url("/v1") + "\"\nmodel = \"m\"\n");
  folder.write("p.json", R"({"steps": [{"id": "a", "instruction": "do a"}]})");
  using words = std::vector<std::string>;
  const words of = GENERATE(words{"run", "go on"}, words{"run", "a b", "c d"},
                            words{"plan", "p.json"});
  CAPTURE(of);
  const auto shown = [&](const words& arguments) {
    terminal_program riffle{folder.path(), arguments, 40};
    CHECK(riffle.finish() == 0);
    terminal_picture picture{40};
    picture.feed(riffle.written());
    return picture.text();
  };
  CHECK(shown(of).find("• one thing that is so long that it is\n"
                       "  wrapped at a word\n") != std::string::npos);
  auto raw = of;
  raw.insert(raw.begin() + 1, "--raw");
  CHECK(shown(raw).find("- **one** thing") != std::string::npos);
}

namespace {

/// A program whose work waits in a call for the files `next` and `go`; behind
/// it the shell tells how it left the terminal.
struct waiting_work {
  explicit waiting_work(std::vector<std::string> words) {
    const std::string waits =
        "echo ready; until test -e next; do sleep 0.02; done; echo second; "
        "until test -e go; do sleep 0.02; done";
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
    folder.write("s.toml",
                 "[[steps]]\n[[steps.calls]]\ntool = \"bash\"\n"
                 "arguments = { command = \"" +
                     waits + "\" }\n[[steps]]\ntext = \"Said.\"\n");
    folder.write("p.toml",
                 "[[steps]]\ntool = \"bash\"\narguments = { command = \"" +
                     waits + "\" }\n");
    words.insert(words.begin(),
                 {"-c", R"("$0" "$@"; echo "left by $?"; stty -a)",
                  terminal_program::built().string()});
    riffle.emplace(folder.path(), words, 110, "xterm", "", "/bin/sh");
  }
  [[nodiscard]] bool wrote(const char* text) const {
    return riffle->written().find(text) != std::string::npos;
  }
  temp_folder folder;
  std::optional<terminal_program> riffle;
};

const std::vector<std::vector<std::string>> all_work{
    {"run", "say it"}, {"run", "a b", "c d"}, {"plan", "p.toml"}};

}  // namespace

TEST_CASE("what is typed beside live rows does not stand within them") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const auto words = GENERATE(from_range(all_work));
  CAPTURE(words);
  waiting_work x{words};
  auto& riffle = *x.riffle;
  REQUIRE(riffle.read_next("ready"));
  riffle.type("qzq\r\rqzq");
  x.folder.write("next", "");
  x.folder.write("go", "");
  REQUIRE(riffle.read_next("left by 0"));
  CHECK_FALSE(x.wrote("qzq"));
  riffle.finish();
  // The shell has its terminal as before.
  CHECK(x.wrote(" icanon"));
  CHECK(x.wrote(" echo "));
}

TEST_CASE("Ctrl-C beside live rows writes nothing into them") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const auto words = GENERATE(from_range(all_work));
  CAPTURE(words);
  waiting_work x{words};
  REQUIRE(x.riffle->read_next("ready"));
  x.riffle->type("\x03");
  x.riffle->finish();
  CHECK_FALSE(x.wrote("^C"));
}
