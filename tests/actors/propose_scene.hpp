// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/tools/call_check.hpp"
#include "tests/actors/approval_scene.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

/// A process whose runs do not wait for decisions; approvals start runs.
struct propose_scene : approval_scene {
  propose_scene() {
    propose = true;
    make_cause_spec = [this](const storage::proposal_state& cause) {
      const auto back = run;
      auto spec = make_spec("run_" + std::to_string(++last));
      run = back;
      spec->cause = cause;
      spec->caused_call = call_of_cause(*spec);
      spec->task = "Proposal " + cause.what.id.value + " was approved.";
      return expected<run_spec_ptr>{std::move(spec)};
    };
  }

  /// The inbox is told of an approval, as by the library.
  void approve(const proposal_id& id, const std::string& arguments = {}) {
    auto answer = decide(id, events::proposal_outcome::approved, arguments,
                         always_scope::none, true);
    CHECK(answer.verdict == storage::decision_verdict::accepted);
    caf::anon_send(inbox, queued_cause{*answer.now});
  }

  /// The inbox's requests for runs end like this; without an answer if `why` is
  /// empty.
  void stop_starts(const std::optional<error>& why) {
    auto behave = [this, why](caf::event_based_actor* self) {
      return caf::behavior{
          [this, why, self](start_run& x) {
            ++starts;
            auto promise = self->make_response_promise();
            if (why)
              promise.deliver(run_opened{x.spec->run, x.spec->session, why});
            else
              silent.push_back(promise);
            return promise;
          },
          [](const withdraw_run&) {}};
    };
    tell_inbox(caf::actor_cast<run_registry_actor>(system->spawn(behave)));
  }
  void go_on_with_starts() { tell_inbox(registry); }

  int last = 1;
  int starts = 0;  ///< that were stopped

 private:
  void tell_inbox(const run_registry_actor& to) {
    run_peers peers;
    peers.registry = to;
    caf::anon_send(inbox, std::move(peers));
    settle();
  }
  std::vector<caf::response_promise> silent;
};

}  // namespace riffle::testing
