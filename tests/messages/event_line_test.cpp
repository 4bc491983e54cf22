// SPDX-License-Identifier: MIT
#include "messages/event_line.hpp"

#include <limits>

#include <nlohmann/json.hpp>

#include "messages/json_text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using riffle::testing::random_values;

namespace {

// 2026-01-31T09:30:00.123456Z
constexpr wall_time at{1'769'851'800'123'456};

std::string data_of(const events::body& body) {
  const auto line = to_line({7, {"run_1"}, body, at});
  const std::string head = "{\"seq\":7,\"run_id\":\"run_1\",\"event_type\":\"" +
                           std::string{events::type_name(body.index())} +
                           "\",\"data\":";
  const std::string tail = ",\"timestamp\":\"2026-01-31T09:30:00.123456Z\"}\n";
  REQUIRE(line.starts_with(head));
  REQUIRE(line.ends_with(tail));
  return line.substr(head.size(), line.size() - head.size() - tail.size());
}

// What a line keeps of an error.
void keep_of_error(std::optional<error>& x, bool whole) {
  if (!x) return;
  x->cause.clear();
  if (whole) return;
  x->op.clear();
  x->retryable = false;
}

event as_in_a_line(event x) {
  if (auto* result = std::get_if<events::tool_result>(&x.body))
    keep_of_error(result->err, false);
  if (auto* finished = std::get_if<events::run_finished>(&x.body))
    keep_of_error(finished->err, true);
  if (auto* failure = std::get_if<events::failure>(&x.body))
    failure->err.cause.clear();
  if (auto* step = std::get_if<events::plan_step_finished>(&x.body))
    keep_of_error(step->err, true);
  if (auto* plan = std::get_if<events::plan_finished>(&x.body))
    keep_of_error(plan->err, true);
  return x;
}

std::string problem_of(std::string_view line) {
  const auto x = parse_line(line);
  return x ? "" : x.error().message;
}

}  // namespace

TEST_CASE("every event comes back from its line as it was") {
  const auto seed = testing::fresh_seed();
  random_values random{seed};
  for (std::size_t i = 0; i < 4000; ++i) {
    auto x = random.next<event>();
    random.emplace(x.body, i % std::variant_size_v<events::body>);
    const auto line = to_line(x);
    CAPTURE(seed, i, line);
    REQUIRE(line.find('\n') == line.size() - 1);
    REQUIRE(nlohmann::json::accept(line));
    const auto y = parse_line(line);
    REQUIRE(y.has_value());
    REQUIRE(*y == as_in_a_line(x));
    REQUIRE(to_line(*y) == line);
  }
}

TEST_CASE("any bytes make a valid line that no reading changes") {
  const auto seed = testing::fresh_seed();
  random_values random{seed};
  for (int i = 0; i < 4000; ++i) {
    const auto bytes = random.bytes();
    event x{1, {bytes}, events::status{bytes}, at};
    if (random.chance(0.5)) x.body = events::llm_token{bytes, 1};
    const auto line = to_line(x);
    CAPTURE(seed, i, line);
    const auto y = parse_line(line);
    REQUIRE(y.has_value());
    REQUIRE(to_line(*y) == line);
  }
}

TEST_CASE("a run is introduced by its line") {
  CHECK(
      data_of(events::run_started{
          {"ses_1"}, "default", "m", "do \"it\"", 30, proposal_id{"prop_1"}}) ==
      R"({"session_id":"ses_1","agent":"default","model":"m",)"
      R"("task":"do \"it\"","max_steps":30,)"
      R"("cause":{"proposal_id":"prop_1"}})");
  CHECK(data_of(events::run_started{{"ses_1"},
                                    "default",
                                    "m",
                                    "t",
                                    30,
                                    {},
                                    {{"a \"b\".png", "image/png", 12, "d1"},
                                     {"c.pdf", "application/pdf", 3, "d2"}}}) ==
        R"({"session_id":"ses_1","agent":"default","model":"m","task":"t",)"
        R"("max_steps":30,"attachments":[)"
        R"({"name":"a \"b\".png","type":"image/png","bytes":12,"digest":"d1"},)"
        R"({"name":"c.pdf","type":"application/pdf","bytes":3,)"
        R"("digest":"d2"}]})");
  CHECK(data_of(events::step_start{2, 30}) == R"({"step":2,"max_steps":30})");
  CHECK(data_of(events::step_restarted{2, 3, "cut", 5, 9}) ==
        R"({"step":2,"attempt":3,"reason":"cut",)"
        R"("withdraws":{"first_seq":5,"last_seq":9}})");
  CHECK(data_of(events::llm_token{"Hi", 1}) == R"({"content":"Hi","step":1})");
  CHECK(data_of(events::llm_reasoning{"Hm", 1}) ==
        R"({"content":"Hm","step":1})");
}

TEST_CASE("the life of a call has the contract's keys in its order") {
  CHECK(data_of(events::tool_call{{"call_1"},
                                  "p",
                                  "read",
                                  "Reading x",
                                  R"({"path":"x"})",
                                  "raw",
                                  effect::read_only,
                                  1,
                                  events::call_status::starting,
                                  "n1"}) ==
        R"({"id":"call_1","provider_id":"p","tool":"read",)"
        R"("title":"Reading x","arguments":{"path":"x"},)"
        R"("arguments_text":"raw","effect":"read_only","step":1,)"
        R"("status":"starting","node":"n1"})");
  CHECK(data_of(events::tool_call{{"c"},
                                  "",
                                  "t",
                                  "",
                                  "",
                                  "",
                                  effect::mutating,
                                  1,
                                  events::call_status::not_started,
                                  ""}) ==
        R"({"id":"c","provider_id":"","tool":"t","title":"",)"
        R"("arguments":null,"effect":"mutating","step":1,)"
        R"("status":"not_started"})");
  CHECK(data_of(events::tool_progress{
            {"c"}, "t", {"half", 0.5, 1.0, "stdout", 3}}) ==
        R"({"id":"c","tool":"t","message":"half","progress":0.5,)"
        R"("total":1,"stream":"stdout","coalesced":3})");
  CHECK(data_of(events::tool_progress{{"c"}, "t", {}}) ==
        R"({"id":"c","tool":"t"})");
  CHECK(data_of(events::tool_result{{"c"},
                                    "t",
                                    outcome::timed_out,
                                    "out",
                                    true,
                                    12,
                                    2,
                                    error{errc::timeout, "op", "m", true, "x"},
                                    R"({"k":1})"}) ==
        R"({"id":"c","tool":"t","outcome":"timed_out","success":false,)"
        R"("output":"out","truncated":true,"duration_ms":12,"attempts":2,)"
        R"("error":{"code":"timeout","message":"m"},"metadata":{"k":1}})");
  CHECK(data_of(events::tool_result{
            {"c"}, "t", outcome::ok, "", false, 0, 1, {}, ""}) ==
        R"({"id":"c","tool":"t","outcome":"ok","success":true,)"
        R"("output":"","truncated":false,"duration_ms":0,"attempts":1})");
  CHECK(data_of(events::tool_result{{"c"},
                                    "t",
                                    outcome::ok,
                                    "",
                                    false,
                                    0,
                                    1,
                                    {},
                                    "",
                                    {{"a.gif", "image/gif", 1, "d"}}}) ==
        R"({"id":"c","tool":"t","outcome":"ok","success":true,)"
        R"("output":"","truncated":false,"duration_ms":0,"attempts":1,)"
        R"("attachments":[{"name":"a.gif","type":"image/gif","bytes":1,)"
        R"("digest":"d"}]})");
}

TEST_CASE("plans, approvals and proposals have the contract's keys") {
  CHECK(data_of(events::plan_updated{"create", "[1]"}) ==
        R"({"action":"create","plan":[1]})");
  CHECK(data_of(events::approval_required{
            {"p"}, {"c"}, "t", "T", "{}", "diff", "why", wall_time{0}}) ==
        R"({"proposal_id":"p","id":"c","tool":"t","title":"T",)"
        R"("arguments":{},"preview":"diff","reason":"why",)"
        R"("expires_at":"1970-01-01T00:00:00.000000Z"})");
  CHECK(data_of(events::approval_resolved{{"p"},
                                          {"c"},
                                          events::proposal_outcome::approved,
                                          "me",
                                          "fine",
                                          R"({"a":2})"}) ==
        R"({"proposal_id":"p","id":"c","decision":"approved","by":"me",)"
        R"("reason":"fine","arguments":{"a":2}})");
  CHECK(data_of(events::proposal{{"p"},
                                 events::proposal_source::inline_text,
                                 "s",
                                 events::proposal_status::open}) ==
        R"({"proposal_id":"p","source":"inline","summary":"s",)"
        R"("status":"open"})");
}

TEST_CASE("usage, retries and the end of a run have the contract's keys") {
  const token_usage some{10, 20, 5, 7, 0.25, true};
  CHECK(data_of(events::usage{1, some}) ==
        R"({"step":1,"input_tokens":10,"output_tokens":20,)"
        R"("cached_tokens":5,"reasoning_tokens":7,"cost_usd":0.25,)"
        R"("estimated":true})");
  CHECK(data_of(events::retry{events::retry_what::tool, call_id{"c"}, 1, 2, 50,
                              "lost"}) ==
        R"({"what":"tool","id":"c","attempt":1,"max_attempts":2,)"
        R"("delay_ms":50,"reason":"lost"})");
  CHECK(data_of(events::status{"thinking"}) == R"({"text":"thinking"})");
  CHECK(data_of(events::user_message{"rather C++", 4}) ==
        R"({"text":"rather C++","step":4})");
  const error failed{errc::cancelled, "run", "stopped", false, "cause"};
  CHECK(data_of(events::failure{failed, 3}) ==
        R"({"code":"cancelled","op":"run","message":"stopped","step":3,)"
        R"("retryable":false})");
  CHECK(data_of(events::final_answer{"42", 2, token_usage{}, 1}) ==
        R"({"content":"42","steps":2,"usage":{"input_tokens":0,)"
        R"("output_tokens":0},"tools":1})");
  CHECK(data_of(events::final_answer{"4", 2, token_usage{}, 1, true})
            .ends_with(R"("tools":1,"truncated":true})"));
  CHECK(data_of(events::run_finished{events::run_status::cancelled, 9, 1, 0,
                                     token_usage{}, failed}) ==
        R"({"status":"cancelled","duration_ms":9,"steps":1,)"
        R"("tool_calls":0,"usage":{"input_tokens":0,"output_tokens":0},)"
        R"("error":{"code":"cancelled","op":"run","message":"stopped",)"
        R"("retryable":false}})");
}

TEST_CASE("a member that should hold JSON and does not cannot break a line") {
  events::tool_call call;
  for (auto text : {"{", "[1]", "{\"a\":1}x", "{\"a\":\"\xff\"}", "nul"}) {
    call.arguments = text;
    CAPTURE(text);
    CHECK(data_of(call).find("\"arguments\":null,") != std::string::npos);
  }
  call.arguments = "{ \"a\" :\n [1, \"x y\"]\r\n}";
  CHECK(data_of(call).find(R"("arguments":{"a":[1,"x y"]},)") !=
        std::string::npos);
  CHECK(data_of(events::plan_updated{"a", "{"}) ==
        R"({"action":"a","plan":null})");
  CHECK(data_of(events::approval_resolved{{"p"}, {"c"}, {}, "b", "", "oops"}) ==
        R"({"proposal_id":"p","id":"c","decision":"approved","by":"b"})");
}

TEST_CASE("numbers that are not finite are left out") {
  using limits = std::numeric_limits<double>;
  CHECK(
      data_of(events::tool_progress{
          {"c"}, "t", {"", limits::quiet_NaN(), limits::infinity(), "", 0}}) ==
      R"({"id":"c","tool":"t"})");
}

TEST_CASE("the text path writes what the general path writes") {
  event_writer writer{run_id{"run_\"x\""}};
  writer.set_time(at);
  std::string fast;
  std::string slow;
  writer.add_text(fast, 8, false, "to\nken", 3);
  writer.add_text(fast, 9, true, "thought", 4);
  for (const event& x :
       {event{8, {"run_\"x\""}, events::llm_token{"to\nken", 3}, at},
        event{9, {"run_\"x\""}, events::llm_reasoning{"thought", 4}, at}})
    slow += to_line(x);
  CHECK(fast == slow);
}

TEST_CASE("a broken line is refused and the place is named") {
  const auto line = [](std::string_view type, std::string_view data) {
    return R"({"seq":1,"run_id":"r","event_type":")" + std::string{type} +
           R"(","data":)" + std::string{data} +
           R"(,"timestamp":"2026-01-31T09:30:00.123456Z"})";
  };
  CHECK(problem_of(line("status", R"({"text":"x"})")).empty());
  CHECK(problem_of(line("status", R"({"text":"x","more":[1]})")).empty());
  CHECK(problem_of("") == "the line is no JSON object");
  CHECK(problem_of("[]") == "the line is no JSON object");
  CHECK(problem_of(line("status", R"({"text":"x")")) ==
        "the line is no JSON object");
  CHECK(problem_of("{}") == "seq: missing");
  CHECK(problem_of(R"({"seq":-1})") == "seq: not a whole number");
  CHECK(problem_of(R"({"seq":1.5})") == "seq: not a whole number");
  CHECK(problem_of(R"({"seq":1})") == "run_id: missing");
  CHECK(problem_of(R"({"seq":1,"run_id":5})") == "run_id: not a text");
  CHECK(problem_of(line("nonsense", "{}")) == "event_type: unknown: nonsense");
  CHECK(problem_of(line("status", "[]")) == "data: not an object");
  CHECK(problem_of(line("status", "{}")) == "data.text: missing");
  CHECK(
      problem_of(line("step_start", R"({"step":4294967296,"max_steps":1})")) ==
      "data.step: too large a number");
  CHECK(problem_of(line("retry", R"({"what":"luck"})")) ==
        "data.what: has an unknown value");
  CHECK(problem_of(
            line("step_restarted",
                 R"({"step":1,"attempt":2,"reason":"","withdraws":{}})")) ==
        "data.withdraws.first_seq: missing");
  CHECK(problem_of(
            line("tool_call",
                 R"({"id":"c","provider_id":"","tool":"t","title":""})")) ==
        "data.arguments: missing");
  CHECK(problem_of(line("tool_result", R"({"id":"c","tool":"t","outcome":"ok",)"
                                       R"("success":false})")) ==
        "data.success: does not agree with the outcome");
  CHECK(problem_of(R"({"seq":1,"run_id":"r","event_type":"status",)"
                   R"("data":{"text":""},"timestamp":"today"})") ==
        "timestamp: not a timestamp");
}

TEST_CASE("the text of a member is found without parsing it") {
  const auto object = R"( { "a" : {"b":[1,"}"]} , "b":"x\",y","c":1.50 ,)"
                      R"("d":[ ],"a":2 } )";
  CHECK(raw_member(object, "a") == "2");
  CHECK(raw_member(object, "b") == R"("x\",y")");
  CHECK(raw_member(object, "c") == "1.50");
  CHECK(raw_member(object, "d") == "[ ]");
  CHECK(raw_member(object, "e").empty());
  CHECK(raw_member("{}", "a").empty());
  CHECK(raw_member("", "a").empty());
  CHECK(raw_member(R"({"a":1)", "b").empty());
}
