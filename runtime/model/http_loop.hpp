// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <set>
#include <sys/epoll.h>
#include <unordered_map>
#include <utility>

#include "runtime/model/http_curl.hpp"
#include "runtime/model/http_mailbox.hpp"
#include "runtime/model/http_transfer.hpp"
#include "runtime/model/read_coalescer.hpp"

namespace riffle::model {

/// The I/O thread's work: epoll, curl's multi interface, the transfers.
class http_loop {
 public:
  /// Throws std::system_error or std::bad_alloc without resources.
  http_loop(const http_options& options, http_mailbox& mailbox);

  /// Until the mailbox says stop; then all transfers end with `cancelled`.
  void run();

 private:
  using deadline = std::pair<time_point, http_transfer*>;

  static int on_socket(CURL*, curl_socket_t fd, int what, void* self,
                       void* known);
  static int on_timer(CURLM*, long ms, void* self);

  [[nodiscard]] int wait_limit() const;
  void wait();
  void do_round();
  bool act_on_sockets();
  void gather() const;
  void act(curl_socket_t fd, int events);
  void pass_news();
  void tend(http_transfer& x);
  void obey();
  void obey(http_mailbox::open_command& x);
  void obey(http_mailbox::resume_command& x);
  void obey(http_mailbox::cancel_command& x);
  void enforce_limits();
  void schedule(http_transfer& x);
  void reap();
  void release(http_transfer& x);
  void end(http_transfer& x, transport_end how);
  void end_all();

  http_mailbox& mailbox_;
  const std::function<void(const std::function<void()>&)> around_;
  std::array<epoll_event, 256> events_{};
  std::size_t ready_ = 0;  ///< of them
  unique_fd epoll_;
  easy_pool pool_;
  http_transfer::news news_;
  http_transfer::news round_;  ///< what `pass_news` works on; keeps capacity
  std::unordered_map<transfer_id, std::unique_ptr<http_transfer>> transfers_;
  /// One entry a transfer; may be too early, never too late: a read moves the
  /// idle limit without touching it.
  std::set<deadline> deadlines_;
  time_point now_{};
  read_coalescer gatherer_;
  std::optional<time_point> curl_due_;
  multi_handle multi_;  ///< ends first: it calls back while it ends
};

}  // namespace riffle::model
