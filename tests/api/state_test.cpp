// SPDX-License-Identifier: MIT
// The blocking call and the streaming one leave the same state, for every
// event type, with models that stream and models that do not.
#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "messages/event_check.hpp"
#include "runtime/api/riffle.hpp"
#include "runtime/storage/record_json.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

/// A task, and what makes it special.
struct scene {
  std::string name;
  std::string script;
  approve approval = approve::all;
  std::uint32_t max_steps = 6;
};

const std::vector<scene>& scenes() {
  static const std::vector<scene> all{
      {"calls of every kind", R"(
[[steps]]
events = [
  { reasoning = "I think. " }, { text = "I look. " },
  { call = { tool = "look", arguments = { at = "a" } } },
  { call = { tool = "change", arguments = { at = "b" } } },
  { call = { tool = "fail", arguments = {} } },
  { call = { tool = "nothing", arguments = {} } },
  { call = { tool = "look", arguments = { at = 3 } } },
  { call = { tool = "look", arguments = "{ no json" } },
]
usage = { input = 100, output = 20, cached = 7, reasoning = 5 }
[[steps]]
text = "Done: {{result.0}}."
)"},
      {"denied", R"(
[[steps]]
calls = [{ tool = "change", arguments = { at = "b" } }]
[[steps]]
text = "It was denied."
)",
       approve::none},
      {"control tools", R"(
[[steps]]
calls = [
  { tool = "manage_plan", arguments = { action = "create", steps = ["x", "y"] } },
  { tool = "seek_approval", arguments = { summary = "may I?" } },
]
[[steps]]
calls = [{ tool = "complete", arguments = { answer = "all done" } }]
)"},
      {"a model that fails first", R"(
[[steps]]
error = { status = 500, message = "not now", retry_after = "1ms", times = 1 }
text = "Better."
)"},
      {"a stream that is cut", R"(
[[steps]]
events = [
  { text = "Half of it. " }, { cut = { times = 1 } }, { text = "The rest." },
]
)"},
      {"too many steps", R"(
[[steps]]
calls = [{ tool = "look", arguments = { at = "1" } }]
[[steps]]
calls = [{ tool = "look", arguments = { at = "2" } }]
)",
       approve::all, 2},
      {"a tool that takes its time", R"(
[[steps]]
calls = [{ tool = "slow", arguments = {} }]
[[steps]]
text = "It came."
)"},
      {"a model that ends it", R"(
[[steps]]
error = { status = 400, message = "no such thing" }
)"},
  };
  return all;
}

std::vector<tools::tool_ptr> some_tools() {
  const auto spec = [](const char* name, effect eff) {
    tools::tool_spec x;
    x.name = name;
    x.description = "for tests";
    x.parameters = R"({"type":"object","properties":{"at":{"type":"string"}}})";
    x.eff = eff;
    return x;
  };
  const auto work = [](const json& arguments, tools::tool_context& context) {
    context.progress({.message = "working"});
    return "at " + arguments.at("at").get<std::string>();
  };
  return {make_tool(spec("look", effect::read_only), work),
          make_tool(spec("change", effect::mutating), work),
          make_tool(spec("slow", effect::read_only),
                    [](const json&) {
                      // Longer than a status has to stand.
                      std::this_thread::sleep_for(400ms);
                      return std::string{"at last"};
                    }),
          make_tool(spec("fail", effect::read_only),
                    [](const json&) -> expected<std::string> {
                      return unexpected{error{errc::tool_execution_error,
                                              "fail", "it always does"}};
                    })};
}

runtime make_runtime(const scene& x, bool streaming) {
  config::config config;
  config.runtime.log.level = "off";
  config.models["default"].dialect = "scripted";
  config.models["default"].streaming = streaming;
  config.models["default"].retry.base = 1ms;
  config.supervision.backoff_base = 1ms;
  config.agents["default"].max_steps = x.max_steps;
  config.agents["default"].tools = {"look",    "change",      "fail",
                                    "slow",    "manage_plan", "seek_approval",
                                    "complete"};
  runtime_options options;
  options.tools = some_tools();
  options.journal = storage::make_memory_journal();
  options.scripts["default"] = x.script;
  auto made = runtime::create(std::move(config), std::move(options));
  REQUIRE(made);
  return std::move(*made);
}

/// All that a run left behind, without ids and times.
struct state {
  std::vector<std::string> events;  ///< sorted: tools run side by side
  std::vector<std::string> records;
  std::vector<std::string> outputs;
  std::string outcome;
  bool operator==(const state&) const = default;
};

std::ostream& operator<<(std::ostream& out, const state& x) {
  for (const auto* part : {&x.events, &x.records, &x.outputs})
    for (const auto& line : *part) out << '\n' << line;
  return out << '\n' << x.outcome;
}

/// Numbers ids in the order in which they appear, and leaves times out.
class neutral {
 public:
  std::string operator()(const std::string& text) {
    static const std::regex id{"(run|ses|call|prop)_[0-9a-z]{26}"};
    std::string out;
    auto at = text.cbegin();
    for (std::sregex_iterator i{text.begin(), text.end(), id}, end; i != end;
         ++i) {
      out.append(at, (*i)[0].first);
      const auto number = std::to_string(known_.size());
      out += known_.try_emplace(i->str(), (*i)[1].str() + number).first->second;
      at = (*i)[0].second;
    }
    out.append(at, text.cend());
    static const std::regex time{
        R"re("(duration_ms|began|ended|started|timestamp|took|seq|attempt_seq|first_seq|last_seq)":("[^"]*"|[0-9]+))re"};
    return std::regex_replace(out, time, "\"$1\":_");
  }

 private:
  std::map<std::string, std::string> known_;
};

void add_events(runtime& from, const run_id& id, neutral& plain, state& out,
                std::set<std::string>& seen) {
  event_checker checker;
  std::map<std::string, std::string> texts;  // how it was cut is chance
  auto log = from.events(id);
  REQUIRE(log);
  while (auto batch = log->next(testing::scaled(20s)))
    batch->for_each([&](const event_view& x) {
      CHECK_FALSE(checker.on_line(x.line()));
      seen.emplace(x.type());
      if (x.type() == "status") return;  // how many there are is chance
      std::string buffer;
      const auto said = x.text(buffer);
      if (said.empty())
        out.events.push_back(plain(std::string{x.line()}));
      else
        texts[std::string{x.type()}] += said;
    });
  CHECK(checker.finish().empty());
  for (const auto& [type, text] : texts) out.events.push_back(type + text);
  std::ranges::sort(out.events);
}

state state_of(runtime& from, const run_outcome& end,
               std::set<std::string>& seen) {
  neutral plain;
  state out;
  auto snapshot = from.session(end.session);
  REQUIRE(snapshot);
  for (const auto& x : snapshot->runs) out.records.push_back(plain(to_json(x)));
  for (const auto& x : snapshot->messages)  // calls in the model's order
    out.records.push_back(plain(to_json(x)));
  std::ranges::sort(snapshot->calls, {}, [](const auto& x) {
    return std::pair{x.call.step, x.call.index};
  });
  for (const auto& x : snapshot->calls) {
    out.records.push_back(plain(to_json(x)));
    auto text = from.output(x.call.id);
    out.outputs.push_back(text ? plain(text->text) : "none");
  }
  add_events(from, end.run, plain, out, seen);
  out.outcome = std::string{to_string(end.status)} + "|" + end.answer + "|" +
                (end.failure ? render(*end.failure) : "") + "|" +
                std::to_string(end.steps) + "|" +
                std::to_string(end.tool_calls);
  return out;
}

/// Start, a handler, and a stream that another thread reads.
run_outcome run_streaming(runtime& in, const scene& x) {
  std::size_t handled = 0;
  auto started =
      in.start({.task = "go", .approval = x.approval},
               [&](const event_batch& batch) { handled = batch.last_seq(); });
  REQUIRE(started);
  std::size_t read = 0;
  std::thread reader{[&] {
    auto stream = started->events();
    while (auto batch = stream.next(testing::scaled(20s)))
      read = batch->last_seq();
  }};
  auto end = started->wait(testing::scaled(20s));
  reader.join();
  REQUIRE(end);
  CHECK(read == handled);
  return std::move(*end);
}

}  // namespace

TEST_CASE("execute leaves the same state as a streaming run") {
  for (const bool streaming : {true, false}) {
    std::set<std::string> seen_by_execute;
    std::set<std::string> seen_live;
    for (const auto& x : scenes()) {
      INFO(x.name << (streaming ? ", streaming" : ", not streaming"));
      auto blocking = make_runtime(x, streaming);
      const auto end = blocking.execute({.task = "go", .approval = x.approval});
      REQUIRE(end);
      auto live = make_runtime(x, streaming);
      const auto other = run_streaming(live, x);
      CHECK(state_of(blocking, *end, seen_by_execute) ==
            state_of(live, other, seen_live));
    }
    // Every event type that a run of this runtime can have.
    std::set<std::string> all;
    for (std::size_t i = 0; i < std::variant_size_v<events::body>; ++i)
      all.emplace(events::type_name(i));
    // Those of plans: plan_test.cpp.
    std::erase_if(all, [](const auto& x) {
      return x.starts_with("plan_") && x != "plan_updated";
    });
    all.erase("user_message");  // nobody says anything: told_test.cpp
    for (auto* seen : {&seen_by_execute, &seen_live}) {
      // A whole answer that fails has said nothing that could be withdrawn.
      if (!streaming) seen->erase("step_restarted");
      auto due = all;
      if (!streaming) due.erase("step_restarted");
      CHECK(*seen == due);
    }
  }
}
