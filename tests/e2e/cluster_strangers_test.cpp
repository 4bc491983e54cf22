// SPDX-License-Identifier: MIT
// Who comes to a node's port with what was said before, or with a certificate
// whose time is over, or says nothing; and runs that share a node.
#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <memory>
#include <sys/socket.h>

#include <openssl/pem.h>
#include <openssl/x509.h>

#include "runtime/base/unique_fd.hpp"
#include "tests/e2e/cluster_world.hpp"
#include "tests/support/tcp_proxy.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

template <auto Free>
struct freer {
  template <class T>
  void operator()(T* x) const {
    Free(x);
  }
};
using file_ptr = std::unique_ptr<FILE, freer<std::fclose>>;

file_ptr open_file(const std::filesystem::path& x, const char* how) {
  file_ptr out{std::fopen(x.c_str(), how)};
  REQUIRE(out);
  return out;
}

/// The same certificate, from its authority, but over in so many seconds.
void shorten(const std::filesystem::path& folder, const std::string& name,
             long seconds) {
  const auto file = folder / (name + ".pem");
  const std::unique_ptr<X509, freer<X509_free>> x{
      ::PEM_read_X509(open_file(file, "r").get(), nullptr, nullptr, nullptr)};
  const std::unique_ptr<EVP_PKEY, freer<EVP_PKEY_free>> key{
      ::PEM_read_PrivateKey(open_file(folder / "ca.key", "r").get(), nullptr,
                            nullptr, nullptr)};
  REQUIRE((x && key));
  REQUIRE(::X509_gmtime_adj(::X509_getm_notAfter(x.get()), seconds));
  REQUIRE(::X509_sign(x.get(), key.get(), ::EVP_sha256()) != 0);
  REQUIRE(::PEM_write_X509(open_file(file, "w").get(), x.get()) == 1);
}

std::string with(const work_folder& folder, const std::string& name) {
  const auto at = (folder.path() / "c").string() + "/";
  return "tls = { certificate = \"" + at + name + ".pem\", key = \"" + at +
         name + ".key\", ca = \"" + at + "ca.pem\" }\n";
}

}  // namespace

TEST_CASE("what was recorded of a link runs nothing when it is said again") {
  const node_process a{"alpha"};
  std::string recorded;
  {
    tcp_proxy between{a.address};
    origin o{{between.address()}, {{"mark", {{"what", "1"}}}}};
    const auto done = o.go();
    INFO(done.err);
    REQUIRE(result_of(done.out).at("outcome") == "ok");
    recorded = between.said();
  }
  REQUIRE(recorded.size() > 500);
  REQUIRE(a.folder.lines("marks").size() == 1);
  talk_to(a.address, recorded, 2s);
  origin o{{a.address}, {{"mark", {{"what", "2"}}}}};
  CHECK(result_of(o.go().out).at("outcome") == "ok");
  CHECK(a.folder.lines("marks").size() == 2);
}

TEST_CASE("a certificate whose time is over lets nobody in, on either side") {
  const work_folder folder;
  REQUIRE(riffle::testing::riffle(folder,
                                  {"cluster", "init", "c", "origin", "alpha"})
              .status == 0);
  const auto c = folder.path() / "c";
  SECTION("its process does not start") {
    shorten(c, "origin", -1);
    origin o{
        {free_address()}, {{"look", {{"what", "1"}}}}, with(folder, "origin")};
    const auto done = o.go();
    CHECK(done.status == 2);
    CHECK(done.err.find("certificate has expired") != std::string::npos);
  }
  SECTION("a process that has started with it is not let in") {
    const std::string name = GENERATE("origin", "alpha");
    CAPTURE(name);
    shorten(c, name, 6);
    const auto over = std::time(nullptr) + 7;
    const node_process a{"alpha",
                         node_options{.cluster = with(folder, "alpha")}};
    // Both run while it is valid, and meet when it is not.
    tcp_proxy between{a.address};
    between.set(tcp_proxy::way::there, tcp_proxy::line::holds);
    origin o{{between.address()},
             {{"look", {{"what", "1"}}}},
             with(folder, "origin") + "join_timeout = \"15s\"\n"};
    program running{installed_riffle(),
                    o.folder,
                    {"run", "go", "--session", "s1", "--output", "jsonl"}};
    REQUIRE(eventually([&] { return between.connections() > 0; }));
    REQUIRE(eventually([&] { return std::time(nullptr) > over; }));
    between.set(tcp_proxy::way::there, tcp_proxy::line::passes);
    const auto done = running.wait();
    INFO(done.err);
    CHECK(result_of(done.out).at("error").at("code") == "tool_unavailable");
    CHECK(done.err.find("does not accept this certificate") !=
          std::string::npos);
  }
}

TEST_CASE("connections that say nothing take nobody's place") {
  const node_process a{"alpha"};
  const auto port = static_cast<std::uint16_t>(
      std::stoi(a.address.substr(a.address.rfind(':') + 1)));
  std::vector<riffle::unique_fd> silent;
  for (int i = 0; i < 200; ++i) {
    riffle::unique_fd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&to),
                      sizeof(to)) == 0);
    silent.push_back(std::move(fd));
  }
  // It greets each; what comes behind that is the end.
  const auto is_closed = [](const riffle::unique_fd& fd) {
    std::array<char, 4096> bytes{};
    ssize_t n = 1;
    while (n > 0)
      n = ::recv(fd.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return n == 0 || errno == ECONNRESET;
  };
  const auto closed = [&] { return std::ranges::count_if(silent, is_closed); };
  CHECK(eventually([&] { return closed() >= 200 - 64; }));
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  CHECK(result_of(o.go().out).at("outcome") == "ok");
}

TEST_CASE("two runs of one configuration have its nodes at once") {
  const node_process a{"alpha", "", "3"};
  origin o{{a.address}, {{"look", {{"what", "1"}}}}};
  program first{installed_riffle(),
                o.folder,
                {"run", "go", "--session", "s1", "--output", "jsonl"}};
  REQUIRE(eventually(
      [&] { return first.out().find("looking") != std::string::npos; }));
  const auto second = riffle::testing::riffle(
      o.folder, {"run", "go", "--session", "s2", "--output", "jsonl"});
  INFO(second.err);
  CHECK(result_of(second.out).at("outcome") == "ok");
  CHECK(result_of(first.wait().out).at("outcome") == "ok");
}

TEST_CASE("a port that is taken is told, and what to do") {
  const node_process a{"alpha"};
  const work_folder folder;
  folder.write("node.toml", "[node]\ntools = [\"read\"]\n");
  const auto end = riffle::testing::riffle(
      folder, {"node", "--insecure", "--config", "node.toml", "--set",
               "cluster.name=beta", "--set", "cluster.listen=" + a.address});
  CHECK(end.status == 2);
  CHECK(end.err.find("another process has that port") != std::string::npos);
}
