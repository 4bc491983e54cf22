// SPDX-License-Identifier: MIT
#pragma once

// CAF's connections with a limit for frames.

#include <cstdint>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <caf/config.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/io/scribe.hpp>

#include "runtime/base/log.hpp"

static_assert(CAF_VERSION >= 1706 && CAF_VERSION < 1800,
              "connections of the cluster are made of parts of CAF 0.17.6 that "
              "are not its public interface: read its changes");

namespace riffle::cluster {

/// A connection whose peer cannot make this process reserve more than
/// `max_frame` bytes: BASP announces the length of what follows in a header
/// (32 bits, sent before anybody has proved who he is), and CAF resizes its
/// buffer to it. `Policy`: how bytes come and go (TCP or TLS).
template <class Policy>
class bounded_scribe : public caf::io::scribe {
 public:
  template <class... Ts>
  bounded_scribe(caf::io::network::default_multiplexer& loop, int fd,
                 std::uint64_t max_frame, bool handshake, Ts&&... policy)
      : scribe{caf::io::network::conn_hdl_from_socket(fd)},
        max_frame_{max_frame},
        handshake_{handshake},
        stream_{loop, fd, std::forward<Ts>(policy)...} {}

  void configure_read(caf::io::receive_policy::config how) override {
    if (how.first == caf::io::receive_policy_flag::exactly &&
        how.second > max_frame_) {
      log_error("cluster", addr() + " announces a message of " +
                               std::to_string(how.second) +
                               " bytes, more than cluster.max_frame: the "
                               "connection is closed");
      ::shutdown(stream_.fd(), SHUT_RDWR);
      return;
    }
    stream_.configure_read(how);
    if (begun_) return;
    begun_ = true;
    stream_.start(this);
    // The handshake of TLS begins without bytes of ours.
    if (handshake_) stream_.force_empty_write(this);
  }

  void ack_writes(bool on) override { stream_.ack_writes(on); }
  std::vector<char>& wr_buf() override { return stream_.wr_buf(); }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void flush() override { stream_.flush(this); }
  void add_to_loop() override { stream_.activate(this); }
  void remove_from_loop() override { stream_.passivate(); }

  void graceful_shutdown() override {
    stream_.graceful_shutdown();
    this->detach(&stream_.backend(), false);
  }

  std::string addr() const override {
    auto text = caf::io::network::remote_addr_of_fd(stream_.fd());
    return text ? *text : "an unknown address";
  }

  std::uint16_t port() const override {
    auto number = caf::io::network::remote_port_of_fd(stream_.fd());
    return number ? *number : std::uint16_t{0};
  }

 private:
  const std::uint64_t max_frame_;
  const bool handshake_;
  bool begun_ = false;
  caf::io::network::stream_impl<Policy> stream_;
};

}  // namespace riffle::cluster
