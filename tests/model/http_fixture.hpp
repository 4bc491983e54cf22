// SPDX-License-Identifier: MIT
#pragma once

// A transport and listeners that record, for the tests of the HTTP transport.

#include <chrono>
#include <condition_variable>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

#include "runtime/model/http_transport.hpp"
#include "tests/support/http_server.hpp"
#include "tests/support/time_scale.hpp"

namespace riffle::model {

using testing::http_reply;
using testing::http_request;
using testing::http_server;

/// Everything that a transfer told, readable from the test's thread.
class recorder final : public transfer_listener {
 public:
  void on_bytes(std::string bytes) override {
    std::scoped_lock lock{mutex_};
    body_ += bytes;
    ++reads_;
    after_end_ = after_end_ || end_.has_value();
    changed_.notify_all();
  }

  void on_end(transport_end end) override {
    std::scoped_lock lock{mutex_};
    end_ = std::move(end);
    ++ends_;
    changed_.notify_all();
  }

  /// False after ten seconds.
  bool wait_for_end() {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, timeout,
                             [this] { return end_.has_value(); });
  }

  bool wait_for_bytes(std::size_t n) {
    std::unique_lock lock{mutex_};
    return changed_.wait_for(lock, timeout, [&] { return body_.size() >= n; });
  }

  /// Waits for more than `n` bytes; false if the end came first.
  bool wait_for_more(std::size_t n) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, timeout,
                      [&] { return body_.size() > n || end_.has_value(); });
    return body_.size() > n;
  }

  std::string body() {
    std::scoped_lock lock{mutex_};
    return body_;
  }

  std::size_t size() {
    std::scoped_lock lock{mutex_};
    return body_.size();
  }

  std::size_t reads() {
    std::scoped_lock lock{mutex_};
    return reads_;
  }

  int ends() {
    std::scoped_lock lock{mutex_};
    return ends_;
  }

  bool heard_after_end() {
    std::scoped_lock lock{mutex_};
    return after_end_;
  }

  /// The end; waits for it. Fails the test's own checks with http_status -1
  /// if none comes.
  transport_end end() {
    if (!wait_for_end()) {
      return {-1, std::nullopt, std::nullopt, {}};
    }
    std::scoped_lock lock{mutex_};
    return *end_;
  }

 private:
  static constexpr auto timeout = testing::scaled(std::chrono::seconds{10});

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string body_;
  std::size_t reads_ = 0;
  int ends_ = 0;
  bool after_end_ = false;
  std::optional<transport_end> end_;
};

/// Options that the environment does not change.
inline http_options direct() {
  http_options out;
  out.proxy = "";
  return out;
}

/// A transport with short ways to use it.
struct http_client {
  explicit http_client(http_options options = direct())
      : transport{make_http_transport(std::move(options))} {}

  struct transfer {
    transfer_id id;
    std::shared_ptr<recorder> listener;

    recorder* operator->() const { return listener.get(); }
  };

  transfer post(transport_request request) {
    auto listener = std::make_shared<recorder>();
    return {transport->open(std::move(request), listener), listener};
  }

  transfer post(std::string url, std::string body = "{}") {
    transport_request request;
    request.url = std::move(url);
    request.body = std::move(body);
    return post(std::move(request));
  }

  std::unique_ptr<model::transport> transport;
};

/// Memory of this process that is in use.
inline std::size_t resident_bytes() {
  std::ifstream statm{"/proc/self/statm"};
  std::size_t all = 0;
  std::size_t resident = 0;
  statm >> all >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// How much more than `before` it is now; 0 under sanitizers, which keep
/// memory of their own.
inline std::size_t grown_since(std::size_t before) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  (void)before;
  return 0;
#else
  auto now = resident_bytes();
  return now > before ? now - before : 0;
#endif
}

inline std::string code_of(const transport_end& end) {
  return end.failure ? std::string{to_string(end.failure->code)} : "none";
}

}  // namespace riffle::model
