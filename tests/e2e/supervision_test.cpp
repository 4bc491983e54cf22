// SPDX-License-Identifier: MIT
// An actor of the real program dies: a pool is replaced, and the run goes on;
// without store or inbox the program ends and says so.
#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"

using namespace riffle::testing;
using nlohmann::json;

namespace {

/// A read and a command, then the answer.
http_reply provider(const http_request& request) {
  if (!tool_messages(request).empty()) return respond_sse(answer("Over."));
  return respond_sse(calls({{"read", {{"path", "a.txt"}}},
                            {"bash", {{"command", "echo 1 >> effects"}}}}));
}

struct ended {
  finished end;
  finished again;      ///< of 'sessions resume'
  std::string stored;  ///< the session's events after that
  std::size_t effects = 0;
};

ended with_fault(const std::string& handler,
                 const std::vector<std::string>& more = {"--approve", "all"}) {
  const work_folder folder;
  http_server server{provider};
  folder.write("a.txt", "A\n");
  folder.configure(server.url("/v1"));
  std::vector<std::string> arguments{"run", "go",       "--session",
                                     "s1",  "--output", "jsonl"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  ended x;
  x.end = program{crashable_riffle(),
                  folder,
                  arguments,
                  {{"RIFFLE_TEST_THROW_IN", handler}}}
              .wait();
  // What was asked before waits for its answer, whatever resumes the run.
  const auto open = riffle::testing::riffle(
      folder, {"proposals", "list", "--output", "json"});
  if (open.status == 0)
    for (const auto& proposal : json::parse(open.out))
      riffle::testing::riffle(
          folder, {"proposals", "approve", proposal.at("proposal_id")});
  x.again = riffle::testing::riffle(
      folder, {"sessions", "resume", "s1", "--approve", "all"});
  x.effects = folder.lines("effects").size();
  if (x.again.status == 0) {
    x.stored =
        riffle::testing::riffle(folder, {"sessions", "events", "s1"}).out;
    CHECK(of_type(checked_events(x.stored), "run_finished").size() == 1);
    INFO("printed: " << x.end.out << "\nstored: " << x.stored);
    CHECK(x.stored.starts_with(x.end.out));
  }
  return x;
}

/// Tool and outcome of each call.
std::vector<std::string> outcomes(const std::string& events) {
  std::vector<std::string> out;
  for (const auto& x : of_type(checked_events(events), "tool_result"))
    out.push_back(x.at("data").at("tool").get<std::string>() + " " +
                  x.at("data").at("outcome").get<std::string>());
  return out;
}

}  // namespace

TEST_CASE("a pool that fails costs no run") {
  // It fails with the first call, a read, which is done again.
  for (const std::string handler :
       {"tool_pool.assignment", "tool_pool.idle", "tool_worker.done"}) {
    CAPTURE(handler);
    const auto x = with_fault(handler);
    INFO(x.end.err);
    CHECK(x.end.status == 0);
    CHECK(x.end.out == x.stored);
    CHECK(outcomes(x.stored) == std::vector<std::string>{"read ok", "bash ok"});
    CHECK(x.effects == 1);
    CHECK(x.end.err.find(handler + ": a fault of the test") !=
          std::string::npos);
  }
}

TEST_CASE("without its registry the program ends and says why") {
  // Before a run, and at its end, when all of it is stored.
  for (const std::string handler :
       {"run_registry.start", "run_registry.ended"}) {
    CAPTURE(handler);
    const bool begun = handler == "run_registry.ended";
    const auto x = with_fault(handler);
    INFO(x.end.err);
    CHECK(x.end.err.find(handler + ": a fault of the test") !=
          std::string::npos);
    // At its end the program may have its answer before the death is known:
    // then it has all of it.
    const bool was_told = begun && x.end.status == 0;
    const bool said =
        x.end.err.find("riffle: the run registry failed, so ") !=
            std::string::npos ||
        x.end.err.find("the registry did not answer") != std::string::npos;
    CHECK((was_told ? x.end.out == x.stored : x.end.status == 1 && said));
    INFO(x.again.err);
    // It never began, or is finished, now or before.
    CHECK(x.again.status == (begun ? 0 : 2));
    CHECK(x.effects == (begun ? 1 : 0));
    if (begun)
      CHECK(outcomes(x.stored) ==
            std::vector<std::string>{"read ok", "bash ok"});
  }
}

TEST_CASE("without its store or inbox the program ends and says why") {
  for (const std::string handler :
       {"session_store.open", "command_inbox.runs_here", "command_inbox.tick",
        "command_inbox.watch"}) {
    CAPTURE(handler);
    const auto x = with_fault(handler, {"--approve", "ask"});
    INFO(x.end.err);
    CHECK(x.end.status == 1);
    const auto what = handler.starts_with("session") ? "the session store"
                                                     : "the command inbox";
    // So the runtime has ended, or no run can begin.
    CHECK(x.end.err.find(std::string{"riffle: "} + what + " failed, so ") !=
          std::string::npos);
    INFO(x.again.err);
    // It never began, or it is finished now.
    CHECK(x.again.status == (handler.starts_with("session") ? 2 : 0));
    CHECK(x.effects == (handler.starts_with("session") ? 0 : 1));
  }
}

TEST_CASE("without its cluster gate a process ends and says why") {
  if (!can("unshare -rn ip link set lo up"))
    return skip("no network namespaces here");
  const auto status_of = [](const std::string& command) {
    const work_folder folder;
    folder.write("nodes.sh",
                 "ip link set lo up || exit 1\nexec \"$0\" " + command);
    folder.write("riffle.toml",
                 "[cluster]\nname = \"a\"\nlisten = \"127.0.0.1:7434\"\n"
                 "join = [\"127.0.0.1:7435\"]\ninsecure = true\n"
                 "[node]\ntools = [\"read\"]\n[runtime]\ndata_dir = "
                 "\"data\"\n");
    return program{"/usr/bin/unshare",
                   folder,
                   {"-rn", "/bin/bash", "-c", folder.read("nodes.sh"),
                    crashable_riffle().string()},
                   {{"RIFFLE_TEST_THROW_IN", "cluster_gate.tick"}}}
        .wait();
  };
  const auto x = status_of("node --config riffle.toml");
  INFO(x.err);
  CHECK(x.status == 1);
  CHECK(x.err.find("the cluster gate failed, so the runtime has ended (") !=
        std::string::npos);
}
