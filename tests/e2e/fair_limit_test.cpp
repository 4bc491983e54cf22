// SPDX-License-Identifier: MIT
#include "tests/e2e/fair_limit.hpp"

#include <algorithm>
#include <csignal>
#include <fstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

/// Processes that do nothing, or nothing but use a core.
class busy_programs {
 public:
  busy_programs(unsigned size, bool busy) {
    for (unsigned i = 0; i < size; ++i) {
      const auto pid = ::fork();
      REQUIRE(pid >= 0);
      if (pid == 0)
        for (;;) busy ? ::getppid() : ::pause();
      all_.push_back(pid);
    }
  }
  ~busy_programs() {
    for (const auto pid : all_) ::kill(pid, SIGKILL);
    for (const auto pid : all_) ::waitpid(pid, nullptr, 0);
  }
  busy_programs(const busy_programs&) = delete;
  busy_programs& operator=(const busy_programs&) = delete;

  [[nodiscard]] pid_t front() const { return all_.front(); }

 private:
  std::vector<pid_t> all_;
};

/// Asks until it is over; how long that took by the clock.
clock_type::duration pass(fair_limit& x) {
  const auto begun = clock_type::now();
  while (!x.is_over()) std::this_thread::sleep_for(5ms);
  return clock_type::now() - begun;
}

}  // namespace

TEST_CASE("the limit of a program that hangs passes by the clock") {
  const busy_programs one{1, false};
  fair_limit limit{one.front(), 400ms};
  CHECK(pass(limit) < 4s);  // ten times: the bound of any wait
  CHECK(limit.counted() > 400ms);
}

TEST_CASE("the time in which a program waits for a core counts little") {
  if (!std::ifstream{"/proc/self/schedstat"})
    return skip("the kernel does not say who waits for a core");
  const busy_programs many{
      3 * std::max(1u, std::thread::hardware_concurrency()), true};
  fair_limit limit{many.front(), 300ms};
  // It gets a third of a core at best.
  CHECK(pass(limit) > 450ms);
}
