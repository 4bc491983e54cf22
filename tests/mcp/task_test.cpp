// SPDX-License-Identifier: MIT
// Servers that answer a call with a task: looked at until it ends, cancelled
// with its call.
#include <algorithm>
#include <mutex>
#include <stop_token>

#include "tests/support/catch.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/server.hpp"

using namespace riffle;
using namespace riffle::mcp;

namespace {

/// What the tool's call and looks at its task are answered with.
struct task_script {
  json begun = {
      {"task", {{"taskId", "t"}, {"status", "working"}, {"pollInterval", 50}}}};
  std::vector<json> looks{};  ///< the last one again and again
  std::function<void()> on_look{};
  std::mutex mutex{};
  std::vector<std::string> asked{};

  [[nodiscard]] bool was_asked(const std::string& method) {
    const std::lock_guard lock{mutex};
    return std::ranges::find(asked, method) != asked.end();
  }
};

class task_link final : public mcp::link {
 public:
  explicit task_link(std::shared_ptr<task_script> of) : of_{std::move(of)} {}
  reply ask(const request& x) override {
    std::size_t looks = 0;
    {
      const std::lock_guard lock{of_->mutex};
      of_->asked.push_back(x.method);
      looks = static_cast<std::size_t>(
          std::ranges::count(of_->asked, std::string{"tasks/get"}));
    }
    if (x.method == "initialize")
      return json{{"protocolVersion", "2025-11-25"},
                  {"capabilities", {{"tools", json::object()}}}};
    if (x.method == "tools/list")
      return json{
          {"tools",
           {{{"name", "t"}, {"execution", {{"taskSupport", "required"}}}}}}};
    if (x.method == "tools/call") return of_->begun;
    if (x.method == "tasks/result")
      return json{{"content", {{{"type", "text"}, {"text", "of a task"}}}}};
    if (x.method == "tasks/get") {
      if (of_->on_look) of_->on_look();
      return of_->looks.at(std::min(looks, of_->looks.size()) - 1);
    }
    return json::object();
  }
  void notify(std::string_view, const json&) override {}
  void set_version(std::string_view) override {}
  void close() override {}

 private:
  const std::shared_ptr<task_script> of_;
};

tools::tool_output called(const std::shared_ptr<task_script>& script,
                          const std::stop_token& stop = {}) {
  server_options how;
  how.name = "s";
  how.known_era = era::legacy;
  how.connect = [script](const link_events&) {
    return std::make_shared<task_link>(script);
  };
  server at{std::move(how)};
  tools::tool_context context;
  context.call = call_id{"call_1"};
  context.stop = stop;
  return call_tool(at, "t", {}, json::object(), context);
}

json look(const char* status) { return {{"taskId", "t"}, {"status", status}}; }

}  // namespace

TEST_CASE("a task is looked at until it ends, and its result is the call's") {
  const auto script = std::make_shared<task_script>();
  script->looks = {look("working"), look("completed")};
  CHECK(called(script).text == "of a task");
  CHECK_FALSE(script->was_asked("tasks/cancel"));
}

TEST_CASE("with a call that is stopped its task is cancelled") {
  const auto script = std::make_shared<task_script>();
  script->looks = {look("working")};
  std::stop_source stop;
  script->on_look = [&] { stop.request_stop(); };
  const auto out = called(script, stop.get_token());
  REQUIRE(out.err);
  CHECK(out.err->code == errc::cancelled);
  CHECK(script->was_asked("tasks/cancel"));
  CHECK_FALSE(script->was_asked("tasks/result"));
}

TEST_CASE("a task that its server gives up, or that has no id, is a failure") {
  const auto given_up = std::make_shared<task_script>();
  given_up->looks = {look("cancelled")};
  const auto out = called(given_up);
  REQUIRE(out.err);
  CHECK(out.err->message.find("cancelled its task") != std::string::npos);
  const auto nameless = std::make_shared<task_script>();
  nameless->begun = {{"task", {{"status", "working"}}}};
  REQUIRE(called(nameless).err);
}
