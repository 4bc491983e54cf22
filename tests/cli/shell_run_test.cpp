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
#include "runtime/cli/terminal/program_output.hpp"
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

namespace {

/// What is kept of a program's output, which is too long.
struct kept_ends {
  std::string all;
  std::string head;
  std::string tail;
};

/// Head and tail are such of the text, and what is left out is counted.
kept_ends kept_of(const std::string& text) {
  const testing::temp_folder folder;
  folder.write("text", text);
  const auto result =
      run_shell("cat '" + (folder.path() / "text").string() + "'",
                {.show = [](std::string_view) {}});
  REQUIRE(result);
  CHECK(result->wrote == text.size());
  kept_ends out{.all = result->output};
  const std::string mark = "… ";
  const auto from = out.all.find(mark);
  REQUIRE(from != std::string::npos);
  const auto end = out.all.find('\n', from);
  const auto left_out = std::stoul(out.all.substr(from + mark.size()));
  out.head = out.all.substr(0, from);
  out.tail = out.all.substr(end + 1);
  if (!text.starts_with(out.head)) out.head.pop_back();
  CHECK(text.starts_with(out.head));
  CHECK(text.ends_with(out.tail));
  CHECK(left_out == text.size() - out.head.size() - out.tail.size());
  CHECK(out.head.size() + out.tail.size() <= longest_kept);
  return out;
}

}  // namespace

TEST_CASE("a long output is cut between its rows") {
  std::string text;
  for (int i = 0; text.size() < 3 * longest_kept; ++i)
    text += "HIDE\rline " + std::to_string(i) + "\n";
  // Also where only a few bytes are too many.
  for (const auto size : {text.size(), longest_kept + 10}) {
    const auto kept = kept_of(text.substr(0, size));
    CHECK(kept.head.ends_with('\n'));
    CHECK(kept.tail.starts_with("HIDE\rline "));
    CHECK(kept.head.size() + kept.tail.size() > longest_kept - 100);
  }
  // The end of a very long row is kept, and its line end too.
  const auto row = kept_of(std::string(3 * longest_kept, 'x') + "\n");
  CHECK(row.tail.size() == longest_kept / 2);
  const auto states = kept_of(std::string(longest_kept, 'x') + "\r100%" +
                              std::string(longest_kept / 2 - 10, 'y'));
  CHECK(states.tail.starts_with("100%"));
}

TEST_CASE("no cut of a long row is within a sequence or a character") {
  constexpr auto half = longest_kept / 2;
  const std::string title = "\x1b]0;HIDDEN\a";
  const std::string link = "\x1b]8;;HIDDEN\x1b\\";
  const std::string colors = "\x1b[38;5;123m";
  for (const auto& x : {title, link, colors, std::string{"日"}})
    for (std::size_t before = 0; before <= x.size(); ++before)
      for (const std::size_t between : {10u, 100'000u}) {
        CAPTURE(before, between);
        const auto kept = kept_of(std::string(half - before, 'a') + x +
                                  std::string(between + x.size(), 'b') + x +
                                  std::string(half - before, 'c'));
        // No byte of one is left that a part of it would bring.
        const auto head = seen_lines(kept.head, 0);
        const auto tail = seen_lines(kept.tail, 0);
        CHECK(head.find_first_not_of("ab日") == head.npos);
        CHECK(tail.find_first_not_of("bc日") == tail.npos);
      }
}
