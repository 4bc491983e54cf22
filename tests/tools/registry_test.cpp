// SPDX-License-Identifier: MIT
#include "tools/registry.hpp"

#include "tests/support/catch.hpp"
#include "tools/arguments.hpp"

using namespace riffle;
using namespace riffle::tools;

namespace {

class echo final : public tool {
 public:
  explicit echo(std::string name,
                std::string parameters = R"({"type": "object"})") {
    spec_.name = std::move(name);
    spec_.parameters = std::move(parameters);
  }
  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }
  [[nodiscard]] std::string title(const nlohmann::json&) const override {
    return "Echo";
  }
  tool_output run(const nlohmann::json& arguments, tool_context&) override {
    return {.text = arguments.dump()};
  }

 private:
  tool_spec spec_;
};

constexpr const char* rich = R"({
  "type": "object",
  "properties": {
    "path": {"type": "string", "minLength": 1, "pattern": "^[a-z/.]+$"},
    "limit": {"type": "integer", "minimum": 1, "maximum": 100},
    "mode": {"enum": ["fast", "slow"]},
    "tags": {"type": "array", "maxItems": 2, "items": {"type": "string"}},
    "where": {"$ref": "#/definitions/place"},
    "size": {"anyOf": [{"type": "integer"}, {"const": "all"}]},
    "maybe": {"type": ["string", "null"]}
  },
  "definitions": {"place": {
    "type": "object",
    "properties": {"x": {"type": "number", "exclusiveMinimum": 0}},
    "required": ["x"]}},
  "required": ["path"],
  "additionalProperties": false
})";

registry with(std::string name, std::string parameters) {
  registry tools;
  REQUIRE(tools.add(
      std::make_shared<echo>(std::move(name), std::move(parameters))));
  return tools;
}

/// What the model reads, without the words that all messages begin with.
std::string wrong(const registry& tools, std::string_view arguments) {
  const auto result = tools.check("echo", arguments);
  if (result) return "valid";
  CHECK(result.error().code == errc::invalid_arguments);
  const std::string begin = "the arguments of echo are not valid: ";
  CHECK(result.error().message.starts_with(begin));
  return result.error().message.substr(begin.size());
}

std::string refusal(std::string name, std::string parameters) {
  registry tools;
  const auto result =
      tools.add(std::make_shared<echo>(std::move(name), std::move(parameters)));
  if (result) return "accepted";
  CHECK(result.error().code == errc::invalid_config);
  return result.error().message;
}

}  // namespace

TEST_CASE("a tool is found by its name, and names are in order") {
  registry tools;
  REQUIRE(tools.add(std::make_shared<echo>("write")));
  REQUIRE(tools.add(std::make_shared<echo>("read")));
  CHECK(tools.names() == std::vector<std::string>{"read", "write"});
  REQUIRE(tools.find("read"));
  CHECK((*tools.find("read"))->spec().name == "read");
  CHECK(tools.find("rea") == nullptr);
}

TEST_CASE("ill-formed and repeated names are refused") {
  const std::string plain = R"({"type": "object"})";
  CHECK(refusal("", plain).find("is not allowed") != std::string::npos);
  CHECK(refusal("a b", plain).find("is not allowed") != std::string::npos);
  CHECK(refusal("\xff", plain).find("is not allowed") != std::string::npos);
  CHECK(refusal(std::string(65, 'a'), plain) != "accepted");
  CHECK(refusal(std::string(64, 'a'), plain) == "accepted");
  auto tools = with("echo", plain);
  const auto again = tools.add(std::make_shared<echo>("echo"));
  REQUIRE_FALSE(again);
  CHECK(again.error().message == "there are two tools with the name \"echo\"");
}

TEST_CASE("only schemas of an object are accepted, and only safe ones") {
  const auto why = [](const std::string& text) {
    const std::string begin =
        "the parameters of the tool \"t\" are no usable JSON Schema: ";
    auto message = refusal("t", text);
    return message.starts_with(begin) ? message.substr(begin.size()) : message;
  };
  CHECK(why(R"({"type": "object"})") == "accepted");
  CHECK(why(R"({"type": "string"})") == R"(must say "type": "object")");
  CHECK(why("") == R"(must say "type": "object")");
  CHECK(why("[]") == "must be one JSON object, but is array");
  CHECK(why("{").starts_with("not valid JSON: line 1, column 2:"));
  CHECK(why(R"({"type": "object", "properties": {"a": {"type": "strng"}}})") ==
        "Unrecognised JSON type name 'strng'");
  CHECK(why(R"({"type": "object", "required": "a"})") != "accepted");
  CHECK(why(R"({"type": "object", "$ref": "#"})") ==
        "a reference leads back to itself");
  CHECK(why(R"({"type": "object", "allOf": [{"$ref": "#"}]})") ==
        "a reference leads back to itself");
  CHECK(why(R"({"type": "object", "properties": {
                 "a": {"$ref": "http://example.org/x"}}})") ==
        "the reference \"http://example.org/x\" does not lead to a place in "
        "the schema");
  CHECK(why(R"({"type": "object", "properties": {"a": {"pattern": "("}}})") ==
        "cannot use the pattern \"(\"");
  CHECK(why(std::string(100'000, '[')) == "nested deeper than 256 levels");
}

TEST_CASE("a schema may refer to itself where it goes into the value") {
  const auto tools = with("echo", R"({
    "type": "object",
    "properties": {"child": {"$ref": "#"}},
    "additionalProperties": false})");
  CHECK(wrong(tools, R"({"child": {"child": {}}})") == "valid");
  CHECK(wrong(tools, R"({"child": {"child": {"x": 1}}})") ==
        "at /child/child: the key \"x\" is not known; allowed: child");
}

TEST_CASE("an unknown tool is answered with names that may be meant") {
  registry tools;
  for (const auto* name : {"read", "bash", "read_many"})
    REQUIRE(tools.add(std::make_shared<echo>(name)));
  const auto message = [&](std::string_view name) {
    const auto result = tools.check(name, "{}");
    REQUIRE_FALSE(result);
    CHECK(result.error().code == errc::tool_not_found);
    return result.error().message;
  };
  CHECK(message("reed") == "there is no tool \"reed\"; did you mean read?");
  CHECK(message("read-many") ==
        "there is no tool \"read-many\"; did you mean read_many, read?");
  CHECK(message("zzz") ==
        "there is no tool \"zzz\"; there are: bash, read, read_many");
  CHECK(message("a\xff\n") ==
        "there is no tool \"a\ufffd\\n\"; there are: bash, read, read_many");
}

TEST_CASE("valid arguments come back as an object and a compact text") {
  const auto tools = with("echo", R"({"type": "object"})");
  const auto compact = [&](std::string_view text) {
    const auto result = tools.check("echo", text);
    REQUIRE(result);
    CHECK(result->value.is_object());
    CHECK(compact_arguments(text) == result->text);
    return result->text;
  };
  CHECK(compact("") == "{}");
  CHECK(compact(" \n\t ") == "{}");
  CHECK(compact(R"( {"b": 1, "a": {"d": [1, 2], "c": null}} )") ==
        R"({"b":1,"a":{"d":[1,2],"c":null}})");
  CHECK(compact("\r\n{ \"a b\" : \"c \\\" d\\\\\" , \"e\" : [ 1 ,\t2 ] }\n") ==
        "{\"a b\":\"c \\\" d\\\\\",\"e\":[1,2]}");
  // As it was written: numbers and escapes, too.
  CHECK(compact(R"({"a": 1.50e2, "b": "\u00e4"})") ==
        R"({"a":1.50e2,"b":"\u00e4"})");
  CHECK(are_same_arguments(R"({"b": 1, "a": {"d": 2, "c": 3}})",
                           R"({"a":{"c":3,"d":2},"b":1})"));
  CHECK_FALSE(are_same_arguments(R"({"a":1})", R"({"a":2})"));
  CHECK_FALSE(are_same_arguments("{", "["));
}

TEST_CASE("text that is not one JSON object is refused with the reason") {
  const auto tools = with("echo", R"({"type": "object"})");
  CHECK(wrong(tools, "[]") == "must be one JSON object, but is array");
  CHECK(wrong(tools, "null") == "must be one JSON object, but is null");
  CHECK(wrong(tools, "\"{}\"") == "must be one JSON object, but is string");
  CHECK(wrong(tools, "{} {}") ==
        "not valid JSON: line 1, column 4: syntax error while parsing value - "
        "unexpected '{'; expected end of input");
  CHECK(wrong(tools, R"({"a": 1)") ==
        "not valid JSON: line 1, column 8: syntax error while parsing object "
        "- unexpected end of input; expected '}'");
  CHECK(wrong(tools, R"({"a": 1, "b": {"a": 1}, "a": 2})") ==
        "the key \"a\" stands twice in one object");
  CHECK(wrong(tools, R"({"a": {"b": 1, "b": 1}})") ==
        "the key \"b\" stands twice in one object");
  for (const std::string text :
       {"{'a': 1}", "{\"a\": 01}", "{\"a\": .5}", "{\"a\": +1}", "{a: 1}",
        "{\"a\": NaN}", "{\"a\": 1,}", "{\"a\": \"\x01\"}", "{\"a\": \"\xff\"}",
        "{\"a\": \"\\ud800\"}", "{\"a\": 1e999}", "{\"a\": tru}", "\xff"}) {
    CAPTURE(text);
    CHECK(wrong(tools, text).starts_with("not valid JSON: "));
  }
  CHECK(wrong(tools, std::string("{}\0", 3)).starts_with("not valid JSON: "));
}

TEST_CASE("nesting is bounded before anything recurses") {
  const auto tools = with("echo", R"({"type": "object"})");
  const auto nested = [](std::size_t arrays) {
    return R"({"a": )" + std::string(arrays, '[') + std::string(arrays, ']') +
           "}";
  };
  CHECK(wrong(tools, nested(max_json_depth - 1)) == "valid");
  CHECK(wrong(tools, nested(max_json_depth)) ==
        "nested deeper than 256 levels");
  CHECK(wrong(tools, std::string(1'000'000, '[')) ==
        "nested deeper than 256 levels");
  CHECK(wrong(tools, R"({"a": ")" + std::string(1000, '[') + "\\\"[\"}") ==
        "valid");
}

TEST_CASE("arguments that break the schema: what, where, what is allowed") {
  const auto tools = with("echo", rich);
  CHECK(wrong(tools, R"({"path": "a/b", "limit": 3, "mode": "fast",
                         "tags": ["x"], "where": {"x": 0.5}, "size": "all",
                         "maybe": null})") == "valid");
  CHECK(wrong(tools, "") == "the key \"path\" is missing (a string)");
  CHECK(wrong(tools, R"({"path": 5})") ==
        "at /path: must be a string, but is 5");
  CHECK(wrong(tools, R"({"path": "a", "limit": "ten"})") ==
        "at /limit: must be an integer, but is the string \"ten\"");
  CHECK(wrong(tools, R"({"path": "a", "limit": 1.5})") ==
        "at /limit: must be an integer, but is 1.5");
  CHECK(wrong(tools, R"({"path": "a", "limit": 0})") ==
        "at /limit: must be at least 1, but is 0");
  CHECK(wrong(tools, R"({"path": "a", "limit": 18446744073709551615})") ==
        "at /limit: must be at most 100, but is 18446744073709551615");
  CHECK(wrong(tools, R"({"path": "a", "mode": "Fast"})") ==
        "at /mode: must be one of \"fast\", \"slow\", but is the string "
        "\"Fast\"");
  CHECK(wrong(tools, R"({"path": "a", "maybe": []})") ==
        "at /maybe: must be a string or null, but is an array");
  CHECK(wrong(tools, R"({"path": "a", "tags": ["x", 1]})") ==
        "at /tags/1: must be a string, but is 1");
  CHECK(wrong(tools, R"({"path": "a", "tags": ["x", "y", "z"]})") ==
        "at /tags: must have at most 2 items, but has 3");
  CHECK(wrong(tools, R"({"path": "a", "where": {}})") ==
        "at /where: the key \"x\" is missing (a number)");
  CHECK(wrong(tools, R"({"path": "a", "where": {"x": 0}})") ==
        "at /where/x: must be more than 0, but is 0");
  CHECK(wrong(tools, R"({"path": ""})") ==
        "at /path: must have at least 1 characters, but has 0; at /path: must "
        "match the pattern \"^[a-z/.]+$\", but is the string \"\"");
  CHECK(wrong(tools, R"({"pth": "a"})") ==
        "the key \"path\" is missing (a string); the key \"pth\" is not "
        "known; allowed: limit, maybe, mode, path, size, tags, where; did you "
        "mean \"path\"?");
}

TEST_CASE("where plain keywords do not tell, the schema is shown") {
  const auto tools = with("echo", rich);
  CHECK(wrong(tools, R"({"path": "a", "size": "some"})") ==
        R"(at /size: does not fit {"anyOf":[{"type":"integer"},)"
        R"({"const":"all"}]})");
}

TEST_CASE("long and hostile values are cut in messages") {
  const auto tools = with("echo", rich);
  const auto text = wrong(
      tools, R"({"path": "a", "limit": ")" + std::string(100'000, 'x') + "\"}");
  CHECK(text.size() < 200);
  std::string many = R"({"path": "a")";
  for (int i = 0; i < 1000; ++i) many += ",\"k" + std::to_string(i) + "\": 1";
  CHECK(wrong(tools, many + "}").size() < 3000);
}

TEST_CASE("alternatives that lead back to themselves end, and say so") {
  const auto tools = with("echo", R"({"type": "object",
    "properties": {"z": {"type": "integer"},
                   "a": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}})");
  const auto deep = [](int depth, const std::string& core) {
    std::string out;
    for (int i = 0; i < depth; ++i) out += "{\"a\":";
    return out + "{\"z\":" + core + "}" + std::string(depth, '}');
  };
  CHECK(wrong(tools, deep(60, "1")) == "valid");
  CHECK(wrong(tools, deep(3, "\"bad\"")).find("/a/a/a/z") != std::string::npos);
  CHECK(wrong(tools, deep(12, "\"bad\"")).find("too deep to say where") !=
        std::string::npos);
  CHECK(wrong(tools, deep(60, "\"bad\"")).find("too deep to be tried") !=
        std::string::npos);
}

TEST_CASE("a reference into a list of schemas leads where it led") {
  const auto tools = with("echo", R"({"type": "object",
    "properties": {"a": {"$ref": "#/allOf/0/properties/b"},
                   "c": {"allOf": [true, {"type": "string"}]}},
    "allOf": [{"properties": {"b": {"type": "integer"}}}]})");
  CHECK(wrong(tools, R"({"a": 1, "b": 2, "c": "x"})") == "valid");
  CHECK(wrong(tools, R"({"a": "x"})") != "valid");
  CHECK(wrong(tools, R"({"b": "x"})") != "valid");
  CHECK(wrong(tools, R"({"c": 1})") != "valid");
}

TEST_CASE("items are unique by what they are, however many there are") {
  const auto tools = with("echo", R"({"type": "object", "properties": {
    "u": {"type": "array", "uniqueItems": true}}})");
  for (const auto* same :
       {R"([1, 2, 1])", R"([1, 1.0])", R"([[], []])", R"([null, 0, null])",
        R"([{"a": 1, "b": [true]}, {"b": [true], "a": 1}])", R"(["x", "x"])"})
    CHECK(wrong(tools, R"({"u": )" + std::string{same} + "}") ==
          "at /u: does not fit {\"type\":\"array\",\"uniqueItems\":true}");
  CHECK(wrong(tools, R"({"u": [1, "1", true, null, 1.5, -1, [1], {"1": 1},
                               [[1]], ["1"], {"a": 1}, {"a": "1"}, "",
                               {}, []]})") == "valid");
  std::string many = R"({"u": [0)";
  for (int i = 1; i < 100'000; ++i) many += "," + std::to_string(i);
  CHECK(wrong(tools, many + "]}") == "valid");
  CHECK(wrong(tools, many + ",99999]}") != "valid");
}

TEST_CASE("a pattern costs neither stack nor exponential time") {
  const auto tools = with("echo", R"({
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^(a+)+$"},
                   "d": {"type": "string", "format": "date"}}})");
  const std::string many(20'000, 'a');
  CHECK(wrong(tools, R"({"a": ")" + many + "\"}") == "valid");
  CHECK(wrong(tools, R"({"a": ")" + many + "!\"}")
            .starts_with("at /a: must match the pattern \"^(a+)+$\""));
  CHECK(wrong(tools, R"({"d": ")" + std::string(200'000, '1') + "\"}") ==
        "valid");
}
