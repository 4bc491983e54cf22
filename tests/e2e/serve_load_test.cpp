// SPDX-License-Identifier: MIT
// `riffle serve` under load: very many streams, all cut at once, clients that
// stop reading, a provider that floods it. Figures are printed; times are
// judged in the long form alone, which wants a machine of its own.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/e2e/crowd.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;
using std::chrono::milliseconds;

namespace {

const std::string wide = R"(
[server]
stall_timeout = "10s"
[server.limits]
connections = 20000
streams = 20000
streams_per_token = 20000
requests_per_second = 0
runs = 0
)";

bool is_full() { return std::getenv("RIFFLE_TEST_FULL") != nullptr; }

/// An event a second, for a while longer than it is looked at.
void write_ticking(const work_folder& folder, int seconds,
                   const std::string& more = wide) {
  std::string text;
  for (int i = 0; i < seconds; ++i)
    text += "word" + std::to_string(i % 10) + " ";
  write_server(
      folder, "chunk = 6\ndelay = \"1s\"\n[[steps]]\ntext = \"" + text + "\"\n",
      more);
}

std::string begin(const http_user& who, const json& body = {{"task", "x"}}) {
  const auto x = who.post("/v1/runs", body);
  INFO(x.body);
  REQUIRE(x.status == 202);
  return x.json()["run_id"];
}

std::string events_of_run(const std::string& run) {
  return "/v1/runs/" + run + "/events";
}

/// A line of the process's status, in KiB.
std::size_t memory_kib(served& server, const std::string& what) {
  std::ifstream in{"/proc/" + std::to_string(server.process().pid()) +
                   "/status"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with(what + ":"))
      return std::stoul(line.substr(what.size() + 1));
  return 0;
}

/// From now on its peak is that of what comes.
void forget_peak(served& server) {
  std::ofstream{"/proc/" + std::to_string(server.process().pid()) +
                "/clear_refs"}
      << "5";
}

}  // namespace

TEST_CASE("very many streams have each event once, for little memory",
          "[torture]") {
  const int n = repetitions(500, 2'000, 10'000);
  const int seconds = repetitions(5, 10, 600);
  crowd::raise_limit();
  const work_folder folder;
  write_ticking(folder, seconds + 120);
  served server{folder};
  const auto run = begin(server.user());
  // Another one, so that what is made once is there.
  server.user().get("/v1/runs/" + run);
  const auto before = memory_kib(server, "VmRSS");
  crowd clients{server.port(), server.user().token(), events_of_run(run)};
  clients.add(static_cast<std::size_t>(n));
  REQUIRE(clients.read(60s, [&] {
    return clients.count([](auto& x) { return x.last > 0; }) ==
           clients.all().size();
  }));
  clients.read_for(2s);
  clients.forget_gaps();
  clients.read_for(std::chrono::seconds{seconds});
  const auto each =
      (memory_kib(server, "VmRSS") - before) / clients.all().size();
  std::printf("S1: %d streams, %d s: %zu KiB each, largest gap %lld ms\n", n,
              seconds, each,
              static_cast<long long>(clients.largest_gap().count()));
  CHECK(clients.count([](auto& x) { return x.refused || x.ended; }) == 0);
  CHECK(clients.wrong() == 0);
  CHECK(clients.count([&](auto& x) {
    return x.events >= static_cast<std::uint64_t>(seconds / 2);
  }) == clients.all().size());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  CHECK(each <= 30);
#endif
  if (is_full()) CHECK(clients.largest_gap() <= 1500ms);
}

TEST_CASE("all streams are cut by a kill, come back at once, and miss nothing",
          "[torture]") {
  const int n = repetitions(300, 1'000, 10'000);
  crowd::raise_limit();
  const work_folder folder;
  write_ticking(folder, repetitions(40, 50, 120));
  served server{folder};
  const auto run = begin(server.user());
  crowd clients{server.port(), server.user().token(), events_of_run(run)};
  clients.add(static_cast<std::size_t>(n));
  REQUIRE(clients.read(60s, [&] {
    return clients.count([](auto& x) { return x.last > 2; }) ==
           clients.all().size();
  }));
  clients.cut();
  std::vector<std::uint64_t> before;
  for (const auto& x : clients.all()) before.push_back(x.last);
  server.kill_and_restart();
  const auto start = std::chrono::steady_clock::now();
  // As clients do it: `retry`, and up to as much again.
  clients.come_again(2s);
  const auto missing = [&] {
    std::size_t out = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      out += clients.all()[i].last == before[i] ? 1 : 0;
    return out;
  };
  CHECK(clients.read(30s, [&] { return missing() == 0; }));
  const auto took = std::chrono::steady_clock::now() - start;
  std::printf("S4: %d streams are back after %lld ms\n", n,
              static_cast<long long>(
                  std::chrono::duration_cast<milliseconds>(took).count()));
  const bool all = clients.read(300s, [&] {
    return clients.count([](auto& x) { return x.finished; }) ==
           clients.all().size();
  });
  CHECK(all);
  CHECK(clients.wrong() == 0);
  CHECK(clients.count([](auto& x) { return x.refused; }) == 0);
}

namespace {

/// A provider that says so much, as fast as it is taken.
http_server flood(std::size_t bytes) {
  return http_server{[bytes](const http_request&) {
    const auto unit = say(std::string(16'000, 'x'));
    auto reply = http_reply::sse();
    reply.repeat(unit, bytes / unit.size() + 1);
    return std::move(reply).send(finish("stop")).send(done_mark);
  }};
}

void write_flooded(const work_folder& folder, const http_server& provider,
                   const std::string& more = {}) {
  folder.write("riffle.toml", R"(
[runtime]
data_dir = "data"
[models.default]
api_key_env = ""
base_url = ")" + provider.url("/v1") +
                                  "\"\n" + more + wide);
}

constexpr std::size_t mib = 1u << 20;

}  // namespace

namespace {

/// A run of a provider that says `much`: most memory of the server over what
/// it had, in KiB.
std::size_t peak_of_flood(std::size_t much) {
  const auto provider = flood(much);
  const work_folder folder;
  // What a turn may have is held several times over; the rest is not taken.
  constexpr std::size_t most = 4 * mib;
  write_flooded(
      folder, provider,
      "[agents.default]\nmax_turn_bytes = " + std::to_string(most) + "\n");
  served server{folder};
  const auto who = server.user();
  who.get("/v1/runs");
  const auto base = memory_kib(server, "VmRSS");
  forget_peak(server);
  const auto run = begin(who);
  const auto end = await_end(who, run, 600s);
  INFO(end["status"].dump());
  const auto peak = memory_kib(server, "VmHWM");
  std::printf("S7: %zu MiB: %zu MiB over %zu\n", much / mib,
              (peak - base) / 1024, base / 1024);
  CHECK(peak > base);
  CHECK(end["status"] == "completed");
  const auto taken = end["answer"].get_ref<const std::string&>().size();
  CHECK(taken > most / 2);
  CHECK(taken <= most + mib / 8);  // the chunk that was too much
  // Its provider was held up, which is how.
  const auto metrics = who.get("/metrics").body;
  const std::string stalls = "\nriffle_model_stalls_total ";
  const auto at = metrics.find(stalls);
  REQUIRE(at != std::string::npos);
  CHECK(std::stod(metrics.substr(at + stalls.size())) > 0);
  return peak - base;
}

}  // namespace

TEST_CASE(
    "a run that nobody reads is taken from its provider in bounded memory",
    "[torture]") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return skip("a sanitizer's own memory hides the program's");
#endif
  const auto much = static_cast<std::size_t>(repetitions(50, 50, 1024)) * mib;
  constexpr std::size_t limit = 64 * 1024;
  // The best of three: beside other work what was freed is given back late.
  auto over = peak_of_flood(much);
  for (int again = 0; again < 2 && over > limit; ++again)
    over = std::min(over, peak_of_flood(much));
  CHECK(over <= limit);
}

namespace {

/// A run of `much` bytes before `fast` readers, and `slow` that stop reading
/// and come again when they were cut off: most memory of the server while the
/// others read, in MiB.
std::size_t peak_beside(std::size_t slow, std::size_t fast, std::size_t much) {
  const auto provider = flood(much);
  const work_folder folder;
  write_flooded(folder, provider, "[agents.default]\nmax_turn_bytes = 0\n");
  served server{folder};
  const auto who = server.user();
  const auto run = begin(who);
  crowd clients{server.port(), who.token(), events_of_run(run)};
  clients.add(slow, 4096);
  clients.stop(0, slow);
  clients.add(fast);
  const auto finished = [&] {
    return clients.count([](auto& x) { return x.finished; });
  };
  CHECK(clients.read(300s, [&] { return finished() == fast; }));
  const auto peak = memory_kib(server, "VmHWM") / 1024;
  const auto cut_off = "riffle_streams_stalled " + std::to_string(slow) + "\n";
  CHECK(eventually(
      [&] {
        return who.get("/metrics").body.find(cut_off) != std::string::npos;
      },
      60s));
  clients.go_on(0, slow);
  CHECK(clients.read(60s, [&] {
    return clients.count([](auto& x) { return x.ended; }) >= slow;
  }));
  CHECK(finished() == fast);
  clients.come_again({});
  CHECK(clients.read(300s, [&] { return finished() == slow + fast; }));
  CHECK(clients.wrong() == 0);
  return peak;
}

}  // namespace

TEST_CASE("clients that stop reading delay nobody, cost little and resume",
          "[torture]") {
  const auto half = static_cast<std::size_t>(repetitions(5, 5, 50));
  const auto much = static_cast<std::size_t>(repetitions(16, 64, 64)) * mib;
  crowd::raise_limit();
  const auto alone = peak_beside(0, half, much);
  const auto beside = peak_beside(half, half, much);
  std::printf("S2: %zu beside %zu that stopped, %zu MiB: %zu MiB, else %zu\n",
              half, half, much / mib, beside, alone);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  // Each holds a page, or a block of the journal.
  CHECK(beside <= alone + 32 + 2 * half);
#endif
}

TEST_CASE("the swarm that others use misses nothing", "[torture]") {
  const auto swarm = std::filesystem::path{RIFFLE_SOURCE_DIR}.parent_path() /
                     "shared" / "suites" / "sse_swarm.mjs";
  if (!std::filesystem::exists(swarm))
    return skip("shared/suites is not beside the checkout");
  if (std::system("node --version >/dev/null 2>&1") != 0)
    return skip("node is missing");
  const int n = repetitions(200, 2'000, 10'000);
  const int seconds = repetitions(6, 15, 60);
  crowd::raise_limit();
  const work_folder folder;
  write_ticking(folder, seconds + 60);
  served server{folder};
  const auto run = begin(server.user());
  program node{
      "/usr/bin/env",
      folder,
      {"node", swarm.string(), "127.0.0.1", std::to_string(server.port()),
       events_of_run(run), std::to_string(n), "2000", std::to_string(seconds)},
      {{"TOKEN", server.user().token()}}};
  const auto end = node.wait(std::chrono::seconds{seconds + 60});
  INFO(end.out << end.err);
  const auto at = end.out.find("FINAL");
  REQUIRE(at != std::string::npos);
  const auto told = end.out.substr(at);
  std::printf("swarm: %s", told.c_str());
  const auto many = std::to_string(n);
  CHECK(told.find("FINAL open " + many + " fail 0 clients with events " + many +
                  " events") != std::string::npos);
  CHECK(told.find("out-of-order/missing 0 max") != std::string::npos);
}
