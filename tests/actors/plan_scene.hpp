// SPDX-License-Identifier: MIT
#pragma once

// Plans of the actor fixture: their runs have its model and tools.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "actors/run/plan_records.hpp"
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

inline const session_id steps_session{"ses_steps"};

/// One step, in braces, is a list of one.
inline nlohmann::json list(const nlohmann::json& x) {
  return x.is_array() ? x : nlohmann::json::array({x});
}

/// A plan's spec of the fixture: its runs have the fixture's model and tools.
inline std::shared_ptr<run_spec> plan_spec(actor_fixture& x,
                                           const nlohmann::json& steps,
                                           duration limit = {}) {
  auto spec = x.make_spec("plan_1");
  x.session = session_id{"plan_1"};
  spec->session = x.session;
  spec->agent.tools = {"look", "act", "redo"};
  spec->time_limit = limit;
  auto work = std::make_shared<plan_work>();
  const nlohmann::json root{{"steps", list(steps)}};
  auto read = core::read_plan_document(
      root,
      [](const std::string&, const std::string*) { return std::string{}; });
  REQUIRE(read.mistakes.empty());
  work->document = std::move(read.plan);
  work->text = root.dump();
  work->settings = "{}";
  work->make_step = [&x](const run_id& id,
                         const std::string& task) -> expected<run_spec_ptr> {
    const auto mine = x.run;
    auto step = x.make_spec(id.value);
    x.run = mine;  // the reader's
    step->session = steps_session;
    step->task = task;
    step->within_plan = true;
    return run_spec_ptr{std::move(step)};
  };
  work->output = [journal = x.journal](const call_id& id) {
    return journal->load_output(id);
  };
  spec->plan = std::move(work);
  return spec;
}

/// Of another life, so that no id comes twice.
inline std::shared_ptr<id_source> other_ids() {
  return std::make_shared<id_source>(8, [] { return wall_time{2'000'000}; });
}

inline nlohmann::json tool(const std::string& name,
                           nlohmann::json arguments = {{"n", 1}}) {
  return {{"tool", name}, {"arguments", std::move(arguments)}};
}

inline nlohmann::json say(const std::string& text = "go") {
  return {{"instruction", text}};
}

inline nlohmann::json last_data(const std::string& lines,
                                std::string_view type) {
  const auto all = events_of(lines, type);
  INFO(lines);
  REQUIRE_FALSE(all.empty());
  return all.back().at("data");
}

inline std::string stored_log(storage::journal& journal, const run_id& run) {
  std::string out;
  if (const auto page = journal.read_events(run, 0, 16u << 20))
    for (const auto& block : page->blocks) out += *block.lines;
  return out;
}

}  // namespace riffle::testing
