// SPDX-License-Identifier: MIT
#include "tests/e2e/http_answers.hpp"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/schema.hpp"

namespace riffle::testing {

namespace {

using nlohmann::json;

std::string lower(std::string x) {
  std::ranges::transform(x, x.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return x;
}

std::string upper(std::string x) {
  std::ranges::transform(x, x.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return x;
}

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> out(1);
  for (const char c : path)
    if (c == '/')
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

bool fits(const std::string& path, const std::string& pattern) {
  const auto a = parts_of(path);
  const auto b = parts_of(pattern);
  return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
    return y.starts_with('{') ? !x.empty() : x == y;
  });
}

/// The type of the body, without what comes behind ";".
std::string type_of(const std::string& head) {
  const std::string name = "\ncontent-type: ";
  const auto at = lower(head).find(name);
  if (at == std::string::npos) return {};
  const auto from = at + name.size();
  return head.substr(from, head.find_first_of(";\r\n", from) - from);
}

class answers_document {
 public:
  answers_document() {
    std::ifstream in{RIFFLE_SOURCE_DIR "/runtime/http/openapi.json"};
    all_ = json::parse(std::string{std::istreambuf_iterator<char>{in}, {}});
  }

  [[nodiscard]] std::set<std::string> routes() const {
    std::set<std::string> out;
    for (const auto& [path, methods] : all_["paths"].items())
      for (const auto& [method, about] : methods.items())
        out.insert(upper(method) + " " + path);
    return out;
  }

  /// Which route it is of; nothing: of none.
  [[nodiscard]] std::optional<std::pair<std::string, json>> route_of(
      const told_answer& x) const {
    const auto method = lower(x.method == "HEAD" ? "get" : x.method);
    const auto path = x.path.substr(0, x.path.find('?'));
    for (const auto& [pattern, methods] : all_["paths"].items())
      if (methods.contains(method) && fits(path, pattern))
        return std::pair{upper(method) + " " + pattern, methods[method]};
    return {};
  }

  /// What is wrong with the answer; empty: nothing.
  [[nodiscard]] std::string fault_of(const told_answer& x,
                                     const json& route) const {
    const auto status = std::to_string(x.status);
    if (!route["responses"].contains(status)) return "the status is not in it";
    const auto about = resolved(route["responses"][status]);
    if (!about.contains("content"))
      return x.body.empty() ? "" : "it has a body";
    const auto type = type_of(x.head);
    if (!about["content"].contains(type))
      return "the type \"" + type + "\" is not in it";
    if (x.method == "HEAD" || type.find("json") == std::string::npos ||
        type.find("ndjson") != std::string::npos)
      return {};
    return form_fault(about["content"][type]["schema"], x.body);
  }

 private:
  [[nodiscard]] json resolved(const json& x) const {
    if (!x.contains("$ref")) return x;
    const std::string at = x["$ref"];
    return all_.at(json::json_pointer{at.substr(1)});
  }

  /// Without references; what names members has no other.
  [[nodiscard]] json closed(const json& given) const {
    if (given.is_array()) {
      json out = json::array();
      for (const auto& x : given) out.push_back(closed(x));
      return out;
    }
    if (!given.is_object()) return given;
    const auto whole = resolved(given);
    json out = json::object();
    for (const auto& [name, x] : whole.items()) out[name] = closed(x);
    if (out.contains("properties") && out["properties"].is_object() &&
        !out.contains("additionalProperties"))
      out["additionalProperties"] = false;
    return out;
  }

  [[nodiscard]] std::string form_fault(const json& form,
                                       const std::string& body) const {
    const auto value = json::parse(body, nullptr, false);
    if (value.is_discarded()) return "the body is no JSON";
    const json whole{{"type", "object"},
                     {"properties", {{"body", closed(form)}}},
                     {"required", {"body"}}};
    const auto compiled = tools::schema::compile(whole.dump());
    if (!compiled) return "its form is no schema: " + compiled.error();
    std::string out;
    for (const auto& x : compiled->check({{"body", value}}))
      out += x.pointer + ": " + x.message + "; ";
    return out;
  }

  json all_;
};

const answers_document& document() {
  static const answers_document x;
  return x;
}

struct seen_answers {
  std::mutex mutex;
  std::vector<std::string> faults;
  std::set<std::string> routes;
};

seen_answers& seen() {
  static seen_answers x;
  return x;
}

}  // namespace

void compare_with_document(const told_answer& x) {
  constexpr std::size_t shown = 2000;
  if (x.status == 0) return;  // it was refused, or cut off
  const auto route = document().route_of(x);
  if (!route) return;
  const auto fault = document().fault_of(x, route->second);
  const std::lock_guard lock{seen().mutex};
  seen().routes.insert(route->first + " " + std::to_string(x.status));
  if (!fault.empty())
    seen().faults.push_back(x.method + " " + x.path + " " +
                            std::to_string(x.status) + ": " + fault + "\n" +
                            x.body.substr(0, shown));
}

std::vector<std::string> take_undocumented() {
  const std::lock_guard lock{seen().mutex};
  return std::exchange(seen().faults, {});
}

std::set<std::string> take_documented() {
  const std::lock_guard lock{seen().mutex};
  return std::exchange(seen().routes, {});
}

std::set<std::string> documented_routes() { return document().routes(); }

}  // namespace riffle::testing
