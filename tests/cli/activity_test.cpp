// SPDX-License-Identifier: MIT
// What the status line says of time.
#include "runtime/cli/view/activity.hpp"

#include "tests/cli/live_stage.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;
using namespace std::chrono_literals;

TEST_CASE("the time of a tool counts from when it began to work") {
  live_stage s{on_terminal(), 80};
  s.on(events::step_start{1, 3});
  s.at(1s);
  events::approval_required asked;
  asked.proposal = {"p"};
  asked.id = {"c"};
  asked.tool = "bash";
  asked.title = "Running: make";
  asked.arguments = R"({"command":"make"})";
  s.on(asked);
  s.tick(40s);
  CHECK(s.picture.text().ends_with("⠋ waiting for approval: make — 40.0s\n"));
  s.at(41s);
  events::approval_resolved yes;
  yes.proposal = {"p"};
  yes.id = {"c"};
  yes.by = "--approve all";
  s.on(yes);
  s.on(call("c", "bash", "Running make", "{}"));
  s.tick(43s);
  CHECK(s.picture.text().ends_with("⠋ Running make — 2.0s\n"));
  s.on(call("d", "read", "Reading a", "{}"));
  s.tick(44s);
  CHECK(s.picture.text().find("2 tools — 3.0s\n") != std::string::npos);
  s.on(result("c", "bash", 10, "{}"));
  s.tick(45s);
  CHECK(s.picture.text().ends_with("⠋ Reading a — 2.0s\n"));
}

TEST_CASE("of a tool of one's own a row names it, and what it is about") {
  const auto says = [](std::size_t columns, const std::string& progress = {}) {
    cli::activity x;
    const auto on = [&x](events::body body) {
      event e;
      e.body = std::move(body);
      x.on(e);
    };
    events::tool_call made;
    made.id = {"c"};
    made.tool = "lookup_ticket";
    made.title = "Using lookup_ticket: TICKET-4711-of-the-customer";
    made.status = events::call_status::starting;
    on(made);
    events::tool_progress report;
    report.id = made.id;
    report.report.message = progress;
    if (!progress.empty()) on(report);
    return x.line(1s, columns);
  };
  CHECK(says(80) ==
        "⠋ Using lookup_ticket: TICKET-4711-of-the-customer — 1.0s");
  CHECK(says(50) == "⠋ lookup_ticket: TICKET-4711-of-the-custom… — 1.0s");
  CHECK(says(40) == "⠋ lookup_ticket: TICKET-4711-of-… — 1.0s");
  CHECK(says(80, "asks") ==
        "⠋ Using lookup_ticket: TICKET-4711-of-the-customer (asks) — 1.0s");
  // What it is about comes before how far it is.
  CHECK(says(40, "the customer is looked up") ==
        "⠋ lookup_ticket: TICKET-4711-of-… — 1.0s");
}

TEST_CASE("of a call that waits for a worker a row says so, until it has one") {
  live_stage s{on_terminal(), 80};
  s.on(events::step_start{1, 3});
  s.at(1s);
  s.on(call("c", "bash", "Running: make", R"({"command":"make"})"));
  const auto says = [&](const std::string& message) {
    events::tool_progress said;
    said.id = {"c"};
    said.tool = "bash";
    said.report.message = message;
    s.on(said);
  };
  says("waits for a free worker");
  s.tick(3s);
  CHECK(
      s.picture.text().ends_with("⠋ Waiting for a free worker: make — 2.0s\n"));
  s.columns = 30;
  s.tick(3500ms);
  CHECK(s.picture.text().ends_with("⠴ Waiting: make — 2.5s\n"));
  s.columns = 80;
  s.on(call("d", "read", "Reading a", R"({"path":"a"})"));
  says("waits for a free worker");
  s.tick(3900ms);
  CHECK(
      s.picture.text().ends_with("  Waiting for a free worker: make\n"
                                 "  Reading a\n"));
  s.on(result("d", "read", 10, "{}"));
  s.at(4s);
  says("waited 2.0s for a free worker");
  s.tick(5s);
  CHECK(s.picture.text().ends_with("⠋ Running: make — 1.0s\n"));
  says("linking");
  says("waited 2.0s for a free worker");  // may come behind what it reports
  s.tick(6s);
  CHECK(s.picture.text().find("(linking)") != std::string::npos);
}

TEST_CASE("what waits for a person is told before what works, as it is") {
  activity x;
  event e;
  e.at = wall_time{7};
  events::approval_required asked;
  asked.proposal = {"p"};
  asked.id = {"c"};
  const auto says = [&](const char* tool, const char* title,
                        const char* arguments) {
    x = {};
    e.body = call("d", "bash", "Running: make", "{}");
    x.on(e);
    asked.tool = tool;
    asked.title = title;
    asked.arguments = arguments;
    CHECK_FALSE(x.asks_since());
    e.body = asked;
    x.on(e);
    CHECK(x.asks_since() == wall_time{7});
    return x.doing(50);
  };
  CHECK(says("bash", "Running: rm -r x", R"({"command":"rm -r x"})") ==
        "waiting for approval: rm -r x");
  CHECK(says("write", "Writing x.md", R"({"path":"x.md"})") ==
        "waiting for approval: write x.md");
  CHECK(says("lookup", "Using lookup: T-1", R"({"id":"T-1"})") ==
        "waiting for approval: lookup T-1");
  x.cancelling();
  CHECK_FALSE(x.asks_since());
  CHECK(x.doing(50).starts_with("cancelling"));
}

TEST_CASE("what was to come soon before a resume does not come any more") {
  auto options = on_terminal();
  options.since = wall_time{2'000'000};
  live_stage s{options, 80};
  events::retry again;
  again.delay_ms = 60'000;
  for (const auto at : {1s, 3s}) {
    s.at(at);
    s.on(events::step_start{1, 3});
    s.on(again);
    s.tick(at + 1s);
    CHECK((s.picture.text().find(" again in 59s") != std::string::npos) ==
          (at == 3s));
  }
}

TEST_CASE("which step it is stays where there is little room") {
  activity x;
  event e;
  e.body = events::step_start{4, 9};
  x.on(e);
  CHECK(x.doing(40) == "waiting for the model, step 4");
  CHECK(x.doing(20) == "waiting, step 4");
  CHECK(x.doing(10) == "step 4");
  CHECK(x.doing(4) == "ste…");
  e.body = events::step_start{1, 9};
  x.on(e);
  CHECK(x.doing(12) == "waiting for…");
}
