// SPDX-License-Identifier: MIT
// What waited in a conversation whose program was killed.
#include "runtime/cli/commands/left_lines.hpp"

#include <csignal>
#include <filesystem>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using riffle::cli::left_lines;
using texts = std::vector<std::string>;

namespace {

/// Of a process that has ended.
pid_t dead_process() {
  const auto child = ::fork();
  if (child == 0) ::_exit(0);
  ::waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

TEST_CASE("what waited in a session when its process ended is told once") {
  const temp_folder folder;
  const auto file = folder.path() / "queued";
  const auto gone = dead_process();
  left_lines before{file, gone};
  before.waiting("s1", {"one", "two\nlines"});
  const left_lines after{file, ::getpid()};
  CHECK(after.take("s2").empty());
  CHECK(after.take("s1") == texts{"one", "two\nlines"});
  CHECK(after.take("s1").empty());
  CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("what was sent meanwhile, or waits in a program that lives, is not") {
  const temp_folder folder;
  const auto file = folder.path() / "queued";
  left_lines before{file, dead_process()};
  before.waiting("s1", {"one", "two"});
  before.waiting("s1", {"two"});
  left_lines lives{file, ::getppid()};
  lives.waiting("s1", {"of another"});
  CHECK(left_lines{file, ::getpid()}.take("s1") == texts{"two"});
  before.waiting("s1", {});
  CHECK(left_lines{file, ::getpid()}.take("s1").empty());
  CHECK(std::filesystem::exists(file));  // the other's
}

TEST_CASE(
    "a long text that waited is told of, too; of too many the oldest go") {
  const temp_folder folder;
  const auto file = folder.path() / "queued";
  left_lines before{file, dead_process()};
  before.waiting("s1", {std::string(17'000, 'a')});
  const left_lines after{file, ::getpid()};
  CHECK(after.take("s1") == texts{std::string(17'000, 'a')});
  const std::string a(3u << 20, 'a');
  const std::string b(3u << 20, 'b');
  const std::string c(3u << 20, 'c');
  before.waiting("s1", {a, b, c});
  const bool newest = after.take("s1") == texts{b, c};
  CHECK(newest);
}

TEST_CASE("a queue that nothing can be read of says nothing") {
  const temp_folder folder;
  folder.write("queued", "no json\n{}\n[1,2,3]\n[\"s1\",1]\n");
  CHECK(left_lines{folder.path() / "queued", ::getpid()}.take("s1").empty());
}

TEST_CASE("lines that waited behind a killed run are offered once") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch a; while [ -e a ]; do sleep 0.05; done" }
[[steps]]
text = "Done."
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  {
    terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
    REQUIRE(riffle.read_next("/help shows"));
    REQUIRE(riffle.read_next("> "));
    riffle.type("go\r");
    REQUIRE(riffle.read_next("Running: touch"));
    riffle.type("first thing\r");
    REQUIRE(riffle.read_next("(1 queued"));
    riffle.type("second thing\r");
    REQUIRE(riffle.read_next("(2 queued"));
    riffle.signal(SIGKILL);
    riffle.finish();
  }
  const std::string offer =
      "2 lines were waiting when it ended: Up brings them back.";
  terminal_program riffle{folder.path(), {"chat", "-c", "--no-color"}, 80};
  REQUIRE(riffle.read_next("ne[v]er > "));
  riffle.type("v\r");
  REQUIRE(riffle.read_next(offer));
  REQUIRE(riffle.read_next("> "));
  riffle.type("\x1b[A");
  REQUIRE(riffle.read_next("> second thing"));
  riffle.type("\x1b[A");
  REQUIRE(riffle.read_next("> first thing"));
  riffle.type("\x03");
  REQUIRE(riffle.read_next("> "));
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
  terminal_picture picture{80};
  picture.feed(riffle.written());
  // A blank line stands behind what was said of the old run.
  CHECK_THAT(picture.text(), Contains("\n\n" + offer + "\n>"));
  terminal_program again{folder.path(), {"chat", "-c", "--no-color"}, 80};
  REQUIRE(again.read_next("/help shows"));
  REQUIRE(again.read_next("\x1b[?2004h"));  // it reads keys
  again.type("\x04");
  CHECK(again.finish() == 0);
  CHECK_THAT(again.written(), !Contains("waiting when it ended"));
}

TEST_CASE("an own run that was finished here is no turn of somebody else's") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "test -e b || { touch b a; while [ -e a ]; do sleep 0.05; done; }" }
[[steps]]
text = "Done."
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  {
    terminal_program riffle{folder.path(), {"chat", "--no-color"}, 80};
    REQUIRE(riffle.read_next("/help shows"));
    REQUIRE(riffle.read_next("> "));
    riffle.type("go\r");
    REQUIRE(eventually(
        [&] { return std::filesystem::exists(folder.path() / "a"); }));
    riffle.signal(SIGKILL);
    riffle.finish();
  }
  std::filesystem::remove(folder.path() / "a");
  terminal_program riffle{folder.path(), {"chat", "-c", "--no-color"}, 80};
  REQUIRE(riffle.read_next("ne[v]er > "));
  riffle.type("y\r");
  REQUIRE(riffle.read_next("Done."));
  REQUIRE(riffle.read_next("> "));
  riffle.type("alpha\r");
  CHECK(riffle.read_next("Done."));  // it was sent
  riffle.type("\x04");
  CHECK(riffle.finish() == 0);
  CHECK_THAT(riffle.written(), !Contains("added to this session elsewhere"));
}
