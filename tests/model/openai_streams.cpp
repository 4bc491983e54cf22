// SPDX-License-Identifier: MIT
#include "tests/model/openai_streams.hpp"

#include "tests/support/catch.hpp"

namespace riffle::testing {

turn_delta read(std::string_view bytes, std::size_t piece,
                model::openai_limits limits) {
  model::openai_decoder decoder{limits};
  turn_delta out;
  for (std::size_t at = 0; at < bytes.size(); at += piece)
    decoder.feed(bytes.substr(at, piece), out);
  decoder.end(out);
  return out;
}

std::string event(std::string_view json) {
  return "data: " + std::string{json} + "\n\n";
}

std::string delta(std::string_view json) {
  return event(R"({"choices":[{"index":0,"delta":)" + std::string{json} +
               "}]}");
}

const std::string stop =
    event(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
const std::string done = event("[DONE]");

std::string texts(const turn_delta& x, piece_kind kind) {
  std::string out;
  x.pieces.for_each([&](piece_kind k, std::string_view text) {
    if (k == kind) out += text;
  });
  return out;
}

void check_failure(const turn_delta& x, errc code, bool retryable,
                   std::string_view message) {
  REQUIRE(x.failure);
  CHECK(x.failure->code == code);
  CHECK(x.failure->retryable == retryable);
  CAPTURE(x.failure->message);
  CHECK(x.failure->message.find(message) != std::string::npos);
}

}  // namespace riffle::testing
