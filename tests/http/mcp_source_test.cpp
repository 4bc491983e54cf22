// SPDX-License-Identifier: MIT
// What a client of `tools/call` is told of a run, and where it is read.
#include "runtime/http/mcp_source.hpp"

#include <deque>

#include "tests/support/catch.hpp"
#include "tools/mcp/run_task.hpp"

using namespace riffle;
using namespace riffle::http;

namespace {

/// Lines of a run, a piece each time it is asked.
class some_lines final : public body_source {
 public:
  explicit some_lines(std::deque<std::string> all) : all_{std::move(all)} {}
  void begin(std::function<void()>) override {}
  std::shared_ptr<const std::string> next() override {
    if (all_.empty()) return nullptr;
    auto out = std::make_shared<const std::string>(std::move(all_.front()));
    all_.pop_front();
    return out;
  }
  [[nodiscard]] bool ended() const override { return all_.empty(); }

 private:
  std::deque<std::string> all_;
};

std::string progress(const std::string& text) {
  return R"({"event_type":"tool_progress","data":{"tool":"bash","message":")" +
         text + "\"}}\n";
}

std::string many_lines(int first, int n) {
  std::string out;
  for (int i = first; i < first + n; ++i)
    out += progress("line " + std::to_string(i));
  return out;
}

const std::string last_lines =
    R"({"event_type":"run_finished","data":"nothing that can be read"})"
    "\n";

mcp_call begun_call() {
  mcp::serving_options how;
  how.has_begun = true;
  how.spoken = "2025-11-25";
  how.tools.push_back(mcp::run_task_tool());
  mcp_call out{mcp::serving_core{how}};
  mcp::serving_effects said;
  out.core.on_text(R"({"jsonrpc":"2.0","id":5,"method":"tools/call","params":{)"
                   R"("name":"run_task","arguments":{"task":"t"},)"
                   R"("_meta":{"progressToken":"p"}}})",
                   said);
  for (const auto& x : said)
    if (const auto* begin = std::get_if<mcp::begin_call>(&x))
      out.key = begin->key;
  REQUIRE(out.key != 0);
  return out;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++out;
  return out;
}

std::string text_of(const std::shared_ptr<const std::string>& x) {
  return x ? *x : std::string{};
}

}  // namespace

TEST_CASE("long news of a call are read aside, and come in their order") {
  auto call = begun_call();
  std::deque<std::pair<std::function<void()>, std::function<void()>>> jobs;
  call.aside = [&](std::function<void()> work, std::function<void()> then) {
    jobs.emplace_back(std::move(work), std::move(then));
  };
  const auto lines = std::make_shared<some_lines>(std::deque{
      progress("first"), many_lines(0, 400), many_lines(400, 400), last_lines});
  const auto source = std::make_shared<mcp_source>(lines, std::move(call));
  int woken = 0;
  source->begin([&] { ++woken; });
  CHECK(count(text_of(source->next()), "bash: first") == 1);
  for (int part = 0; part < 2; ++part) {
    CHECK(source->next() == nullptr);
    REQUIRE(jobs.size() == 1);
    CHECK(source->next() == nullptr);  // nor is anything else begun
    REQUIRE(jobs.size() == 1);
    CHECK_FALSE(source->ended());
    const auto [work, then] = std::move(jobs.front());
    jobs.pop_front();
    work();
    CHECK(source->next() == nullptr);
    then();
    CHECK(woken == part + 1);
    const auto said = text_of(source->next());
    CHECK(count(said, "bash: line ") == 400);
    const auto begin = "bash: line " + std::to_string(part * 400) + "\"";
    CHECK(count(said, begin) == 1);
  }
  // So is the end, for what stands before it may be long.
  CHECK(source->next() == nullptr);
  REQUIRE(jobs.size() == 1);
  jobs.front().first();
  CHECK_FALSE(source->ended());
  jobs.front().second();
  const auto end = text_of(source->next());
  CHECK(count(end, "\"id\":5") == 1);
  CHECK(source->ended());
}

TEST_CASE("the result of a task says how many of its calls were denied") {
  const std::string denied =
      R"({"event_type":"tool_result","data":{"tool":"x","outcome":"denied"}})"
      "\n";
  const std::string ok =
      R"({"event_type":"tool_result","data":{"tool":"\"denied\"",)"
      R"("outcome":"ok"}})"
      "\n";
  const std::string end =
      R"({"seq":9,"run_id":"run_1","event_type":"run_finished","data":{)"
      R"("status":"completed","duration_ms":1,"steps":1,"tool_calls":3,)"
      R"("usage":{"input_tokens":1,"output_tokens":1}},)"
      R"("timestamp":"2026-01-31T09:30:00.123456Z"})"
      "\n";
  for (const bool streams : {false, true}) {
    CAPTURE(streams);
    auto call = begun_call();
    call.streams = streams;
    const auto lines = std::make_shared<some_lines>(
        std::deque{denied + ok, denied, ok, denied + end});
    const auto source = std::make_shared<mcp_source>(lines, std::move(call));
    source->begin([] {});
    std::string said;
    while (!source->ended()) said += text_of(source->next());
    INFO(said);
    CHECK(count(said, "\"denied\":3") == 1);
  }
}

TEST_CASE("who gets one answer at the end is told no news of a call") {
  auto call = begun_call();
  call.streams = false;
  int aside = 0;
  call.aside = [&](const std::function<void()>& work,
                   const std::function<void()>& then) {
    ++aside;  // the end alone
    work();
    then();
  };
  const auto lines =
      std::make_shared<some_lines>(std::deque{many_lines(0, 400), last_lines});
  const auto source = std::make_shared<mcp_source>(lines, std::move(call));
  source->begin([] {});
  const auto first = text_of(source->next());
  const auto said = first.empty() ? text_of(source->next()) : first;
  CHECK(aside == 1);
  CHECK(count(said, "bash: line") == 0);
  CHECK(count(said, "\"id\":5") == 1);
  CHECK(source->ended());
}
