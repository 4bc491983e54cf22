// SPDX-License-Identifier: MIT
// What programs of others make of a volley: terminals (tmux, script) of what is
// drawn, jq of what is printed.
#include <algorithm>
#include <sstream>

#include "tests/e2e/program.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/terminals.hpp"

using namespace riffle::testing;
using namespace std::chrono_literals;

namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

finished shell(const work_folder& folder, const std::string& command) {
  return program{"/bin/sh", folder, {"-c", command}}.wait();
}

bool there_is(const work_folder& folder, const std::string& name) {
  return shell(folder, "command -v " + name).status == 0;
}

/// Answers each task as soon as the test says so.
struct held_place {
  held_place() { folder.configure(server.url("/v1")); }
  work_folder folder;
  http_server server{[](const http_request&) {
    return http_reply::sse().stall("go").send(answer("It is done."));
  }};
};

/// A window of tmux that a command runs in; ends with the object.
class tmux {
 public:
  tmux(const work_folder& folder, const std::string& command,
       const std::string& size)
      : folder_{folder} {
    folder.write("in.sh", command + "\n");
    (*this)("new-session -d " + size + " 'sh in.sh; exec cat'");
  }
  ~tmux() { (*this)("kill-server"); }
  tmux(const tmux&) = delete;
  tmux& operator=(const tmux&) = delete;

  // NOLINTNEXTLINE(fuchsia-overloaded-operator)
  std::string operator()(const std::string& command) const {
    return shell(folder_,
                 "LC_ALL=C.UTF-8 tmux -u -S tmux.sock -f "
                 "/dev/null " +
                     command)
        .out;
  }
  /// The window with what has left it above.
  [[nodiscard]] std::string picture() const {
    return (*this)("capture-pane -p -S -");
  }
  [[nodiscard]] bool shows(const std::string& text) const {
    return eventually([&] { return has(picture(), text); });
  }

 private:
  const work_folder& folder_;
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("tmux: a volley leaves nothing of its status behind, resized too") {
  held_place x;
  if (!has_terminals()) return skip(no_terminals);
  if (!there_is(x.folder, "tmux")) return skip("tmux is missing");
  const tmux window{x.folder,
                    "LC_ALL=C.UTF-8 '" + installed_riffle().string() +
                        "' run --no-color 'the first of the tasks' "
                        "'Übersetze 日本語の文書'; echo ended: $?",
                    "-x 80 -y 16"};
  REQUIRE(window.shows("[2/2] ▶ Übersetze 日本語の文書"));
  const auto wide = window.picture();
  CAPTURE(wide);
  CHECK(count(wide, "0/2 ended") == 1);
  // As narrow as the rows are: tmux keeps what it had to wrap anew.
  for (const auto* columns : {"70", "100"}) {
    window(std::string{"resize-window -y 16 -x "} + columns);
    REQUIRE(eventually([&] {
      const auto all = window.picture();
      return count(all, "0/2 ended") == 1 && count(all, "[1/2] ▶") == 1;
    }));
  }
  x.server.release("go");
  REQUIRE(window.shows("ended: 0"));
  const auto all = window.picture();
  CAPTURE(all);
  CHECK(count(all, "/2 ended") == 0);
  CHECK(count(all, "✓ the first of the tasks") == 1);
  CHECK(count(all, "It is done.") == 2);
}

TEST_CASE("tmux: a plan leaves nothing of its status behind, resized too") {
  held_place x;
  if (!has_terminals()) return skip(no_terminals);
  if (!there_is(x.folder, "tmux")) return skip("tmux is missing");
  x.folder.write("a", "text");
  x.folder.write("p.json", R"({"steps": [
      {"id": "a", "tool": "read", "arguments": {"path": "a"}},
      {"id": "b", "instruction": "Übersetze 日本語の文書 {{steps.a.output}}"}]})");
  const tmux window{x.folder,
                    "LC_ALL=C.UTF-8 '" + installed_riffle().string() +
                        "' plan --no-color p.json; echo ended: $?",
                    "-x 80 -y 16"};
  REQUIRE(window.shows("1/2 ended"));
  for (const auto* columns : {"76", "100"}) {
    window(std::string{"resize-window -y 16 -x "} + columns);
    REQUIRE(eventually([&] {
      const auto all = window.picture();
      return count(all, "1/2 ended") == 1 && count(all, "[2/2] ▶") == 1;
    }));
  }
  x.server.release("go");
  REQUIRE(window.shows("ended: 0"));
  const auto all = window.picture();
  CAPTURE(all);
  CHECK(count(all, "/2 ended") == 0);
  CHECK(count(all, "▶") == 0);
  CHECK(has(all, "[1/2] ✓ a: read ("));
  CHECK(has(all, "[2/2] ✓ b: Übersetze 日本語の文書"));
  CHECK(count(all, "It is done.") == 1);
}

TEST_CASE("script: a volley at a terminal is drawn, in a file it is lines") {
  held_place x;
  if (!has_terminals()) return skip(no_terminals);
  if (!there_is(x.folder, "script")) return skip("script is missing");
  x.server.release("go");
  const auto run = "'" + installed_riffle().string() + "' run 'a b' 'c d'";
  const auto drawn =
      shell(x.folder, "TERM=xterm script -qec \"" + run + "\" typescript");
  CHECK(drawn.status == 0);
  const auto seen = x.folder.read("typescript");
  CAPTURE(seen);
  CHECK(has(seen, "\x1b["));
  CHECK(has(seen, "✓"));
  const auto plain = shell(x.folder, run);
  CHECK(plain.status == 0);
  CHECK_FALSE(has(plain.err, "\x1b"));
  CHECK(has(plain.err, "[2/2] ✓ c d ("));
}

TEST_CASE("jq: what a volley and a plan print is JSON, and adds up") {
  held_place x;
  if (!there_is(x.folder, "jq")) return skip("jq is missing");
  x.server.release("go");
  x.folder.write("a", "text");
  x.folder.write("p.json", R"({"steps": [
      {"id": "a", "tool": "read", "arguments": {"path": "a"}},
      {"id": "b", "instruction": "say {{steps.a.output}}"}]})");
  const auto run = "'" + installed_riffle().string() + "' ";
  const auto judged = [&](const std::string& command, const std::string& how,
                          const std::string& filter) {
    CAPTURE(command, filter);
    const auto end = shell(
        x.folder, run + command + " | jq -e " + how + " '" + filter + "'");
    CAPTURE(end.out, end.err);
    CHECK(end.status == 0);
  };
  judged("run --output json -q 'a b' 'c d'", "",
         "(.results | length == 2) and (.totals.usage.input_tokens == "
         "([.results[].usage.input_tokens] | add)) and (.results | "
         "all(.status == \"completed\" and .answer == \"It is done.\"))");
  judged("run --output jsonl -q 'a b' 'c d'", "-s",
         "[group_by(.run_id)[] | map(.seq)] | length == 2 and all(. == "
         "[range(1; length + 1)])");
  judged("plan --output json -q p.json", "",
         "(.steps | length == 2) and .steps[0].tools[0].name == \"read\" and "
         ".totals.usage == .steps[1].usage");
  judged("plan --output jsonl -q p.json", "-s",
         "(.[0].event_type == \"plan_started\") and (.[-1].event_type == "
         "\"plan_finished\")");
  judged("plan --emit-tool-trace -q p.json 2>&1 >/dev/null", "-s",
         "length == 1 and .[0].tool == \"read\" and .[0].outcome == \"ok\"");
}
