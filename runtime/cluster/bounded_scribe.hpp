// SPDX-License-Identifier: MIT
#pragma once

// CAF's connections with a limit for frames.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <utility>
#include <vector>

#include <caf/config.hpp>
#include <caf/io/basp/header.hpp>
#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/stream_impl.hpp>
#include <caf/io/scribe.hpp>

#include "runtime/base/log.hpp"
#include "runtime/cluster/cluster_net.hpp"

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
      greeted_ = greeted_ || is_message_;
      return true;
    }
    const auto* x = static_cast<const unsigned char*>(bytes);
    const bool empty = x[4] == 0 && x[5] == 0 && x[6] == 0 && x[7] == 0;
    at_header_ = empty;
    is_message_ = !empty && x[0] > last_handshake;
    return !empty || x[0] > last_handshake;
  }

  /// A message of an actor came, whole: the peer's hello, or what it says
  /// before it. Until then nobody has more to say than fits here.
  [[nodiscard]] bool greeted() const noexcept { return greeted_; }
  static constexpr std::uint64_t most_before_greeting = 64U << 10;

 private:
  static constexpr auto last_handshake =
      static_cast<unsigned char>(caf::io::basp::message_type::client_handshake);
  bool at_header_ = true;
  bool is_message_ = false;
  bool greeted_ = false;
};

/// Connections that were taken in and have not greeted. Whoever reaches the
/// port can open them, so there are few: the oldest makes room for a new one.
/// Of the multiplexer's thread alone.
class strangers {
 public:
  static constexpr std::size_t most = 64;

  void add(int fd) {
    if (open_.size() == most) ::shutdown(open_.front(), SHUT_RDWR);
    if (open_.size() == most) open_.erase(open_.begin());
    open_.push_back(fd);
  }
  /// It has greeted, or is closed.
  void remove(int fd) { std::erase(open_, fd); }
  [[nodiscard]] std::size_t size() const noexcept { return open_.size(); }

  /// One ended without a greeting: said at once, then with the others of some
  /// seconds.
  void tell_of_end(const std::string& address) {
    ++silent_;
    const auto now = std::chrono::steady_clock::now();
    if (now < next_word_) return;
    next_word_ = now + std::chrono::seconds{10};
    log_info("cluster",
             address + " connected and did not greet" +
                 (silent_ == 1 ? ""
                               : " (" + std::to_string(silent_) +
                                     " connections since the last such "
                                     "line)") +
                 ": it is no Riffle of this version, or one of the two does "
                 "not accept the other's certificate (cluster.tls)");
    silent_ = 0;
  }

 private:
  std::vector<int> open_;  ///< the oldest first
  std::uint64_t silent_ = 0;
  std::chrono::steady_clock::time_point next_word_{};
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
                 const net_options& options, std::shared_ptr<strangers> among,
                 Ts&&... policy)
      : scribe{caf::io::network::conn_hdl_from_socket(fd)},
        max_frame_{options.max_frame},
        handshake_{options.tls.used()},
        around_{options.around_reads},
        among_{std::move(among)},
        silent_{handshake_ && among_},
        stream_{*this, loop, fd, std::forward<Ts>(policy)...} {
    if (!among_) return;
    among_->add(fd);
    from_ = addr() + ":" + std::to_string(port());
  }

  ~bounded_scribe() override {
    if (among_) among_->tell_of_end(from_);
    is_known();
  }

  void configure_read(caf::io::receive_policy::config how) override {
    const auto most = watch_.greeted()
                          ? max_frame_
                          : std::min(max_frame_, watch_.most_before_greeting);
    if (how.first == caf::io::receive_policy_flag::exactly &&
        how.second > most) {
      refuse("announces a message of " + std::to_string(how.second) +
             " bytes, more than " +
             (watch_.greeted() ? "cluster.max_frame" : "a greeting has"));
      return;
    }
    stream_.configure_read(how);
    if (begun_) return;
    begun_ = true;
    stream_.start(this);
    // The handshake of TLS begins without bytes of ours.
    if (handshake_ && !silent_) stream_.force_empty_write(this);
  }

  bool consume(caf::execution_unit* context, const void* bytes,
               std::size_t size) override {
    if (watch_.take(bytes, size)) {
      if (watch_.greeted()) is_known();
      return take_in(context, bytes, size);
    }
    refuse("sends a greeting without content");
    return true;  // the next read finds the end
  }

  void ack_writes(bool on) override { stream_.ack_writes(on); }
  std::vector<char>& wr_buf() override { return stream_.wr_buf(); }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void flush() override {
    if (!silent_) stream_.flush(this);
  }
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
  /// So long the handshake of TLS may take from its first byte on.
  static constexpr auto longest_handshake = std::chrono::seconds{5};

  /// Until the peer of an accepted connection speaks there is nothing to write:
  /// TLS waits for its greeting, a socket can always be written, and CAF would
  /// try for ever. While it speaks that costs CPU, so not for long.
  class stream : public caf::io::network::stream_impl<Policy> {
   public:
    using base = caf::io::network::stream_impl<Policy>;

    template <class... Ts>
    explicit stream(bounded_scribe& owner, Ts&&... xs)
        : base{std::forward<Ts>(xs)...}, owner_{owner} {}

    void handle_event(caf::io::network::operation op) override {
      owner_.before(op);
      base::handle_event(op);
    }

   private:
    bounded_scribe& owner_;
  };

  void before(caf::io::network::operation op) {
    using caf::io::network::operation;
    const auto now = std::chrono::steady_clock::now();
    if (silent_ && op == operation::read) {
      silent_ = false;
      spoke_ = now;
      stream_.force_empty_write(this);
    } else if (handshake_ && among_ && op == operation::write && !silent_ &&
               now - spoke_ > longest_handshake &&
               !std::exchange(late_, true)) {
      refuse("does not end its greeting");
    }
  }

  bool take_in(caf::execution_unit* context, const void* bytes,
               std::size_t size) {
    if (!around_) return scribe::consume(context, bytes, size);
    bool goes_on = true;
    around_([&] { goes_on = scribe::consume(context, bytes, size); });
    return goes_on;
  }

  void is_known() {
    if (const auto among = std::exchange(among_, nullptr))
      among->remove(stream_.fd());
  }

  void refuse(const std::string& what) {
    log_error("cluster", addr() + " " + what + ": the connection is closed");
    ::shutdown(stream_.fd(), SHUT_RDWR);
  }

  const std::uint64_t max_frame_;
  const bool handshake_;  ///< of TLS
  const std::function<void(const std::function<void()>&)> around_;
  std::shared_ptr<strangers> among_;  ///< null: known, or dialled
  std::string from_;                  ///< of a stranger
  bool silent_;                       ///< of TLS, taken in: not a byte came yet
  bool late_ = false;                 ///< its handshake took too long
  std::chrono::steady_clock::time_point spoke_{};
  bool begun_ = false;
  frame_watch watch_;
  stream stream_;
};

}  // namespace riffle::cluster
