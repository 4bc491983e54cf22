// SPDX-License-Identifier: MIT
#include "tests/actors/approval_scene.hpp"

#include "tests/support/catch.hpp"

namespace riffle::testing {

void approval_scene::play(std::vector<std::string> words,
                          const std::string& name) {
  words.push_back(model_says("The end.") + model_stops("stop"));
  provider->answers = std::move(words);
  begin();
  start(make_spec(name));
}

void approval_scene::pass(duration time) {
  const duration step = std::min<duration>(time, std::chrono::seconds{1});
  settle();
  for (duration passed{}; passed < time; passed += step) {
    advance(std::min(step, time - passed));
    settle();
  }
}

nlohmann::json approval_scene::only(std::string_view type) const {
  const auto found = events_of(reader->lines, type);
  INFO(type << " in\n" << reader->lines);
  REQUIRE(found.size() == 1);
  return found[0].at("data");
}

std::vector<std::string> approval_scene::outcomes() {
  std::vector<std::string> all;
  const auto stored = journal->load_session(session);
  REQUIRE(stored);
  for (const auto& x : stored->calls)
    if (x.run == run) all.emplace_back(to_string(x.how));
  return all;
}

storage::call_record approval_scene::call(std::size_t n) {
  const auto stored = journal->load_session(session);
  REQUIRE(stored);
  std::vector<storage::call_record> mine;
  for (const auto& x : stored->calls)
    if (x.run == run) mine.push_back(x);
  REQUIRE(n < mine.size());
  return mine[n];
}

std::string approval_scene::told(std::size_t n) { return call(n).told; }

std::string approval_scene::error_code(std::size_t n) {
  const auto x = call(n);
  REQUIRE(x.err);
  return std::string{to_string(x.err->code)};
}

void approval_scene::check(bool unfinished) {
  check_log(reader->lines, unfinished);
  check_requests(provider->requests);
}

std::string log_of(storage::journal& journal, const std::string& run) {
  const auto page = journal.read_events(run_id{run}, 0, 1u << 20);
  REQUIRE(page);
  std::string lines;
  for (const auto& block : page->blocks) lines += *block.lines;
  return lines;
}

}  // namespace riffle::testing
