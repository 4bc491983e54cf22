// SPDX-License-Identifier: MIT
#include "actors/core/message_assembler.hpp"

#include "tests/support/catch.hpp"

using riffle::errc;
using riffle::error;
using riffle::finish_reason;
using riffle::piece_kind;
using riffle::token_usage;
using riffle::turn_delta;
using riffle::core::message_assembler;

TEST_CASE("text, reasoning and refusals are folded by kind, in order") {
  message_assembler message;
  turn_delta first;
  first.pieces.add(piece_kind::reasoning, "Hm");
  first.pieces.add(piece_kind::text, "Hello");
  turn_delta second;
  second.pieces.add(piece_kind::refusal, " no");
  second.pieces.add(piece_kind::reasoning, "m");
  second.pieces.add(piece_kind::text, "!");
  message.add(first);
  message.add(second);
  CHECK(message.text() == "Hello no!");
  CHECK(message.reasoning() == "Hmm");
  CHECK(message.refusal() == " no");
}

TEST_CASE("the last finish and usage count, the first failure") {
  message_assembler message;
  CHECK_FALSE(message.finish());
  turn_delta x;
  x.finish = finish_reason::stop;
  x.usage = token_usage{1, 2, {}, {}, {}, false};
  x.failure = error{errc::model_error, "model", "first", false, {}};
  message.add(x);
  x.finish = finish_reason::tool_calls;
  x.usage = token_usage{3, 4, 1, {}, {}, false};
  x.failure->message = "second";
  x.done = true;
  message.add(x);
  message.add({});
  CHECK(message.finish() == finish_reason::tool_calls);
  CHECK(message.usage() == token_usage{3, 4, 1, {}, {}, false});
  REQUIRE(message.failure());
  CHECK(message.failure()->message == "first");
  CHECK(message.done());
}

TEST_CASE("without usage it is estimated from bytes, and says so") {
  message_assembler message{401};
  turn_delta x;
  x.pieces.add(piece_kind::text, "12345678");
  x.pieces.add(piece_kind::reasoning, "1234");
  x.fragments.emplace_back();
  x.fragments[0].name = "read";
  x.fragments[0].arguments = "{}";
  message.add(x);
  const auto usage = message.usage();
  CHECK(usage.input_tokens == 101);
  CHECK(usage.output_tokens == 5);
  CHECK(usage.estimated);
}
