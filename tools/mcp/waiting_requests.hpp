// SPDX-License-Identifier: MIT
#pragma once

// The core of JSON-RPC for threads: who asks waits here, who reads brings the
// answers. What is to be sent goes to `send`, outside of the lock.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "tools/mcp/link.hpp"

namespace riffle::mcp {

class waiting_requests {
 public:
  /// False: nothing can be sent any more.
  using sender = std::function<bool(std::string text)>;

  waiting_requests(std::string name, responder answers, sender send,
                   link_events events);

  reply ask(const request& x);
  void notify(std::string_view method, const json& params);
  void on_text(std::string_view text);
  void on_closed(const lost& how);

 private:
  struct waiter {
    const request* what = nullptr;
    std::optional<answer> came{};
    std::condition_variable_any changed{};
  };

  void act(std::unique_lock<std::mutex>& lock, rpc_effects all);
  void act_on(std::unique_lock<std::mutex>& lock, rpc_effect& x);
  void complain(const std::string& what);

  const std::string name_;
  const sender send_;
  const link_events events_;
  std::mutex mutex_;
  rpc_core core_;
  std::map<request_id, waiter> waiting_;
  std::uint64_t complaints_ = 0;
  bool closed_ = false;
};

}  // namespace riffle::mcp
