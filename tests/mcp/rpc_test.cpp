// SPDX-License-Identifier: MIT
// JSON-RPC: every split, every order, every lie.
#include "tools/mcp/rpc.hpp"

#include <map>
#include <random>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tools/mcp/line_reader.hpp"

using namespace riffle::mcp;

namespace {

template <class T>
std::vector<T> all_of(const rpc_effects& from) {
  std::vector<T> out;
  for (const auto& x : from)
    if (const auto* one = std::get_if<T>(&x)) out.push_back(*one);
  return out;
}

std::string result_text(request_id id, const json& result) {
  return json{{"jsonrpc", "2.0"}, {"id", id}, {"result", result}}.dump();
}

std::string progress_text(const json& token, double now) {
  return json{{"jsonrpc", "2.0"},
              {"method", "notifications/progress"},
              {"params", {{"progressToken", token}, {"progress", now}}}}
      .dump();
}

}  // namespace

TEST_CASE("lines are the same for every split") {
  const std::string text = "one\r\n\ntwo \xC3\xA9\n\r\nthree\nhalf";
  const std::vector<std::string> expected = {"one", "two \xC3\xA9", "three"};
  for (std::size_t i = 0; i <= text.size(); ++i)
    for (std::size_t j = i; j <= text.size(); ++j) {
      line_reader reader;
      std::vector<std::string> lines;
      const auto take = [&](std::string_view x) { lines.emplace_back(x); };
      REQUIRE(reader.feed(std::string_view{text}.substr(0, i), take));
      REQUIRE(reader.feed(std::string_view{text}.substr(i, j - i), take));
      REQUIRE(reader.feed(std::string_view{text}.substr(j), take));
      REQUIRE(lines == expected);
    }
}

TEST_CASE(
    "a line beyond the limit ends the reader, one at the limit does not") {
  line_reader reader{10};
  int lines = 0;
  const auto count = [&](std::string_view) { ++lines; };
  CHECK(reader.feed("0123456789\n", count));
  CHECK(reader.feed("01234", count));
  CHECK_FALSE(reader.feed("567890\nnext\n", count));
  CHECK_FALSE(reader.feed("x\n", count));
  CHECK(lines == 1);
}

TEST_CASE("a request is one line with its number, and settles once") {
  rpc_core core;
  rpc_effects out;
  const auto id = core.request("tools/list", {{"cursor", "a\nb"}}, false, out);
  REQUIRE(out.size() == 1);
  const auto& text = std::get<send_text>(out[0]).text;
  CHECK(text.find('\n') == std::string::npos);
  CHECK(json::parse(text) == json{{"jsonrpc", "2.0"},
                                  {"id", id},
                                  {"method", "tools/list"},
                                  {"params", {{"cursor", "a\nb"}}}});
  out.clear();
  core.on_text(result_text(id, {{"a", 1}}), out);
  REQUIRE(out.size() == 1);
  CHECK(std::get<settled>(out[0]).id == id);
  CHECK(std::get<json>(std::get<settled>(out[0]).how) == json{{"a", 1}});
  out.clear();
  core.on_text(result_text(id, {{"a", 2}}), out);
  CHECK(all_of<settled>(out).empty());
  CHECK(all_of<odd>(out).size() == 1);
}

TEST_CASE("lies settle nothing, and are told") {
  const std::vector<std::string> lies = {
      "Listening on port 3000",
      "{",
      "7",
      "\"text\"",
      "{}",
      "{\"jsonrpc\":\"2.0\",\"id\":1}",
      "{\"id\":2,\"result\":{}}",
      "{\"id\":\"1\",\"result\":{}}",
      "{\"id\":-1,\"result\":{}}",
      "{\"id\":1.5,\"result\":{}}",
      "{\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}",
      "{\"id\":{},\"method\":\"ping\"}",
      "[7]",
      std::string(300, '['),
      "\xFF\xFE",
  };
  for (const auto& lie : lies) {
    CAPTURE(lie);
    rpc_core core;
    rpc_effects out;
    const auto id = core.request("x", {}, true, out);
    out.clear();
    core.on_text(lie, out);
    CHECK(all_of<settled>(out).empty());
    CHECK(all_of<send_text>(out).empty());
    CHECK(all_of<odd>(out).size() == 1);
    CHECK(core.is_open(id));
  }
}

TEST_CASE("what is told of a server's bytes does nothing to a terminal") {
  rpc_core core;
  rpc_effects out;
  core.on_text(
      "bad \xff\x9b"
      "31mX \xc2\x9b"
      "31m \x1b]0;t\x07 \xc3\xa9",
      out);
  core.on_text(std::string(5000, '\x80'), out);
  const auto told = all_of<odd>(out);
  REQUIRE(told.size() == 2);
  CHECK(told[0].what ==
        "this is no JSON: bad \\xff\\x9b31mX \\x9b31m \\x1b]0;t\\x07 \xc3\xa9");
  CHECK(told[1].what.size() < 300);
}

TEST_CASE("an answer that no parser takes ends its request") {
  const std::string deep(400, '[');
  const std::string deep_end(400, ']');
  for (const auto& text :
       {"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":" + deep + deep_end +
            "}}",
        "{\"result\":{\"id\":9,\"a\":\"\\\"id\\\":8\",\"b\":" + deep +
            deep_end + "}, \"id\" : 1 }",
        std::string{"{\"id\":1,\"result\":{\"a\":"}}) {
    CAPTURE(text);
    rpc_core core;
    rpc_effects out;
    const auto id = core.request("x", {}, false, out);
    REQUIRE(id == 1);
    out.clear();
    core.on_text(text, out);
    const auto all = all_of<settled>(out);
    REQUIRE(all.size() == 1);
    CHECK(std::get<rpc_error>(all[0].how).message.find("nested too deep") !=
          std::string::npos);
    CHECK_FALSE(core.is_open(id));
  }
  rpc_core core;
  rpc_effects out;
  const auto id = core.request("x", {}, false, out);
  out.clear();
  core.on_text("{\"id\":1,\"method\":\"ping\",\"params\":" + deep, out);
  CHECK(core.is_open(id));
  core.on_text("{\"id\":1.0,\"result\":{}}", out);
  CHECK_FALSE(core.is_open(id));
}

TEST_CASE("errors and results of a wrong form settle as errors") {
  const auto how = [](const std::string& member) {
    rpc_core core;
    rpc_effects out;
    core.request("x", {}, false, out);
    out.clear();
    core.on_text("{\"id\":1," + member + "}", out);
    REQUIRE(all_of<settled>(out).size() == 1);
    return std::get<rpc_error>(all_of<settled>(out)[0].how);
  };
  CHECK(how(R"("error":{"code":-32601,"message":"no"})") ==
        rpc_error{-32601, "no", {}});
  CHECK(how(R"("error":{"code":"x"},"result":{})").message ==
        "an error without a text");
  CHECK(how(R"("error":"no")").number == code::internal);
  CHECK(how(R"("result":[1])").message == "the result is no object");
  CHECK(how(R"("result":null)").message == "the result is no object");
  CHECK(how(R"("error":{"code":1,"message":"m","data":{"a":1}})").data ==
        json{{"a", 1}});
}

TEST_CASE("a batch is read one by one") {
  rpc_core core;
  rpc_effects out;
  const auto a = core.request("a", {}, true, out);
  const auto b = core.request("b", {}, false, out);
  out.clear();
  core.on_text("[" + progress_text(a, 1) + "," +
                   result_text(b, json::object()) +
                   ",{\"id\":\"p\",\"method\":\"ping\"}," +
                   result_text(a, json::object()) + "]",
               out);
  REQUIRE(all_of<settled>(out).size() == 2);
  CHECK(all_of<settled>(out)[0].id == b);
  CHECK(all_of<progressed>(out).size() == 1);
  REQUIRE(all_of<send_text>(out).size() == 1);
  CHECK(json::parse(all_of<send_text>(out)[0].text) ==
        json{{"jsonrpc", "2.0"}, {"id", "p"}, {"result", json::object()}});
  std::string many = "[7";
  for (int i = 0; i < 2000; ++i) many += ",7";
  out.clear();
  core.on_text(many + "]", out);
  CHECK(all_of<odd>(out).size() == 1001);
}

TEST_CASE("progress grows, belongs to an open request, and comes before") {
  rpc_core core;
  rpc_effects out;
  const auto id = core.request("x", {{"name", "y"}}, true, out);
  const auto sent = json::parse(std::get<send_text>(out[0]).text);
  CHECK(sent.at("params").at("_meta").at("progressToken") == id);
  CHECK(sent.at("params").at("name") == "y");
  const auto silent = core.request("x", {}, false, out);
  out.clear();
  for (const double now : {1.0, 0.5, 1.0, 2.5, 2.0}) {
    core.on_text(progress_text(id, now), out);
    core.on_text(progress_text(silent, now), out);
    core.on_text(progress_text(id + 10, now), out);
    core.on_text(progress_text("a text", now), out);
  }
  REQUIRE(all_of<progressed>(out).size() == 2);
  CHECK(all_of<progressed>(out)[1].progress == 2.5);
  CHECK(all_of<odd>(out).empty());
  out.clear();
  core.on_text(result_text(id, json::object()), out);
  core.on_text(progress_text(id, 9), out);
  CHECK(all_of<progressed>(out).empty());
}

TEST_CASE("requests of the server are answered, or refused in form") {
  rpc_core core{[](const std::string& method,
                   const json&) -> std::variant<json, rpc_error> {
    if (method == "roots/list") return json{{"roots", json::array()}};
    return rpc_error{code::method_not_found, "no", {}};
  }};
  const auto answer_to = [&](const std::string& text) {
    rpc_effects out;
    core.on_text(text, out);
    REQUIRE(all_of<send_text>(out).size() == 1);
    return json::parse(all_of<send_text>(out)[0].text);
  };
  CHECK(answer_to(R"({"id":7,"method":"ping"})").at("result") ==
        json::object());
  CHECK(answer_to(R"({"id":"a","method":"roots/list","params":[]})")
            .at("result") == json{{"roots", json::array()}});
  CHECK(answer_to(R"({"id":8,"method":"sampling/createMessage"})")
            .at("error")
            .at("code") == -32601);
}

TEST_CASE("a message in which a key stands twice is none") {
  rpc_core core;
  rpc_effects out;
  const auto one = core.request("x", {}, false, out);
  const auto two = core.request("x", {}, false, out);
  const auto says = [&](request_id id, const std::string& rest) {
    out.clear();
    core.on_text(R"({"id":)" + std::to_string(id) + "," + rest + "}", out);
  };
  // Whose answer it is, nobody can say.
  says(one, R"("id":)" + std::to_string(two) + R"(,"result":{})");
  CHECK(all_of<settled>(out).empty());
  REQUIRE(all_of<odd>(out).size() == 1);
  CHECK(all_of<odd>(out)[0].what.find("a key stands twice") < 100);
  says(one, R"("result":{"content":[],"content":[1]})");
  REQUIRE(all_of<settled>(out).size() == 1);
  CHECK(all_of<settled>(out)[0].id == one);
  says(7, R"("method":"ping","method":"roots/list")");
  CHECK(all_of<send_text>(out).empty());
  CHECK(core.open() == 1);
}

TEST_CASE("a cancelled request is told, and what comes of it passed over") {
  rpc_core core;
  rpc_effects out;
  const auto id = core.request("x", {}, true, out);
  const auto quiet = core.request("initialize", {}, false, out);
  out.clear();
  core.cancel(id, "why", true, out);
  core.cancel(id, "again", true, out);
  core.cancel(quiet, "why", false, out);
  REQUIRE(out.size() == 1);
  const auto sent = json::parse(std::get<send_text>(out[0]).text);
  CHECK(sent == json{{"jsonrpc", "2.0"},
                     {"method", "notifications/cancelled"},
                     {"params", {{"requestId", id}, {"reason", "why"}}}});
  out.clear();
  core.on_text(progress_text(id, 1), out);
  core.on_text(result_text(id, json::object()), out);
  CHECK(all_of<settled>(out).empty());
  CHECK(core.open() == 0);
}

TEST_CASE("the end of the connection settles all that is open, once") {
  rpc_core core;
  rpc_effects out;
  for (int i = 0; i < 10'000; ++i) core.request("x", {}, i % 2 == 0, out);
  out.clear();
  core.on_closed({"gone"}, out);
  core.on_closed({"again"}, out);
  CHECK(all_of<settled>(out).size() == 10'000);
  out.clear();
  const auto late = core.request("x", {}, false, out);
  REQUIRE(all_of<settled>(out).size() == 1);
  CHECK(std::get<lost>(all_of<settled>(out)[0].how).why == "gone");
  CHECK(all_of<send_text>(out).empty());
  core.on_text(result_text(late, json::object()), out);
  CHECK(all_of<settled>(out).size() == 1);
}

TEST_CASE("news of a subscription are those of an open one") {
  rpc_core core;
  rpc_effects out;
  const auto id = core.request("subscriptions/listen", {}, false, out);
  const auto heard = [&](const json& subscription) {
    out.clear();
    core.on_text(
        json{{"jsonrpc", "2.0"},
             {"method", "notifications/tools/list_changed"},
             {"params",
              {{"_meta",
                {{"io.modelcontextprotocol/subscriptionId", subscription}}}}}}
            .dump(),
        out);
    return all_of<notified>(out).size() == 1 && all_of<odd>(out).empty();
  };
  CHECK(heard(id));
  CHECK(heard(std::to_string(id)));
  CHECK_FALSE(heard(id + 1));
  CHECK_FALSE(heard("x"));
  CHECK_FALSE(heard(nullptr));
  core.cancel(id, "x", false, out);
  CHECK_FALSE(heard(id));
}

TEST_CASE("whatever comes in whatever order, each request settles once") {
  const auto seed = riffle::testing::fresh_seed();
  CAPTURE(seed);
  std::mt19937_64 random{seed};
  const auto one_of = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random);
  };
  for (int world = 0; world < 2000; ++world) {
    rpc_core core;
    std::map<request_id, int> ends;
    std::set<request_id> given_up;
    std::map<request_id, double> seen;
    for (int step = 0; step < 40; ++step) {
      rpc_effects out;
      const auto id = static_cast<request_id>(one_of(12) + 1);
      switch (one_of(9)) {
        case 0:
        case 1: core.request("x", {}, one_of(2) == 0, out); break;
        case 2: core.on_text(result_text(id, json::object()), out); break;
        case 3:
          core.on_text("{\"id\":" + std::to_string(id) + ",\"error\":{}}", out);
          break;
        case 4: core.on_text(progress_text(id, double(one_of(5))), out); break;
        case 5:
          if (core.is_open(id)) given_up.insert(id);
          core.cancel(id, "x", one_of(2) == 0, out);
          break;
        case 6: core.on_text("garbage", out); break;
        case 7:
          core.on_text("[" + result_text(id, json::object()) + "," +
                           result_text(id, json::object()) + "]",
                       out);
          break;
        default:
          if (one_of(20) == 0) core.on_closed({"gone"}, out);
          break;
      }
      for (const auto& x : out) {
        if (const auto* end = std::get_if<settled>(&x)) {
          REQUIRE(++ends[end->id] == 1);
          REQUIRE_FALSE(given_up.contains(end->id));
        }
        if (const auto* report = std::get_if<progressed>(&x)) {
          REQUIRE(ends[report->id] == 0);
          REQUIRE_FALSE(given_up.contains(report->id));
          if (seen.contains(report->id))
            REQUIRE(report->progress > seen[report->id]);
          seen[report->id] = report->progress;
        }
      }
    }
    rpc_effects out;
    core.on_closed({"end"}, out);
    REQUIRE(core.open() == 0);
  }
}
