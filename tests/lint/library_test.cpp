// SPDX-License-Identifier: MIT
// What the library promises of its headers and its documents.
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

namespace fs = std::filesystem;

namespace {

const fs::path root{RIFFLE_SOURCE_DIR};

std::string read(const fs::path& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// All that the public headers include, ours followed.
std::set<std::string> reachable() {
  static const std::regex include{R"(\n#include ["<]([^">]+)[">])"};
  std::deque<std::string> waiting{
      "runtime/api/riffle.hpp", "runtime/api/plans.hpp",
      "runtime/api/volley.hpp", "runtime/api/testing.hpp"};
  std::set<std::string> seen;
  while (!waiting.empty()) {
    const auto name = waiting.front();
    waiting.pop_front();
    if (!seen.insert(name).second || !fs::exists(root / name)) continue;
    const auto text = read(root / name);
    for (std::sregex_iterator i{text.begin(), text.end(), include}, end;
         i != end; ++i)
      waiting.push_back((*i)[1]);
  }
  return seen;
}

/// The text between the first two fences after `mark`.
std::string block_after(const std::string& text, const std::string& mark) {
  const auto at = text.find(mark);
  if (at == std::string::npos) return "no " + mark;
  const auto fence = text.find("\n```", at);
  const auto begin = text.find('\n', fence + 1) + 1;
  return text.substr(begin, text.find("\n```", begin) + 1 - begin);
}

/// A source without its licence line.
std::string code(const fs::path& path) {
  const auto text = read(root / path);
  return text.substr(text.find('\n') + 1);
}

/// What an application gets to see of us; whoever adds one decides that it is
/// public, and keeps it so.
const std::set<std::string> public_headers{
    "messages/attachment.hpp",
    "messages/call.hpp",
    "messages/decision.hpp",
    "messages/error.hpp",
    "messages/event.hpp",
    "messages/ids.hpp",
    "messages/time.hpp",
    "messages/usage.hpp",
    "runtime/api/make_tool.hpp",
    "runtime/api/runtime_options.hpp",
    "runtime/api/plans.hpp",
    "runtime/api/riffle.hpp",
    "runtime/api/testing.hpp",
    "runtime/api/version.hpp",
    "runtime/api/volley.hpp",
    "runtime/api/worker_main.hpp",
    "runtime/base/log.hpp",
    "runtime/config/config.hpp",
    "runtime/config/mcp_config.hpp",
    "runtime/config/server_config.hpp",
    "runtime/model/transport.hpp",
    "runtime/service/requests.hpp",
    "runtime/storage/journal.hpp",
    "runtime/storage/proposal.hpp",
    "runtime/storage/records.hpp",
    "tools/session_state.hpp",
    "tools/lease.hpp",
    "tools/tool.hpp",
};

}  // namespace

TEST_CASE("the public headers are these, and include none of ours beside") {
  std::set<std::string> ours;
  for (const auto& name : reachable())
    if (fs::exists(root / name)) ours.insert(name);
  CHECK(ours == public_headers);
}

TEST_CASE("public headers name no document that is not installed") {
  // "rule 7", "the contract's table", "goal F1", "see x/README.md", a design's
  // name; and files of ours that the reader does not have.
  static const std::regex document{
      R"(\brules? [0-9]|\brules of [A-Z]|\bcontract|\b[0-9]-[a-z]+\b|\barchitecture|\.md\b|\b[A-Z][0-9]+\b)"};
  static const std::regex file{R"([a-z_]+/[a-z_/]+\.[ch]pp)"};
  for (const auto& name : public_headers) {
    std::istringstream lines{read(root / name)};
    for (std::string line; std::getline(lines, line);) {
      const auto at = line.find("//");
      if (at == std::string::npos) continue;
      const auto comment = line.substr(at);
      INFO(name << ": " << comment);
      std::smatch found;
      CHECK_FALSE(std::regex_search(comment, document));
      if (std::regex_search(comment, found, file))
        CHECK(public_headers.contains(found.str()));
    }
  }
}

TEST_CASE("no public header reaches CAF or a heavy header of a library") {
  const auto all = reachable();
  REQUIRE(all.contains("tools/tool.hpp"));  // it follows includes
  for (const auto& name : all) {
    INFO(name);
    CHECK_FALSE(name.starts_with("caf/"));
    for (const char* library : {"simdjson", "toml++/", "spdlog/", "sqlite3",
                                "curl/", "valijson/", "nlohmann/json.hpp"})
      CHECK_FALSE(name.starts_with(library));
  }
}

TEST_CASE("the library page shows the sample application as it is") {
  const auto page = read(root / "docs/library.md");
  for (const std::string name : {"word_count.hpp", "main.cpp", "several.cpp",
                                 "tool_test.cpp", "CMakeLists.txt"}) {
    const auto file = "tests/sample/" + name;
    CHECK(block_after(page, "`" + file + "`") == code(file));
  }
}

namespace {

/// A struct without a constructor: its name, and the members that no
/// initialiser stands at.
struct public_aggregate {
  std::string name;
  std::set<std::string> bare;
};

/// The statements of a body that begins at `at`, what is in braces left out.
std::vector<std::string> statements_at(const std::string& code,
                                       std::size_t at) {
  std::vector<std::string> all{""};
  for (int depth = 1; depth > 0 && at < code.size(); ++at) {
    const char c = code[at];
    depth += c == '{' ? 1 : 0;
    depth -= c == '}' ? 1 : 0;
    if (depth == 1 && c == ';')
      all.emplace_back();
    else if (depth == 1 || (depth == 2 && c == '{'))
      all.back().push_back(c);
  }
  all.pop_back();
  return all;
}

std::vector<public_aggregate> aggregates_of(const std::string& header) {
  static const std::regex comment{R"(//[^\n]*)"};
  static const std::regex begin{R"((template <[^\n]*>\n)?struct (\w+) \{)"};
  static const std::regex arguments{R"(<[^<>]*>)"};
  static const std::regex no_member{
      R"(^\s*(using|static|friend|enum|struct)\b)"};
  const auto code = std::regex_replace(read(root / header), comment, "");
  std::vector<public_aggregate> all;
  for (std::sregex_iterator i{code.begin(), code.end(), begin}, none; i != none;
       ++i) {
    public_aggregate x{(*i)[2], {}};
    bool made = (*i)[1].matched;  // a template, or made by a constructor
    const auto body = static_cast<std::size_t>(i->position() + i->length());
    for (auto one : statements_at(code, body)) {
      for (std::size_t before = 0; before != one.size();) {
        before = one.size();
        one = std::regex_replace(one, arguments, "");
      }
      made = made || one.find(x.name + "(") != std::string::npos;
      if (one.find_first_of("({=") == std::string::npos &&
          !std::regex_search(one, no_member))
        x.bare.insert(one.substr(one.find_last_of(" \n") + 1));
    }
    if (!made) all.push_back(std::move(x));
  }
  return all;
}

}  // namespace

TEST_CASE("public aggregates can be written with one member named, and are") {
  const auto written = read(root / "tests/consumer/aggregates.cpp");
  // Not made by applications: one is private, the other moves a handle in.
  const std::set<std::string> handed_out{"step_log", "started_plan",
                                         "changed_call_view"};
  std::size_t found = 0;
  for (const auto& header : public_headers)
    for (const auto& x : aggregates_of(header)) {
      INFO(header << ": " << x.name);
      ++found;
      if (x.name != "started_plan") CHECK(x.bare == std::set<std::string>{});
      const bool is_written =
          std::regex_search(written, std::regex{"\\b" + x.name + R"(\{\s*\.)"});
      CHECK(is_written != handed_out.contains(x.name));
    }
  CHECK(found > 100);
}
