// SPDX-License-Identifier: MIT
// A plan as terminals of 60, 80 and 200 columns show it, whole, and one that is
// resized meanwhile.
#include <regex>

#include <nlohmann/json.hpp>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/skip.hpp"

using nlohmann::json;
using riffle::testing::http_reply;
using riffle::testing::http_request;
using riffle::testing::http_server;
using riffle::testing::temp_folder;
using riffle::testing::terminal_picture;
using riffle::testing::terminal_program;

namespace {

constexpr const char* steps = R"([[steps]]
id = "look"
tool = "read"
arguments = { path = "a" }

[[steps]]
id = "tell"
instruction = "Übersetze 日本語の文書 into English, all chapters of it: {{steps.look.output}}"

[[steps]]
id = "gone"
tool = "read"
arguments = { path = "none" }
on_error = "continue"
)";

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

/// Ids and times are of the day.
std::string timeless(const std::string& text) {
  static const std::regex id{"plan_[0-9a-z]{26}"};
  static const std::regex time{"[0-9]+\\.[0-9]s"};
  return std::regex_replace(std::regex_replace(text, id, "plan_ID"), time, "T");
}

/// Its model answers as soon as it may.
struct stage {
  explicit stage(unsigned short columns) : picture{columns} {
    folder.write("a", "one line\n");
    folder.write("plan.toml", steps);
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\nbase_url = \"" +
                     server.url("/v1") + "\"\nmodel = \"m\"\n");
    riffle.emplace(folder.path(),
                   std::vector<std::string>{"plan", "--no-color", "plan.toml"},
                   columns);
  }
  /// What was written since the last time is shown, to where the cursor went
  /// back to the status line.
  void look() {
    const auto& all = riffle->written();
    const auto end = over ? all.size() : all.rfind('\r') + 1;
    picture.feed(std::string_view{all}.substr(shown, end - shown));
    shown = end;
  }
  std::string play(unsigned short resized = 0) {
    REQUIRE(riffle->read_next("waiting for the model"));
    if (resized > 0) {
      look();
      riffle->resize(resized);
      picture.resize(resized);
      REQUIRE(riffle->read_next("waiting for the model"));
    }
    server.release("go");
    CHECK(riffle->finish() == 0);
    over = true;
    look();
    return timeless(picture.text());
  }

  temp_folder folder;
  http_server server{[](const http_request&) {
    return http_reply::sse().stall("go").send(
        piece({{"content", "It says: one line."}}, nullptr) +
        piece(json::object(), "stop") + "data: [DONE]\n\n");
  }};
  terminal_picture picture;
  std::optional<terminal_program> riffle;
  std::size_t shown = 0;
  bool over = false;
};

}  // namespace

TEST_CASE("golden: a plan at 60, 80 and 200 columns") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  SECTION("60") { CHECK(stage{60}.play() == R"(?)"); }
  SECTION("80") { CHECK(stage{80}.play() == R"(?)"); }
  SECTION("200") { CHECK(stage{200}.play() == R"(?)"); }
}

TEST_CASE("golden: a plan whose terminal is resized") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  SECTION("80 to 60") { CHECK(stage{80}.play(60) == R"(?)"); }
  SECTION("60 to 200") { CHECK(stage{60}.play(200) == R"(?)"); }
}
