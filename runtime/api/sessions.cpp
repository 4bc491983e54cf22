// SPDX-License-Identifier: MIT
// Runs of all processes with one data folder, and what sessions keep.
#include <utility>

#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_impl.hpp"

namespace riffle {

expected<std::vector<unfinished_run>> runtime::unfinished(std::size_t limit) {
  return impl_->uses->sessions.unfinished(limit);
}

expected<cancel_verdict> runtime::cancel(const run_id& id, std::string reason) {
  const bool adopt = !inside_handler();
  return service::wait_for<cancel_verdict>([&](auto to) {
    impl_->uses->runs.cancel(id, std::move(reason), adopt, std::move(to));
  });
}

expected<std::vector<session_summary>> runtime::sessions(std::size_t limit) {
  return impl_->uses->sessions.list(limit);
}

expected<std::vector<session_summary>> runtime::find_sessions(
    const std::string& words) {
  return impl_->uses->sessions.search(words);
}

expected<session_snapshot> runtime::session(const session_id& id) {
  return impl_->uses->sessions.show(id);
}

expected<session_changes> runtime::file_changes(const session_snapshot& of) {
  return impl_->uses->sessions.changes(of);
}

expected<run_record> runtime::find_run(const run_id& id) {
  return impl_->uses->sessions.find_run(id);
}

expected<kept_output> runtime::output(const call_id& id) {
  return impl_->uses->sessions.output(id);
}

expected<std::size_t> runtime::delete_session(const session_id& id) {
  const auto gone = impl_->uses->sessions.remove(id);
  if (!gone) return unexpected{gone.error()};
  return gone->runs;
}

expected<std::map<std::string, nlohmann::json>> runtime::state(
    const session_id& id) {
  return impl_->uses->sessions.state(id);
}

expected<void> runtime::set_state(const session_id& id, const std::string& key,
                                  const nlohmann::json& value) {
  return impl_->uses->sessions.set_state(id, key, value);
}

expected<void> runtime::reset_state(const session_id& id) {
  return impl_->uses->sessions.reset_state(id);
}

}  // namespace riffle
