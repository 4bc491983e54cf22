// SPDX-License-Identifier: MIT
#include "runtime/cli/view/session_text.hpp"

#include <cstdlib>
#include <ctime>
#include <sstream>

#include "actors/run/recovery.hpp"
#include "messages/runtime_note.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/shell_text.hpp"
#include "runtime/service/stopped_plan.hpp"
#include "runtime/service/stored_request.hpp"
#include "runtime/service/views.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;

namespace {

constexpr wall_time now{1'763'900'000'000'000};

wall_time before(std::int64_t seconds) {
  return {now.us - seconds * 1'000'000};
}

}  // namespace

TEST_CASE("of a run that came to no step its task is shown") {
  riffle::storage::session_snapshot x;
  auto& run = x.runs.emplace_back();
  run.id = riffle::run_id{"run_1"};
  run.task = "look around";
  const auto has_task = [&] {
    const auto text = conversation_text(x, {});
    const auto found = text.find("**You:** look around\n");
    return found != text.npos &&
           text.find("**You:** look around\n", found + 1) == text.npos;
  };
  CHECK(has_task());
  auto& said = x.messages.emplace_back();
  said.run = run.id;
  said.text = run.task;
  CHECK(has_task());
}

TEST_CASE("a conversation has no words that only the model was told") {
  riffle::storage::session_snapshot x;
  x.runs.emplace_back().id = riffle::run_id{"run_1"};
  x.runs.back().task = riffle::sum_up_task;
  auto& said = x.messages.emplace_back();
  said.run = x.runs.back().id;
  said.text = "/compact\n\nContext:\n" + std::string{riffle::sum_up_context};
  auto& answer = x.messages.emplace_back();
  answer.run = x.runs.back().id;
  answer.role = riffle::storage::message_role::assistant;
  answer.text = "All was about tea.";
  const auto text = conversation_text(x, {});
  CHECK(text.ends_with("\n**You:** /compact\n\nAll was about tea.\n"));
}

TEST_CASE("a conversation is Markdown, whoever speaks") {
  using riffle::storage::message_role;
  riffle::storage::session_snapshot x;
  x.state["session_title"] = R"("About tea")";
  auto& run = x.runs.emplace_back();
  run.id = riffle::run_id{"run_1"};
  run.task = "see @a.md @b.md:1-2";
  auto& call = x.calls.emplace_back();
  call.call.id = {"call_1"};
  call.call.tool = "read";
  call.call.arguments = R"({"path":"a`b.md"})";
  const auto say = [&](message_role role, const std::string& text) {
    auto& m = x.messages.emplace_back();
    m.run = run.id;
    m.role = role;
    m.text = text;
    return &m;
  };
  say(message_role::user, "see @a.md @b.md:1-2\n\nContext:\nFile a.md:\n" +
                              std::string(1499, 'x') +
                              "\n\nFile b.md, lines 1 to 2:\none\ntwo");
  say(message_role::assistant, "> quoted")->calls = {{"call_1"}};
  say(message_role::user, std::string{riffle::runtime_note} + "Go on.");
  say(message_role::assistant, "All is\nread.\n");
  const auto text = conversation_text(x);
  INFO(text);
  CHECK(text.starts_with("# About tea\n\n## "));
  CHECK(text.find("\n\n**You:** see @a.md @b.md:1-2\n\n"
                  "- [context] a.md (1.5 KB)\n"
                  "- [context] b.md, lines 1 to 2 (7 B)\n\n"
                  "> quoted\n\n- `read a'b.md`: ") != text.npos);
  CHECK(text.ends_with("\n\n**Runtime:** Go on.\n\nAll is\nread.\n"));
}

TEST_CASE(
    "a conversation says why calls were denied, and which were not begun") {
  riffle::storage::session_snapshot x;
  auto& run = x.runs.emplace_back();
  run.id = riffle::run_id{"run_1"};
  auto& said = x.messages.emplace_back();
  said.run = run.id;
  said.role = riffle::storage::message_role::assistant;
  const auto call = [&](outcome how, const std::string& why) -> auto& {
    auto& one = x.calls.emplace_back();
    one.call.id = {"call_" + std::to_string(x.calls.size())};
    one.call.tool = "bash";
    one.call.arguments = R"({"command":"make"})";
    one.stage = storage::call_stage::settled;
    one.how = how;
    const bool denied = how == outcome::denied;
    if (!why.empty())
      one.err =
          error{denied ? errc::approval_denied : errc::cancelled, "call", why};
    said.calls.push_back(one.call.id);
    return one;
  };
  call(outcome::ok, "");
  call(outcome::denied, "denied by user: use a copy");
  call(outcome::denied, "this call needs approval, and this run approves none");
  call(outcome::denied, "needs approval, proposal prop_1: it was not executed");
  call(outcome::cancelled, "the run was cancelled: stopped by the user");
  call(outcome::cancelled, "the run was cancelled").attempt = 1;
  const auto text = conversation_text(x);
  INFO(text);
  std::string all;
  for (const auto* end : {"ok", "denied: you said no: use a copy",
                          "denied: this run approves no calls",
                          "waits for approval", "not begun", "cancelled"})
    all.append("- `bash make`: ").append(end).append("\n");
  CHECK(text.ends_with(all));
}

TEST_CASE("what an attached file says attaches no other") {
  riffle::storage::session_snapshot x;
  auto& run = x.runs.emplace_back();
  run.id = riffle::run_id{"run_1"};
  run.task = "compare (@log.txt, @a.md)";
  auto& said = x.messages.emplace_back();
  said.run = run.id;
  const std::string log = "one\n\nFile secret.md:\nx\n\nFile log.txt:\ny";
  said.text = run.task + "\n\nContext:\nFile log.txt:\n" + log +
              "\n\nFile a.md:\nabc\n\nFile a:\n";
  const auto text = conversation_text(x);
  INFO(text);
  CHECK(text.ends_with("\n- [context] log.txt (" + std::to_string(log.size()) +
                       " B)\n- [context] a.md (13 B)\n"));
}

TEST_CASE("files and each command that were told of have a line") {
  riffle::storage::session_snapshot x;
  auto& run = x.runs.emplace_back();
  run.id = riffle::run_id{"run_1"};
  run.task = "why? @a.md";
  auto& said = x.messages.emplace_back();
  said.run = run.id;
  said.text = run.task + "\n\nContext:\nFile a.md:\nabc\n\n" +
              shell_context("git status --short", 0, "M a.md\n") + "\n\n" +
              shell_context("make", 2, "no\n\nrule") + "\n\n" +
              terminal_context("vi a.md", 0);
  const auto text = conversation_text(x);
  INFO(text);
  CHECK(
      text.ends_with("\n- [context] a.md (3 B)\n"
                     "- [context] !git status --short (7 B)\n"
                     "- [context] !make (8 B)\n"
                     "- [context] !vi a.md (0 B)\n"));
}

TEST_CASE("times are relative, old ones are local dates") {
  CHECK(ago(before(3), now) == "just now");
  CHECK(ago(before(-50), now) == "just now");
  CHECK(ago(before(60), now) == "1 min ago");
  CHECK(ago(before(7200), now) == "2 h ago");
  const char* zone = std::getenv("TZ");
  const std::string old = zone ? zone : "";
  // 2025-11-20T23:30Z is the 21st there.
  const wall_time late{1'763'681'400'000'000};
  ::setenv("TZ", "UTC-3", 1);
  ::tzset();
  CHECK(ago(late, now) == "2025-11-21");
  riffle::storage::session_snapshot x;
  x.runs.emplace_back().id = riffle::run_id{"run_1"};
  x.runs.back().started = late;
  CHECK(conversation_text(x).starts_with("## 2025-11-21 02:30, "));
  // Who looks at it now reads how long ago that was, as in lists.
  CHECK(conversation_text(x, {}, wall_time{late.us + 180'000'000})
            .starts_with("## 2025-11-21 02:30 (3 min ago), "));
  CHECK(conversation_text(x, {}, now).starts_with("## 2025-11-21 02:30, "));
  ::setenv("TZ", "UTC0", 1);
  ::tzset();
  CHECK(ago(late, now) == "2025-11-20");
  zone ? ::setenv("TZ", old.c_str(), 1) : ::unsetenv("TZ");
  ::tzset();
}

TEST_CASE("a list shows endings of ids, titles and who was interrupted") {
  CHECK(short_id("ses_01kaqr9v5rmk8t4w3k3f9qz") == "k3f9qz");
  CHECK(short_id("plan_01m88gg5cqt2mwmrxjv6gbxvh4") == "gbxvh4");
  CHECK(short_id("volley_01m88gg5cqt2mwmrxjv6gbxvh4") == "gbxvh4");
  CHECK(short_id("notes") == "notes");
  session_summary x;
  x.id = {"ses_01kaqr9v5rmk8t4w3k3f9qz"};
  x.runs = 2;
  x.last.started = before(180);
  x.last.task = "and now\nthis";
  x.interrupted = true;
  CHECK(summary_text(x, now, 0) ==
        "k3f9qz  3 min ago   interrupted  2 runs   and now this\n");
  x.title = "Mend the build";
  CHECK(summary_text(x, now, 0) ==
        "k3f9qz  3 min ago   interrupted  2 runs   Mend the build\n");
  for (const std::size_t columns : {20, 40, 60}) {
    const auto line = summary_text(x, now, columns);
    CHECK(columns_of(line.substr(0, line.size() - 1)) < columns);
  }
}

TEST_CASE("of a session of another folder a list says where") {
  const char* home = std::getenv("HOME");
  const auto folder = std::string{home ? home : ""} + "/src/other";
  session_summary x;
  x.id = {"notes"};
  x.runs = 1;
  x.last.started = before(180);
  x.last.task = "Mend the build of everything that is here, and all the rest";
  service::stored_request from;
  from.folder = folder;
  x.last.settings = service::to_json(from);
  CHECK(summary_text(x, now, 0, folder).find("other") == std::string::npos);
  CHECK(summary_text(x, now, 0).find("other") == std::string::npos);
  const auto place = short_place(folder, home ? home : "");
  for (const std::size_t columns : {0, 80, 110}) {
    const auto line = summary_text(x, now, columns, "/tmp");
    CHECK(line.find("Mend the") != std::string::npos);
    CHECK(line.ends_with("  in " + place + "\n"));
    if (columns > 0) CHECK(columns_of(line) <= columns);
  }
  CHECK(short_place("/home/me/x", "/home/me") == "~/x");
  CHECK(short_place("/home/me", "/home/me") == "~");
  CHECK(short_place("/home/meadow", "/home/me") == "/home/meadow");
  CHECK(short_place("/a/very/long/way/down/to/where/it/is", "") ==
        "…/long/way/down/to/where/it/is");
}

TEST_CASE("sessions of this folder stand above the others") {
  const auto session = [](const std::string& id, const std::string& folder) {
    session_summary x;
    x.id = {id};
    x.runs = 1;
    x.last.started = before(180);
    x.last.task = "task of " + id;
    service::stored_request from;
    from.folder = folder;
    x.last.settings = service::to_json(from);
    return x;
  };
  const std::vector<session_summary> all{session("far", "/a"),
                                         session("near", "/b")};
  CHECK(summaries_by_folder(all, now, 0, "/b", {session_id{"near"}}) ==
        "near    3 min ago   asks         1 run    task of near\n"
        "Of other folders:\n"
        "far     3 min ago   active       1 run    task of far  in /a\n");
  CHECK(summaries_by_folder({all[0]}, now, 0, "/b").find("Of other") ==
        std::string::npos);
}

TEST_CASE("sessions of a volley and of a plan stand together") {
  const auto session = [](const std::string& id, const std::string& run,
                          const service::stored_request& from) {
    session_summary x;
    x.id = {id};
    x.runs = 1;
    x.last.id = {run};
    x.last.started = before(180);
    x.last.state = storage::run_state::completed;
    x.last.task = "task of " + id;
    x.last.settings = service::to_json(from);
    return x;
  };
  const service::stored_request alone{};
  service::stored_request task;
  task.place = service::task_place{"volley_1", 0};
  auto second = task;
  second.place->task = 1;
  service::stored_request step;
  step.of_plan = run_id{"plan_1"};
  const std::vector<session_summary> all{
      session("step", "run_5", step),     session("b", "run_4", second),
      session("mine", "run_3", alone),    session("a", "run_2", task),
      session("plan_1", "plan_1", alone),
  };
  const std::string about = "3 min ago   completed    1 run    task of ";
  CHECK(summaries_text(all, now, 0) == "plan_1  " + about + "plan_1\n" +      //
                                           "  step    " + about + "step\n" +  //
                                           "volley_1  3 min ago   completed"
                                           "    2 runs   volley, 2 "
                                           "sessions\n" +
                                           "  a       " + about + "a\n" +  //
                                           "  b       " + about + "b\n" +  //
                                           "mine    " + about + "mine\n");
  // Of a plan whose own session is not among them.
  CHECK(summaries_text({all[0]}, now, 0) ==
        "plan_1  plan, 1 session\n  step    " + about + "step\n");
  CHECK(service::to_json(all[0]).at("plan_id") == "plan_1");
  CHECK(service::to_json(all[4]).at("plan_id") == "plan_1");
  CHECK_FALSE(service::to_json(all[2]).contains("plan_id"));
  for (const std::size_t columns : {20, 40, 60}) {
    std::istringstream lines{summaries_text(all, now, columns)};
    for (std::string line; std::getline(lines, line);)
      CHECK(columns_of(line) < columns);
  }
}

TEST_CASE("a plan and what went on from it are one row") {
  const auto session = [](const std::string& id, const std::string& run,
                          const run_id& of_plan, storage::run_state state) {
    session_summary x;
    x.id = {id};
    x.runs = 1;
    x.last.id = {run};
    x.last.started = before(180);
    x.last.state = state;
    x.last.task = "Plan of 1 step: a";
    service::stored_request from;
    from.of_plan = of_plan;
    x.last.settings = service::to_json(from);
    return x;
  };
  using storage::run_state;
  const run_id first{"plan_01m88gg5cqt2mwmrxjv6gbxvh4"};
  const auto next = service::next_plan(first);
  const auto newest = service::next_plan(next);
  const auto plan = [&](const run_id& x, run_state state) {
    return session(x.value, x.value, {}, state);
  };
  const auto steps = session("ses_01kaqr9v5rmk8t4w3k3f9qz", "run_1", next,
                             run_state::cancelled);
  const std::string row =
      "  3 min ago   completed    3 runs   Plan of 1 step: a";
  const std::string below =
      "\n  k3f9qz  3 min ago   cancelled    1 run    Plan of 1 step: a\n";
  // Whichever of them stands first.
  const auto done = plan(newest, run_state::completed);
  const auto cut = plan(next, run_state::cancelled);
  const auto begun = plan(first, run_state::cancelled);
  CHECK(summaries_text({done, steps, cut, begun}, now, 0) ==
        short_id(newest.value) + row + below);
  CHECK(summaries_text({steps, begun, done, cut}, now, 0) ==
        short_id(newest.value) + row + below);
  CHECK(summaries_text({begun}, now, 0).starts_with("gbxvh4  3 min ago   can"));
}

TEST_CASE("outputs are listed in columns, with sizes for people") {
  const auto call = [](const std::string& id, const std::string& tool,
                       std::size_t told, const std::string& arguments) {
    storage::call_record x;
    x.call.id = {id};
    x.call.tool = tool;
    x.call.arguments = arguments;
    x.told = std::string(told, 'x');
    return x;
  };
  const std::vector all{
      call("call_01m88gg5cqt2mwmrxjv6gbxvh4", "bash", 12'000,
           R"({"command":"make test"})"),
      call("call_01m88gg5cqt2mwmrxjv6gbxvh5", "manage_plan", 7, "{}"),
  };
  CHECK(kept_calls_text(all, 0) ==
        "call_01m88gg5cqt2mwmrxjv6gbxvh4  bash         12 KB told  make test\n"
        "call_01m88gg5cqt2mwmrxjv6gbxvh5  manage_plan    7 B told\n");
  CHECK(kept_calls_text({all[0]}, 60) ==
        "call_01m88gg5cqt2mwmrxjv6gbxvh4  bash  12 KB told  make te…\n");
  CHECK(kept_calls_text({all[0]}, 20) == "call_01m88gg5cqt2mwmrxjv6gbxvh4\n");
}
