// SPDX-License-Identifier: MIT
// Where an approved call runs, and whether it is still what was shown.
#include <filesystem>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"

using namespace riffle::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr auto propose = "[approvals]\nmode = \"propose\"\n";

/// One call for each task, then the end.
http_server::handler one_call(const std::string& tool, const json& arguments) {
  return [=](const http_request& request) {
    const auto last = json::parse(request.body).at("messages").back();
    if (last.at("role") == "user")
      return respond_sse(calls({{tool, arguments}}));
    return respond_sse(
        answer("It said: " + last.at("content").get<std::string>()));
  };
}

finished run(const work_folder& folder, std::vector<std::string> arguments) {
  return riffle::testing::riffle(folder, std::move(arguments));
}

std::vector<json> pending(const work_folder& folder) {
  const auto listed = run(folder, {"proposals", "list", "--output", "json"});
  REQUIRE(listed.status == 0);
  const auto all = json::parse(listed.out);
  return {all.begin(), all.end()};
}

json only(const work_folder& folder) {
  const auto all = pending(folder);
  REQUIRE(all.size() == 1);
  return all[0];
}

const std::vector<std::string> ask{"run", "go",        "--session",
                                   "s1",  "--approve", "ask"};

/// A folder with a proposal to append to "effects", and another one with the
/// same configuration.
struct two_folders {
  two_folders() {
    home.configure(server.url("/v1"), propose);
    other.write("riffle.toml", home.read("riffle.toml"));
    REQUIRE(run(home, ask).status == 0);
    id = only(home).at("proposal_id");
  }
  http_server server{one_call("bash", {{"command", "echo one >> effects"}})};
  work_folder home;
  work_folder other;
  std::string id;
};

}  // namespace

TEST_CASE(
    "an approved call runs where it was proposed, wherever it is "
    "approved") {
  const two_folders x;
  const auto home = fs::canonical(x.home.path()).string();
  CHECK(only(x.other).at("folder") == home);
  CHECK(run(x.other, {"proposals", "list"}).out.find(home) !=
        std::string::npos);
  CHECK(run(x.other, {"proposals", "show", x.id}).out.find(home) !=
        std::string::npos);
  const bool edited = GENERATE(false, true);
  const auto end =
      edited ? run(x.other, {"proposals", "edit", x.id, "--arguments",
                             R"({"command":"echo one >> effects #"})"})
             : run(x.other, {"proposals", "approve", x.id});
  INFO(end.err);
  CHECK(end.status == 0);
  CHECK(end.err.find("executed in " + home) != std::string::npos);
  CHECK(x.other.lines("effects").empty());
  CHECK(x.home.lines("effects") == std::vector<std::string>{"one"});
}

TEST_CASE("what cannot be approved like that is not said to be executed") {
  const two_folders x;
  x.home.write("riffle.toml",
               x.home.read("riffle.toml") +
                   "[tools.bash]\nrules = [{ match = \"*\", approval = "
                   "\"ask\" }]\n");
  const auto end =
      run(x.other, {"proposals", "approve", x.id, "--always", "pattern"});
  INFO(end.err);
  CHECK(end.status == 2);
  CHECK(end.err.find("executed in") == std::string::npos);
  CHECK(x.home.lines("effects").empty());
  CHECK(only(x.home).at("proposal_id") == x.id);
}

TEST_CASE("the configuration of the folder where it was proposed applies") {
  const two_folders x;
  x.home.write("riffle.toml", x.home.read("riffle.toml") +
                                  "[tools.bash]\napproval = \"deny\"\n");
  // Found in the folder, not named.
  const std::map<std::string, std::string> found{{"RIFFLE_CONFIG", ""}};
  for (const auto* folder : {&x.home, &x.other}) {
    const auto file = (folder->path() / "riffle.toml").string();
    const auto trust = riffle::testing::riffle(
        x.other, {"config", "trust", "--yes", file}, found);
    INFO(trust.err);
    REQUIRE(trust.status == 0);
  }
  const auto end =
      riffle::testing::riffle(x.other, {"proposals", "approve", x.id}, found);
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK(end.err.find("executed in") != std::string::npos);
  CHECK((end.out + end.err).find("the configuration does not allow") !=
        std::string::npos);
  CHECK(end.err.find("trust") == std::string::npos);
  CHECK(x.home.lines("effects").empty());
  CHECK(x.other.lines("effects").empty());
}

TEST_CASE("a proposal whose folder is gone stays, and can be denied") {
  const two_folders x;
  const auto moved = x.home.path().string() + "-moved";
  fs::rename(x.home.path(), moved);
  x.other.write("riffle.toml", [&] {
    auto text = x.other.read("riffle.toml");
    const auto at = text.find(x.home.path().string());
    return text.replace(at, x.home.path().string().size(), moved);
  }());
  const auto end = run(x.other, {"proposals", "approve", x.id});
  CHECK(end.status == 2);
  CHECK(end.err.find("not there any more") != std::string::npos);
  CHECK(end.err.find(x.home.path().string()) != std::string::npos);
  CHECK(only(x.other).at("proposal_id") == x.id);
  CHECK(run(x.other, {"proposals", "deny", x.id}).status == 0);
  CHECK(pending(x.other).empty());
  CHECK(x.other.lines("effects").empty());
  fs::remove_all(moved);
}

TEST_CASE("a run whose folder is gone is not finished elsewhere") {
  http_server server{one_call("bash", {{"command", "echo one >> effects"}})};
  const work_folder other;
  const auto folder = other.path() / "gone";
  fs::create_directory(folder);
  other.configure(server.url("/v1"));
  std::string id;
  {
    program waits{installed_riffle(),
                  other,
                  {"run", "go", "--session", "s1", "--approve", "ask"}};
    REQUIRE(eventually([&] { return !pending(other).empty(); }));
    waits.signal(SIGKILL);
    waits.wait();
    id = only(other).at("proposal_id");
  }
  const work_folder third;
  third.write("riffle.toml", other.read("riffle.toml"));
  CHECK(run(third, {"proposals", "approve", id})
            .err.find("cd '" + fs::canonical(other.path()).string()) !=
        std::string::npos);
  CHECK(run(third, {"sessions", "resume", "s1"}).status == 2);
  const auto kept = other.path().string() + "-moved";
  fs::rename(other.path(), kept);
  auto text = third.read("riffle.toml");
  text.replace(text.find(other.path().string()), other.path().string().size(),
               kept);
  third.write("riffle.toml", text);
  const auto end = run(third, {"sessions", "resume", "s1"});
  CHECK(end.status == 2);
  CHECK(end.err.find("not there any more") != std::string::npos);
  CHECK(end.err.find("sessions cancel s1") != std::string::npos);
  CHECK(third.lines("effects").empty());
  CHECK(run(third, {"sessions", "cancel", "s1"}).status == 0);
  fs::remove_all(kept);
}

TEST_CASE("a file that changed since its diff was shown is not written") {
  http_server server{
      one_call("write", {{"path", "notes.md"}, {"content", "new\n"}})};
  const work_folder folder;
  folder.configure(server.url("/v1"), propose);
  folder.write("notes.md", "old\n");
  REQUIRE(run(folder, ask).status == 0);
  const std::string id = only(folder).at("proposal_id");
  folder.write("notes.md", "mine\n");
  const auto end = run(folder, {"proposals", "approve", id});
  INFO(end.err);
  CHECK(end.status == 1);
  CHECK(end.err.find("has changed since") != std::string::npos);
  CHECK(folder.read("notes.md") == "mine\n");
  const auto now = only(folder);
  CHECK(now.at("replaces") == id);
  const auto old = json::parse(
      run(folder, {"proposals", "show", id, "--output", "json"}).out);
  CHECK(old.at("status") == "stale");
  CHECK(old.at("replaced_by") == now.at("proposal_id"));
  CHECK_FALSE(old.contains("executed_by"));
  CHECK(run(folder, {"proposals", "list", "--all"})
            .out.find(id.substr(id.size() - 6) + "  stale") !=
        std::string::npos);
  CHECK(now.at("preview").get<std::string>().find("-mine") !=
        std::string::npos);
  CHECK(run(folder, {"proposals", "approve", now.at("proposal_id")}).status ==
        0);
  CHECK(folder.read("notes.md") == "new\n");
}

TEST_CASE("a program that changed since it was shown is not run") {
  http_server server{one_call("deploy", json::object())};
  const work_folder folder;
  folder.configure(server.url("/v1"),
                   std::string{propose} +
                       "[agents.default]\ntools = [\"deploy\"]\n"
                       "[tools.deploy]\ntype = \"command\"\ncommand = [\"sh\", "
                       "\"deploy.sh\"]\ndescription = \"Deploys.\"\n"
                       "parameters = { type = \"object\" }\n");
  folder.write("deploy.sh", "echo one >> effects\n");
  REQUIRE(run(folder, ask).status == 0);
  const std::string id = only(folder).at("proposal_id");
  folder.write("deploy.sh", "echo two >> effects\n");
  CHECK(run(folder, {"proposals", "approve", id}).status == 1);
  CHECK(folder.lines("effects").empty());
  const std::string now = only(folder).at("proposal_id");
  CHECK(run(folder, {"proposals", "approve", now}).status == 0);
  CHECK(folder.lines("effects") == std::vector<std::string>{"two"});
}

TEST_CASE("what is always approved is listed, and taken back") {
  http_server server{one_call("bash", {{"command", "git init repo"}})};
  const work_folder folder;
  folder.configure(server.url("/v1"), propose);
  REQUIRE(run(folder, ask).status == 0);
  const std::string id = only(folder).at("proposal_id");
  CHECK(
      run(folder, {"proposals", "approve", id, "--always", "pattern"}).status ==
      0);
  const auto listed =
      json::parse(run(folder, {"proposals", "always", "--output", "json"}).out);
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].at("proposal_id") == id);
  CHECK(listed[0].at("pattern") == "git init *");
  CHECK(listed[0].at("folder") == fs::canonical(folder.path()).string());
  CHECK(run(folder, {"proposals", "always"})
            .out.find("any `git init` with plain words") != std::string::npos);
  const std::vector<std::string> again{"run", "more", "--session", "s1"};
  CHECK(run(folder, again).status == 0);
  CHECK(pending(folder).empty());  // nobody is asked, it is allowed
  CHECK(run(folder, {"proposals", "always", "--revoke", id}).status == 0);
  CHECK(run(folder, {"proposals", "always", "--revoke", id}).status == 2);
  CHECK(run(folder, {"proposals", "always"}).out.empty());
  CHECK(run(folder, again).status == 0);
  CHECK(pending(folder).size() == 1);
}

TEST_CASE(
    "what is kept for a folder counts in its later sessions, not outside") {
  const two_folders x;
  CHECK(
      run(x.home, {"proposals", "approve", x.id, "--always", "tool", "--kept"})
          .status == 0);
  const auto listed =
      json::parse(run(x.home, {"proposals", "always", "--output", "json"}).out);
  REQUIRE(listed.size() == 1);
  CHECK(listed[0].at("kept") == true);
  CHECK_FALSE(listed[0].contains("session_id"));
  CHECK(run(x.home, {"proposals", "always"}).out.find("every session") !=
        std::string::npos);
  // Its session may go.
  CHECK(run(x.home, {"sessions", "delete", "s1"}).status == 0);
  CHECK(run(x.home, {"run", "more", "--session", "s2"}).status == 0);
  CHECK(pending(x.home).empty());
  CHECK(run(x.other, {"run", "more", "--session", "s3"}).status == 0);
  CHECK(pending(x.home).size() == 1);
  CHECK(run(x.home, {"proposals", "always", "--revoke", x.id}).status == 0);
  CHECK(run(x.home, {"run", "more", "--session", "s4"}).status == 0);
  CHECK(pending(x.home).size() == 2);
}

TEST_CASE("where nobody is, calls may be proposed, and people are told") {
  http_server server{one_call("bash", {{"command", "echo one >> effects"}})};
  const work_folder folder;
  folder.configure(server.url("/v1"), propose);
  const auto end = run(folder, {"run", "go"});
  CHECK(end.status == 0);
  const std::string id = only(folder).at("proposal_id");
  INFO(end.err);
  CHECK(end.err.find("  riffle proposals approve " + id + "\n") !=
        std::string::npos);
  CHECK(folder.lines("effects").empty());
  CHECK(run(folder, {"proposals", "approve", id.substr(9, 9)}).status == 2);
  // The ending of an id is enough.
  const auto part = id.substr(id.size() - 8);
  CHECK(run(folder, {"proposals", "show", part}).out.find(id) !=
        std::string::npos);
  CHECK(run(folder, {"proposals", "approve", part}).status == 0);
  CHECK(folder.lines("effects").size() == 1);
}

TEST_CASE("a run in which nobody could be asked ends with 3") {
  http_server server{one_call("bash", {{"command", "echo one >> effects"}})};
  const work_folder folder;
  folder.configure(server.url("/v1"));
  for (const auto* output : {"text", "json", "jsonl"}) {
    CAPTURE(output);
    const auto end = run(folder, {"run", "go", "--output", output});
    CHECK(end.status == 3);
    CHECK(end.err.find("nobody could be asked") != std::string::npos);
    if (output == std::string{"json"})
      CHECK(json::parse(end.out).at("results").at(0).at("unasked") == 1);
    if (output == std::string{"jsonl"})
      CHECK(of_type(checked_events(end.out), "approval_resolved")
                .at(0)
                .at("data")
                .at("unasked") == true);
  }
  CHECK(run(folder, {"run", "go", "--approve", "none"}).status == 0);
  CHECK(run(folder, {"run", "go", "-q"}).status == 3);
  CHECK(run(folder, {"run", "--help"}).out.find("3 completed, but") !=
        std::string::npos);
  folder.configure(server.url("/v1"), "[tools.bash]\napproval = \"deny\"\n");
  CHECK(run(folder, {"run", "go"}).status == 0);  // a rule, not nobody
  CHECK(folder.lines("effects").empty());
}

TEST_CASE("a run that is finished later keeps that nobody could be asked") {
  http_server server{[](const http_request& request) {
    if (tool_messages(request).empty())
      return respond_sse(calls({{"bash", {{"command", "true"}}}}));
    return http_reply::sse().stall("gate").send(answer("done"));
  }};
  const work_folder folder;
  folder.configure(server.url("/v1"));
  {
    program first{installed_riffle(), folder, {"run", "go", "--session", "s1"}};
    REQUIRE(server.wait_for_requests(2));
    first.signal(SIGKILL);
    first.wait();
  }
  server.release("gate");
  CHECK(run(folder, {"sessions", "resume", "s1"}).status == 3);
}
