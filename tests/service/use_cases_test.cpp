// SPDX-License-Identifier: MIT
// Use cases of a process, as an adapter uses them that must not wait.
#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "runtime/base/secrets.hpp"
#include "runtime/node/node.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/tools.hpp"
#include "runtime/service/views.hpp"
#include "runtime/storage/sqlite.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using service::reply;
using testing::scaled;
using testing::temp_folder;

namespace {

std::unique_ptr<node> make_node(const std::string& data_dir = {}) {
  config::config x;
  x.runtime.log.level = "off";
  x.models["default"].dialect = "scripted";
  x.agents["default"].tools = {"read"};
  node_parts parts;
  parts.scripts["default"] = "[[steps]]\ntext = \"done\"\n";
  if (data_dir.empty())
    parts.journal = storage::make_memory_journal();
  else
    x.runtime.data_dir = data_dir;
  auto made = node::create(std::move(x), std::move(parts));
  REQUIRE(made);
  return std::move(*made);
}

/// An answer that another thread gives.
template <class T>
class awaited {
 public:
  reply<T> place() {
    return reply<T>{[this](expected<T> x) {
      const std::lock_guard lock{mutex_};
      by_ = std::this_thread::get_id();
      answer_ = std::move(x);
      came_.notify_all();
    }};
  }
  expected<T> get() {
    std::unique_lock lock{mutex_};
    REQUIRE(came_.wait_for(lock, scaled(30s), [&] { return !!answer_; }));
    return *answer_;
  }
  std::thread::id by() {
    const std::lock_guard lock{mutex_};
    return by_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::optional<expected<T>> answer_;
  std::thread::id by_;
};

storage::run_record await_end(const service::sessions& all, const run_id& id) {
  const auto until = std::chrono::steady_clock::now() + scaled(30s);
  for (;;) {
    auto run = all.find_run(id);
    REQUIRE(run);
    if (run->state != storage::run_state::active) return *run;
    REQUIRE(std::chrono::steady_clock::now() < until);
    std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("a start waits on no thread of its caller's") {
  const auto owner = make_node();
  const auto uses = owner->serve(owner->shared_side_executor());
  awaited<run_opened> opened;
  uses.runs.start({.task = "go"}, {}, opened.place());
  const auto run = opened.get();
  REQUIRE(run);
  CHECK(opened.by() != std::this_thread::get_id());
  CHECK(await_end(uses.sessions, run->run).state ==
        storage::run_state::completed);
  const auto all = uses.sessions.list(10);
  REQUIRE(all);
  REQUIRE(all->size() == 1);
  CHECK(all->front().id == run->session);
  CHECK(all->front().runs == 1);
  CHECK(service::state_of(all->front()) == "completed");
}

TEST_CASE("what cannot be started is answered, not thrown away") {
  const auto owner = make_node();
  const auto uses = owner->serve(owner->shared_side_executor());
  awaited<run_opened> opened;
  uses.runs.start({.task = "go", .agent = "nobody"}, {}, opened.place());
  const auto run = opened.get();
  REQUIRE_FALSE(run);
  CHECK(run.error().code == errc::not_found);
  awaited<run_opened> resumed;
  uses.runs.resume(run_id{"run_x"}, {}, {}, resumed.place());
  CHECK_FALSE(resumed.get());
}

TEST_CASE("a thousand starts at once need no thread each") {
  const auto owner = make_node();
  const auto uses = owner->serve(owner->shared_side_executor());
  std::mutex mutex;
  std::condition_variable came;
  std::size_t answers = 0;
  std::size_t started = 0;
  for (int i = 0; i < 1000; ++i)
    uses.runs.start({.task = "go"}, {},
                    reply<run_opened>{[&](expected<run_opened> x) {
                      const std::lock_guard lock{mutex};
                      ++answers;
                      if (x) ++started;
                      came.notify_all();
                    }});
  std::unique_lock lock{mutex};
  REQUIRE(came.wait_for(lock, scaled(60s), [&] { return answers == 1000; }));
  CHECK(started == 1000);
}

TEST_CASE("who asks when the runtime has ended is told so") {
  auto owner = make_node();
  const auto door = owner->door();
  owner.reset();
  awaited<run_opened> opened;
  door->start(std::make_shared<const run_spec>(), {}, {}, opened.place());
  const auto run = opened.get();
  REQUIRE_FALSE(run);
  CHECK(run.error().code == errc::cancelled);
  door->cancel(run_id{"run_1"}, {}, true);  // does nothing
  CHECK(door->close(1s));
}

TEST_CASE("a session is deleted with its files") {
  const temp_folder folder;
  const auto owner = make_node(folder.path());
  const auto uses = owner->serve({});
  const auto run = service::wait_for<run_opened>([&](auto to) {
    uses.runs.start({.task = "go", .session = session_id{"s"}}, {},
                    std::move(to));
  });
  REQUIRE(run);
  await_end(uses.sessions, run->run);
  CHECK_FALSE(uses.sessions.output(call_id{"call_1"}));
  const auto removed = uses.sessions.remove(session_id{"s"});
  REQUIRE(removed);
  CHECK(removed->runs == 1);
  const auto again = uses.sessions.remove(session_id{"s"});
  REQUIRE_FALSE(again);
  CHECK(again.error().code == errc::not_found);
}

TEST_CASE("a session that somebody works on keeps its files and the reserve") {
  const temp_folder folder;
  config::config x;
  x.runtime.data_dir = folder.path().string();
  std::filesystem::create_directories(folder.path() / "outputs");
  const auto first =
      storage::open_sqlite_journal(folder.path(), storage::durability::process);
  REQUIRE(first);
  storage::run_record run;
  run.id = {"run_1"};
  run.session = {"s"};
  REQUIRE((*first)->open_run(run, {}));
  storage::call_record call;
  call.run = run.id;
  call.call.id = {"call_1"};
  std::promise<std::optional<error>> stored;
  (*first)->append({run.id, {}, {call}},
                   [&](auto why) { stored.set_value(std::move(why)); });
  REQUIRE_FALSE(stored.get_future().get());
  const auto kept = folder.path() / "outputs" / "call_1";
  std::ofstream{kept} << "all of it";
  REQUIRE(std::filesystem::exists(folder.path() / "reserve"));
  const auto other = service::open_journal(x, service::journal_use::changes);
  REQUIRE(other);
  const service::sessions all{*other, folder.path() / "outputs"};
  const auto removed = all.remove(session_id{"s"});
  REQUIRE_FALSE(removed);
  CHECK(removed.error().code == errc::session_busy);
  CHECK(std::filesystem::exists(kept));
  CHECK(std::filesystem::exists(folder.path() / "reserve"));
}

TEST_CASE("a session whose rows are damaged is deleted by its own name") {
  const temp_folder folder;
  config::config x;
  x.runtime.data_dir = folder.path().string();
  {
    const auto first = storage::open_sqlite_journal(
        folder.path(), storage::durability::process);
    REQUIRE(first);
    for (const std::string name : {"one", "two"}) {
      storage::run_record run;
      run.id = {"run_" + name};
      run.session = {name};
      REQUIRE((*first)->open_run(run, {}));
      storage::message_record said;
      said.session = run.session;
      said.run = run.id;
      std::promise<std::optional<error>> stored;
      (*first)->append({run.id, {}, {said}},
                       [&](auto why) { stored.set_value(std::move(why)); });
      REQUIRE_FALSE(stored.get_future().get());
    }
  }
  const bool in_list = GENERATE(true, false);
  storage::sqlite::database{folder.path() / "riffle.db", 1s}.execute(
      in_list ? "UPDATE runs SET session = 'twX' WHERE n = 2"
              : "DELETE FROM runs WHERE n = 2");
  const auto journal = service::open_journal(x, service::journal_use::changes);
  REQUIRE(journal);
  const service::sessions all{*journal, {}};
  const auto list = all.list(9);
  REQUIRE(list);
  CHECK(list->size() == (in_list ? 2 : 1));
  CHECK(list->front().id == session_id{in_list ? "two" : "one"});
  REQUIRE(all.find("two"));
  CHECK(*all.find("two") == session_id{"two"});
  const auto removed = all.remove(session_id{"two"});
  REQUIRE(removed);
  CHECK(removed->runs == 1);
  CHECK_FALSE(all.find("two"));
  CHECK_FALSE(all.remove(session_id{"two"}));
  CHECK(all.list(9)->size() == 1);
}

TEST_CASE("where nothing is stored yet, there is nothing, and none is made") {
  const temp_folder folder;
  config::config x;
  x.runtime.data_dir = (folder.path() / "none").string();
  const auto journal = service::open_journal(x, service::journal_use::reads);
  REQUIRE(journal);
  CHECK_FALSE(*journal);
  const service::sessions all{*journal, folder.path() / "none" / "outputs"};
  CHECK(all.list(9)->empty());
  CHECK(all.unfinished(9)->empty());
  CHECK(all.show(session_id{"s"}).error().code == errc::not_found);
  CHECK(all.find_run(run_id{"r"}).error().code == errc::not_found);
  CHECK(all.output(call_id{"c"}).error().code == errc::not_found);
  CHECK(all.remove(session_id{"s"}).error().code == errc::not_found);
  CHECK(all.read_events(run_id{"r"}, 0, 100).error().code == errc::not_found);
  const service::proposals asked{*journal};
  CHECK(asked.list({})->empty());
  CHECK(asked.grants({})->empty());
  CHECK_FALSE(*asked.revoke(proposal_id{"p"}));
  CHECK(asked.show(proposal_id{"p"}).error().code == errc::not_found);
  CHECK_FALSE(std::filesystem::exists(folder.path() / "none"));
}

TEST_CASE("a tool called by hand tells its begin, its end and its limit") {
  config::config x;
  x.runtime.log.level = "off";
  const temp_folder folder;
  std::ofstream{folder.path() / "a.txt"} << "hello\n";
  x.tools.defaults.workspace = folder.path().string();
  const auto registry = make_registry(x, {});
  REQUIRE(registry);
  std::vector<events::body> told;
  const auto keep = [&](events::body e) { told.push_back(std::move(e)); };
  const auto good = service::call_tool(
      **registry, x,
      {.tool = "read", .arguments = R"({"path":"a.txt"})", .on_event = keep});
  REQUIRE(good);
  CHECK(good->result.how == outcome::ok);
  CHECK(good->text.find("hello") != std::string::npos);
  REQUIRE_FALSE(told.empty());
  CHECK(std::get<events::tool_call>(told.front()).tool == "read");
  // A secret of this process is none of the terminal's, either.
  add_secret("canary-of-a-hand-1");
  std::ofstream{folder.path() / "b.txt"} << "it is canary-of-a-hand-1\n";
  const auto kept = service::call_tool(
      **registry, x, {.tool = "read", .arguments = R"({"path":"b.txt"})"});
  REQUIRE(kept);
  CHECK(kept->text.find("it is ***") != std::string::npos);
  CHECK(kept->result.output.find("canary") == std::string::npos);
  CHECK(service::call_tool(**registry, x, {.tool = "complete"}).error().code ==
        errc::invalid_request);
  CHECK(service::call_tool(**registry, x, {.tool = "read"}).error().code ==
        errc::invalid_arguments);
  CHECK_FALSE(service::call_tool(**registry, x, {.tool = "none"}));
}

TEST_CASE("a tool called by hand obeys both limits of its time") {
  using namespace std::chrono_literals;
  config::config x;
  x.runtime.log.level = "off";
  const temp_folder folder;
  x.tools.defaults.workspace = folder.path().string();
  auto& bash = x.tools.by_name["bash"];
  const auto said = [&](const std::string& command) {
    const auto registry = make_registry(x, {});
    REQUIRE(registry);
    const auto done = service::call_tool(
        **registry, x,
        {.tool = "bash",
         .arguments = nlohmann::json{{"command", command}}.dump()});
    REQUIRE(done);
    return done->result.how == outcome::timed_out
               ? done->result.err->message
               : std::string{to_string(done->result.how)};
  };
  bash.idle_timeout = 1s;
  CHECK(said("sleep 60") ==
        "the tool gave no sign of life within its limit of 1s "
        "(tools.bash.idle_timeout)");
  // Each line is a sign of life.
  CHECK(said("for i in 1 2 3 4 5 6; do echo $i; sleep 0.3; done") == "ok");
  bash.timeout = 500ms;
  CHECK(said("sleep 60") ==
        "over its time limit of 500ms (tools.bash.timeout)");
}

TEST_CASE("a session has a name that can be stored and shown") {
  const auto owner = make_node();
  const auto uses = owner->serve(owner->shared_side_executor());
  const std::vector<std::string> names{"\xff", "a\nb", std::string{"a\0b", 3},
                                       "\x1b", ""};
  for (const auto& name : names) {
    CAPTURE(name);
    awaited<run_opened> opened;
    uses.runs.start({.task = "go", .session = session_id{name}}, {},
                    opened.place());
    const auto run = opened.get();
    REQUIRE_FALSE(run);
    CHECK(run.error().code == errc::invalid_request);
    CHECK(run.error().message.find("UTF-8") != std::string::npos);
    plan_request plan;
    plan.plan = "steps = [{ id = \"a\", tool = \"read\" }]";
    plan.with.session = session_id{name};
    awaited<run_opened> begun;
    uses.runs.start_plan(std::move(plan), {}, begun.place());
    const auto planned = begun.get();
    REQUIRE_FALSE(planned);
    CHECK(planned.error().message.find("UTF-8") != std::string::npos);
  }
}

TEST_CASE("a tool that acts on its run alone is told of as that") {
  service::tool_view x;
  x.spec.parameters = "{}";
  x.approval = "ask";
  x.spec.eff = effect::mutating;
  x.spec.name = "manage_plan";
  CHECK(service::to_json(x)["effect"] == "control");
  CHECK(service::to_json(x)["approval"] == "allow");
  x.spec.name = "write";
  CHECK(service::to_json(x)["effect"] == "mutating");
  CHECK(service::to_json(x)["approval"] == "ask");
}
