// SPDX-License-Identifier: MIT
// What was begun by one configuration is finished, and what was proposed is
// executed, by that one.
#include <filesystem>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Takes a minute the first time.
constexpr auto long_once = "test -e began || { echo x > began; sleep 60; }";

/// A person with a configuration of their own, and a file that only `--config`
/// names; both keep their data in one folder.
struct two_files {
  explicit two_files(const std::string& more = {}) {
    fs::create_directories(folder.path() / "home" / "riffle");
    folder.write("home/riffle/riffle.toml", data());
    folder.write("mine.toml", data() + "[models.default]\nbase_url = \"" +
                                  server.url("/v1") + "\"\n" + more);
    mine = (folder.path() / "mine.toml").string();
  }
  [[nodiscard]] std::string data() const {
    return "[runtime]\ndata_dir = \"" + (folder.path() / "data").string() +
           "\"\n";
  }
  [[nodiscard]] finished run(std::vector<std::string> arguments) const {
    return riffle::testing::riffle(folder, std::move(arguments), env());
  }
  [[nodiscard]] std::map<std::string, std::string> env() const {
    return {{"RIFFLE_CONFIG", ""},
            {"XDG_CONFIG_HOME", (folder.path() / "home").string()}};
  }
  /// Killed in its call.
  void leave_unfinished(std::vector<std::string> arguments) {
    program killed{installed_riffle(), folder, std::move(arguments), env()};
    REQUIRE(eventually([&] { return !folder.read("began").empty(); }));
    killed.signal(SIGKILL);
    killed.wait();
  }

  http_server server{[](const http_request& request) {
    const auto last = json::parse(request.body).at("messages").back();
    return last.at("role") == "user"
               ? respond_sse(calls({{"bash", {{"command", long_once}}}}))
               : respond_sse(answer("done"));
  }};
  work_folder folder;
  std::string mine;
};

const std::vector<std::string> resume{"sessions", "resume", "s1"};

}  // namespace

TEST_CASE("a run is finished by the configuration that it was begun with") {
  two_files x;
  x.leave_unfinished({"run", "go", "--session", "s1", "--approve", "all",
                      "--config", "mine.toml"});
  SECTION("which is found again") {
    const auto end = x.run(resume);
    INFO(end.err);
    CHECK(end.status == 0);
    CHECK(end.out == "done\n");
    CHECK(end.err.find("it was begun with, " + x.mine) != std::string::npos);
  }
  SECTION("unless another one is named") {
    const auto end = x.run(
        {"sessions", "resume", "s1", "--config", "home/riffle/riffle.toml",
         "--set", "models.default.base_url=\"" + x.server.url("/v1") + "\""});
    INFO(end.err);
    CHECK(end.status == 0);
    CHECK(end.err.find("begun with") == std::string::npos);
  }
  SECTION("not when it has changed since") {
    x.folder.write("mine.toml", x.folder.read("mine.toml") + "# changed\n");
    const auto end = x.run(resume);
    CHECK(end.status == 2);
    CHECK(end.err.find("session s1 was begun with the configuration " +
                       x.mine) != std::string::npos);
    CHECK(end.err.find("has changed since then") != std::string::npos);
    CHECK(x.run({"sessions", "resume", "s1", "--config", x.mine}).status == 0);
  }
  SECTION("not when it is gone") {
    fs::remove(x.mine);
    const auto end = x.run(resume);
    CHECK(end.status == 2);
    CHECK(end.err.find("cannot be read any more") != std::string::npos);
    // Ending it needs none.
    CHECK(x.run({"sessions", "list"}).out.find("interrupted") !=
          std::string::npos);
    CHECK(x.run({"sessions", "forget", "s1"}).status == 0);
    const auto listed = x.run({"sessions", "list"});
    INFO(listed.out);
    CHECK(listed.out.find("cancelled") != std::string::npos);
    CHECK(listed.out.find("interrupted") == std::string::npos);
  }
  SECTION("and the next run names it") {
    const auto next =
        x.run({"run", "hello", "--set",
               "models.default.base_url=\"" + x.server.url("/v1") + "\""});
    CHECK(next.err.find("'riffle sessions resume s1' finishes it, by " +
                        x.mine) != std::string::npos);
  }
}

TEST_CASE("a volley and a plan are finished by what they were begun with") {
  two_files x;
  const bool plan = GENERATE(false, true);
  CAPTURE(plan);
  x.folder.write("plan.toml", "[[steps]]\ninstruction = \"go\"\n");
  if (plan)
    x.leave_unfinished(
        {"plan", "plan.toml", "--approve", "all", "--config", "mine.toml"});
  else
    x.leave_unfinished({"run", "go on", "stay there", "--workers", "1",
                        "--approve", "all", "--config", "mine.toml"});
  const auto listed =
      x.run({"run", "hello", "--config", x.mine, "--approve", "all"});
  const auto from = listed.err.find("sessions resume ");
  INFO(listed.err);
  REQUIRE(from != std::string::npos);
  const auto at = from + std::string{"sessions resume "}.size();
  const auto id =
      listed.err.substr(at, listed.err.find_first_of("' ", at) - at);
  const auto end = x.run({"sessions", "resume", id});
  INFO(end.err);
  CHECK(end.err.find("it was begun with, " + x.mine) != std::string::npos);
  CHECK(end.status == 0);
}

TEST_CASE("a proposal is executed by the configuration that proposed it") {
  two_files x{
      "[approvals]\nmode = \"propose\"\n[tools.bash]\n"
      "timeout = \"500ms\"\n"};
  REQUIRE(x.run({"run", "go", "--approve", "ask", "--config", "mine.toml"})
              .status == 0);
  const auto listed = x.run({"proposals", "list", "--output", "json"});
  const std::string id = json::parse(listed.out).at(0).at("proposal_id");
  const auto end = x.run({"proposals", "approve", id});
  INFO(end.err);
  CHECK(end.err.find("it was begun with, " + x.mine) != std::string::npos);
  // The sleep of a minute ran into the limit of mine.toml.
  CHECK(end.err.find("time limit of 500ms") != std::string::npos);
}

TEST_CASE("what somebody works on is not forgotten") {
  two_files x;
  program works{installed_riffle(),
                x.folder,
                {"run", "go", "--session", "s1", "--approve", "all", "--config",
                 "mine.toml"},
                x.env()};
  REQUIRE(eventually([&] { return !x.folder.read("began").empty(); }));
  const auto end = x.run({"sessions", "forget", "s1"});
  CHECK(end.status == 2);
  CHECK(end.err.find("s1 is not interrupted, process ") != std::string::npos);
  CHECK(end.err.find("'riffle sessions cancel s1' ends it") !=
        std::string::npos);
  CHECK_FALSE(works.has_ended());
  CHECK(x.run({"sessions", "cancel", "s1"}).status == 0);
  CHECK(works.wait().status == 130);
}

TEST_CASE("an approval that comes too late for a waiting run says so") {
  http_server server{[](const http_request& request) {
    const auto last = json::parse(request.body).at("messages").back();
    return last.at("role") == "user"
               ? respond_sse(calls(
                     {{"write", {{"path", "notes.md"}, {"content", "new\n"}}}}))
               : respond_sse(answer("done"));
  }};
  const work_folder folder;
  folder.configure(server.url("/v1"));
  folder.write("notes.md", "old\n");
  const auto pending = [&] {
    return json::parse(riffle::testing::riffle(
                           folder, {"proposals", "list", "--output", "json"})
                           .out);
  };
  const program waits{
      installed_riffle(), folder, {"run", "go", "--approve", "ask"}};
  REQUIRE(eventually([&] { return !pending().empty(); }));
  const std::string id = pending().at(0).at("proposal_id");
  folder.write("notes.md", "mine\n");
  const auto end =
      riffle::testing::riffle(folder, {"proposals", "approve", id});
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK(end.err.find("has changed since, so nothing was executed") !=
        std::string::npos);
  CHECK(folder.read("notes.md") == "mine\n");
}

TEST_CASE("the time limit of a plan's step is called that") {
  two_files x;
  x.folder.write("plan.toml",
                 "[[steps]]\ntool = \"bash\"\ntimeout = \"500ms\"\n"
                 "arguments = { command = \"sleep 60\" }\n");
  const auto end = x.run({"plan", "plan.toml", "--approve", "all", "--output",
                          "jsonl", "--config", "mine.toml"});
  INFO(end.out);
  CHECK(end.status == 124);
  CHECK(end.out.find("the time limit of the plan's step (timeout)") !=
        std::string::npos);
  CHECK(end.out.find("--timeout") == std::string::npos);
}
