// SPDX-License-Identifier: MIT
// Canary keys: whatever a provider says, whatever a command looks for, nothing
// that is written or shown holds the key.
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/media.hpp"
#include "runtime/base/secret_forms.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/canary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"
#include "tools/process/process_tree.hpp"

namespace fs = std::filesystem;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string key = "sk-can/ary+0123456789";
const std::string password = "canary-of-the-url";

/// The key as servers may echo it.
const std::string escaped = "sk-can\\/ary+0123456789";
const std::string percent = "sk-can%2Fary%2B0123456789";
const std::string base64 = "c2stY2FuL2FyeSswMTIzNDU2Nzg5";

bool holds_key(const std::string& text) {
  for (const auto& secret : {key, password})
    for (const auto& form : riffle::secret_forms(secret))
      if (text.find(form) != std::string::npos) return true;
  return text.find(key.substr(0, 10)) != std::string::npos ||
         text.find(key.substr(3, 10)) != std::string::npos;
}

/// All that a program wrote below its folder; the test's own files left out.
std::vector<std::string> files_with_key(const work_folder& folder) {
  std::vector<std::string> out;
  for (const auto& x : fs::recursive_directory_iterator{folder.path()}) {
    if (!x.is_regular_file() || x.path().filename() == "riffle.toml") continue;
    std::ifstream in{x.path(), std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    if (holds_key(text)) out.push_back(x.path().string());
  }
  return out;
}

constexpr const char* quick =
    "retry = { max_attempts = 2, base = \"10ms\" }\n"
    "timeouts = { connect = \"2s\", first_byte = \"2s\", idle = \"300ms\", "
    "total = \"10s\" }\n"
    "[runtime.log]\nlevel = \"trace\"\n";

/// Runs the program, and then each command that shows what was kept.
void check_nothing_shown(const work_folder& folder) {
  const std::map<std::string, std::string> env{
      {"OPENAI_API_KEY", key}, {"USER_OF_URL", "me:" + password}};
  const auto end = riffle::testing::riffle(
      folder, {"run", "go", "--session", "s1", "-v", "--output", "jsonl"}, env);
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK(of_type(checked_events(end.out), "error").size() == 1);
  riffle::testing::riffle(folder, {"sessions", "show", "s1"}, env);
  riffle::testing::riffle(folder, {"sessions", "events", "s1"}, env);
  riffle::testing::riffle(folder, {"config", "show"}, env);
  CHECK(files_with_key(folder).empty());
}

http_reply failing_stream(const std::string& text) {
  auto reply = http_reply::sse().send(say("Let me see. "));
  const auto event =
      R"(data: {"error":{"message":")" + text + R"("}})" + "\n\n";
  const auto middle = event.find("can") + 1;
  reply.send(event.substr(0, middle)).pause(20ms);
  return std::move(reply).send(event.substr(middle));
}

}  // namespace

TEST_CASE("no error of a provider shows the key, nor does what is kept") {
  const std::string wrong = "Incorrect API key: ";
  const std::vector<std::pair<std::string, http_reply>> cases = {
      {"a 401 with the key",
       http_reply::json(R"({"error":{"message":")" + wrong + key + R"("}})",
                        401)},
      {"escaped as JSON",
       http_reply::json(R"({"error":{"message":")" + wrong + escaped + R"("}})",
                        400)},
      {"escaped twice", http_reply::text("{'k': \"" + escaped + "\"}", 500)},
      {"without its first characters",
       http_reply::json(
           R"({"error":{"message":"sent ***)" + key.substr(3) + R"("}})", 401)},
      {"a page", http_reply::text("<html><b>" + wrong + percent, 403)},
      {"a header in base64", http_reply::text("Basic " + base64 + "=", 407)},
      {"cut where answers are cut",
       http_reply::text(
           std::string(2048 - wrong.size() - 13, 'x') + ' ' + wrong + key,
           400)},
      {"an object inside the error",
       http_reply::json(
           R"({"error":{"sent":{"authorization":"Bearer )" + key + R"("}}})",
           400)},
      {"a redirect",
       http_reply::text(key, 302).header("Location", "/?key=" + percent)},
      {"an error inside a stream", failing_stream(wrong + key)},
      {"an escaped one", failing_stream(wrong + escaped)},
      {"no HTTP at all",
       http_reply{200, http_reply::framing::raw}.send(key + "\r\n\r\n")},
      {"a strange header", http_reply{200, http_reply::framing::raw}.send(
                               "HTTP/1.1 200 OK\r\nContent-Encoding: " + key +
                               "\r\nContent-Length: 2\r\n\r\nxx")},
      {"no JSON in the stream",
       http_reply::sse().send("data: " + key + "\n\ndata: [DONE]\n\n")},
  };
  for (const auto& [name, reply] : cases) {
    DYNAMIC_SECTION(name) {
      const work_folder folder;
      http_server server{reply};
      folder.configure(server.url("/v1"), quick);
      check_nothing_shown(folder);
    }
  }
}

TEST_CASE("a user in base_url is not shown when the server is not there") {
  const work_folder folder;
  folder.configure("http://${USER_OF_URL}@127.0.0.1:1/v1", quick);
  check_nothing_shown(folder);
}

TEST_CASE("a user in base_url is not shown when there is no key for it") {
  const work_folder folder;
  folder.configure("https://${USER_OF_URL}@nowhere.invalid/v1");
  const auto end = riffle::testing::riffle(
      folder, {"run", "go"},
      {{"OPENAI_API_KEY", ""}, {"USER_OF_URL", "me:" + password}});
  CHECK(end.status == 2);
  CHECK(
      end.err.find("there is no API key for https://***@nowhere.invalid/v1") !=
      std::string::npos);
  CHECK_FALSE(holds_key(end.err));
}

TEST_CASE("a key in the query comes from a variable, and is not shown") {
  const work_folder folder;
  http_server server{http_reply::text("sent " + key, 400)};
  folder.configure(
      server.url("/v1"),
      "query = { key = \"${OPENAI_API_KEY}\" }\n" + std::string{quick});
  check_nothing_shown(folder);
  REQUIRE_FALSE(server.requests().empty());
  CHECK(server.requests().front().target.find("?key=" + percent) !=
        std::string::npos);
}

TEST_CASE("a command sees no key of any provider that Riffle knows") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    return respond_sse(calls({{"bash", {{"command", "env > seen"}}}}));
  }};
  folder.configure(server.url("/v1"));
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--approve", "all"},
                              {{"GROQ_API_KEY", "gsk-one"},
                               {"ANTHROPIC_API_KEY", "sk-two"},
                               {"AZURE_OPENAI_API_KEY", "three"},
                               {"RIFFLE_TOKEN", "four"},
                               {"GITHUB_TOKEN", "five"}});
  INFO(end.err);
  CHECK(end.status == 0);
  const auto seen = folder.read("seen");
  for (const auto* hidden : {"GROQ_API_KEY", "ANTHROPIC_API_KEY",
                             "AZURE_OPENAI_API_KEY", "RIFFLE_TOKEN"}) {
    CAPTURE(hidden);
    CHECK(seen.find(hidden) == std::string::npos);
  }
  CHECK(seen.find("GITHUB_TOKEN=five") != std::string::npos);  // the person's
}

TEST_CASE("no process of ours has the key in its environment") {
  // Of this test alone: programs of other tests, which run beside, have theirs.
  const auto own = key + "-" + std::to_string(::getpid());
  const work_folder folder;
  folder.write("a.txt", "A\n");
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    return respond_sse(
        calls({{"read", {{"path", "a.txt"}}},
               {"bash",
                {{"command",
                  // All above it; others here may run programs with a key.
                  "env; p=$$; while [ $p -gt 1 ]; do cat /proc/$p/environ; "
                  "p=$(awk '{ print $4 }' /proc/$p/stat); done 2> /dev/null; "
                  "echo > begun; "
                  "until [ -e over ]; do sleep 0.05; done"}}}}));
  }};
  auto url = server.url("/v1");
  url.insert(url.find("//") + 2, "${USER_OF_URL}@");
  folder.configure(url,
                   "[tools.read]\nisolation = \"process\"\n"
                   "[tools.bash]\nnamespace = \"none\"\n"
                   "[mcp.web]\nurl = \"http://127.0.0.1:1/mcp\"\n"
                   "headers = { X-Gate = \"g ${GATE}\" }\n"
                   "[server]\ntoken_env = \"DOOR\"\n");
  program running{
      installed_riffle(),
      folder,
      {"run", "go", "--session", "s1", "--approve", "all", "--output", "jsonl"},
      {{"OPENAI_API_KEY", own},
       {"ALSO_A_KEY", "Bearer " + own},
       {"GROQ_API_KEY", password},  // of a provider that no model is of
       {"GATE", password},
       {"USER_OF_URL", "me:" + password},
       {"GROQ_BASE_URL", "https://me:" + password + "@nowhere.invalid"},
       {"OLLAMA_HOST", "me:" + password + "@127.0.0.1:1"},
       {"DOOR", password}}};
  REQUIRE(eventually([&] { return !folder.lines("begun").empty(); }));
  auto all = riffle::tools::descendants_of(running.pid());
  CHECK(all.size() >= 4);  // two guards, a worker, bash
  all.push_back(running.pid());
  for (const auto pid : all) {
    std::ifstream in{"/proc/" + std::to_string(pid) + "/environ"};
    const std::string text{std::istreambuf_iterator<char>{in}, {}};
    CAPTURE(pid);
    CHECK_FALSE(holds_key(text));
  }
  CHECK(processes_with(own).empty());
  folder.write("over", "");
  const auto end = running.wait();
  CHECK(end.status == 0);
  CHECK(files_with_key(folder).empty());
}

TEST_CASE("the key of every program is found wherever it stands") {
  const std::string text{provider_key};
  CHECK(holds_provider_key("key=" + text));
  CHECK(holds_provider_key(text.substr(0, 25)));  // cut off
  for (const std::string_view other : {"", "a", "zz"})
    CHECK(holds_provider_key(riffle::to_base64(std::string{other} + text)));
  CHECK_FALSE(holds_provider_key("sk-canary"));
  const auto place = fs::temp_directory_path() /
                     ("riffle-canary-" + std::to_string(::getpid()));
  fs::create_directories(place / "data");
  constexpr std::size_t piece = 1u << 20;
  std::ofstream{place / "data" / "log"} << std::string(piece - 7, '.') << text;
  std::ofstream{place / "other"} << "nothing";
  CHECK(files_with_provider_key(place) ==
        std::vector<std::string>{(place / "data" / "log").string()});
  fs::remove_all(place);
}

TEST_CASE("no other process of the user can look into the program") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return skip("a sanitizer has to look into its program");
#endif
  const work_folder folder;
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    return respond_sse(
        calls({{"bash",
                {{"command",
                  "echo > begun; until [ -e over ]; do sleep 0.05; done"}}}}));
  }};
  folder.configure(server.url("/v1"));
  // What root may trace says nothing of whom others may.
  fs::permissions(folder.path(), fs::perms::all);
  std::vector<std::string> command{installed_riffle().string(), "run", "go",
                                   "--approve", "all"};
  if (::geteuid() == 0)
    command.insert(command.begin(), {"/usr/bin/setpriv", "--reuid=65534",
                                     "--regid=65534", "--clear-groups"});
  const fs::path program_file = command.front();
  command.erase(command.begin());
  program running{program_file, folder, command};
  const bool begun = eventually(
      [&] { return running.has_ended() || !folder.lines("begun").empty(); });
  REQUIRE(begun);
  if (running.has_ended()) {
    INFO(running.err());
    const bool unreadable =
        running.err().find("Permission denied") != std::string::npos;
    REQUIRE(unreadable);
    return skip("a plain user cannot run the program where it is built");
  }
  // The kernel gives what may not be looked into to root.
  struct stat info{};
  const auto file = "/proc/" + std::to_string(running.pid()) + "/environ";
  REQUIRE(::stat(file.c_str(), &info) == 0);
  CHECK(info.st_uid == 0);
  folder.write("over", "");
  CHECK(running.wait().status == 0);
}
