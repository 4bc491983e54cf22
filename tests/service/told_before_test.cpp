// SPDX-License-Identifier: MIT
// What a session was told first of where it works stays; changes are told with
// a task.
#include "runtime/service/told_before.hpp"

#include "runtime/base/digest.hpp"
#include "runtime/service/surroundings.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_journal.hpp"

using namespace riffle;
using namespace riffle::service;
using riffle::testing::test_journal;

namespace {

std::string told(const std::string& day, const std::string& git,
                 const std::string& project = "use tabs") {
  return "Where you work:\n- Folder: /x\n- Date: " + day + "\n- Git: " + git +
         "\nThe rest.\n\n<file>\n- Date: of the project\n" + project +
         "\n</file>\n";
}

/// A session whose runs are told something.
struct talk {
  stored_request tell(const std::string& text, bool goes_on = true,
                      const std::string& folder = "/x") {
    stored_request x;
    x.folder = folder;
    x.request.context = "given";
    if (goes_on) x.request.session = session;
    kept = keep_what_was_told(*journal, session, text, x);
    if (!kept) x.surroundings = sha256(text);
    storage::run_record run;
    run.id = run_id{"run_" + std::to_string(++runs)};
    run.session = session;
    run.settings = to_json(x);
    REQUIRE(journal->open_run(run));
    run.ordinal = static_cast<std::uint64_t>(runs);
    run.state = storage::run_state::completed;
    journal->append({run.id, {}, {run}}, [](const auto&) {});
    journal->release_all();
    return x;
  }
  session_id session{"s1"};
  std::shared_ptr<test_journal> journal = std::make_shared<test_journal>();
  bool kept = false;
  int runs = 0;
};

}  // namespace

TEST_CASE("the day and git are a state, all else lasts") {
  const auto x = parts_of(told("2026-11-24", "branch a"));
  CHECK(x.state == "- Date: 2026-11-24\n- Git: branch a\n");
  CHECK(x.lasting ==
        "Where you work:\n- Folder: /x\nThe rest.\n\n<file>\n- Date: of the "
        "project\nuse tabs\n</file>\n");
  CHECK(parts_of("") == told_parts{});
  CHECK(parts_of("no end") == told_parts{"no end", ""});
}

TEST_CASE("what a session was told first stays, and its changes are told") {
  talk x;
  const auto first = told("2026-11-24", "branch a, all committed");
  const auto begun = x.tell(first, false);
  CHECK_FALSE(x.kept);
  CHECK(begun.request.context == "given");

  const auto same = x.tell(first);
  CHECK(x.kept);
  CHECK(same.surroundings == begun.surroundings);
  CHECK(same.request.context == "given");

  const auto changed = told("2026-11-24", "branch a, changes");
  const std::string changed_context =
      "given\n\nWhere you work, by now:\n- Git: branch a, changes\n";
  CHECK(x.tell(changed).request.context == changed_context);
  const auto still = x.tell(changed);
  CHECK(still.surroundings == begun.surroundings);
  CHECK(still.request.context == changed_context);
  CHECK(x.tell(told("2026-11-25", "branch b")).request.context ==
        "given\n\nWhere you work, by now:\n- Date: 2026-11-25\n"
        "- Git: branch b\n");

  // The project says something else: that is told in its place.
  const auto other = x.tell(told("2026-11-25", "branch b", "use blanks"));
  CHECK_FALSE(x.kept);
  CHECK(other.request.context == "given");
  CHECK(x.tell(told("2026-11-25", "branch c", "use blanks")).surroundings ==
        other.surroundings);
  // An agent that is told the first again knows nothing of the last change.
  const auto back = x.tell(told("2026-11-25", "branch c"));
  CHECK(back.surroundings == begun.surroundings);
  CHECK(back.request.context ==
        "given\n\nWhere you work, by now:\n- Date: 2026-11-25\n"
        "- Git: branch c\n");
  // What is not known any more is not true any more.
  auto no_git = first;
  const auto git = no_git.find("- Git: ");
  no_git.erase(git, no_git.find('\n', git) + 1 - git);
  CHECK(x.tell(no_git).request.context ==
        "given\n\nWhere you work, by now:\n- Git: nothing is known of it "
        "now\n");
}

TEST_CASE("a session that goes on in another folder is told so, once") {
  talk x;
  const auto here = told("2026-11-24", "branch a");
  auto other = here;
  other.replace(other.find("/x"), 2, "/y");
  x.tell(here, false);
  const auto moved = x.tell(other, true, "/y");
  CHECK_FALSE(x.kept);
  CHECK(moved.request.context ==
        "given\n\nWhere you work, by now:\n- Folder: /y\n"
        "Until this task you worked in another folder, /x: what was said and "
        "done before it is about files there.\n");
  CHECK(x.tell(other, true, "/y").request.context == "given");
  // And back again, where it was told of that folder before.
  const auto back = x.tell(here);
  CHECK(x.kept);
  CHECK(back.request.context.find("worked in another folder, /y:") !=
        std::string::npos);
}
