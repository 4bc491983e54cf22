// SPDX-License-Identifier: MIT
// Logins, over real sockets: a server that wants a token, the authorization
// server that gives it, and a browser.
#include <arpa/inet.h>
#include <filesystem>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "runtime/base/unique_fd.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/oauth_world.hpp"
#include "tools/mcp/oauth/sign_in.hpp"
#include "tools/mcp/oauth/way_back.hpp"

using namespace riffle;
using namespace riffle::mcp::oauth;
using riffle::testing::oauth_rules;
using riffle::testing::oauth_world;
using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

namespace {

/// A person who agrees at once.
struct person {
  expected<login> logs_in(const oauth_world& at) {
    how.server = at.server();
    how.limit = seconds{20};
    how.show = [this](const std::string& url) {
      shown = url;
      browser = std::thread{[this, url] { page = oauth_world::agree(url); }};
    };
    auto out = sign_in(how);
    if (browser.joinable()) browser.join();
    return out;
  }

  /// The same, of which nothing comes.
  std::string is_refused(const oauth_world& at) {
    const auto got = logs_in(at);
    return got ? "a token" : got.error().message;
  }

  sign_in_options how;
  std::string shown;
  std::string page;
  std::thread browser;
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a login: found, registered, agreed to, exchanged") {
  const oauth_world world;
  person me;
  const auto got = me.logs_in(world);
  REQUIRE(got.has_value());
  CHECK(got->access_token.starts_with("canary-token"));
  CHECK(got->refresh_token.starts_with("canary-refresh"));
  CHECK(got->server == world.server());
  CHECK(got->resource == world.server());
  CHECK(got->scope == "read");
  CHECK(*got->expires_at - got->issued_at == 3600);
  CHECK(holds(me.page, "Riffle has its answer"));
  CHECK(holds(me.shown, "redirect_uri=http%3A%2F%2F127.0.0.1%3A"));
  for (const auto& secret : world.secrets())
    CHECK_FALSE(holds(me.shown + me.page, secret));
  // Each has its own way back, proof and state.
  person other;
  REQUIRE(other.logs_in(world).has_value());
  const auto first = testing::read_form(me.shown);
  const auto second = testing::read_form(other.shown);
  for (const auto* key : {"state", "code_challenge", "redirect_uri"})
    CHECK(first.at(key) != second.at(key));
}

TEST_CASE("who gives tokens is found in each place where it may be written") {
  std::vector<oauth_rules> all(7);
  all[0].names_metadata = false;
  all[1].names_metadata = false;
  all[1].at_root = true;
  all[2].tenant = "/tenant";
  all[3].document = "/.well-known/openid-configuration";
  all[4].document = "/.well-known/openid-configuration";
  all[4].tenant = "/tenant";
  all[5].tenant = "/tenant";
  all[5].document = "/.well-known/openid-configuration";
  all[5].document_last = true;
  all[6].lets_in = true;  // some tools only want a token
  for (const auto& rules : all) {
    const oauth_world world{rules};
    person me;
    const auto got = me.logs_in(world);
    INFO(&rules - all.data() << ": " << (got ? "" : got.error().message));
    CHECK(got.has_value());
  }
}

TEST_CASE("a server that asks for no token is told apart from one that does") {
  oauth_rules rules;
  rules.lets_in = true;
  rules.has_metadata = false;
  const oauth_world world{rules};
  CHECK(holds(person{}.is_refused(world), "asks for no token"));
}

TEST_CASE("what lies about itself gets no login") {
  const auto says = [](const std::function<void(oauth_rules&)>& lie) {
    oauth_world world;
    world.change(lie);
    person me;
    const auto why = me.is_refused(world);
    CHECK(world.forms("/token").empty());
    return why;
  };
  CHECK(holds(says([](auto& x) {
                x.resource_lie = {{"resource", "https://bank.example/mcp"}};
              }),
              "of another resource"));
  CHECK(holds(says([](auto& x) {
                x.server_lie = {{"issuer", "https://bank.example"}};
              }),
              "of another issuer"));
  CHECK(holds(says([](auto& x) {
                x.server_lie = {{"code_challenge_methods_supported", nullptr}};
              }),
              "PKCE"));
  for (const auto* key :
       {"authorization_endpoint", "token_endpoint", "registration_endpoint"})
    for (const auto* url :
         {"http://169.254.169.254/latest", "file:///etc/passwd",
          "http://example.org/token", "javascript:alert(1)"}) {
      CAPTURE(key, url);
      CHECK(holds(says([&](auto& x) { x.server_lie = {{key, url}}; }),
                  "which is not asked"));
    }
  CHECK(holds(says([](auto& x) {
                x.resource_lie = {
                    {"authorization_servers", {"http://10.0.0.1:1/"}}};
              }),
              "is not asked"));
}

TEST_CASE("a no, and an answer of somebody else, are no login") {
  oauth_world world;
  world.change([](auto& x) { x.refusal = "access_denied"; });
  person me;
  CHECK(holds(me.is_refused(world), "says no: access_denied"));
  CHECK(holds(me.page, "not logged in"));
  world.change([](auto& x) {
    x.refusal.clear();
    x.answer_more = "&iss=https%3A%2F%2Fbank.example";
  });
  CHECK(holds(person{}.is_refused(world), "another authorization server"));
  world.change([&](auto& x) {
    x.answer_more.clear();
    x.server_lie = {{"authorization_response_iss_parameter_supported", true}};
  });
  CHECK(holds(person{}.is_refused(world), "another authorization server"));
  CHECK(world.forms("/token").empty());
}

TEST_CASE("a program with a secret shows it as its server wants") {
  for (const auto* way : {"client_secret_basic", "client_secret_post"}) {
    CAPTURE(way);
    oauth_rules rules;
    rules.client_auth = way;
    const oauth_world world{rules};
    const auto got = person{}.logs_in(world);
    REQUIRE(got.has_value());
    CHECK(got->as.auth == way);
    auto again = *got;
    CHECK(refresh(again, reach{world.server(), {}}, {}).has_value());
    CHECK(again.access_token != got->access_token);
  }
}

TEST_CASE("a program that was registered by hand is not registered again") {
  oauth_rules rules;
  rules.server_lie = {{"registration_endpoint", nullptr}};
  const oauth_world world{rules};
  CHECK(holds(person{}.is_refused(world), "--client-id"));
  person me;
  me.how.client_id = "by-hand";
  me.how.scope = "write";
  const auto got = me.logs_in(world);
  REQUIRE(got.has_value());
  CHECK(got->as.id == "by-hand");
  CHECK(got->scope == "write");
}

TEST_CASE("an answer that holds no token that can be sent is none") {
  oauth_world world;
  world.change([](auto& x) { x.token_type = "mac"; });
  CHECK(holds(person{}.is_refused(world), "mac"));
  world.change([](auto& x) {
    x.token_type = "Bearer";
    x.token_status = 503;
  });
  CHECK(holds(person{}.is_refused(world), "HTTP 503"));
}

TEST_CASE("a login is kept for its person alone, and for its server alone") {
  const auto name = std::filesystem::temp_directory_path() /
                    ("riffle-login-" + std::to_string(::getpid()));
  const auto file = name / "data" / "mcp" / "web.login";
  login x;
  x.server = "https://a.b/mcp";
  x.as = {"id", "secret-1", "client_secret_post"};
  x.access_token = "token-1";
  x.refresh_token = "token-2";
  x.issued_at = 5;
  x.expires_at = 7;
  REQUIRE(write_login(file, x).has_value());
  CHECK(read_login(file, x.server) == x);
  CHECK_FALSE(read_login(file, "https://a.b/other").has_value());
  namespace fs = std::filesystem;
  CHECK(fs::status(file).permissions() ==
        (fs::perms::owner_read | fs::perms::owner_write));
  for (const auto& folder : {name / "data", name / "data" / "mcp"})
    CHECK((fs::status(folder).permissions() & fs::perms{077}) ==
          fs::perms::none);
  // Over one that others can read it is written as if it were not there.
  fs::permissions(file, fs::perms{0666});
  REQUIRE(write_login(file, x).has_value());
  CHECK((fs::status(file).permissions() & fs::perms{077}) == fs::perms::none);
  fs::remove_all(name);
}

// -- the way back -------------------------------------------------------------

namespace {

/// A client that has said this, and what it is answered with.
std::string ask_raw(std::uint16_t port, const std::string& text,
                    bool waits = true) {
  const unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  to.sin_port = htons(port);
  if (::connect(fd.get(), reinterpret_cast<sockaddr*>(&to), sizeof to) != 0)
    return "no connection";
  static_cast<void>(::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL));
  const timeval timeout{10, 0};
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
  std::string out;
  char buffer[4096];
  while (waits) {
    const auto n = ::recv(fd.get(), buffer, sizeof buffer, 0);
    if (n <= 0) break;
    out.append(buffer, static_cast<std::size_t>(n));
  }
  return out;
}

std::uint16_t port_of(const way_back& x) {
  const auto url = x.url().substr(std::string{"http://127.0.0.1:"}.size());
  return static_cast<std::uint16_t>(std::stoi(url));
}

}  // namespace

TEST_CASE("strangers at the way back neither end the wait nor keep it") {
  auto back = way_back::open(0);
  REQUIRE(back.has_value());
  const auto port = port_of(*back);
  std::string last;
  std::thread others{[&] {
    const auto get = [](const std::string& target) {
      return "GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n";
    };
    for (int i = 0; i < 20; ++i) ask_raw(port, "GET /call", false);
    CHECK(holds(ask_raw(port, get("/favicon.ico")), "404"));
    CHECK(holds(ask_raw(port, get("/callback?code=evil&state=guess")), "404"));
    CHECK(holds(ask_raw(port,
                        "POST /callback?code=evil&state=s HTTP/1.1\r\n"
                        "\r\n"),
                "404"));
    CHECK(holds(ask_raw(port, "\x16\x03\x01 no HTTP\r\n\r\n"), "404"));
    CHECK(holds(ask_raw(port, std::string(20'000, 'x')), "404"));
    last = ask_raw(port, get("/callback?code=c1&state=s"));
  }};
  const auto code =
      back->wait({"s", "", false}, steady_clock::now() + seconds{20}, {});
  others.join();
  REQUIRE(code.has_value());
  CHECK(*code == "c1");
  CHECK(holds(last, "200 OK"));
  CHECK(holds(last, "Cache-Control: no-store"));
  CHECK_FALSE(holds(last, "c1"));
}

TEST_CASE("the way back is open for one answer, on loopback, for its time") {
  std::uint16_t port = 0;
  {
    auto back = way_back::open(0);
    REQUIRE(back.has_value());
    port = port_of(*back);
    const auto began = steady_clock::now();
    const auto code =
        back->wait({"s", "", false}, began + milliseconds{200}, {});
    CHECK(steady_clock::now() - began >= milliseconds{200});
    REQUIRE_FALSE(code.has_value());
    CHECK(code.error().code == errc::timeout);
    std::stop_source stop;
    stop.request_stop();
    const auto stopped =
        back->wait({"s", "", false}, began + seconds{60}, stop.get_token());
    CHECK(stopped.error().code == errc::cancelled);
    const auto taken = way_back::open(port);
    CHECK_FALSE(taken.has_value());
  }
  CHECK(ask_raw(port, "") == "no connection");
}
