// SPDX-License-Identifier: MIT
// Proposals and decisions: the part of the runtime that persons talk to.
#include <utility>

#include "runtime/api/riffle.hpp"
#include "runtime/api/runtime_impl.hpp"

namespace riffle {

using service::reply;
using service::wait_for;

expected<decided> runtime::decide(const proposal_id& id, decision x) {
  std::shared_ptr<handler_reader> reader;
  const auto make_reader = [&](const run_id& run, const session_id& session) {
    return reader = std::make_shared<handler_reader>(impl_->link, run, session,
                                                     event_handler{});
  };
  auto result = wait_for<service::decision_result>(
      [&](reply<service::decision_result> to) {
        impl_->uses->decisions.decide(id, std::move(x), !inside_handler(),
                                      make_reader, std::move(to));
      });
  if (!result) return unexpected{std::move(result.error())};
  decided out;
  out.verdict = result->verdict;
  out.now = std::move(result->now);
  out.queued = result->queued;
  if (result->started)
    out.started = impl_->handle(*result->started, std::move(reader));
  else if (reader)
    reader->drop();
  return out;
}

expected<changed_call_view> runtime::preview_change(const proposal_id& id,
                                                    std::string arguments) {
  return impl_->uses->decisions.preview(id, std::move(arguments));
}

expected<std::vector<grant_record>> runtime::grants(
    const std::optional<session_id>& of) {
  return impl_->uses->proposals.grants(of);
}

expected<bool> runtime::revoke(const proposal_id& grant) {
  return impl_->uses->proposals.revoke(grant);
}

expected<std::vector<proposal>> runtime::proposals(
    const proposal_filter& filter) {
  auto all = impl_->uses->proposals.list(filter);
  if (!all) return unexpected{std::move(all.error())};
  std::vector<proposal> out;
  out.reserve(all->size());
  for (auto& x : *all) out.push_back(std::move(x.it));
  return out;
}

}  // namespace riffle
