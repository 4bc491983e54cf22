// SPDX-License-Identifier: MIT
// A volley as terminals of 60, 80, 110 and 200 columns show it, whole.
#include <functional>

#include "runtime/cli/view/volley_view.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace std::chrono_literals;
using riffle::testing::terminal_picture;

namespace {

const time_point start = time_point{} + 1h;

/// A view on a terminal that can be resized.
struct stage {
  explicit stage(std::size_t columns) : picture{columns}, size{columns, 24} {}

  void show(const screen_writes& all) {
    for (const auto& x : all) picture.feed(x.bytes);
  }
  void event_of(std::size_t task, events::body body) {
    event x;
    x.body = std::move(body);
    show(view.on(task, x, size));
  }
  void call(std::size_t task, const std::string& id, const std::string& title) {
    events::tool_call x;
    x.id = {id};
    x.tool = "bash";
    x.title = title;
    x.arguments = R"({"command":"make"})";
    event_of(task, x);
  }
  void result(std::size_t task, const std::string& id) {
    events::tool_result x;
    x.id = {id};
    x.tool = "bash";
    x.how = outcome::ok;
    x.duration_ms = 1500;
    x.output = "all is well\n";
    event_of(task, x);
  }
  void over(std::size_t task, task_status status, duration at,
            std::optional<error> why = {}) {
    task_result x;
    x.task = task;
    x.status = status;
    x.attempts = status == task_status::not_run ? 0 : 1;
    x.failure = std::move(why);
    show(view.over(x, start + at, size));
  }
  void resize(std::size_t columns) {
    picture.resize(columns);
    size.columns = columns;
  }

  static view_options at_terminal() {
    view_options x;
    x.status = true;
    return x;
  }

  terminal_picture picture;
  view_size size;
  volley_view view{at_terminal(),
                   {"Übersetze 日本語の文書 into English, all chapters of it",
                    "Count the lines of every source file below this folder "
                    "and say which one is the longest",
                    "a third one"}};
};

/// The same volley, drawn in the middle and at its end.
std::string play(stage& x, const std::function<void()>& in_the_middle) {
  x.show(x.view.begun(0, false, start, x.size));
  x.show(x.view.begun(1, false, start, x.size));
  x.call(0, "c1", "Running make");
  x.show(x.view.tick(start + 1s, x.size));
  in_the_middle();
  x.show(x.view.tick(start + 1200ms, x.size));
  x.result(0, "c1");
  x.over(0, task_status::completed, 2400ms);
  x.show(x.view.begun(2, false, start + 2500ms, x.size));
  x.show(x.view.tick(start + 2600ms, x.size));
  x.over(1, task_status::failed, 3s,
         error{errc::model_error, "model", "HTTP 400: no such model"});
  x.over(2, task_status::cancelled, 3100ms,
         error{errc::cancelled, "run", "stopped by the user"});
  x.show(x.view.hide_status());
  return x.picture.text();
}

}  // namespace

TEST_CASE("golden: a volley at 60 columns") {
  stage x{60};
  std::string middle;
  const auto all = play(x, [&] { middle = x.picture.text(); });
  CAPTURE(middle, all);
  CHECK(middle == R"([1/3] ▶ Übersetze 日本語の文書 into…  ⠋ Running make — 1.0s
[2/3] ▶ Count the lines of every source…  ⠋ starting — 1.0s
0/3 ended, 1 waits — 1.0s
)");
  CHECK(all == R"([1/3] ✓ Übersetze 日本語の文書 into English… (2.4s, 1 call)
[2/3] ✗ Count the lines of every source file below … (3.0s)
        HTTP 400: no such model (model_error)
[3/3] ✗ a third one (0.6s)
        stopped by the user
)");
}

TEST_CASE("golden: a volley at 80 columns") {
  stage x{80};
  std::string middle;
  const auto all = play(x, [&] { middle = x.picture.text(); });
  CAPTURE(middle, all);
  CHECK(
      middle ==
      R"([1/3] ▶ Übersetze 日本語の文書 into English, all chapte…  ⠋ Running make — 1.0s
[2/3] ▶ Count the lines of every source file below this fol…  ⠋ starting — 1.0s
0/3 ended, 1 waits — 1.0s
)");
  CHECK(
      all ==
      R"([1/3] ✓ Übersetze 日本語の文書 into English, all chapters of it (2.4s, 1 call)
[2/3] ✗ Count the lines of every source file below this folder and say … (3.0s)
        HTTP 400: no such model (model_error)
[3/3] ✗ a third one (0.6s)
        stopped by the user
)");
}

TEST_CASE("golden: a volley at 110 columns") {
  stage x{110};
  std::string middle;
  const auto all = play(x, [&] { middle = x.picture.text(); });
  CAPTURE(middle, all);
  CHECK(
      middle ==
      R"([1/3] ▶ Übersetze 日本語の文書 into English, all chapters of it  ⠋ Running make — 1.0s
[2/3] ▶ Count the lines of every source file below this folder and say which one is the l…  ⠋ starting — 1.0s
0/3 ended, 1 waits — 1.0s
)");
  CHECK(
      all ==
      R"([1/3] ✓ Übersetze 日本語の文書 into English, all chapters of it (2.4s, 1 call)
[2/3] ✗ Count the lines of every source file below this folder and say which one is the longest (3.0s)
        HTTP 400: no such model (model_error)
[3/3] ✗ a third one (0.6s)
        stopped by the user
)");
}

TEST_CASE("golden: a volley at 200 columns") {
  stage x{200};
  std::string middle;
  const auto all = play(x, [&] { middle = x.picture.text(); });
  CAPTURE(middle, all);
  CHECK(
      middle ==
      R"([1/3] ▶ Übersetze 日本語の文書 into English, all chapters of it  ⠋ Running make — 1.0s
[2/3] ▶ Count the lines of every source file below this folder and say which one is the longest  ⠋ starting — 1.0s
0/3 ended, 1 waits — 1.0s
)");
  CHECK(
      all ==
      R"([1/3] ✓ Übersetze 日本語の文書 into English, all chapters of it (2.4s, 1 call)
[2/3] ✗ Count the lines of every source file below this folder and say which one is the longest (3.0s)
        HTTP 400: no such model (model_error)
[3/3] ✗ a third one (0.6s)
        stopped by the user
)");
}

TEST_CASE("golden: the rows of a volley name its own tools") {
  const auto shown = [](std::size_t columns) {
    stage x{columns};
    x.show(x.view.begun(1, false, start, x.size));
    x.call(1, "c1", "Using lookup_ticket: TICKET-4711-of-the-customer");
    x.show(x.view.tick(start + 1s, x.size));
    const auto all = x.picture.text();
    return all.substr(0, all.find('\n'));
  };
  CHECK(shown(60) ==
        "[2/3] ▶ Count the l…  ⠋ lookup_ticket: TICKET-4711-… — 1.0s");
  CHECK(shown(80) ==
        "[2/3] ▶ Count the lines o…  ⠋ lookup_ticket: "
        "TICKET-4711-of-the-customer — 1.0s");
  CHECK(shown(110) ==
        "[2/3] ▶ Count the lines of every source file belo…  ⠋ Using "
        "lookup_ticket: TICKET-4711-of-the-customer — 1.0s");
}

TEST_CASE("golden: a terminal that is resized while a volley runs") {
  for (const auto& [from, to] :
       {std::pair{200u, 60u}, {80u, 60u}, {60u, 200u}}) {
    CAPTURE(from, to);
    stage resized{from};
    const auto got = play(resized, [&, to = to] { resized.resize(to); });
    CAPTURE(got);
    // No rest of the status that was drawn for the other width.
    CHECK(got.find("done") == std::string::npos);
    CHECK(got.find("✗ a third one") != std::string::npos);
    CHECK(got.find("stopped by the user") != std::string::npos);
  }
}
