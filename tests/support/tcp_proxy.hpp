// SPDX-License-Identifier: MIT
#pragma once

// A line between two processes that loses, holds, delays or throttles what they
// say.

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <thread>

#include "runtime/base/unique_fd.hpp"

namespace riffle::testing {

/// Takes connections on loopback and passes them on to `target` ("host:port",
/// IPv4). Each way by itself: neither side sees that anything is wrong.
class tcp_proxy {
 public:
  enum class way { there, back };  ///< from who dialled; to him
  enum class line { passes, swallows, holds };

  explicit tcp_proxy(const std::string& target);
  ~tcp_proxy();
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  void set(way which, line how) {
    lines_[static_cast<std::size_t>(which)].store(how);
  }
  /// Both ways, of what comes from now on.
  void delay(std::chrono::milliseconds x) { delay_.store(x); }
  /// Each way passes so many bytes a second; 0: all.
  void throttle(std::size_t rate) { rate_.store(rate); }
  /// The most bytes that were on their way at once, of either way.
  [[nodiscard]] std::size_t most_waiting() const {
    return most_waiting_.load();
  }
  [[nodiscard]] int connections() const { return connections_.load(); }
  /// All that came from who dialled, so far.
  [[nodiscard]] std::string said() const;

 private:
  void work();

  std::string target_;
  std::string address_;
  unique_fd listener_;
  std::atomic<line> lines_[2] = {line::passes, line::passes};
  std::atomic<std::chrono::milliseconds> delay_{};
  std::atomic<std::size_t> rate_{0};
  std::atomic<std::size_t> most_waiting_{0};
  std::atomic<int> connections_{0};
  std::atomic<bool> stop_{false};
  mutable std::mutex mutex_;
  std::string said_;
  std::thread thread_;
};

/// A port of loopback that takes connections and answers none: its queue is
/// full, so who dials waits, as for a host behind a hole.
class black_hole {
 public:
  black_hole();
  [[nodiscard]] const std::string& address() const { return address_; }

 private:
  std::string address_;
  unique_fd listener_;
  unique_fd fill_[3];
};

/// A port of loopback where nobody listens now.
std::string free_address();

/// Sends bytes to a port of loopback; what it answers, until it closes or says
/// nothing for so long.
std::string talk_to(const std::string& address, const std::string& bytes,
                    std::chrono::milliseconds timeout);

}  // namespace riffle::testing
