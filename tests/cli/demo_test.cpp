// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <filesystem>

#include "runtime/cli/commands/shell_run.hpp"
#include "runtime/config/config.hpp"
#include "runtime/model/scripted_script.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;

TEST_CASE("the demo's script has no mistakes and five steps") {
  const auto file =
      std::filesystem::path{RIFFLE_SOURCE_DIR} / "configs" / "demo.toml";
  const auto settings = config::load({file, {}, config::builtin_tools()});
  REQUIRE(settings);
  const auto script = model::load_script(settings->models.at("default").script);
  INFO((script ? "" : script.error().message));
  REQUIRE(script);
  CHECK(script->steps.size() == 5);
  // Three reads in one step: they are what works while the text streams.
  CHECK(script->steps[1].events.size() == 4);
}

TEST_CASE("the demo finds files in any folder, also in an empty one") {
  const auto script = model::load_script(
      std::filesystem::path{RIFFLE_SOURCE_DIR} / "configs/demo.script.toml");
  REQUIRE(script);
  std::string command;
  for (const auto& x : script->steps.at(0).events)
    if (const auto* call = std::get_if<model::script_call>(&x);
        call && call->tool == "bash")
      command = call->arguments.at("command");
  const riffle::testing::temp_folder folder;
  const riffle::testing::scoped_directory there{folder.path()};
  const bool empty = GENERATE(true, false);
  if (!empty) folder.write("a.txt", "text\n");
  // Once more is the same: it may run again behind a crash.
  for (int i = 0; i < 2; ++i) {
    const auto found = cli::run_shell(command, {[](std::string_view) {}});
    REQUIRE(found);
    CHECK(found->status == 0);
    CHECK(found->output == (empty ? "riffle-demo/one.txt\nriffle-demo/"
                                    "three.txt\nriffle-demo/two.txt\n"
                                  : "a.txt\n"));
  }
}

TEST_CASE("the demo at a terminal: at once, asked, killed and gone on") {
  if (!riffle::testing::has_terminals())
    return riffle::testing::skip(riffle::testing::no_terminals);
  const riffle::testing::temp_folder folder;
  const auto begin = std::chrono::steady_clock::now();
  riffle::testing::terminal_program demo{
      folder.path(),
      {riffle::testing::terminal_program::built().string()},
      80,
      "xterm",
      "",
      std::filesystem::path{RIFFLE_SOURCE_DIR} / "configs/demo/play.sh"};
  // Both tools say how far they are while the text below them is written.
  REQUIRE(demo.read_until("2 tools"));
  REQUIRE(demo.read_until("(2/3: line 2)"));
  REQUIRE(demo.read_until("[s]top, [?] > "));
  demo.answer("y");
  REQUIRE(demo.read_until("killed Riffle with kill -9"));
  CHECK(demo.finish() == 0);
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - begin;
  INFO(took.count() << " s");
  CHECK((took.count() < 40 || riffle::testing::time_scale > 1));
  riffle::testing::terminal_picture picture{80};
  picture.feed(demo.written());
  const auto text = picture.text();
  INFO(text);
  // Words in their order, wherever a row ends.
  auto words = text;
  std::ranges::replace(words, '\n', ' ');
  auto comes = [&words, at = std::size_t{0}](const char* part) mutable {
    at = words.find(part, at);
    return at != std::string::npos;
  };
  CHECK(comes("They work while I still write: their progress stands below."));
  CHECK(comes("It never looks at the count."));
  CHECK(comes("│ -  sum=$((sum + cents)) │ +  sum=$((sum + count * cents))"));
  CHECK(comes("[TOOL] edit: total.sh"));
  CHECK(comes("Somebody has killed Riffle with kill -9"));
  CHECK(comes("✓ several items"));
  CHECK(text.find("Killed") == std::string::npos);
  CHECK(text.find("2 tools") == std::string::npos);
}
