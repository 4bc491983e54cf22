// SPDX-License-Identifier: MIT
// The phase of a session: chosen by a person, moved on by the model, kept.
#include <atomic>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

constexpr auto must_complete =
    "[agents.default]\ncompletion = \"tool\"\nmax_termination_attempts = 1\n"
    "tools = [\"set_phase\"]\n";

finished run(const work_folder& folder, words arguments) {
  return riffle::testing::riffle(folder, std::move(arguments));
}

}  // namespace

TEST_CASE("a phase that is exempt needs no complete, and stays the session's") {
  const work_folder folder;
  http_server server{
      [](const http_request&) { return respond_sse(answer("Done.")); }};
  folder.configure(server.url("/v1"), must_complete);
  const auto requests_of = [&](words arguments) {
    const auto before = server.requests().size();
    CHECK(run(folder, std::move(arguments)).status == 0);
    return server.requests().size() - before;
  };
  CHECK(requests_of({"run", "--session", "s", "go"}) == 2);  // reminded once
  CHECK(requests_of({"run", "--session", "s", "--phase", "chat", "go"}) == 1);
  CHECK(requests_of({"run", "--session", "s", "go"}) == 1);
  CHECK(requests_of({"run", "--session", "s", "--phase", "work", "go"}) == 2);
  CHECK(requests_of({"run", "--session", "s", "go"}) == 2);
  // Every task of a volley enters it.
  CHECK(requests_of({"run", "--phase", "chat", "--", "a", "b"}) == 2);
}

TEST_CASE("a phase without a usable name is refused") {
  const work_folder folder;
  folder.configure("http://127.0.0.1:9/v1");
  const auto end = run(folder, {"run", "--phase", "a\nb", "go"});
  CHECK(end.status == 2);
  CHECK(end.err.find("the name of the phase (--phase) holds a control "
                     "character") != std::string::npos);
  CHECK(run(folder, {"run", "--phase", "", "go"}).status == 2);
}

TEST_CASE("a phase that the model sets survives kill -9, and its session") {
  const work_folder folder;
  std::atomic<bool> slow = true;
  http_server server{[&](const http_request& x) {
    if (tool_messages(x).empty())
      return respond_sse(calls({{"set_phase", {{"phase", "chat"}}}}));
    if (slow) return http_reply::sse().pause(20s).send(answer("late"));
    return respond_sse(answer("Done."));
  }};
  folder.configure(server.url("/v1"), must_complete);
  {
    program running{
        installed_riffle(), folder, {"run", "--session", "s", "go"}};
    REQUIRE(eventually([&] { return server.requests().size() == 2; }));
    running.signal(SIGKILL);
    CHECK(running.wait().status == 128 + SIGKILL);
  }
  CHECK(tool_messages(server.requests().at(1)).at(0).at("content") ==
        "The session is in the phase \"chat\" now.");
  slow = false;
  const auto before = server.requests().size();
  const auto end =
      run(folder, {"sessions", "resume", "s", "--output", "jsonl"});
  CHECK(end.status == 0);
  CHECK(server.requests().size() == before + 1);  // nobody was reminded
  const auto events = checked_events(end.out);
  CHECK(of_type(events, "retry").empty());
  CHECK(of_type(events, "status").at(0).at("data").at("text") == "phase: chat");
  // A later run of the session is still in it.
  REQUIRE(run(folder, {"run", "--session", "s", "more"}).status == 0);
  CHECK(server.requests().size() == before + 2);
}

TEST_CASE("a phase that the model sets counts from then on, both ways") {
  const work_folder folder;
  // It leaves the phase where it must call `complete`, or enters it.
  const std::string first = GENERATE("work", "chat");
  const std::string then = first == "work" ? "chat" : "work";
  http_server server{[&](const http_request& x) {
    if (tool_messages(x).empty())
      return respond_sse(calls({{"set_phase", {{"phase", then}}}}));
    return respond_sse(answer("Done."));
  }};
  folder.configure(server.url("/v1"), must_complete);
  const auto end =
      run(folder, {"run", "--phase", first, "--output", "jsonl", "go"});
  CHECK(end.status == 0);
  const auto reminded = of_type(checked_events(end.out), "retry").size();
  CHECK(reminded == (then == "work" ? 1u : 0u));
  CHECK(server.requests().size() == 2 + reminded);
}

TEST_CASE("a name that is no phase is told to the model") {
  const work_folder folder;
  http_server server{[&](const http_request& x) {
    if (tool_messages(x).empty())
      return respond_sse(calls({{"set_phase", {{"phase", " "}}}}));
    return respond_sse(calls({{"complete", {{"answer", "x"}}}}));
  }};
  folder.configure(server.url("/v1"), must_complete);
  REQUIRE(run(folder, {"run", "go"}).status == 0);
  CHECK(tool_messages(server.requests().at(1))
            .at(0)
            .at("content")
            .get<std::string>()
            .find("the name of the phase is empty") != std::string::npos);
}
