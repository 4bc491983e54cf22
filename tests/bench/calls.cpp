// SPDX-License-Identifier: MIT
// What a call costs that does nothing: by a thread and by a warm child process,
// through one run and through a hundred. One line of JSON for each case.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "runtime/api/worker_main.hpp"
#include "tools/process/process_tree.hpp"

namespace {

using nlohmann::json;
using steady = std::chrono::steady_clock;

std::vector<riffle::tools::tool_ptr> make_tools() {
  return {riffle::make_tool(
      {.name = "nothing",
       .description = "does nothing",
       .parameters = R"({"type":"object"})",
       .eff = riffle::effect::read_only},
      [](const json&, riffle::tools::tool_context&) { return "ok"; })};
}

/// `steps` turns with `calls` calls each, then an answer.
std::string script(int steps, int calls) {
  std::string line = "[[steps]]\ncalls = [";
  for (int i = 0; i < calls; ++i)
    line += "{ tool = \"nothing\", arguments = { n = " + std::to_string(i) +
            " } }, ";
  line += "]\n";
  std::string out;
  for (int i = 0; i < steps; ++i) out += line;
  return out + "[[steps]]\ntext = \"done\"\n";
}

std::int64_t cpu_of(int who) {
  rusage u{};
  getrusage(who, &u);
  return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1'000'000LL +
         u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

/// CPU of living children is in /proc only.
std::int64_t cpu_us() {
  auto all = cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN);
  const auto tick = 1'000'000 / sysconf(_SC_CLK_TCK);
  for (const int pid : riffle::tools::descendants()) {
    std::ifstream in{"/proc/" + std::to_string(pid) + "/stat"};
    std::string text{std::istreambuf_iterator<char>{in}, {}};
    const auto at = text.rfind(')');
    if (at == std::string::npos) continue;
    std::istringstream rest{text.substr(at + 2)};
    std::string skip;
    for (int i = 3; i < 14; ++i) rest >> skip;
    std::int64_t user = 0;
    std::int64_t system = 0;
    rest >> user >> system;
    all += (user + system) * tick;
  }
  return all;
}

/// KiB of the memory of all children that is not shared with others.
json memory_of_children() {
  long own = 0;
  long proportional = 0;
  const auto all = riffle::tools::descendants();
  for (const int pid : all) {
    std::ifstream in{"/proc/" + std::to_string(pid) + "/smaps_rollup"};
    std::string key;
    long size = 0;
    std::string rest;
    while (in >> key) {
      if (!key.ends_with(':')) {
        std::getline(in, rest);
        continue;
      }
      in >> size;
      std::getline(in, rest);
      if (key.starts_with("Private_")) own += size;
      if (key == "Pss:") proportional += size;
    }
  }
  return {
      {"processes", all.size()}, {"private_kb", own}, {"pss_kb", proportional}};
}

/// From `tool_call` to `tool_result`, as a subscriber sees them.
class stopwatch {
 public:
  void note(const riffle::event_view& event) {
    const auto type = event.type();
    if (type != "tool_call" && type != "tool_result") return;
    const auto id = json::parse(event.line()).at("data").at("id");
    if (type == "tool_call") {
      began_[id] = steady::now();
      return;
    }
    const std::chrono::duration<double, std::micro> took =
        steady::now() - began_[id];
    std::lock_guard lock{mutex_};
    all_.push_back(took.count());
  }
  double percentile(double p) {
    if (all_.empty()) return 0;
    std::ranges::sort(all_);
    return all_[static_cast<std::size_t>(p *
                                         static_cast<double>(all_.size() - 1))];
  }

 private:
  std::mutex mutex_;
  std::map<std::string, steady::time_point> began_;
  std::vector<double> all_;
};

riffle::config::config make_config(const std::string& isolation) {
  riffle::config::config c;
  c.models["default"].dialect = "scripted";
  auto& agent = c.agents["default"];
  agent.tools = {"nothing"};
  agent.max_steps = 100'000;
  agent.max_calls_in_flight = 1000;
  agent.loop_limit = 0;
  c.runtime.max_calls = 64;
  c.tools.defaults.concurrency = 2;
  c.tools.defaults.isolation = isolation;
  c.runtime.log.level = "error";
  return c;
}

struct load {
  int runs;
  int steps;
  int calls;
  bool watched = false;  ///< measure latency too
};

json measure(const std::string& isolation, const load& x) {
  riffle::runtime_options options;
  options.tools = make_tools();
  options.journal = riffle::storage::make_memory_journal();
  options.scripts["default"] = script(x.steps, x.calls);
  auto made =
      riffle::runtime::create(make_config(isolation), std::move(options));
  if (!made) return {{"error", render(made.error())}};
  stopwatch watch;
  const auto play = [&](int count) {
    std::vector<riffle::run> runs;
    for (int i = 0; i < count; ++i) {
      riffle::run_request request;
      request.task = "go";
      auto run = made->start(
          std::move(request), [&](const riffle::event_batch& batch) {
            if (x.watched)
              batch.for_each(
                  [&](const riffle::event_view& event) { watch.note(event); });
          });
      if (!run) return false;
      runs.push_back(std::move(*run));
    }
    return std::ranges::all_of(runs, [](auto& run) {
      const auto end = run.wait(std::chrono::minutes{5});
      return end && end->status == riffle::events::run_status::completed;
    });
  };
  const auto cpu = cpu_us();
  const auto began = steady::now();
  const bool ok = play(x.runs);
  const std::chrono::duration<double, std::micro> wall = steady::now() - began;
  const auto calls = static_cast<double>(x.runs) * x.steps * x.calls;
  json out{{"isolation", isolation},
           {"runs", x.runs},
           {"calls", calls},
           {"ok", ok},
           {"calls_per_s", 1e6 * calls / wall.count()},
           {"cpu_us_per_call", static_cast<double>(cpu_us() - cpu) / calls},
           {"children", memory_of_children()}};
  if (x.watched) {
    out["latency_p50_us"] = watch.percentile(.5);
    out["latency_p99_us"] = watch.percentile(.99);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (const int child = riffle::worker_main(argc, argv, make_tools);
      child != -1)
    return child;
  // With arguments: one case. ISOLATION RUNS STEPS CALLS
  if (argc == 5) {
    const load x{std::atoi(argv[2]), std::atoi(argv[3]), std::atoi(argv[4])};
    std::cout << measure(argv[1], x).dump() << std::endl;
    return 0;
  }
  for (const std::string isolation : {"thread", "process"})
    for (const auto& x : {load{1, 100, 1, true}, load{1, 20, 100},
                          load{100, 20, 1}, load{100, 2, 50}})
      std::cout << measure(isolation, x).dump() << std::endl;
  return 0;
}
