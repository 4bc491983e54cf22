// SPDX-License-Identifier: MIT
// The main function of every test program: counts test cases, so that the
// runner's summary can say passed, failed and skipped.
#include "tests/support/skip.hpp"

#define CATCH_CONFIG_RUNNER
#include <cstdio>
#include <iostream>
#include <string>

#include "tests/support/catch.hpp"

namespace {

int skipped = 0;
std::string reasons;

}  // namespace

namespace riffle::testing {

void skip(std::string_view reason) {
  ++skipped;
  reasons.append("skipped: ").append(reason).append("\n");
  SUCCEED("skipped");
}

}  // namespace riffle::testing

namespace {

struct counts : Catch::TestEventListenerBase {
  using TestEventListenerBase::TestEventListenerBase;
  void testRunEnded(const Catch::TestRunStats& stats) override {
    const auto& cases = stats.totals.testCases;
    std::cout << reasons << "riffle-cases: "
              << (static_cast<int>(cases.passed) - skipped) << " passed, "
              << cases.failed + cases.failedButOk << " failed, " << skipped
              << " skipped\n";
  }
};

CATCH_REGISTER_LISTENER(counts)

}  // namespace

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
