// SPDX-License-Identifier: MIT
// A benchmark peer: uses the library as a user would, consumes every event,
// one event for each chunk, and prints one line of JSON at the end. The flags
// and the line are the contract of the benchmark harness; see README.md.
#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"

namespace {

using nlohmann::json;

struct options {
  std::string base, scenario = "{}", data_dir, batching = "token";
  std::string durability = "process";
  std::string warm = R"({"tokens":200,"turns":1,"tools":1})";
  int warmup = 1, concurrency = 1, runs = 1, rss = 0, threads = 0;
};

options parse(int argc, char** argv) {
  options o;
  const std::map<std::string, std::string*> texts{
      {"--base", &o.base},         {"--scenario", &o.scenario},
      {"--warm", &o.warm},         {"--sqlite", &o.data_dir},
      {"--batching", &o.batching}, {"--durability", &o.durability}};
  const std::map<std::string, int*> numbers{{"--warmup", &o.warmup},
                                            {"--concurrency", &o.concurrency},
                                            {"--runs", &o.runs},
                                            {"--rss", &o.rss},
                                            {"--threads", &o.threads}};
  for (int i = 1; i + 1 < argc; i += 2) {
    if (const auto t = texts.find(argv[i]); t != texts.end())
      *t->second = argv[i + 1];
    if (const auto n = numbers.find(argv[i]); n != numbers.end())
      *n->second = std::stoi(argv[i + 1]);
  }
  return o;
}

std::int64_t now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}

std::int64_t cpu_us() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1'000'000LL +
         u.ru_utime.tv_usec + u.ru_stime.tv_usec;
}

long rss_kb() {
  std::ifstream in{"/proc/self/statm"};
  long size = 0;
  long resident = 0;
  in >> size >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

double percentile(std::vector<double> all, double p) {
  if (all.empty()) return -1;
  std::ranges::sort(all);
  const auto i = static_cast<std::size_t>(p * static_cast<double>(all.size()));
  return all[std::min(all.size() - 1, i)];
}

/// A folder of its own, removed at the end.
struct own_folder {
  own_folder() { ok = ::mkdtemp(name.data()) != nullptr; }
  ~own_folder() {
    std::error_code ignored;
    if (ok) std::filesystem::remove_all(name, ignored);
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;

  std::string name =
      std::filesystem::temp_directory_path() / "riffle-bench-XXXXXX";
  bool ok = false;
};

/// What one measured run saw; filled by handlers on the runtime's threads.
struct record {
  std::mutex mutex;  // latencies only
  std::vector<double> first, all;
  std::atomic<std::int64_t> chunks = 0, events = 0, tools = 0, bytes = 0;
  std::atomic<std::int64_t> first_tool = 0, last_tool = 0, last_stamp0 = 0;

  void reset() {
    chunks = events = tools = bytes = 0;
    first_tool = last_tool = last_stamp0 = 0;
  }
};

record seen;

/// Content is "@<turn>:<CLOCK_MONOTONIC ns> " in stamped scenarios.
void note_stamp(std::string_view text, bool& got_first) {
  const auto colon = text.find(':');
  std::int64_t at = 0;
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), at);
  const auto late = static_cast<double>(now_ns() - at) / 1000.0;
  std::lock_guard lock{seen.mutex};
  seen.all.push_back(late);
  if (!std::exchange(got_first, true)) seen.first.push_back(late);
  if (text.substr(1, colon - 1) == "0" && at > seen.last_stamp0)
    seen.last_stamp0 = at;
}

riffle::event_handler make_handler() {
  return [buffer = std::string{},
          got_first = false](const riffle::event_batch& batch) mutable {
    std::int64_t events = 0;
    std::int64_t chunks = 0;
    std::int64_t bytes = 0;
    batch.for_each([&](const riffle::event_view& event) {
      ++events;
      const auto text = event.text(buffer);
      if (text.empty()) return;
      ++chunks;
      bytes += static_cast<std::int64_t>(text.size());
      if (text[0] == '@') note_stamp(text, got_first);
    });
    seen.events += events;
    seen.chunks += chunks;
    seen.bytes += bytes;
  };
}

class lookup final : public riffle::tools::tool {
 public:
  lookup() {
    spec_.name = "lookup";
    spec_.description = "look something up";
    spec_.parameters =
        R"({"type":"object","properties":{"q":{"type":"string"},"ms":{"type":"number"}},"required":["q","ms"]})";
    spec_.eff = riffle::effect::read_only;
  }
  const riffle::tools::tool_spec& spec() const noexcept override {
    return spec_;
  }
  std::string title(const json& a) const override {
    return "Looking up " + a.at("q").get<std::string>();
  }
  riffle::tools::tool_output run(const json& a,
                                 riffle::tools::tool_context&) override {
    const auto t = now_ns();
    std::int64_t none = 0;
    seen.first_tool.compare_exchange_strong(none, t);
    ++seen.tools;
    const auto ms = a.at("ms").get<double>();
    if (ms > 0)
      std::this_thread::sleep_for(
          std::chrono::duration<double, std::milli>{ms});
    seen.last_tool = now_ns();
    return {json{{"ok", true}, {"n", 42}, {"q", a.at("q")}}.dump(), {}, {}};
  }

 private:
  riffle::tools::tool_spec spec_;
};

riffle::config::config make_config(const options& o) {
  using namespace std::chrono_literals;
  riffle::config::config c;
  auto& m = c.models["default"];
  m.base_url = o.base;
  m.model = "mock";
  m.api_key_env = "";
  m.retry.max_attempts = 1;
  m.max_concurrent = 0;
  auto& a = c.agents["default"];
  a.tools = {"lookup"};
  a.max_steps = 1000;
  a.loop_limit = 0;
  a.system_prompt.clear();
  c.publish.batching = o.batching;
  c.tools.defaults.concurrency = 8;
  c.runtime.log.level = "error";
  c.runtime.data_dir = o.data_dir;
  c.runtime.durability = o.durability;
  c.runtime.threads = static_cast<std::uint32_t>(o.threads);
  return c;
}

bool run_all(riffle::runtime& runtime, const std::string& script, int count) {
  std::vector<riffle::run> runs;
  runs.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    riffle::run_request request;
    request.task = script;
    auto started = runtime.start(std::move(request), make_handler());
    if (!started) {
      std::cerr << render(started.error()) << '\n';
      return false;
    }
    runs.push_back(std::move(*started));
  }
  bool ok = true;
  for (auto& run : runs) {
    const auto end = run.wait(std::chrono::minutes{10});
    if (end && end->status == riffle::events::run_status::completed) continue;
    ok = false;
    std::cerr << (end ? end->failure ? render(*end->failure) : "?"
                      : render(end.error()))
              << '\n';
  }
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  auto o = parse(argc, argv);
  std::optional<own_folder> folder;
  if (o.data_dir == "-") o.data_dir = folder.emplace().name;
  riffle::runtime_options parts;
  parts.tools.push_back(std::make_shared<lookup>());
  if (o.data_dir.empty())
    parts.journal = riffle::storage::make_memory_journal();
  auto made = riffle::runtime::create(make_config(o), std::move(parts));
  if (!made) {
    std::cerr << render(made.error()) << '\n';
    return 2;
  }
  auto& runtime = *made;
  bool ok = true;
  for (int i = 0; i < o.warmup; ++i) ok = run_all(runtime, o.warm, 1) && ok;
  const auto rss0 = rss_kb();
  seen.first.clear();
  seen.all.clear();
  const auto script = json::parse(o.scenario);
  const auto tokens = script.value("tokens", 100);
  const auto want =
      (script.value("final", tokens) + script.value("turns", 0) * tokens) *
      o.concurrency;
  std::atomic<bool> done = false;
  std::vector<long> samples;
  std::thread sampler;
  if (o.rss > 0)
    sampler = std::thread{[&] {
      while (!done) {
        samples.push_back(rss_kb());
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
      }
    }};
  json cpu = json::array();
  json wall = json::array();
  json chunks = json::array();
  json makespan = json::array();
  for (int i = 0; i < o.runs; ++i) {
    seen.reset();
    const auto c0 = cpu_us();
    const auto t0 = now_ns();
    ok = run_all(runtime, o.scenario, o.concurrency) && ok;
    cpu.push_back(cpu_us() - c0);
    wall.push_back((now_ns() - t0) / 1000);
    // Joined text is one event for many chunks: then the bytes tell.
    const bool counted = o.batching == "token";
    chunks.push_back(counted ? seen.chunks.load() : want);
    makespan.push_back((seen.last_tool - seen.first_tool) / 1000);
    if (counted ? seen.chunks != want : seen.bytes < want) ok = false;
  }
  done = true;
  if (sampler.joinable()) sampler.join();
  std::ranges::sort(samples);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto early =
      seen.last_stamp0 != 0 && seen.first_tool != 0
          ? static_cast<double>(seen.first_tool - seen.last_stamp0) / 1000.0
          : 0.0;
  json out;
  out["runtime"] = "c++";
  out["versions"] = {{"riffle", RIFFLE_VERSION}};
  out["ok"] = ok;
  out["cpu_us"] = cpu;
  out["wall_us"] = wall;
  out["chunks"] = chunks;
  out["want"] = want;
  out["text_bytes"] = seen.bytes.load();
  out["events"] = seen.events.load();
  out["tools"] = seen.tools.load();
  out["makespan_us"] = makespan;
  out["tool_start_minus_turn_end_us"] = early;
  out["first_p50_us"] = percentile(seen.first, .5);
  out["first_p99_us"] = percentile(seen.first, .99);
  out["chunk_p50_us"] = percentile(seen.all, .5);
  out["chunk_p99_us"] = percentile(seen.all, .99);
  out["n_first"] = seen.first.size();
  out["rss0_kb"] = rss0;
  out["rss_med_kb"] = samples.empty() ? rss0 : samples[samples.size() / 2];
  out["rss_peak_kb"] = samples.empty() ? rss0 : samples.back();
  out["rss_gc_kb"] = 0;
  out["maxrss_kb"] = usage.ru_maxrss;
  // The harness looks for a line that begins with the peer's name.
  std::cout << R"({"peer":"riffle",)" << out.dump().substr(1) << std::endl;
  return 0;
}
