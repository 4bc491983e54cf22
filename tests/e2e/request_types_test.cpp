// SPDX-License-Identifier: MIT
// What is sent, judged by the types of the providers' own SDKs (npm): a whole
// loop with every parameter that they know, a form, a picture and a file.
#include <cstdlib>
#include <fstream>

#include "tests/e2e/npm_packages.hpp"
#include "tests/e2e/program.hpp"
#include "tests/e2e/wire_script.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct judge {
  std::string dialect;
  std::string type;
  std::string from;
  std::string parameters;  ///< of [models.default]
};

const std::vector<judge>& judges() {
  const std::string some =
      "max_output_tokens = 30000\nreasoning_effort = \"low\"\n";
  const std::string all = some + "temperature = 1\ntop_p = 0.5\n";
  const std::string choice =
      "tool_choice = \"auto\"\nparallel_tool_calls = true\n";
  static const std::vector<judge> out{
      {"openai", "ChatCompletionCreateParamsStreaming",
       "openai/resources/chat/completions",
       all + choice + "stop = [\"END\"]\nseed = 3\n"},
      {"responses", "ResponseCreateParamsStreaming",
       "openai/resources/responses/responses", all + choice},
      {"anthropic", "MessageCreateParamsStreaming",
       "@anthropic-ai/sdk/resources/messages",
       // Which models of before still take temperature and top_p it forgot.
       some + choice + "stop = [\"END\"]\nthinking_budget = 2000\n"},
      {"ollama", "ChatRequest", "ollama",
       all + "stop = [\"END\"]\nseed = 3\nkeep_alive = \"10m\"\n"
             "context_window = 9000\n"},
  };
  return out;
}

json path(const char* name) { return {{"path", name}}; }

/// The bodies of a run of `judge`'s dialect in which two calls stand side by
/// side, one of which brings a picture, and thoughts go back.
std::vector<json> bodies_of(const judge& x) {
  const std::vector<scripted_turn> turns{
      {"Both.", "I look.", {{"read", path("a.txt")}, {"read", path("b.png")}}},
      {"", "", {{"read", path("a.txt")}}},
      {"So.", "{\"n\":1}", {}}};
  const work_folder folder;
  folder.write("a.txt", "A\n");
  folder.write("b.png", "\x89PNG\r\n\x1a\n picture");
  folder.write("c.pdf", "%PDF-1.4\n file");
  folder.write("form.json",
               R"({"type":"object","properties":{"n":{"type":"integer"}}})");
  std::size_t step = 0;
  http_server server{[&](const http_request&) {
    const auto at = std::min(step++, turns.size() - 1);
    return as_said(x.dialect, static_cast<int>(at), turns[at]);
  }};
  folder.configure(server.url("/v1"), "dialect = \"" + x.dialect +
                                          "\"\nmodel = \"m\"\n" + x.parameters);
  std::vector<std::string> words{"run",       "go",       "--schema",
                                 "form.json", "--attach", "b.png"};
  if (x.dialect != "ollama") words.insert(words.end(), {"--attach", "c.pdf"});
  const auto end = riffle::testing::riffle(folder, words);
  INFO(end.err);
  CHECK(end.status == 0);
  std::vector<json> out;
  for (const auto& request : server.requests())
    out.push_back(json::parse(request.body));
  REQUIRE(out.size() == turns.size());
  return out;
}

/// JSON Schemas of tools are the tools', not the protocol's: each type has a
/// narrower idea of them.
json without_schemas(json body) {
  for (auto& tool : body.at("tools")) {
    auto& at = tool.contains("function") ? tool["function"] : tool;
    for (const auto* key : {"parameters", "input_schema"})
      if (at.contains(key))
        at[key] = {{"type", "object"}, {"properties", json::object()}};
  }
  return body;
}

/// What tsc has against the bodies; empty: nothing.
std::string verdict(const fs::path& packages, const judge& x,
                    const std::vector<json>& bodies) {
  const auto home = packages.parent_path();
  const auto name = "bodies_" + x.dialect + ".mts";
  std::ofstream file{home / name};
  file << "import type { " << x.type << " } from '" << x.from << "';\n"
       << "const all: " << x.type << "[] = [\n";
  for (const auto& body : bodies) file << without_schemas(body).dump() << ",\n";
  file << "];\nexport { all };\n";
  file.close();
  const auto node = node_of(packages).string();
  const auto status = std::system(
      ("cd '" + home.string() + "' && timeout 300 '" + node +
       "' node_modules/typescript/bin/tsc --noEmit --strict --target es2022 "
       "--module nodenext --moduleResolution nodenext --skipLibCheck "
       "--lib es2022,dom " +
       name + " >bodies.log 2>&1")
          .c_str());
  std::ifstream log{home / "bodies.log"};
  const std::string said{std::istreambuf_iterator<char>{log}, {}};
  CHECK((status == 0) == said.empty());
  return said;
}

}  // namespace

TEST_CASE("requests are what the types of the providers' SDKs allow") {
  const auto there = npm_packages();
  if (!there) return skip("npm or its network is missing");
  for (const auto& x : judges()) {
    INFO(x.dialect);
    const auto bodies = bodies_of(x);
    CHECK(verdict(*there, x, bodies) == "");
    // It does judge: a name that nobody has, deep inside.
    auto wrong = bodies.back();
    auto& told = wrong[wrong.contains("input") ? "input" : "messages"];
    told.front()["rolle"] = "x";
    CHECK_THAT(verdict(*there, x, {wrong}), Contains("rolle"));
  }
}
