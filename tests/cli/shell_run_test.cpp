// SPDX-License-Identifier: MIT
// What a command has started ends with it, and what is typed beside it stays.
#include "runtime/cli/commands/shell_run.hpp"

#include <array>
#include <filesystem>
#include <poll.h>
#include <pty.h>
#include <string>
#include <unistd.h>

#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/terminal/terminal_mode.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/terminals.hpp"

using namespace riffle;
using namespace riffle::cli;

TEST_CASE("what a command started ends with it when Riffle has to leave") {
  // The second shell goes at once, its child heeds nothing.
  const std::string ignores = GENERATE("INT HUP TERM", "INT HUP");
  const testing::temp_folder folder;
  const auto name = folder.path().string();
  folder.write("child.sh", "trap '' " + ignores + "\ntouch '" + name +
                               "/ready'\nwhile :; do sleep 0.05; done\n");
  const auto is_ready = [&] {
    return std::filesystem::exists(folder.path() / "ready");
  };
  const auto result = run_shell("cd '" + name + "' && sh child.sh; true",
                                {.show = [](std::string_view) {},
                                 .stopped = is_ready,
                                 .leaves = is_ready});
  REQUIRE(result);
  CHECK(is_ready());
  // A sleep of the child may last a moment longer.
  CHECK(testing::eventually(
      [&] { return testing::processes_in(folder.path()).empty(); }));
}

TEST_CASE("what tidies up has its time, however long ago a Ctrl-C was") {
  const testing::temp_folder folder;
  const auto name = folder.path().string();
  folder.write("child.sh",
               "trap 'sleep 0.3; touch cleaned; exit' TERM\n"
               "touch ready\nwhile :; do sleep 0.05; done\n");
  bool lingers = false;
  const auto result = run_shell(
      "cd '" + name + "' && sh child.sh; true",
      {.show = [](std::string_view) {},
       .stopped =
           [&] { return std::filesystem::exists(folder.path() / "ready"); },
       .leaves = [&] { return lingers; },
       .lingers = [&] { lingers = true; }});
  REQUIRE(result);
  CHECK(lingers);
  CHECK(std::filesystem::exists(folder.path() / "cleaned"));
}

TEST_CASE("Ctrl-C throws no key away where keys are read") {
  if (!testing::has_terminals()) return testing::skip(testing::no_terminals);
  std::array<int, 2> ends{};
  REQUIRE(::openpty(&ends[0], &ends[1], nullptr, nullptr, nullptr) == 0);
  const unique_fd person{ends[0]};
  const unique_fd terminal{ends[1]};
  terminal_mode mode{terminal.get()};
  mode.set(typing_mode::keys);
  REQUIRE(::write(person.get(),
                  "ab\x03"
                  "cd",
                  5) == 5);
  std::array<char, 16> got{};
  std::string keys;
  while (keys.size() < 4) {
    pollfd ready{terminal.get(), POLLIN, 0};
    REQUIRE(::poll(&ready, 1, 10'000) == 1);
    const auto n = ::read(terminal.get(), got.data(), got.size());
    REQUIRE(n > 0);
    keys.append(got.data(), static_cast<std::size_t>(n));
  }
  CHECK(keys == "abcd");
}
