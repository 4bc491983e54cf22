// SPDX-License-Identifier: MIT
// `riffle serve` and odd clients: all at once, too deep, too early.
#include <atomic>
#include <set>
#include <thread>

#include "runtime/base/digest.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string script = "[[steps]]\ntext = \"Done.\"\n";
const std::string json_type = "Content-Type: application/json";

std::string status_line(raw_client& x, std::string_view request) {
  x.send(request);
  const auto all = x.read_until("\r\n\r\n", 10s);
  return all.substr(0, all.find("\r\n"));
}

}  // namespace

TEST_CASE("no body is too deep, and no volley opens another's session") {
  const work_folder folder;
  write_server(folder, script,
               "[agents.writer]\n[server.tokens.bob]\nhash = \"" +
                   ::riffle::sha256("bob") + "\"\nagents = [\"writer\"]\n");
  served server{folder};
  const auto who = server.user();
  const auto bob = server.user("bob");
  const auto deep = std::string(90'000, '[') + std::string(90'000, ']');
  CHECK(who.send("POST", "/v1/runs", "{\"task\":" + deep + "}", {json_type})
            .status == 400);
  CHECK(who.send("POST", "/v1/proposals/x", "{\"arguments\":" + deep + "}",
                 {json_type})
            .status == 400);
  CHECK(who.send("PUT", "/v1/sessions/s/state/x", deep, {json_type}).status ==
        400);
  const auto x = who.post("/v1/runs", {{"task", "x"}, {"session_id", "s"}});
  REQUIRE(x.status == 202);
  await_end(who, x.json()["run_id"]);
  const json task{{"task", "x"}, {"session_id", "s"}, {"agent", "writer"}};
  CHECK(bob.post("/v1/volleys", {{"tasks", json::array({task})}}).status ==
        404);
  CHECK(bob.get("/v1/sessions/s").status == 404);
  CHECK(bob.post("/v1/plans", {{"plan", {{"steps", json::array()}}}}).status ==
        400);
  raw_client smuggled{server.port()};
  CHECK(status_line(smuggled,
                    "POST /v1/login HTTP/1.1\r\nHost: localhost\r\nTransfer-"
                    "Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{}")
            .find(" 400 ") != std::string::npos);
  CHECK(server.user("").get("/healthz").status == 200);
}

TEST_CASE("streams of a token that is taken away end, those of others go on") {
  const work_folder folder;
  const std::string slow = R"(delay = "50ms"
chunk = 1
[[steps]]
text = "A text that takes its time, letter by letter, for some seconds."
)";
  write_server(folder, slow, token_table("ann") + token_table("bob"));
  served server{folder};
  std::vector<std::unique_ptr<raw_client>> streams;
  for (const std::string name : {"ann", "bob"}) {
    const auto x = server.user(name).post("/v1/runs", {{"task", "x"}});
    REQUIRE(x.status == 202);
    const std::string run = x.json()["run_id"];
    streams.push_back(std::make_unique<raw_client>(server.port()));
    streams.back()->ask("/v1/runs/" + run + "/events", name);
    streams.back()->read_until("id: 3\n");
  }
  write_server(folder, slow, token_table("bob"));
  server.process().signal(SIGHUP);
  const auto cut = streams[0]->read_until("\r\n0\r\n\r\n");
  CHECK(cut.ends_with("\r\n0\r\n\r\n"));  // at the border of an event
  CHECK(cut.find("run_finished") == std::string::npos);
  CHECK(server.user("ann").get("/v1/runs").status == 401);
  CHECK(streams[1]->read_until("run_finished").find("run_finished") !=
        std::string::npos);
}

TEST_CASE("of two who begin a session at once it is one's, always") {
  const work_folder folder;
  write_server(folder, script,
               "[server.limits]\nrequests_per_second = 0\n" +
                   token_table("ann") + token_table("bob"));
  served server{folder};
  for (int i = 0; i < 40; ++i) {
    const auto session = "s" + std::to_string(i);
    std::atomic<int> ready = 0;
    std::vector<long> status(2);
    std::vector<std::thread> both;
    for (std::size_t n = 0; n < 2; ++n)
      both.emplace_back([&, n] {
        const auto who = server.user(n == 0 ? "ann" : "bob");
        ++ready;
        while (ready < 2) std::this_thread::yield();
        status[n] =
            who.post("/v1/runs", {{"task", "x"}, {"session_id", session}})
                .status;
      });
    for (auto& x : both) x.join();
    CAPTURE(i, status[0], status[1]);
    CHECK(((status[0] == 202) != (status[1] == 202)));
    CHECK(((status[0] == 404) != (status[1] == 404)));
  }
}

TEST_CASE("the same key at once is one volley, and volleys count as runs") {
  const work_folder folder;
  write_server(folder, "delay = \"100ms\"\nchunk = 1\n" + script,
               "[server.limits]\nruns = 1\n");
  served server{folder};
  const auto who = server.user();
  const json body{{"tasks", {"one", "two"}}};
  std::vector<std::string> ids(6);
  std::vector<std::thread> all;
  for (auto& id : ids)
    all.emplace_back([&] {
      const auto x = who.post("/v1/volleys", body, {"Idempotency-Key: k"});
      id = x.status == 202 ? json::parse(x.body).value("volley_id", "")
                           : std::to_string(x.status) + x.body;
    });
  for (auto& x : all) x.join();
  CHECK(std::set<std::string>(ids.begin(), ids.end()).size() == 1);
  CHECK(ids[0].starts_with("volley_"));
  CHECK(
      eventually([&] { return who.post("/v1/volleys", body).status == 429; }));
}

TEST_CASE("what a client sends during a stream is its next request") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  const auto run = who.post("/v1/runs", {{"task", "x"}}).json()["run_id"];
  raw_client x{server.port()};
  x.ask("/v1/runs/" + run.get<std::string>() + "/events", who.token());
  x.read_until("id: 1\n");
  x.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const auto all = x.read_until("\r\n\r\nok\n");
  CHECK(all.find("run_finished") != std::string::npos);
  CHECK(all.ends_with("\r\n\r\nok\n"));
  // More than a header is no request: the client is cut off.
  raw_client flood{server.port()};
  flood.ask("/v1/events", who.token());
  flood.read_until("retry:");
  flood.send(std::string(40'000, 'x'));
  flood.read_until("never", 10s);
  CHECK(flood.ended());
}

TEST_CASE("targets in absolute form are taken, unknown expectations are not") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  raw_client x{server.port()};
  CHECK(status_line(x,
                    "GET http://localhost/healthz HTTP/1.1\r\nHost: "
                    "localhost\r\n\r\n")
            .find(" 200 ") != std::string::npos);
  raw_client other{server.port()};
  CHECK(status_line(other,
                    "GET http://evil.example/healthz HTTP/1.1\r\nHost: "
                    "localhost\r\n\r\n")
            .find(" 421 ") != std::string::npos);
  raw_client third{server.port()};
  CHECK(status_line(third,
                    "GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
                    "Expect: a-lot\r\n\r\n")
            .find(" 417 ") != std::string::npos);
}

TEST_CASE("many who follow everything have the same, and cost one reader") {
  const work_folder folder;
  write_server(folder,
               "delay = \"5ms\"\nchunk = 2\n[[steps]]\ntext = \"" +
                   std::string(300, 'x') + "\"\n",
               "[server.limits]\nrequests_per_second = 0\n");
  served server{folder};
  const auto who = server.user();
  constexpr std::size_t each = 40;
  std::vector<std::unique_ptr<raw_client>> all;
  for (std::size_t i = 0; i < each * 2; ++i) {
    all.push_back(std::make_unique<raw_client>(server.port()));
    if (i < each) all.back()->ask("/v1/events", who.token());
    if (i < each) all.back()->read_until("retry:");
  }
  const auto first = who.post("/v1/runs", {{"task", "x"}, {"session_id", "s"}});
  const std::string one = first.json()["run_id"];
  for (std::size_t i = each; i < each * 2; ++i)
    all[i]->ask("/v1/sessions/s/events", who.token());
  await_end(who, one);
  const std::string two =
      who.post("/v1/runs", {{"task", "y"}, {"session_id", "s"}})
          .json()["run_id"];
  await_end(who, two);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < all.size(); ++i) {
    auto text = all[i]->read_until("retry:");
    const auto ends = [&] {
      std::size_t n = 0;
      for (auto at = text.find("event: run_finished"); at != std::string::npos;
           at = text.find("event: run_finished", at + 1))
        ++n;
      return n;
    };
    const auto until = std::chrono::steady_clock::now() + 20s;
    while (ends() < 2 && std::chrono::steady_clock::now() < until)
      text += all[i]->read(100ms);
    std::string ids = i < each ? "all" : "session";
    for (const auto& x : events_of(text)) ids += " " + x.id;
    CAPTURE(i);
    CHECK(ends() == 2);
    seen.insert(ids);
  }
  CHECK(seen.size() == 2);
}
