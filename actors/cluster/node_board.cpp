// SPDX-License-Identifier: MIT
#include "actors/cluster/node_board.hpp"

#include <utility>

namespace riffle {

void node_board::set_rule(const std::string& tool, core::placement_rule rule) {
  const std::lock_guard lock{mutex_};
  places_.set_rule(tool, std::move(rule));
}

void node_board::add(const std::string& node,
                     const std::vector<std::string>& labels,
                     const std::string& tool, std::uint32_t places) {
  const std::lock_guard lock{mutex_};
  places_.add(node, labels, tool, places);
}

std::set<std::string> node_board::remove(const std::string& node,
                                         const std::string& why, bool hold) {
  const std::lock_guard lock{mutex_};
  return places_.remove(node, why, wall_(), hold);
}

void node_board::end_hold(const std::string& node, const std::string& tool) {
  const std::lock_guard lock{mutex_};
  places_.end_hold(node, tool);
}

void node_board::add_unused(const std::string& node, const std::string& tool,
                            const std::string& why) {
  const std::lock_guard lock{mutex_};
  places_.add_unused(node, tool, why);
}

void node_board::set_load(const std::string& node, const std::string& tool,
                          std::uint32_t calls) {
  const std::lock_guard lock{mutex_};
  places_.set_load(node, tool, calls);
}

expected<std::string> node_board::choose(const std::string& tool,
                                         const run_id& run,
                                         const session_id& session,
                                         const call_id& call) {
  const std::lock_guard lock{mutex_};
  return places_.choose(tool, run, session, call, wall_());
}

void node_board::remember(const std::string& tool, const session_id& session,
                          const std::string& node) {
  const std::lock_guard lock{mutex_};
  places_.remember(tool, session, node);
}

bool node_board::on_refused(const call_id& call) {
  const std::lock_guard lock{mutex_};
  return places_.on_refused(call, wall_());
}

void node_board::release(const call_id& call) {
  const std::lock_guard lock{mutex_};
  places_.release(call);
}

void node_board::release_run(const run_id& run) {
  const std::lock_guard lock{mutex_};
  places_.release_run(run);
}

error node_board::problem(const std::string& tool) const {
  const std::lock_guard lock{mutex_};
  return places_.problem(tool, wall_());
}

void node_board::set_timeout(duration x) {
  const std::lock_guard lock{mutex_};
  timeout_ = x;
}

duration node_board::timeout() const {
  const std::lock_guard lock{mutex_};
  return timeout_;
}

bool node_board::has(const std::string& tool) const {
  const std::lock_guard lock{mutex_};
  return places_.has(tool);
}

}  // namespace riffle
