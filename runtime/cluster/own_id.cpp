// SPDX-License-Identifier: MIT
#include "runtime/cluster/own_id.hpp"

#include <stdexcept>
#include <unistd.h>

#include <caf/actor_system.hpp>
#include <caf/node_id.hpp>
#include <openssl/rand.h>

namespace riffle::cluster {

namespace {

caf::node_id make_id() {
  caf::node_id::default_data::host_id_type host{};
  static_assert(sizeof(host[0]) == 1);
  if (::RAND_bytes(host.data(), static_cast<int>(host.size())) != 1)
    throw std::runtime_error{"there are no random numbers"};
  host[0] |= 1;  // all zeros mean none
  return caf::make_node_id(static_cast<std::uint32_t>(::getpid()), host);
}

/// Modules are initialised in the order of their numbers: this one, whose
/// number CAF 0.17.6 keeps for a module that it does not have yet, comes after
/// the middleman, which has set the id, and before the first actor, which
/// copies it.
class id_module final : public caf::actor_system::module {
 public:
  explicit id_module(caf::actor_system& system) : system_{system} {}

  void start() override {}
  void stop() override {}
  /// There is no setter; the object behind the reference is not const.
  void init(caf::actor_system_config&) override {
    const_cast<caf::node_id&>(system_.node()) = make_id();
  }
  id_t id() const override { return network_manager; }
  void* subtype_ptr() override { return this; }

 private:
  caf::actor_system& system_;
};

}  // namespace

void have_own_id(caf::actor_system_config& cfg) {
  cfg.module_factories.emplace_back(
      [](caf::actor_system& system) -> caf::actor_system::module* {
        return new id_module{system};
      });
}

}  // namespace riffle::cluster
