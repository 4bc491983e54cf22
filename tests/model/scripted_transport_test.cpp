// SPDX-License-Identifier: MIT
#include "runtime/model/scripted_transport.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <numeric>
#include <random>
#include <string>

#include "tests/model/scripted_player.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

const auto first_request = request_with({user("do it")});

std::string joined(const std::vector<std::string>& reads) {
  return std::accumulate(reads.begin(), reads.end(), std::string{});
}

using call_list = std::vector<core::assembled_call>;

}  // namespace

TEST_CASE("a scripted step says text, reasoning and calls, then finishes") {
  script_player player{R"(
    [[steps]]
    reasoning = "Let me see."
    text = "Reading."
    calls = [
      { tool = "read", arguments = { path = "a" } },
      { tool = "grep", arguments = { }, id = "own" },
    ]
    usage = { input = 10, output = 20, cached = 3, reasoning = 4 }
  )"};
  const auto got = player.play(first_request);
  const auto x = understand(got->reads);
  CHECK(x.message.text() == "Reading.");
  CHECK(x.message.reasoning() == "Let me see.");
  CHECK(x.calls.calls() == call_list{{0, "call_0_0", "read", R"({"path":"a"})"},
                                     {1, "own", "grep", "{}"}});
  CHECK(x.message.finish() == finish_reason::tool_calls);
  CHECK(x.message.done());
  CHECK(x.message.usage() == token_usage{10, 20, 3, 4, {}, false});
  CHECK_FALSE(x.message.failure());
  REQUIRE(got->end);
  CHECK(got->end->http_status == 200);
  CHECK(got->end->content_type == "text/event-stream");
  CHECK_FALSE(got->end->failure);
}

TEST_CASE("events of a step are played in order, each in its own read") {
  script_player player{R"(
    [[steps]]
    events = [
      { text = "é1é2é", chunk = 2 },
      { call = { tool = "read", arguments = { a = 1 }, chunk = 3 } },
      { text = "end" },
      { refusal = "No." },
      { finish = "length" },
    ]
  )"};
  const auto x = understand(player.play(first_request)->reads);
  CHECK(x.message.text() == "é1é2éendNo.");
  CHECK(x.message.refusal() == "No.");
  CHECK(x.calls.calls() == call_list{{0, "call_0_0", "read", R"({"a":1})"}});
  CHECK(x.message.finish() == finish_reason::length);
  // Three of text, one and three of the call, two texts, finish, end mark.
  CHECK(player.play(first_request)->reads.size() == 11);
}

TEST_CASE("the step is the number of answers after the last user message") {
  script_player player{R"(
    [[steps]]
    text = "zero"
    [[steps]]
    text = "one"
  )"};
  const auto said = [&](const std::vector<std::string>& messages) {
    return understand(player.play(request_with(messages))->reads)
        .message.text();
  };
  CHECK(said({user("x")}) == "zero");
  CHECK(said({user("x"), assistant({"a"}), tool_result("r")}) == "one");
  CHECK(said({user("x"), assistant(), user("y")}) == "zero");
  CHECK(said({user("x"), assistant(), user("y"), assistant()}) == "one");
}

TEST_CASE("steps can be counted over the whole session") {
  script_player player{R"(
    count = "session"
    [[steps]]
    text = "zero"
    [[steps]]
    text = "one {{task}}"
  )"};
  const auto got =
      player.play(request_with({user("x"), assistant(), user("y")}));
  CHECK(understand(got->reads).message.text() == "one y");
}

TEST_CASE("a script at its end answers with an error that says so") {
  script_player player{R"(
    [[steps]]
    text = "only"
  )"};
  const auto got = player.play(request_with({user("x"), assistant()}));
  CHECK(got->reads.empty());
  CHECK(got->end->http_status == 400);
  REQUIRE(got->end->failure);
  CHECK(got->end->failure->code == errc::model_error);
  CHECK_FALSE(got->end->failure->retryable);
  CHECK(got->end->failure->message.find("1 steps") != std::string::npos);
}

TEST_CASE("cases are chosen by the task") {
  script_player player{R"(
    [[steps]]
    text = "other"
    [[cases]]
    match = "weather"
    steps = [{ text = "sunny" }]
  )"};
  const auto said = [&](std::string_view task) {
    return understand(player.play(request_with({user(task)}))->reads)
        .message.text();
  };
  CHECK(said("the weather in Oslo") == "sunny");
  CHECK(said("the time") == "other");
}

TEST_CASE("delays are waited for between chunks and before calls") {
  script_player player{R"(
    [[steps]]
    events = [
      { delay = "1s" },
      { text = "abc", chunk = 1, delay = "20ms" },
    ]
  )"};
  const auto got = player.open(first_request);
  player.clock.pass(999ms);
  CHECK(got->reads.empty());
  player.clock.pass(1ms);
  CHECK(got->reads.size() == 1);
  player.clock.pass(19ms);
  CHECK(got->reads.size() == 1);
  player.clock.pass(1ms);
  CHECK(got->reads.size() == 2);
  player.clock.pass(20ms);
  CHECK(got->ends == 1);
  CHECK(understand(got->reads).message.text() == "abc");
}

TEST_CASE("nothing is delivered without credit") {
  script_player player{R"(
    [[steps]]
    text = "hello"
  )"};
  const auto whole = joined(player.play(first_request)->reads);
  const auto got = player.open(first_request, 10);
  player.clock.pass(1h);
  CHECK(joined(got->reads) == whole.substr(0, 10));
  CHECK(got->ends == 0);
  player.transport->grant(player.last_id, 7);
  player.clock.pass(0s);
  CHECK(joined(got->reads) == whole.substr(0, 17));
  player.transport->grant(player.last_id, whole.size());
  player.clock.pass(0s);
  CHECK(joined(got->reads) == whole);
  CHECK(got->ends == 1);
}

TEST_CASE("a cancelled answer ends once, with cancelled, also in a pause") {
  script_player player{R"(
    [[steps]]
    events = [{ text = "a" }, { delay = "1m" }, { text = "b" }]
  )"};
  const auto got = player.open(first_request);
  player.clock.pass(1s);
  player.transport->cancel(player.last_id);
  player.clock.pass(0s);
  REQUIRE(got->end);
  CHECK(got->end->failure->code == errc::cancelled);
  player.transport->cancel(player.last_id);
  player.transport->cancel(999);
  player.clock.pass(1h);
  CHECK(got->ends == 1);
  CHECK(got->reads.size() == 1);
}

TEST_CASE("a transport that goes away cancels what it plays") {
  script_player player{R"(
    [[steps]]
    events = [{ delay = "1m" }, { text = "b" }]
  )"};
  const auto got = player.open(first_request);
  player.clock.pass(1s);
  player.transport.reset();
  player.clock.pass(1h);
  CHECK(got->ends == 1);
  CHECK(got->end->failure->code == errc::cancelled);
}

TEST_CASE("arguments may be raw text, valid or not") {
  script_player player{R"(
    [[steps]]
    call = { tool = "read", arguments = "{\"path\": " }
  )"};
  const auto x = understand(player.play(first_request)->reads);
  CHECK(x.calls.calls() == call_list{{0, "call_0_0", "read", "{\"path\": "}});
}

TEST_CASE("a request without streaming gets one document") {
  script_player player{R"(
    [[steps]]
    reasoning = "r"
    text = "{{task}}!"
    call = { tool = "read", arguments = { a = 1 } }
    usage = { input = 1, output = 2 }
  )"};
  const auto got = player.play(request_with({user("go")}, false));
  CHECK(got->end->content_type == "application/json");
  CHECK(got->reads.size() == 1);
  const auto x = understand(got->reads, 5);
  CHECK(x.message.text() == "go!");
  CHECK(x.message.reasoning() == "r");
  CHECK(x.calls.calls() == call_list{{0, "call_0_0", "read", R"({"a":1})"}});
  CHECK(x.message.finish() == finish_reason::tool_calls);
  CHECK(x.message.usage().input_tokens == 1);
}

TEST_CASE("reads of any size carry the same bytes and the same meaning") {
  const std::string steps = R"(
    [[steps]]
    chunk = 3
    reasoning = "thinking…"
    text = "Grüße, 世界! 🎉\n\"quoted\""
    calls = [
      { tool = "read", arguments = { path = "ä/\"b\"", n = [1, 2.5, true] } },
      { tool = "grep", arguments = { } },
    ]
    usage = { input = 1, output = 2 }
  )";
  script_player events{steps};
  const auto whole = events.play(first_request)->reads;
  const auto expected = understand(whole);
  REQUIRE_FALSE(expected.message.failure());
  CHECK(expected.message.text() == "Grüße, 世界! 🎉\n\"quoted\"");
  CHECK(expected.calls.calls()[0].arguments ==
        R"({"n":[1,2.5,true],"path":"ä/\"b\""})");
  const auto seed = fresh_seed();
  CAPTURE(seed);
  std::mt19937 random{seed};
  for (int round = 0; round < 50; ++round) {
    const auto size = std::uniform_int_distribution<int>{1, 700}(random);
    const auto cut = std::uniform_int_distribution<std::size_t>{1, 90}(random);
    script_player player{"bytes_per_read = " + std::to_string(size) + steps};
    const auto got = player.play(first_request);
    CAPTURE(size, cut);
    REQUIRE(joined(got->reads) == joined(whole));
    REQUIRE(got->reads[0].size() == static_cast<std::size_t>(size));
    const auto x = understand(got->reads, cut);
    REQUIRE(x.message.text() == expected.message.text());
    REQUIRE(x.message.reasoning() == expected.message.reasoning());
    REQUIRE(x.calls.calls() == expected.calls.calls());
    REQUIRE(x.message.usage() == expected.message.usage());
  }
}

TEST_CASE("scripts play on a real clock too") {
  auto script = model::parse_script(
      "[[steps]]\ntext = 'abcdef'\nchunk = 1\ndelay = '1ms'",
      model::script_format::toml, "x");
  REQUIRE(script);
  std::vector<std::shared_ptr<recording_listener>> listeners;
  {
    thread_timer clock;
    const auto transport = model::make_scripted_transport(*script, clock);
    for (int i = 0; i < 20; ++i) {
      model::transport_request request;
      request.body = first_request;
      listeners.push_back(std::make_shared<recording_listener>());
      const auto id = transport->open(std::move(request), listeners.back());
      if (i % 2 == 1) transport->cancel(id);
    }
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    std::mutex mutex;
    std::condition_variable wake;
    bool over = false;
    const std::function<void()> poll = [&] {
      bool all = std::chrono::steady_clock::now() > deadline;
      all = all || std::all_of(listeners.begin(), listeners.end(),
                               [](const auto& x) { return x->ends > 0; });
      std::lock_guard lock{mutex};
      over = all;
      if (all) wake.notify_one();
      if (!all) clock.after(1ms, poll);
    };
    clock.after(0s, poll);
    std::unique_lock lock{mutex};
    wake.wait(lock, [&] { return over; });
  }
  for (std::size_t i = 0; i < listeners.size(); ++i) {
    REQUIRE(listeners[i]->ends == 1);
    if (i % 2 == 0)
      CHECK(understand(listeners[i]->reads).message.text() == "abcdef");
  }
}
