// SPDX-License-Identifier: MIT
#pragma once

// CAF's connections with a limit for frames.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

#include <caf/config.hpp>
#include <caf/io/basp/header.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/io/scribe.hpp>

#include "runtime/base/log.hpp"

static_assert(CAF_VERSION >= 1706 && CAF_VERSION < 1800,
              "connections of the cluster are made of parts of CAF 0.17.6 that "
              "are not its public interface: read its changes");

namespace riffle::cluster {

/// Knows where headers of BASP are in what comes: its reader asks for a header
/// (`caf::io::basp::header_size` bytes), then for what that announces.
class frame_watch {
 public:
  /// False: a greeting without content, which CAF 0.17.6 reads through a null
  /// pointer (basp/instance.cpp, `handle`). All else that is wrong it refuses.
  bool take(const void* bytes, std::size_t size) {
    if (!at_header_ || size < caf::io::basp::header_size) {
      at_header_ = true;
      return true;
    }
    const auto* x = static_cast<const unsigned char*>(bytes);
    const bool empty = x[4] == 0 && x[5] == 0 && x[6] == 0 && x[7] == 0;
    at_header_ = empty;
    return !empty || x[0] > last_handshake;
  }

 private:
  static constexpr auto last_handshake =
      static_cast<unsigned char>(caf::io::basp::message_type::client_handshake);
  bool at_header_ = true;
};

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
      refuse("announces a message of " + std::to_string(how.second) +
             " bytes, more than cluster.max_frame");
      return;
    }
    stream_.configure_read(how);
    if (begun_) return;
    begun_ = true;
    stream_.start(this);
    // The handshake of TLS begins without bytes of ours.
    if (handshake_) stream_.force_empty_write(this);
  }

  bool consume(caf::execution_unit* context, const void* bytes,
               std::size_t size) override {
    if (watch_.take(bytes, size)) return scribe::consume(context, bytes, size);
    refuse("sends a greeting without content");
    return true;  // the next read finds the end
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
  void refuse(const std::string& what) {
    log_error("cluster", addr() + " " + what + ": the connection is closed");
    ::shutdown(stream_.fd(), SHUT_RDWR);
  }

  const std::uint64_t max_frame_;
  const bool handshake_;
  bool begun_ = false;
  frame_watch watch_;
  caf::io::network::stream_impl<Policy> stream_;
};

}  // namespace riffle::cluster
