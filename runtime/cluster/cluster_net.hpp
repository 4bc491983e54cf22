// SPDX-License-Identifier: MIT
#pragma once

// How processes of a cluster reach each other: CAF's network layer (BASP over
// TCP), with what it lacks in 0.17.6 — see README.md.

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include <caf/actor.hpp>
#include <caf/actor_system_config.hpp>

#include "messages/error.hpp"
#include "messages/time.hpp"

namespace riffle::cluster {

/// PEM files; empty: no TLS.
struct tls_files {
  std::string certificate{};
  std::string key{};
  std::string ca{};

  [[nodiscard]] bool used() const { return !certificate.empty(); }
};

struct net_options {
  tls_files tls{};
  std::uint64_t max_frame = 64u << 20;  ///< bytes
  /// A peer that acknowledges nothing for so long is cut off by the kernel
  /// (TCP_USER_TIMEOUT, RFC 5482).
  duration silence = std::chrono::seconds{6};
  duration dial_limit = std::chrono::seconds{3};  ///< of each of its steps
  /// Calls what takes in what came, on the thread that reads: it may run there
  /// what that wakes, as far as it never waits. Empty: it is called as it is.
  std::function<void(const std::function<void()>&)> around_reads{};
};

/// Whether the files can be used together: they can be read, the key is that of
/// the certificate, the certificate is valid now and signed by the CA.
expected<void> check_tls(const tls_files& x);

/// Before the actor system is made: loads CAF's modules.
void prepare(caf::actor_system_config& cfg, const net_options& x);

/// Ports and connections of a system that was made with `prepare`.
class net {
 public:
  net(caf::actor_system& system, net_options options);
  ~net();
  net(const net&) = delete;
  net& operator=(const net&) = delete;

  /// Publishes an actor. `host`: an address or a name; "": all. Port 0: any.
  /// The port, or `invalid_config`. Blocks for a moment.
  expected<std::uint16_t> listen(const std::string& host, std::uint16_t port,
                                 const caf::actor& whom);

  /// Asks for the actor that is published there. Returns at once; `done` is
  /// called once, by a thread of its own, within the limits of `net_options`:
  /// with the actor, or with null and why not in plain words.
  using dial_done =
      std::function<void(caf::strong_actor_ptr, const std::string& problem)>;
  /// `connected`: before that, once somebody there takes connections; may be
  /// empty.
  void dial(const std::string& host, std::uint16_t port, dial_done done,
            std::function<void()> connected = {});

 private:
  caf::actor_system& system_;
  const net_options options_;
  std::stop_source stop_;
  caf::actor listener_;
};

}  // namespace riffle::cluster
