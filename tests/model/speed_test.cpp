// SPDX-License-Identifier: MIT
// Hidden: prints what CPU time a chunk costs from bytes to pieces, best of many
// rounds.
//   test_model "[speed]"        (a release build)
#include <algorithm>
#include <ctime>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>

#include "runtime/model/dialect.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

constexpr std::size_t count = 20000;
constexpr std::size_t network_read = 64u << 10;

/// A stream of equal chunks; `pad` keeps them from fitting one template.
std::string stream_of(std::string_view delta, bool pad) {
  std::string out;
  for (std::size_t i = 0; i < count; ++i) {
    out += R"(data: {"id":"chatcmpl-0123456789abcdef","object":)"
           R"("chat.completion.chunk","created":1760000000,"model":"m-mini",)"
           R"("system_fingerprint":"fp_0","choices":[{"index":0,"delta":)";
    out += delta;
    out += R"(,"logprobs":null,"finish_reason":null}])";
    if (pad) out += R"(,"obfuscation":")" + std::to_string(i + 100000) + '"';
    out += "}\n\n";
  }
  return out;
}

double microseconds_a_chunk(std::string_view bytes) {
  const auto dialect = model::make_openai_dialect();
  double best = 1e9;
  for (int round = 0; round < 20; ++round) {
    const auto decoder = dialect->make_decoder();
    std::size_t seen = 0;
    const auto begin = std::clock();
    for (std::size_t at = 0; at < bytes.size(); at += network_read) {
      turn_delta out;
      decoder->feed(bytes.substr(at, network_read), out);
      seen += out.pieces.pieces.size() + out.fragments.size();
    }
    const auto ticks = static_cast<double>(std::clock() - begin);
    REQUIRE(seen == count);
    best = std::min(best, ticks / CLOCKS_PER_SEC * 1e6 / count);
  }
  return best;
}

}  // namespace

TEST_CASE("what a chunk costs", "[.speed]") {
  constexpr std::pair<const char*, std::string_view> kinds[] = {
      {"text", R"({"content":" stream"})"},
      {"text with an escape", R"({"content":" line\nand"})"},
      {"call fragment", R"({"tool_calls":[{"index":0,"function":)"
                        R"({"arguments":"{\"pa"}}]})"},
  };
  for (const auto& [name, delta] : kinds) {
    for (const bool pad : {false, true}) {
      std::cout << microseconds_a_chunk(stream_of(delta, pad))
                << " us a chunk: " << name
                << (pad ? ", each one different" : "") << '\n';
    }
  }
}
