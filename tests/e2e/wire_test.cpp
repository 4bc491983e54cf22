// SPDX-License-Identifier: MIT
// What providers want back they get back, over loops of tool steps, a kill in
// the middle and a change of the model: judged by servers that refuse what the
// real ones refuse.
#include <functional>
#include <set>
#include <stdexcept>

#include "tests/e2e/wire_servers.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

std::map<std::string, std::string> env_of(const work_folder& folder) {
  auto env = wire_environment();
  env["RIFFLE_CONFIG"] = (folder.path() / "riffle.toml").string();
  return env;
}

finished run(const work_folder& folder, const std::string& model) {
  return riffle::testing::riffle(
      folder,
      {"run", "-m", model, "--session", "s1", "--output", "jsonl", "go"},
      env_of(folder));
}

/// What happened, without ids, times and numbers of tokens.
std::string story_of(const std::string& jsonl) {
  std::string out;
  for (const auto& x : checked_events(jsonl)) {
    const auto type = x.at("event_type").get<std::string>();
    const auto& data = x.at("data");
    // Not every server tells thoughts; tokens are counted as each pleases, at
    // a moment that results do not wait for.
    if (type == "usage" || type == "llm_reasoning" || type == "status")
      continue;
    out += type;
    for (const auto* key : {"tool", "arguments", "outcome", "output", "content",
                            "status", "step"})
      if (data.contains(key)) out += " " + data.at(key).dump();
    out += '\n';
  }
  return out;
}

/// How often a step, counted from 1, has begun in all runs of the session.
std::size_t times_begun(const work_folder& folder, int step) {
  const auto log = riffle::testing::riffle(folder, {"sessions", "events", "s1"},
                                           env_of(folder));
  const auto word =
      R"("step_start","data":{"step":)" + std::to_string(step) + ",";
  std::size_t n = 0;
  for (auto at = log.out.find(word); at != log.out.npos;
       at = log.out.find(word, at + 1))
    ++n;
  return n;
}

/// It is on record that a step, counted from 1, has begun.
bool has_begun(const work_folder& folder, int step) {
  return times_begun(folder, step) > 0;
}

const wire_server& wire_of(const json& body) {
  const auto model = body.at("model").get<std::string>();
  for (const auto& wire : wires())
    if (wire.model.ends_with(model)) return wire;
  throw std::runtime_error("nobody has the model " + model);
}

}  // namespace

TEST_CASE("each provider gets back what it wants, also after kill -9") {
  for (const auto& wire : wires()) {
    INFO(wire.model);
    const work_folder folder;
    int killed = 0;  // of the server's thread: it stalls where nobody was yet
    http_server server{[&](const http_request& request) {
      const auto body = json::parse(request.body);
      if (auto no = refusal_of(wire, request, body)) return *std::move(no);
      const auto step = wire.step(body);
      if (step <= killed) return wire.reply(step);
      killed = step;
      return http_reply::sse().stall();
    }};
    configure_wires(folder, server.url("/v1"), {wire.model});
    // Killed behind each of its steps, the last one too.
    for (int step = 1; step <= wire_steps; ++step) {
      const std::vector<std::string> begin{"run",       "-m", wire.model,
                                           "--session", "s1", "go"};
      const std::vector<std::string> go_on{"sessions", "resume", "s1"};
      program running{installed_riffle(), folder, step == 1 ? begin : go_on,
                      env_of(folder)};
      REQUIRE(server.wait_for_requests(2u * static_cast<std::size_t>(step),
                                       std::chrono::seconds{60}));
      // What is asked may be on its way before the turn behind it is stored.
      REQUIRE(eventually([&] { return has_begun(folder, step + 1); }));
      running.signal(SIGKILL);
      running.wait();
    }
    server.release();
    const auto again = riffle::testing::riffle(
        folder, {"sessions", "resume", "s1", "--output", "jsonl"},
        env_of(folder));
    INFO(again.err << again.out);
    CHECK(again.status == 0);
    const auto events = checked_events(again.out);
    const auto end = of_type(events, "final_answer");
    REQUIRE(end.size() == 1);
    CHECK_THAT(end[0].dump(), Contains("all read"));
    CHECK(server.request_count() == 2 * wire_steps + 1);
    check_prefixes(server.requests());
  }
}

TEST_CASE("one script in all dialects gives the same events") {
  std::string first;
  for (const auto& wire : wires()) {
    INFO(wire.model);
    const work_folder folder;
    http_server server{[&](const http_request& request) {
      return wire.reply(wire.step(json::parse(request.body)));
    }};
    configure_wires(folder, server.url("/v1"), {wire.model});
    const auto x = run(folder, wire.model);
    INFO(x.err);
    CHECK(x.status == 0);
    const auto story = story_of(x.out);
    CHECK_THAT(story, Contains("file 4"));
    if (first.empty()) first = story;
    CHECK(story == first);
  }
}

TEST_CASE("what one model wants back never goes to another") {
  const work_folder folder;
  std::set<std::string> killed;  // of the server's thread
  http_server server{[&](const http_request& request) {
    const auto body = json::parse(request.body);
    const auto& wire = wire_of(body);
    const auto own = newest_part(body);
    if (const auto why = fault_of_strangers(wire, body); !why.empty())
      return http_reply::json(json{{"error", {{"message", why}}}}.dump(), 400);
    if (auto no = refusal_of(wire, request, own)) return *std::move(no);
    const auto step = wire.step(own);
    if (step == 3 && killed.insert(wire.model).second)
      return http_reply::sse().stall(wire.model);
    return wire.reply(step);
  }};
  std::vector<std::string> models;
  for (const auto& wire : wires()) models.push_back(wire.model);
  configure_wires(folder, server.url("/v1"), models);
  for (const auto& wire : wires()) {
    INFO(wire.model);
    const auto before = server.request_count();
    const auto begun = times_begun(folder, 4);
    {
      program running{installed_riffle(),
                      folder,
                      {"run", "-m", wire.model, "--session", "s1", "go"},
                      env_of(folder)};
      INFO(running.err());
      REQUIRE(server.wait_for_requests(before + 4, std::chrono::seconds{60}));
      REQUIRE(eventually([&] { return times_begun(folder, 4) > begun; }));
      running.signal(SIGKILL);
      running.wait();
    }
    server.release(wire.model);
    const auto again = riffle::testing::riffle(
        folder, {"sessions", "resume", "s1", "--output", "jsonl"},
        env_of(folder));
    INFO(again.err << again.out);
    CHECK(again.status == 0);
    CHECK_THAT(again.out, Contains("all read"));
    const auto all = server.requests();
    REQUIRE(all.size() == before + wire_steps + 2);
    for (auto i = before; i < all.size(); ++i)
      CHECK_THAT(older_part(json::parse(all[i].body)).dump(),
                 !Contains("secret") && !Contains("thought 0"));
    if (wire.keeps)
      CHECK_THAT(all.back().body, Contains("secret") || Contains("thought 0"));
  }
}

TEST_CASE("a turn that its provider paused goes on as it was") {
  const work_folder folder;
  const auto event = [](const json& x) {
    return "event: x\ndata: " + x.dump() + "\n\n";
  };
  const auto end = [&](const char* why) {
    return event(
        {{"type", "message_delta"}, {"delta", {{"stop_reason", why}}}});
  };
  const auto block = [&](const json& x) {
    return event({{"type", "content_block_start"},
                  {"index", 0},
                  {"content_block", x}}) +
           event({{"type", "content_block_stop"}, {"index", 0}});
  };
  const json search = {{"type", "server_tool_use"},
                       {"id", "srvtoolu_1"},
                       {"name", "web_search"},
                       {"input", {{"query", "x"}}}};
  const auto paused = respond_sse(block(search) + end("pause_turn"));
  const auto found = respond_sse(block({{"type", "text"}, {"text", "found"}}) +
                                 end("end_turn"));
  const bool kills = GENERATE(false, true);
  http_server server{paused, kills ? http_reply::sse().stall() : found, found};
  configure_wires(folder, server.url("/v1"), {"anthropic/claude-x"});
  finished x;
  if (kills) {
    program running{
        installed_riffle(),
        folder,
        {"run", "-m", "anthropic/claude-x", "--session", "s1", "go"},
        env_of(folder)};
    REQUIRE(server.wait_for_requests(2, std::chrono::seconds{60}));
    // What is asked may be on its way before the turn behind it is stored.
    REQUIRE(eventually([&] { return has_begun(folder, 2); }));
    running.signal(SIGKILL);
    running.wait();
    server.release();
    x = riffle::testing::riffle(
        folder, {"sessions", "resume", "s1", "--output", "jsonl"},
        env_of(folder));
  } else {
    x = run(folder, "anthropic/claude-x");
  }
  INFO(x.err << x.out);
  CHECK(x.status == 0);
  const auto events = checked_events(x.out);
  CHECK(of_type(events, "tool_call").empty());
  CHECK(of_type(events, "step_start").size() == 2);
  CHECK(of_type(events, "final_answer").at(0).at("data").at("content") ==
        "found");
  REQUIRE(server.request_count() == (kills ? 3 : 2));
  // The same bytes, whether it was killed or not.
  CHECK(server.requests().back().body == server.requests().at(1).body);
  const auto told = json::parse(server.requests().at(1).body).at("messages");
  REQUIRE(told.size() == 2);
  CHECK(told[1] == json{{"role", "assistant"}, {"content", {search}}});
}
