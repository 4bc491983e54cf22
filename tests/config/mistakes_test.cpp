// SPDX-License-Identifier: MIT
#include <algorithm>

#include "runtime/config/config.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

/// All mistakes of a file with this text, one a line; without the folder.
std::string mistakes_of(const std::string& text,
                        std::vector<std::string> sets = {},
                        std::vector<std::string> tools = {
                            "read", "glob", "grep", "bash", "write", "edit",
                            "manage_plan"}) {
  const testing::temp_folder folder;
  const auto file = folder.write("r.toml", text);
  const testing::scoped_directory there{folder.path()};
  const auto x = config::load({"r.toml", std::move(sets), std::move(tools)});
  if (x) return "none";
  std::string out;
  for (const auto& m : x.error()) out += config::render(m) + "\n";
  return out;
}

}  // namespace

TEST_CASE("all mistakes are reported at once, in the order of the file") {
  CHECK(mistakes_of(R"([runtime]
max_calls = "many"
thread = 4

[models.default]
dialect = "claude"
timeouts = { connect = "soon", idel = "1s" }

[agents.default]
model = "big"
max_steps = 0

[tool]
)",
                    {"publish.batching=word", "nonsense"}) ==
        R"(r.toml:2:13: runtime.max_calls: must be a whole number, not a text
r.toml:3:1: runtime.thread: unknown key; did you mean "threads"?
r.toml:6:11: models.default.dialect: "claude" is not known; allowed: openai, anthropic, responses, ollama, scripted
r.toml:7:24: models.default.timeouts.connect: "soon" is not a duration such as "250ms", "1.5s", "2m" or "24h"
r.toml:7:32: models.default.timeouts.idel: unknown key; did you mean "idle"?
r.toml:10:9: agents.default.model: there is no model "big"; known: default, and PROVIDER/MODEL of: openai, anthropic, gemini, deepseek, kimi, mistral, groq, xai, openrouter, together, fireworks, cerebras, azure, bedrock, vertex, ollama, lmstudio, llama.cpp, vllm
r.toml:11:13: agents.default.max_steps: 0 is out of range; allowed: 1 to 1000000
r.toml:13:2: tool: unknown key; did you mean "tools"?
--set: "nonsense": write it as key=value, for example agents.default.max_steps=5
--set: publish.batching: "word" is not known; allowed: token, sentence, adaptive
)");
}

TEST_CASE("a syntax error is reported with its position") {
  const auto text = mistakes_of("[runtime]\nthreads = = 4\n");
  CHECK_THAT(text, Catch::Matchers::StartsWith("r.toml:2:"));
}

TEST_CASE("a key that is far from all others lists what is allowed") {
  CHECK(mistakes_of("[approvals]\nxyzzy = 1\n") ==
        "r.toml:2:1: approvals.xyzzy: unknown key; allowed here: mode, "
        "expire_after\n");
}

TEST_CASE("of a key that stands in another table it is said in which") {
  const auto hint = [](const std::string& text) {
    const auto all = mistakes_of(text);
    const auto at = all.find("did you mean ");
    CAPTURE(all);
    REQUIRE(at != std::string::npos);
    return all.substr(at + 13, all.find('\n', at) - at - 13);
  };
  CHECK(mistakes_of("data_dir = \"x\"\n") ==
        "r.toml:1:1: data_dir: unknown key; did you mean runtime.data_dir, in "
        "the table [runtime]?\n");
  CHECK(mistakes_of("", {"data_dir=x"}) ==
        "--set: data_dir: unknown key; did you mean runtime.data_dir, in the "
        "table [runtime]?\n");
  // Not [approvals] and [models], which are near.
  CHECK(hint("approval = \"allow\"\n") ==
        "tools.approval, in the table [tools]?");
  CHECK(hint("model = \"ollama/qwen3\"\n") ==
        "agents.default.model, in the table [agents.default]?");
  CHECK(hint("model = \"qwen3\"\nprovider = \"ollama\"\n") ==
        "models.default.model, in the table [models.default]?");
  CHECK(hint("provider = \"ollama\"\n") ==
        "models.default.provider, in the table [models.default]?");
  CHECK(hint("[agents.default]\napproval = \"allow\"\n") ==
        "tools.approval, in the table [tools]?");
  CHECK(hint("[models.default]\nmax_steps = 5\n") ==
        "agents.default.max_steps, in the table [agents.default]?");
}

TEST_CASE("keys stay out of files") {
  CHECK(mistakes_of("[models.default]\napi_key = \"sk-1\"\n") ==
        "r.toml:2:1: models.default.api_key: unknown key; keys never stand "
        "in files: put it into an environment variable and name that in "
        "api_key_env\n");
  const auto text =
      mistakes_of("[models.default]\napi_key_env = \"sk-secret\"\n");
  CHECK(text ==
        "r.toml:2:15: models.default.api_key_env: must be the name of an "
        "environment variable, not a key itself\n");
}

TEST_CASE("wrong types name what is wanted") {
  struct sample {
    std::string text;
    std::string message;
  };
  const std::vector<sample> samples = {
      {"runtime.threads = 1.5", "must be a whole number, not a number"},
      {"runtime.data_dir = \"b\\u0000c\"", "must not hold a NUL character"},
      {"runtime.threads = -1", "-1 is out of range; allowed: 0 to 1024"},
      {"runtime.max_runs = 4294967296",
       "4294967296 is out of range; allowed: 0 to 4294967295"},
      {"runtime.data_dir = 3", "must be a text, not a whole number"},
      {"runtime.data_dir = \"\"", "must not be empty"},
      {"runtime = 3", "must be a table, not a whole number"},
      {"runtime.log = \"info\"", "must be a table, not a text"},
      {"models.default = 3", "must be a table, not a whole number"},
      {"models.default.streaming = 1",
       "must be true or false, not a whole number"},
      {"models.default.temperature = \"hot\"",
       "must be a number or \"none\", not a text"},
      {"models.default.temperature = 2.5",
       "2.5 is out of range; allowed: 0 to 2"},
      {"models.default.price.input = inf", "must be a finite number"},
      {"models.default.price.input = -0.5",
       "-0.5 is out of range; allowed: at least 0"},
      {"models.default.base_url = \"api.example\"",
       "\"api.example\" must begin with http:// or https://"},
      {"tools.timeout = 30",
       "must be a duration such as \"250ms\", \"1.5s\", "
       "\"2m\" or \"24h\", not a whole number"},
      {"supervision.period = \"0s\"",
       "\"0s\" is out of range; allowed: 1ms to 8784h"},
      {"agents.default.tools = \"read\"",
       "must be a list of texts, not a text"},
      {"agents.default.exempt_phases = [\"a\", 2]",
       "item 2: must be a text, not a whole number"},
      {"tools.keys = [\"path\"]",
       "item 1: \"path\" must be a JSON pointer, such as /path"},
      {"tools.rules = { match = \"a\" }",
       "must be a list of rules, not a table"},
      {"tools.rules = [7]",
       "item 1: must be a table such as { match = \"git status*\", approval = "
       "\"allow\" }, not a whole number"},
      {"tools.rules = [{ match = \"a\", approval = \"allow\" }, { match = "
       "\"b\" }]",
       "item 2: approval is missing"},
      {"tools.rules = [{ approval = \"ask\" }]", "item 1: match is missing"},
      {"tools.rules = [{ match = \"\", approval = \"ask\" }]",
       "item 1: match: must not be empty"},
      {"tools.rules = [{ match = \"a\", approval = \"yes\" }]",
       "item 1: approval: \"yes\" is not known; allowed: ask, allow, deny"},
      {"tools.rules = [{ mach = \"a\" }]",
       "item 1: mach: unknown key; allowed here: match, approval"},
      {"server.listen = \"7433\"",
       "\"7433\" must be host:port, such as 127.0.0.1:7433"},
      {"server.listen = \"a:70000\"",
       "\"a:70000\" must be host:port, such as 127.0.0.1:7433"},
      {"runtime.data_dir = 2026-01-31", "must be a text, not a date or time"},
      {"models.default.retry = { base = \"2s\", cap = \"1s\" }",
       "cap (1s) must not be smaller than base (2s)"},
      {"models.default.dialect = \"scripted\"",
       "\"scripted\" needs the key script: the file that it plays"},
      {"agents.\"a/b\" = {}",
       "a name holds letters, digits, '_' and '-', at most 64"},
      {"models.\"a b\" = {}",
       "a name holds letters, digits, '_', '-', '/', '.', ':' and '@', at "
       "most 200"},
  };
  for (const auto& x : samples) {
    CAPTURE(x.text);
    CHECK_THAT(mistakes_of(x.text),
               Catch::Matchers::EndsWith(": " + x.message + "\n"));
  }
}

TEST_CASE("what this version does not do is said, not ignored") {
  const std::string later = " is not supported by this version; supported: ";
  struct sample {
    std::string text;
    std::string message;
  };
  const std::vector<sample> samples = {
      {"tools.keys = [\"/path\"]", "tools.keys: another value" + later + "[]"},
      {"tools.read.workspace = \"/tmp\"",
       "tools.read.workspace: a workspace for one tool is not supported by "
       "this version; set tools.workspace for all"},
  };
  for (const auto& x : samples) {
    CAPTURE(x.text);
    CHECK_THAT(mistakes_of(x.text),
               Catch::Matchers::EndsWith(": " + x.message + "\n"));
  }
}

TEST_CASE("a budget of money needs a price") {
  CHECK_THAT(mistakes_of("agents.default.budget.cost_usd = 0.5"),
             Catch::Matchers::EndsWith(
                 ": agents.default.budget.cost_usd: the model \"default\" has "
                 "no price, so its cost is not known; set "
                 "models.default.price\n"));
  CHECK(mistakes_of("agents.default.budget.cost_usd = 0.5\n"
                    "models.default.price.output = 1.0") == "none");
}

TEST_CASE("tools that do not exist are found where they are named") {
  CHECK(mistakes_of("[agents.default]\ntools = [\"raed\"]\n[tools.bsh]\n") ==
        "r.toml:2:9: agents.default.tools: there is no tool \"raed\"; did "
        "you mean \"read\"?\n"
        "r.toml:3:1: tools.bsh: there is no tool \"bsh\"; did you mean "
        "\"bash\"?\n");
  CHECK(mistakes_of("agents.default.tools = [\"mine\"]", {}, {"mine"}) ==
        "none");
  const testing::temp_folder folder;
  const auto file =
      folder.write("x.toml", "agents.default.tools = [\"anything\"]");
  CHECK(config::load({file, {}, {}}));
}

TEST_CASE("files that a configuration names must be there") {
  const auto text = mistakes_of(
      "[models.default]\ndialect = \"scripted\"\n"
      "script = \"gone.toml\"\n"
      "[agents.default]\n"
      "system_prompt = \"a\"\n"
      "system_prompt_file = \"gone.md\"\n");
  CHECK_THAT(text, Catch::Matchers::Contains(
                       "r.toml:3:10: models.default.script: there is no file"));
  CHECK_THAT(text,
             Catch::Matchers::Contains("r.toml:6:22: agents.default."
                                       "system_prompt_file: give either"));
  CHECK_THAT(text, Catch::Matchers::Contains("there is no file \""));
  const auto other = mistakes_of(
      "[models.default]\ndialect = \"scripted\"\nscript = \"/dev/null\"\n"
      "[agents.default]\nsystem_prompt_file = \"/tmp\"\n");
  CHECK_THAT(other,
             Catch::Matchers::Contains("\"/dev/null\" is no plain file"));
  CHECK_THAT(other, Catch::Matchers::Contains("\"/tmp\" is a folder"));
}

TEST_CASE("--set changes any key, the last one wins") {
  const testing::temp_folder folder;
  const auto file = folder.write("x.toml",
                                 "agents.default.max_steps = 3\n"
                                 "agents.default.loop_limit = 4\n");
  const auto x = config::load(
      {file,
       {"agents.default.max_steps=4", "agents.default.max_steps=5",
        "publish.batching=token", "tools.bash.timeout=90s",
        "agents.default.tools=[\"read\"]", "models.default.model=7",
        "models.default.base_url=http://h/?a=b", "agents.default.phase=\"x y\"",
        "models.default.retry={ max_attempts = 1 }"},
       {}});
  REQUIRE(x);
  CHECK(x->agents.at("default").max_steps == 5);
  CHECK(x->agents.at("default").loop_limit == 4);
  CHECK(x->publish.batching == "token");
  CHECK(x->tools.of("bash").timeout == std::chrono::seconds{90});
  CHECK(x->agents.at("default").tools == std::vector<std::string>{"read"});
  CHECK(x->models.at("default").model == "7");
  CHECK(x->models.at("default").base_url == "http://h/?a=b");
  CHECK(x->agents.at("default").phase == "x y");
  CHECK(x->models.at("default").retry.max_attempts == 1);
}

TEST_CASE("mistakes of --set say so") {
  CHECK(mistakes_of("", {"agents.default.max_step=5"}) ==
        "--set: agents.default.max_step: unknown key; did you mean "
        "\"max_steps\"?\n");
  CHECK(mistakes_of("", {"agents.default.max_steps=five"}) ==
        "--set: agents.default.max_steps: must be a whole number, not a "
        "text\n");
  CHECK(mistakes_of("", {"runtime.max_calls=99999999999999999999"}) ==
        "--set: runtime.max_calls: 99999999999999999999 is too large; allowed: "
        "1 to 65536\n");
  CHECK_THAT(mistakes_of("", {"a b=5"}),
             Catch::Matchers::Contains("no dotted key"));
  CHECK_THAT(mistakes_of("", {"a=1\nb.c=5"}),
             Catch::Matchers::Contains("--set: a: unknown key"));
  CHECK_THAT(mistakes_of("", {"=5"}),
             Catch::Matchers::Contains("no dotted key"));
}

TEST_CASE("a file that is too large is refused") {
  CHECK_THAT(mistakes_of(std::string((4u << 20) + 1, '#')),
             Catch::Matchers::Contains("larger than 1 MiB"));
}

TEST_CASE("no name of a file acts on the terminal that its mistake stands on") {
  const auto said = mistakes_of(
      "[models.\"\\u001b[2J\\u001b[Hx\"]\n[tools.\"x\\nno mistakes\"]\n"
      "type = \"command\"\n[tools.read]\n\"\\u009bb\" = 1\n"
      "rules = [{ \"\\u202e\" = \"a\" }]\n");
  const auto has = [&](const char* line) {
    CAPTURE(said, line);
    CHECK(said.find(line) != std::string::npos);
  };
  has(R"(r.toml:1:9: models."\u001B[2J\u001B[Hx": a name holds letters)");
  has(R"(r.toml:2:8: tools."x\nno mistakes": a name holds letters)");
  has(R"(r.toml:5:1: tools.read."\u009Bb": unknown key; )");
  has(R"(tools.read.rules: item 1: "\u202E": unknown key)");
  CHECK(std::ranges::count(said, '\n') == 4);
}

TEST_CASE("no mistake tells what stands before the @ of an address") {
  for (const auto* text :
       {"models.default.base_url = \"https://user:sk-CANARY99@h/v1\"",
        "models.default.base_url = \"ftp://user:sk-CANARY99@h/v1\"",
        "mcp.x.url = \"https://sk-CANARY99@h/mcp\"",
        "mcp.x.url = \"https://h/mcp?a=b&api_key=sk-CANARY99#c\"",
        "models.default.query = { key = \"sk-CANARY99\" }",
        "models.default.extra = { api_key = \"sk-CANARY99\" }"}) {
    CAPTURE(text);
    const auto said = mistakes_of(text);
    CHECK(said.find("1:") != std::string::npos);
    CHECK(said.find("CANARY") == std::string::npos);
    if (std::string_view{text}.find("ftp") == std::string_view::npos)
      CHECK(said.find("keys never stand in files") != std::string::npos);
  }
  for (const auto* good :
       {"models.default.base_url = \"https://${USER_AND_KEY}@h/v1\"",
        "models.default.query = { key = \"${K}\", api-version = \"1\" }",
        "models.default.extra = { eos_token = \"x\", api_key = 1 }",
        "mcp.x.url = \"https://h/mcp?token=&a=b@c\""})
    CHECK(mistakes_of(good) == "none");
}
