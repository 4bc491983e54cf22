// SPDX-License-Identifier: MIT
// What calls of a server's tool cost, one after the other and 100 at once:
//   riffle_bench_mcp COMMAND ARGUMENTS…
// A program of its own, compiled as what it measures is: in a test program the
// linker takes templates from tests, which are not optimised.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tools/mcp/call.hpp"
#include "tools/mcp/stdio_link.hpp"
#include "tools/process/guard.hpp"

namespace {

using namespace riffle;
using steady = std::chrono::steady_clock;

void report(const char* what, std::vector<double> us, std::clock_t ticks) {
  std::ranges::sort(us);
  std::printf("%s: p50 %.0f us, p99 %.0f us, %.1f us of CPU a call\n", what,
              us[us.size() / 2], us[us.size() * 99 / 100],
              1e6 * static_cast<double>(ticks) / CLOCKS_PER_SEC /
                  static_cast<double>(us.size()));
}

/// In microseconds; a call that fails ends the program.
double one_call(mcp::server& at) {
  static const mcp::json arguments = {{"text", "x"}, {"message", "x"}};
  tools::tool_context context;
  const auto began = steady::now();
  if (const auto out = mcp::call_tool(at, "echo", {}, arguments, context);
      out.err) {
    std::fprintf(stderr, "%s\n", out.err->message.c_str());
    std::exit(1);
  }
  return std::chrono::duration<double, std::micro>{steady::now() - began}
      .count();
}

mcp::server_options options_of(std::vector<std::string> command) {
  mcp::stdio_options how;
  how.name = "bench";
  how.command = std::move(command);
  how.folder = "/tmp";
  const char* path = std::getenv("PATH");
  how.environment = {std::string{"PATH="} + (path == nullptr ? "" : path)};
  mcp::server_options out;
  out.name = "bench";
  out.connect = [how](mcp::link_events events) {
    return mcp::open_stdio(how, std::move(events));
  };
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (const int status = tools::run_guard_if_asked(argc, argv); status >= 0)
    return status;
  if (argc < 2) return 2;
  mcp::server at{options_of({argv + 1, argv + argc})};
  constexpr int calls = 5000;
  constexpr int callers = 100;
  for (int i = 0; i < 200; ++i) one_call(at);
  std::vector<double> all;
  auto began = std::clock();
  for (int i = 0; i < calls; ++i) all.push_back(one_call(at));
  report("one after the other", all, std::clock() - began);
  all.clear();
  std::mutex mutex;
  began = std::clock();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i)
      threads.emplace_back([&] {
        for (int n = 0; n < calls / callers; ++n) {
          const auto took = one_call(at);
          const std::lock_guard lock{mutex};
          all.push_back(took);
        }
      });
  }
  report("100 at once", all, std::clock() - began);
}
