// SPDX-License-Identifier: MIT
// What clients of Riffle are offered, and what they are told of calls.
#include "tools/mcp/run_task.hpp"

#include "runtime/base/media.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::mcp;

TEST_CASE("run_task says all that it takes, and that it takes nothing else") {
  const auto schema = run_task_tool().at("inputSchema");
  CHECK(schema.at("additionalProperties") == false);
  for (const auto* name :
       {"task", "session_id", "agent", "model", "context", "phase", "max_steps",
        "timeout", "approve", "response_schema", "attachments"})
    CHECK(schema.at("properties").contains(name));
}

TEST_CASE("a picture of a call is a picture, another file a resource") {
  call_end x{true, "text"};
  x.files = {{"a.png", "image/png", "d1", "picture"},
             {"b.pdf", "application/pdf", "d2", "pages"}};
  const auto result = mcp::call_result(x);
  CHECK(result.at("isError") == false);
  const auto& content = result.at("content");
  REQUIRE(content.size() == 3);
  CHECK(content[0] == json{{"type", "text"}, {"text", "text"}});
  CHECK(content[1] == json{{"type", "image"},
                           {"data", to_base64("picture")},
                           {"mimeType", "image/png"}});
  CHECK(content[2].at("type") == "resource");
  CHECK(content[2].at("resource") == json{{"uri", "riffle://files/d2"},
                                          {"mimeType", "application/pdf"},
                                          {"blob", to_base64("pages")}});
}

TEST_CASE("a picture that fits no line is an error that says so") {
  call_end x{true, "text"};
  x.files = {{"a.png", "image/png", "d", std::string(7u << 20, 'x')}};
  const auto result = mcp::call_result(x);
  CHECK(result.at("isError") == true);
  CHECK(result.at("content")[1].at("text").get<std::string>().find(
            "a.png (image/png, 7.0 MB) is too large") == 0);
}

TEST_CASE("the rest of an output is linked to, or named") {
  call_end x{true, "begin"};
  x.output = output_uri("call_1");
  x.output_bytes = 9;
  auto result = mcp::call_result(x);
  REQUIRE(result.at("content").size() == 2);
  CHECK(result.at("content")[1] == json{{"type", "resource_link"},
                                        {"uri", "riffle://outputs/call_1"},
                                        {"name", "the whole output"},
                                        {"mimeType", "text/plain"},
                                        {"size", 9}});
  const auto plain = without_links(result);
  CHECK(plain.at("content")[1].at("type") == "text");
  CHECK(plain.at("content")[1].at("text").get<std::string>().find(
            "riffle://outputs/call_1") != std::string::npos);
}

TEST_CASE("an id is found in its URI, escaped or not") {
  const std::string odd = "a b/c?d#e%f";
  CHECK(session_uri(odd) == "riffle://sessions/a%20b%2Fc%3Fd%23e%25f");
  CHECK(id_in(session_uri(odd), "sessions") == odd);
  CHECK(id_in("riffle://sessions/a b", "sessions") == "a b");
  CHECK(id_in("riffle://sessions/a%", "sessions") == "a%");
  CHECK_FALSE(id_in("riffle://sessions/x", "outputs"));
  CHECK_FALSE(id_in("other://outputs/x", "outputs"));
}

TEST_CASE("a part of a long output says that it is one") {
  CHECK(first_part("abc", 3, 3) == "abc");
  CHECK(first_part("abc", 3, 2) ==
        "ab\n[the output was cut here; 3 bytes in all]");
  CHECK(first_part("abc", 9, 3) ==
        "abc\n[the output was cut here; 9 bytes in all]");
}

TEST_CASE("a line of progress ends without its line break") {
  CHECK(task_news("tool_progress",
                  R"({"data":{"tool":"hi","message":"one\r\n"}})") ==
        "hi: one");
}

TEST_CASE("the result of a task says how many of its calls were denied") {
  task_end end{"completed", "done", "run_1", "ses_1", 2, 3};
  CHECK(task_result(end).at("structuredContent").at("denied") == 0);
  end.denied = 1;
  CHECK(task_result(end).at("structuredContent").at("denied") == 1);
  CHECK(run_task_tool().at("outputSchema").at("properties").contains("denied"));
  CHECK(is_denial("tool_result", R"({"data":{"outcome":"denied"}})"));
  CHECK_FALSE(is_denial("tool_result", R"({"data":{"outcome":"ok"}})"));
  CHECK_FALSE(is_denial("tool_call", R"({"data":{"outcome":"denied"}})"));
}
