// SPDX-License-Identifier: MIT
// A question that ends without the person before it: what shows the call stays,
// whether its log or a look at the record tells of the end first.
#include <array>
#include <chrono>
#include <optional>
#include <poll.h>
#include <pty.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "runtime/cli/commands/asking.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "tests/cli/terminal_picture.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/terminals.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace riffle::cli;
using namespace riffle::testing;

namespace {

constexpr unsigned short columns = 100;
constexpr auto script = R"toml(
[[steps]]
[[steps.calls]]
tool = "write"
arguments = { path = "notes.md", content = "two\n" }
[[steps]]
text = "End."
)toml";

/// A terminal in this process, whose keyboard nobody touches.
struct own_terminal {
  own_terminal() {
    const winsize size{24, columns, 0, 0};
    int ours = -1;
    int theirs = -1;
    REQUIRE(::openpty(&ours, &theirs, nullptr, nullptr, &size) == 0);
    screen = unique_fd{ours};
    program = unique_fd{theirs};
  }
  std::string read() {
    std::array<char, 4096> piece{};
    pollfd x{screen.get(), POLLIN, 0};
    while (::poll(&x, 1, 0) > 0) {
      const auto n = ::read(screen.get(), piece.data(), piece.size());
      if (n <= 0) break;
      written.append(piece.data(), static_cast<std::size_t>(n));
    }
    terminal_picture out{columns};
    out.feed(written);
    return out.text();
  }
  unique_fd screen;
  unique_fd program;
  std::string written;
};

/// A run that asks, watched there; its events are shown when the test says so.
class asked_run {
 public:
  explicit asked_run(duration expire_after) {
    folder_.write("notes.md", "one\n");
    config::config config;
    config.runtime.log.level = "off";
    config.models["default"].dialect = "scripted";
    config.agents["default"].tools = {"write"};
    config.approvals.expire_after = expire_after;
    runtime_options options;
    options.journal = storage::make_memory_journal();
    options.scripts["default"] = script;
    auto made = runtime::create(std::move(config), std::move(options));
    REQUIRE(made);
    rt_.emplace(std::move(*made));
    auto started = rt_->start({.task = "go",
                               .session = session_id{"s1"},
                               .approval = approve::ask,
                               .workspace = folder_.path()},
                              {});
    REQUIRE(started);
    run_.emplace(std::move(*started));
    show_.asks = true;
    common_.color = false;
    output_.emplace(common_, show_, io_.out, io_.err);
    keyboard_ = unique_fd{::dup(at_.program.get())};
    work_.emplace(*output_, keyboard_,
                  asked_work{.rt = *rt_, .stop = [](const auto&) {}}, common_,
                  show_, signals_, io_);
    output_->listen([this](const event& e) { work_->on(e); },
                    [this](const event& e) { work_->before(e); });
    stream_.emplace(run_->events());
  }

  /// Until the picture has, or has no more, `text`.
  bool look_until(const std::string& text, bool has, bool takes) {
    return eventually(
        [&] {
          work_->look_once([&](auto limit) { return takes && take(limit); });
          return (picture().find(text) != std::string::npos) == has;
        },
        scaled(std::chrono::seconds{20}));
  }
  /// Reads on, and shows nothing yet, until the log tells of the end.
  bool await_end() {
    return eventually([&] {
      auto next = stream_->next(std::chrono::milliseconds{10});
      if (!next) return false;
      held_.emplace_back(next->lines());
      return held_.back().find("approval_resolved") != std::string::npos;
    });
  }
  proposal_id asked() {
    const auto all = rt_->proposals({.undecided = true});
    REQUIRE(all);
    REQUIRE(all->size() == 1);
    return all->front().what.id;
  }
  bool is_decided(const proposal_id& id) {
    const auto all = rt_->proposals({.id = id});
    return all && !all->empty() && all->front().decided;
  }
  runtime& rt() { return *rt_; }
  run& of() { return *run_; }
  std::string picture() { return at_.read(); }
  /// A line of something else, in front of what comes next.
  void say_first(std::string line) { first_ = std::move(line); }

 private:
  bool take(duration limit) {
    if (!first_.empty()) output_->interject(std::exchange(first_, {}));
    auto now = std::exchange(held_, {});
    if (now.empty())
      if (auto next = stream_->next(limit)) now.emplace_back(next->lines());
    for (const auto& lines : now)
      output_->on_lines(lines, std::chrono::steady_clock::now());
    return !now.empty();
  }

  scoped_env term_{"TERM", "xterm"};
  scoped_env locale_{"LC_ALL", std::nullopt};
  scoped_env language_{"LANG", std::nullopt};
  temp_folder folder_;
  own_terminal at_;
  common_options common_;
  show_options show_;
  interrupts signals_;
  console io_{fd_writer{at_.program.get()}, fd_writer{at_.program.get()}};
  std::optional<runtime> rt_;
  std::optional<run> run_;
  std::optional<run_output> output_;
  std::optional<unique_fd> keyboard_;
  std::optional<watched_work> work_;
  std::optional<event_stream> stream_;
  std::vector<std::string> held_;
  std::string first_;
};

enum class order : std::uint8_t { record_first, log_first, behind_a_line };

constexpr auto prompt = "[?] >";
constexpr auto question =
    "[APPROVAL] write: Writing notes.md\n│ @@ -1 +1 @@\n│ -one\n│ +two\n";

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

/// What stands there when the question has gone.
std::string left(order how, duration expire_after,
                 const std::function<void(asked_run&)>& end) {
  asked_run x{expire_after};
  REQUIRE(x.look_until(prompt, true, true));
  CHECK(count(x.picture(), question) == 1);
  const auto id = x.asked();
  end(x);
  REQUIRE(eventually([&] { return x.is_decided(id); }));
  if (how == order::record_first) REQUIRE(x.look_until(prompt, false, false));
  REQUIRE(x.await_end());
  if (how == order::behind_a_line) x.say_first("Something else.\n");
  REQUIRE(x.look_until(prompt, false, true));
  return x.picture();
}

std::string behind(const std::string& picture, const std::string& part) {
  const auto at = picture.find(part);
  return at == std::string::npos ? picture : picture.substr(at + part.size());
}

}  // namespace

TEST_CASE("a question that ends elsewhere leaves what shows its call") {
  if (!has_terminals()) return skip(no_terminals);
  const auto decides = [](bool approved) {
    return [approved](asked_run& x) {
      decision what;
      what.approved = approved;
      if (!approved) what.reason = "not here";
      const auto done = x.rt().decide(x.asked(), what);
      REQUIRE(done);
      CHECK(done->verdict == decision_verdict::accepted);
    };
  };
  duration limit = std::chrono::hours{24};
  std::function<void(asked_run&)> end;
  std::string says;
  SECTION("denied") {
    end = decides(false);
    says = "[TOOL] write: notes.md ✗ denied elsewhere: not here\n";
  }
  SECTION("approved") {
    end = decides(true);
    says = "[APPROVAL] write: approved elsewhere\n";
  }
  SECTION("its time is over") {
    limit = scaled(std::chrono::seconds{1});
    end = [](asked_run&) {};
    says = "[TOOL] write: notes.md ✗ denied: nobody decided in time\n";
  }
  SECTION("and with its run") {
    end = [](asked_run& x) { x.of().cancel("enough"); };
  }
  for (const auto how :
       {order::record_first, order::log_first, order::behind_a_line}) {
    CAPTURE(how);
    // In that time a look at the record comes first.
    if (how == order::behind_a_line && limit < std::chrono::hours{1}) continue;
    const auto picture = left(how, limit, end);
    CAPTURE(picture);
    CHECK(count(picture, question) == 1);
    CHECK(count(picture, "[APPROVAL] write: Writing") == 1);
    CHECK(behind(picture, question).starts_with(says));
    if (how == order::behind_a_line)
      CHECK(picture.find("Something else.\n") < picture.find(question));
  }
}
