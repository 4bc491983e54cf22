// SPDX-License-Identifier: MIT
#include "runtime/model/http_transport.hpp"

#include <mutex>
#include <pthread.h>
#include <signal.h>
#include <thread>
#include <utility>

#include "runtime/model/http_loop.hpp"

namespace riffle::model {

namespace {

/// A signal is for the program's own threads; a write to a closed TLS
/// connection must not raise SIGPIPE.
void block_signals() {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

class http_transport final : public transport {
 public:
  explicit http_transport(http_options options)
      : options_{std::move(options)}, loop_{options_, mailbox_} {}

  ~http_transport() override {
    mailbox_.stop();
    if (thread_.joinable()) {
      thread_.join();
    }
  }

  transfer_id open(transport_request request,
                   std::shared_ptr<transfer_listener> listener) override {
    std::call_once(started_, [this] {
      thread_ = std::thread{[this] {
        ::pthread_setname_np(::pthread_self(), "riffle.models");
        block_signals();
        loop_.run();
      }};
    });
    return mailbox_.open(std::move(request), std::move(listener));
  }

  void grant(transfer_id id, std::size_t bytes) override {
    mailbox_.grant(id, bytes);
  }

  void cancel(transfer_id id) override { mailbox_.cancel(id); }

 private:
  const http_options options_;
  http_mailbox mailbox_;
  http_loop loop_;
  std::once_flag started_;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<transport> make_http_transport(http_options options) {
  init_curl();
  return std::make_unique<http_transport>(std::move(options));
}

}  // namespace riffle::model
