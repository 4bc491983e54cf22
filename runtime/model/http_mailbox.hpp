// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <variant>
#include <vector>

#include "runtime/base/unique_fd.hpp"
#include "runtime/model/http_credit.hpp"
#include "runtime/model/transport.hpp"

namespace riffle::model {

/// The border between callers and the I/O thread: commands one way, credit in
/// shared accounts. Bounded by what callers open: at most one command of each
/// kind waits for a transfer.
class http_mailbox {
 public:
  struct open_command {
    transfer_id id;
    transport_request request;
    std::shared_ptr<transfer_listener> listener;
    std::shared_ptr<http_credit> credit;
  };
  struct resume_command {
    transfer_id id;
  };
  struct cancel_command {
    transfer_id id;
  };
  using command = std::variant<open_command, resume_command, cancel_command>;

  /// Throws std::system_error without file descriptors.
  http_mailbox();

  // From any thread.
  transfer_id open(transport_request request,
                   std::shared_ptr<transfer_listener> listener);
  void grant(transfer_id id, std::size_t bytes);
  void cancel(transfer_id id);
  void stop();

  // From the I/O thread.
  /// Readable when there is something new.
  [[nodiscard]] int fd() const noexcept { return wake_.get(); }
  void clear_wake();
  std::vector<command> take();
  void forget(transfer_id id);
  [[nodiscard]] bool stopping() const noexcept { return stopping_; }

 private:
  struct entry {
    std::shared_ptr<http_credit> credit;
    bool cancelled = false;
  };

  void push(command x);  ///< `mutex_` is held

  unique_fd wake_;
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<command> commands_;
  std::unordered_map<transfer_id, entry> entries_;
  transfer_id last_ = 0;
};

}  // namespace riffle::model
