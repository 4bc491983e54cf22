// SPDX-License-Identifier: MIT
#include "runtime/base/endpoint.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

std::string shown(const endpoint& x) {
  std::string out = x.host;
  if (x.network)
    out = to_text(x.network->first) + "/" + std::to_string(x.network->prefix);
  return x.port ? out + " port " + std::to_string(*x.port) : out;
}

std::string read(std::string_view text) {
  const auto x = parse_endpoint(text);
  return x ? shown(*x) : "nothing";
}

bool within(std::string_view network, std::string_view address) {
  const auto n = parse_network(network);
  const auto a = parse_ip(address);
  REQUIRE(n);
  REQUIRE(a);
  return n->contains(*a);
}

}  // namespace

TEST_CASE("hosts and networks are read, with and without ports") {
  CHECK(read("wiki.local") == "wiki.local");
  CHECK(read("Wiki.Local.:8080") == "wiki.local port 8080");
  CHECK(read("my_host:1") == "my_host port 1");
  CHECK(read("127.0.0.1") == "127.0.0.1/128");
  CHECK(read("127.0.0.1:65535") == "127.0.0.1/128 port 65535");
  CHECK(read("10.0.0.0/8") == "10.0.0.0/104");
  CHECK(read("10.0.0.0/8:80") == "10.0.0.0/104 port 80");
  CHECK(read("0.0.0.0/0") == "0.0.0.0/96");
  CHECK(read("::1") == "::1/128");
  CHECK(read("[::1]") == "::1/128");
  CHECK(read("[::1]:8080") == "::1/128 port 8080");
  CHECK(read("fd00::/8") == "fd00::/8");
  CHECK(read("[fd00::]/8:443") == "fd00::/8 port 443");
  CHECK(read("::ffff:10.0.0.1") == "10.0.0.1/128");
}

TEST_CASE("what is no host and no network is refused") {
  for (const auto* text : {"",
                           ":80",
                           "host:",
                           "host:0",
                           "host:65536",
                           "host:x",
                           "host:-1",
                           "http://host",
                           "host/path",
                           "user@host",
                           "*",
                           "a b",
                           "..",
                           ".host",
                           "a..b",
                           "10.0.0.0/33",
                           "10.0.0.1/8",
                           "10.0.0.0/",
                           "10.0.0.0/x",
                           "10.0.0/8",
                           "127.1",
                           "2130706433",
                           "256.0.0.1",
                           "1.2.3.4/",
                           "::1/129",
                           "fd00::1/8",
                           "[::1",
                           "[::1]x",
                           "[127.0.0.1]",
                           "[]",
                           "[host]",
                           "fe80::1%1",
                           "h\xC3\xB6st"}) {
    INFO(text);
    CHECK(read(text) == "nothing");
  }
  CHECK(read(std::string_view{"127.0.0.1\0", 10}) == "nothing");
}

TEST_CASE("a network holds the addresses that begin with its bits") {
  CHECK(within("10.0.0.0/8", "10.0.0.0"));
  CHECK(within("10.0.0.0/8", "10.255.255.255"));
  CHECK_FALSE(within("10.0.0.0/8", "11.0.0.0"));
  CHECK_FALSE(within("10.0.0.0/8", "9.255.255.255"));
  CHECK(within("172.16.0.0/12", "172.31.255.255"));
  CHECK_FALSE(within("172.16.0.0/12", "172.32.0.0"));
  CHECK(within("1.2.3.4", "1.2.3.4"));
  CHECK_FALSE(within("1.2.3.4", "1.2.3.5"));
  CHECK(within("10.0.0.0/8", "::ffff:10.1.2.3"));
  CHECK_FALSE(within("0.0.0.0/0", "2001::1"));
  CHECK(within("fd00::/8", "fdff::1"));
  CHECK_FALSE(within("fd00::/8", "fe00::1"));
  CHECK(within("::/0", "1.2.3.4"));
}

TEST_CASE("names of hosts are compared without case and final dot") {
  CHECK(plain_host("ExAmple.ORG.") == "example.org");
  CHECK(plain_host("") == "");
}

TEST_CASE("who is asked at a URL is told without what opens a door") {
  using x = url_server;
  CHECK(server_of("https://api.example.com/v1") == x{"api.example.com", "443"});
  CHECK(server_of("http://127.0.0.1:8080/v1?a=b:1") == x{"127.0.0.1", "8080"});
  CHECK(server_of("http://u:secret@host/v1") == x{"host", "80"});
  CHECK(server_of("http://[::1]:99") == x{"::1", "99"});
  CHECK(server_of("https://[fd00::1]/x") == x{"fd00::1", "443"});
  CHECK(server_of("http:///x") == x{});
  CHECK(server_of("no url") == x{});
  CHECK(server_of("") == x{});
}
