// SPDX-License-Identifier: MIT
#include "runtime/http/run_request_json.hpp"
#include "runtime/http/site.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::http;
using Catch::Matchers::Contains;

namespace {

caller anybody() {
  caller x;
  x.name = "ci";
  x.roles = {role::run};
  return x;
}

std::string mistake(const json& body, const caller& who = anybody()) {
  const auto x = read_run(body, who);
  if (x) return "";
  CHECK(x.error().code == errc::invalid_request);
  return x.error().message;
}

}  // namespace

TEST_CASE("a key that stands twice in a body is refused, wherever it stands") {
  const auto why = [](const std::string& text) {
    const auto x = read_json(text);
    return x ? std::string{} : x.error();
  };
  CHECK(why(R"({"task":"a","task":"b"})") ==
        "the key \"task\" stands twice in one object of the body");
  CHECK_THAT(why(R"({"tasks":[{"task":"a"},{"x":{"y":1,"\u0079":2}}]})"),
             Contains("\"y\""));
  CHECK(why(R"({"a:b":"c:d\":e","a":{"a":{"a":[{"a":1},{"a":2}]}}})").empty());
}

TEST_CASE("each member of a request arrives in the run") {
  const auto x = read_run(json::parse(R"({
    "task": "t", "session_id": "s", "agent": "writer", "model": "m",
    "max_steps": 3, "context": "c", "phase": "p", "timeout": "2s",
    "approve": "none", "response_schema": {"type": "object"},
    "attachments": [{"name": "a.png", "data": "eA=="}]})"),
                          anybody());
  REQUIRE(x);
  CHECK(x->task == "t");
  CHECK(x->session == session_id{"s"});
  CHECK(x->agent == "writer");
  CHECK(x->model == "m");
  CHECK(x->max_steps == 3U);
  CHECK(x->context == "c");
  CHECK(x->phase == "p");
  CHECK(x->timeout == std::chrono::seconds{2});
  CHECK(x->approval == approve::none);
  CHECK(x->response_schema == R"({"type":"object"})");
  REQUIRE(x->attachments.size() == 1);
  CHECK(x->attachments[0].name == "a.png");
  CHECK(x->attachments[0].bytes == "x");
  CHECK(x->origin.by == "server:ci");
}

TEST_CASE("a run over HTTP waits for decisions unless it says otherwise") {
  CHECK(read_run({{"task", "t"}}, anybody())->approval == approve::ask);
  CHECK_THAT(mistake({{"task", "t"}, {"approve", "all"}}), Contains("decide"));
  auto who = anybody();
  who.roles.push_back(role::decide);
  CHECK(read_run({{"task", "t"}, {"approve", "all"}}, who)->approval ==
        approve::all);
  CHECK_THAT(mistake({{"task", "t"}, {"approve", "yes"}}), Contains("approve"));
}

TEST_CASE("a member that is wrong is named") {
  CHECK_THAT(mistake(json::object()), Contains("task is missing"));
  CHECK_THAT(mistake({{"task", ""}}), Contains("task is missing"));
  CHECK_THAT(mistake({{"task", 1}}), Contains("task must be a text"));
  CHECK_THAT(mistake({{"task", "t"}, {"max_step", 1}}),
             Contains("did you mean \"max_steps\""));
  CHECK_THAT(mistake({{"task", "t"}, {"max_steps", 0}}), Contains("from 1"));
  CHECK_THAT(mistake({{"task", "t"}, {"max_steps", -1}}),
             Contains("max_steps"));
  CHECK_THAT(mistake({{"task", "t"}, {"max_steps", 1.5}}),
             Contains("max_steps"));
  CHECK_THAT(mistake({{"task", "t"}, {"max_steps", 4294967296}}),
             Contains("max_steps"));
  CHECK_THAT(mistake({{"task", "t"}, {"timeout", "soon"}}),
             Contains("timeout"));
  CHECK_THAT(mistake({{"task", "t"}, {"timeout", "0s"}}), Contains("timeout"));
  CHECK_THAT(mistake({{"task", "t"}, {"response_schema", "x"}}),
             Contains("response_schema"));
  CHECK_THAT(mistake({{"task", "t"}, {"attachments", "x"}}),
             Contains("attachments"));
  CHECK_THAT(
      mistake({{"task", "t"}, {"attachments", json::array({{{"data", "%"}}})}}),
      Contains("base64"));
  // A file of the server's machine is nobody's to name.
  CHECK_THAT(
      mistake({{"task", "t"},
               {"attachments", json::array({{{"file", "/etc/passwd"}}})}}),
      Contains("no member \"file\""));
}

TEST_CASE("an agent that a token may not use is refused") {
  auto who = anybody();
  who.agents = {"writer"};
  CHECK_THAT(mistake({{"task", "t"}}, who), Contains("\"default\""));
  CHECK(mistake({{"task", "t"}, {"agent", "writer"}}, who).empty());
}

TEST_CASE("a volley's tasks are texts or runs") {
  const auto x = read_volley(json::parse(R"({
    "tasks": ["a", {"task": "b", "model": "m"}],
    "workers": 7, "max_retries": 2, "fail_fast": true})"),
                             anybody());
  REQUIRE(x);
  REQUIRE(x->tasks.size() == 2);
  CHECK(x->tasks[1].model == "m");
  CHECK(x->workers == 7);
  CHECK(x->max_retries == 2);
  CHECK(x->fail_fast);
  CHECK_FALSE(read_volley(json::object(), anybody()));
  CHECK_FALSE(read_volley({{"tasks", json::array()}}, anybody()));
  CHECK_FALSE(read_volley({{"tasks", json::array({1})}}, anybody()));
  CHECK_FALSE(
      read_volley({{"tasks", json::array({"a"})}, {"workers", 0}}, anybody()));
}

TEST_CASE("a plan is an object or a text") {
  CHECK(read_plan_request({{"plan", {{"steps", json::array()}}}}, anybody())
            ->plan == R"({"steps":[]})");
  CHECK(read_plan_request({{"plan", "x = 1"}}, anybody())->plan == "x = 1");
  CHECK_FALSE(read_plan_request({{"plan", 1}}, anybody()));
  CHECK_FALSE(read_plan_request({{"plan", "x"}, {"task", "t"}}, anybody()));
}

TEST_CASE("a key gives an id: the same for the same caller, no other's") {
  request x;
  x.fields = {{"idempotency-key", "k"}};
  const auto id = id_of_key(x, anybody(), "run_");
  REQUIRE(id);
  REQUIRE(*id);
  CHECK((*id)->starts_with("run_k"));
  CHECK(id_of_key(x, anybody(), "run_") == id);
  auto other = anybody();
  other.name = "other";
  CHECK(id_of_key(x, other, "run_") != id);
  x.fields[0].value = "k2";
  CHECK(id_of_key(x, anybody(), "run_") != id);
  x.fields[0].value = std::string(256, 'k');
  CHECK_FALSE(id_of_key(x, anybody(), "run_"));
  CHECK_FALSE(*id_of_key({}, anybody(), "run_"));
}

TEST_CASE("the same request is the same however its body is written") {
  request a;
  a.path = "/v1/runs";
  a.body = R"({"task": "t", "model": "m"})";
  auto b = a;
  b.body = R"({"model":"m","task":"t"})";
  CHECK(digest_of(a) == digest_of(b));
  b.body = R"({"model":"m","task":"u"})";
  CHECK(digest_of(a) != digest_of(b));
  b = a;
  b.path = "/v1/plans";
  CHECK(digest_of(a) != digest_of(b));
}
