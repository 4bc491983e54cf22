// SPDX-License-Identifier: MIT
#include "runtime/model/http_error.hpp"

#include "tests/support/catch.hpp"

namespace riffle::model {

using namespace std::chrono_literals;

namespace {

constexpr wall_time now{1'700'000'000'000'000};  // 2023-11-14T22:13:20Z

std::string words(std::string_view body) {
  return read_server_words(body).message;
}

error of_status(int status) { return status_error(status, {"no"}, ""); }

}  // namespace

TEST_CASE("the words of a refusal are found in the known JSON shapes") {
  CHECK(words(R"({"error":{"message":"bad key","code":"x"}})") == "bad key");
  CHECK(words(R"({"error":"model not found"})") == "model not found");
  CHECK(words(R"({"object":"error","message":"too long"})") == "too long");
  CHECK(words(R"({"detail":"Not Found"})") == "Not Found");
  CHECK(words(R"([{"error":{"message":"in a list"}}])") == "in a list");
  CHECK(words(R"({"type":"error","error":{"type":"overloaded_error",)"
              R"("message":"Overloaded"}})") == "Overloaded");
}

TEST_CASE("a gateway's error tells what the server behind it said") {
  const auto routed = [](std::string_view raw) {
    return read_server_words(
        R"({"error":{"message":"Provider returned error","code":400,)"
        R"("metadata":{"provider_name":"X","raw":)" +
        std::string{raw} + "}}}");
  };
  CHECK(routed(R"("{\"error\":{\"message\":\"too long\",\"type\":\"t\"}}")")
            .message == "Provider returned error: too long");
  CHECK(routed(R"("[{\"error\":{\"message\":\"oh\"}}]")").message ==
        "Provider returned error: oh");
  CHECK(routed(R"({"error":"no such"})").message ==
        "Provider returned error: no such");
  CHECK(routed(R"("it broke {")").message ==
        "Provider returned error: it broke {");
  CHECK(routed("7").message == "Provider returned error");
  // One gateway behind another is told as it is, once.
  const auto quota = routed(R"("{\"error\":{\"message\":\"m\",)"
                            R"(\"code\":\"insufficient_quota\"}}")");
  CHECK(quota.message == "Provider returned error: m (insufficient_quota)");
  CHECK(quota.insufficient_quota);
}

TEST_CASE("the words hold what an error is about") {
  CHECK(words(R"({"error":{"message":"Not supported.","param":"include",)"
              R"("code":"unsupported_value"}})") ==
        "Not supported. (include, unsupported_value)");
  CHECK(
      words(R"({"error":{"message":"no seed","param":"seed","code":null}})") ==
      "no seed");
  CHECK(words(R"({"error":{"message":"m","param":["a"],"code":7}})") == "m");
}

TEST_CASE("JSON of an unknown shape is told as it is") {
  CHECK(words(R"({"a":1})") == R"({"a":1})");
  CHECK(words(R"({"error":{"message":42}})") == R"({"error":{"message":42}})");
  CHECK(words(R"({"error":null})") == R"({"error":null})");
  CHECK(words("[]") == "[]");
  CHECK(words("null") == "null");
  CHECK(words(R"({"error":{"mess)") == R"({"error":{"mess)");
}

TEST_CASE("HTML loses its tags, styles and scripts") {
  CHECK(words("<html><head><title>502 Bad Gateway</title><style>a{}</style>"
              "<SCRIPT>x<y</script></head>\n<body><h1>nginx</h1></body>") ==
        "502 Bad Gateway nginx");
  CHECK(words("<html><head><title>502 Bad Gateway</title></head><body>"
              "<h1>502 Bad Gateway</h1><hr>nginx</body>") ==
        "502 Bad Gateway nginx");
  CHECK(words("<html><script>x</script>ok") == "ok");
  CHECK(words("<html") == "");
}

TEST_CASE("words are one line of valid UTF-8 and at most 2 KiB long") {
  CHECK(words("a\r\n\tb\x1b[31m c") == "a b [31m c");
  CHECK(words("ab\xff\xfe"
              "c") == "abc");
  CHECK(words(std::string(5000, 'x')).size() == 2048);
  std::string umlauts;
  for (int i = 0; i < 3000; ++i) {
    umlauts += "x\xc3\xa4";
  }
  auto cut = words(umlauts);
  CHECK(cut.size() <= 2048);
  CHECK(cut.size() > 2040);
  CHECK(words("") == "");
}

TEST_CASE("secrets of the request are not repeated") {
  std::vector<std::string> headers{"Content-Type: application/json",
                                   "Authorization: Bearer sk-secret-1",
                                   "x-api-key: key-2-key"};
  CHECK(hide_secrets("wrong key sk-secret-1 (sk-secret-1), key-2-key",
                     headers) == "wrong key *** (***), ***");
  CHECK(hide_secrets("application/json", headers) == "application/json");
}

TEST_CASE("a status says what may be tried again") {
  for (int status : {408, 409, 429, 500, 502, 503, 504, 529}) {
    CAPTURE(status);
    CHECK(of_status(status).retryable);
  }
  for (int status : {301, 400, 401, 402, 403, 404, 413, 422}) {
    CAPTURE(status);
    CHECK_FALSE(of_status(status).retryable);
  }
  CHECK(of_status(429).code == errc::model_rate_limited);
  CHECK(of_status(500).code == errc::model_error);
  CHECK(of_status(500).message == "HTTP 500: no");
}

TEST_CASE("x-should-retry decides before the status") {
  CHECK(status_error(400, {}, "true").retryable);
  CHECK_FALSE(status_error(500, {}, "false").retryable);
  CHECK(status_error(500, {}, "maybe").retryable);
}

TEST_CASE("insufficient quota is not worth another try") {
  auto x = read_server_words(
      R"({"error":{"message":"You exceeded","code":"insufficient_quota"}})");
  CHECK(x.insufficient_quota);
  CHECK_FALSE(status_error(429, x, "").retryable);
  CHECK(status_error(429, x, "true").retryable);
  auto y = read_server_words(
      R"({"error":{"message":"m","type":"insufficient_quota","code":null}})");
  CHECK(y.insufficient_quota);
}

TEST_CASE("retry-after is read in all its forms") {
  CHECK(read_retry_after("1500", "7", now) == duration{1500ms});
  CHECK(read_retry_after("", "7", now) == duration{7s});
  CHECK(read_retry_after("", "0.5", now) == duration{500ms});
  CHECK(read_retry_after("soon", "7", now) == duration{7s});
  CHECK(read_retry_after("", "Tue, 14 Nov 2023 22:13:50 GMT", now) ==
        duration{30s});
}

TEST_CASE("absurd retry-after values are clamped or ignored") {
  CHECK(read_retry_after("", "-5", now) == duration{0s});
  CHECK(read_retry_after("", "99999999999999999999", now) == duration{24h});
  CHECK(read_retry_after("", "Tue, 14 Nov 2023 22:13:00 GMT", now) ==
        duration{0s});
  CHECK(read_retry_after("", "Fri, 31 Dec 9999 23:59:59 GMT", now) ==
        duration{24h});
  CHECK_FALSE(read_retry_after("", "", now));
  CHECK_FALSE(read_retry_after("", "later", now));
  CHECK_FALSE(read_retry_after("nan", "inf", now));
  CHECK_FALSE(read_retry_after("", "1 2 3", now));
}

TEST_CASE("the end of a connection is told by what was reached") {
  auto before = curl_error(CURLE_COULDNT_CONNECT, 0, "refused");
  CHECK(before.code == errc::model_unreachable);
  CHECK(before.retryable);
  CHECK(before.message == "the model server cannot be reached: refused");
  CHECK(curl_error(CURLE_COULDNT_CONNECT, 0,
                   "Failed to connect to ::1 port 9 after 0 ms: Couldn't "
                   "connect to server")
            .message ==
        "the model server cannot be reached: Failed to connect to ::1 port 9");
  auto inside = curl_error(CURLE_PARTIAL_FILE, 200, "");
  CHECK(inside.code == errc::stream_interrupted);
  CHECK(inside.retryable);
  CHECK(curl_error(CURLE_OUT_OF_MEMORY, 200, "").message ==
        "the answer was cut: its headers or its encodings are longer than is "
        "read");
  auto certificate = curl_error(CURLE_PEER_FAILED_VERIFICATION, 0, "");
  CHECK(certificate.code == errc::model_unreachable);
  CHECK_FALSE(certificate.retryable);
}

TEST_CASE("only the total limit ends all tries") {
  transport_timeouts limits{10s, 60s, 1500ms, 10min};
  auto idle = limit_error(time_limit::idle, limits);
  CHECK(idle.code == errc::timeout);
  CHECK(idle.retryable);
  CHECK(idle.message ==
        "the answer paused for longer than timeouts.idle (1.5 s)");
  CHECK_FALSE(limit_error(time_limit::total, limits).retryable);
}

TEST_CASE("a model that Ollama does not have yet: what to do") {
  const auto told = [](std::string message) {
    return status_error(404, {std::move(message), false}, "").message;
  };
  CHECK_THAT(told("model 'qwen3:8b' not found"),
             Catch::Matchers::Contains("ollama pull qwen3:8b"));
  CHECK_THAT(told("model \"l\" not found, try pulling it first"),
             Catch::Matchers::Contains("ollama pull l)"));
  for (const auto* other :
       {"model", "model ", "model '", "model 'x", "model x not found",
        "model 'x' is gone", "The model `x` does not exist."})
    CHECK_THAT(told(other), !Catch::Matchers::Contains("ollama") &&
                                Catch::Matchers::Contains("base_url"));
}

}  // namespace riffle::model
