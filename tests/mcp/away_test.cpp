// SPDX-License-Identifier: MIT
// Servers that are not there: when they are tried again, what only a person can
// change, and who waits for them.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/log_lines.hpp"
#include "tools/mcp/server.hpp"
#include "tools/mcp/servers.hpp"

using namespace riffle;
using namespace riffle::mcp;
using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::steady_clock;
using testing::eventually;

namespace {

/// How a server is just now, and how often it was begun with.
struct mood {
  enum class kind : std::uint8_t { away, nobody, refuses, silent, there };
  std::atomic<kind> now = kind::away;
  std::atomic<int> begun{0};
};

class moody_link final : public mcp::link {
 public:
  explicit moody_link(std::shared_ptr<mood> of) : of_{std::move(of)} {
    ++of_->begun;
  }
  reply ask(const request& x) override {
    switch (of_->now.load()) {
      case mood::kind::away: return lost{"nobody is there"};
      case mood::kind::nobody: return lost{"nothing listens", false, true};
      case mood::kind::refuses:
        return rpc_error{code::not_let_in, "it wants a token", {}};
      case mood::kind::silent:
        while (!x.stop.stop_requested() && steady_clock::now() < x.until)
          std::this_thread::sleep_for(milliseconds{1});
        return given_up{!x.stop.stop_requested()};
      case mood::kind::there: break;
    }
    return json{{"supportedVersions", {"2026-07-28"}},
                {"capabilities", json::object()}};
  }
  void notify(std::string_view, const json&) override {}
  void set_version(std::string_view) override {}
  void close() override {}

 private:
  const std::shared_ptr<mood> of_;
};

server_options moody(const std::string& name, const std::shared_ptr<mood>& of) {
  server_options x;
  x.name = name;
  x.me = {"riffle", "1", {}, false};
  x.known_era = era::modern;
  x.supervision.backoff = {milliseconds{1}, milliseconds{5}};
  x.supervision.cool_down = hours{1};
  x.supervision.intensity = 3;
  x.connect = [of](const link_events&) {
    return std::make_shared<moody_link>(of);
  };
  return x;
}

bool waited(server& x) {
  return x.wait_ready(steady_clock::now() + minutes{1});
}

}  // namespace

TEST_CASE("who uses a server that is out of service has it tried again") {
  const auto of = std::make_shared<mood>();
  server x{moody("gone", of)};
  CHECK_FALSE(waited(x));
  CHECK(x.status().state == server_state::out_of_service);
  CHECK(of->begun == 4);  // 3 restarts
  of->now = mood::kind::there;
  CHECK(eventually([&] { return waited(x); }));
  CHECK(x.status().state == server_state::ready);
}

TEST_CASE("what only a person can change is not tried again by itself") {
  const auto of = std::make_shared<mood>();
  of->now = mood::kind::refuses;
  server x{moody("login", of)};
  CHECK_FALSE(waited(x));
  const auto now = x.status();
  CHECK(now.state == server_state::out_of_service);
  CHECK(now.last_error.find("it wants a token") != std::string::npos);
  CHECK(of->begun == 1);
  CHECK(now.restarts == 1);
  // Somebody has logged in: who uses it next finds it ready.
  of->now = mood::kind::there;
  CHECK(eventually([&] { return waited(x); }));
}

TEST_CASE("where nothing has ever listened, a second look is the last") {
  const auto of = std::make_shared<mood>();
  of->now = mood::kind::nobody;
  auto how = moody("nobody", of);
  how.supervision.intensity = 50;
  server x{std::move(how)};
  CHECK_FALSE(waited(x));
  CHECK(x.status().state == server_state::out_of_service);
  CHECK(of->begun == 2);
  // Who uses it next finds it, if it is there by then.
  of->now = mood::kind::there;
  CHECK(eventually([&] { return waited(x); }));
}

TEST_CASE("all that are late are told of, and waited for until a stop") {
  const testing::log_lines lines{"warn"};
  servers_options how;
  for (const auto* name : {"one", "two"}) {
    const auto of = std::make_shared<mood>();
    of->now = mood::kind::silent;
    server_setup setup;
    setup.how = moody(name, of);
    setup.how.startup_timeout = minutes{10};
    how.all.push_back(std::move(setup));
  }
  servers all{std::move(how)};
  std::stop_source stop;
  std::vector<mcp::missing_server> problems;
  std::jthread waits{
      [&] { problems = all.ready({"one", "two"}, stop.get_token()); }};
  for (const auto* name : {"one", "two"}) {
    CAPTURE(name);
    CHECK(eventually([&] {
      return !lines
                  .with(std::string{"mcp."} + name +
                        ": it is not there yet, and is waited for: 10m")
                  .empty();
    }));
  }
  stop.request_stop();
  waits.join();
  CHECK(problems.size() == 2);
  // A limit that is shorter is the one that is told.
  const auto late = all.ready({"one"}, {}, milliseconds{800});
  REQUIRE(late.size() == 1);
  CHECK(late[0].message == "the server one is starting");
  CHECK(lines.with("at most (--timeout)").size() == 1);
}
