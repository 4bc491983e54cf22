// SPDX-License-Identifier: MIT
// Outputs of any size, what the model is told beside the task, and what a run
// keeps of its start.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

http_reply run_once(const http_request& request, const std::string& command) {
  if (!tool_messages(request).empty()) return respond_sse(answer("done"));
  return respond_sse(calls({{"bash", {{"command", command}}}}));
}

finished run_jsonl(const work_folder& folder) {
  return riffle::testing::riffle(
      folder,
      {"run", "go", "--session", "s", "--approve", "all", "--output", "jsonl"});
}

}  // namespace

TEST_CASE("the whole of a large output is kept, and goes with its session") {
  constexpr std::size_t bytes = 24'000'000;
  const work_folder folder;
  http_server server{[](const http_request& request) {
    return run_once(request, "yes 123456789ab | head -n 2000000; exit 3");
  }};
  folder.configure(server.url("/v1"));
  const auto end = run_jsonl(folder);
  CHECK(end.status == 0);
  const auto result =
      of_type(checked_events(end.out), "tool_result").at(0).at("data");
  CHECK(result.at("truncated") == true);
  CHECK(result.at("output").get<std::string>().size() == 200);
  CHECK(result.at("metadata").at("bytes") == bytes);
  CHECK(result.at("metadata").at("whole_kept") == true);
  // The model is told how much there was.
  const auto told = tool_messages(server.requests().back()).at(0);
  CHECK(told.at("content").get<std::string>().find(
            std::to_string(bytes) + " bytes in all") != std::string::npos);

  const auto id = result.at("id").get<std::string>();
  const auto whole =
      riffle::testing::riffle(folder, {"sessions", "output", id});
  CHECK(whole.status == 0);
  CHECK(whole.out.size() == bytes);
  CHECK(whole.out.starts_with("123456789ab\n123456789ab\n"));
  CHECK(whole.out.find("left out") == std::string::npos);
  const auto as_json = riffle::testing::riffle(
      folder, {"sessions", "output", id, "--output", "json"});
  CHECK(json::parse(as_json.out).at("output").get<std::string>() == whole.out);

  CHECK(riffle::testing::riffle(folder, {"sessions", "delete", "s"}).status ==
        0);
  CHECK(std::filesystem::is_empty(folder.path() / "data" / "outputs"));
  const auto gone = riffle::testing::riffle(folder, {"sessions", "output", id});
  CHECK(gone.status == 2);
  CHECK(gone.err.find("no output is kept of call") != std::string::npos);
  CHECK(riffle::testing::riffle(folder, {"sessions", "show", "s"}).status == 2);
}

TEST_CASE("a short output is kept in the journal") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    return run_once(request, "printf '%0300d' 7");
  }};
  folder.configure(server.url("/v1"));
  const auto events = checked_events(run_jsonl(folder).out);
  const auto id = of_type(events, "tool_result").at(0).at("data").at("id");
  const auto whole = riffle::testing::riffle(
      folder, {"sessions", "output", id.get<std::string>()});
  CHECK(whole.out == std::string(299, '0') + "7");
  CHECK(
      riffle::testing::riffle(folder, {"sessions", "output", "../x"}).status ==
      2);
}

TEST_CASE("status events tell what lasts") {
  const work_folder folder;
  http_server server{[](const http_request& request) {
    return run_once(request, "sleep 0.4");
  }};
  folder.configure(server.url("/v1"));
  const auto events = checked_events(run_jsonl(folder).out);
  const auto all = of_type(events, "status");
  REQUIRE_FALSE(all.empty());
  bool told = false;
  for (const auto& x : all)
    told |= x.at("data").at("text") == "Running: sleep 0.4";
  CHECK(told);
}

TEST_CASE("a session is not deleted while a process works on it") {
  const work_folder folder;
  http_server server{[](const http_request&) {
    return http_reply::sse().stall("never").send(answer("x"));
  }};
  folder.configure(server.url("/v1"));
  program running{installed_riffle(), folder, {"run", "go", "--session", "s"}};
  REQUIRE(server.wait_for_requests(1));
  const auto live =
      riffle::testing::riffle(folder, {"sessions", "delete", "s"});
  CHECK(live.status == 2);
  CHECK(live.err.find("session_busy") != std::string::npos);
  running.signal(SIGKILL);
  running.wait();
  const auto dead =
      riffle::testing::riffle(folder, {"sessions", "delete", "s"});
  CHECK(dead.status == 0);
  CHECK(riffle::testing::riffle(folder, {"sessions", "show", "s"}).status == 2);
}

TEST_CASE("context is told to the model, also later and after a crash") {
  const work_folder folder;
  folder.write("notes.txt", "The build needs CAF.\n");
  http_server server{[n = 0](const http_request&) mutable {
    if (++n == 1) return http_reply::sse().stall("never").send(answer("x"));
    return respond_sse(answer("ok"));
  }};
  folder.configure(server.url("/v1"), "[models.other]\nbase_url = \"" +
                                          server.url("/v1") +
                                          "\"\nmodel = \"other-model\"\n");
  program first{installed_riffle(),
                folder,
                {"run", "go", "--session", "s", "--model", "other",
                 "--context-file", "notes.txt"}};
  REQUIRE(server.wait_for_requests(1));
  first.signal(SIGKILL);
  first.wait();
  std::filesystem::remove(folder.path() / "notes.txt");
  CHECK(riffle::testing::riffle(folder, {"sessions", "resume", "s"}).status ==
        0);
  CHECK(riffle::testing::riffle(
            folder, {"run", "more", "--session", "s", "--context", "Be brief"})
            .status == 0);
  const auto requests = server.requests();
  const auto body = [&](std::size_t i) {
    return json::parse(requests[i].body);
  };
  const auto question = [&](std::size_t i) {
    return body(i).at("messages").at(1).at("content");
  };
  CHECK(question(0) == "go\n\nContext:\nThe build needs CAF.\n");
  CHECK(question(1) == question(0));
  CHECK(question(2) == question(0));
  CHECK(body(2).at("messages").back().at("content") ==
        "more\n\nContext:\nBe brief");
  // The model stays the run's, and that of runs that go on with its session.
  CHECK(body(0).at("model") == "other-model");
  CHECK(body(1).at("model") == "other-model");
  CHECK(body(2).at("model") == "other-model");
  const auto listed = riffle::testing::riffle(folder, {"sessions", "list"});
  // Its title is the first task, without the context.
  CHECK(listed.out.find("2 runs") != std::string::npos);
  CHECK(listed.out.find(" go\n") != std::string::npos);
}
