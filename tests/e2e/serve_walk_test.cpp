// SPDX-License-Identifier: MIT
// `riffle serve` against those who send anything: every route of its own
// document with what it does not take.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "runtime/base/digest.hpp"
#include "tests/e2e/serve_world.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

const std::string script = "[[steps]]\ntext = \"Done.\"\n";
const std::string json_type = "Content-Type: application/json";

std::string token_table(const std::string& name, const std::string& more = "") {
  return "[server.tokens." + name + "]\nhash = \"" + ::riffle::sha256(name) +
         "\"\n" + more;
}

/// A way to ask for something that the document has.
struct operation {
  std::string method;
  std::string path;  ///< with names in the place of {…}
  bool open = false;  ///< no token
  json body;         ///< schema; null: it has none
};

class document {
 public:
  explicit document(json x) : all_(std::move(x)) {}

  [[nodiscard]] json resolved(const json& schema) const {
    if (!schema.contains("$ref")) return schema;
    const std::string at = schema["$ref"];
    return all_.at(json::json_pointer{at.substr(1)});
  }

  [[nodiscard]] std::vector<operation> operations() const {
    std::vector<operation> out;
    for (const auto& [path, methods] : all_["paths"].items())
      for (const auto& [method, about] : methods.items()) {
        operation x{upper(method), filled(path), is_open(about), {}};
        if (about.contains("requestBody"))
          x.body = about["requestBody"]["content"]["application/json"]["schema"];
        out.push_back(std::move(x));
      }
    return out;
  }

  /// The smallest that fits.
  [[nodiscard]] json sample(const json& given) const {
    const auto schema = resolved(given);
    if (schema.contains("enum")) return schema["enum"][0];
    if (schema.contains("anyOf")) return sample(schema["anyOf"][0]);
    if (schema.contains("oneOf")) return sample(schema["oneOf"][0]);
    const std::string type = schema.value("type", "object");
    if (type == "string") return "x";
    if (type == "integer" || type == "number") return schema.value("minimum", 1);
    if (type == "boolean") return true;
    if (type == "array")
      return json::array({sample(schema.value("items", json::object()))});
    json out = json::object();
    for (const auto& name : schema.value("required", json::array()))
      out[name.get<std::string>()] =
          sample(schema["properties"][name.get<std::string>()]);
    return out;
  }

  /// Bodies that do not fit, each with one fault.
  [[nodiscard]] std::vector<json> misfits(const json& given) const {
    const auto schema = resolved(given);
    std::vector<json> out{json::array(), 17, "text", true};
    if (schema.value("type", "") != "object") return {};
    const auto good = sample(schema);
    if (!schema.value("additionalProperties", true)) {
      out.push_back(good);
      out.back()["no_such_member"] = 1;
    }
    for (const auto& name : schema.value("required", json::array())) {
      out.push_back(good);
      out.back().erase(name.get<std::string>());
    }
    for (const auto& [name, about] : schema["properties"].items())
      for (auto& value : wrong(resolved(about))) {
        out.push_back(good);
        out.back()[name] = std::move(value);
      }
    return out;
  }

 private:
  static std::string upper(std::string x) {
    for (char& c : x) c = static_cast<char>(std::toupper(c));
    return x;
  }
  static std::string filled(std::string path) {
    for (auto at = path.find('{'); at != std::string::npos; at = path.find('{'))
      path.replace(at, path.find('}') - at + 1, "some");
    return path;
  }
  static bool is_open(const json& about) {
    return about.contains("security") && about["security"].empty();
  }

  /// Values of other types, outside of bounds, of no enumeration.
  static std::vector<json> wrong(const json& schema) {
    if (!schema.contains("type")) return {};
    std::vector<json> out;
    const auto type = schema["type"];
    const auto is = [&](const char* x) {
      return type == x ||
             (type.is_array() &&
              std::find(type.begin(), type.end(), json(x)) != type.end());
    };
    if (!is("string")) out.emplace_back("text");
    if (!is("integer") && !is("number")) out.emplace_back(17);
    if (!is("boolean")) out.emplace_back(true);
    if (!is("array")) out.push_back(json::array({1}));
    if (!is("object")) out.push_back(json{{"a", 1}});
    if (is("integer")) out.emplace_back(1.5);
    if (schema.contains("minimum"))
      out.emplace_back(schema["minimum"].get<std::int64_t>() - 1);
    if (schema.contains("maximum"))
      out.emplace_back(schema["maximum"].get<std::int64_t>() + 1);
    if (schema.contains("enum")) out.emplace_back("none of these");
    if (schema.contains("minLength")) out.emplace_back("");
    return out;
  }

  json all_;
};

bool is_refused(const http_answer& x) { return x.status >= 400 && x.status < 500; }

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
  const document doc{who.get("/openapi.json").json()};
  std::size_t asked = 0;
  std::map<std::string, std::set<std::string>> methods;
  for (const auto& x : doc.operations()) methods[x.path].insert(x.method);
  for (const auto& x : doc.operations()) {
    CAPTURE(x.method, x.path);
    const auto send = [&](const http_user& as, const std::optional<std::string>& body,
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
      if (x.method != "GET") {
        const auto y = send(server.user("eye"), good, {json_type});
        CHECK((y.status == 403 || x.path == "/v1/logout"));
      }
    }
    if (x.body.is_null()) continue;
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
    for (const auto* method : {"GET", "POST", "PUT", "DELETE", "PATCH", "FOO"}) {
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
