// SPDX-License-Identifier: MIT
// The first steps without a terminal: keys and servers that are there.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

constexpr auto canary = "sk-canary-init-1";

/// Lists models, and calls the tool of the trial. `refuses`: every key.
http_reply provider(const http_request& request, bool refuses = false) {
  if (refuses)
    return http_reply::json(R"({"error":{"message":"wrong key"}})", 401);
  if (request.method == "GET")
    return http_reply::json(R"({"data":[{"id":"small"},{"id":"large"}]})");
  if (request.body.find("note_city") != std::string::npos)
    return respond_sse(calls({{"note_city", {{"city", "Oslo"}}},
                              {"note_city", {{"city", "Rome"}}}}));
  return respond_sse(answer("ok"));
}

struct place {
  explicit place(bool refuses = false)
      : server{[refuses](const http_request& x) {
          return provider(x, refuses);
        }} {}

  finished riffle(std::vector<std::string> arguments,
                  std::map<std::string, std::string> env) const {
    env.insert({{"HOME", folder.path().string()},
                {"XDG_CONFIG_HOME", (folder.path() / "c").string()},
                {"XDG_STATE_HOME", (folder.path() / "s").string()},
                {"XDG_DATA_HOME", (folder.path() / "d").string()},
                {"RIFFLE_CONFIG", ""}});
    return riffle::testing::riffle(folder, std::move(arguments), env);
  }

  [[nodiscard]] std::map<std::string, std::string> openai() const {
    return {{"OPENAI_API_KEY", canary}, {"OPENAI_BASE_URL", server.url("/v1")}};
  }

  work_folder folder;
  http_server server;
};

}  // namespace

TEST_CASE(
    "init writes a configuration for the key that is there, and tries it") {
  const place x;
  const auto end = x.riffle({"init", "--model", "large"}, x.openai());
  INFO(end.err);
  REQUIRE(end.status == 0);
  CHECK(end.out.empty());
  CHECK_THAT(end.err, Contains("Found: openai (key in $OPENAI_API_KEY, at ") &&
                          Contains("tools       yes") && Contains("It works"));
  const auto text = x.folder.read("c/riffle/riffle.toml");
  CHECK_THAT(text, Contains("model = \"large\"") && !Contains("canary"));
  CHECK_THAT(end.err, !Contains("canary"));
  CHECK(x.server.requests().back().header("authorization") ==
        "Bearer " + std::string{canary});
  // From now on it counts; the key is still in the environment alone.
  const auto run = x.riffle({"run", "go"}, {{"OPENAI_API_KEY", canary}});
  INFO(run.err);
  CHECK(run.status == 0);
  CHECK(run.out == "ok\n");
  CHECK(json::parse(x.server.requests().back().body).at("model") == "large");
}

TEST_CASE("init never writes over a file, unless it is told to") {
  const place x;
  std::filesystem::create_directories(x.folder.path() / "c/riffle");
  const std::string mine = "[models.default]\nmodel = \"mine\"\n";
  x.folder.write("c/riffle/riffle.toml", mine);
  const auto end = x.riffle({"init", "--model", "large"}, x.openai());
  CHECK(end.status == 2);
  CHECK_THAT(end.err, Contains("--force"));
  CHECK(x.server.request_count() == 0);
  CHECK(x.folder.read("c/riffle/riffle.toml") == mine);
  CHECK(x.riffle({"init", "--model", "large", "--force"}, x.openai()).status ==
        0);
  CHECK_THAT(x.folder.read("c/riffle/riffle.toml"), Contains("large"));
}

TEST_CASE("init gives a model to a file that has servers and none") {
  const place x;
  const auto added = x.riffle({"mcp", "add", "files", "--", "/bin/true"}, {});
  INFO(added.err);
  REQUIRE(added.status == 0);
  const auto before = x.folder.read("c/riffle/riffle.toml");
  CHECK_THAT(before, Contains("[mcp.files]") && !Contains("models"));
  // A run says what is missing, and how to get it.
  const auto early = x.riffle({"run", "go"}, {{"OPENAI_API_KEY", ""}});
  CHECK(early.status == 2);
  CHECK_THAT(early.err, Contains("'riffle init' looks for"));
  const auto end = x.riffle({"init", "--model", "large"}, x.openai());
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK_THAT(end.err, Contains("Added to "));
  const auto after = x.folder.read("c/riffle/riffle.toml");
  CHECK(after.starts_with(before));
  CHECK_THAT(after,
             Contains("model = \"large\"") && Contains("\n[agents.default]\n"));
  // Now it names one.
  CHECK(x.riffle({"init", "--model", "small"}, x.openai()).status == 2);
  CHECK(x.folder.read("c/riffle/riffle.toml") == after);
  // Tables that are there are not written again.
  x.folder.write("c/riffle/riffle.toml",
                 "[agents.default]\nmax_steps = 3\n[approvals]\nmode = "
                 "\"propose\"\n");
  CHECK(x.riffle({"init", "--model", "small"}, x.openai()).status == 0);
  CHECK_THAT(x.folder.read("c/riffle/riffle.toml"),
             Contains("max_steps = 3") && Contains("model = \"small\"") &&
                 !Contains("wait"));
}

TEST_CASE("init leaves a file of a folder alone") {
  const place x;
  x.folder.write("riffle.toml", "[mcp.evil]\ncommand = [\"/bin/true\"]\n");
  const auto end = x.riffle({"init", "--here", "--model", "m"}, x.openai());
  CHECK(end.status == 2);
  CHECK_THAT(end.err, Contains("--force"));
  CHECK_THAT(x.folder.read("riffle.toml"), !Contains("models"));
}

TEST_CASE("init --here is trusted in its folder, and says all as JSON") {
  const place x;
  const auto end = x.riffle(
      {"init", "--here", "--model", "small", "--output", "json"}, x.openai());
  INFO(end.err);
  REQUIRE(end.status == 0);
  const auto told = json::parse(end.out);
  CHECK(told.at("file") == "riffle.toml");
  CHECK(told.at("provider") == "openai");
  CHECK(told.at("model") == "small");
  CHECK(told.at("check").at("works") == true);
  const auto run = x.riffle({"run", "go"}, {{"OPENAI_API_KEY", canary}});
  INFO(run.err);
  CHECK(run.out == "ok\n");
  // The person's own one is made beside it; here the folder's counts.
  const auto own = x.riffle({"init", "--model", "large"}, x.openai());
  CHECK(own.status == 0);
  CHECK_THAT(own.err, Contains("riffle.toml counts instead of it"));
}

TEST_CASE("init without anything says what to set, and a run says init") {
  const place x;
  const auto end = x.riffle({"init"}, {{"OPENAI_API_KEY", ""}});
  CHECK(end.status == 2);
  CHECK_THAT(end.err, Contains("ANTHROPIC_API_KEY") &&
                          Contains("OPENROUTER_API_KEY") && Contains("ollama"));
  CHECK(x.folder.read("c/riffle/riffle.toml").empty());
  const auto run = x.riffle({"run", "go"}, {{"OPENAI_API_KEY", ""}});
  CHECK(run.status == 2);
  CHECK_THAT(run.err,
             Contains("OPENAI_API_KEY") && Contains("'riffle init' looks for"));
  // Several tasks and a plan say the same, in each form of output.
  x.folder.write("p.json",
                 R"({"steps": [{"id": "a", "instruction": "do a"}]})");
  using words = std::vector<std::string>;
  for (const auto& more :
       {words{"run", "a b", "c d"}, words{"run", "--max-retries", "1", "a b"},
        words{"run", "a b", "c d", "--output", "jsonl"},
        words{"plan", "p.json"}}) {
    const auto none = x.riffle(more, {{"OPENAI_API_KEY", ""}});
    INFO(none.err);
    CHECK(none.status == 2);
    CHECK_THAT(none.err, Contains("OPENAI_API_KEY") &&
                             Contains("'riffle init' looks for"));
  }
}

TEST_CASE("init without a terminal names what it would have asked") {
  const place x;
  auto env = x.openai();
  env["OLLAMA_HOST"] = x.server.url("").substr(7);
  const auto which = x.riffle({"init"}, env);
  CHECK(which.status == 2);
  CHECK_THAT(which.err, Contains("--provider NAME") && Contains("1  openai") &&
                            Contains("2  ollama (running here, 2 models, at"));
  const auto model = x.riffle({"init", "--provider", "openai"}, env);
  CHECK(model.status == 1);
  CHECK_THAT(model.err, Contains("--model NAME") && Contains("2  large"));
  const auto missing = x.riffle({"init", "--provider", "groq"}, env);
  CHECK(missing.status == 2);
  CHECK_THAT(missing.err,
             Contains("groq needs what is not set: $GROQ_API_KEY"));
  const auto azure = x.riffle({"init", "--provider", "azure"}, env);
  CHECK(azure.status == 2);
  CHECK_THAT(azure.err, Contains("$AZURE_OPENAI_API_KEY, $AZURE_OPENAI_RES"));
  auto odd = env;
  odd["OPENAI_BASE_URL"] = "http://x/${";
  const auto wrong =
      x.riffle({"init", "--provider", "openai", "--model", "m"}, odd);
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, Contains("base_url"));
  const auto unknown = x.riffle({"init", "--provider", "grok"}, env);
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.err, Contains("riffle models providers"));
  CHECK(x.folder.read("c/riffle/riffle.toml").empty());
}

TEST_CASE("init with a key that is refused writes nothing") {
  const place x{true};
  const auto end = x.riffle({"init"}, x.openai());
  CHECK(end.status == 1);
  CHECK_THAT(end.err, Contains("wrong key") && !Contains("canary"));
  CHECK(x.folder.read("c/riffle/riffle.toml").empty());
  // A model that was named is written, and what is wrong with it is said.
  const auto named = x.riffle({"init", "--model", "large"}, x.openai());
  CHECK(named.status == 1);
  CHECK_THAT(named.err, Contains("openai/large did not answer") &&
                            Contains("riffle models check default"));
}
