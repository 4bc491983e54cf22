// SPDX-License-Identifier: MIT
// What an application may do wrong, and what its tools may.
#include <atomic>
#include <future>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using events::run_status;
using nlohmann::json;
using testing::scaled;

namespace {

const std::string one_call = R"(
[[steps]]
calls = [{ tool = "work", arguments = {} }]
[[steps]]
text = "It said: {{result.0}}"
)";

/// Talks for minutes, a word every few milliseconds.
const std::string for_ever = [] {
  std::string words;
  for (int i = 0; i < 20'000; ++i) words += "word ";
  return "chunk = 5\ndelay = \"10ms\"\n[[steps]]\ntext = \"" + words + "\"\n";
}();

tools::tool_ptr working(tool_function f, effect eff = effect::read_only) {
  tools::tool_spec x;
  x.name = "work";
  x.description = "works";
  x.parameters = R"({"type":"object"})";
  x.eff = eff;
  return make_function_tool(std::move(x), std::move(f), {});
}

runtime make_runtime(const std::string& script, tools::tool_ptr tool = {},
                     std::uint32_t threads = 0) {
  config::config config;
  config.runtime.log.level = "off";
  config.runtime.threads = threads;
  config.models["default"].dialect = "scripted";
  config.supervision.backoff_base = 1ms;
  config.publish.batching = "token";
  config.agents["default"].tools.clear();
  runtime_options options;
  if (tool) {
    config.agents["default"].tools = {"work"};
    options.tools = {std::move(tool)};
  }
  options.journal = storage::make_memory_journal();
  options.scripts["default"] = script;
  auto made = runtime::create(std::move(config), std::move(options));
  REQUIRE(made);
  return std::move(*made);
}

run_outcome outcome_of(expected<run_outcome> x) {
  INFO((x ? "" : render(x.error())));
  REQUIRE(x);
  return std::move(*x);
}

}  // namespace

TEST_CASE("a handler that throws is not called again, and the run goes on") {
  auto runtime =
      make_runtime(one_call, working([](const json&, tools::tool_context&) {
                     return tools::tool_output{"x", {}, {}};
                   }));
  std::atomic<int> calls = 0;
  const auto end =
      outcome_of(runtime.execute({.task = "go"}, [&calls](const event_batch&) {
        ++calls;
        throw std::runtime_error{"a mistake"};
      }));
  CHECK(end.status == run_status::completed);
  CHECK(end.answer == "It said: x");
  CHECK(calls == 1);
  const auto other = outcome_of(
      runtime.execute({.task = "go"}, [](const event_batch&) { throw 3; }));
  CHECK(other.status == run_status::completed);
}

TEST_CASE("what waits is refused in a handler, what does not is allowed") {
  auto runtime = make_runtime(for_ever, {}, 1);
  std::atomic<const run*> handle = nullptr;
  std::atomic<int> refused = 0;
  auto made = runtime.start({.task = "go"}, [&](const event_batch&) {
    const auto* self = handle.exchange(nullptr);
    if (self == nullptr) return;
    const auto is_refused = [](const auto& x) {
      return !x && x.error().code == errc::invalid_request;
    };
    refused += is_refused(self->wait(1h));
    refused += is_refused(runtime.start({.task = "x"}));
    refused += is_refused(runtime.execute({.task = "x"}));
    refused += is_refused(runtime.resume(self->id()));
    self->cancel("from the handler");
  });
  REQUIRE(made);
  handle = &*made;
  const auto end = outcome_of(made->wait(scaled(20s)));
  CHECK(end.status == run_status::cancelled);
  CHECK(end.failure->message == "from the handler");
  CHECK(refused == 4);
}

TEST_CASE("a stop token cancels a run, also one that was asked before") {
  auto runtime = make_runtime(for_ever);
  std::stop_source early;
  early.request_stop();
  const auto none =
      outcome_of(runtime.execute({.task = "x", .stop = early.get_token()}));
  CHECK(none.status == run_status::cancelled);
  CHECK(none.failure->message == "asked to stop");
  CHECK(none.steps == 0);  // its model was not asked
  std::stop_source stop;
  const auto end = outcome_of(
      runtime.execute({.task = "go", .stop = stop.get_token()},
                      [&](const event_batch&) { stop.request_stop(); }));
  CHECK(end.status == run_status::cancelled);
  CHECK(end.failure->code == errc::cancelled);
  stop = std::stop_source{};
  auto run = runtime.start({.task = "go", .stop = stop.get_token()});
  REQUIRE(run);
  stop.request_stop();
  CHECK(outcome_of(run->wait(scaled(20s))).status == run_status::cancelled);
}

TEST_CASE("a stop source that is asked after the end does nothing") {
  std::stop_source stop;
  {
    auto runtime = make_runtime("[[steps]]\ntext = \"done\"\n");
    auto run = runtime.start({.task = "go", .stop = stop.get_token()});
    REQUIRE(run);
    CHECK(outcome_of(run->wait(scaled(20s))).answer == "done");
  }
  stop.request_stop();
}

TEST_CASE("a runtime may be destroyed in a handler of its own") {
  auto kept = std::make_unique<runtime>(make_runtime(for_ever));
  std::atomic<bool> started = false;
  std::promise<void> gone;
  auto run = kept->start({.task = "go"}, [&](const event_batch&) {
    if (!started.exchange(false)) return;
    kept.reset();
    gone.set_value();
  });
  REQUIRE(run);
  started = true;
  REQUIRE(gone.get_future().wait_for(scaled(20s)) == std::future_status::ready);
  CHECK(outcome_of(run->wait(scaled(20s))).status == run_status::cancelled);
}

TEST_CASE("no handler is called after the runtime's destructor has returned") {
  std::atomic<bool> alive = true;
  std::atomic<bool> called_late = false;
  std::optional<run> handle;
  std::optional<event_stream> stream;
  {
    auto runtime = make_runtime(for_ever);
    auto made = runtime.start({.task = "go"}, [&](const event_batch&) {
      if (!alive) called_late = true;
    });
    REQUIRE(made);
    handle = *made;
    stream = made->events();
    REQUIRE(stream->next(scaled(20s)));
  }
  alive = false;
  CHECK(outcome_of(handle->wait(1s)).status == run_status::cancelled);
  handle->cancel();
  std::string last;
  while (auto batch = stream->next(1s)) last = batch->lines();
  CHECK(stream->ended());
  CHECK_FALSE(stream->failure());
  CHECK(last.find("run_finished") != std::string::npos);
  auto late = handle->events();
  CHECK(late.next(1s));
  CHECK_FALSE(called_late);
}

TEST_CASE("what a handler holds is released at the end of its run") {
  auto runtime = make_runtime("[[steps]]\ntext = \"done\"\n");
  auto held = std::make_shared<int>(1);
  auto run = runtime.start({.task = "go"}, [held](const event_batch&) {});
  REQUIRE(run);
  outcome_of(run->wait(scaled(20s)));
  CHECK(held.use_count() == 1);
}

TEST_CASE("streams may be dropped early and replaced") {
  auto runtime = make_runtime(for_ever);
  auto run = runtime.start({.task = "go"});
  REQUIRE(run);
  auto stream = run->events();
  for (int i = 0; i < 100; ++i) stream = run->events();
  {
    const auto moved = std::move(stream);
  }
  auto last = run->events();
  REQUIRE(last.next(scaled(20s)));
  run->cancel();
  while (last.next(scaled(20s))) {
  }
  CHECK(last.ended());
}

TEST_CASE("a wait without an end is a wait, not an overflow") {
  auto runtime = make_runtime("[[steps]]\ntext = \"done\"\n");
  auto run = runtime.start({.task = "go"});
  REQUIRE(run);
  CHECK(outcome_of(run->wait(duration::max())).answer == "done");
  auto stream = run->events();
  CHECK(stream.next(duration::max()));
}

TEST_CASE("a tool that throws costs the call, not the run") {
  auto runtime = make_runtime(
      one_call,
      working([](const json&, tools::tool_context&) -> tools::tool_output {
        throw std::runtime_error{"broken"};
      }));
  const auto end = outcome_of(runtime.execute({.task = "go"}));
  CHECK(end.status == run_status::completed);
  CHECK(end.answer.find("interrupted") != std::string::npos);
}

TEST_CASE("a tool without a function costs the call, not the run") {
  auto runtime = make_runtime(one_call, working({}));
  CHECK(outcome_of(runtime.execute({.task = "go"})).status ==
        run_status::completed);
}

TEST_CASE("output that is no UTF-8, or metadata that is no JSON, is repaired") {
  auto runtime = make_runtime(
      one_call, working([](const json&, tools::tool_context& context) {
        context.progress({.message = "\xff\xfe", .stream = "\x80"});
        return tools::tool_output{std::string{"a\xc3(\xffz"},
                                  error{errc::timeout, "\xff", "\xff"}, "{no"};
      }));
  const auto end = outcome_of(runtime.execute({.task = "\xff go"}));
  CHECK(end.status == run_status::completed);
  auto log = runtime.events(end.run);
  REQUIRE(log);
  while (auto batch = log->next(1s))
    batch->for_each([](const event_view& x) { CHECK(x.parse()); });
}

TEST_CASE("a tool's output of 100 MB is kept whole and told in part") {
  constexpr std::size_t size = 100u << 20;
  auto runtime =
      make_runtime(one_call, working([](const json&, tools::tool_context&) {
                     return tools::tool_output{std::string(size, 'x'), {}, {}};
                   }));
  const auto end = outcome_of(runtime.execute({.task = "go"}));
  CHECK(end.status == run_status::completed);
  CHECK(end.answer.size() < 100'000);
  auto calls = runtime.session(end.session);
  REQUIRE(calls);
  auto whole = runtime.output(calls->calls.at(0).call.id);
  REQUIRE(whole);
  CHECK(whole->text.size() == size);
}

TEST_CASE("a thousand runs at once all end") {
  auto runtime = make_runtime("[[steps]]\ntext = \"done\"\n");
  std::atomic<int> ended = 0;
  std::vector<run> runs;
  for (int i = 0; i < 1000; ++i) {
    auto made = runtime.start({.task = "go"}, [&](const event_batch& batch) {
      batch.for_each([&](const event_view& x) {
        if (x.type() == "run_finished") ++ended;
      });
    });
    REQUIRE(made);
    runs.push_back(std::move(*made));
  }
  for (const auto& x : runs)
    CHECK(outcome_of(x.wait(scaled(60s))).status == run_status::completed);
  CHECK(ended == 1000);
}
