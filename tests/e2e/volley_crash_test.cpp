// SPDX-License-Identifier: MIT
// A volley that is killed inside of an open mutating call; a plan whose reader
// takes nothing: the real program.
#include <algorithm>
#include <atomic>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/base/unique_fd.hpp"
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using words = std::vector<std::string>;

namespace {

std::string task_of(const http_request& x) {
  std::string task;
  const auto body = json::parse(x.body);
  for (const auto& m : body.at("messages"))
    if (m.at("role") == "user") task = m.at("content");
  return task;
}

std::string volley_of(const std::string& err) {
  const auto at = err.find("volley_");
  REQUIRE(at != std::string::npos);
  return err.substr(at, err.find_first_of(", \n", at) - at);
}

}  // namespace

TEST_CASE("a call that a kill leaves open in a volley does not act again") {
  const work_folder folder;
  std::atomic<bool> told = false;
  http_server server{[&](const http_request& x) {
    const auto task = task_of(x);
    const auto results = tool_messages(x);
    if (!results.empty()) {
      const std::string said = results.back().at("content");
      if (task == "t0")
        told = said.find("its outcome is unknown") != std::string::npos;
      return respond_sse(answer("done " + task));
    }
    const auto then = task == "t0" ? "; sleep 600" : "";
    return respond_sse(calls(
        {{"bash", {{"command", "echo " + task + " >> effects" + then}}}}));
  }};
  folder.configure(server.url("/v1"));
  std::string id;
  {
    program volley{
        installed_riffle(),
        folder,
        {"run", "--approve", "all", "--workers", "2", "--", "t0", "t1", "t2"}};
    REQUIRE(eventually([&] {
      return volley.err().find("✓ t2") != std::string::npos &&
             folder.lines("effects").size() == 3;
    }));
    id = volley_of(volley.err());
    volley.signal(SIGKILL);
    CHECK(volley.wait().status == 128 + SIGKILL);
  }
  const auto end = riffle::testing::riffle(
      folder,
      {"sessions", "resume", id, "--approve", "all", "--output", "json"});
  CAPTURE(end.err);
  CHECK(end.status == 0);
  const auto results = json::parse(end.out).at("results");
  CHECK(results[0].at("answer") == "done t0");
  CHECK(results[0].at("calls")[0].at("outcome") == "interrupted");
  CHECK(told);
  auto effects = folder.lines("effects");
  std::ranges::sort(effects);
  CHECK(effects == words{"t0", "t1", "t2"});
}

namespace {

/// The most memory that a process had since it began its program, in KiB; 0
/// once it ended.
std::size_t peak_of_process(pid_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string word; in >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && in >> kib) return kib;
  }
  return 0;
}

/// The peak of a plan whose standard output is read as it comes, or only
/// behind its end, in KiB; and what came, in bytes.
std::pair<std::size_t, std::size_t> peak_of(work_folder& folder, bool slow) {
  const auto pipe = (folder.path() / (slow ? "slow" : "quick")).string();
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const riffle::unique_fd out{::open(pipe.c_str(), O_RDONLY | O_NONBLOCK)};
  REQUIRE(out);
  program plan{"/bin/sh",
               folder,
               {"-c", "exec '" + installed_riffle().string() +
                          "' plan --output jsonl p.json > '" + pipe + "'"}};
  std::string block(1u << 20, '\0');
  std::size_t bytes = 0;
  std::size_t peak = 0;
  bool open = true;
  const auto read_all = [&] {
    // The last one: before its exec it was a copy of this program.
    if (const auto now = peak_of_process(plan.pid()); now > 0) peak = now;
    for (ssize_t n = 1; n > 0;) {
      n = ::read(out.get(), block.data(), block.size());
      if (n > 0) bytes += static_cast<std::size_t>(n);
      if (n == 0 && bytes > 0) open = false;
    }
  };
  const auto has_ended = [&] {
    const auto listed = riffle::testing::riffle(
        folder, {"sessions", "list", "--output", "json"});
    const auto all = json::parse(listed.out);
    return all.size() == 4 && std::ranges::all_of(all, [](const json& x) {
             return x.at("last_run").at("status") == "completed";
           });
  };
  if (slow) {
    REQUIRE(eventually(has_ended, 60s));
    CHECK_FALSE(plan.has_ended());  // it has not got rid of its lines
  }
  REQUIRE(eventually(
      [&] {
        read_all();
        return !open;
      },
      60s));
  const auto end = plan.wait();
  CHECK(end.status == 0);
  return {peak, bytes};
}

}  // namespace

TEST_CASE("a reader that takes nothing costs a plan no memory") {
  http_server server{[](const http_request&) {
    return http_reply::sse()
        .repeat(say(std::string(64, 'x')), 14'000)
        .send(finish("stop") + done_mark);
  }};
  json plan;
  for (int i = 0; i < 12; ++i)
    plan["steps"].push_back({{"instruction", "write a lot"}});
  // A heap's peak differs by some MiB from time to time: one of three is the
  // truth, a buffer without a bound costs all of the lines in each.
  bool small = false;
  for (int round = 0; round < 3 && !small; ++round) {
    work_folder folder;
    folder.configure(server.url("/v1"), "context_window = 10_000_000\n");
    folder.write("p.json", plan.dump());
    const auto [quick, all] = peak_of(folder, false);
    const auto [slow, same] = peak_of(folder, true);
    UNSCOPED_INFO(quick << " KiB, " << slow << " KiB beside nobody who reads");
    CHECK(all > 20u << 20);  // of lines
    CHECK(same > 20u << 20);
    CHECK(quick > 0);
    CHECK(slow > 0);
    small = slow < quick + (16u << 10);
  }
  CHECK(small);
}
