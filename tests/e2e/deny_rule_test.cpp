// SPDX-License-Identifier: MIT
// What a `deny` rule is worth when nobody is asked.
#include <cstdlib>
#include <filesystem>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;

namespace {

constexpr std::string_view rules = R"(
[tools.bash]
rules = [{ match = "touch *", approval = "deny" }]
)";

/// The run of a model that wants this command, with these options.
finished run(const work_folder& folder, const std::string& command,
             std::vector<std::string> options) {
  http_server server{[&](const http_request& request) {
    const auto told = tool_messages(request);
    return told.empty() ? respond_sse(calls({{"bash", {{"command", command}}}}))
                        : respond_sse(answer(
                              "It said: " +
                              told.back().at("content").get<std::string>()));
  }};
  folder.configure(server.url("/v1"), rules);
  options.insert(options.begin(), {"run", "go", "--output", "jsonl"});
  return riffle::testing::riffle(folder, std::move(options));
}

}  // namespace

TEST_CASE("a deny rule holds in doubt when nobody reads the call") {
  const auto* const command = GENERATE(
      "time touch canary", "sh -c 'to''uch canary'", "X=touch; $X canary",
      "while touch canary; do break; done", "touch</dev/null canary");
  const auto options =
      GENERATE(std::vector<std::string>{"--approve", "all"},
               std::vector<std::string>{"--set", "tools.bash.approval=allow"});
  CAPTURE(command, options);
  const work_folder folder;
  const auto end = run(folder, command, options);
  const auto results = of_type(checked_events(end.out), "tool_result");
  REQUIRE(results.size() == 1);
  CHECK(results[0].at("data").at("outcome") == "denied");
  CHECK(folder.read("canary").empty());
  CHECK_FALSE(std::filesystem::exists(folder.path() / "canary"));
}

TEST_CASE("a link to programs, made by the call before, hides none of them") {
  const work_folder folder;
  const auto programs = folder.path() / "tools" / "bin";
  std::filesystem::create_directories(programs);
  folder.write("tools/bin/touch", "canary\n");
  folder.write("tools/bin/other", "other\n");
  // No word of it says so: an archive with a link, or a chain of two.
  const std::string pack =
      GENERATE("ln -s tools/bin d && tar cf l.tar d && rm d",
               "ln -s tools/bin e && ln -s e d && tar cf l.tar d e && rm d e");
  const auto second = GENERATE("cat d/* > q", "cat d/*h > q", "cp -r d/. q",
                               "head -c 99 d/*h > q");
  CAPTURE(pack, second);
  const auto place = folder.path().string();
  REQUIRE(std::system(("cd '" + place + "' && " + pack).c_str()) == 0);
  http_server server{[&](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    return respond_sse(calls({{"bash", {{"command", "tar xf l.tar"}}},
                              {"bash", {{"command", second}}}}));
  }};
  folder.configure(server.url("/v1"), rules);
  const auto end = riffle::testing::riffle(
      folder, {"run", "go", "--output", "jsonl", "--approve", "all"});
  const auto results = of_type(checked_events(end.out), "tool_result");
  REQUIRE(results.size() == 2);
  CHECK(results[0].at("data").at("outcome") == "ok");
  CHECK(results[1].at("data").at("outcome") == "denied");
  CHECK_FALSE(std::filesystem::exists(folder.path() / "q"));
}

TEST_CASE("the model is told which rule a call may break") {
  const work_folder folder;
  const auto end = run(folder, "$X canary", {"--approve", "all"});
  CHECK(end.out.find("cannot be told apart from what `deny touch *` forbids") !=
        std::string::npos);
}

TEST_CASE("other commands run under a deny rule as before") {
  const work_folder folder;
  const auto end = run(folder, "cd . && echo 'to''uch' > file 2>&1 | cat",
                       {"--approve", "all"});
  CHECK(folder.lines("file") == std::vector<std::string>{"touch"});
  CHECK(end.status == 0);
}

TEST_CASE("what read is denied no other tool shows, in any worker") {
  const auto* const isolation = GENERATE("thread", "process");
  const work_folder folder;
  folder.write("prod.env", "canary = secret\n");
  folder.write("main.c", "canary = public\n");
  http_server server{[](const http_request& request) {
    if (!tool_messages(request).empty()) return respond_sse(answer("done"));
    return respond_sse(calls({{"read", {{"path", "prod.env"}}},
                              {"read", {{"path", "x/../prod.env"}}},
                              {"grep", {{"pattern", "canary"}}},
                              {"glob", {{"pattern", "*"}}},
                              {"read", {{"path", "gone"}}},
                              {"read", {{"path", "main.c"}}}}));
  }};
  const std::string isolated =
      "isolation = \"" + std::string{isolation} + "\"\n";
  folder.configure(server.url("/v1"),
                   "[tools.read]\n" + isolated +
                       "rules = [{ match = \"*.env\", approval = \"deny\" }]\n"
                       "[tools.grep]\n" +
                       isolated + "[tools.glob]\n" + isolated);
  const auto end =
      riffle::testing::riffle(folder, {"run", "go", "--output", "jsonl"});
  CHECK(end.status == 0);
  REQUIRE(server.request_count() == 2);
  const auto told = tool_messages(server.requests()[1]);
  REQUIRE(told.size() == 6);
  for (const auto& message : told) {
    const std::string text = message.at("content");
    CAPTURE(text);
    CHECK(text.find("secret") == std::string::npos);
  }
  for (const int i : {2, 3, 4}) {
    const std::string text = told[static_cast<std::size_t>(i)].at("content");
    CAPTURE(text);
    CHECK(text.find("prod.env") == std::string::npos);
  }
  CHECK(told[5].at("content").get<std::string>().find("public") !=
        std::string::npos);
}
