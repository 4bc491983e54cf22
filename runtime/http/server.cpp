// SPDX-License-Identifier: MIT
#include "runtime/http/server.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <pthread.h>
#include <sys/socket.h>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "runtime/base/log.hpp"
#include "runtime/http/connection.hpp"

namespace riffle::http {

namespace {

constexpr const char* server_op = "server";
constexpr auto tick_interval = std::chrono::milliseconds{50};
constexpr auto accept_pause = std::chrono::milliseconds{100};

unexpected refused(const std::string& what) {
  return unexpected{error{errc::invalid_config, server_op, what}};
}

expected<std::shared_ptr<asio::ssl::context>> load_tls(
    const std::string& certificate, const std::string& key) {
  auto tls =
      std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  beast::error_code failed;
  tls->set_options(asio::ssl::context::default_workarounds |
                   asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1);
  tls->use_certificate_chain_file(certificate, failed);
  if (failed)
    return refused(
        certificate +
        " (server.tls.certificate) holds no certificate: " + failed.message());
  tls->use_private_key_file(key, asio::ssl::context::pem, failed);
  if (failed)
    return refused(key +
                   " (server.tls.key) is not the key of the certificate: " +
                   failed.message());
  return tls;
}

const std::string& busy_text() {
  static const std::string text =
      "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\n"
      "Content-Type: application/problem+json\r\nContent-Length: 101\r\n"
      "Connection: close\r\n\r\n";
  static const std::string body =
      "{\"title\":\"Unavailable\",\"status\":503,\"code\":\"session_busy\","
      "\"detail\":\"too many connections\"}\n";
  static const std::string all = [] {
    auto out = text;
    const auto at = out.find("101");
    return out.replace(at, 3, std::to_string(body.size())) + body;
  }();
  return all;
}

}  // namespace

struct server::impl {
  explicit impl(server_options x)
      : loop{std::make_shared<asio::io_context>(1)},
        acceptor{*loop},
        ticker{*loop},
        pause{*loop},
        shared{std::make_shared<connection_setup>()} {
    shared->options = std::move(x);
    shared->post = [to = std::weak_ptr{loop}](std::function<void()> job) {
      if (const auto there = to.lock()) asio::post(*there, std::move(job));
    };
    shared->forget = [this](any_connection* one) {
      all.erase(one);
      if (all.empty() && shared->closing) tell_empty();
    };
  }

  expected<void> listen();
  void accept();
  void take(tcp::socket socket);
  void tick();
  void tell_empty();
  void publish_counts();

  std::shared_ptr<asio::io_context> loop;
  std::shared_ptr<asio::ssl::context> tls;  ///< null: plain
  tcp::acceptor acceptor;
  asio::steady_timer ticker;
  asio::steady_timer pause;
  bool complained = false;  ///< that nobody can be taken
  std::shared_ptr<connection_setup> shared;
  std::unordered_map<any_connection*, std::shared_ptr<any_connection>> all;
  std::thread thread;
  std::uint32_t ticks = 0;
  std::mutex mutex;
  std::condition_variable emptied;
  bool empty = false;  ///< while it closes: nobody is left
  std::atomic<std::uint64_t> connections = 0;
  std::atomic<std::uint64_t> streams = 0;
  std::atomic<std::uint64_t> stalled = 0;
};

expected<void> server::impl::listen() {
  const auto& x = shared->options;
  beast::error_code failed;
  if (x.listening >= 0) {
    sockaddr_storage about{};
    socklen_t size = sizeof about;
    ::getsockname(x.listening, reinterpret_cast<sockaddr*>(&about), &size);
    acceptor.assign(about.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(),
                    x.listening, failed);
    if (failed)
      return refused("the socket that was handed over: " + failed.message());
    return {};
  }
  const auto name = x.address == "localhost" ? "127.0.0.1" : x.address;
  const auto address = asio::ip::make_address(name, failed);
  if (failed)
    return refused("server.listen: \"" + x.address +
                   "\" is no address; an IP address or localhost is");
  const tcp::endpoint at{address, x.port};
  acceptor.open(at.protocol(), failed);
  if (!failed) acceptor.set_option(tcp::acceptor::reuse_address{true}, failed);
  if (!failed && address.is_v6())
    acceptor.set_option(asio::ip::v6_only{address.is_loopback()}, failed);
  if (!failed) acceptor.bind(at, failed);
  if (!failed) acceptor.listen(4096, failed);
  if (!failed) return {};
  return refused(x.address + ":" + std::to_string(x.port) +
                 " cannot be listened to: " + failed.message() +
                 (failed == asio::error::no_descriptors
                      ? "; raise the limit (ulimit -n)"
                      : "; choose another port (server.listen)"));
}

void server::impl::accept() {
  acceptor.async_accept([this](beast::error_code failed, tcp::socket socket) {
    if (!acceptor.is_open()) return;
    if (failed) {  // no descriptor is left: connections end, then there is
      if (!std::exchange(complained, true))
        log_warn("server",
                 "no more clients can be taken for now: " + failed.message());
      pause.expires_after(accept_pause);
      pause.async_wait([this](beast::error_code stopped) {
        if (!stopped && acceptor.is_open()) accept();
      });
      return;
    }
    complained = false;
    accept();  // first: whatever becomes of this one, others come
    take(std::move(socket));
  });
}

void server::impl::take(tcp::socket socket) {
  if (all.size() >= shared->options.connections) {
    ::send(socket.native_handle(), busy_text().data(), busy_text().size(),
           MSG_DONTWAIT | MSG_NOSIGNAL);
    return;
  }
  const auto begin = [this](auto made) {
    all.emplace(made.get(), made);
    made->start();
  };
  if (tls)
    begin(std::make_shared<tls_connection>(
        asio::ssl::stream<tcp::socket>{std::move(socket), *tls}, shared));
  else
    begin(std::make_shared<plain_connection>(std::move(socket), shared));
}

void server::impl::tick() {
  ticker.expires_after(tick_interval);
  ticker.async_wait([this](beast::error_code stopped) {
    if (stopped) return;
    tick();  // first: whatever this one throws, others come
    shared->app->tick();
    if (++ticks % (sweep_interval / tick_interval) == 0) {
      const auto now = std::chrono::steady_clock::now();
      std::vector<std::shared_ptr<any_connection>> there;
      there.reserve(all.size());
      for (const auto& one : all) there.push_back(one.second);
      for (const auto& one : there) one->sweep(now);
    }
    publish_counts();
  });
}

void server::impl::publish_counts() {
  connections = shared->counts.connections;
  streams = shared->counts.streams;
  stalled = shared->counts.stalled;
}

void server::impl::tell_empty() {
  const std::lock_guard lock{mutex};
  empty = true;
  emptied.notify_all();
}

server::server(std::unique_ptr<impl> x) : impl_{std::move(x)} {}

server::~server() { close({}); }

expected<std::unique_ptr<server>> server::open(server_options x) try {
  auto made = std::make_unique<impl>(std::move(x));
  const auto& asked = made->shared->options;
  if (!asked.certificate.empty()) {
    auto tls = load_tls(asked.certificate, asked.key);
    if (!tls) return unexpected{std::move(tls.error())};
    made->tls = std::move(*tls);
  }
  if (auto ok = made->listen(); !ok) return unexpected{ok.error()};
  return std::unique_ptr<server>{new server{std::move(made)}};
} catch (const boost::system::system_error& e) {
  // What waits for events has none of its own, as no descriptor is left.
  return refused(std::string{"the server cannot begin: "} + e.what());
}

std::uint16_t server::port() const {
  beast::error_code ignored;
  return impl_->acceptor.local_endpoint(ignored).port();
}

server_counts server::counts() const {
  return {impl_->connections, impl_->streams, impl_->stalled};
}

void server::post(std::function<void()> job) { impl_->shared->post(job); }

void server::start(application& to) {
  impl_->shared->app = &to;
  impl_->accept();
  impl_->tick();
  impl_->thread = std::thread{[loop = impl_->loop] {
    ::pthread_setname_np(::pthread_self(), "riffle.http");
    for (;;) {
      try {
        loop->run();
        return;
      } catch (const std::exception& e) {
        log_error(server_op, std::string{"a handler threw: "} + e.what());
      }
    }
  }};
}

/// Those that are there keep what they have of the old one.
expected<void> server::renew_certificate(const std::string& certificate,
                                         const std::string& key) {
  auto fresh = load_tls(certificate, key);
  if (!fresh) return unexpected{std::move(fresh.error())};
  post([this, fresh = std::move(*fresh)] {
    if (impl_->tls) impl_->tls = fresh;
  });
  return {};
}

void server::stop_listening() {
  asio::post(*impl_->loop, [this] {
    beast::error_code ignored;
    impl_->acceptor.close(ignored);
  });
}

void server::close(duration limit) {
  if (!impl_ || !impl_->thread.joinable()) return;
  asio::post(*impl_->loop, [this] {
    beast::error_code ignored;
    impl_->acceptor.close(ignored);
    impl_->shared->closing = true;
    std::vector<std::shared_ptr<any_connection>> there;
    for (const auto& one : impl_->all) there.push_back(one.second);
    for (const auto& one : there) one->wind_down();
    if (impl_->all.empty()) impl_->tell_empty();
  });
  {
    std::unique_lock lock{impl_->mutex};
    impl_->emptied.wait_for(lock, limit, [this] { return impl_->empty; });
  }
  asio::post(*impl_->loop, [this] {
    auto rest = std::move(impl_->all);
    for (const auto& one : rest) one.second->abort();
    impl_->ticker.cancel();
    impl_->loop->stop();
  });
  impl_->thread.join();
}

}  // namespace riffle::http
