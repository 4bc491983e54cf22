// SPDX-License-Identifier: MIT
// Every command where the ground is missing: a deleted working folder, an
// output that takes nothing, no files to open, no standard descriptors.
#include <set>
#include <sstream>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

using words = std::vector<std::string>;

constexpr auto script = R"toml(
[[steps]]
calls = [{ tool = "read", arguments = { path = "a.txt" } },
         { tool = "write", arguments = { path = "b.txt", content = "b" } }]
[[steps]]
text = "All is seen."
)toml";

/// Each command that there is; CALL and PROP are put in. `prints`: something
/// goes to its standard output.
struct command {
  words arguments;
  bool prints = true;
  bool spends = false;  ///< what it is about: it succeeds once
};

bool ends_a_run(const command& x) {
  return x.arguments[0] == "sessions" &&
         (x.arguments[1] == "cancel" || x.arguments[1] == "forget");
}

const std::vector<command>& commands() {
  static const std::vector<command> all{
      {{"run", "go", "--approve", "none"}},
      {{"run", "go", "--approve", "none", "--output", "json"}},
      {{"run", "go", "--approve", "none", "--output", "jsonl"}},
      {{"sessions", "list"}},
      {{"sessions", "list", "--output", "json"}},
      {{"sessions", "show", "s1"}},
      {{"sessions", "events", "s1"}},
      {{"sessions", "output", "CALL"}},
      {{"sessions", "resume", "s1"}, false},
      {{"sessions", "cancel", "s1"}, false},
      {{"sessions", "forget", "s1"}, false},
      {{"sessions", "delete", "s1", "--output", "json"}, true, true},
      {{"proposals", "list", "--all"}},
      {{"proposals", "show", "PROP"}},
      {{"proposals", "approve", "PROP", "--output", "jsonl"}, true, true},
      {{"proposals", "deny", "PROP", "--output", "json"}, true, true},
      {{"proposals", "edit", "PROP", "--arguments",
        R"({"path":"c.txt","content":"c"})", "--output", "jsonl"},
       true,
       true},
      {{"tools", "list"}},
      {{"tools", "call", "read", R"({"path":"a.txt"})"}},
      {{"events", "check", "published"}},
      {{"config", "check"}},
      {{"config", "show"}},
      {{"config", "init", "new.toml", "--output", "json"}, true, true},
      {{"--help"}},
      {{"run", "--help"}},
      {{"--version"}},
  };
  return all;
}

/// A folder in which all of them succeed, and what to put in.
struct place {
  place() {
    folder.write("s.toml", script);
    folder.write("a.txt", "A\n");
    folder.write("riffle.toml",
                 "[runtime]\ndata_dir = \"" +
                     (folder.path() / "data").string() +
                     "\"\n[models.default]\ndialect = \"scripted\"\n"
                     "model = \"s\"\nscript = \"s.toml\"\n"
                     "[approvals]\nmode = \"propose\"\n");
    const auto end = riffle::testing::riffle(
        folder, {"run", "go", "--session", "s1", "--approve", "ask", "--output",
                 "jsonl"});
    REQUIRE(end.status == 0);
    folder.write("published", end.out);
    for (const auto& e : checked_events(end.out)) {
      if (e.at("event_type") == "tool_result" &&
          e.at("data").at("tool") == "read")
        call = e.at("data").at("id");
      if (e.at("event_type") == "proposal")
        proposal = e.at("data").at("proposal_id");
    }
    REQUIRE(!call.empty());
    REQUIRE(!proposal.empty());
  }

  /// As a shell reads it.
  [[nodiscard]] std::string line(const words& arguments) const {
    std::string out = "'" + installed_riffle().string() + "'";
    for (auto x : arguments) {
      if (x == "CALL") x = call;
      if (x == "PROP") x = proposal;
      out += " '" + x + "'";
    }
    return out;
  }

  finished shell(const std::string& text) const {
    return program{"/bin/sh", folder, {"-c", text}}.wait();
  }

  work_folder folder;
  std::string call;
  std::string proposal;
};

std::string text_of(const words& x) {
  std::string out;
  for (const auto& word : x) out += word + " ";
  return out;
}

/// Calls `f(place, command)` for each command.
template <class F>
void for_each_command(F f) {
  const place shared;
  for (const auto& x : commands()) {
    CAPTURE(text_of(x.arguments));
    if (x.spends)
      f(place{}, x);
    else
      f(shared, x);
  }
}

void check_ended(const finished& end) {
  // No signal, no shell; with very few files the loader gives up first.
  const bool loads =
      end.err.find("error while loading shared libraries") == std::string::npos;
  CHECK((end.status < 126 || (end.status == 127 && !loads)));
  CHECK(end.err.find("terminate") == std::string::npos);
  CHECK(end.err.find("something went wrong inside") == std::string::npos);
}

/// "riffle sessions list" …, as the help names them.
std::set<std::string> names_in_help(const work_folder& folder,
                                    const words& of) {
  auto arguments = of;
  arguments.emplace_back("--help");
  const auto help = riffle::testing::riffle(folder, arguments).out;
  const auto at = help.find("\nSubcommands:");
  std::set<std::string> names;
  if (at == std::string::npos) return names;
  std::istringstream in{help.substr(at + 1)};
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line) && line.starts_with("  ")) {
    std::istringstream one{line};
    std::string name;
    one >> name;
    if (line[2] != ' ') names.insert(name);
  }
  return names;
}

}  // namespace

TEST_CASE("the table has every command that the program has") {
  const work_folder folder;
  std::set<std::string> known;
  for (const auto& x : commands()) {
    known.insert(x.arguments.at(0));
    if (x.arguments.size() > 1)
      known.insert(x.arguments[0] + " " + x.arguments[1]);
  }
  // Tried by init_test.cpp, trust_test.cpp, approval_place_test.cpp,
  // models_test.cpp, given_plan_test.cpp, completion_test.cpp, cluster_test.cpp
  // and mcp_command_test.cpp.
  known.insert({"config trust", "proposals always",
                "models",       "models list",
                "models check", "models providers",
                "plan",         "plan check",
                "completion",   "chat",
                "serve",        "serve token",
                "node",         "nodes",
                "nodes list",   "nodes drain",
                "cluster",      "cluster init",
                "cluster add",  "mcp",
                "mcp add",      "mcp list",
                "mcp tools",    "mcp call",
                "mcp approve",  "mcp remove",
                "mcp import",   "mcp read",
                "mcp serve",    "init"});
  const auto top = names_in_help(folder, {});
  CHECK(top.size() >= 6);
  for (const auto& name : top) {
    CAPTURE(name);
    CHECK(known.contains(name));
    for (const auto& sub : names_in_help(folder, {name})) {
      CAPTURE(sub);
      CHECK(known.contains(name + " " + sub));
    }
  }
}

TEST_CASE("each command of the table succeeds where nothing is missing") {
  for_each_command([](const place& at, const command& x) {
    const auto end = at.shell(at.line(x.arguments));
    INFO(end.err);
    const bool cancels = ends_a_run(x);  // nothing is under way
    CHECK(end.status == (cancels ? 2 : 0));
    CHECK(end.out.empty() != x.prints);
  });
}

TEST_CASE("each command says that its working folder is gone") {
  const place at;
  for (const auto& x : commands()) {
    CAPTURE(text_of(x.arguments));
    const auto end =
        at.shell("mkdir gone; cd gone; rmdir ../gone; " + at.line(x.arguments));
    INFO(end.err);
    check_ended(end);
    if (x.arguments.back() == "--help" || x.arguments[0] == "--version") {
      CHECK(end.status == 0);
      continue;
    }
    CHECK(end.status != 0);
    CHECK(end.err.find("cd to one that exists") != std::string::npos);
    CHECK(end.out.empty());
  }
}

TEST_CASE("each command says that its output takes nothing") {
  for (const std::string to : {"> /dev/full", ">&-"}) {
    for_each_command([&](const place& at, const command& x) {
      CAPTURE(to);
      const auto end = at.shell(at.line(x.arguments) + " " + to);
      INFO(end.err);
      check_ended(end);
      if (!x.prints) return;
      CHECK(end.status != 0);
      CHECK(end.err.find("standard output cannot be written: ") !=
            std::string::npos);
    });
  }
}

TEST_CASE("each command does without standard input and standard error") {
  for (const std::string without : {"<&-", "2>&-", "<&- 2>&-"}) {
    for_each_command([&](const place& at, const command& x) {
      CAPTURE(without);
      const auto end = at.shell(at.line(x.arguments) + " " + without);
      INFO(end.err);
      check_ended(end);
      const bool cancels = ends_a_run(x);
      CHECK(end.status == (cancels ? 2 : 0));
      CHECK(end.out.empty() != x.prints);
    });
  }
}

TEST_CASE("each command ends well with few files to open") {
  for (const std::string few : {"6", "8", "10", "12"}) {
    for_each_command([&](const place& at, const command& x) {
      CAPTURE(few);
      const auto end =
          at.shell("ulimit -n " + few + "; exec " + at.line(x.arguments));
      INFO(end.err);
      check_ended(end);
      if (end.status != 0) CHECK_FALSE(end.err.empty());
      if (end.status == 0) CHECK(end.out.empty() != x.prints);
    });
  }
}
