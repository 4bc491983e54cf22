// SPDX-License-Identifier: MIT
// Streams of `riffle serve`: cut, resumed, of a session, of all.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "runtime/base/digest.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string short_script = R"(
[[steps]]
text = "I look. "
[[steps.calls]]
tool = "glob"
arguments = { pattern = "*.toml" }
[[steps]]
text = "Done."
)";

/// Words for a while.
std::string slow_script(int words, const std::string& delay) {
  std::string text;
  for (int i = 0; i < words; ++i) text += "word" + std::to_string(i % 10) + " ";
  return "chunk = 6\ndelay = \"" + delay + "\"\n[[steps]]\ntext = \"" + text +
         "\"\n";
}

std::string run_of(const http_answer& x) {
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

/// Ids 1, 2, 3 … and lines that the one checker takes.
void check_stream(const std::vector<sse_event>& all) {
  std::string lines;
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(all[i].id == std::to_string(i + 1));
    lines += all[i].data + "\n";
    const auto type = json::parse(all[i].data)["event_type"];
    CHECK(all[i].type == (type == "error" ? "run_error" : type));
  }
  checked_events(lines);
}

}  // namespace

TEST_CASE("a stream that is cut at any event goes on behind it") {
  const work_folder folder;
  // So many parts of a text, then a call.
  const int words = repetitions(10, 20, 500);
  std::string text;
  for (int i = 0; i < words; ++i) text += "wrd" + std::to_string(i % 10) + " ";
  write_server(folder, "chunk = 5\n[[steps]]\ntext = \"" + text + R"("
[[steps.calls]]
tool = "glob"
arguments = { pattern = "*.toml" }
[[steps]]
text = "Done."
)");
  served server{folder};
  const auto who = server.user();
  const auto run = run_of(who.post("/v1/runs", {{"task", "look"}}));
  await_end(who, run);
  const auto path = "/v1/runs/" + run + "/events";
  const auto whole = who.get(path);
  const auto all = events_of("\r\n\r\n" + whole.body);
  check_stream(all);
  REQUIRE(all.size() > static_cast<std::size_t>(words));
  const std::string opening = "retry: 1000\n\n";
  for (std::size_t i = 0; i + 1 < all.size(); ++i) {
    const auto id = std::to_string(i);
    const auto at = whole.body.find("id: " + std::to_string(i + 1) + "\n");
    const auto rest = opening + whole.body.substr(at);
    CHECK(who.get(path, {"Last-Event-ID: " + id}).body == rest);
    CHECK(who.get(path + "?after=" + id).body == rest);
    // A client that reconnects repeats its URL.
    CHECK(who.get(path + "?after=0", {"Last-Event-ID: " + id}).body == rest);
  }
  const auto last = std::to_string(all.size());
  CHECK(who.get(path, {"Last-Event-ID: " + last}).status == 204);
  CHECK(who.get(path + "?after=" + last).status == 204);
  const auto beyond = std::to_string(all.size() + 1);
  CHECK(who.get(path, {"Last-Event-ID: " + beyond}).status == 410);
  for (const auto* bad : {"x", "-1", "1-1", "01", "1.5"})
    CHECK(who.get(path, {"Last-Event-ID: " + std::string{bad}}).status == 400);
}

TEST_CASE("a stream that is cut inside any event has it whole the next time") {
  const work_folder folder;
  const int words = repetitions(10, 20, 500);
  write_server(folder, slow_script(words, "1ms"));
  served server{folder};
  const auto who = server.user();
  const auto run = run_of(who.post("/v1/runs", {{"task", "x"}}));
  const auto path = "/v1/runs/" + run + "/events";
  await_end(who, run);
  const auto whole = events_of("\r\n\r\n" + who.get(path).body);
  check_stream(whole);
  REQUIRE(whole.size() > static_cast<std::size_t>(words));
  for (std::size_t i = 0; i < whole.size(); ++i) {
    raw_client cut{server.port()};
    cut.ask(path, who.token());
    const auto line = "id: " + std::to_string(i + 1) + "\n";
    auto got = cut.read_until(line);
    // It ends in the middle of this event, each time at another byte.
    got.resize(got.find(line) + line.size() + i % whole[i].data.size());
    auto all = events_of(got);
    REQUIRE(all.size() == i);
    const auto rest = who.get(
        path, all.empty() ? std::vector<std::string>{}
                          : std::vector{"Last-Event-ID: " + all.back().id});
    for (const auto& x : events_of("\r\n\r\n" + rest.body)) all.push_back(x);
    REQUIRE(all.size() == whole.size());
    for (std::size_t k = 0; k < all.size(); ++k)
      REQUIRE((all[k].id == whole[k].id && all[k].data == whole[k].data));
  }
}

TEST_CASE("a session's stream has the events of all its runs, and goes on") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  await_end(who,
            run_of(who.post("/v1/runs", {{"task", "a"}, {"session_id", "s"}})));
  raw_client reader{server.port()};
  reader.ask("/v1/sessions/s/events", who.token());
  CHECK(reader.read_until("event: run_finished").find("id: 1-1\n") !=
        std::string::npos);
  await_end(who, run_of(who.post("/v1/sessions/s/runs", {{"task", "b"}})));
  const auto all = events_of(reader.read_until("id: 2-12\n"));
  std::set<std::string> ids;
  for (const auto& x : all) CHECK(ids.insert(x.id).second);
  CHECK(ids.contains("2-1"));
  const auto path = std::string{"/v1/sessions/s/events"};
  raw_client again{server.port()};
  again.ask(path, who.token(), "Last-Event-ID: 1-3\r\n");
  CHECK(events_of(again.read_until("id: 2-2\n")).at(0).id == "1-4");
  CHECK(who.get(path, {"Last-Event-ID: 9-1"}).status == 410);
  CHECK(who.get(path, {"Last-Event-ID: 3"}).status == 400);
  CHECK(who.get("/v1/sessions/none/events").status == 404);
  CHECK(who.get(path, {"Accept: text/html"}).status == 406);
}

TEST_CASE("the stream of a session that is deleted ends at once") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  await_end(who,
            run_of(who.post("/v1/runs", {{"task", "a"}, {"session_id", "s"}})));
  raw_client reader{server.port()};
  reader.ask("/v1/sessions/s/events", who.token());
  reader.read_until("event: run_finished");
  REQUIRE(who.send("DELETE", "/v1/sessions/s", {}, {}).status == 200);
  reader.read_until("never", 5s);
  CHECK(reader.ended());
}

TEST_CASE("a client that was cut by kill -9 gets every event once") {
  const work_folder folder;
  write_server(folder, slow_script(60, "30ms"));
  served server{folder};
  auto who = server.user();
  const auto run = run_of(who.post("/v1/runs", {{"task", "x"}}));
  const auto path = "/v1/runs/" + run + "/events";
  std::vector<sse_event> all;
  for (int kills = 0; kills < 3; ++kills) {
    raw_client reader{server.port()};
    reader.ask(path, who.token(),
               all.empty() ? "" : "Last-Event-ID: " + all.back().id + "\r\n");
    const auto until = std::to_string(all.size() + 9);
    const auto got = events_of(reader.read_until("id: " + until + "\n"));
    all.insert(all.end(), got.begin(), got.end());
    server.kill_and_restart();
    who = server.user();
  }
  raw_client reader{server.port()};
  reader.ask(path, who.token(), "Last-Event-ID: " + all.back().id + "\r\n");
  const auto rest = events_of(reader.read_until("event: run_finished"));
  all.insert(all.end(), rest.begin(), rest.end());
  const auto stored =
      events_of("\r\n\r\n" + who.get(path, {"Accept: text/event-stream"}).body);
  CHECK(await_end(who, run)["status"] == "completed");
  REQUIRE(stored.size() >= all.size());
  check_stream(stored);
  for (std::size_t i = 0; i < all.size(); ++i)
    CHECK(all[i].data == stored[i].data);
}

TEST_CASE("one stream has the events of all runs, and goes on after a kill") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  auto who = server.user();
  await_end(who, run_of(who.post("/v1/runs", {{"task", "before"}})));
  raw_client reader{server.port()};
  reader.ask("/v1/events", who.token());
  reader.read_until("retry: ");
  const auto a = run_of(who.post("/v1/runs", {{"task", "a"}}));
  const auto b = run_of(who.post("/v1/runs", {{"task", "b"}}));
  await_end(who, a);
  await_end(who, b);
  std::string text;
  std::vector<sse_event> all;
  REQUIRE(eventually([&] {
    text = reader.read_until("never", 200ms);
    all = events_of(text);
    return std::ranges::count(all, "run_finished", &sse_event::type) == 2;
  }));
  std::map<std::string, std::string> lines;
  std::set<std::string> ids;
  for (const auto& x : all) {
    CHECK(ids.insert(x.id).second);
    lines[json::parse(x.data)["run_id"]] += x.data + "\n";
  }
  REQUIRE(lines.size() == 2);
  for (const auto& [run, log] : lines) {
    CHECK((run == a || run == b));
    checked_events(log);
  }
  server.kill_and_restart();
  who = server.user();
  // From the middle on: the same ids, and what comes then.
  const auto half = all.size() / 2;
  raw_client again{server.port()};
  again.ask("/v1/events", who.token(),
            "Last-Event-ID: " + all[half].id + "\r\n");
  const auto c = run_of(who.post("/v1/runs", {{"task", "c"}}));
  await_end(who, c);
  REQUIRE(eventually([&] {
    text = again.read_until("never", 200ms);
    return text.find(c) != std::string::npos &&
           events_of(text).back().type == "run_finished";
  }));
  const auto rest = events_of(text);
  for (std::size_t i = half + 1; i < all.size(); ++i) {
    CHECK(rest.at(i - half - 1).id == all[i].id);
    CHECK(rest.at(i - half - 1).data == all[i].data);
  }
  CHECK(who.get("/v1/events", {"Last-Event-ID: 99999.1-1"}).status == 410);
  CHECK(who.get("/v1/events", {"Last-Event-ID: 7"}).status == 400);
}

namespace {

/// The place of an event, with its parts: COMMIT.RUN-EVENT.
struct feed_id {
  int commit = 0;
  int run = 0;
  int seq = 0;

  explicit feed_id(const std::string& text) {
    REQUIRE(std::sscanf(text.c_str(), "%d.%d-%d", &commit, &run, &seq) == 3);
  }
  [[nodiscard]] std::string text() const {
    return std::to_string(commit) + "." + std::to_string(run) + "-" +
           std::to_string(seq);
  }
  [[nodiscard]] feed_id with(int feed_id::* part, int value) const {
    auto out = *this;
    out.*part = value;
    return out;
  }
};

/// The status of a stream that begins behind this event; it is not read.
long status_behind(const http_user& who, const std::string& path,
                   const std::string& id) {
  raw_client reader{who.port()};
  reader.ask(path, who.token(), "Last-Event-ID: " + id + "\r\n");
  const auto head = reader.read_until("\r\n\r\n");
  INFO(head);
  REQUIRE(head.size() > 12);
  return std::stol(head.substr(9, 3));
}

}  // namespace

TEST_CASE("a stream of many runs begins behind no event that it never had") {
  const work_folder folder;
  write_server(
      folder, short_script,
      "[server.tokens.bob]\nhash = \"" + ::riffle::sha256("bob") + "\"\n");
  served server{folder};
  const auto who = server.user();
  const auto bob = server.user("bob");
  const auto a = run_of(who.post("/v1/runs", {{"task", "a"}}));
  await_end(who, a);
  const auto volley = who.post("/v1/volleys", {{"tasks", {"b", "c"}}});
  REQUIRE(volley.status == 202);
  const auto of_volley = "/v1/volleys/" +
                         volley.json()["volley_id"].get<std::string>() +
                         "/events";
  const auto told = who.get(of_volley);
  const auto all = events_of("\r\n\r\n" + told.body);
  REQUIRE(all.size() > 10);
  const feed_id seen{all[all.size() / 2].id};
  const feed_id last{all.back().id};
  const std::string everything = "/v1/events";
  for (const auto& path : {everything, of_volley}) {
    CAPTURE(path, seen.text());
    CHECK(status_behind(who, path, seen.text()) == 200);
    for (const auto& strange :
         {seen.with(&feed_id::seq, 9999), seen.with(&feed_id::seq, 0),
          last.with(&feed_id::seq, 1), seen.with(&feed_id::commit, 1),
          seen.with(&feed_id::run, 0), seen.with(&feed_id::run, 1),
          seen.with(&feed_id::run, 7777).with(&feed_id::commit, 2)}) {
      CAPTURE(strange.text());
      CHECK(status_behind(who, path, strange.text()) == 400);
    }
    CHECK(status_behind(who, path, seen.with(&feed_id::commit, 99999).text()) ==
          410);
  }
  // Of another one's runs, and of no task of the volley.
  CHECK(status_behind(bob, everything, seen.text()) == 400);
  const feed_id first{"1.1-1"};
  std::string of_a;
  for (int commit = 1; of_a.empty() && commit < seen.commit; ++commit) {
    const auto id = first.with(&feed_id::commit, commit).text();
    if (status_behind(who, everything, id) == 200) of_a = id;
  }
  REQUIRE_FALSE(of_a.empty());
  CHECK(status_behind(who, of_volley, of_a) == 400);
}

TEST_CASE("who saw the last event of what was deleted goes on behind it") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  raw_client reader{server.port()};
  reader.ask("/v1/events", who.token());
  reader.read_until("retry: ");
  await_end(who,
            run_of(who.post("/v1/runs", {{"task", "a"}, {"session_id", "s"}})));
  const auto seen =
      events_of(reader.read_until("event: run_finished")).back().id;
  const auto b = run_of(who.post("/v1/runs", {{"task", "b"}}));
  await_end(who, b);
  REQUIRE(who.send("DELETE", "/v1/sessions/s", {}, {}).status == 200);
  raw_client again{server.port()};
  again.ask("/v1/events", who.token(), "Last-Event-ID: " + seen + "\r\n");
  const auto rest = events_of(again.read_until("event: run_finished"));
  REQUIRE_FALSE(rest.empty());
  CHECK(json::parse(rest.front().data)["run_id"] == b);
  CHECK(json::parse(rest.front().data)["seq"] == 1);
}

TEST_CASE("who has seen no event of a stream yet comes back to its beginning") {
  const work_folder folder;
  write_server(folder, short_script);
  served server{folder};
  const auto who = server.user();
  await_end(who, run_of(who.post("/v1/runs", {{"task", "before"}})));
  raw_client reader{server.port()};
  reader.ask("/v1/events", who.token());
  const auto opening = reader.read_until("\nid: ") + reader.read(1s);
  const auto at = opening.find("\nid: ");
  REQUIRE(at != std::string::npos);
  const auto id = opening.substr(at + 5, opening.find('\n', at + 5) - at - 5);
  CAPTURE(id);
  const auto run = run_of(who.post("/v1/runs", {{"task", "meanwhile"}}));
  await_end(who, run);
  server.kill_and_restart();
  raw_client again{server.port()};
  again.ask("/v1/events", who.token(), "Last-Event-ID: " + id + "\r\n");
  const auto rest = events_of(again.read_until("event: run_finished"));
  REQUIRE_FALSE(rest.empty());
  CHECK(json::parse(rest.front().data)["run_id"] == run);
  CHECK(json::parse(rest.front().data)["seq"] == 1);
  CHECK(status_behind(who, "/v1/events", "0.0-0") == 200);
  CHECK(status_behind(who, "/v1/events", "99999.0-0") == 410);
}
