// SPDX-License-Identifier: MIT
// Approvals of an application whose tools keep every thread busy, or break in
// what they say about their calls.
#include <atomic>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::scaled;

namespace {

/// Throws in one of its functions, if told so, and says what it acts on.
class moody_tool final : public tools::tool {
 public:
  moody_tool() {
    spec_.name = "change";
    spec_.description = "changes something";
    spec_.parameters = R"({"type":"object"})";
  }
  const tools::tool_spec& spec() const noexcept override { return spec_; }
  std::string title(const json&) const override {
    fail("title");
    return "Changing";
  }
  std::vector<std::string> keys(const json&,
                                const std::filesystem::path&) const override {
    fail("keys");
    return {"here"};
  }
  rule_subject subject(const json& arguments,
                       const std::filesystem::path& at) const override {
    fail("subject");
    return tool::subject(arguments, at);
  }
  tools::call_preview preview(const json&,
                              const std::filesystem::path&) const override {
    fail("preview");
    const auto now = "content " + std::to_string(content.load());
    return {now, now};
  }
  std::string definition() const override {
    fail("definition");
    return "change 1";
  }
  tools::tool_output run(const json&, tools::tool_context&) override {
    ++acted;
    return {"changed", {}, {}};
  }

  std::string fails_in;
  bool oddly = false;  ///< with what is no std::exception
  std::atomic<int> content = 1;
  std::atomic<int> acted = 0;

 private:
  void fail(const std::string& function) const {
    if (function != fails_in) return;
    if (oddly) throw 7;  // NOLINT: that is what is tested
    throw std::runtime_error{"bad mood"};
  }
  tools::tool_spec spec_;
};

struct application {
  std::shared_ptr<moody_tool> change = std::make_shared<moody_tool>();
  std::atomic<bool> free = false;
  std::optional<runtime> rt;

  void begin(const std::string& script) {
    config::config config;
    config.runtime.log.level = "off";
    config.runtime.max_calls = 1;
    config.models["default"].dialect = "scripted";
    config.agents["default"].tools = {"change", "hold"};
    config.tools.by_name["change"] = config.tools.defaults;
    config.tools.by_name["change"].approval = "ask";
    runtime_options options;
    tools::tool_spec holds;
    holds.name = "hold";
    holds.description = "takes its time";
    holds.parameters = R"({"type":"object"})";
    holds.eff = effect::read_only;
    options.tools = {change, make_tool(holds, [this](const json&) {
                       while (!free) std::this_thread::sleep_for(2ms);
                       return "held";
                     })};
    options.journal = storage::make_memory_journal();
    options.scripts["default"] = script;
    auto made = runtime::create(std::move(config), std::move(options));
    REQUIRE(made);
    rt.emplace(std::move(*made));
  }
  run start() {
    auto started = rt->start({.task = "go", .approval = approve::ask});
    REQUIRE(started);
    return std::move(*started);
  }
  /// The one open proposal, once it is another than `old`.
  proposal await_one(const proposal_id& old = {}) {
    const auto until = std::chrono::steady_clock::now() + scaled(10s);
    for (;;) {
      auto open = rt->proposals({.undecided = true});
      REQUIRE(open);
      if (!open->empty() && open->front().what.id != old) return open->front();
      if (std::chrono::steady_clock::now() > until) free = true;
      REQUIRE_FALSE(free);
      std::this_thread::sleep_for(2ms);
    }
  }
};

}  // namespace

TEST_CASE("an approval is bound to what was shown, with every thread busy") {
  application x;
  x.begin(R"(
[[steps]]
calls = [{ tool = "hold" }, { tool = "change" }]
[[steps]]
text = "Done."
)");
  const auto going = x.start();
  const auto first = x.await_one();
  CHECK(first.what.preview == "content 1");
  CHECK_FALSE(first.what.definition.empty());
  x.change->content = 2;
  decision yes;
  yes.approved = true;
  yes.by = "ann";
  REQUIRE(x.rt->decide(first.what.id, yes));
  const auto second = x.await_one(first.what.id);
  CHECK(second.what.replaces == first.what.id);
  CHECK(second.what.preview == "content 2");
  REQUIRE(x.rt->decide(second.what.id, {.approved = false}));
  x.free = true;
  REQUIRE(going.wait(scaled(20s)));
  CHECK(x.change->acted == 0);
}

TEST_CASE("a tool that throws about a call costs that call alone") {
  application x;
  x.free = true;
  x.change->fails_in =
      GENERATE("title", "keys", "subject", "preview", "definition");
  x.change->oddly = GENERATE(false, true);
  CAPTURE(x.change->fails_in, x.change->oddly);
  x.begin(R"(
[[steps]]
calls = [{ tool = "change" }, { tool = "hold" }]
[[steps]]
text = "{{result.0}} / {{result.1}}"
)");
  const auto end = x.start().wait(scaled(20s));
  REQUIRE(end);
  CHECK(end->status == events::run_status::completed);
  CHECK(x.change->acted == 0);
  CHECK(end->answer.find("`change` failed in its function `" +
                         x.change->fails_in + "`") != std::string::npos);
  CHECK(end->answer.find("/ held") != std::string::npos);
  CHECK(x.rt->proposals()->empty());
}
