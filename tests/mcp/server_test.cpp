// SPDX-License-Identifier: MIT
// A server over standard input and output, which lies, hangs and dies.
#include "tools/mcp/server.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/mcp/liar_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/time_scale.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/mcp_tool.hpp"
#include "tools/mcp/servers.hpp"
#include "tools/mcp/stdio_link.hpp"

using namespace riffle;
using namespace riffle::mcp;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using world = testing::liar_world;
using testing::eventually;

namespace {

bool nobody_in(const std::filesystem::path& folder) {
  return testing::processes_in(folder).empty();
}

}  // namespace

TEST_CASE("a server of each era is found out, listed and called") {
  for (const auto* era : {"modern", "legacy"}) {
    CAPTURE(era);
    world w{{era}};
    CHECK(w.at->status().state == server_state::idle);
    const auto out = w.call("echo", {{"text", "hello"}});
    CHECK(out.text == "hello");
    CHECK_FALSE(out.err);
    const auto now = w.at->status();
    CHECK(now.state == server_state::ready);
    CHECK(to_string(now.has->about.speaks) == era);
    CHECK(now.has->about.name == "liar");
    CHECK(now.has->find("echo") != nullptr);
    CHECK(now.restarts == 0);
  }
}

TEST_CASE("a server that has gone to the newer era is asked for it again") {
  world w{{"modern"}, [](server_options& x) { x.known_era = era::legacy; }};
  CHECK(w.at->wait_ready(steady_clock::now() + seconds{20}));
  CHECK(w.at->status().has->about.speaks == era::modern);
  CHECK(w.at->status().restarts == 1);
}

TEST_CASE("who waits for a server that hangs waits once, and for others not") {
  servers_options how;
  server_setup one;
  one.how.name = "mute";
  one.how.startup_timeout = seconds{3};
  const testing::temp_folder folder;
  one.how.connect = [&](link_events events) {
    stdio_options x;
    x.name = "mute";
    x.command = {RIFFLE_MCP_LIAR, "mute"};
    x.folder = folder.path();
    return open_stdio(x, std::move(events));
  };
  one.how.supervision.intensity = 50;
  how.all.push_back(std::move(one));
  servers all{std::move(how)};
  const auto took = [&](std::stop_token stop, duration limit) {
    const auto began = steady_clock::now();
    CHECK(all.ready({"mute"}, stop, limit).size() == 1);
    return steady_clock::now() - began;
  };
  std::stop_source stopped;
  stopped.request_stop();
  CHECK(took(stopped.get_token(), {}) < seconds{2});
  CHECK(took({}, milliseconds{1}) < seconds{2});
  took({}, {});
  CHECK(took({}, {}) < seconds{2});
}

TEST_CASE("nothing starts before it is wanted") {
  world w;
  CHECK(nobody_in(w.folder.path()));
}

TEST_CASE("a server sees the variables that it is given, and no other") {
  ::setenv("RIFFLE_MCP_SECRET", "canary", 1);
  world w;
  const auto seen = w.call("env").text;
  CHECK(seen.find("ONLY=this\n") != std::string::npos);
  CHECK(seen.find("canary") == std::string::npos);
  ::unsetenv("RIFFLE_MCP_SECRET");
}

TEST_CASE("every lie costs at most the call") {
  world w;
  const auto text_of = [&](const char* tool) { return w.call(tool).text; };
  CHECK(text_of("garbage") == "after garbage");
  CHECK(text_of("twice") == "first");
  CHECK(text_of("wrong_id") == "for you");
  CHECK(text_of("late") == "done");
  CHECK(text_of("batch") == "of a batch");
  CHECK(text_of("flood") == "flooded");
  CHECK(text_of("ask") ==
        "ping:{} roots/list:-32601 sampling/createMessage:-32601 "
        "elicitation/create:{\"action\":\"decline\"} ");
  CHECK(w.at->status().restarts == 0);
}

TEST_CASE("a line of 10 MB is one clean error, and the server starts again") {
  world w;
  const auto out = w.call("long");
  REQUIRE(out.err);
  CHECK(out.lost);
  CHECK(out.err->message.find("more than 8 MB") != std::string::npos);
  CHECK(w.call("echo", {{"text", "back"}}).text == "back");
  CHECK(w.at->status().restarts == 1);
  CHECK(w.at->status().last_error.find("more than 8 MB") != std::string::npos);
}

TEST_CASE("a server that dies in mid call costs its open calls one attempt") {
  world w;
  REQUIRE_FALSE(w.call("echo").err);
  std::atomic<int> lost_calls{0};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 8; ++i)
    callers.emplace_back([&] {
      tools::tool_context context;
      if (call_tool(*w.at, "mute", {}, json::object(), context).lost)
        ++lost_calls;
    });
  // One that came behind its death would wait for the next server.
  REQUIRE(eventually([&] {
    std::error_code none;
    return std::filesystem::file_size(w.folder.path() / "mutes", none) == 8;
  }));
  const auto out = w.call("die");
  CHECK(out.lost);
  callers.clear();
  CHECK(lost_calls == 8);
  CHECK(out.err->message.find("SIGKILL") != std::string::npos);
  CHECK(w.call("echo", {{"text", "back"}}).text == "back");
}

TEST_CASE("a server that hangs is found out by a question, and replaced") {
  world w;
  REQUIRE_FALSE(w.call("echo").err);
  std::jthread caller{[&] { w.call("hang"); }};
  std::this_thread::sleep_for(milliseconds{20});
  w.stop.request_stop();
  caller.join();
  REQUIRE(eventually([&] { return w.at->status().restarts == 1; }));
  CHECK(w.at->status().last_error.find("hangs") != std::string::npos);
  w.stop = {};
  CHECK(w.call("echo", {{"text", "back"}}).text == "back");
}

TEST_CASE("a call that is given up does not cost a server that lives") {
  world w;
  const auto pid = w.call("pid").text;
  std::jthread caller{[&] {
    const auto out = w.call("mute");
    CHECK(out.err->code == errc::cancelled);
  }};
  std::this_thread::sleep_for(milliseconds{20});
  w.stop.request_stop();
  caller.join();
  w.stop = {};
  std::this_thread::sleep_for(milliseconds{500});
  CHECK(w.call("pid").text == pid);
}

TEST_CASE("progress comes with its total, never goes back") {
  world w;
  CHECK(w.call("progress").text == "all of it");
  REQUIRE(w.reports.size() == 4);
  CHECK(w.reports[3].progress == 4.0);
  CHECK(w.reports[3].total == 4.0);
  CHECK(w.reports[0].message == "at 1");
}

TEST_CASE("all kinds of content are told in words") {
  world w;
  const auto out = w.call("picture");
  CHECK(out.text ==
        "[image, image/png, 68 B, which is not shown]\n"
        "[resource file:///a.txt: a.txt]\ninside\n"
        "[a block of the type \"smell\", which is not shown]");
  CHECK(out.files.empty());
  w.files = {{"image/png"}, 1000};
  const auto shown = w.call("picture");
  REQUIRE(shown.files.size() == 1);
  CHECK(shown.files[0].about.type == "image/png");
  CHECK(shown.text.starts_with("[image, image/png, 68 B]\n"));
}

TEST_CASE("a failure of a tool is a result, an error of the protocol is none") {
  world w;
  const auto failed = w.call("is_error");
  CHECK(failed.text == "no such file");
  CHECK(failed.err->message == "no such file");
  const auto refused = w.call("refuses");
  CHECK(refused.err->message ==
        "the server liar refuses the call: -32603: not today");
  CHECK_FALSE(refused.lost);
}

TEST_CASE("structured content is checked by its schema") {
  world w;
  const auto good = w.call("structured");
  CHECK_FALSE(good.err);
  CHECK(good.text == "{\"n\":7}");
  CHECK(good.metadata == R"({"bytes":7,"lines":1,"structured":{"n":7}})");
  const auto bad = w.call("liar");
  REQUIRE(bad.err);
  CHECK(bad.err->message.find("breaks its outputSchema: at /n") !=
        std::string::npos);
}

TEST_CASE("changes of a list that come together are read once") {
  std::atomic<int> lists{0};
  world w{{}, [&](server_options& x) {
            x.on_listing = [&](const listing&) { ++lists; };
          }};
  REQUIRE_FALSE(w.call("grow").err);
  REQUIRE(eventually(
      [&] { return w.at->status().has->find("more_0") != nullptr; }));
  CHECK(lists == 2);
}

TEST_CASE("lists of many pages are read, circles are not") {
  world many{{"1500"}};
  REQUIRE_FALSE(many.call("more_1499").err);
  world circle{{"circle"},
               [](server_options& x) { x.supervision.intensity = 0; }};
  CHECK_FALSE(circle.at->wait_ready(steady_clock::now() + seconds{10}));
  CHECK(circle.at->status().state == server_state::out_of_service);
  CHECK(circle.at->status().last_error.find("in a circle") !=
        std::string::npos);
}

TEST_CASE("rounds of questions have an end") {
  world w{{"modern"}};
  CHECK(w.call("rounds", {{"n", 2}}).text ==
        "{\"who\":{\"action\":\"decline\"}}");
  const auto out = w.call("rounds", {{"n", 100}});
  REQUIRE(out.err);
  CHECK(out.err->message.find("again and again") != std::string::npos);
}

TEST_CASE("a task is followed to its result") {
  world w;
  CHECK(w.call("task").text == "of a task");
  CHECK(std::ranges::any_of(
      w.reports, [](const auto& x) { return x.message == "look 1"; }));
}

TEST_CASE("a server that never answers costs its start-up timeout") {
  world w{{"mute"}, [](server_options& x) {
            x.startup_timeout = milliseconds{300};
            x.supervision.intensity = 0;
          }};
  const auto began = steady_clock::now();
  const auto out = w.call("echo");
  CHECK(out.err->code == errc::tool_unavailable);
  CHECK(steady_clock::now() - began < seconds{5});
}

TEST_CASE("a server that cannot start says why, and is tried again later") {
  world w{{"dies"}, [](server_options& x) {
            x.supervision.intensity = 2;
            x.supervision.cool_down = milliseconds{200};
          }};
  const auto out = w.call("echo");
  REQUIRE(out.err);
  CHECK(out.err->code == errc::tool_unavailable);
  CHECK(out.err->message.find("exit status 3; it said last: no such thing") !=
        std::string::npos);
  REQUIRE(eventually([&] { return w.at->status().restarts >= 5; }));
}

TEST_CASE("a program that there is not is looked for once") {
  world w{{}, [](server_options& x) {
            stdio_options how;
            how.name = "gone";
            how.command = {"/no/such/program"};
            how.folder = "/tmp";
            x.connect = [how](link_events events) {
              return open_stdio(how, std::move(events));
            };
          }};
  CHECK_FALSE(w.at->wait_ready(steady_clock::now() + seconds{20}));
  const auto now = w.at->status();
  CHECK(now.state == server_state::out_of_service);
  CHECK(now.restarts == 1);
  CHECK(now.last_error.find("cannot start /no/such/program") !=
        std::string::npos);
}

TEST_CASE("a tool that is not the one that was meant is not called") {
  world w;
  REQUIRE_FALSE(w.call("echo").err);
  const auto digest = digest_of(*w.at->status().has->find("echo"));
  CHECK_FALSE(w.call("echo", json::object(), digest).err);
  const auto out = w.call("echo", json::object(), "another digest");
  CHECK(out.err->code == errc::tool_unavailable);
  CHECK(out.err->message.find("riffle mcp approve liar") != std::string::npos);
}

TEST_CASE("a tool that is not the one that was meant shows no preview") {
  world w;
  REQUIRE_FALSE(w.call("echo").err);
  const std::shared_ptr<server> at{std::shared_ptr<server>{}, &*w.at};
  auto tool = *w.at->status().has->find("echo");
  tool_rules rules;
  rules.preview = {{"text", "looked"}};
  const auto shown = [&] {
    const auto made = make_tool(at, tool, rules, false, "");
    return made->preview({{"text", "done"}}, {}).text;
  };
  CHECK(shown() == "looked");
  tool.description = "Was another tool when it was listed";
  CHECK(shown().find("has changed its tool echo") != std::string::npos);
}

TEST_CASE("resources are listed to the last page") {
  world w;
  REQUIRE_FALSE(w.call("echo").err);
  const std::shared_ptr<server> at{std::shared_ptr<server>{}, &*w.at};
  const auto tool = make_resource_tool(at, {.trusts = true}, false);
  tools::tool_context context;
  CHECK(w.at->status().has->templates == std::vector<std::string>{"x:{n}"});
  CHECK(make_resource_tool(at, {}, false, w.at->status().has->templates)
            ->spec()
            .description.ends_with("URIs of the form `x:{n}`."));
  CHECK(tool->run(json::object(), context).text == "x:1\nx:2\n");
  CHECK(tool->run({{"uri", "x:1"}}, context).text.find("content") !=
        std::string::npos);
}

TEST_CASE("with a server all of its descendants go") {
  world w{{"brood"}};
  REQUIRE_FALSE(w.call("brood").err);
  REQUIRE(testing::processes_in(w.folder.path()).size() >= 4);
  const auto began = steady_clock::now();
  SECTION("when it is closed") {
    w.at.reset();
    CHECK(nobody_in(w.folder.path()));
    CHECK(steady_clock::now() - began < seconds{3});
  }
  SECTION("when it is killed") {
    const auto before = testing::processes_in(w.folder.path());
    CHECK(w.call("die").lost);
    const auto died = steady_clock::now();
    // While their runtime lives; the next server has numbers of its own.
    CHECK(eventually([&] {
      return std::ranges::none_of(before, [&](pid_t x) {
        return std::ranges::count(testing::processes_in(w.folder.path()), x) >
               0;
      });
    }));
    CHECK(steady_clock::now() - died < seconds{1} * testing::time_scale);
  }
}

TEST_CASE("100 calls at once share one connection") {
  world w;
  REQUIRE_FALSE(w.call("echo").err);
  std::atomic<int> right{0};
  std::vector<std::jthread> callers;
  for (int i = 0; i < 100; ++i)
    callers.emplace_back([&, text = std::to_string(i)] {
      tools::tool_context context;
      const auto out = call_tool(*w.at, "echo", {}, {{"text", text}}, context);
      if (out.text == text) ++right;
    });
  callers.clear();
  CHECK(right == 100);
}
