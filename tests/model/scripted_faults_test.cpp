// SPDX-License-Identifier: MIT
// What goes wrong in a script on purpose.
#include <chrono>
#include <string>

#include "tests/model/scripted_player.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

const auto first_request = request_with({user("do it")});

}  // namespace

TEST_CASE("an error with a status happens as often as it should") {
  script_player player{R"(
    [[steps]]
    error = { status = 429, message = "slow down", retry_after = "2s", times = 2 }
    text = "fine"
  )"};
  for (int i = 0; i < 2; ++i) {
    const auto got = player.play(first_request);
    CHECK(got->reads.empty());
    CHECK(got->end->http_status == 429);
    CHECK(got->end->retry_after == duration{2s});
    CHECK(got->end->failure->code == errc::model_rate_limited);
    CHECK(got->end->failure->retryable);
    CHECK(got->end->failure->message == "slow down");
  }
  CHECK(understand(player.play(first_request)->reads).message.text() == "fine");
  // Another conversation has its own count.
  CHECK(player.play(request_with({user("else")}))->end->http_status == 429);
}

TEST_CASE("statuses are judged as a network transport judges them") {
  const auto end_of = [](int status) {
    script_player player{
        "[[steps]]\nerror = { status = " + std::to_string(status) + " }"};
    return *player.play(first_request)->end;
  };
  CHECK(end_of(0).failure->code == errc::model_unreachable);
  CHECK(end_of(0).failure->retryable);
  CHECK(end_of(503).failure->code == errc::model_error);
  CHECK(end_of(503).failure->retryable);
  CHECK_FALSE(end_of(401).failure->retryable);
}

TEST_CASE("an error inside the stream is a failure in every shape") {
  for (const std::string shape : {"openai", "vllm", "openrouter", "event"}) {
    script_player player{
        "[[steps]]\nevents = [{ text = 'a' }, { error = { midstream = '" +
        shape +
        "', message = 'boom', type = 'overloaded', times = 1 } }, "
        "{ text = 'b' }]"};
    CAPTURE(shape);
    const auto failed = understand(player.play(first_request)->reads);
    REQUIRE(failed.message.failure());
    CHECK(failed.message.failure()->code == errc::model_error);
    CHECK(failed.message.failure()->message == "boom");
    CHECK(failed.message.text() == "a");
    const auto fine = understand(player.play(first_request)->reads);
    CHECK_FALSE(fine.message.failure());
    CHECK(fine.message.text() == "ab");
  }
}

TEST_CASE("a cut loses the connection or ends the body too early") {
  script_player lost{R"(
    [[steps]]
    text = "a"
    cut = { times = 1 }
  )"};
  const auto first = lost.play(first_request);
  CHECK(first->end->failure->code == errc::stream_interrupted);
  CHECK(first->end->failure->retryable);
  CHECK_FALSE(lost.play(first_request)->end->failure);

  script_player closed{R"(
    [[steps]]
    text = "a"
    cut = { clean = true, half_event = true }
  )"};
  const auto got = closed.play(first_request);
  CHECK_FALSE(got->end->failure);
  const auto x = understand(got->reads);
  CHECK(x.message.text() == "a");
  CHECK(x.message.failure()->message.find("inside an event") !=
        std::string::npos);
}

TEST_CASE("finish and end mark can be left out") {
  script_player player{R"(
    [[steps]]
    text = "a"
    finish = ""
    [[steps]]
    text = "b"
    no_done = true
  )"};
  const auto none = understand(player.play(first_request)->reads);
  CHECK(none.message.finish() == finish_reason::missing);
  CHECK(none.message.done());
  const auto open =
      understand(player.play(request_with({user("x"), assistant()}))->reads);
  CHECK(open.message.finish() == finish_reason::stop);
  CHECK_FALSE(open.message.done());
  CHECK_FALSE(open.message.failure());
}

TEST_CASE("what is no request is refused") {
  script_player player{"[[steps]]\ntext = 'a'"};
  for (const char* body : {"", "nonsense", "[]", "{}", R"({"messages":3})"})
    CHECK(player.play(body)->end->http_status == 400);
  CHECK(player.play(R"({"messages":[1,{"role":2},{"content":[]}]})")
            ->end->http_status == 200);
}
