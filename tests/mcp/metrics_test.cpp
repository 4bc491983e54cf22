// SPDX-License-Identifier: MIT
// What is measured of a server: its requests, and how long a connection lasts.
#include "runtime/base/metrics.hpp"

#include <map>

#include "tests/mcp/liar_world.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"

using namespace riffle;
using namespace riffle::mcp;
using riffle::testing::eventually;
using world = riffle::testing::liar_world;

namespace {

/// "NAME KEY=VALUE …" -> how often; from any thread.
class request_meter {
 public:
  request_meter() { read_metrics(kept_); }
  ~request_meter() { read_metrics(nullptr); }
  request_meter(const request_meter&) = delete;
  request_meter& operator=(const request_meter&) = delete;

  [[nodiscard]] int of(const std::string& line) const {
    const std::lock_guard lock{kept_->mutex};
    const auto at = kept_->all.find(line);
    return at == kept_->all.end() ? 0 : at->second;
  }

 private:
  struct reader final : metric_reader {
    void on(const metric_about& what, double value,
            std::initializer_list<metric_label> labels) noexcept override {
      std::string line{what.name};
      for (const auto& x : labels)
        if (!x.value.empty())
          line.append(" ").append(x.key).append("=").append(x.value);
      const std::lock_guard lock{mutex};
      if (value >= 0) ++all[line];
    }
    mutable std::mutex mutex;
    std::map<std::string, int> all;
  };
  std::shared_ptr<reader> kept_ = std::make_shared<reader>();
};

std::string request_line(const std::string& method, const std::string& tool,
                         const std::string& error = {}) {
  return "mcp.client.operation.duration mcp.method.name=" + method +
         " riffle.mcp.server=liar" +
         (tool.empty() ? "" : " gen_ai.tool.name=" + tool) +
         " mcp.protocol.version=2026-07-28 network.transport=pipe" +
         (error.empty() ? "" : " error.type=" + error);
}

std::string session_line(const std::string& error = {}) {
  return "mcp.client.session.duration riffle.mcp.server=liar "
         "mcp.protocol.version=2026-07-28 network.transport=pipe" +
         (error.empty() ? "" : " error.type=" + error);
}

}  // namespace

TEST_CASE("requests to a server are measured by method, tool and error") {
  const request_meter m;
  {
    world w{{"modern"}};
    REQUIRE_FALSE(w.call("echo", {{"text", "x"}}).err);
    CHECK(m.of(request_line("tools/list", "")) > 0);
    CHECK(m.of(request_line("tools/call", "echo")) == 1);
    CHECK(w.call("is_error").err);
    CHECK(m.of(request_line("tools/call", "is_error", "tool_error")) == 1);
    CHECK(w.call("refuses").err);
    CHECK(m.of(request_line("tools/call", "refuses", "-32603")) == 1);
    CHECK(m.of(session_line()) == 0);
  }
  CHECK(m.of(session_line()) == 1);
}

TEST_CASE("a connection that is lost is measured as one that was lost") {
  const request_meter m;
  world w{{"modern"}};
  CHECK(w.call("die").lost);
  CHECK(m.of(request_line("tools/call", "die", "connection_lost")) == 1);
  CHECK(eventually([&] { return m.of(session_line("connection_lost")) == 1; }));
  CHECK(w.call("echo", {{"text", "back"}}).text == "back");
}
