// SPDX-License-Identifier: MIT
#define CATCH_CONFIG_RUNNER  // Catch2 2.x: its implementation lives here
#include "tests/support/catch.hpp"

// The blocks above and below stay apart: the define belongs to Catch2.
#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/support/seed.hpp"
#include "tests/support/session.hpp"
#include "tests/support/skip.hpp"

namespace {

bool skips_this_case = false;
std::string reasons;
std::string running;     ///< the test case's name
std::size_t wanted = 0;  ///< cases of a part; 0: what was asked for
std::size_t ran = 0;

}  // namespace

namespace riffle::testing {

void skip(std::string_view reason) {
  skips_this_case = true;
  reasons.append("skipped: ").append(reason).append("\n");
  SUCCEED("skipped");
}

unsigned fresh_seed() {
  const char* wanted = std::getenv("RIFFLE_TEST_SEED");
  const unsigned seed = wanted != nullptr
                            ? static_cast<unsigned>(std::stoul(wanted))
                            : std::random_device{}();
  std::cout << "seed: " << seed << ", \"" << running << "\"\n" << std::flush;
  return seed;
}

}  // namespace riffle::testing

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using listener_base = Catch::EventListenerBase;
#else
using listener_base = Catch::TestEventListenerBase;
#endif

/// A case with several sections, or one that failed as well, counts once.
struct counts : listener_base {
  using listener_base::listener_base;

  void testCaseStarting(const Catch::TestCaseInfo& info) override {
    skips_this_case = false;
    running = info.name;
  }

  /// Told again at the end, where a long log is looked at first.
#if __has_include(<catch2/catch_all.hpp>)
  void assertionEnded(const Catch::AssertionStats& stats) override {
    tell(stats.assertionResult);
  }
#else
  bool assertionEnded(const Catch::AssertionStats& stats) override {
    tell(stats.assertionResult);
    return false;
  }
#endif

  void testCaseEnded(const Catch::TestCaseStats& stats) override {
    if (skips_this_case && stats.totals.assertions.allOk()) ++skipped;
  }

  void testRunEnded(const Catch::TestRunStats& stats) override {
    const auto& cases = stats.totals.testCases;
    ran = cases.total();
    const auto native = cases.total() - cases.passed - cases.failed -
                        cases.failedButOk;  // Catch2 3.x can skip by itself
    std::cout << reasons << "riffle-cases: " << cases.passed - skipped
              << " passed, " << cases.failed << " failed, " << skipped + native
              << " skipped\n"
              << std::flush;
  }

  static void tell(const Catch::AssertionResult& result) {
    if (result.isOk()) return;
    const auto where = result.getSourceInfo();
    std::string text =
        result.hasExpression() ? result.getExpandedExpression() : std::string{};
    if (result.hasMessage()) text += " " + std::string{result.getMessage()};
    for (char& c : text) c = c == '\n' || c == '\r' ? ' ' : c;
    reasons += "failed: " + std::string{where.file} + ":" +
               std::to_string(where.line) + ": \"" + running +
               "\": " + text.substr(0, 400) + "\n";
  }

  std::uint64_t skipped = 0;
};

}  // namespace

CATCH_REGISTER_LISTENER(counts)

namespace {

/// RIFFLE_TEST_PART=K/N: each Nth case, from the Kth on (from 0); all where it
/// is not set or cases are asked for by name. A long program runs as several.
bool part_of(std::size_t& k, std::size_t& n) {
  const char* part = std::getenv("RIFFLE_TEST_PART");
  char slash = 0;
  return part != nullptr &&
         (std::istringstream{part} >> k >> slash >> n).eof() && slash == '/' &&
         k < n;
}

#if __has_include(<catch2/catch_all.hpp>)
void take_part(Catch::Session& session) {
  std::size_t k = 0, n = 0;
  if (!part_of(k, n)) return;
  session.configData().shardIndex = static_cast<unsigned>(k);
  session.configData().shardCount = static_cast<unsigned>(n);
}
#else
void take_part(Catch::Session& session) {
  std::size_t k = 0, n = 0, place = 0;
  if (!part_of(k, n) || !session.configData().testsOrTags.empty()) return;
  auto data = session.configData();
  for (const auto& test : Catch::getAllTestCasesSorted(session.config())) {
    if (test.isHidden() || place++ % n != k) continue;
    std::string name;
    for (const char c : test.name) {
      if (std::string_view{"\"\\,[]*~"}.find(c) != std::string_view::npos)
        name += '\\';
      name += c;
    }
    data.testsOrTags.push_back(name);
    data.testsOrTags.emplace_back(",");
    ++wanted;
  }
  session.useConfigData(data);
}
#endif

}  // namespace

namespace riffle::testing {

int run_session(int argc, char** argv) {
  Catch::Session session;
  if (const int wrong = session.applyCommandLine(argc, argv)) return wrong;
  take_part(session);
  const int status = session.run();
  if (wanted == 0 || wanted == ran) return status;
  std::cout << "failed: " << ran << " cases ran, and the part has " << wanted
            << "\n";
  return 1;
}

}  // namespace riffle::testing
