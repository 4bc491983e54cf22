// SPDX-License-Identifier: MIT
// `riffle serve` against those who send anything: every route of its own
// document with what it does not take.
#include <map>
#include <set>

#include "tests/e2e/http_document.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string script = "[[steps]]\ntext = \"Done.\"\n";
const std::string json_type = "Content-Type: application/json";

bool is_refused(const http_answer& x) {
  return x.status >= 400 && x.status < 500;
}

/// RFC 9457, with what the contract adds.
void check_problem(const http_answer& x) {
  CAPTURE(x.status, x.body);
  CHECK(x.head.find("application/problem+json") != std::string::npos);
  const auto body = json::parse(x.body, nullptr, false);
  REQUIRE(body.is_object());
  CHECK(body.value("status", 0) == x.status);
  CHECK_FALSE(body.value("code", "").empty());
  CHECK_FALSE(body.value("title", "").empty());
  CHECK_FALSE(body.value("detail", "").empty());
}

}  // namespace

TEST_CASE("every route refuses what its document does not have") {
  const work_folder folder;
  write_server(folder, script,
               "[server.limits]\nrequests_per_second = 0\n"
               "attachment_bytes = 2000000\n" +
                   token_table("eye", "roles = [\"read\"]\n") +
                   token_table("hand", "roles = [\"decide\"]\n"));
  served server{folder};
  const auto who = server.user();
  const http_document doc{who.get("/openapi.json").json()};
  std::size_t asked = 0;
  std::map<std::string, std::set<std::string>> methods;
  for (const auto& x : doc.operations()) methods[x.path].insert(x.method);
  for (const auto& x : doc.operations()) {
    CAPTURE(x.method, x.path);
    const auto send = [&](const http_user& as,
                          const std::optional<std::string>& body,
                          std::vector<std::string> fields) {
      ++asked;
      return as.send(x.method, x.path, body, std::move(fields));
    };
    const auto good = x.body.is_null() ? std::optional<std::string>{}
                                       : doc.sample(x.body).dump();
    if (!x.open) {
      for (const auto* token : {"", "wrong"}) {
        const auto y = send(server.user(token), good, {json_type});
        CHECK(y.status == 401);
        check_problem(y);
      }
      const auto y = send(server.user(x.method == "GET" ? "hand" : "eye"), good,
                          {json_type});
      CAPTURE(y.status, y.body);
      CHECK((y.status == 403 || x.path == "/v1/logout"));
    }
    if (x.body.is_null()) continue;
    // Its errors are those of JSON-RPC: serve_mcp_test.
    if (x.path == "/mcp") continue;
    const auto typed = send(who, good, {"Content-Type: text/plain"});
    CHECK(typed.status == 415);
    check_problem(typed);
    const auto large = send(who, std::string(2'000'001, ' '), {json_type});
    CHECK(large.status == 413);
    check_problem(large);
    for (const auto* text : {"{", "nul", "[", "\"", "{\"a\":}", "\x01"}) {
      const auto y = send(who, std::string{text}, {json_type});
      CAPTURE(text);
      CHECK(is_refused(y));
      check_problem(y);
    }
    for (const auto& body : doc.misfits(x.body)) {
      CAPTURE(body.dump());
      const auto y = send(who, body.dump(), {json_type});
      CHECK(is_refused(y));
      check_problem(y);
    }
  }
  for (const auto& [path, has] : methods)
    for (const auto* method :
         {"GET", "POST", "PUT", "DELETE", "PATCH", "FOO"}) {
      if (has.contains(method)) continue;
      CAPTURE(method, path);
      const auto y = who.send(method, path, {}, {});
      CHECK(y.status == 405);
      for (const auto& allowed : has)
        CHECK(y.head.find(allowed) != std::string::npos);
      check_problem(y);
    }
  CHECK(asked > 200);
  CHECK(who.get("/v1/runs").json()["runs"].empty());
  CHECK(who.get("/healthz").status == 200);
}
