// SPDX-License-Identifier: MIT
// What a `deny` rule is worth when nobody is asked.
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
