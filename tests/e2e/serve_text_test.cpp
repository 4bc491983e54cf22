// SPDX-License-Identifier: MIT
// What a model, a tool or a provider says reaches clients and logs as text: no
// byte of it is a frame, a line, a colour or a secret.
#include <algorithm>
#include <filesystem>

#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string key = "sk-canary-5b1c9e0d7a4f4c3e8d2b6a190f7e5c3d";

std::string begin(const http_user& who, const json& body) {
  const auto x = who.post("/v1/runs", body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

bool has(const std::string& text, const std::string& what) {
  return text.find(what) != std::string::npos;
}

/// But for line ends.
bool has_control(const std::string& text) {
  return std::ranges::any_of(text, [](unsigned char c) {
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
  });
}

}  // namespace

TEST_CASE("no text of a model or a tool is a frame of its own, nor a colour") {
  const work_folder folder;
  const std::string frame =
      R"(\r\n\r\nid: 999\nevent: run_finished\ndata: {}\n\n\u001b[31m\u0000x\u2028\u0085)";
  write_server(folder,
               R"(
[[steps]]
text = "I say )" + frame.substr(0, frame.find(R"(\u0000)")) +
                   R"("
[[steps.calls]]
tool = "bash"
arguments = { command = "printf 'a\\r\\n\\r\\nid: 999\\nevent: run_finished\\ndata: {}\\n\\n\\033[31m\\000\\007end'; printf '\\033]0;t\\007\\r\\n' >&2; exit 3" }
[[steps]]
text = "Done."
)",
               "[tools.bash]\napproval = \"allow\"\n[runtime.log]\nlevel = "
               "\"debug\"\n");
  served server{folder};
  const auto who = server.user();
  const auto run =
      begin(who, {{"task", "x\r\n\r\nid: 7\x1b[2J"}, {"session_id", "s"}});
  CHECK(await_end(who, run)["status"] == "completed");
  for (const auto& path :
       {"/v1/runs/" + run + "/events", std::string{"/v1/sessions/s/events"}}) {
    CAPTURE(path);
    raw_client reader{server.port()};
    reader.ask(path, who.token());
    const auto all = events_of(reader.read_until("Done."));
    std::string lines;
    for (std::size_t i = 0; i < all.size(); ++i) {
      CHECK(all[i].id.ends_with(std::to_string(i + 1)));
      CHECK_FALSE(has_control(all[i].data));
      lines += all[i].data + "\n";
    }
    CHECK(has(lines, R"(\u001b[31m)"));
    CHECK(has(lines, "id: 999"));
  }
  const auto body = who.get("/v1/runs/" + run + "/events").body;
  CHECK_FALSE(has_control(body));
  CHECK_FALSE(has(body, "\nid: 999"));
  checked_events([&] {
    std::string lines;
    for (const auto& x : events_of("\r\n\r\n" + body)) lines += x.data + "\n";
    return lines;
  }());
  server.process().signal(SIGTERM);
  const auto end = server.process().wait();
  CHECK_FALSE(has_control(end.err));
  CHECK_FALSE(has(end.err, "\nid: "));
}

TEST_CASE("what stands in a request's line or header is no line of the log") {
  const work_folder folder;
  write_server(folder, "[[steps]]\ntext = \"Done.\"\n",
               "[runtime.log]\nlevel = \"debug\"\n");
  served server{folder};
  const auto who = server.user();
  CHECK(who.get("/v1/runs/%0a%1b%5b31mriffle").status == 404);
  CHECK(who.get("/v1/sessions/a%0d%0aX-Evil:%201/events").status >= 400);
  const auto x = who.get("/v1/runs", {"Last-Event-ID: \x1b[31m"});
  CHECK_FALSE(has(x.head, "X-Evil"));
  server.process().signal(SIGTERM);
  const auto end = server.process().wait();
  CHECK_FALSE(has_control(end.err));
}

TEST_CASE("no client of a server sees a provider's key, nor does its folder") {
  const std::vector<http_reply> replies{
      http_reply::json(
          R"({"error":{"message":"Incorrect API key: )" + key + R"("}})", 401),
      http_reply::text("<b>" + key, 403),
      http_reply::text(key, 302).header("Location", "/?key=" + key),
      http_reply::sse()
          .send(say("Let me see. "))
          .send("data: {\"error\":{\"message\":\"bad " + key + "\"}}\n\n"),
      http_reply{200, http_reply::framing::raw}.send(
          "HTTP/1.1 200 OK\r\nX-Key: " + key + "\r\nContent-Encoding: " + key +
          "\r\nContent-Length: 2\r\n\r\nxx")};
  for (std::size_t i = 0; i < replies.size(); ++i) {
    CAPTURE(i);
    const work_folder folder;
    http_server provider{replies[i]};
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n"
                 "[models.default]\nbase_url = \"" +
                     provider.url("/v1") +
                     "\"\napi_key_env = \"CANARY_KEY\"\n"
                     "retry = { max_attempts = 2, base = \"10ms\" }\n"
                     "[runtime.log]\nlevel = \"debug\"\n");
    served server{folder, {}, {{"CANARY_KEY", key}}};
    const auto who = server.user();
    const auto run = begin(who, {{"task", "x"}, {"session_id", "s"}});
    const auto end = await_end(who, run);
    REQUIRE_FALSE(provider.requests().empty());
    CHECK(
        has(std::string{provider.requests()[0].header("authorization")}, key));
    CHECK(end["status"] == "failed");
    CHECK_FALSE(has(end.dump(), key));
    for (const auto* path :
         {"/v1/sessions/s", "/v1/runs", "/v1/agents", "/metrics"})
      CHECK_FALSE(has(who.get(path).body, key));
    CHECK_FALSE(has(who.get("/v1/runs/" + run + "/events").body, key));
    server.process().signal(SIGTERM);
    const auto over = server.process().wait();
    CHECK_FALSE(has(over.out + over.err, key));
    for (const auto& x : std::filesystem::recursive_directory_iterator{
             folder.path() / "data"}) {
      if (!x.is_regular_file()) continue;
      CAPTURE(x.path().string());
      CHECK_FALSE(
          has(folder.read(
                  std::filesystem::relative(x.path(), folder.path()).string()),
              key));
    }
  }
}
