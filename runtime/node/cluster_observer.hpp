// SPDX-License-Identifier: MIT
#pragma once

// A look at a cluster from outside: who is there, and what it does. Joins as an
// observer, which gives no calls and gets none.

#include <optional>
#include <string>
#include <vector>

#include "actors/cluster/wire.hpp"
#include "runtime/config/config.hpp"

namespace riffle {

struct observed_node {
  std::string address;  ///< as `cluster.join` has it
  std::string problem;  ///< why nothing is known of it; else empty
  cluster::hello who;
  cluster::offers offered;
  cluster::status status;
  std::optional<duration> round_trip;
  /// Who knows it, where it is not at an address of `cluster.join` itself.
  std::string via{};
  bool again = false;  ///< at an address before it in the list
};

struct observation {
  std::string program;  ///< version of Riffle, for people
  duration limit = std::chrono::seconds{5};
  std::vector<std::string> addresses;
  bool drain = false;   ///< they are told to take no more calls, and to end …
  std::string through;  ///< … or this one of their nodes is
};

/// Each of the addresses, in their order, but one of each process; then the
/// nodes that dial these (`via`). Blocks up to the limit. Fails with
/// `invalid_config` where TLS cannot be.
expected<std::vector<observed_node>> observe(const config::config& config,
                                             const observation& how);

}  // namespace riffle
