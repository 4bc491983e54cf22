// SPDX-License-Identifier: MIT
// Nobody reads what the program writes: it still ends when it has to.
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>

#include "runtime/base/unique_fd.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// A run whose output is more than a pipe holds; the pipe is open, not read.
struct unread_run {
  explicit unread_run(const std::string& options) {
    folder.configure(server.url("/v1"));
    const auto pipe = folder.path() / "pipe";
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    reader = riffle::unique_fd{
        ::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)};
    REQUIRE(reader.get() >= 0);
    const auto line = "exec '" + installed_riffle().string() +
                      "' run go --approve all --output jsonl " + options +
                      " > pipe";
    running.emplace("/bin/sh", folder, std::vector<std::string>{"-c", line});
  }

  work_folder folder;
  http_server server{[](const http_request&) {
    return respond_sse(call(0, "a", "bash",
                            {{"command",
                              "touch began; yes abcdefgh | head -c 3000000; "
                              "echo; touch written; exec sleep 779"}}) +
                       finish("tool_calls"));
  }};
  riffle::unique_fd reader;
  std::optional<program> running;
};

}  // namespace

TEST_CASE("a time limit ends a run although nobody reads its output") {
  unread_run x{"--timeout 3s"};
  const auto end = x.running->wait(30s);
  CHECK(end.status == 1);
  CHECK_THAT(end.err, Catch::Matchers::Contains("nobody reads it"));
  CHECK(eventually([&] { return processes_in(x.folder).empty(); }));
}

TEST_CASE("SIGTERM ends a run although nobody reads its output") {
  unread_run x{""};
  REQUIRE(eventually([&] {
    return !x.folder.lines("began").empty() ||
           std::filesystem::exists(x.folder.path() / "written");
  }));
  x.running->signal(SIGTERM);
  const auto end = x.running->wait(30s);
  CHECK(end.status != 0);
  CHECK_THAT(end.err, Catch::Matchers::Contains("nobody reads it"));
  CHECK(eventually([&] { return processes_in(x.folder).empty(); }));
}
