// SPDX-License-Identifier: MIT
// A run is stopped: by signals to the program, by cancels of the library. No
// process of a tool may outlive it, however it hides.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "runtime/api/riffle.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// Processes whose environment holds `mark`, zombies left out.
std::vector<int> processes_with(const std::string& mark) {
  std::vector<int> out;
  std::error_code failed;
  for (const auto& x : std::filesystem::directory_iterator{"/proc", failed}) {
    const auto name = x.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream in{x.path() / "environ", std::ios::binary};
    const std::string env{std::istreambuf_iterator<char>{in}, {}};
    if (env.find(mark) != std::string::npos) out.push_back(std::stoi(name));
  }
  return out;
}

/// Three ways to get away: a child that ignores signals, a daemon that was
/// forked twice, a process that forks all the time. Each notes that it runs.
constexpr auto runaways = R"sh(
trap '' TERM HUP INT
sh -c "trap '' TERM HUP; echo c >> began; while :; do sleep 0.1; done" &
setsid sh -c "setsid sh -c 'trap \"\" TERM HUP; echo d >> began; while :; do sleep 0.1; done' &" &
f() { sleep 0.05; f & }; f; echo f >> began
while :; do sleep 0.1; done
)sh";

int repetitions(int quick, int full) {
  return std::getenv("RIFFLE_TEST_FULL") != nullptr ? full : quick;
}

}  // namespace

TEST_CASE("a program that is told to end leaves no process behind",
          "[torture]") {
  const auto rounds = repetitions(3, 200);
  for (int i = 0; i < rounds; ++i) {
    const work_folder folder;
    const auto mark = "RIFFLE_STOP_TEST=" + folder.path().string();
    http_server server{[](const http_request&) {
      return respond_sse(
          calls({{"bash",
                  {{"command", std::string{"export "} +
                                   "RIFFLE_STOP_TEST=$PWD\n" + runaways}}}}));
    }};
    folder.configure(server.url("/v1"));
    program running{installed_riffle(),
                    folder,
                    {"run", "go", "--approve", "all", "--output", "jsonl"}};
    REQUIRE(eventually([&] { return folder.lines("began").size() >= 3; }));
    CHECK_FALSE(processes_with(mark).empty());
    running.signal(SIGTERM);
    const auto end = running.wait(15s);
    CHECK(processes_with(mark).empty());
    CHECK(end.status == 130);
    const auto events = checked_events(end.out);
    CHECK(of_type(events, "tool_result").at(0).at("data").at("outcome") ==
          "cancelled");
    CHECK(of_type(events, "run_finished").size() == 1);
  }
}

TEST_CASE("cancelled calls are dead when they are settled", "[torture]") {
  const unsigned seed = std::random_device{}();
  std::mt19937 random{seed};
  CAPTURE(seed);
  const work_folder folder;
  http_server server{[&](const http_request&) {
    return respond_sse(
        calls({{"bash",
                {{"command",
                  "export RIFFLE_STOP_TEST=$PWD\nsh -c 'echo x >> began; "
                  "while :; do sleep 0.1; done' & wait"}}}}));
  }};
  riffle::config::config c;
  c.models["default"].base_url = server.url("/v1");
  c.agents["default"].tools = {"bash"};
  c.tools.defaults.workspace = folder.path().string();
  c.tools.by_name["bash"].workspace = folder.path().string();
  riffle::runtime_options options;
  options.journal = riffle::storage::make_memory_journal();
  auto made = riffle::runtime::create(std::move(c), std::move(options));
  REQUIRE(made);
  const auto mark = "RIFFLE_STOP_TEST=" + folder.path().string();
  const auto rounds = repetitions(10, 1000);
  for (int i = 0; i < rounds; ++i) {
    const auto before = folder.lines("began").size();
    const auto run =
        made->start({.task = "go", .approval = riffle::approve::all});
    REQUIRE(run);
    // Early, in the middle of the start, or when it runs.
    const auto how = random() % 3;
    if (how == 2)
      REQUIRE(
          eventually([&] { return folder.lines("began").size() > before; }));
    if (how == 1)
      std::this_thread::sleep_for(std::chrono::milliseconds{random() % 30});
    run->cancel();
    run->cancel();
    const auto end = run->wait(15s);
    REQUIRE(end);
    CHECK(end->status == riffle::events::run_status::cancelled);
    CHECK(processes_with(mark).empty());
    run->cancel();
  }
}
