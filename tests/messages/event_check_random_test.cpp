// SPDX-License-Identifier: MIT
// Random valid logs, and random changes whose outcome is known.
#include <sstream>

#include "messages/event_check.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/event_log_builder.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

int first_broken(const std::string& text) {
  std::istringstream in{text};
  const auto report = check_events(in);
  return report.ok() ? 0 : report.violations.front().promise;
}

// One call of a step, and how far it is.
struct open_call {
  std::string id;
  bool asks = false;
  int at = 0;
};

class log_maker {
 public:
  explicit log_maker(random_values& random) : random_{random} {}

  event_log make() {
    log_.start();
    const auto steps = 1 + random_.below(3);
    for (std::size_t i = 0; i < steps; ++i) {
      log_.step();
      noise();
      if (random_.chance(0.3)) {
        calls();
        log_.text("withdrawn").restart();
      }
      log_.text("text of the step ");
      calls();
      log_.text("and its end");
      noise();
    }
    if (random_.chance(0.7)) return log_.answer().finish();
    return log_.fail().finish(events::run_status::failed);
  }

 private:
  void noise() {
    if (random_.chance(0.3)) log_.status();
    if (random_.chance(0.3)) log_.reasoning("thought");
    if (random_.chance(0.3)) log_.usage();
    if (random_.chance(0.2)) log_.retry();
  }
  // Some calls, each step of each in its order, all mixed.
  void calls() {
    std::vector<open_call> open;
    for (auto n = random_.below(4); n-- > 0;)
      open.push_back({"call_" + std::to_string(++made_), random_.chance(0.3)});
    while (!open.empty()) {
      const auto i = random_.below(open.size());
      if (!advance(open[i]))
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(i));
      if (random_.chance(0.2)) noise();
    }
  }
  // Whether the call goes on after it.
  bool advance(open_call& x) {
    if (x.at == 0 && !x.asks) x.at = 2;
    switch (x.at++) {
      case 0: log_.ask(x.id); return true;
      case 1: log_.decide(x.id); return true;
      case 2: log_.call(x.id, "write"); return true;
      default:
        if (random_.chance(0.5)) {
          log_.progress(x.id);
          return true;
        }
        log_.result(x.id);
        return false;
    }
  }

  random_values& random_;
  event_log_builder log_;
  int made_ = 0;
};

template <class T>
bool is(const event& x) {
  return std::holds_alternative<T>(x.body);
}

bool new_attempt_after(const event_log& log, std::size_t i) {
  for (++i; i < log.size(); ++i)
    if (is<events::step_start>(log[i]) || is<events::step_restarted>(log[i]))
      return true;
  return false;
}

// What a log breaks first when event `i` is taken out and the rest is numbered
// again; 0: nothing.
int broken_without(const event_log& log, std::size_t i) {
  const auto& x = log[i];
  if (is<events::run_started>(x)) return 1;
  if (is<events::tool_call>(x) || is<events::approval_required>(x) ||
      is<events::approval_resolved>(x))
    return 2;
  if (is<events::tool_result>(x)) return new_attempt_after(log, i) ? 3 : 2;
  if (is<events::step_start>(x)) return 3;
  if (is<events::final_answer>(x) || is<events::failure>(x) ||
      is<events::run_finished>(x))
    return 4;
  const bool answered = find_event<events::final_answer>(log) < log.size();
  if (is<events::llm_token>(x) && answered && !new_attempt_after(log, i))
    return 4;
  return 0;
}

// The same when event `i` stands twice.
int broken_by_twice(const event_log& log, std::size_t i) {
  const auto& x = log[i];
  if (is<events::run_started>(x)) return 1;
  if (is<events::step_start>(x) || is<events::step_restarted>(x)) return 3;
  if (is<events::tool_call>(x) || is<events::tool_result>(x) ||
      is<events::approval_required>(x) || is<events::approval_resolved>(x))
    return 2;
  if (is<events::final_answer>(x) || is<events::run_finished>(x)) return 4;
  const bool answered = find_event<events::final_answer>(log) < log.size();
  if (is<events::llm_token>(x) && answered && !new_attempt_after(log, i))
    return 4;
  return 0;
}

}  // namespace

TEST_CASE("random valid logs keep every promise, and changed ones do not") {
  const auto seed = fresh_seed();
  random_values random{seed};
  for (int round = 0; round < 400; ++round) {
    const auto log = log_maker{random}.make();
    const auto at = random.below(log.size());
    const auto place = static_cast<std::ptrdiff_t>(at);
    CAPTURE(seed, round, at, to_text(log));
    REQUIRE(first_broken(to_text(log)) == 0);

    auto less = log;
    less.erase(less.begin() + place);
    REQUIRE(first_broken(to_text(less)) == (at + 1 == log.size() ? 4 : 1));
    if (!is<events::step_restarted>(log[at])) {
      renumber(less);
      REQUIRE(first_broken(to_text(less)) == broken_without(log, at));
    }

    auto more = log;
    more.insert(more.begin() + place, log[at]);
    REQUIRE(first_broken(to_text(more)) == (at + 1 == log.size() ? 4 : 1));
    renumber(more);
    REQUIRE(first_broken(to_text(more)) == broken_by_twice(log, at));

    if (at + 1 < log.size()) {
      auto swapped = log;
      std::swap(swapped[at], swapped[at + 1]);
      REQUIRE(first_broken(to_text(swapped)) == 1);
    }
  }
}

TEST_CASE("no damaged byte makes the check fail in another way") {
  const auto seed = fresh_seed();
  random_values random{seed};
  for (int round = 0; round < 300; ++round) {
    auto text = to_text(log_maker{random}.make());
    CAPTURE(seed, round, text);
    const auto at = random.below(text.size());
    text[at] = static_cast<char>(random.below(256));
    const auto promise = first_broken(text);
    CHECK(promise >= 0);
    CHECK(promise <= 4);
    text.resize(random.below(text.size()));  // cut off: never complete
    CHECK(first_broken(text) != 0);
  }
}
