// SPDX-License-Identifier: MIT
// `riffle serve` as an operator starts, watches and stops it.
#include <arpa/inet.h>
#include <csignal>
#include <cstdio>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string sleeping_script = R"(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "sleep 300 & setsid sleep 300 & sleep 300" }
[[steps]]
text = "Done."
)";

std::string begin(const http_user& who, const json& body) {
  const auto x = who.post("/v1/runs", body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

std::string on_stop(const std::string& how, const std::string& limit = "3s") {
  return "[server]\non_stop = \"" + how + "\"\nstop_timeout = \"" + limit +
         "\"\n";
}

}  // namespace

TEST_CASE("told to stop it lets runs finish, and streams end whole") {
  const work_folder folder;
  write_server(folder, spoken_slowly(20, "30ms"), on_stop("finish", "20s"));
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, {{"task", "x"}});
  raw_client reader{server.port()};
  reader.ask("/v1/runs/" + run + "/events", who.token());
  reader.read_until("id: 3\n");
  server.process().signal(SIGTERM);
  const auto all = reader.read_until("\r\n0\r\n\r\n");
  const auto events = events_of(all);
  REQUIRE_FALSE(events.empty());
  CHECK(events.back().type == "run_finished");
  CHECK(server.process().wait().status == 0);
}

TEST_CASE("while it stops its port refuses connections") {
  const work_folder folder;
  write_server(folder, spoken_slowly(100, "30ms"), on_stop("finish", "20s"));
  served server{folder};
  const auto who = server.user();
  begin(who, {{"task", "x"}});
  server.process().signal(SIGTERM);
  CHECK(eventually([&] { return raw_client{server.port()}.ended(); }));
  CHECK_FALSE(server.process().has_ended());
  CHECK(server.process().wait().status == 0);
}

TEST_CASE("what it leaves goes on at the next start, in the same stream") {
  const work_folder folder;
  write_server(folder, spoken_slowly(60, "30ms"), on_stop("leave"));
  served server{folder};
  auto who = server.user();
  const auto run = begin(who, {{"task", "x"}});
  raw_client reader{server.port()};
  reader.ask("/v1/runs/" + run + "/events", who.token());
  reader.read_until("id: 9\n");
  server.process().signal(SIGTERM);
  const auto first = events_of(reader.read_until("\r\n0\r\n\r\n"));
  CHECK(server.process().wait().status == 0);
  CHECK(first.back().type != "run_finished");
  served next{folder};
  who = next.user();
  CHECK(await_end(who, run)["status"] == "completed");
  const auto stored =
      events_of("\r\n\r\n" + who.get("/v1/runs/" + run + "/events").body);
  std::string lines;
  for (const auto& x : stored) lines += x.data + "\n";
  checked_events(lines);
  for (std::size_t i = 0; i < first.size(); ++i)
    CHECK(first[i].data == stored[i].data);
}

TEST_CASE("what takes too long to finish is left, within the limit") {
  const work_folder folder;
  write_server(folder, sleeping_script, on_stop("finish", "1s"));
  served server{folder};
  const auto who = server.user();
  begin(who, {{"task", "x"}, {"approve", "all"}});
  REQUIRE(eventually([&] { return processes_in(folder).size() > 3; }));
  const auto start = std::chrono::steady_clock::now();
  server.process().signal(SIGTERM);
  const auto end = server.process().wait();
  CHECK(end.status == 0);
  CHECK(std::chrono::steady_clock::now() - start < 15s);
  CHECK(end.err.find("left as it is") != std::string::npos);
  CHECK(eventually([&] { return processes_in(folder).empty(); }));
}

TEST_CASE("told to cancel it cancels") {
  const work_folder folder;
  write_server(folder, sleeping_script, on_stop("cancel"));
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, {{"task", "x"}, {"approve", "all"}});
  REQUIRE(eventually([&] { return processes_in(folder).size() > 3; }));
  server.process().signal(SIGTERM);
  CHECK(server.process().wait().status == 0);
  served next{folder};
  CHECK(next.user().get("/v1/runs/" + run).json()["status"] == "cancelled");
}

TEST_CASE("however it is told to stop, no process is left behind") {
  const int rounds = repetitions(3, 10, 200);
  const std::vector<std::string> ways{"cancel", "leave", "finish"};
  // Children, grandchildren, a daemon that forked twice and is deaf.
  const std::string script = R"(
[[steps]]
[[steps.calls]]
tool = "bash"
arguments = { command = "(sleep 300 &) ; setsid sh -c 'trap \"\" TERM HUP INT; (sleep 300 & wait) & wait' & sleep 300" }
[[steps]]
text = "Done."
)";
  std::size_t seen = 0;
  for (int i = 0; i < rounds; ++i) {
    const auto& how = ways[static_cast<std::size_t>(i) % ways.size()];
    CAPTURE(i, how);
    const work_folder folder;
    write_server(folder, script, on_stop(how, "1s"));
    served server{folder};
    begin(server.user(), {{"task", "x"}, {"approve", "all"}});
    REQUIRE(eventually([&] { return processes_in(folder).size() > 5; }));
    seen += processes_in(folder).size();
    const auto start = std::chrono::steady_clock::now();
    server.process().signal(SIGTERM);
    CHECK(server.process().wait().status == 0);
    CHECK(std::chrono::steady_clock::now() - start < 20s);
    CHECK(eventually([&] { return processes_in(folder).empty(); }));
  }
  std::printf("R10: %d stops, %zu processes were there, none is left\n", rounds,
              seen);
}

TEST_CASE("a run that waits for a person waits again after kill -9") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "note.txt", content = "hello" }
[[steps]]
text = "Done."
)");
  served server{folder};
  const auto run = begin(server.user(), {{"task", "x"}});
  const auto waits = [&] {
    const auto all = server.user().get("/v1/proposals").json()["proposals"];
    return all.size() == 1 ? all[0]["proposal_id"].get<std::string>() : "";
  };
  REQUIRE(eventually([&] { return !waits().empty(); }));
  const auto before = waits();
  server.kill_and_restart();
  REQUIRE(eventually([&] { return !waits().empty(); }));
  CHECK(waits() == before);
  CHECK(server.user()
            .post("/v1/proposals/" + before, {{"decision", "approve"}})
            .status == 200);
  CHECK(await_end(server.user(), run)["status"] == "completed");
  CHECK(folder.read("note.txt") == "hello");
}

TEST_CASE("a run of the command line is not the server's to go on with") {
  const work_folder folder;
  write_server(folder, spoken_slowly(200, "50ms"));
  std::string run;
  {
    program cli{installed_riffle(),
                folder,
                {"run", "--config", "riffle.toml", "--output", "jsonl", "x"}};
    REQUIRE(eventually(
        [&] { return cli.out().find("llm_token") != std::string::npos; }));
    run = json::parse(cli.out().substr(0, cli.out().find('\n')))["run_id"];
    cli.signal(SIGKILL);
    cli.wait();
  }
  served server{folder};
  const auto who = server.user();
  CHECK(who.get("/v1/runs/" + run).json()["status"] == "interrupted");
  CHECK(who.post("/v1/runs/" + run + "/resume", json::object()).status == 202);
  CHECK(who.post("/v1/runs/" + run + "/cancel", json::object()).status == 202);
  CHECK(await_end(who, run)["status"] == "cancelled");
}

TEST_CASE("systemd is told when it is ready, and hands it its socket") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n");
  const auto path = (folder.path() / "notify").string();
  const int notify = ::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  path.copy(at.sun_path, sizeof at.sun_path - 1);
  REQUIRE(::bind(notify, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  const auto heard = [&](std::chrono::milliseconds limit) -> std::string {
    pollfd one{notify, POLLIN, 0};
    if (::poll(&one, 1, static_cast<int>(limit.count())) <= 0) return "";
    char text[256];
    const auto n = ::recv(notify, text, sizeof text, 0);
    return {text, static_cast<std::size_t>(std::max<ssize_t>(n, 0))};
  };
  served server{folder, {}, {{"NOTIFY_SOCKET", path}}};
  CHECK(heard(20s).find("READY=1") != std::string::npos);
  server.process().signal(SIGTERM);
  std::string all;
  REQUIRE(eventually([&] {
    all += heard(100ms);
    return all.find("STOPPING=1") != std::string::npos;
  }));
  CHECK(server.process().wait().status == 0);
  ::close(notify);
}

TEST_CASE("metrics count what goes on") {
  const work_folder folder;
  write_server(folder, spoken_slowly(20, "20ms"));
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, {{"task", "x"}});
  raw_client reader{server.port()};
  reader.ask("/v1/runs/" + run + "/events", who.token());
  reader.read_until("id: 3\n");
  CHECK(eventually([&] {
    return who.get("/metrics").body.find("riffle_streams 1\n") !=
           std::string::npos;
  }));
  CHECK(who.get("/metrics").body.find("riffle_runs_active 1\n") !=
        std::string::npos);
  await_end(who, run);
  const auto all = who.get("/metrics").body;
  CHECK(all.find("riffle_runs_active 0\n") != std::string::npos);
  INFO(all);
  for (const auto* line :
       {"gen_ai_invoke_agent_duration_seconds_count{gen_ai_agent_name="
        "\"default\"} 1\n",
        "gen_ai_client_operation_duration_seconds_count{",
        "gen_ai_client_operation_time_to_first_chunk_seconds_count{",
        "gen_ai_client_operation_time_per_output_chunk_seconds_count{",
        "\nhttp_server_request_duration_seconds_count{"})
    CHECK(all.find(line) != std::string::npos);
}

TEST_CASE("a log for programs names run, session and call") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "glob"
arguments = { pattern = "*" }
[[steps]]
text = "Done."
)",
               "[runtime.log]\nformat = \"json\"\n");
  served server{folder};
  const auto run = begin(server.user(), {{"task", "x"}, {"session_id", "s"}});
  await_end(server.user(), run);
  int begins = 0;
  int ends = 0;
  int told = 0;
  std::istringstream lines{server.process().err()};
  for (std::string line; std::getline(lines, line);) {
    const auto x = json::parse(line, nullptr, false);
    if (!x.is_object() || x.value("run_id", "") != run) continue;
    CHECK(x["session_id"] == "s");
    const std::string text = x["message"];
    const bool of_call = x.contains("call_id");
    if (of_call) CHECK(x["tool"] == "glob");
    if (text == "token default starts " + run) ++told;
    if (text.find(" begins: ") != std::string::npos) ++begins;
    if (text.find(" ended: ") != std::string::npos) ++ends;
  }
  CHECK(begins == 2);
  CHECK(ends == 2);
  CHECK(told == 1);
}

TEST_CASE(
    "a client that takes nothing is cut off, delays nobody, and resumes") {
  const work_folder folder;
  std::string text;
  for (int i = 0; i < 2000; ++i) text += std::string(2047, 'x') + " ";
  write_server(folder, "chunk = 65536\n[[steps]]\ntext = \"" + text + "\"\n",
               "[server]\nstall_timeout = \"5s\"\n[agents.default]\n"
               "max_turn_bytes = 0\n");
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, {{"task", "x"}});
  const auto path = "/v1/runs/" + run + "/events";
  raw_client stalled{server.port(), 4096};
  stalled.ask(path, who.token());
  const auto is_cut = [&] {
    return who.get("/metrics").body.find("riffle_streams_stalled 1\n") !=
           std::string::npos;
  };
  // Another one has the whole run while the first is still waited for.
  raw_client lively{server.port()};
  lively.ask(path, who.token());
  const auto live = lively.read_until("event: run_finished");
  CHECK(live.find("event: run_finished") != std::string::npos);
  CHECK_FALSE(is_cut());
  await_end(who, run);
  const auto whole = events_of("\r\n\r\n" + who.get(path).body);
  REQUIRE_FALSE(whole.empty());
  CHECK(whole.back().type == "run_finished");
  CHECK(eventually(is_cut));
  std::string got;
  while (!stalled.ended()) got += stalled.read(2s);
  auto events = events_of(got);
  REQUIRE_FALSE(events.empty());
  CHECK(events.back().type != "run_finished");
  const auto rest = who.get(path, {"Last-Event-ID: " + events.back().id});
  for (auto& x : events_of("\r\n\r\n" + rest.body))
    events.push_back(std::move(x));
  REQUIRE(events.size() == whole.size());
  for (std::size_t i = 0; i < whole.size(); ++i) {
    CHECK(events[i].id == whole[i].id);
    CHECK(events[i].data == whole[i].data);
  }
}

TEST_CASE("a silent stream has a heartbeat") {
  const work_folder folder;
  write_server(folder, R"(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "a", content = "b" }
)",
               "[server]\nheartbeat = \"1s\"\nretry = \"3s\"\n");
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who, {{"task", "x"}});
  raw_client reader{server.port()};
  reader.ask("/v1/runs/" + run + "/events", who.token());
  CHECK(reader.read_until("\n:\n\n").find("retry: 3000\n\n") !=
        std::string::npos);
}
