// SPDX-License-Identifier: MIT
// Run by hand: test_messages "[.bench]" (in a release build).
#include <chrono>
#include <iostream>

#include "messages/event_line.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

// Nanoseconds for one line, the best of some rounds.
template <class F>
double best_of_rounds(std::string& out, F add) {
  using clock = std::chrono::steady_clock;
  constexpr int lines = 200'000;
  double best = 1e9;
  for (int round = 0; round < 7; ++round) {
    out.clear();
    const auto begin = clock::now();
    for (int i = 0; i < lines; ++i) {
      if (out.size() > 64 * 1024) out.clear();
      add(static_cast<std::uint64_t>(i));
    }
    const std::chrono::duration<double, std::nano> took = clock::now() - begin;
    best = std::min(best, took.count() / lines);
  }
  return best;
}

}  // namespace

TEST_CASE("how long a line takes", "[.bench]") {
  event_writer writer{run_id{"run_01arz3ndektsv4rrffq69g5fav"}};
  std::string out;
  const std::string page(4096, 'x');
  std::string han;
  while (han.size() < 4096) han += "漢";
  for (const std::string& text : {std::string{" token"}, page, han}) {
    const auto ns = best_of_rounds(out, [&](std::uint64_t seq) {
      writer.add_text(out, seq, false, text, 3);
    });
    std::cout << "add_text, " << text.size() << " bytes: " << ns << " ns\n";
  }
  const events::body call =
      events::tool_call{{"call_01arz3ndektsv4rrffq69g5fav"},
                        "toolu_1",
                        "read",
                        "Reading src/main.cpp",
                        R"({"path":"src/main.cpp","limit":200})",
                        "",
                        effect::read_only,
                        3,
                        events::call_status::starting,
                        ""};
  const auto ns = best_of_rounds(
      out, [&](std::uint64_t seq) { writer.add(out, seq, call); });
  std::cout << "add, a tool_call: " << ns << " ns\n";
  CHECK(out.size() > 0);
}
