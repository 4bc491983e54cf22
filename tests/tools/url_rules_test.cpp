// SPDX-License-Identifier: MIT
// Rules about URLs: one spelling for all that mean the same, and redirects.

#include <nlohmann/json.hpp>

#include "runtime/base/endpoint.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/http_server.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/web/fetch.hpp"
#include "tools/builtin/web/url.hpp"

using namespace riffle;
using namespace riffle::testing;
using nlohmann::json;

namespace {

using core::approval_policy;

std::string spelled(const std::string& url) {
  return tools::url_spelling(url).value_or("none");
}

/// Two servers, the first of which sends on to the second.
struct detour {
  explicit detour(const std::string& path = "/there")
      : there{http_reply::text("the page")},
        here{http_reply::text("", 302).header(
            "Location", address(there) + path.substr(1))} {}

  static std::string address(const http_server& x) {
    return "http://127.0.0.1:" + std::to_string(x.port()) + "/";
  }

  tools::tool_output get(std::vector<core::approval_rule> rules,
                         approval_policy otherwise) {
    tools::fetch_options options;
    options.allow = {*parse_endpoint("127.0.0.1")};
    options.rules = std::move(rules);
    options.otherwise = otherwise;
    tool_fixture x;
    return x.run(*tools::make_fetch(options), {{"url", address(here)}});
  }

  http_server there;
  http_server here;
};

}  // namespace

TEST_CASE("URLs that mean the same have one spelling") {
  CHECK(spelled("https://internal/a?b=c") == "https://internal/a?b=c");
  for (const auto* same :
       {"HTTPS://INTERNAL/a", "https://internal:443/a", "https://internal./a",
        "https://internal/a#b", "https://internal//a", "https://internal/./a",
        "https://internal/b/../a", "https://internal/%61",
        "https://internal/b/%2e%2E/a", "https://internal/%2e/a",
        " https://internal/a\n", "https://inter\tnal/a",
        "https://%69nternal/a"}) {
    CAPTURE(same);
    CHECK(spelled(same) == "https://internal/a");
  }
  CHECK(spelled("http://internal") == "http://internal/");
  CHECK(spelled("http://internal:8080/a/") == "http://internal:8080/a/");
  CHECK(spelled("http://internal/a%3fb%7e") == "http://internal/a%3Fb~");
  CHECK(spelled("http://internal/a?b=%2f;") == "http://internal/a?b=%2F;");
  for (const auto* many : {"http://internal/a%2fb", "http://internal/x/..%2fa",
                           "http://internal/a%5Cb", "http://internal/a\\b",
                           "http://internal/a;b/c"}) {
    CAPTURE(many);
    CHECK(spelled(many) == "none");
  }
  CHECK(spelled("http://internal/..") == "http://internal/");
  CHECK(spelled("http://internal/?x=%41") == "http://internal/?x=A");
  for (const auto* local :
       {"http://127.0.0.1/", "http://2130706433/", "http://0x7f.1/",
        "http://0177.0.0.1/", "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/"}) {
    CAPTURE(local);
    CHECK(spelled(local) == "http://127.0.0.1/");
  }
  CHECK(spelled("http://[2001:DB8:0::0:1]/") == "http://[2001:db8::1]/");
  // Where curl cannot tell, nobody says that it is known.
  const auto umlaut = spelled(
      "http://b\xc3\xbc"
      "cher/");
  CHECK((umlaut == "http://xn--bcher-kva/" || umlaut == "none"));
  for (const auto* none :
       {"https://me@internal/a", "https://internal@other/", "ftp://internal/",
        "javascript:x", "", "internal/a"}) {
    CAPTURE(none);
    CHECK(spelled(none) == "none");
  }
}

TEST_CASE("what rules see of a fetch is its URL") {
  const auto tool = tools::make_fetch({});
  const auto seen = tool->subject({{"url", "HTTP://X:80/a/../b"}}, "/");
  CHECK(seen == rule_subject{.text = "http://x/b"});
  CHECK_FALSE(tool->subject({{"url", "file:///etc"}}, "/").known);
}

TEST_CASE("a redirect obeys the rules as a call does") {
  detour x;
  const auto there = detour::address(x.there) + "*";
  const auto here = detour::address(x.here) + "*";
  SECTION("allowed: it is followed") {
    CHECK(x.get({}, approval_policy::allow).text.starts_with("the page"));
    CHECK(x.get({{there, approval_policy::allow}}, approval_policy::ask)
              .text.starts_with("the page"));
  }
  SECTION("denied: it is not") {
    const auto out =
        x.get({{there, approval_policy::deny}}, approval_policy::allow);
    REQUIRE(out.err);
    CHECK(out.err->code == errc::approval_denied);
    CHECK(out.text.starts_with("redirected to " + detour::address(x.there)));
    CHECK(out.text.ends_with("the configuration does not allow it"));
    CHECK(x.there.requests().empty());
  }
  SECTION("to be asked for: who agreed to one rule did not to another") {
    const auto out =
        x.get({{there, approval_policy::ask}}, approval_policy::allow);
    REQUIRE(out.err);
    CHECK(out.text.ends_with("call fetch with it"));
    CHECK(x.there.requests().empty());
  }
  SECTION("asked for by the same rule, and the same host") {
    CHECK(x.get({}, approval_policy::ask).text.starts_with("the page"));
  }
}

TEST_CASE("a redirect is judged by what it means, not how it is written") {
  for (const auto* path : {"/secret/x", "//secret/x", "/a/../secret/x",
                           "/%73ecret/x", "/a/%2e%2e/secret/x"}) {
    CAPTURE(path);
    detour x{path};
    const auto out =
        x.get({{detour::address(x.there) + "secret/*", approval_policy::deny}},
              approval_policy::allow);
    CHECK(out.err);
    CHECK(x.there.requests().empty());
  }
}
