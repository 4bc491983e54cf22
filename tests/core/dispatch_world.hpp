// SPDX-License-Identifier: MIT
#pragma once

// A world around the dispatch queue for random schedules: a model that
// streams, a journal that stores a prefix, a tracker of approvals, pools and
// workers that answer late, twice, wrongly or never, time, and crashes. Every
// message between them may be delayed; each sender keeps its own order.

#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "actors/core/dispatch_queue.hpp"
#include "tests/core/dispatch_watch.hpp"

namespace riffle::testing {

class dispatch_world {
 public:
  /// `mute`: workers never answer, so that only time limits end their calls.
  dispatch_world(unsigned seed, bool mute);

  /// Plays a run of two steps to its end; fails the test if it never comes.
  void play();

  [[nodiscard]] int crashes() const { return crashes_; }
  [[nodiscard]] int reused() const { return reused_; }

 private:
  /// What the journal holds, in order; all of it the run's events or state.
  struct record {
    enum class kind : std::uint8_t {
      step,
      noted,
      asked,
      decided,
      begun,
      settled,
      message,
      drained,
    } what;
    call_id id;
    std::uint32_t attempt = 0;
    bool flag = false;  ///< announced, approved, safe
    outcome how = outcome::ok;
    std::vector<tool_call> calls;  ///< of a message; of an edit
    std::string place;             ///< of what was asked for and decided
  };
  struct work {
    std::uint32_t attempt = 0;
    bool control = false;
    bool running = false;
    bool stop = false;
  };
  using action = std::pair<int, std::function<void()>>;

  // What may happen next; dispatch_world_actions.cpp.
  std::vector<action> actions();
  void add_model(std::vector<action>& out);
  void add_journal(std::vector<action>& out);
  void add_tracker(std::vector<action>& out);
  void add_work(std::vector<action>& out, const call_id& id, work& x);
  void add_time(std::vector<action>& out);
  void add_trouble(std::vector<action>& out);

  tool_call random_call();
  void begin_step();
  void begin_attempt();
  void tell_next_call();
  void end_turn();
  void drain(core::drain_reason why);
  void store_some();
  void decide(const call_id& id, bool approved);
  void start(const call_id& id);
  void finish(const call_id& id, outcome how);
  void die(const call_id& id);
  void move(const call_id& id);
  void answer(const tool_call& call);
  [[nodiscard]] bool pending(const call_id& id) const;
  std::string random_place();
  void check_judged(const tool_call& call) const;
  void crash();
  void recover(const record* message, std::size_t step_begin);

  void take(core::dispatch_effects effects);
  bool asks_nobody(const core::request_approval& x);
  void see(const core::request_approval& x);
  void see(const core::note_waiting& x);
  void see(const core::begin_call& x);
  void see(const core::start_work& x);
  void see(const core::start_control& x);
  void see(const core::stop_work& x);
  void see(const core::cancel_approval& x);
  void see(const core::retry_call&) {}
  void see(const core::settle_call& x);
  void see(const core::calls_drained& x);
  void see(const core::judge_start& x);
  void see(const core::tell_queued&) {}  // nothing to do

  bool recorded(record::kind what, const call_id& id, std::size_t end) const;
  core::restored_call restored(const tool_call& call) const;
  void check_act(const call_id& id);
  void check_log() const;
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  bool chance(unsigned percent) { return below(100) < percent; }

  std::mt19937 random_;
  bool mute_;
  bool calm_ = false;  ///< no more trouble: the run has to end
  bool done_ = false;
  core::dispatch_limits limits_;
  core::dispatch_queue queue_;
  dispatch_watch watch_;
  time_point now_ = time_point{} + std::chrono::hours{1};

  int steps_ = 0;
  unsigned next_id_ = 0;
  std::vector<tool_call> script_;  ///< what the model asks for in this step
  std::vector<tool_call> plan_;    ///< the same, with the attempt's ids
  std::size_t told_ = 0;
  bool gated_ = false;
  bool draining_ = false;
  bool last_drain_ = false;
  std::map<call_id, tool_call> calls_;

  std::vector<record> log_;
  std::size_t stored_ = 0;
  std::deque<std::function<void()>> notices_;  ///< journal → dispatcher
  std::deque<std::function<void()>> mail_;     ///< workers → dispatcher
  std::deque<std::function<void()>> answers_;  ///< of judges
  std::vector<std::function<void()>> echoes_;  ///< what may come twice
  std::set<call_id> asked_;
  std::set<call_id> withdrawn_;
  std::map<call_id, work> works_;
  std::map<call_id, int> acts_;
  /// Where calls lead: "free", "ask 1", "ask 2" or "denied"; changes any time.
  std::map<call_id, std::string> places_;
  std::map<call_id, std::string> asked_places_;
  std::map<call_id, std::string> judged_;  ///< what was answered last
  int crashes_ = 0;
  int reused_ = 0;
};

}  // namespace riffle::testing
