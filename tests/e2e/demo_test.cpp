// SPDX-License-Identifier: MIT
// The demo of configs/demo.toml: killed in the middle, it is finished as its
// comment says. And the one that kills itself, configs/demo.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <set>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string demo = RIFFLE_SOURCE_DIR "/configs/demo.toml";

struct scene {
  scene() {
    folder.write("a.txt", "the first\n");
    folder.write("b.txt", "und the second\n");
    folder.write("c.txt", "third\n");
  }
  [[nodiscard]] std::vector<std::string> with(
      std::vector<std::string> words) const {
    for (const auto* more : {"--config", demo.c_str(), "--set"})
      words.emplace_back(more);
    words.push_back("runtime.data_dir=" + (folder.path() / "data").string());
    return words;
  }
  work_folder folder;
};

}  // namespace

TEST_CASE("a demo that is killed in the middle of its command is finished",
          "[torture]") {
  const scene x;
  program running{installed_riffle(), x.folder,
                  x.with({"run", "look", "--session", "d1", "--approve", "all",
                          "--output", "jsonl"})};
  // The command that takes a while says what it does.
  REQUIRE(eventually([&] {
    return x.folder.read("out.txt").find("hashing") != std::string::npos;
  }));
  REQUIRE_FALSE(running.has_ended());
  running.signal(SIGKILL);
  const auto killed = running.wait();
  CHECK(killed.status == 128 + SIGKILL);
  CHECK(killed.out.find("run_finished") == std::string::npos);
  CHECK(x.folder.read("riffle-demo.md").empty());

  const auto again = riffle::testing::riffle(
      x.folder, x.with({"sessions", "resume", "d1", "--output", "jsonl"}));
  INFO(again.err);
  REQUIRE(again.status == 0);
  CHECK(processes_in(x.folder).empty());
  const auto log =
      riffle::testing::riffle(x.folder, x.with({"sessions", "events", "d1"}));
  CHECK(log.out.starts_with(killed.out));  // what was shown stays as it was
  const auto events = checked_events(log.out);
  CHECK(of_type(events, "run_finished").at(0).at("data").at("status") ==
        "completed");
  const auto results = of_type(events, "tool_result");
  REQUIRE(results.size() == 8);
  for (const auto& r : results) CHECK(r.at("data").at("outcome") == "ok");
  // The command may run again, as the demo says of it; nothing else did.
  int twice = 0;
  for (const auto& r : results)
    if (r.at("data").at("attempts") == 2) ++twice;
  CHECK(twice == 1);
  const std::string answer =
      of_type(events, "final_answer").at(0).at("data").at("content");
  CHECK(answer.find("a.txt\nb.txt\nc.txt") != std::string::npos);
  CHECK(answer.find("✓ c.txt: 1 lines") != std::string::npos);
  CHECK(x.folder.read("riffle-demo.md").find("✓ a.txt") != std::string::npos);
}

TEST_CASE("the demo that kills itself ends well, also where nobody is") {
  const work_folder folder;
  const auto package = installed_riffle().parent_path().parent_path();
  program demo{package / "share/riffle/demo/play.sh",
               folder,
               {installed_riffle().string(), "--output", "jsonl"},
               {{"TMPDIR", folder.path().string()}}};
  const auto end = demo.wait();
  INFO(end.err);
  REQUIRE(end.status == 0);
  CHECK(end.err.find("killed Riffle with kill -9") != std::string::npos);
  CHECK(processes_in(folder).empty());
  // Both outputs begin with the same lines; the second one is whole.
  const auto again = end.out.rfind("{\"seq\":1,");
  REQUIRE(again != std::string::npos);
  REQUIRE(again > 0);
  CHECK(end.out.substr(again).starts_with(end.out.substr(0, again)));
  const auto events = checked_events(end.out.substr(again));
  std::set<std::string> working;
  for (const auto& x : of_type(events, "tool_progress"))
    working.insert(x.at("data").at("id").get<std::string>());
  CHECK(working.size() == 3);
  int twice = 0;
  for (const auto& x : of_type(events, "tool_result")) {
    CHECK(x.at("data").at("outcome") == "ok");
    if (x.at("data").at("attempts") == 2) ++twice;
  }
  CHECK(twice == 1);
  const std::string answer =
      of_type(events, "final_answer").at(0).at("data").at("content");
  CHECK(answer.find("✓ several items") != std::string::npos);
  // Nothing stays of its folder.
  for (const auto& x : std::filesystem::directory_iterator{folder.path()})
    CHECK_FALSE(x.path().filename().string().starts_with("riffle-demo"));
}
