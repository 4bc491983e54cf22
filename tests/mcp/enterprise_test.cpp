// SPDX-License-Identifier: MIT
// Tokens for a person's token of their company, over real sockets.
#include "tests/mcp/robot.hpp"

using namespace riffle;
using namespace riffle::mcp;
using namespace riffle::mcp::at_login;
using oauth::unattended_grant;

namespace {

/// Who knows the people of a company.
struct company {
  std::vector<std::map<std::string, std::string>> asked() const {
    std::vector<std::map<std::string, std::string>> out;
    for (const auto& one : idp.requests())
      if (one.target == "/token")
        out.push_back(riffle::testing::read_form(one.body));
    return out;
  }

  riffle::testing::http_server idp{
      [this](const riffle::testing::http_request& x) {
        using riffle::testing::http_reply;
        if (x.target == "/.well-known/openid-configuration")
          return http_reply::json(json{
              {"issuer", idp.url("")},
              {"token_endpoint",
               idp.url("/token")}}.dump());
        if (x.target != "/token") return http_reply::text("", 404);
        const auto form = riffle::testing::read_form(x.body);
        if (form.at("subject_token") != "canary-id-token")
          return http_reply::json(R"({"error":"invalid_grant"})", 400);
        return http_reply::json(json{{"access_token", "canary-id-jag"},
                                     {"issued_token_type", kind},
                                     {"token_type", "N_A"}}
                                    .dump());
      }};
  std::string kind = "urn:ietf:params:oauth:token-type:id-jag";
};

}  // namespace

TEST_CASE("a company's token of a person is exchanged, then used") {
  company work;
  robot x;
  x.with_secret();
  x.how.grant = unattended_grant::enterprise;
  x.how.identity = text("canary-id-token");
  x.how.idp = work.idp.url("");
  x.how.idp_client_id = "riffle-at-work";
  x.how.idp_client_secret = text("canary-secret-at-work");
  x.world.change([](auto& r) { r.assertion = "canary-id-jag"; });
  CHECK(x.entry()->exchange(x.request()).status == 200);
  REQUIRE(work.asked().size() == 1);
  CHECK(work.asked()[0] ==
        std::map<std::string, std::string>{
            {"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
            {"requested_token_type", "urn:ietf:params:oauth:token-type:id-jag"},
            {"audience", x.world.issuer()},
            {"resource", x.world.server()},
            {"subject_token", "canary-id-token"},
            {"subject_token_type", "urn:ietf:params:oauth:token-type:id_token"},
            {"scope", "read"}});
  CHECK(
      work.idp.requests().back().header("authorization").starts_with("Basic "));
  REQUIRE(x.forms().size() == 1);
  CHECK(x.forms()[0].at("assertion") == "canary-id-jag");
  // The token of the person is for the company alone.
  for (const auto& one : x.world.giver_requests())
    CHECK_FALSE(has_part(one.body, "canary-id-token"));
  work.kind = "urn:ietf:params:oauth:token-type:access_token";
  CHECK(has_part(x.problem(), "holds no ID-JAG"));
  x.how.identity = text("canary-of-somebody");
  CHECK(has_part(x.problem(),
                 "the identity provider gives nothing for the "
                 "token in auth.token_file"));
  CHECK(x.forms().size() == 1);
}
