// SPDX-License-Identifier: MIT
// Whether a call of others may run here: looks that may block, a part of a call
// host.
#include <exception>
#include <utility>

#include "actors/cluster/call_host.hpp"

namespace riffle {

namespace {

/// A node's own file system that does not answer is a fault of that call.
constexpr auto admission_limit = std::chrono::minutes{2};

}  // namespace

/// Rules about places look at the file system, which may keep whoever looks.
void call_host_state::admit(call_admitted x) {
  if (!setup.aside || !setup.admits_aside ||
      !setup.admits_aside(x.given.call.tool)) {
    x.refused = setup.admit(x.given.call);
    return on(x);
  }
  self->delayed_send(self, admission_limit,
                     admission_overdue{x.link, x.tag.token});
  setup.aside([me = caf::actor_cast<caf::actor>(self), ask = setup.admit,
               x = std::move(x)]() mutable {
    try {
      x.refused = ask(x.given.call);
    } catch (const std::exception& problem) {  // of ours: no memory, no folder
      x.refused = error{
          errc::internal, name,
          std::string{"the node could not judge the call: "} + problem.what()};
    }
    caf::anon_send(me, std::move(x));
  });
}

void call_host_state::on(const admission_overdue& x) {
  const auto token = tokens.find({x.link, x.token});
  if (token == tokens.end() || calls.at(token->second).pool) return;
  const auto key = token->second;
  refuse(x.link, calls.at(key).tag, key,
         {errc::timeout, name,
          "the node could not look at the call within 2 minutes, so it was "
          "not executed: its file system does not answer"});
  forget(key);
}

}  // namespace riffle
