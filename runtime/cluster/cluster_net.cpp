// SPDX-License-Identifier: MIT
#include "runtime/cluster/cluster_net.hpp"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <optional>
#include <set>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <caf/all.hpp>
#include <caf/io/all.hpp>
#include <caf/io/basp_broker.hpp>
#include <caf/io/middleman_actor_impl.hpp>
#include <caf/io/network/doorman_impl.hpp>
#include <caf/openssl/all.hpp>
#include <caf/openssl/session.hpp>
#include <caf/policy/tcp.hpp>
#include <openssl/err.h>

#include "actors/handler.hpp"
#include "runtime/cluster/bounded_scribe.hpp"
#include "runtime/cluster/own_id.hpp"
#include "runtime/cluster/tcp_dial.hpp"

static_assert(CAF_VERSION >= 1706 && CAF_VERSION < 1800,
              "brokers and dials stand on inner parts of CAF 0.17.6");

namespace riffle::cluster {

namespace {

constexpr const char* op = "cluster";

namespace net_of = caf::io::network;

/// CAF's TLS session as a policy of its streams. All sessions of a thread share
/// one queue of errors, and what a peer that was killed leaves there is the
/// next one's, which CAF would close: so each begins with an empty one
/// (SSL_get_error(3)).
class tls_policy {
 public:
  explicit tls_policy(caf::openssl::session_ptr x) : session_{std::move(x)} {}

  net_of::rw_state read_some(size_t& result, int fd, void* to, size_t size) {
    ::ERR_clear_error();
    return session_->read_some(result, fd, to, size);
  }
  net_of::rw_state write_some(size_t& result, int fd, const void* from,
                              size_t size) {
    ::ERR_clear_error();
    return session_->write_some(result, fd, from, size);
  }
  bool must_read_more(int fd, size_t threshold) {
    return session_->must_read_more(fd, threshold);
  }

 private:
  caf::openssl::session_ptr session_;
};

net_of::default_multiplexer& loop_of(caf::actor_system& system) {
  return static_cast<net_of::default_multiplexer&>(
      system.middleman().backend());
}

/// Null: no session of TLS could be begun. `among`: it was taken in; null: it
/// was dialled.
caf::io::scribe_ptr make_scribe(caf::actor_system& system, unique_fd fd,
                                const net_options& options,
                                std::shared_ptr<strangers> among) {
  set_options(fd.get(), options.silence);
  net_of::nonblocking(fd.get(), true);
  auto& loop = loop_of(system);
  caf::io::scribe_ptr made;
  if (options.tls.used()) {
    ::ERR_clear_error();
    auto session =
        caf::openssl::make_session(system, fd.get(), among != nullptr);
    if (!session) return nullptr;
    made = caf::make_counted<bounded_scribe<tls_policy>>(
        loop, fd.get(), options, std::move(among), std::move(session));
  } else {
    made = caf::make_counted<bounded_scribe<caf::policy::tcp>>(
        loop, fd.get(), options, std::move(among));
  }
  static_cast<void>(fd.release());
  return made;
}

/// Takes connections in as CAF's own, but bounded.
class bounded_doorman : public net_of::doorman_impl {
 public:
  bounded_doorman(caf::actor_system& system, int fd, net_options options)
      : doorman_impl{loop_of(system), fd},
        system_{system},
        options_{std::move(options)} {}

  bool new_connection() override {
    if (detached()) return false;
    auto& loop = acceptor_.backend();
    unique_fd fd{acceptor_.accepted_socket()};
    try {
      auto scribe = make_scribe(system_, std::move(fd), options_, strangers_);
      if (!scribe) return true;  // that peer; others may come
      const auto handle = scribe->hdl();
      parent()->add_scribe(std::move(scribe));
      return doorman::new_connection(&loop, handle);
    } catch (const std::exception& e) {  // a certificate became unreadable
      log_error(op, std::string{"a connection was not taken in: "} + e.what());
      return true;
    }
  }

 private:
  caf::actor_system& system_;
  const net_options options_;
  const std::shared_ptr<strangers> strangers_ = std::make_shared<strangers>();
};

/// The socket of a dial, for whoever ends it when the peer says nothing.
struct dial_socket {
  std::stop_token stop;
  std::function<void()> connected;
  std::mutex mutex;
  unique_fd copy;
  std::string problem;
};

/// CAF's middleman actor with connections of ours. One for each dial: in 0.17.6
/// it connects blocking, so a peer that swallows packets would delay all.
class own_middleman : public caf::io::middleman_actor_impl {
 public:
  own_middleman(caf::actor_config& cfg, caf::actor broker, net_options options,
                std::shared_ptr<dial_socket> socket)
      : middleman_actor_impl{cfg, std::move(broker)},
        options_{std::move(options)},
        socket_{std::move(socket)} {}

 protected:
  caf::expected<caf::io::scribe_ptr> connect(const std::string& host,
                                             std::uint16_t port) override {
    auto fd = tcp_dial(host, port, options_.dial_limit, socket_->stop);
    if (!fd) return fail(fd.error().message);
    if (socket_->connected) socket_->connected();
    const std::lock_guard lock{socket_->mutex};
    socket_->copy = unique_fd{::dup(fd->get())};
    try {
      auto scribe = make_scribe(system(), std::move(*fd), options_, nullptr);
      if (scribe) return scribe;
      socket_->problem =
          "TLS could not be begun: it does not accept this certificate "
          "(cluster.tls), or the reverse, or speaks no TLS";
    } catch (const std::exception& e) {
      socket_->problem = e.what();
    }
    return caf::sec::cannot_connect_to_node;
  }

  caf::expected<caf::io::doorman_ptr> open(std::uint16_t port,
                                           const char* address,
                                           bool reuse) override {
    auto fd = net_of::new_tcp_acceptor_impl(port, address, reuse);
    if (!fd) return std::move(fd.error());
    return caf::make_counted<bounded_doorman>(system(), *fd, options_);
  }

 private:
  caf::sec fail(const std::string& why) {
    const std::lock_guard lock{socket_->mutex};
    socket_->problem = why;
    return caf::sec::cannot_connect_to_node;
  }

  const net_options options_;
  std::shared_ptr<dial_socket> socket_;
};

caf::actor broker_of(caf::actor_system& system) {
  return system.middleman().named_broker<caf::io::basp_broker>(
      caf::atom("BASP"));
}

struct dial_task {
  std::string host;
  std::uint16_t port = 0;
  net_options options;
  std::stop_token stop;
  net::dial_done done;
  std::function<void()> connected;
};

struct dial_state {
  static inline const char* name = "dial";
  /// Ends the dial when the ports are given up: also one whose peer took the
  /// connection and says nothing.
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
};

/// Asks one middleman actor of its own, and ends with the answer. Neither is
/// hidden: who ends the system waits for both.
void dial_once(caf::stateful_actor<dial_state>* self, const dial_task& task) {
  log_exceptions(self);
  auto socket = std::make_shared<dial_socket>();
  socket->stop = task.stop;
  socket->connected = task.connected;
  auto middleman = self->spawn<own_middleman, caf::detached>(
      broker_of(self->system()), task.options, socket);
  const auto end = [self, middleman, task](caf::strong_actor_ptr found,
                                           const std::string& problem) {
    self->send_exit(middleman, caf::exit_reason::kill);
    task.done(std::move(found), problem);
    self->quit();
  };
  const auto fail = [end, socket](const std::string& otherwise) {
    const std::lock_guard lock{socket->mutex};
    // Whoever greets us after this is too late.
    if (socket->copy) ::shutdown(socket->copy.get(), SHUT_RDWR);
    end(nullptr, !socket->problem.empty() ? socket->problem : otherwise);
  };
  self->set_exit_handler(
      [fail](const caf::exit_msg&) { fail("this process ends"); });
  self->state.on_stop.emplace(task.stop, [me = self->address()] {
    if (auto alive = caf::actor_cast<caf::actor>(me))
      caf::anon_send_exit(alive, caf::exit_reason::user_shutdown);
  });
  // Resolving, connecting, and greeting (with TLS below it).
  self->request(middleman, 3 * task.options.dial_limit, caf::connect_atom_v,
                task.host, task.port)
      .then(
          [end](const caf::node_id&, caf::strong_actor_ptr& found,
                const std::set<std::string>&) {
            end(found, found ? "" : "nothing is published there");
          },
          [fail](const caf::error&) {
            fail(
                "it took the connection and did not greet: no Riffle of this "
                "version listens there, or it does not accept this "
                "certificate (cluster.tls), or the reverse");
          });
}

}  // namespace

void prepare(caf::actor_system_config& cfg, const net_options& x) {
  cfg.load<caf::io::middleman>();
  have_own_id(cfg);
  cfg.set("middleman.app-identifiers",
          std::vector<std::string>{"riffle-cluster"});
  // What came is read and handed on by one thread (`around_reads`).
  cfg.set("middleman.workers", std::size_t{0});
  // Ours notice first; these clear what is half open. Without TCP's own they
  // would be the only ones.
  cfg.set("middleman.heartbeat-interval", caf::timespan{2 * x.silence});
  cfg.set("middleman.connection-timeout", caf::timespan{6 * x.silence});
  if (!x.tls.used()) return;
  cfg.load<caf::openssl::manager>();
  cfg.openssl_certificate = x.tls.certificate;
  cfg.openssl_key = x.tls.key;
  cfg.openssl_cafile = x.tls.ca;
}

net::net(caf::actor_system& system, net_options options)
    : system_{system}, options_{std::move(options)} {}

net::~net() {
  stop_.request_stop();
  if (listener_) caf::anon_send_exit(listener_, caf::exit_reason::kill);
}

namespace {

/// Why the system does not let this process have the address, and what to do:
/// CAF keeps it to itself. Nothing: it would now.
std::optional<std::string> bind_problem(const std::string& host,
                                        std::uint16_t port) {
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const auto name =
      ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (name != 0) return std::string{::gai_strerror(name)};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all{
      found, &::freeaddrinfo};
  const unique_fd fd{::socket(all->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  const int yes = 1;
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(fd.get(), all->ai_addr, all->ai_addrlen) == 0) return {};
  switch (errno) {
    case EADDRINUSE:
      return "another process has that port: end it, or choose another one "
             "(0: any that is free)";
    case EADDRNOTAVAIL: return "this machine does not have that address";
    case EACCES:
      return "this user may not have that port: choose one above 1023";
    default: return std::string{std::strerror(errno)};
  }
}

}  // namespace

expected<std::uint16_t> net::listen(const std::string& host, std::uint16_t port,
                                    const caf::actor& whom) {
  auto middleman = system_.spawn<own_middleman, caf::detached + caf::hidden>(
      broker_of(system_), options_, std::make_shared<dial_socket>());
  listener_ = caf::actor_cast<caf::actor>(middleman);
  caf::scoped_actor self{system_};
  expected<std::uint16_t> out = unexpected{error{}};
  self->request(middleman, options_.dial_limit, caf::publish_atom_v, port,
                caf::actor_cast<caf::strong_actor_ptr>(whom),
                std::set<std::string>{}, host, true)
      .receive(
          [&](std::uint16_t actual) { out = actual; },
          [&](const caf::error& why) {
            out = unexpected{error{
                errc::invalid_config, op,
                "cannot listen on " + host + ":" + std::to_string(port) +
                    " (cluster.listen): " +
                    bind_problem(host, port).value_or(system_.render(why))}};
          });
  return out;
}

void net::dial(const std::string& host, std::uint16_t port, dial_done done,
               std::function<void()> connected) {
  dial_task task{host,
                 port,
                 options_,
                 stop_.get_token(),
                 std::move(done),
                 std::move(connected)};
  system_.spawn(
      [task = std::move(task)](caf::stateful_actor<dial_state>* self) {
        dial_once(self, task);
      });
}

}  // namespace riffle::cluster
