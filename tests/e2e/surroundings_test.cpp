// SPDX-License-Identifier: MIT
// What the model is told of the folder, from the command line to the provider.
#include <atomic>

#include "tests/e2e/wire_servers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

std::string system_of(const http_request& x) {
  const auto body = json::parse(x.body);
  const auto& first = body["messages"][0];
  return first["role"] == "system" ? first["content"].get<std::string>() : "";
}

void configure(const work_folder& folder, const std::string& url,
               const std::string& more = "") {
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\n[models.default]\nbase_url = "
               "\"" +
                   url + "\"\napi_key_env = \"\"\n" + more);
}

}  // namespace

TEST_CASE("the model is told of the folder, the same after kill -9") {
  const work_folder folder;
  std::atomic<bool> hangs = true;
  http_server server{[&](const http_request&) {
    if (hangs) return http_reply::sse().stall();
    return respond_sse(answer("ok"));
  }};
  configure(folder, server.url("/v1"));
  folder.write("AGENTS.md", "Use tabs.\n");
  program run{installed_riffle(),
              folder,
              {"run", "--config", "riffle.toml", "--session", "s", "go"}};
  REQUIRE(eventually([&] { return server.requests().size() == 1; }));
  run.signal(SIGKILL);
  run.wait();
  const auto told = system_of(server.requests().at(0));
  CHECK(told.find("You are a careful assistant") == 0);
  CHECK(told.find("- Folder: " +
                  std::filesystem::canonical(folder.path()).string()) !=
        std::string::npos);
  CHECK(told.find("Use tabs.") != std::string::npos);
  // What is finished is finished as it was begun; a new run sees what is new.
  folder.write("AGENTS.md", "Use spaces.\n");
  hangs = false;
  const auto resumed = riffle::testing::riffle(
      folder, {"sessions", "resume", "s", "--config", "riffle.toml"});
  INFO(resumed.err);
  CHECK(resumed.status == 0);
  CHECK(system_of(server.requests().back()) == told);
  CHECK(riffle::testing::riffle(folder, {"run", "--config", "riffle.toml",
                                         "--session", "s", "more"})
            .status == 0);
  const auto later = system_of(server.requests().back());
  CHECK(later.find("Use spaces.") != std::string::npos);
  CHECK(later.find("Use tabs.") == std::string::npos);
}

TEST_CASE("an agent says which files tell of a project, or none") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  folder.write("AGENTS.md", "Use tabs.\n");
  folder.write("RULES.md", "Be kind.\n");
  const auto run = [&](const std::string& keys) {
    configure(folder, server.url("/v1"), "[agents.default]\n" + keys);
    const auto x = riffle::testing::riffle(
        folder, {"run", "--config", "riffle.toml", "go"});
    INFO(x.err);
    CHECK(x.status == 0);
    return system_of(server.requests().back());
  };
  const auto own = run("context_files = [\"RULES.md\"]\n");
  CHECK(own.find("Be kind.") != std::string::npos);
  CHECK(own.find("Use tabs.") == std::string::npos);
  CHECK(run("context_files = []\n").find("files of the project") ==
        std::string::npos);
  configure(folder, server.url("/v1"),
            "[agents.default]\ncontext_files = [\"../x\", \"/etc/passwd\"]\n");
  const auto bad =
      riffle::testing::riffle(folder, {"run", "--config", "riffle.toml", "go"});
  CHECK(bad.status == 2);
  CHECK(bad.err.find("no name of a file in a project") != std::string::npos);
}

TEST_CASE("nothing of what a model was told stays of a deleted session") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  configure(folder, server.url("/v1"));
  folder.write("AGENTS.md", "canary-8261 is the word.\n");
  REQUIRE(riffle::testing::riffle(folder, {"run", "--config", "riffle.toml",
                                           "--session", "s", "go"})
              .status == 0);
  const auto stored = [&] {
    std::string all;
    for (const auto& x :
         std::filesystem::recursive_directory_iterator{folder.path() / "data"})
      if (x.is_regular_file())
        all += folder.read(
            std::filesystem::relative(x.path(), folder.path()).string());
    return all;
  };
  CHECK(stored().find("canary-8261") != std::string::npos);
  REQUIRE(riffle::testing::riffle(
              folder, {"sessions", "delete", "s", "--config", "riffle.toml"})
              .status == 0);
  CHECK(stored().find("canary-8261") == std::string::npos);
}

TEST_CASE("a process that may not have its threads says so, and ends") {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  skip("a sanitizer needs more memory than may be had here");
#else
  const work_folder folder;
  folder.write("riffle.toml",
               "[runtime]\ndata_dir = \"data\"\nthreads = 1024\n"
               "[models.default]\nbase_url = \"http://127.0.0.1:1/v1\"\n");
  const auto end = program{"/bin/sh",
                           folder,
                           {"-c", "ulimit -v 1500000; exec " +
                                      installed_riffle().string() + " run go"}}
                       .wait();
  INFO(end.err);
  CHECK(end.status == 2);
  CHECK(end.err.find("threads to begin with, and got") != std::string::npos);
#endif
}
