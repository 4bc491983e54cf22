// SPDX-License-Identifier: MIT
// Runs of all processes with one data folder, and what sessions keep.
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_impl.hpp"

namespace riffle {

expected<std::vector<unfinished_run>> runtime::unfinished(std::size_t limit) {
  return impl_->owner->journal().unfinished_runs(limit);
}

expected<cancel_verdict> runtime::cancel(const run_id& id, std::string reason) {
  auto& owner = *impl_->owner;
  auto verdict = owner.journal().ask_cancel(id, reason);
  if (!verdict) return verdict;
  error why{errc::cancelled, "run", std::move(reason)};
  if (*verdict == cancel_verdict::here) {
    owner.cancel(id, std::move(why), true);
  } else if (*verdict == cancel_verdict::gone && !inside_handler()) {
    auto record = owner.journal().load_run(id);
    if (!record) return unexpected{std::move(record.error())};
    auto spec = owner.make_spec(id, record->session, record->task,
                                choice_from_json(record->settings));
    if (!spec) return unexpected{std::move(spec.error())};
    auto opened = owner.resume(*spec, {}, core::end_request{why, true});
    const bool busy = !opened && opened.error().code == errc::session_busy;
    // Somebody opens it this moment, and is told so; elsewhere its new owner
    // finds what was asked.
    if (busy) owner.cancel(id, std::move(why), true);
    if (!opened && !busy) return unexpected{std::move(opened.error())};
  }
  return verdict;
}

expected<std::map<std::string, nlohmann::json>> runtime::state(
    const session_id& id) {
  auto texts = impl_->owner->journal().load_state(id);
  if (!texts) return unexpected{std::move(texts.error())};
  std::map<std::string, nlohmann::json> out;
  for (const auto& [key, text] : *texts)
    out.emplace(key, nlohmann::json::parse(text, nullptr, false));
  return out;
}

expected<void> runtime::set_state(const session_id& id, const std::string& key,
                                  const nlohmann::json& value) {
  auto& journal = impl_->owner->journal();
  const auto now = journal.load_state(id);
  if (!now) return unexpected{now.error()};
  auto text = tools::check_state(*now, key, value);
  if (!text) return unexpected{std::move(text.error())};
  return journal.set_state({id, key, std::move(*text)});
}

}  // namespace riffle
