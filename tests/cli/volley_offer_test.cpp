// SPDX-License-Identifier: MIT
// A volley that was killed is offered by the next run in its folder.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/terminal_picture.hpp"
#include "tests/cli/terminal_program.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;

namespace {

/// Three tasks, one after the other; the first has ended and the second works
/// when it is killed.
struct killed_volley {
  killed_volley() {
    folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "touch {{task}}; test {{task}} != two || until test -e go; do sleep 0.02; done" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
                 "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
    terminal_program killed{
        folder.path(),
        {"run", "--no-color", "--workers", "1", "--", "one", "two", "three"},
        110};
    REQUIRE(eventually([&] { return has("two"); }));
    killed.signal(SIGKILL);
    killed.finish();
    folder.write("go", "");
  }
  [[nodiscard]] bool has(const std::string& name) const {
    return std::filesystem::exists(folder.path() / name);
  }
  temp_folder folder;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a volley that is never to be finished ends as it is") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_volley x;
  terminal_program next{x.folder.path(), {"run", "next"}, 110};
  REQUIRE(
      next.read_next("A volley of 3 tasks of this folder was not "
                     "finished: volley_"));
  REQUIRE(next.read_next(
      "Finish it first? (a letter and Enter) [y]es, [n]o, ne[v]er > "));
  next.type("v\n");
  REQUIRE(next.read_next("Volley volley_"));
  REQUIRE(
      next.read_next(" stays as it is: 1 of 3 tasks had ended, the others "
                     "are cancelled."));
  REQUIRE(next.read_next("You said: next"));
  CHECK(next.finish() == 0);
  // Nothing is offered, and what had not begun has not.
  terminal_program third{x.folder.path(), {"run", "third"}, 110};
  CHECK(third.finish() == 0);
  CHECK_FALSE(holds(third.written(), "not finished"));
  CHECK_FALSE(x.has("three"));
}

TEST_CASE("never ends a volley that was killed between two runs, too") {
  if (!has_terminals()) return skip(no_terminals);
  std::atomic<int> failed = 0;
  http_server server{[&failed](const http_request& x) {
    if (!holds(x.body, "fails"))
      return http_reply::sse().send(
          "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ok\"},"
          "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n");
    ++failed;
    return http_reply::json("{}", 503);
  }};
  const temp_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\nbase_url = \"" +
                   server.url("/v1") +
                   "\"\nmodel = \"m\"\n"
                   "[models.default.retry]\nmax_attempts = 1\n");
  {
    terminal_program killed{folder.path(),
                            {"run", "--max-retries", "9", "fails x", "fails y"},
                            110};
    // Each third pause is 4 s: it is killed within that.
    REQUIRE(eventually([&] { return failed == 6; }));
    REQUIRE(killed.read_next("0/2 ended"));
    killed.signal(SIGKILL);
    killed.finish();
  }
  terminal_program next{folder.path(), {"run", "next"}, 110};
  REQUIRE(next.read_next("A volley of 2 tasks"));
  REQUIRE(next.read_next("ne[v]er > "));
  next.type("v\n");
  REQUIRE(next.read_next(
      " stays as it is: 0 of 2 tasks had ended, the others are cancelled."));
  CHECK(next.finish() == 0);
  terminal_program third{folder.path(), {"run", "third"}, 110};
  CHECK(third.finish() == 0);
  CHECK_FALSE(holds(third.written(), "not finished"));
  CHECK(failed == 6);
}

TEST_CASE(
    "each answer of a volley stands below one line, and a sum below all") {
  if (!has_terminals()) return skip(no_terminals);
  const killed_volley x;
  terminal_program next{x.folder.path(), {"run", "--no-color", "next"}, 110};
  REQUIRE(next.read_next("ne[v]er > "));
  next.type("y\n");
  REQUIRE(next.read_next("You said: next"));
  CHECK(next.finish() == 0);
  terminal_picture picture{110};
  picture.feed(next.written());
  const auto all = picture.text();
  CAPTURE(all);
  // The first had ended before, and has no line of its end here.
  CHECK(holds(all, "\n[1/3] one\nYou said: one\n"));
  CHECK(holds(all, "\n[2/3] ✓ two ("));
  CHECK(holds(all, ")\nYou said: two\n\n[3/3] ✓ three ("));
  CHECK(holds(all, ")\nYou said: three\n\n3 tasks: 3 done, "));
  CHECK_FALSE(holds(all, "[2/3] two"));
  CHECK_FALSE(holds(all, "[3/3] three"));
}

TEST_CASE("an answer that does not stand below its line has its title") {
  if (!has_terminals()) return skip(no_terminals);
  const temp_folder folder;
  folder.write("s.toml", R"toml(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "test {{task}} != one || until test -e go; do sleep 0.02; done" }
[[steps]]
chunk = 999
text = "You said: {{task}}"
)toml");
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n"
               "[models.default]\ndialect = \"scripted\"\nmodel = \"s\"\n"
               "script = \"s.toml\"\n[tools.bash]\napproval = \"allow\"\n");
  std::vector<std::string> words{"run", "--no-color", "--", "one", "two"};
  const bool sums = GENERATE(true, false);
  if (!sums) words.insert(words.begin() + 1, "--stats");
  terminal_program riffle{folder.path(), words, 110};
  REQUIRE(riffle.read_next("[2/2] ✓ two"));
  folder.write("go", "");
  CHECK(riffle.finish() == 0);
  terminal_picture picture{110};
  picture.feed(riffle.written());
  const auto all = picture.text();
  CAPTURE(all);
  CHECK(holds(all, ")\nYou said: one\n\n[2/2] two\nYou said: two\n"));
  // Who wants all of it has the sum there.
  CHECK(holds(all, "\n2 tasks: 2 done, ") == sums);
}
