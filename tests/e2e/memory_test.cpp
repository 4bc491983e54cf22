// SPDX-License-Identifier: MIT
// What one answer may cost in memory, whatever a provider sends: the peak of
// the real program, over what it needs for a short answer.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

constexpr std::size_t mib = 1u << 20;
constexpr std::size_t allowed_mib = 64;
/// Where the limit of a turn alone would keep it below that.
constexpr std::size_t allowed_short_mib = 24;

/// 1 GiB in the long form.
std::size_t much() {
  const char* all = std::getenv("RIFFLE_TORTURE");
  return all != nullptr && *all != '\0' ? 1024 * mib : 50 * mib;
}

std::string text_chunk(const json& delta) {
  const json x{{"choices", json::array({{{"index", 0}, {"delta", delta}}})}};
  return "data: " + x.dump() + "\n\n";
}

std::string arguments_chunk(const std::string& text) {
  return text_chunk(
      {{"tool_calls",
        json::array({{{"index", 0}, {"function", {{"arguments", text}}}}})}});
}

/// Peak memory of a run whose provider answers so first, in MiB.
std::size_t peak_of(const std::function<http_reply()>& first,
                    const std::vector<std::string>& options = {}) {
  const work_folder folder;
  int asked = 0;
  http_server server{[&](const http_request&) {
    return asked++ == 0 ? first() : respond_sse(answer("The end."));
  }};
  folder.configure(server.url("/v1"));
  std::vector<std::string> arguments{"run", "go", "--output", "jsonl"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  const auto end = riffle::testing::riffle(folder, arguments);
  CHECK(end.status < 2);
  checked_events(end.out);
  return end.peak_kib / 1024;
}

http_reply endless(const std::string& begin, const std::string& unit) {
  auto reply = http_reply::sse();
  reply.send(begin);
  reply.repeat(unit, much() / unit.size() + 1);
  return reply;
}

void stays_small(const char* what, const std::function<http_reply()>& reply,
                 std::size_t allowed = allowed_mib) {
  const auto base = peak_of([] { return respond_sse(answer("Short.")); });
  const auto peak = peak_of(reply);
  std::printf("memory: %s: %zu MiB over %zu\n", what, peak - base, base);
  CHECK(base > 5);
  CHECK(peak <= base + allowed);
}

}  // namespace

TEST_CASE("an answer costs no more memory than allowed", "[torture]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return skip("a sanitizer's own memory hides the program's");
#endif
  const std::string page(4000, 'x');
  SECTION("text") {
    stays_small("text",
                [&] { return endless("", text_chunk({{"content", page}})); });
  }
  SECTION("text of characters that are longer when written") {
    stays_small("text to be escaped", [&] {
      return endless("", text_chunk({{"content", std::string(4000, '\x01')}}));
    });
  }
  SECTION("reasoning") {
    stays_small("reasoning", [&] {
      return endless("", text_chunk({{"reasoning_content", page}}));
    });
  }
  SECTION("arguments of a call") {
    stays_small("arguments", [&] {
      return endless(call(0, "a", "write", json::object()),
                     arguments_chunk(page));
    });
  }
  SECTION("arguments of a few bytes each") {
    stays_small("short arguments", [&] {
      return endless(call(0, "a", "write", json::object()),
                     arguments_chunk(" "));
    });
  }
  SECTION("ids of calls") {
    const auto reply = [] {
      std::string all;
      for (int i = 0; i < 60; ++i)
        all += call(i, std::to_string(i) + std::string(2'000'000, 'y'), "read",
                    {{"path", "x"}});
      return http_reply::sse().send(all).send(finish("tool_calls"));
    };
    stays_small("ids", reply, allowed_short_mib);
  }
  SECTION("names of calls") {
    const auto reply = [] {
      std::string all;
      for (int i = 0; i < 250; ++i)
        all += call(i, std::to_string(i), std::string(1'000'000, 'n'), json{});
      return http_reply::sse().send(all).send(finish("tool_calls"));
    };
    stays_small("names", reply, allowed_short_mib);
  }
  SECTION("fragments of nothing") {
    stays_small("empty fragments",
                [&] { return endless("", arguments_chunk("")); });
  }
  SECTION("a line without an end") {
    stays_small("one line", [&] { return endless("data: {\"x\":\"", page); });
  }
  SECTION("a document without an end") {
    stays_small("one document", [&] {
      auto reply = http_reply{200, http_reply::framing::chunked};
      reply.header("content-type", "application/json");
      reply.send("{\"choices\":[");
      reply.repeat("0,", much() / 2);
      return reply;
    });
  }
  SECTION("numbers, as many as an event holds") {
    std::string numbers;
    while (numbers.size() < 2 * mib - 1000) numbers += "0,";
    stays_small("numbers", [&] {
      return http_reply::sse()
          .send("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}],\"x\":[" +
                numbers + "0],\"y\":\"\\ud83d\"}\n\n")
          .send(answer("x"));
    });
  }
  SECTION("an error without an end") {
    stays_small("an error", [&] {
      auto reply = http_reply{400, http_reply::framing::chunked};
      reply.repeat(page, much() / page.size());
      return reply;
    });
  }
}
