// SPDX-License-Identifier: MIT
// That caf_order, which tells the thread sanitizer what CAF orders, hides no
// race of ours. Only in builds with that sanitizer.
#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

#include "tests/support/catch.hpp"

namespace {

struct played {
  int status = -1;
  std::string text;
};

/// One scene of tests/support/racy; a report ends it with status 66.
played play(const std::string& scene) {
  const std::string command =
      "TSAN_OPTIONS='exitcode=66:halt_on_error=1:log_path=stderr' '" RIFFLE_RACY
      "' " +
      scene + " 2>&1";
  std::FILE* out = ::popen(command.c_str(), "r");
  REQUIRE(out != nullptr);
  played x;
  std::array<char, 4096> piece{};
  while (const auto n = std::fread(piece.data(), 1, piece.size(), out))
    x.text.append(piece.data(), n);
  const int status = ::pclose(out);
  x.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return x;
}

}  // namespace

TEST_CASE("what CAF orders is no race") {
  const std::string scene =
      GENERATE(as<std::string>{}, "passed_on", "turns_of_one",
               "asked_one_after_the_other");
  CAPTURE(scene);
  const auto x = play(scene);
  INFO(x.text);
  CHECK(x.status == 0);
}

TEST_CASE("a race of ours is reported, whatever passes between actors") {
  const std::string scene =
      GENERATE(as<std::string>{}, "two_handlers", "two_handlers_on_the_pool",
               "touched_after_it_was_sent", "asker_and_handler",
               "thread_and_handler", "after_much_traffic");
  CAPTURE(scene);
  const auto x = play(scene);
  INFO(x.text);
  CHECK(x.status == 66);
  CHECK(x.text.find("WARNING: ThreadSanitizer: data race") !=
        std::string::npos);
  CHECK(x.text.find("racy/main.cpp") != std::string::npos);  // in our code
}
