// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "runtime/http/exporter.hpp"
#include "runtime/http/site.hpp"
#include "tests/support/catch.hpp"

namespace riffle::embedded {
extern const std::string_view openapi_json;
}

using namespace riffle;
using namespace riffle::http;

namespace {

json document() { return json::parse(embedded::openapi_json); }

}  // namespace

TEST_CASE("OpenAPI knows all routes, and no other") {
  std::set<std::string> ours;
  for (const auto& x : routes())
    ours.insert(std::string{x.method} + " " + std::string{x.path});
  std::set<std::string> told;
  const auto all = document();
  for (const auto& [path, methods] : all["paths"].items())
    for (const auto& [method, about] : methods.items()) {
      auto name = method;
      for (auto& c : name) c = static_cast<char>(std::toupper(c));
      told.insert(name + " " + path);
    }
  CHECK(ours == told);
}

TEST_CASE("OpenAPI says of each route what it takes and who may") {
  const auto all = document();
  std::set<std::string> ids;
  for (const auto& x : routes()) {
    CAPTURE(x.method, x.path);
    auto method = std::string{x.method};
    for (auto& c : method) c = static_cast<char>(std::tolower(c));
    const auto& about = all["paths"][std::string{x.path}][method];
    CHECK(ids.insert(about["operationId"].get<std::string>()).second);
    CHECK(about.contains("summary"));
    const bool open = about.contains("security") && about["security"].empty();
    CHECK(open == !x.needs);
    // Each name in the path is a parameter.
    std::set<std::string> named;
    for (const auto& p : about.value("parameters", json::array()))
      if (p["in"] == "path") named.insert(p["name"].get<std::string>());
    std::set<std::string> wanted;
    for (std::size_t at = 0;
         (at = x.path.find('{', at)) != std::string_view::npos; ++at)
      wanted.insert(
          std::string{x.path.substr(at + 1, x.path.find('}', at) - at - 1)});
    CHECK(named == wanted);
    // Only what takes a body describes one.
    if (about.contains("requestBody")) CHECK(x.has_body);
    if (!open) {
      CHECK(about["responses"].contains("401"));
      CHECK(about["responses"].contains("403"));
    }
  }
}

TEST_CASE("every reference of OpenAPI leads somewhere") {
  const auto all = document();
  std::function<void(const json&)> walk = [&](const json& x) {
    if (x.is_object() && x.contains("$ref")) {
      const auto to = x["$ref"].get<std::string>();
      CAPTURE(to);
      CHECK(all.contains(json::json_pointer{to.substr(1)}));
    }
    if (x.is_structured())
      for (const auto& one : x) walk(one);
  };
  walk(all);
}

TEST_CASE("a path finds its route, with what stands in it") {
  const auto x = find_route("GET", "/v1/runs/run_1/calls/call%2F2/output");
  REQUIRE(x.found);
  CHECK(x.names == std::vector<std::string>{"run_1", "call/2"});
  CHECK(find_route("HEAD", "/healthz").found);
  CHECK(find_route("GET", "/v1/runs").found->needs == role::read);
  CHECK(find_route("POST", "/v1/runs").found->needs == role::run);
  CHECK(find_route("POST", "/v1/proposals/x").found->needs == role::decide);
}

TEST_CASE("no state is changed by GET") {
  for (const auto& x : routes()) {
    CAPTURE(x.path);
    if (x.method == "GET") {
      CHECK_FALSE(x.has_body);
      CHECK((!x.needs || *x.needs == role::read));
    }
  }
}

TEST_CASE("a path that is none has no methods, one that is has its own") {
  CHECK(find_route("GET", "/v1/nothing").allowed.empty());
  CHECK(find_route("PATCH", "/v1/runs").allowed == "POST, GET, HEAD");
  CHECK(find_route("POST", "/v1/tools").allowed == "GET, HEAD");
  for (const auto* path :
       {"", "/", "/v1", "/v1/runs/", "/v1/runs//events", "/v1/runs/x/y",
        "//v1/runs", "/V1/runs", "/v1/runs/%zz", "/v1/runs/x/events/"}) {
    CAPTURE(path);
    CHECK_FALSE(find_route("GET", path).found);
  }
}

TEST_CASE("a target is split as RFC 3986 says") {
  request x;
  REQUIRE(read_target("/v1/runs?state=active&before=a%2Bb&q=a+b&empty=", x));
  CHECK(x.path == "/v1/runs");
  CHECK(x.query["state"] == "active");
  CHECK(x.query["before"] == "a+b");
  CHECK(x.query["q"] == "a b");
  CHECK(x.query["empty"].empty());
  for (const auto& [absolute, path] :
       {std::pair{"http://a.b:80/v1/runs?x=y", "/v1/runs"},
        {"HTTPS://[::1]", "/"},
        {"http://a?x=y", "/"}}) {
    request y;
    y.fields = {{"host", "other"}};
    CAPTURE(absolute);
    CHECK(read_target(absolute, y));
    CHECK(y.path == path);
    CHECK(std::string{absolute}.find(y.header("host")) != std::string::npos);
  }
  for (const auto* bad : {"", "x", "http://", "http:///a", "ftp://a/", "*",
                          "/a?x=%2", "/a?%zz=1"}) {
    request y;
    CAPTURE(bad);
    CHECK_FALSE(read_target(bad, y));
  }
}

TEST_CASE("what is measured is told in Prometheus' words") {
  int asked = 0;
  exporter x{{{"riffle_streams", "Streams.", [&] { return ++asked; }}}};
  for (const auto& about : metrics_table()) x.on(about, 2, {{"a.b", "c"}});
  const auto text = x.text();
  CHECK(text.find("riffle_streams 1") != std::string::npos);
  CHECK(x.text().find("riffle_streams 2") != std::string::npos);
  for (const auto& about : metrics_table()) {
    auto name = std::string{about.name};
    for (auto& c : name)
      if (c == '.') c = '_';
    CAPTURE(name);
    CHECK(text.find(name) != std::string::npos);
  }
  CHECK(text.find("{a_b=\"c\"") != std::string::npos);
  // What went well has no type of error.
  x.on(metrics_table()[0], 2, {{"error.type", ""}, {"b.c", "d"}});
  CHECK(x.text().find("{b_c=\"d\"") != std::string::npos);
  CHECK(x.text().find("error_type") == std::string::npos);
}

TEST_CASE("the document of the server names each metric and what it counts") {
  std::ifstream in{std::string{RIFFLE_SOURCE_DIR} + "/docs/http.md"};
  const std::string text{std::istreambuf_iterator<char>{in}, {}};
  exporter x{{}};
  for (const auto& one : metrics_table()) {
    auto name = std::string{one.name};
    std::ranges::replace(name, '.', '_');
    CAPTURE(name);
    x.on(one, 1, {});
    const auto row = text.find("| `" + name);
    REQUIRE(row != std::string::npos);
    const auto line = text.substr(row, text.find('\n', row) - row);
    CHECK(line.find(one.description) != std::string::npos);
    // As it is exported.
    const auto shown = line.substr(3, line.find('`', 3) - 3);
    CHECK(x.text().find("# HELP " + shown + " ") != std::string::npos);
  }
}

TEST_CASE("OpenAPI knows that messages of /mcp come as lists, too") {
  const auto all = document();
  const auto& about = all["paths"]["/mcp"]["post"];
  for (const auto* part : {&about["requestBody"], &about["responses"]["200"]}) {
    const auto& schema = (*part)["content"]["application/json"]["schema"];
    REQUIRE(schema.contains("oneOf"));
    CHECK(schema["oneOf"][0]["type"] == "object");
    CHECK(schema["oneOf"][1]["type"] == "array");
  }
}
