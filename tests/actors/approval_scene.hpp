// SPDX-License-Identifier: MIT
#pragma once

// A simulated process whose mutating calls need a person's decision.

#include <string>
#include <vector>

#include "tests/actors/fixture.hpp"

namespace riffle::testing {

class approval_scene : public actor_fixture {
 public:
  explicit approval_scene(std::shared_ptr<storage::journal> stored = {})
      : actor_fixture{std::move(stored)} {
    approval = approve::ask;
    previews = true;
    settings.defaults.approval = "ask";
  }

  /// Starts a run whose model says this, then that it is done.
  void play(std::vector<std::string> words, const std::string& name = "run_1");
  /// Lets time pass, whatever the run does; in steps, so that timers see it.
  void pass(duration time);

  /// The data of the only event of this type.
  [[nodiscard]] nlohmann::json only(std::string_view type) const;
  /// How calls ended, in the order of the calls.
  [[nodiscard]] std::vector<std::string> outcomes();
  /// What the model is told of the n-th call of the run, and its error's code.
  [[nodiscard]] std::string told(std::size_t n);
  [[nodiscard]] std::string error_code(std::size_t n);
  /// The log and the requests keep the contract's promises.
  void check(bool unfinished = false);

 private:
  storage::call_record call(std::size_t n);
};

/// A process that goes on with `run_1` after another one died.
struct next_life : approval_scene {
  explicit next_life(std::shared_ptr<storage::journal> stored, int n = 1)
      : approval_scene{std::move(stored)} {
    ids = std::make_shared<id_source>(100 + static_cast<unsigned>(n), [n] {
      return wall_time{1'000'000 * (n + 1)};
    });
    provider->answers = {model_says("The end.") + model_stops("stop")};
  }
  void go_on(const std::string& name = "run_1") {
    begin();
    resume(make_spec(name));
  }
};

/// The stored log of a run.
std::string log_of(storage::journal& journal, const std::string& run);

}  // namespace riffle::testing
