// SPDX-License-Identifier: MIT
// Decisions by an application.
#include <fstream>
#include <unistd.h>

#include "runtime/base/digest.hpp"
#include "tests/api/decide_scene.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;
using namespace riffle::testing;

TEST_CASE("an application approves, denies and edits calls") {
  decide_scene x;
  const auto going = x.start();
  const auto open = x.await_one();
  CHECK(open.what.tool == "change");
  CHECK(open.what.digest.size() == 64);
  CHECK(open.what.expires.has_value());
  const auto& id = open.what.id;
  SECTION("approved") {
    auto yes = approved();
    yes.digest = open.what.digest;
    const auto done = x.rt->decide(id, yes);
    REQUIRE(done);
    CHECK(done->verdict == decision_verdict::accepted);
    CHECK(done->now->decided->by == "ann");
    CHECK_FALSE(done->started);
    CHECK_FALSE(done->queued);
    CHECK(end_of(going).answer == "It said: changed a");
    const auto late = x.rt->decide(id, {.approved = false});
    REQUIRE(late);
    CHECK(late->verdict == decision_verdict::too_late);
    CHECK(late->now->decided->how == events::proposal_outcome::approved);
    CHECK(x.rt->proposals({.undecided = true})->empty());
    CHECK(x.rt->proposals()->size() == 1);
  }
  SECTION("denied with a reason") {
    REQUIRE(x.rt->decide(id, {.by = "bob", .reason = "not today"}));
    CHECK(end_of(going).answer.find("denied by bob: not today") !=
          std::string::npos);
    CHECK(x.seen().empty());
  }
  SECTION("edited") {
    REQUIRE(x.rt->decide(id, with("{ \"at\": \"b\" }")));
    const auto answer = end_of(going).answer;
    CHECK(x.seen() == std::vector<std::string>{"b"});
    CHECK(answer.find("What really ran: change {\"at\":\"b\"}") !=
          std::string::npos);
    const auto stored = x.journal->list_proposals({});
    REQUIRE(stored);
    CHECK(stored->at(0).decided->basis == sha256("at b"));
  }
  SECTION("what cannot hold changes nothing") {
    auto other = approved();
    other.digest = std::string(64, '0');
    CHECK(x.rt->decide(id, other)->verdict == decision_verdict::stale);
    CHECK(x.rt->decide({"prop_x"}, approved())->verdict ==
          decision_verdict::unknown);
    CHECK(x.rt->decide(id, with(R"({"at": 7})")).error().code ==
          errc::invalid_arguments);
    CHECK(x.rt->decide(id, with("{}")).error().code == errc::invalid_arguments);
    CHECK(x.rt->decide(id, with("{} {}")).error().code ==
          errc::invalid_arguments);
    CHECK(x.rt->decide(id, with(R"({"at": "forbidden"})")).error().code ==
          errc::approval_denied);
    decision no;
    no.arguments = R"({"at":"b"})";
    CHECK(x.rt->decide(id, no).error().code == errc::invalid_request);
    CHECK(x.rt->proposals({.undecided = true})->size() == 1);
    CHECK(x.seen().empty());
    REQUIRE(x.rt->decide(id, approved()));
    end_of(going);
    CHECK(x.seen() == std::vector<std::string>{"a"});
  }
}

TEST_CASE("a handler may decide about what it is shown") {
  decide_scene x;
  std::optional<decision_verdict> verdict;
  const auto going = x.start([&](const event_batch& batch) {
    batch.for_each([&](const event_view& line) {
      if (line.type() != "approval_required") return;
      const auto asked = line.parse();
      const auto& body = std::get<events::approval_required>(asked->body);
      auto yes = approved();
      yes.digest = body.digest;
      verdict = x.rt->decide(body.proposal, yes)->verdict;
    });
  });
  CHECK(end_of(going).status == events::run_status::completed);
  CHECK(verdict == decision_verdict::accepted);
  CHECK(x.seen() == std::vector<std::string>{"a"});
}

TEST_CASE("always holds for the next run of the session") {
  decide_scene x;
  auto first = x.start();
  auto always = approved();
  always.always = always_scope::tool;
  REQUIRE(x.rt->decide(x.await_one().what.id, always));
  end_of(first);
  end_of(x.start());
  CHECK(x.seen() == std::vector<std::string>{"a", "a"});
}

TEST_CASE("a row that another process wrote is acted on") {
  auto folder = std::filesystem::temp_directory_path() / "riffle-decide-XXXXXX";
  auto name = folder.string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  {
    auto mine =
        storage::open_sqlite_journal(name, storage::durability::process);
    auto other =
        storage::open_sqlite_journal(name, storage::durability::process);
    REQUIRE((mine && other));
    decide_scene x{one_change, "wait", std::move(*mine)};
    const auto going = x.start();
    const auto id = x.await_one().what.id;
    storage::decision_record row{id,    events::proposal_outcome::approved,
                                 "ann", {},
                                 {},    always_scope::none,
                                 {1}};
    CHECK((*other)->decide(row, {})->verdict == decision_verdict::accepted);
    end_of(going);
    CHECK(x.seen() == std::vector<std::string>{"a"});
  }
  std::filesystem::remove_all(name);
}

// -- approvals.mode = "propose" -----------------------------------------------

TEST_CASE("what was proposed in another folder is not executed in this one") {
  decide_scene x{one_change, "propose"};
  end_of(x.start());
  const auto id = x.await_one().what.id;
  const auto home = std::filesystem::current_path();
  CHECK(x.await_one().what.folder == home.string());
  std::filesystem::current_path("/");
  const auto done = x.rt->decide(id, approved());
  const auto denied = x.rt->proposals({.undecided = true});
  std::filesystem::current_path(home);
  REQUIRE_FALSE(done);
  CHECK(done.error().code == errc::invalid_request);
  CHECK(done.error().message.find(home.string()) != std::string::npos);
  CHECK(denied->size() == 1);  // nothing was decided
  CHECK(x.seen().empty());
  REQUIRE(x.rt->decide(id, approved())->started);
}

TEST_CASE("further calls are approved as far as was shown, and taken back") {
  decide_scene x;
  const auto first = x.start();
  const auto id = x.await_one().what.id;
  auto always = approved();
  always.always = always_scope::pattern;  // its arguments have none
  const auto none = x.rt->decide(id, always);
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::invalid_request);
  always.always = always_scope::call;
  REQUIRE(x.rt->decide(id, always));
  end_of(first);
  end_of(x.start());
  CHECK(x.seen().size() == 2);
  REQUIRE(x.rt->grants()->size() == 1);
  CHECK(x.rt->grants(first.session())->at(0).proposal == id);
  CHECK(x.rt->revoke(id).value());
  const auto again = x.start();
  REQUIRE(x.rt->decide(x.await_one().what.id, {.approved = false}));
  end_of(again);
  CHECK(x.seen().size() == 2);
}

TEST_CASE("an approval of what a finished run proposed starts a run") {
  decide_scene x{one_change, "propose"};
  const auto first = end_of(x.start());
  CHECK(first.answer.find("needs approval, proposal prop_") !=
        std::string::npos);
  const auto id = x.await_one().what.id;
  const auto done = x.rt->decide(id, approved());
  REQUIRE(done);
  REQUIRE(done->started);
  const auto end = end_of(*done->started);
  CHECK(end.status == events::run_status::completed);
  CHECK(end.answer.find("changed a") != std::string::npos);
  CHECK(done->started->session() == first.session);
  CHECK(x.seen() == std::vector<std::string>{"a"});
  // Decided, and executed: nothing more follows.
  const auto again = x.rt->decide(id, approved());
  REQUIRE(again);
  CHECK(again->verdict == decision_verdict::too_late);
  CHECK_FALSE(again->started);
  CHECK(again->now->executed_by == done->started->id());
  CHECK(x.seen().size() == 1);
}

TEST_CASE("an approval waits for the session's active run") {
  decide_scene x{R"(
[[steps]]
calls = [{ tool = "change", arguments = { at = "a" } }]
[[steps]]
events = [{ delay = "60s" }, { text = "Done." }]
)",
                 "propose"};
  const auto going = x.start();
  const auto id = x.await_one().what.id;
  const auto busy = x.rt->decide(id, with(R"({"at":"b"})")).error().code;
  CHECK(busy == errc::session_busy);  // it may act on something else by then
  const auto done = x.rt->decide(id, approved());
  REQUIRE(done);
  CHECK(done->verdict == decision_verdict::accepted);
  CHECK(done->queued);
  CHECK(x.seen().empty());
  going.cancel();
  end_of(going);
  testing::eventually([&] { return !x.seen().empty(); });
  CHECK(x.seen() == std::vector<std::string>{"a"});
}

TEST_CASE("what was approved and never executed is executed later") {
  const std::shared_ptr<storage::journal> stored =
      storage::make_memory_journal();
  proposal_id id;
  {
    decide_scene x{one_change, "propose", stored};
    end_of(x.start());
    id = x.await_one().what.id;
  }
  // As if the process had died right behind the decision.
  storage::decision_record row{
      id, events::proposal_outcome::approved, "ann", {}, {}, always_scope::none,
      {1}};
  REQUIRE(stored->decide(row, {}));
  decide_scene x{one_change, "propose", stored};
  for (const auto& no : {decision{.approved = false}, with("{}")})
    CHECK_FALSE(x.rt->decide(id, no)->started);
  const auto again = x.rt->decide(id, approved());
  REQUIRE(again);
  CHECK(again->verdict == decision_verdict::too_late);
  REQUIRE(again->started);
  end_of(*again->started);
  CHECK(x.seen() == std::vector<std::string>{"a"});
}

TEST_CASE("changed arguments that cannot work are refused, and not used up") {
  decide_scene x{R"(
[[steps]]
calls = [{ tool = "write", arguments = { path = "a.txt", content = "x" } }]
[[steps]]
text = "It said: {{result.0}}"
)"};
  const auto going = x.start();
  const auto id = x.await_one().what.id;
  const auto wrong =
      x.rt->decide(id, with(R"({"path":"/etc/riffle","content":"x"})"));
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("leads out of the workspace") !=
        std::string::npos);
  CHECK(x.rt->proposals({.undecided = true})->size() == 1);
  decision no;
  no.by = "ann";
  REQUIRE(x.rt->decide(id, no));
  end_of(going);
}

TEST_CASE("changed arguments are of the folder of their run") {
  decide_scene x{R"(
[[steps]]
calls = [{ tool = "write", arguments = { path = "a.txt", content = "x" } }]
[[steps]]
text = "done"
)"};
  const auto going = x.start();
  const auto id = x.await_one().what.id;
  const auto home = std::filesystem::current_path();
  const auto name = "decided-" + std::to_string(::getpid()) + ".txt";
  std::ofstream{home / name} << "before";
  std::filesystem::current_path("/");
  const auto done =
      x.rt->decide(id, with(json{{"path", name}, {"content", "x"}}.dump()));
  std::filesystem::current_path(home);
  REQUIRE(done);
  REQUIRE(done->verdict == decision_verdict::accepted);
  const auto stored = x.journal->list_proposals({});
  REQUIRE(stored);
  CHECK(stored->back().decided->basis ==
        "sha256 " + sha256("before") + " at " + name);
  going.cancel();
  end_of(going);
  std::filesystem::remove(home / name);
}

TEST_CASE("changed arguments are decided about as they were shown") {
  decide_scene x{R"(
[[steps]]
calls = [{ tool = "write", arguments = { path = "a.txt", content = "x" } }]
[[steps]]
text = "done"
)"};
  const auto going = x.start();
  const auto id = x.await_one().what.id;
  const auto name = "decided-" + std::to_string(::getpid()) + ".txt";
  const auto file = std::filesystem::current_path() / name;
  const auto changed = json{{"content", "new"}, {"path", name}}.dump();
  std::ofstream{file} << "before";
  const auto shown = x.rt->preview_change(id, changed);
  REQUIRE(shown);
  CHECK(shown->arguments == changed);
  CHECK(shown->preview.find("-before") != std::string::npos);
  std::ofstream{file} << "theirs";
  auto yes = with(changed);
  yes.basis = shown->basis;
  const auto late = x.rt->decide(id, yes);
  REQUIRE(late);
  CHECK(late->verdict == decision_verdict::stale);
  CHECK(x.rt->proposals({.undecided = true})->size() == 1);
  const auto now = x.rt->preview_change(id, changed);
  REQUIRE(now);
  yes.basis = now->basis;
  const auto done = x.rt->decide(id, yes);
  REQUIRE(done);
  CHECK(done->verdict == decision_verdict::accepted);
  end_of(going);
  CHECK(x.rt->proposals({})->front().decided->basis == now->basis);
  std::filesystem::remove(file);
}

TEST_CASE("what cannot be approved has no preview of a change") {
  decide_scene x{R"(
[[steps]]
calls = [{ tool = "write", arguments = { path = "a.txt", content = "x" } }]
[[steps]]
text = "done"
)"};
  const auto going = x.start();
  const auto id = x.await_one().what.id;
  const auto outside =
      x.rt->preview_change(id, R"({"path":"/etc/riffle","content":"x"})");
  REQUIRE_FALSE(outside);
  CHECK(outside.error().message.find("leads out of the workspace") !=
        std::string::npos);
  CHECK_FALSE(x.rt->preview_change(id, "{"));
  const auto none = x.rt->preview_change(proposal_id{"prop_none"}, "{}");
  REQUIRE_FALSE(none);
  CHECK(none.error().code == errc::not_found);
  going.cancel();
  end_of(going);
}

TEST_CASE("proposals in words have no arguments to edit") {
  decide_scene x{R"(
[[steps]]
calls = [{ tool = "seek_approval", arguments = { summary = "may I?" } }]
[[steps]]
text = "I wait."
)"};
  end_of(x.start());
  const auto id = x.await_one().what.id;
  CHECK(x.rt->decide(id, with("{}")).error().code == errc::invalid_request);
  const auto done = x.rt->decide(id, approved());
  REQUIRE(done);
  CHECK(done->verdict == decision_verdict::accepted);
  CHECK_FALSE(done->started);
  CHECK_FALSE(done->queued);
}
