// SPDX-License-Identifier: MIT
// Keys of the configuration whose effect only the whole program shows: each
// test fails when its key is ignored.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

struct seen {
  finished end;
  std::vector<json> events;
};

/// Runs one task; `more` begins inside of [models.default].
seen run(const work_folder& folder, const http_server& server,
         std::string_view more, std::vector<std::string> options = {}) {
  folder.configure(server.url("/v1"), more);
  std::vector<std::string> arguments{"run", "go", "--output", "jsonl"};
  arguments.insert(arguments.end(), options.begin(), options.end());
  auto end = riffle::testing::riffle(folder, arguments);
  INFO(end.err);
  auto events = checked_events(end.out);
  return {std::move(end), std::move(events)};
}

json data_of(const seen& x, std::string_view type) {
  const auto found = of_type(x.events, type);
  INFO(x.end.out << x.end.err);
  REQUIRE_FALSE(found.empty());
  return found.back().at("data");
}

std::string code_of(const seen& x) {
  return data_of(x, "error").at("code").get<std::string>();
}

json body_of(const http_server& server, std::size_t number = 0) {
  return json::parse(server.requests().at(number).body);
}

std::string used(int input, int output) {
  const json x{
      {"id", "c"},
      {"object", "chat.completion.chunk"},
      {"choices", json::array()},
      {"usage", {{"prompt_tokens", input}, {"completion_tokens", output}}}};
  return "data: " + x.dump() + "\n\n";
}

/// A read of a.txt in other words each time, with what it used.
http_server reader_for_ever() {
  return http_server{[n = 0](const http_request&) mutable {
    return respond_sse(
        call(0, "x", "read", {{"path", "a.txt"}, {"limit", ++n}}) +
        finish("tool_calls") + used(600, 400) + done_mark);
  }};
}

/// One call, then an answer.
http_server caller(const std::string& tool, const json& arguments) {
  return http_server{[=](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{tool, arguments}}));
    return respond_sse(answer("ok"));
  }};
}

}  // namespace

TEST_CASE("the request says what models and agents are configured to say") {
  const work_folder folder;
  folder.write("prompt.md", "Speak like a file.");
  http_server server{respond_sse(answer("ok"))};
  SECTION("temperature, model, key, prompt, tools") {
    run(folder, server,
        "temperature = 1.25\nmodel = \"other\"\napi_key_env = \"MY_KEY\"\n"
        "[agents.default]\nsystem_prompt = \"Be brief.\"\n"
        "tools = [\"read\"]\n");
    const auto body = body_of(server);
    CHECK(body.at("temperature") == 1.25);
    CHECK(body.at("model") == "other");
    const auto& first = body.at("messages").at(0);
    CHECK(first.at("role") == "system");
    CHECK(first.at("content").get<std::string>().starts_with("Be brief.\n\n"));
    REQUIRE(body.at("tools").size() == 1);
    CHECK(body.at("tools").at(0).at("function").at("name") == "read");
    CHECK(server.requests().at(0).header("authorization").empty());
  }
  SECTION("no temperature, a prompt from a file") {
    run(folder, server,
        "temperature = \"none\"\n"
        "[agents.default]\nsystem_prompt_file = \"prompt.md\"\n");
    const auto body = body_of(server);
    CHECK_FALSE(body.contains("temperature"));
    CHECK(body.at("messages")
              .at(0)
              .at("content")
              .get<std::string>()
              .starts_with("Speak like a file.\n\n"));
  }
}

TEST_CASE("a server that cannot stream is asked for a whole answer") {
  const work_folder folder;
  http_server server{http_reply::json(
      R"({"choices":[{"index":0,"message":{"role":"assistant","content":"all at once"},"finish_reason":"stop"}]})")};
  const auto x = run(folder, server, "streaming = false\n");
  CHECK(x.end.status == 0);
  CHECK_FALSE(body_of(server).value("stream", false));
  CHECK(data_of(x, "final_answer").at("content") == "all at once");
}

TEST_CASE("prices turn tokens into money") {
  const work_folder folder;
  http_server server{respond_sse(say("ok") + finish("stop") +
                                 used(1'000'000, 500'000) + done_mark)};
  const auto x = run(folder, server, "price = { input = 0.5, output = 3.0 }\n");
  CHECK(data_of(x, "run_finished").at("usage").at("cost_usd") == 2.0);
  const auto odd =
      run(folder, server, "price = { input = 2.01, output = 2.01 }\n");
  CHECK(odd.end.out.find("\"cost_usd\":3.015}") != std::string::npos);
}

TEST_CASE("budgets end a run that goes on for ever") {
  const work_folder folder;
  folder.write("a.txt", "A");
  auto server = reader_for_ever();
  std::string key;
  std::size_t asked = 2;  // 1,000 tokens each, and the third may be one too
  SECTION("tool calls") {
    key = "tool_calls = 3";
    asked = 4;  // after three calls it could still have answered
  }
  SECTION("tokens") { key = "tokens = 2500"; }
  SECTION("money") { key = "cost_usd = 0.0025"; }
  const auto x = run(folder, server,
                     "price = { input = 1.0, output = 1.0 }\n"
                     "[agents.default.budget]\n" +
                         key + "\n");
  CHECK(code_of(x) == "budget_exceeded");
  CHECK(server.request_count() == asked);
  CHECK(data_of(x, "run_finished").at("tool_calls") == asked);
}

TEST_CASE("the same calls again and again are a loop, if that is limited") {
  const work_folder folder;
  folder.write("a.txt", "A");
  http_server server{respond_sse(calls({{"read", {{"path", "a.txt"}}}}))};
  SECTION("limited") {
    const auto x = run(folder, server, "[agents.default]\nloop_limit = 2\n");
    CHECK(code_of(x) == "loop_detected");
    REQUIRE(server.request_count() == 3);
    const auto hint = body_of(server, 2).at("messages").back();
    CHECK(hint.at("content").get<std::string>().find("2 times in a row") !=
          std::string::npos);
  }
  SECTION("polling") {
    const auto x = run(folder, server,
                       "[agents.default]\nloop_limit = 2\nmax_steps = 5\n"
                       "[tools.read]\npolling = true\n");
    CHECK(code_of(x) == "max_steps_exceeded");
    CHECK(server.request_count() == 5);
  }
  SECTION("not limited") {
    const auto x = run(folder, server,
                       "[agents.default]\nloop_limit = 0\nmax_steps = 8\n");
    CHECK(code_of(x) == "max_steps_exceeded");
    CHECK(server.request_count() == 8);
  }
}

TEST_CASE("an agent that must complete is reminded as often as configured") {
  const work_folder folder;
  http_server server{respond_sse(answer("I am done."))};
  const std::string agent =
      "[agents.default]\ncompletion = \"tool\"\n"
      "max_termination_attempts = 3\nphase = \"build\"\n";
  SECTION("then it is completed") {
    const auto x = run(folder, server, agent);
    CHECK(server.request_count() == 4);
    CHECK(data_of(x, "final_answer").at("content") == "I am done.");
  }
  SECTION("then it fails") {
    const auto x = run(folder, server, agent + "auto_complete = false\n");
    CHECK(server.request_count() == 4);
    CHECK(code_of(x) == "not_terminated");
  }
  SECTION("unless its phase is exempt") {
    run(folder, server, agent + "exempt_phases = [\"build\"]\n");
    CHECK(server.request_count() == 1);
  }
}

TEST_CASE("a silent agent tells its answer only") {
  const work_folder folder;
  http_server server{respond_sse(answer("I am done."))};
  const auto x = run(folder, server, "[agents.default]\nsilent = true\n");
  CHECK(of_type(x.events, "llm_token").empty());
  CHECK(data_of(x, "final_answer").at("content") == "I am done.");
}

TEST_CASE("old outputs are left out when the context window is nearly full") {
  const work_folder folder;
  folder.write("a.txt", std::string(4000, 'x') + "\n");
  http_server server{[](const http_request& request) {
    const auto n = static_cast<int>(tool_messages(request).size());
    if (n == 8) return respond_sse(answer("ok"));
    return respond_sse(
        calls({{"read", {{"path", "a.txt"}, {"limit", n + 1}}}}));
  }};
  const auto removed = [&](const std::string& window) {
    const auto x = run(folder, server,
                       "context_window = " + window +
                           "\n[agents.default]\n"
                           "tools = [\"read\"]\n");
    CHECK(data_of(x, "final_answer").at("content") == "ok");
    check_results(server.requests().back());
    std::size_t count = 0;
    for (const auto& m : tool_messages(server.requests().back()))
      if (m.at("content").get<std::string>().starts_with("[The output of read"))
        ++count;
    return count;
  };
  CHECK(removed("6000") > 0);
  CHECK(removed("60000") == 0);
}

TEST_CASE("outputs are cut for events and for the model, each at its limit") {
  const work_folder folder;
  folder.write("a.txt", std::string(500, 'x') + "\n");
  auto server = caller("read", {{"path", "a.txt"}});
  const auto x = run(folder, server,
                     "[publish]\noutput_limit = 20\n"
                     "[tools]\noutput_limit = 40\n");
  const auto result = data_of(x, "tool_result");
  CHECK(result.at("output").get<std::string>().size() == 20);
  CHECK(result.at("truncated") == true);
  const auto told = tool_messages(server.requests().at(1)).at(0).at("content");
  CHECK(told.get<std::string>().find("\n[the output was cut") == 40);
}

TEST_CASE("text is batched as configured") {
  const work_folder folder;
  const auto tokens = [&](const std::string& publish) {
    http_server server{http_reply::sse()
                           .send(say("one "))
                           .pause(600ms)
                           .send(say("two ") + finish("stop") + done_mark)};
    return of_type(run(folder, server, "[publish]\n" + publish).events,
                   "llm_token")
        .size();
  };
  CHECK(tokens("batching = \"token\"\n") == 2);
  CHECK(tokens("batching = \"sentence\"\nflush_delay = \"1m\"\n") == 1);
  CHECK(tokens("batching = \"sentence\"\nflush_delay = \"0s\"\n") == 2);
}

TEST_CASE("approval is asked for, given or refused by the configuration") {
  const work_folder folder;
  auto server = caller("bash", {{"command", "touch done"}});
  const auto approval = [&](const std::string& x,
                            std::vector<std::string> options) {
    std::filesystem::remove(folder.path() / "done");
    const auto seen = run(folder, server,
                          "[tools.bash]\napproval = \"" + x + "\"\n", options);
    CHECK(seen.end.status != 2);
    return std::filesystem::exists(folder.path() / "done");
  };
  CHECK(approval("allow", {}));
  CHECK_FALSE(approval("ask", {}));
  CHECK(approval("ask", {"--approve", "all"}));
  CHECK_FALSE(approval("deny", {"--approve", "all"}));
}

TEST_CASE("tools work in the configured folder and stay there") {
  const work_folder folder;
  std::filesystem::create_directory(folder.path() / "inside");
  folder.write("inside/a.txt", "in");
  folder.write("b.txt", "out");
  const auto read = [&](const std::string& file) {
    auto server = caller("read", {{"path", file}});
    const auto x = run(folder, server, "[tools]\nworkspace = \"inside\"\n");
    return data_of(x, "tool_result").at("outcome").get<std::string>();
  };
  CHECK(read("a.txt") == "ok");
  CHECK(read("../b.txt") != "ok");
  CHECK(read("b.txt") != "ok");
}

TEST_CASE("data lies where data_dir says") {
  const work_folder folder;
  http_server server{respond_sse(answer("ok"))};
  folder.write("riffle.toml", "[models.default]\nbase_url = \"" +
                                  server.url("/v1") +
                                  "\"\n[runtime]\ndata_dir = \"kept/here\"\n");
  CHECK(riffle::testing::riffle(folder, {"run", "go"}).status == 0);
  CHECK(std::filesystem::exists(folder.path() / "kept/here/riffle.db"));
}

TEST_CASE("a silent server is left at the limit that it broke") {
  const work_folder folder;
  const std::string once = "retry = { max_attempts = 1 }\n";
  const auto message = [&](const http_reply& reply, const std::string& limits) {
    http_server server{reply};
    const auto x = run(folder, server, once + "timeouts = " + limits + "\n");
    CHECK(code_of(x) == "timeout");
    return data_of(x, "error").at("message").get<std::string>();
  };
  const auto dumb = http_reply{200, http_reply::framing::raw}.stall();
  const auto talkative = http_reply::sse().trickle(std::string(600, ' '), 50ms);
  CHECK_THAT(message(dumb, "{ first_byte = \"300ms\" }"),
             Catch::Matchers::Contains("timeouts.first_byte"));
  CHECK_THAT(message(http_reply::sse().send(say("a ")).stall(),
                     "{ idle = \"300ms\" }"),
             Catch::Matchers::Contains("timeouts.idle"));
  CHECK_THAT(message(talkative, "{ total = \"500ms\" }"),
             Catch::Matchers::Contains("timeouts.total"));
}

TEST_CASE("pauses between attempts stay below their cap") {
  const work_folder folder;
  http_server server{http_reply::text("oops", 500)};
  const auto x =
      run(folder, server,
          "retry = { max_attempts = 6, base = \"4ms\", cap = \"8ms\" }\n");
  const auto retries = of_type(x.events, "retry");
  CHECK(retries.size() == 5);
  for (const auto& r : retries)
    CHECK(r.at("data").at("delay_ms").get<int>() <= 8);
  CHECK(server.request_count() == 6);
}
