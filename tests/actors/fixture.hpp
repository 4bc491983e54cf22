// SPDX-License-Identifier: MIT
#pragma once

// A process's actors in production wiring, on the deterministic scheduler:
// nothing happens, and no time passes, unless the test says so.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include "actors/interfaces.hpp"
#include "actors/process/spawn.hpp"
#include "messages/type_ids.hpp"
#include "runtime/base/executor.hpp"
#include "tests/support/test_journal.hpp"

namespace riffle::testing {

/// A blocking executor whose jobs begin and run when the test says so.
class manual_executor final : public executor {
 public:
  struct task {
    job begun;
    job work;
  };

  using executor::submit;
  void submit(job work, queue_ticket, job begun) override {
    jobs.push_back({std::move(begun), std::move(work)});
  }
  /// All get a thread, on which they stay. False: they had one.
  bool begin_all() {
    bool any = false;
    for (auto& x : jobs)
      if (auto begun = std::exchange(x.begun, {})) {
        begun();
        any = true;
      }
    return any;
  }
  bool run_one() {
    if (jobs.empty()) return false;
    auto next = std::move(jobs.front());
    jobs.pop_front();
    if (next.begun) next.begun();
    next.work();
    return true;
  }
  std::deque<task> jobs;
};

/// A provider that says what the test tells it to.
class scripted_model final : public model::transport {
 public:
  model::transfer_id open(
      model::transport_request request,
      std::shared_ptr<model::transfer_listener> listener) override;
  void grant(model::transfer_id id, std::size_t bytes) override;
  void cancel(model::transfer_id id) override;

  /// What answers the n-th request, from 0; the last one answers all further
  /// ones. A step that ends with `cut` breaks the stream there; one that ends
  /// with `hold` stays open.
  std::vector<std::string> answers;
  std::vector<std::string> requests;  ///< bodies
  std::map<model::transfer_id, std::size_t> granted;
  std::set<model::transfer_id> cancelled;
  std::string content_type = "text/event-stream";  ///< of the answers

  static inline const std::string cut = "<cut>";
  static inline const std::string hold = "<hold>";

 private:
  std::map<model::transfer_id, std::shared_ptr<model::transfer_listener>> open_;
  model::transfer_id last_ = 0;
};

/// A tool that notes each call that reached it.
class recording_tool final : public tools::tool {
 public:
  recording_tool(std::string name, effect eff, bool idempotent = false);
  const tools::tool_spec& spec() const noexcept override { return spec_; }
  std::string title(const nlohmann::json&) const override {
    fail("title");
    return "Acting";
  }
  std::vector<std::string> keys(
      const nlohmann::json& args,
      const std::filesystem::path& workspace) const override {
    fail("keys");
    if (own_keys) return {args.dump()};
    return tool::keys(args, workspace);
  }
  tools::tool_output run(const nlohmann::json& args,
                         tools::tool_context& context) override;

  rule_subject subject(const nlohmann::json& arguments,
                       const std::filesystem::path& workspace) const override;

  tools::call_preview preview(const nlohmann::json& arguments,
                              const std::filesystem::path&) const override;

  std::vector<call_id> acted;          ///< each time it ran …
  std::vector<std::string> arguments;  ///< … and with what
  std::string definition() const override {
    fail("definition");
    return spec_.name + is;
  }

  std::string fails_in;              ///< the function that throws …
  bool oddly = false;                ///< … what is no std::exception
  bool own_keys = false;             ///< it touches what its arguments say
  std::optional<std::string> place;  ///< what it is about, for rules
  mutable int subjects = 0;          ///< so often it was asked for that
  int moves = 0;  ///< so many calls find another place than the judged one
  std::vector<std::string> judged;  ///< where the calls that acted were to act
  std::string is;                   ///< changes its definition
  bool blind = false;               ///< it has no preview
  std::string shows;                ///< instead of its preview
  std::string from;                 ///< basis of its preview
  std::optional<error> impossible;  ///< its calls, as its preview says
  std::vector<std::string> bases;   ///< that its calls were given
  std::string says;                 ///< instead of its name and arguments
  int throw_times = 0;              ///< so many calls end with an exception
  int reports = 0;                  ///< progress reports of each call
  std::function<void(tools::tool_context&)> also;  ///< what else a call does

 private:
  void fail(const std::string& function) const;
  tools::tool_spec spec_;
};

/// Keeps what it is offered; the fixture pulls pages for it when it is behind.
class recording_subscriber final : public subscriber {
 public:
  std::uint64_t position() const override { return last; }
  bool offer(const storage::event_block& block) override;
  void behind() override { must_pull = true; }
  void closed(const std::optional<error>& why) override;

  std::string lines;
  std::uint64_t last = 0;
  bool refuses = false;
  bool must_pull = false;
  bool is_closed = false;
  std::optional<error> failure;
};

/// One simulated process.
class actor_fixture {
 public:
  explicit actor_fixture(std::shared_ptr<storage::journal> journal = {});
  ~actor_fixture();
  actor_fixture(const actor_fixture&) = delete;
  actor_fixture& operator=(const actor_fixture&) = delete;

  /// Spawns registry, store and pools; call it after tools are added.
  void begin();

  std::shared_ptr<run_spec> make_spec(const std::string& run = "run_1");

  /// Sends the request; the answer is in `opened` after `settle`.
  /// `end`: it shall end already.
  void start(const run_spec_ptr& spec,
             std::optional<core::end_request> end = {});
  void resume(const run_spec_ptr& spec,
              std::optional<core::end_request> end = {});
  void cancel(const std::string& reason = "cancelled");
  /// Proposals without a decision, newest first.
  std::vector<storage::proposal_state> undecided();
  /// As another process does it: the row alone. Or (`told`) as this one, which
  /// tells its inbox too. Arguments are bound to what `act` says of them now.
  storage::decision_answer decide(const proposal_id& id,
                                  events::proposal_outcome how,
                                  const std::string& arguments = {},
                                  always_scope always = always_scope::none,
                                  bool told = false);

  /// Runs everything that can run without time passing: actors, blocking
  /// executor jobs, acknowledgements. False: nothing moved.
  bool settle();
  /// Like `settle`, and lets time pass until nothing is due, at most `limit`.
  void run_out(duration limit = std::chrono::minutes{5});
  void advance(duration time);

  /// Who decides knows what `act` would do with other arguments.
  bool knows_tools = true;

  [[nodiscard]] caf::scheduler::test_coordinator& scheduler();

  caf::actor_system_config config;
  std::unique_ptr<caf::actor_system> system;
  std::shared_ptr<storage::journal> journal;
  test_journal* held = nullptr;  ///< set if it is one; then acks are released
  bool release_acks = true;
  std::shared_ptr<manual_executor> blocking =
      std::make_shared<manual_executor>();
  /// Where calls are looked at.
  std::shared_ptr<manual_executor> looks = std::make_shared<manual_executor>();
  bool run_looks = true;     ///< false: nothing that is looked at is ever seen
  int first_looks = 0;       ///< … but for so many, of those that come next
  bool run_blocking = true;  ///< false: jobs never end …
  bool begin_blocking = true;  ///< … and false: they never begin
  std::shared_ptr<scripted_model> provider = std::make_shared<scripted_model>();
  std::shared_ptr<tools::registry> tools = std::make_shared<tools::registry>();
  std::shared_ptr<recording_tool> look, act, redo;
  std::shared_ptr<id_source> ids;
  std::shared_ptr<recording_subscriber> reader =
      std::make_shared<recording_subscriber>();
  /// Of the specs that it makes.
  approve approval = approve::none;
  bool propose = false;
  duration expire_after{};
  std::set<std::string> taken_out;  ///< of the agent's tools
  bool previews = false;            ///< false: calls are looked at at once
  config::tools_config settings;
  config::supervision_config supervision;
  run_registry_actor registry;
  session_store_actor store;
  command_inbox_actor inbox;
  std::map<std::string, tool_pool_actor> pools;
  std::vector<std::string> service;  ///< what pools told of their tools
  /// Puts others in their place; set before `begin`.
  std::function<void(std::map<std::string, tool_pool_actor>&)> change_pools;
  /// Puts others in its place; set before `begin`.
  std::function<void(registry_setup&)> change_front;
  /// Of the store; set before `begin`.
  guard_waiter wait_for_guard;
  std::shared_ptr<manual_executor> waiting_executor;  ///< null: it waits itself
  std::shared_ptr<manual_executor> inbox_executor;    ///< the same
  fault_hook process_faults;  ///< of pools, store and inbox
  /// Of runs that approvals cause; set before `begin`.
  cause_spec_maker make_cause_spec;
  std::optional<run_opened> opened;
  run_id run{"run_1"};
  session_id session{"ses_1"};

 private:
  void pull();
  void ask(caf::message request);
  caf::actor asker_;
};

/// Fails the test unless the log keeps promises 1 to 4 (`unfinished`: apart
/// from its end) and each request holds one result for each call (promise 6).
void check_log(const std::string& lines, bool unfinished = false);
void check_requests(const std::vector<std::string>& bodies);
std::vector<nlohmann::json> events_of(const std::string& lines,
                                      std::string_view type);

// What a provider says.
std::string model_says(std::string_view text);
std::string model_calls(int index, const std::string& tool,
                        const nlohmann::json& arguments = {{"n", 1}});
std::string model_stops(const std::string& reason);
inline const std::string model_done = "data: [DONE]\n\n";
inline const std::string model_ends =
    model_says("The end.") + model_stops("stop");

}  // namespace riffle::testing
