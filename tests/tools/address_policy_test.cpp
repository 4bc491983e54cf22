// SPDX-License-Identifier: MIT
// What `fetch` may reach: the borders of every range, and every spelling.
#include "tools/builtin/web/address_policy.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::tools;

namespace {

std::string range_of(std::string_view address) {
  const auto x = parse_ip(address);
  REQUIRE(x);
  return std::string{special_range(*x)};
}

struct range {
  const char* before;  ///< the last public address before it, or nothing
  const char* first;
  const char* last;
  const char* after;
  const char* name;
};

address_policy allowing(std::initializer_list<const char*> all) {
  std::vector<endpoint> out;
  for (const auto* text : all) {
    auto x = parse_endpoint(text);
    REQUIRE(x);
    out.push_back(*std::move(x));
  }
  return address_policy{std::move(out)};
}

/// "" or what is said about the URL.
std::string problem(const address_policy& policy, std::string_view url) {
  const auto x = policy.check(url);
  if (x) return {};
  CHECK(x.error().code == errc::invalid_arguments);
  CHECK_FALSE(x.error().message.empty());
  return x.error().message;
}

bool says(const std::string& text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace

TEST_CASE("special ranges of IPv4 begin and end where the registry says") {
  const range ranges[] = {
      {nullptr, "0.0.0.0", "0.255.255.255", "1.0.0.0", "unspecified address"},
      {"9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0",
       "private network"},
      {"100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0",
       "carrier-grade NAT"},
      {"126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0",
       "loopback"},
      {"168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17",
       "cloud platform"},
      {"169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0",
       "link-local"},
      {"172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0",
       "private network"},
      {"191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0",
       "protocol assignments"},
      {"192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0", "documentation"},
      {"192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0",
       "6to4 relay"},
      {"192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0",
       "private network"},
      {"198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0",
       "benchmarks"},
      {"198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0",
       "documentation"},
      {"203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0",
       "documentation"},
      {"223.255.255.255", "224.0.0.0", "239.255.255.255", nullptr, "multicast"},
      {nullptr, "240.0.0.0", "255.255.255.254", nullptr, "reserved"},
      {nullptr, "255.255.255.255", "255.255.255.255", nullptr, "broadcast"},
  };
  for (const auto& x : ranges) {
    CAPTURE(x.first);
    CHECK(range_of(x.first) == x.name);
    CHECK(range_of(x.last) == x.name);
    if (x.before) CHECK(range_of(x.before) == "");
    if (x.after) CHECK(range_of(x.after) == "");
    // Every form that carries it is what it is.
    const auto mapped = "::ffff:" + std::string{x.first};
    CHECK(range_of(mapped) == x.name);
    CHECK(range_of("64:ff9b::" + std::string{x.last}) == x.name);
  }
  for (const auto* address : {"1.1.1.1", "8.8.8.8", "93.184.215.14"})
    CHECK(range_of(address) == "");
}

TEST_CASE("special ranges of IPv6 begin and end where the registry says") {
  const std::pair<const char*, const char*> special[] = {
      {"::", "unspecified address"},
      {"::1", "loopback"},
      {"::2", "reserved"},
      {"::127.0.0.1", "reserved"},
      {"::ffff:0:127.0.0.1", "reserved"},
      {"64:ff9a:ffff::", "reserved"},
      {"64:ff9b::7f00:1", "loopback"},
      {"64:ff9b::1:0:0", "reserved"},
      {"64:ff9b:1::a00:1", "reserved"},
      {"100::", "reserved"},
      {"1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
      {"2001::", "Teredo"},
      {"2001:0:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo"},
      {"2001:1::", "protocol assignments"},
      {"2001:2::", "benchmarks"},
      {"2001:2:0:ffff:ffff:ffff:ffff:ffff", "benchmarks"},
      {"2001:2:1::", "protocol assignments"},
      {"2001:10::", "protocol assignments"},
      {"2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "protocol assignments"},
      {"2001:db8::", "documentation"},
      {"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
      {"2002::", "unspecified address"},
      {"2002:7f00:1::1", "loopback"},
      {"2002:a9fe:a9fe::", "link-local"},
      {"2002:c0a8:ffff:ffff::", "private network"},
      {"3fff::", "documentation"},
      {"3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation"},
      {"4000::", "reserved"},
      {"5f00::1", "reserved"},
      {"fbff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "reserved"},
      {"fc00::", "private network"},
      {"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private network"},
      {"fe00::", "reserved"},
      {"fe80::", "link-local"},
      {"febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local"},
      {"fec0::", "private network"},
      {"feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private network"},
      {"ff00::", "multicast"},
      {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast"},
  };
  for (const auto& [address, name] : special) {
    CAPTURE(address);
    CHECK(range_of(address) == name);
  }
  for (const auto* address :
       {"2000::", "2000:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:200::", "2001:db7:ffff:ffff:ffff:ffff:ffff:ffff",
        "2001:db9::", "2002:808:808::1", "2003::", "2606:4700::1111",
        "3ffe:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
        "3fff:1000::", "64:ff9b::8.8.8.8", "::ffff:8.8.8.8"}) {
    CAPTURE(address);
    CHECK(range_of(address) == "");
  }
}

TEST_CASE("every spelling of a local address is seen through") {
  const address_policy policy;
  for (const auto* url : {"http://127.0.0.1/",
                          "http://127.1/",
                          "http://127.0.1/",
                          "http://2130706433/",
                          "http://0x7f000001/",
                          "http://017700000001/",
                          "http://0177.0.0.1/",
                          "http://0x7f.0.0.0x1/",
                          "http://0x7f.1/",
                          "http://0/",
                          "http://0.0.0.0:8080/",
                          "http://[::1]/",
                          "http://[::]/",
                          "http://[::ffff:127.0.0.1]/",
                          "http://[::ffff:7f00:1]/",
                          "http://[0:0:0:0:0:ffff:7f00:0001]/",
                          "http://[64:ff9b::7f00:1]/",
                          "http://[2002:7f00:1::]/",
                          "http://[fe80::1%25eth0]/",
                          "http://[fd00::1]/",
                          "http://169.254.169.254/latest/meta-data/",
                          "http://100.100.100.200/",
                          "http://192.168.0.1/",
                          "https://10.0.0.1/",
                          "http://255.255.255.255/",
                          "http://3232235521/",
                          "HTTP://127.0.0.1"}) {
    CAPTURE(url);
    CHECK(says(problem(policy, url), "public internet"));
  }
}

TEST_CASE("user names, other schemes and half URLs are refused") {
  const address_policy policy;
  for (const auto* url :
       {"http://example.org@127.0.0.1/", "http://user:pass@example.org/",
        "http://:pass@example.org/", "http://example.org\\@127.0.0.1/"}) {
    CAPTURE(url);
    CHECK(says(problem(policy, url), "user name"));
  }
  for (const auto* url :
       {"file:///etc/passwd", "gopher://example.org/", "ftp://example.org/",
        "dict://example.org:11211/", "ldap://example.org/", "data:text/plain,x",
        "javascript:alert(1)", "jar:http://example.org!/", "ws://example.org/",
        "smb://example.org/", "view-source:http://example.org/"}) {
    CAPTURE(url);
    CHECK_FALSE(problem(policy, url).empty());
  }
  for (const auto* url :
       {"", "example.org", "//example.org/", "/etc/passwd", "http://",
        "http:///", "http://?x", "http://exa mple.org/",
        "http://a@b@example.org/", "http://[::1/", "http://example.org:99999/",
        "http://example.org:x/", "http://\x01/"}) {
    CAPTURE(url);
    CHECK_FALSE(problem(policy, url).empty());
  }
  CHECK(says(problem(policy, std::string_view{"http://a\0b/", 11}), "NUL"));
  CHECK(says(problem(policy, "http://a/" + std::string(9000, 'x')), "longer"));
}

TEST_CASE("ports of other services are refused") {
  const address_policy policy;
  for (const auto* url : {"http://example.org:25/", "http://example.org:22/",
                          "http://example.org:1023/", "https://example.org:0/",
                          "http://1.1.1.1:81/"}) {
    CAPTURE(url);
    CHECK_FALSE(problem(policy, url).empty());
  }
  for (const auto* url :
       {"http://example.org/", "http://example.org:80/",
        "https://example.org:443", "http://example.org:1024/",
        "https://example.org:65535/?q#f", "http://1.1.1.1/"}) {
    CAPTURE(url);
    CHECK(problem(policy, url) == "");
  }
  CHECK(problem(allowing({"example.org:25"}), "http://example.org:25/") == "");
  CHECK(problem(allowing({"1.1.1.1:81"}), "http://1.1.1.1:81/") == "");
}

TEST_CASE("a good URL is given back in parts") {
  const auto x = address_policy{}.check("  HTTPS://Example.ORG./a b?c#d ");
  REQUIRE(x);
  CHECK(x->host == "example.org");
  CHECK(x->port == 443);
  CHECK(x->text.find('#') == std::string::npos);
  CHECK(x->text.find(' ') == std::string::npos);
}

TEST_CASE("what a configuration names may be reached, and nothing else") {
  const auto loopback = *parse_ip("127.0.0.1");
  const auto allowed = [&](const char* entry, std::string_view host,
                           std::uint16_t port, std::string_view at) {
    return !allowing({entry}).refusal(host, port, *parse_ip(at));
  };
  CHECK(allowed("127.0.0.1:8080", "x", 8080, "127.0.0.1"));
  CHECK(allowed("127.0.0.1:8080", "x", 8080, "::ffff:127.0.0.1"));
  CHECK_FALSE(allowed("127.0.0.1:8080", "x", 8081, "127.0.0.1"));
  CHECK_FALSE(allowed("127.0.0.1:8080", "x", 8080, "127.0.0.2"));
  CHECK(allowed("127.0.0.0/8", "x", 1, "127.9.9.9"));
  CHECK_FALSE(allowed("127.0.0.0/8", "x", 1, "10.0.0.1"));
  CHECK_FALSE(allowed("0.0.0.0/0", "x", 1, "::1"));
  CHECK(allowed("wiki.local", "wiki.local", 80, "10.0.0.1"));
  CHECK(allowed("wiki.local:80", "wiki.local", 80, "10.0.0.1"));
  CHECK_FALSE(allowed("wiki.local:80", "wiki.local", 81, "10.0.0.1"));
  CHECK_FALSE(allowed("wiki.local", "evil.wiki.local", 80, "10.0.0.1"));
  CHECK_FALSE(allowed("wiki.local", "wiki.locals", 80, "10.0.0.1"));
  CHECK_FALSE(allowed("wiki.local", "10.0.0.1", 80, "10.0.0.1"));
  CHECK_FALSE(address_policy{}.refusal("x", 1, *parse_ip("8.8.8.8")));

  const auto why = address_policy{}.refusal("evil.org", 8080, loopback);
  REQUIRE(why);
  CHECK(*why ==
        "the address 127.0.0.1 of evil.org is not of the public "
        "internet (loopback); if it is meant, a person can allow it "
        "with tools.fetch.allow = [\"evil.org:8080\"]");
  CHECK(says(*address_policy{}.refusal("::1", 8080, *parse_ip("::1")),
             "[\"[::1]:8080\"]"));
}
