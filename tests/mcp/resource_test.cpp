// SPDX-License-Identifier: MIT
// What a read of a resource tells its server.
#include "runtime/base/trace.hpp"
#include "tests/support/catch.hpp"
#include "tools/mcp/mcp_tool.hpp"
#include "tools/mcp/server.hpp"

using namespace riffle;
using namespace riffle::mcp;

namespace {

/// The text of each resource is the trace of who reads it.
class traced_link final : public mcp::link {
 public:
  reply ask(const request& x) override {
    if (x.method == "resources/read") {
      const auto trace =
          x.params.value(json::json_pointer{"/_meta/traceparent"}, "none");
      return json{{"contents", {{{"uri", "x:1"}, {"text", trace}}}}};
    }
    return json{{"supportedVersions", {"2026-07-28"}},
                {"capabilities", json::object()}};
  }
  void notify(std::string_view, const json&) override {}
  void set_version(std::string_view) override {}
  void close() override {}
};

}  // namespace

TEST_CASE("a read of a resource has the trace of its run, as a call has") {
  server_options x;
  x.name = "traced";
  x.me = {"riffle", "1", {}, false};
  x.known_era = era::modern;
  x.connect = [](const link_events&) {
    return std::make_shared<traced_link>();
  };
  const auto tool =
      make_resource_tool(std::make_shared<server>(std::move(x)), {}, false);
  tools::tool_context context;
  context.call = call_id{"call_1"};
  const json one = {{"uri", "x:1"}};
  const auto of_call = trace_of(run_id{"call_1"});
  CHECK(tool->run(one, context).text.find(of_call) != std::string::npos);
  const run_id run{"run_1"};
  const trace_scope works{run};
  CHECK(tool->run(one, context).text.find(trace_of(run)) != std::string::npos);
}
