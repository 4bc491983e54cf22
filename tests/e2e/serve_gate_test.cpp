// SPDX-License-Identifier: MIT
// `riffle serve` and those who may not: tokens, names, sizes, limits.
#include <fstream>
#include <sys/stat.h>

#include "runtime/base/digest.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string script = "[[steps]]\ntext = \"Done.\"\n";

std::string code_of(const http_answer& x) {
  CHECK(x.head.find("application/problem+json") != std::string::npos);
  const auto body = x.json();
  CHECK(body["status"] == x.status);
  CHECK_FALSE(body["detail"].get<std::string>().empty());
  return body["code"];
}

std::string status_line(raw_client& x, std::string_view request) {
  x.send(request);
  const auto all = x.read_until("\r\n\r\n", 10s);
  return all.substr(0, all.find("\r\n"));
}

/// Sockets that listen, as /proc has them: "0100007F:1D09".
bool listens_at(const std::string& address,
                const char* table = "/proc/net/tcp") {
  std::ifstream in{table};
  for (std::string line; std::getline(in, line);)
    if (line.find(address) != std::string::npos &&
        line.find(" 0A ") != std::string::npos)
      return true;
  return false;
}

}  // namespace

TEST_CASE("every route but health and the document wants a token") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto stranger = server.user("");
  for (const auto* path :
       {"/v1/runs", "/v1/runs/x", "/v1/runs/x/events", "/v1/sessions",
        "/v1/sessions/x", "/v1/proposals", "/v1/tools", "/v1/agents",
        "/metrics", "/v1/none", "/"}) {
    CAPTURE(path);
    CHECK(stranger.get(path).status == 401);
    CHECK(server.user("wrong").get(path).status == 401);
  }
  CHECK(stranger.post("/v1/runs", {{"task", "x"}}).status == 401);
  CHECK(stranger.get("/healthz").body == "ok\n");
  CHECK(stranger.get("/readyz").body == "ready\n");
  CHECK(stranger.get("/openapi.json").json().contains("paths"));
  CHECK(stranger.get("/v1/runs").head.find("WWW-Authenticate: Bearer") !=
        std::string::npos);
  CHECK(server.user().get("/v1/runs").status == 200);
}

TEST_CASE("it listens at loopback alone, and its token is nobody else's") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  char port[8];
  std::snprintf(port, sizeof port, "%04X", server.port());
  CHECK(listens_at("0100007F:" + std::string{port}));
  CHECK_FALSE(listens_at("00000000:" + std::string{port}));
  CHECK_FALSE(listens_at(":" + std::string{port}, "/proc/net/tcp6"));
  struct ::stat about{};
  const auto file = folder.path() / "data" / "server" / "token";
  REQUIRE(::stat(file.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777U) == 0600U);
  CHECK(server.process().out().find(file.string()) != std::string::npos);
  CHECK(server.process().out().find(server.user().token()) ==
        std::string::npos);
}

TEST_CASE("a token of a variable counts instead of the file") {
  const work_folder folder;
  write_server(folder, script, "[server]\ntoken_env = \"MY_TOKEN\"\n");
  served server{folder, {}, {{"MY_TOKEN", "canary-token-1"}}};
  CHECK(server.user("canary-token-1").get("/v1/runs").status == 200);
  CHECK(server.process().out().find("$MY_TOKEN") != std::string::npos);
  CHECK(folder.read("data/server/token").empty());
}

TEST_CASE("names, pages and types that are not ours are refused") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto who = server.user();
  CHECK(who.get("/v1/runs", {"Host: evil.example"}).status == 421);
  CHECK(who.get("/v1/runs", {"Origin: null"}).status == 403);
  CHECK(who.get("/v1/runs", {"Origin: http://evil.example"}).status == 403);
  CHECK(code_of(who.get("/v1/runs", {"Origin: http://evil.example"})) ==
        "invalid_request");
  const auto same = "http://127.0.0.1:" + std::to_string(server.port());
  const auto good = who.get("/v1/runs", {"Origin: " + same});
  CHECK(good.status == 200);
  CHECK(good.head.find("Access-Control") == std::string::npos);
  for (const auto* type : {"text/plain", "application/x-www-form-urlencoded",
                           "multipart/form-data", "application/jsonx", ""})
    CHECK(who.send("POST", "/v1/runs", R"({"task":"x"})",
                   {std::string{"Content-Type: "} + type})
              .status == 415);
}

TEST_CASE("pages of an allowed origin may use it") {
  const work_folder folder;
  write_server(folder, script,
               "[server]\norigins = [\"https://app.example\"]\n"
               "hosts = [\"riffle.example\"]\n");
  served server{folder};
  const auto who = server.user();
  const auto x = who.get("/v1/runs", {"Origin: https://app.example"});
  CHECK(x.status == 200);
  CHECK(x.head.find("Access-Control-Allow-Origin: https://app.example") !=
        std::string::npos);
  const auto before = server.user("").send("OPTIONS", "/v1/runs", {},
                                           {"Origin: https://app.example"});
  CHECK(before.status == 204);
  CHECK(before.head.find("Access-Control-Allow-Methods") != std::string::npos);
  CHECK(who.get("/v1/runs", {"Host: riffle.example"}).status == 200);
}

TEST_CASE("a browser logs in, and its cookie does not end with the process") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto token = server.user().token();
  const auto stranger = server.user("");
  CHECK(stranger.post("/v1/login", {{"token", "wrong"}}).status == 401);
  CHECK(stranger.post("/v1/login", json::object()).status == 400);
  const auto x = stranger.post("/v1/login", {{"token", token}});
  REQUIRE(x.status == 204);
  const auto at = x.head.find("Set-Cookie: riffle=");
  REQUIRE(at != std::string::npos);
  const auto line = x.head.substr(at, x.head.find("\r\n", at) - at);
  CHECK(line.find("HttpOnly") != std::string::npos);
  CHECK(line.find("SameSite=Strict") != std::string::npos);
  CHECK(line.find(token) == std::string::npos);
  const auto cookie = "Cookie: " + line.substr(12, line.find(';') - 12);
  CHECK(stranger.get("/v1/runs", {cookie}).status == 200);
  CHECK(stranger.get("/v1/runs", {cookie + "x"}).status == 401);
  server.kill_and_restart();
  CHECK(server.user("").get("/v1/runs", {cookie}).status == 200);
  // Logged out is logged out, wherever it was copied to, after a restart too.
  const auto out = stranger.post("/v1/logout", json::object(), {cookie});
  CHECK(out.status == 204);
  CHECK(out.head.find("Max-Age=0") != std::string::npos);
  CHECK(stranger.get("/v1/runs", {cookie}).status == 401);
  server.kill_and_restart();
  CHECK(server.user("").get("/v1/runs", {cookie}).status == 401);
  CHECK(server.user(token).get("/v1/runs").status == 200);
}

TEST_CASE("what a proxy says counts if it is trusted, and no other's") {
  const work_folder folder;
  std::string more = "[server]\nhosts = [\"riffle.example\"]\n";
  const auto* proxies = GENERATE("127.0.0.0/8", "10.0.0.0/8", "");
  if (*proxies) more += std::string{"trusted_proxies = [\""} + proxies + "\"]";
  const bool trusted = std::string_view{proxies}.starts_with("127.");
  write_server(folder, script, more);
  served server{folder};
  const auto who = server.user();
  const auto login = server.user("").post("/v1/login", {{"token", who.token()}},
                                          {"X-Forwarded-Proto: https"});
  REQUIRE(login.status == 204);
  CHECK((login.head.find("; Secure") != std::string::npos) == trusted);
  const auto as = [&](const std::string& host) {
    return who.get("/v1/runs", {"X-Forwarded-Host: " + host}).status;
  };
  CHECK(as("riffle.example") == 200);
  CHECK((as("evil.example") == 200) == !trusted);
}

TEST_CASE("each token has its roles, its agents and its own sessions") {
  const work_folder folder;
  write_server(
      folder, script,
      "[agents.writer]\n" + token_table("ann") + token_table("bob") +
          token_table("eye", "roles = [\"read\"]\nsessions = \"all\"\n") +
          token_table("few", "agents = [\"writer\"]\n"));
  served server{folder};
  const auto ann = server.user("ann");
  const auto bob = server.user("bob");
  const auto eye = server.user("eye");
  const auto x = ann.post("/v1/runs", {{"task", "x"}, {"session_id", "a"}});
  REQUIRE(x.status == 202);
  const std::string run = x.json()["run_id"];
  await_end(ann, run);
  // Another's is not there, whatever is asked of it.
  CHECK(bob.get("/v1/runs/" + run).status == 404);
  CHECK(bob.get("/v1/runs/" + run + "/events").status == 404);
  CHECK(bob.post("/v1/runs/" + run + "/cancel", json::object()).status == 404);
  CHECK(bob.get("/v1/sessions/a").status == 404);
  CHECK(bob.get("/v1/sessions/a/events").status == 404);
  CHECK(bob.send("DELETE", "/v1/sessions/a", {}, {}).status == 404);
  CHECK(bob.get("/v1/sessions/a/state/x").status == 404);
  CHECK(bob.post("/v1/sessions/a/runs", {{"task", "x"}}).status == 404);
  CHECK(bob.get("/v1/runs").json()["runs"].empty());
  CHECK(bob.get("/v1/sessions").json()["sessions"].empty());
  CHECK(ann.get("/v1/sessions").json()["sessions"].size() == 1);
  CHECK(eye.get("/v1/runs").json()["runs"].size() == 1);
  CHECK(server.user().get("/v1/runs/" + run).status == 200);
  CHECK(eye.post("/v1/runs", {{"task", "x"}}).status == 403);
  CHECK(eye.post("/v1/proposals/x", {{"decision", "deny"}}).status == 403);
  const auto few = server.user("few");
  CHECK(few.post("/v1/runs", {{"task", "x"}}).status == 400);
  CHECK(few.post("/v1/runs", {{"task", "x"}, {"agent", "writer"}}).status ==
        202);
  CHECK(few.get("/v1/agents").json()["agents"].size() == 1);
}

TEST_CASE("tokens are read again at SIGHUP, and what cannot be is said") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  CHECK(server.user("new").get("/v1/runs").status == 401);
  write_server(folder, script,
               "[server]\nstall_timeout = \"9s\"\n[server.tokens.new]\nhash = "
               "\"" +
                   ::riffle::sha256("new") + "\"\n");
  server.process().signal(SIGHUP);
  CHECK(eventually(
      [&] { return server.user("new").get("/v1/runs").status == 200; }));
  CHECK(eventually([&] {
    return server.process().err().find("server.stall_timeout has changed") !=
           std::string::npos;
  }));
  folder.write("riffle.toml", "nonsense = 1\n");
  server.process().signal(SIGHUP);
  CHECK(eventually([&] {
    return server.process().err().find("nothing was read again") !=
           std::string::npos;
  }));
  CHECK(server.process().err().find("nothing was started") ==
        std::string::npos);
  CHECK(server.user("new").get("/v1/runs").status == 200);
}

TEST_CASE("without a token only loopback is served") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder, {"--no-token"}};
  CHECK(server.user("").get("/v1/runs").status == 200);
  CHECK(server.process().err().find("--no-token") != std::string::npos);
  const auto refused = ::riffle::testing::riffle(
      folder, {"serve", "--config", "riffle.toml", "--no-token", "--listen",
               "0.0.0.0:0"});
  CHECK(refused.status == 2);
  CHECK(refused.err.find("loopback") != std::string::npos);
}

TEST_CASE("a port that is taken ends the start, and names the key") {
  const work_folder folder;
  write_server(folder, script);
  served server{folder};
  const auto second = ::riffle::testing::riffle(
      folder, {"serve", "--config", "riffle.toml", "--listen",
               "127.0.0.1:" + std::to_string(server.port())});
  CHECK(second.status == 2);
  CHECK(second.err.find("server.listen") != std::string::npos);
}

TEST_CASE("what is too large is refused, and the server goes on") {
  const work_folder folder;
  write_server(folder, script,
               "[server.limits]\nheader_bytes = 2048\nbody_bytes = 4096\n"
               "attachment_bytes = 8192\n");
  served server{folder};
  const auto who = server.user();
  CHECK(who.get("/v1/runs", {"X: " + std::string(4000, 'a')}).status == 431);
  const std::string type = "Content-Type: application/json";
  CHECK(who.send("POST", "/v1/proposals/x", std::string(5000, ' '), {type})
            .status == 413);
  CHECK(who.send("POST", "/v1/runs", std::string(9000, ' '), {type}).status ==
        413);
  CHECK(who.send("POST", "/v1/runs", std::string(5000, ' '), {type}).status ==
        413);
  CHECK(who.send("POST", "/v1/runs", std::string(3000, ' '), {type}).status ==
        400);
  // In chunks nobody says how much will come.
  raw_client chunked{server.port()};
  chunked.send(
      "POST /v1/runs HTTP/1.1\r\nHost: localhost\r\nAuthorization: "
      "Bearer " +
      who.token() +
      "\r\nContent-Type: application/json"
      "\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 20; ++i)
    chunked.send("400\r\n" + std::string(1024, ' ') + "\r\n");
  CHECK(chunked.read_until("\r\n").find("413") != std::string::npos);
  CHECK(server.user("").get("/healthz").status == 200);
}

TEST_CASE("what is no HTTP gets an answer, or the end") {
  const work_folder folder;
  write_server(folder, script, "[server]\nrequest_timeout = \"1s\"\n");
  served server{folder};
  for (const auto* garbage :
       {"GARBAGE\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
        "GET / HTTP/1.1\r\nA\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
        "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "GET http:// HTTP/1.1\r\nHost: localhost\r\n\r\n",
        "\x16\x03\x01\x02\x01\x01\x01\xfc\x03\x03\r\n\r\n"}) {
    CAPTURE(garbage);
    raw_client x{server.port()};
    const auto line = status_line(x, garbage);
    CHECK(line.find(" 400 ") != std::string::npos);
  }
  // Begun and not finished: its time is over some time.
  raw_client slow{server.port()};
  slow.send(
      "POST /v1/login HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
      "application/json\r\nContent-Length: 10\r\n\r\n{");
  CHECK(eventually([&] {
    slow.read(100ms);
    return slow.ended();
  }));
  CHECK(server.user("").get("/healthz").status == 200);
}

TEST_CASE("limits hold for each token, and say when to come back") {
  const work_folder folder;
  write_server(folder, "chunk = 1\ndelay = \"200ms\"\n" + script,
               "[server.limits]\nrequests_per_second = 20\n"
               "streams_per_token = 2\nconnections = 30\nruns = 1\n");
  served server{folder};
  const auto who = server.user();
  const auto x = who.post("/v1/runs", {{"task", "x"}});
  REQUIRE(x.status == 202);
  const auto full = who.post("/v1/runs", {{"task", "x"}});
  CHECK(full.status == 429);
  CHECK(full.head.find("Retry-After") != std::string::npos);
  const auto path =
      "/v1/runs/" + x.json()["run_id"].get<std::string>() + "/events";
  raw_client a{server.port()};
  raw_client b{server.port()};
  a.ask(path, who.token());
  b.ask(path, who.token());
  a.read_until("id: 1\n");
  b.read_until("id: 1\n");
  CHECK(who.get(path).status == 429);
  int refused = 0;
  for (int i = 0; i < 60; ++i)
    if (who.get("/v1/agents").status == 429) ++refused;
  CHECK(refused > 10);
  CHECK(server.user("").get("/healthz").status == 200);
  std::vector<std::unique_ptr<raw_client>> many;
  for (int i = 0; i < 40; ++i)
    many.push_back(std::make_unique<raw_client>(server.port()));
  CHECK(many.back()->read_until("\r\n").find("503") != std::string::npos);
}
