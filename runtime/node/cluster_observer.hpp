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
};

struct observation {
  std::string program;  ///< version of Riffle, for people
  duration limit = std::chrono::seconds{5};
  /// The node with this name is told to take no more calls, and to end.
  std::optional<std::string> drain;
};

/// Each address of `cluster.join`, in its order. Blocks up to the limit. Fails
/// with `invalid_config` where TLS cannot be.
expected<std::vector<observed_node>> observe(const config::config& config,
                                             const observation& how);

}  // namespace riffle
