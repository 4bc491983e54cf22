// SPDX-License-Identifier: MIT
// One script in all dialects is one story: thoughts, calls side by side, one
// that changes something, an error in mid stream, a cut.
#include "tests/e2e/wire_script.hpp"

#include <algorithm>
#include <map>

#include "tests/e2e/wire_servers.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

json path(const char* name) { return {{"path", name}}; }

/// By the results that the request has; the last one answers.
const std::map<int, std::vector<scripted_turn>>& script() {
  using ending = scripted_turn::ending;
  static const std::map<int, std::vector<scripted_turn>> all{
      {0,
       {{"Side by side.",
         "I look.",
         {{"read", path("f0.txt")},
          {"read", path("f1.txt")},
          {"read", path("none.txt")}}}}},
      {3,
       {{"Now it is written.",
         "",
         {{"write", {{"path", "made.txt"}, {"content", "\u00e4 \"b\"\n"}}},
          {"read", path("f3.txt")}}}}},
      {5, {{"", "Look.", {{"read", path("made.txt")}}}}},
      {6,
       {{"", "It brea", {}, ending::error},
        {"Again.",
         "It is c",
         {{"write", {{"path", "never.txt"}, {"content", "x"}}}},
         ending::cut},
        {"", "", {{"read", path("f2.txt")}}}}},
      {7, {{"So.", "All is done.", {}}}},
  };
  return all;
}

void add_keys(std::string& line, const json& data) {
  for (const auto* key : {"tool", "arguments", "outcome", "output", "step",
                          "attempt", "what", "status", "max_attempts"})
    if (data.contains(key)) line += " " + data.at(key).dump();
  line += '\n';
}

/// Of a call whose arguments ended with the stream.
bool is_cut_off(const std::string& type, const json& data) {
  if (type == "tool_call") return data.at("arguments").is_null();
  return type == "tool_result" &&
         data.at("output").get<std::string>().starts_with("the call was cut");
}

/// Step by step; what side by side happens is sorted. Texts and thoughts are
/// joined: how they are cut is the network's, and how much was told of what was
/// withdrawn is, too.
std::string story_of(const std::string& jsonl) {
  std::string out;
  std::string texts;
  std::string thoughts;
  std::vector<std::string> lines;
  const auto end_step = [&] {
    std::ranges::sort(lines);
    for (const auto& line : lines) out += line;
    out += "says " + std::exchange(texts, {}) + "\nthinks " +
           std::exchange(thoughts, {}) + "\n";
    lines.clear();
  };
  for (const auto& x : checked_events(jsonl)) {
    const auto type = x.at("event_type").get<std::string>();
    const auto& data = x.at("data");
    // Tokens are counted as each server pleases; what is going on is told at
    // moments of its own.
    if (type == "usage" || type == "status" || type == "tool_progress")
      continue;
    // Ollama says a call whole or not at all.
    if (is_cut_off(type, data)) continue;
    if (type == "step_restarted") {
      texts.clear();
      thoughts.clear();
    }
    if (type == "step_start" || type == "step_restarted") end_step();
    if (type == "llm_token" || type == "llm_reasoning") {
      auto& to = type == "llm_token" ? texts : thoughts;
      to += data.at("content").get<std::string>();
      continue;
    }
    add_keys(lines.emplace_back(type), data);
  }
  end_step();
  return out;
}

}  // namespace

TEST_CASE("a script of everything gives the same events in all dialects") {
  std::string first;
  for (const auto& wire : wires()) {
    const auto provider = wire.model.substr(0, wire.model.find('/'));
    const std::map<std::string, std::string> dialects{
        {"deepseek", "openai"},
        {"anthropic", "anthropic"},
        {"responses-x", "responses"},
        {"ollama", "ollama"}};
    if (!dialects.contains(provider)) continue;
    INFO(wire.model);
    const work_folder folder;
    std::map<int, std::size_t> asked;  // of the server's thread
    int number = 0;
    http_server server{[&](const http_request& request) {
      const auto step = wire.step(json::parse(request.body));
      const auto& tries = script().at(step);
      const auto at = std::min(asked[step]++, tries.size() - 1);
      return as_said(dialects.at(provider), ++number, tries[at]);
    }};
    configure_wires(folder, server.url("/v1"), {wire.model});
    folder.write("riffle.toml", folder.read("riffle.toml") +
                                    "retry = { base = \"10ms\" }\n"
                                    "[tools.write]\napproval = \"allow\"\n");
    const auto x = riffle::testing::riffle(
        folder, {"run", "-m", wire.model, "--output", "jsonl", "go"},
        {{"RIFFLE_CONFIG", (folder.path() / "riffle.toml").string()}});
    INFO(x.err << x.out);
    CHECK(x.status == 0);
    CHECK(server.request_count() == 7);
    CHECK(folder.read("made.txt") == "\u00e4 \"b\"\n");
    CHECK(folder.read("never.txt").empty());
    const auto story = story_of(x.out);
    CHECK_THAT(story, Contains("thinks Side by side.") &&
                          Contains("thinks Now it is written.") &&
                          Contains("says All is done.") &&
                          Contains("step_restarted"));
    if (first.empty()) first = story;
    CHECK(story == first);
  }
  CHECK_FALSE(first.empty());
}
