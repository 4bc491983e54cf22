// SPDX-License-Identifier: MIT
// What many calls of a turn may cost in memory, over what one costs.
#include <cstdio>
#include <string>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using nlohmann::json;

TEST_CASE("1,024 calls of a turn cost no more memory than allowed",
          "[torture]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return skip("a sanitizer's own memory hides the program's");
#endif
  const auto peak = [](int calls, std::size_t bytes) {
    const work_folder folder;
    folder.write("a.txt", std::string(bytes, 'a') + "\n");
    std::string all;
    for (int i = 0; i < calls; ++i)
      all += call(i, std::to_string(i), "read", {{"path", "a.txt"}});
    int asked = 0;
    http_server server{[&](const http_request&) {
      if (asked++ > 0) return respond_sse(answer("The end."));
      return http_reply::sse().send(all).send(finish("tool_calls"));
    }};
    folder.configure(server.url("/v1"), "model = \"m\"\ncontext_window = 0\n");
    const auto end = riffle::testing::riffle(
        folder, {"run", "go", "--output", "jsonl", "--set",
                 "agents.default.max_calls_per_turn=0"});
    CHECK(end.status == 0);
    CHECK(of_type(checked_events(end.out), "tool_result").size() ==
          static_cast<std::size_t>(calls));
    return end.peak_kib / 1024;
  };
  for (const std::size_t bytes : {10u, 3000u}) {
    const auto base = peak(1, bytes);
    const auto many = peak(1024, bytes);
    std::printf("memory: 1,024 calls of %zu bytes: %zu MiB over %zu\n", bytes,
                many - base, base);
    CHECK(many <= base + 64);
  }
}
