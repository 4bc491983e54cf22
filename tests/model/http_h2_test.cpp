// SPDX-License-Identifier: MIT
// HTTP/2 against nghttpd (Debian: nghttp2-server), with and without TLS.
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "tests/model/http_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

extern char** environ;

namespace riffle::model {

using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t large = 50u << 20;

pid_t spawn(std::vector<std::string> words) {
  std::vector<char*> argv;
  for (auto& word : words) {
    argv.push_back(word.data());
  }
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (int fd : {1, 2}) {
    posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
  }
  pid_t pid = -1;
  auto failed =
      posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  return failed == 0 ? pid : -1;
}

bool run(std::vector<std::string> words) {
  auto pid = spawn(std::move(words));
  int status = -1;
  return pid > 0 && ::waitpid(pid, &status, 0) == pid && status == 0;
}

/// A folder with a large file, served by nghttpd.
class h2_server {
 public:
  explicit h2_server(bool tls) : tls_{tls} {
    std::string name =
        (fs::temp_directory_path() / "riffle-h2-XXXXXX").string();
    root_ = ::mkdtemp(name.data());
    std::ofstream{root_ / "small"} << "small";
    std::ofstream file{root_ / "large"};
    std::string block(1u << 20, '\0');
    for (std::size_t i = 0; i < large / block.size(); ++i) {
      block.assign(block.size(), static_cast<char>('a' + i % 26));
      file << block;
    }
    file.close();
    start();
  }

  ~h2_server() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  h2_server(const h2_server&) = delete;
  h2_server& operator=(const h2_server&) = delete;

  /// nghttpd runs and answers.
  [[nodiscard]] bool ready() const noexcept { return ready_; }
  [[nodiscard]] std::string url(std::string_view path) const {
    return (tls_ ? "https://localhost:" : "http://127.0.0.1:") +
           std::to_string(port_).append(path);
  }
  [[nodiscard]] http_options options() const {
    auto out = direct();
    out.http2_prior_knowledge = !tls_;
    out.ca_file = tls_ ? certificate() : "";
    return out;
  }
  [[nodiscard]] std::string certificate() const { return root_ / "cert.pem"; }

 private:
  void start() {
    auto key = (root_ / "key.pem").string();
    std::vector<std::string> words{"nghttpd", "-a", "127.0.0.1", "-d", root_};
    if (tls_ &&
        !run({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
              "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
              "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
              "-keyout", key, "-out", certificate()})) {
      return;
    }
    if (!tls_) {
      words.emplace_back("--no-tls");
    }
    port_ = testing::dead_port();
    words.push_back(std::to_string(port_));
    if (tls_) {
      words.insert(words.end(), {key, certificate()});
    }
    pid_ = spawn(std::move(words));
    for (int i = 0; pid_ > 0 && i < 100 && !ready_; ++i) {
      http_client client{options()};
      ready_ = code_of(client.post(url("/small"))->end()) == "none";
      std::this_thread::sleep_for(20ms);
      ready_ = ready_ && ::waitpid(pid_, nullptr, WNOHANG) == 0;
    }
  }

  bool tls_;
  fs::path root_;
  std::uint16_t port_ = 0;
  pid_t pid_ = -1;
  bool ready_ = false;
};

void check_intact(const std::string& body) {
  REQUIRE(body.size() == large);
  bool intact = true;
  for (std::size_t i = 0; i < body.size(); ++i) {
    intact = intact && body[i] == static_cast<char>('a' + (i >> 20) % 26);
  }
  CHECK(intact);
}

}  // namespace

TEST_CASE("over HTTP/2 a sender is stopped where the credit ends") {
  auto tls = GENERATE(false, true);
  CAPTURE(tls);
  h2_server server{tls};
  if (!server.ready()) {
    testing::skip("nghttpd (or openssl) is not installed");
    return;
  }
  http_client client{server.options()};
  transport_request request;
  request.url = server.url("/large");
  request.credit = 100'000;
  request.timeouts.idle = 200ms;
  auto before = resident_bytes();
  auto x = client.post(request);
  REQUIRE(x->wait_for_bytes(request.credit));
  // Longer than the idle limit; whatever is going to come has come.
  std::this_thread::sleep_for(500ms);
  CHECK(x->size() == request.credit);
  CHECK(x->ends() == 0);
  CHECK(grown_since(before) < 8u << 20);

  // Another transfer of the same client is not held up.
  CHECK(code_of(client.post(server.url("/small"))->end()) == "none");

  client.transport->grant(x.id, 2 * large);
  CHECK(code_of(x->end()) == "none");
  check_intact(x->body());
}

TEST_CASE("over HTTP/2 small grants one by one deliver everything") {
  h2_server server{false};
  if (!server.ready()) {
    testing::skip("nghttpd is not installed");
    return;
  }
  http_client client{server.options()};
  transport_request request;
  request.url = server.url("/large");
  request.credit = 1;
  auto x = client.post(request);
  constexpr std::size_t step = 1u << 20;
  for (std::size_t got = 1; got < large; got += step) {
    REQUIRE(x->wait_for_bytes(std::min(got, large)));
    client.transport->grant(x.id, step);
  }
  CHECK(code_of(x->end()) == "none");
  check_intact(x->body());
}

TEST_CASE("over HTTP/2 a refusal is its status") {
  h2_server server{false};
  if (!server.ready()) {
    testing::skip("nghttpd is not installed");
    return;
  }
  http_client client{server.options()};
  auto end = client.post(server.url("/missing"))->end();
  CHECK(end.http_status == 404);
  CHECK(code_of(end) == "model_error");
}

TEST_CASE("a certificate that nobody vouches for is refused") {
  h2_server server{true};
  if (!server.ready()) {
    testing::skip("nghttpd (or openssl) is not installed");
    return;
  }
  http_client client;
  auto end = client.post(server.url("/small"))->end();
  CHECK(end.http_status == 0);
  REQUIRE(code_of(end) == "model_unreachable");
  CHECK_FALSE(end.failure->retryable);
}

}  // namespace riffle::model
