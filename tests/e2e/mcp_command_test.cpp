// SPDX-License-Identifier: MIT
// riffle mcp: servers come into the configuration and go, are listed, looked
// at and called by hand; and Riffle as such a server.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/terminals.hpp"

using nlohmann::json;
namespace rt = riffle::testing;

namespace {

constexpr const char* liar = RIFFLE_MCP_LIAR;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

rt::finished mcp(const rt::work_folder& folder,
                 std::vector<std::string> words) {
  words.insert(words.begin(), "mcp");
  return rt::riffle(folder, std::move(words));
}

}  // namespace

TEST_CASE("a server is added, listed, called and removed") {
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1", "[agents.default]\ntools = []\n");
  const auto before = folder.read("riffle.toml");
  const auto added =
      mcp(folder, {"add", "liar", "--env", "SEEN", "--env", "SET=to this",
                   "--agent", "default", "--trust", "--", liar, "modern"});
  INFO(added.err);
  REQUIRE(added.status == 0);
  const auto text = folder.read("riffle.toml");
  CHECK(has(text,
            "agents = [\"default\"]\nenv = [\"SEEN\"]\n"
            "variables = { \"SET\" = \"to this\" }\n"
            "trust = \"annotations\"\n"));
  CHECK(mcp(folder, {"add", "liar", "--", liar}).status == 2);
  const auto list = mcp(folder, {"list"});
  CHECK(list.status == 0);
  CHECK(has(list.out, "ready          modern 2026-07-28  29 tools  liar 1"));
  CHECK(has(list.out, "  not approved\n"));
  const auto tools = mcp(folder, {"tools", "liar", "--output", "json"});
  const auto all = json::parse(tools.out);
  CHECK(all.size() == 30);
  CHECK(all.at(0).at("name") == "liar__echo");
  CHECK(all.at(0).at("effect") == "mutating");
  const auto reads = std::ranges::find(
      all, json("liar__read_echo"), [](const json& x) { return x.at("name"); });
  REQUIRE(reads != all.end());
  CHECK(reads->at("effect") == "read_only");
  const auto one = mcp(folder, {"tools", "liar", "read_echo"});
  CHECK(has(one.out, "liar__read_echo  read_only\nDoes read_echo\n"));
  CHECK(has(one.out, "\"description\": \"What it says\""));
  CHECK(mcp(folder, {"tools", "liar", "no_such"}).status == 2);
  const auto said = mcp(folder, {"call", "liar", "echo", R"({"text":"yo"})"});
  CHECK(said.status == 0);
  CHECK(said.out == "yo");
  namespace fs = std::filesystem;
  CHECK((fs::status(folder.path() / "data").permissions() & fs::perms{077}) ==
        fs::perms::none);  // made by what was first
  CHECK(mcp(folder, {"call", "liar", "is_error"}).status == 1);
  CHECK(mcp(folder, {"call", "liar", "no_such"}).status == 2);
  CHECK(mcp(folder, {"call", "other", "echo"}).status == 2);
  CHECK(mcp(folder, {"read", "x:1", "--server", "liar"}).out == "content");
  const auto resources = mcp(folder, {"read"}).out;
  CHECK(resources.starts_with("x:1"));
  CHECK(resources.ends_with("x:{n}  (a form of URIs)\n"));
  CHECK(mcp(folder, {"approve", "liar", "--yes"}).status == 0);
  CHECK(fs::exists(folder.path() / "data/mcp/liar.json"));
  const auto removed = mcp(folder, {"remove", "liar"});
  CHECK(removed.status == 0);
  CHECK(has(removed.err, "what was remembered of it: what was approved\n"));
  CHECK_FALSE(fs::exists(folder.path() / "data/mcp/liar.json"));
  CHECK(mcp(folder, {"remove", "liar"}).status == 2);
  CHECK(folder.read("riffle.toml") == before + "\n");
  CHECK(rt::processes_in(folder).empty());
}

TEST_CASE("servers that are added at once all stand there") {
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1");
  std::vector<std::unique_ptr<rt::program>> all;
  for (int i = 0; i < 8; ++i)
    all.push_back(std::make_unique<rt::program>(
        rt::installed_riffle(), folder,
        std::vector<std::string>{"mcp", "add", "p" + std::to_string(i),
                                 "--timeout", "90s", "--", liar}));
  for (auto& x : all) CHECK(x->wait().status == 0);
  const auto text = folder.read("riffle.toml");
  for (int i = 0; i < 8; ++i)
    CHECK(has(text, "[mcp.p" + std::to_string(i) + "]\n"));
  CHECK(has(text, "timeout = \"90s\"\n"));
}

TEST_CASE("a server with a mistake is not added") {
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1");
  const auto before = folder.read("riffle.toml");
  CHECK(mcp(folder, {"add", "liar"}).status == 2);
  for (const auto* name : {"a__b", "a b", "\u00e9", "a.b"}) {
    const auto end = mcp(folder, {"add", name, "--", "x"});
    CHECK(end.status == 2);
    CHECK(has(end.err, "the name of a server has letters, digits, - and _"));
  }
  CHECK(mcp(folder, {"add", "x", "--url", "ftp://x"}).status == 2);
  CHECK(mcp(folder, {"add", "x", "--agent", "nobody", "--", "x"}).status == 2);
  const std::vector<std::vector<std::string>> headers = {
      {"X-A=a\nb: c"}, {"Bad Header=x"},     {"X-Q=${A}${B"},
      {"Host=evil"},   {"mcp-session-id=q"}, {"X-Q=a", "x-q=b"}};
  for (const auto& given : headers) {
    CAPTURE(given);
    std::vector<std::string> words = {"add", "x", "--url",
                                      "http://127.0.0.1:1"};
    for (const auto& one : given) words.insert(words.end(), {"--header", one});
    const auto end = mcp(folder, words);
    CHECK(end.status == 2);
    CHECK(has(end.err, "--header: \""));
  }
  CHECK(folder.read("riffle.toml") == before);
  CHECK(mcp(folder, {"add", "x", "--url", "http://127.0.0.1:1/mcp"}).status ==
        0);
  CHECK(has(folder.read("riffle.toml"), "url = \"http://127.0.0.1:1/mcp\""));
}

TEST_CASE("what is removed is one configuration's own") {
  const rt::work_folder folder;
  const auto write = [&](const std::string& file, const std::string& era) {
    folder.write(file,
                 "[runtime]\ndata_dir = \"data\"\n[mcp.l]\ncommand = [\"" +
                     std::string{liar} + "\", \"" + era + "\"]\n");
  };
  write("one.toml", "modern");
  write("two.toml", "legacy");
  const auto with = [&](const std::string& file, std::vector<std::string> x) {
    x.insert(x.begin() + 1, {"--config", file});  // before any "--"
    return mcp(folder, std::move(x));
  };
  CHECK(with("one.toml", {"approve", "l", "--yes"}).status == 0);
  const auto removed = with("two.toml", {"remove", "l"});
  CHECK(removed.status == 0);
  CHECK_FALSE(has(removed.err, "what was remembered"));
  CHECK(has(with("one.toml", {"list"}).out, "  approved\n"));
  // A form of TOML that is no table of its own.
  folder.write("two.toml", "[mcp]\nl.command = [\"x\"]\n");
  const auto odd = with("two.toml", {"remove", "l"});
  CHECK(odd.status == 2);
  CHECK(has(odd.err, "is no table [mcp.l]"));
  CHECK(
      has(with("two.toml", {"add", "l", "--", "x"}).err, "there is a server"));
}

TEST_CASE("servers of other clients are taken over") {
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1");
  folder.write(
      ".mcp.json",
      json{{"mcpServers",
            {{"my files",
              {{"command", liar},
               {"args", {"legacy"}},
               {"env", {{"A", "b"}, {"TOKEN", "${TOKEN}"}}}}},
             {"web",
              {{"url", "https://example.com/mcp"},
               {"headers",
                {{"Authorization", "Bearer s3cret"}, {"X", "${env:TEAM}"}}}}},
             {"none", json::object()}}}}
          .dump());
  const auto out = mcp(folder, {"import", ".mcp.json"});
  CHECK(out.status == 0);
  CHECK(has(out.err, "the header Authorization is left out"));
  CHECK(has(out.err, "none: it has neither a command nor a url"));
  const auto text = folder.read("riffle.toml");
  CHECK(has(text, "[mcp.my_files]"));
  CHECK(has(text, "variables = { \"A\" = \"b\" }"));
  CHECK(has(text, "env = [\"TOKEN\"]"));
  CHECK(has(text, "headers = { \"X\" = \"${TEAM}\" }"));
  CHECK_FALSE(has(text, "s3cret"));
  folder.write("bad.json", "{}");
  CHECK(mcp(folder, {"import", "bad.json"}).status == 2);
  CHECK(mcp(folder, {"import", "gone.json"}).status == 2);
}

TEST_CASE("what an editor keeps is taken over, but for what is switched off") {
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1");
  const auto before = folder.read("riffle.toml");
  namespace fs = std::filesystem;
  fs::create_directories(folder.path() / ".vscode");
  folder.write(".vscode/mcp.json", R"({ // servers of this project
  "servers": {
    "one": { "command": "prog", /* "//" */ "args": ["http://x//y", "a,}",], "cwd": "sub" },
    "off": { "command": "prog", "disabled": true },
    "made": { "url": "${API}/mcp" },
    "bad": { "url": "ftp://x" },
    "key": { "command": "prog", "env": { "API_TOKEN": "raw-1" }, },
  },
})");
  const auto out = mcp(folder, {"import", ".vscode/mcp.json"});
  INFO(out.err);
  CHECK(out.status == 0);
  const auto text = folder.read("riffle.toml");
  CHECK(has(text, "command = [\"prog\", \"http://x//y\", \"a,}\"]"));
  CHECK(has(text, "cwd = \"" + (folder.path() / "sub").string() + "\""));
  for (const auto* gone : {"[mcp.off]", "[mcp.made]", "[mcp.bad]"})
    CHECK_FALSE(has(text, gone));
  CHECK(has(out.err, "left out: off: it is disabled there"));
  CHECK(has(out.err, "left out: made: its url is made from variables"));
  CHECK(has(out.err, "left out: bad: mcp.bad."));
  CHECK(has(out.err, "left out: key: what API_TOKEN holds"));
  CHECK(has(text, "env = [\"API_TOKEN\"]"));
  CHECK_FALSE(has(text, "raw-1"));
  CHECK(has(out.err, "+ one  prog http://x//y a,}"));
  CHECK(has(out.err, "Next: 'riffle mcp approve one'"));
  folder.write("bad.json", "{\n  \"servers\": {nope}\n}");
  const auto bad = mcp(folder, {"import", "bad.json"});
  CHECK(bad.status == 2);
  CHECK(has(bad.err, "bad.json:2:"));
  CHECK(has(bad.err, "this is no JSON"));
  folder.write("none.json", "{ \"servers\": {,} }");
  CHECK(has(mcp(folder, {"import", "none.json"}).err, "there are no servers"));
  CHECK(folder.read("riffle.toml") == text);
}

TEST_CASE("a server in a file that nobody trusts is added, and that is said") {
  const rt::work_folder folder;
  namespace fs = std::filesystem;
  fs::create_directories(folder.path() / "home/.config/riffle");
  const std::map<std::string, std::string> env = {
      {"RIFFLE_CONFIG", ""},
      {"XDG_CONFIG_HOME", ""},
      {"HOME", (folder.path() / "home").string()}};
  folder.write("riffle.toml", "[tools]\napproval = \"allow\"\n");
  const auto add = [&](const std::string& name) {
    return rt::riffle(folder, {"mcp", "add", name, "--", liar}, env);
  };
  const auto said = add("one");
  CHECK(said.status == 0);
  CHECK(has(said.err, "riffle.toml is not trusted, so nothing of it counts"));
  CHECK(has(said.err, "riffle config trust"));
  CHECK(rt::riffle(folder, {"mcp", "list"}, env).status == 2);
  CHECK(rt::riffle(folder, {"config", "trust", "--yes"}, env).status == 0);
  // It stays trusted now, and nothing is said.
  CHECK_FALSE(has(add("two").err, "is not trusted"));
  CHECK(has(rt::riffle(folder, {"mcp", "list"}, env).out, "two"));
  // Where the folder's file hides the person's servers, that is said.
  folder.write("home/.config/riffle/riffle.toml",
               "[mcp.mine]\ncommand = [\"x\"]\n");
  folder.write("riffle.toml", "");
  const auto none =
      rt::riffle(folder, {"mcp", "list", "--config", "riffle.toml"}, env);
  CHECK(has(none.err, "home/.config/riffle/riffle.toml has 1 server, but "));
}

TEST_CASE("a resource's escape sequences do not reach a terminal") {
  if (!rt::has_terminals()) return rt::skip(rt::no_terminals);
  if (!rt::can("command -v script >/dev/null"))
    return rt::skip("there is no script(1)");
  const rt::work_folder folder;
  folder.configure("http://127.0.0.1:1",
                   "[mcp.liar]\ncommand = [\"" + std::string{liar} + "\"]\n");
  rt::program run{
      "/bin/sh",
      folder,
      {"-c", "script -qec '" + rt::installed_riffle().string() +
                 " mcp read x:esc --server liar' /dev/null </dev/null"}};
  const auto end = run.wait();
  INFO(end.out);
  CHECK(has(end.out, "^[]52;c;aGk=\\x07"));
  CHECK_FALSE(has(end.out, "\x1b]52"));
}

TEST_CASE("a tool that changed after it was approved is not used unseen") {
  const rt::work_folder folder;
  rt::http_server model{[](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("done"));
    return rt::respond_sse(rt::calls({{"liar__echo", {{"text", "hi"}}}}));
  }};
  const auto configure = [&](const std::string& words) {
    folder.configure(
        model.url("/v1"),
        "[tools]\napproval = \"allow\"\n[mcp.liar]\ncommand = [\"" +
            std::string{liar} + "\", \"changed=swap\"" + words +
            "]\nagents = [\"default\"]\n");
  };
  configure("");
  const auto outcome = [&] {
    const auto end = rt::riffle(folder, {"run", "--output", "jsonl", "go"});
    return rt::of_type(rt::checked_events(end.out), "tool_result")
        .at(0)["data"]["outcome"]
        .get<std::string>();
  };
  CHECK(outcome() == "ok");
  const auto unseen = [&] {
    const auto err = rt::riffle(folder, {"run", "go"}).err;
    const auto at = err.find("nobody has looked at its tools yet");
    return at != err.npos && err.find("nobody has looked", at + 1) == err.npos;
  };
  const auto listed_as = [&] {
    const auto out = mcp(folder, {"list", "--output", "json"}).out;
    const auto one = json::parse(out).at(0);
    return json::array({one.at("approved"), one.value("changed", 0)});
  };
  CHECK(unseen());
  CHECK(listed_as() == json::array({false, 0}));
  const auto shown = mcp(folder, {"approve", "liar"});
  CHECK(shown.status == 2);  // nobody can be asked
  CHECK(has(shown.err, "command: " + std::string{liar} + " changed=swap\n"));
  CHECK(has(shown.err, "+ read_echo  mutating\n    + Does read_echo\n"));
  CHECK(has(shown.err, "says of itself: reads only yes, idempotent yes\n"));
  // All that a model is told of it.
  CHECK(has(shown.err, "\"description\": \"What it says\""));
  CHECK(mcp(folder, {"approve", "liar", "--yes"}).status == 0);
  CHECK(outcome() == "ok");
  CHECK_FALSE(unseen());
  CHECK(has(mcp(folder, {"list"}).out, "  approved\n"));
  folder.write("swap", "");
  CHECK(outcome() == "failed");
  CHECK(listed_as() == json::array({true, 1}));
  CHECK(has(mcp(folder, {"list"}).out, "  approved, 1 tool changed since\n"));
  const auto seen = mcp(folder, {"approve", "liar", "--yes"});
  CHECK(has(seen.err,
            "~ echo  mutating\n    - Does echo\n    + Sends all that it reads "
            "to somebody else\n"));
  CHECK(outcome() == "ok");
  const auto says_so = [&] {
    return has(rt::riffle(folder, {"run", "go"}).err, "counts no longer");
  };
  CHECK_FALSE(says_so());
  configure(", \"modern\"");
  CHECK(says_so());
  const auto listed = rt::riffle(folder, {"tools", "list"});
  CHECK(has(listed.err, "without their tools: liar "));
  CHECK_FALSE(has(listed.out, "liar"));
}

TEST_CASE("Riffle is a server of its own kind") {
  const rt::work_folder folder;
  rt::http_server model{[](const rt::http_request& request) {
    if (!rt::tool_messages(request).empty())
      return rt::respond_sse(rt::answer("all is done"));
    return rt::respond_sse(rt::calls({{"read", {{"path", "a.txt"}}}}));
  }};
  folder.write("a.txt", "content of a");
  folder.configure(model.url("/v1"));
  folder.write("client.toml",
               "[runtime]\ndata_dir = \"client\"\n[mcp.self]\ncommand = [\"" +
                   rt::installed_riffle().string() +
                   "\", \"mcp\", \"serve\", \"--approve\", \"none\", "
                   "\"--config\", \"riffle.toml\"]\nenv = "
                   "[\"OPENAI_API_KEY_2\"]\nvariables = { OPENAI_API_KEY = "
                   "\"k\" }\n");
  const auto client = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "mcp");
    words.insert(words.end(), {"--config", "client.toml"});
    return rt::riffle(folder, std::move(words));
  };
  const auto out = client({"call", "self", "run_task", R"({"task":"go"})"});
  INFO(out.err);
  CHECK(out.status == 0);
  CHECK(out.out == "all is done");
  const auto events = client(
      {"call", "self", "run_task", R"({"task":"go"})", "--output", "jsonl"});
  CHECK(has(events.out + events.err, "Reading a.txt"));
  const auto list = client({"read"});
  REQUIRE(list.out.starts_with("riffle://sessions/ses_"));
  const auto uri = list.out.substr(0, list.out.find(' '));
  CHECK(has(client({"read", uri}).out, "all is done"));
  CHECK(client({"read", "riffle://sessions/none"}).status == 1);
  CHECK(rt::processes_in(folder).empty());
}
