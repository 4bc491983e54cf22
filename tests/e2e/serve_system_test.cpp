// SPDX-License-Identifier: MIT
// `riffle serve` with TLS, and as systemd runs it.
#include <algorithm>
#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <netinet/in.h>
#include <sstream>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <curl/curl.h>

#include "messages/time.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/base/digest.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using ::riffle::system_wall_time;
using ::riffle::wall_time;
namespace fs = std::filesystem;

namespace {

const std::string script = "[[steps]]\ntext = \"Done.\"\n";

bool run(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;
}

std::string fetch(const std::string& url, const std::string& authority,
                  const std::string& token = {},
                  const std::string& body_to_post = {}) {
  const std::unique_ptr<CURL, void (*)(CURL*)> easy{curl_easy_init(),
                                                    curl_easy_cleanup};
  const auto who = "Authorization: Bearer " + token;
  curl_slist* list = curl_slist_append(nullptr, "Accept: */*");
  if (!token.empty()) list = curl_slist_append(list, who.c_str());
  if (!body_to_post.empty()) {
    list = curl_slist_append(list, "Content-Type: application/json");
    curl_easy_setopt(easy.get(), CURLOPT_POSTFIELDS, body_to_post.c_str());
  }
  const std::unique_ptr<curl_slist, void (*)(curl_slist*)> fields{
      list, curl_slist_free_all};
  std::string body;
  curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_PROXY, "");
  curl_easy_setopt(easy.get(), CURLOPT_TIMEOUT, 30L);
  curl_easy_setopt(easy.get(), CURLOPT_HTTPHEADER, fields.get());
  curl_easy_setopt(easy.get(), CURLOPT_CAINFO, authority.c_str());
  curl_easy_setopt(easy.get(), CURLOPT_WRITEDATA, &body);
  curl_easy_setopt(
      easy.get(), CURLOPT_WRITEFUNCTION,
      +[](char* bytes, std::size_t, std::size_t size, void* to) {
        static_cast<std::string*>(to)->append(bytes, size);
        return size;
      });
  return curl_easy_perform(easy.get()) == CURLE_OK ? body : "failed";
}

/// NAME.pem and NAME.key, in the folder.
void make_certificate(const work_folder& folder, const std::string& name) {
  const auto at = (folder.path() / name).string();
  REQUIRE(
      run("openssl req -x509 -newkey ec -pkeyopt "
          "ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost "
          "-addext subjectAltName=IP:127.0.0.1 -keyout " +
          at + ".key -out " + at + ".pem"));
}

}  // namespace

TEST_CASE("with a certificate it speaks TLS, and nothing else") {
  const work_folder folder;
  make_certificate(folder, "cert");
  const auto authority = (folder.path() / "cert.pem").string();
  write_server(folder, script,
               "[server.tls]\ncertificate = \"cert.pem\"\nkey = "
               "\"cert.key\"\n");
  served server{folder};
  CHECK(server.process().out().find("https://127.0.0.1:") != std::string::npos);
  const auto url = "https://127.0.0.1:" + std::to_string(server.port());
  CHECK(fetch(url + "/healthz", authority) == "ok\n");
  CHECK(server.user("").get("/healthz").status == 0);
  // A client that goes in the middle of its handshake.
  {
    const raw_client gone{server.port()};
  }
  CHECK(fetch(url + "/readyz", authority) == "ready\n");
  folder.write("cert.key", "no key");
  const auto refused = ::riffle::testing::riffle(
      folder, {"serve", "--config", "riffle.toml", "--listen", "127.0.0.1:0"});
  CHECK(refused.status == 2);
  CHECK(refused.err.find("server.tls.key") != std::string::npos);
}

TEST_CASE("a renewed certificate counts at SIGHUP, streams go on meanwhile") {
  const work_folder folder;
  make_certificate(folder, "cert");
  fs::copy(folder.path() / "cert.pem", folder.path() / "first.pem");
  std::string text;
  for (int i = 0; i < 100; ++i) text += "words ";
  write_server(
      folder,
      "chunk = 6\ndelay = \"20ms\"\n[[steps]]\ntext = \"" + text + "\"\n",
      "[server.tls]\ncertificate = \"cert.pem\"\nkey = \"cert.key\"\n");
  served server{folder};
  const auto who = server.user();
  const auto url = "https://127.0.0.1:" + std::to_string(server.port());
  const auto first = (folder.path() / "first.pem").string();
  const auto second = (folder.path() / "cert.pem").string();
  const auto begun =
      fetch(url + "/v1/runs", first, who.token(), R"({"task": "x"})");
  INFO(begun);
  const std::string run = json::parse(begun)["run_id"];
  std::string told;
  std::thread reader{[&] {
    told = fetch(url + "/v1/runs/" + run + "/events", first, who.token());
  }};
  CHECK(fetch(url + "/healthz", first) == "ok\n");
  make_certificate(folder, "cert");
  CHECK(fetch(url + "/healthz", second) == "failed");
  server.process().signal(SIGHUP);
  CHECK(eventually([&] { return fetch(url + "/healthz", second) == "ok\n"; }));
  CHECK(fetch(url + "/healthz", first) == "failed");
  // What is no certificate leaves it as it was, and is said.
  folder.write("cert.key", "no key");
  server.process().signal(SIGHUP);
  CHECK(eventually([&] {
    const auto said = server.process().err();
    return said.find("the certificate stays as it was") != std::string::npos &&
           said.find("server.tls.key") != std::string::npos;
  }));
  CHECK(fetch(url + "/healthz", second) == "ok\n");
  reader.join();
  const auto events = events_of("\r\n\r\n" + told);
  REQUIRE_FALSE(events.empty());
  CHECK(events.back().type == "run_finished");
}

TEST_CASE("what is read again must be trusted as what was read first") {
  const work_folder folder;
  write_server(folder, script);
  const std::map<std::string, std::string> found{{"RIFFLE_CONFIG", ""}};
  REQUIRE(::riffle::testing::riffle(folder, {"config", "trust", "--yes"}, found)
              .status == 0);
  program server{
      installed_riffle(), folder, {"serve", "--listen", "127.0.0.1:0"}, found};
  REQUIRE(eventually(
      [&] { return server.out().find("token: in ") != std::string::npos; }));
  write_server(
      folder, script,
      "[server.tokens.new]\nhash = \"" + ::riffle::sha256("new") + "\"\n");
  server.signal(SIGHUP);
  CHECK(eventually([&] {
    return server.err().find("Nothing was read again") != std::string::npos;
  }));
  CHECK(server.err().find("left out") == std::string::npos);
  REQUIRE(::riffle::testing::riffle(folder, {"config", "trust", "--yes"}, found)
              .status == 0);
  server.signal(SIGHUP);
  CHECK(eventually([&] {
    return server.err().find("read again: tokens") != std::string::npos;
  }));
}

TEST_CASE("a socket that is handed over is served, and outlives the server") {
  const work_folder folder;
  write_server(folder, script);
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  REQUIRE(::bind(listening, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0);
  REQUIRE(::listen(listening, 16) == 0);
  socklen_t size = sizeof at;
  ::getsockname(listening, reinterpret_cast<sockaddr*>(&at), &size);
  const auto port = ntohs(at.sin_port);
  const auto binary = installed_riffle().string();
  const auto home = folder.path().string();
  const auto start = [&] {
    const auto pid = ::fork();
    if (pid != 0) return pid;
    if (listening == 3)
      ::fcntl(3, F_SETFD, 0);
    else
      ::dup2(listening, 3);
    ::setenv("LISTEN_FDS", "1", 1);
    ::setenv("LISTEN_PID", std::to_string(::getpid()).c_str(), 1);
    if (::chdir(home.c_str()) != 0) ::_exit(1);
    ::execl(binary.c_str(), "riffle", "serve", "--config", "riffle.toml",
            nullptr);
    ::_exit(127);
  };
  const http_user stranger{port, ""};
  for (int i = 0; i < 2; ++i) {
    const auto pid = start();
    // Who comes before it is there waits, and is not refused.
    CHECK(stranger.get("/healthz").body == "ok\n");
    ::kill(pid, SIGTERM);
    int status = 0;
    ::waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status));
    CHECK(WEXITSTATUS(status) == 0);
    CHECK_FALSE(raw_client{port}.ended());
  }
  ::close(listening);
}

TEST_CASE("systemd takes the unit files") {
  if (!run("systemd-analyze --version"))
    return skip("systemd-analyze is missing");
  const work_folder folder;
  for (const std::string name : {"riffle.service", "riffle.socket"}) {
    std::ifstream in{fs::path{RIFFLE_SOURCE_DIR} / "configs" / name};
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    REQUIRE_FALSE(text.empty());
    const std::string program = "/usr/bin/riffle";
    if (const auto at = text.find(program); at != std::string::npos)
      text.replace(at, program.size(), installed_riffle().string());
    folder.write(name, text);
  }
  const auto verify = [&](const std::string& name) {
    const auto log = (folder.path() / "log").string();
    const auto status =
        std::system(("systemd-analyze verify '" +
                     (folder.path() / name).string() + "' >" + log + " 2>&1")
                        .c_str());
    std::istringstream lines{folder.read("log")};
    std::string ours;
    for (std::string line; std::getline(lines, line);)
      if (line.find("riffle") != std::string::npos) ours += line + "\n";
    INFO(status);
    return ours;
  };
  CHECK(verify("riffle.service") == "");
  CHECK(verify("riffle.socket") == "");
  folder.write("riffle.service", "[Service]\nType=nonsense\n");
  CHECK(verify("riffle.service") != "");
}

namespace {

/// From when to when a run was worked on.
struct went_on {
  wall_time from{};
  wall_time to{};
};

went_on since(wall_time begin, const std::vector<json>& events) {
  went_on out;
  for (const auto& x : events) {
    REQUIRE(parse(x["timestamp"].get<std::string>(), out.to));
    if (out.from.us == 0 && out.to > begin) out.from = out.to;
  }
  return out;
}

}  // namespace

TEST_CASE("many runs that were cut off go on at the start, each once") {
  const work_folder folder;
  std::string text;
  for (int i = 0; i < 40; ++i) text += "words ";
  write_server(
      folder,
      "chunk = 6\ndelay = \"30ms\"\n[[steps]]\ntext = \"" + text + "\"\n",
      "[server]\nrecover_at_once = 2\n");
  served server{folder};
  std::vector<std::string> runs;
  for (int i = 0; i < 12; ++i) {
    const auto x = server.user().post("/v1/runs", {{"task", "x"}});
    REQUIRE(x.status == 202);
    runs.push_back(x.json()["run_id"]);
  }
  const auto killed = system_wall_time();
  server.kill_and_restart();
  std::vector<went_on> all;
  for (const auto& run : runs) {
    CHECK(await_end(server.user(), run)["status"] == "completed");
    std::string lines;
    for (const auto& x :
         events_of("\r\n\r\n" +
                   server.user().get("/v1/runs/" + run + "/events").body))
      lines += x.data + "\n";
    const auto events = checked_events(lines);
    CHECK(of_type(events, "run_finished").size() == 1);
    all.push_back(since(killed, events));
  }
  // A few at a time: when one begins, one other at most began within the last
  // second and has not ended.
  for (const auto& x : all)
    CHECK(std::ranges::count_if(all, [&](const went_on& y) {
            return &y != &x && y.from <= x.from && y.to > x.from &&
                   x.from.us - y.from.us < 1'000'000;
          }) < 2);
}

TEST_CASE("where a run that was cut off ends the next one goes on") {
  const work_folder folder;
  write_server(folder,
               "chunk = 6\ndelay = \"100ms\"\n[[steps]]\ntext = "
               "\"words words words words words \"\n",
               "[server]\nrecover_at_once = 2\n");
  served server{folder};
  std::vector<std::string> runs;
  for (int i = 0; i < 16; ++i) {
    const auto x = server.user().post("/v1/runs", {{"task", "x"}});
    REQUIRE(x.status == 202);
    runs.push_back(x.json()["run_id"]);
  }
  server.kill_and_restart();
  const auto start = std::chrono::steady_clock::now();
  for (const auto& run : runs)
    CHECK(await_end(server.user(), run)["status"] == "completed");
  // Eight times half a second; with a pause of two seconds after each pair it
  // would be fourteen.
  CHECK(std::chrono::steady_clock::now() - start < 10s);
}

TEST_CASE("a token is made with what the configuration holds of it") {
  const work_folder folder;
  const auto x = ::riffle::testing::riffle(folder, {"serve", "token", "ci"});
  CHECK(x.status == 0);
  const auto token = x.out.substr(7, 64);
  CHECK(x.out.find("[server.tokens.ci]") != std::string::npos);
  CHECK(x.out.find(::riffle::sha256(token)) != std::string::npos);
}
