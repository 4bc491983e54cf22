// SPDX-License-Identifier: MIT
// What comes through a pipe is told to the model behind the task.
#include <chrono>

#include "tests/e2e/wire_servers.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

struct piped_world {
  piped_world() {
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"data\"\n[models.default]\nbase_url "
                 "= \"" +
                     server.url("/v1") + "\"\napi_key_env = \"\"\n");
  }
  finished sh(const std::string& line) const {
    return program{"/bin/sh",
                   folder,
                   {"-c", line},
                   {{"RIFFLE", installed_riffle().string() + " run --config "
                                                             "riffle.toml"}}}
        .wait();
  }
  /// What the person said in the last request.
  [[nodiscard]] std::string told() const {
    const auto body = json::parse(server.requests().back().body);
    return body["messages"].back()["content"];
  }
  work_folder folder;
  http_server server{respond_sse(answer("ok"))};
};

}  // namespace

TEST_CASE("what comes through a pipe is told to the model, and that it is") {
  const piped_world x;
  auto end = x.sh("printf 'a\\nb\\n' | $RIFFLE summarise");
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(end.out == "ok\n");
  CHECK(end.err.find("Standard input goes to the model: 4 B") !=
        std::string::npos);
  CHECK(x.told().find("summarise") == 0);
  CHECK(x.told().find("What came on standard input:\na\nb\n") !=
        std::string::npos);
  x.folder.write("given", "of a file");
  CHECK(x.sh("$RIFFLE -q look < given").err.empty());
  CHECK(x.told().find("of a file") != std::string::npos);
  x.sh("$RIFFLE --context before look < given");
  CHECK(x.told().find("before") < x.told().find("of a file"));
  CHECK(x.sh("$RIFFLE --no-stdin look < given").status == 0);
  CHECK(x.told() == "look");
}

TEST_CASE("a pipe that says nothing is not waited for, one that ends is none") {
  const piped_world x;
  const auto began = std::chrono::steady_clock::now();
  const auto silent = x.sh("sleep 600 | { $RIFFLE look; kill $$; }");
  CHECK(std::chrono::steady_clock::now() - began >= std::chrono::seconds{2});
  CHECK(silent.err.find("said nothing for 2 s") != std::string::npos);
  CHECK(x.told() == "look");
  const auto empty = x.sh(": | $RIFFLE look");
  CHECK(empty.status == 0);
  CHECK(empty.err.find("tandard input") == std::string::npos);
  CHECK(x.told() == "look");
  // What ends slowly is read to its end.
  x.sh("{ echo first; sleep 0.3; echo last; } | $RIFFLE look");
  CHECK(x.told().find("first\nlast\n") != std::string::npos);
}

TEST_CASE("the context may be standard input, but not beside the task") {
  const piped_world x;
  CHECK(x.sh("echo aside | $RIFFLE --context-file - look").status == 0);
  CHECK(x.told().find("aside") != std::string::npos);
  CHECK(x.told().find("What came") == std::string::npos);
  const auto both = x.sh("echo x | $RIFFLE --context-file - -");
  CHECK(both.status == 2);
  CHECK(both.err.find("read once") != std::string::npos);
  const auto large = x.sh("head -c 9000000 /dev/zero | $RIFFLE look");
  CHECK(large.status == 2);
  CHECK(large.err.find("larger than 8 MiB") != std::string::npos);
}
