// SPDX-License-Identifier: MIT
// Programs as tools, each test with a real one.
#include <algorithm>
#include <signal.h>
#include <stdlib.h>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/repetitions.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/shell/bash.hpp"
#include "tools/command/command_tool.hpp"
#include "tools/process/process_tree.hpp"

using namespace riffle;
using namespace riffle::tools;
using namespace riffle::testing;
using nlohmann::json;

namespace {

struct command_fixture : tool_fixture {
  /// A tool that runs this text with bash, in the workspace.
  tool_ptr script(const std::string& text) {
    folder.write("tool.sh", text);
    options.folder = folder.path();
    if (options.command.empty()) options.command = {"bash", "./tool.sh"};
    return make_command_tool(options);
  }
  tool_output call(const std::string& text, const json& arguments = {}) {
    const auto tool = script(text);
    return run(*tool, arguments.is_null() ? json::object() : arguments);
  }

  command_options options{.name = "look",
                          .description = "looks",
                          .parameters = R"({"type":"object"})"};
};

json metadata_of(const tool_output& x) { return json::parse(x.metadata); }

}  // namespace

TEST_CASE("a command gets its arguments on stdin, its output is the result") {
  command_fixture x;
  const auto result = x.call("cat", {{"id", "T 1\n\"é\""}, {"n", 3}});
  CHECK_FALSE(result.err);
  CHECK(result.text == "{\"id\":\"T 1\\n\\\"é\\\"\",\"n\":3}\n");
  CHECK(metadata_of(result) ==
        json{{"bytes", result.text.size()}, {"lines", 1}, {"exit_code", 0}});
}

TEST_CASE("stdin ends, and may be opened by its name") {
  command_fixture x;
  CHECK(x.call("cat; cat; cat /dev/stdin").text == "{}\n{}\n");
}

TEST_CASE("what a command does with stdin is its own affair") {
  command_fixture x;
  const json big{{"text", std::string(4u << 20, 'x')}};
  CHECK(x.call("echo unread", big).text == "unread\n");
  CHECK(x.call("exec <&-; echo closed", big).text == "closed\n");
  CHECK(x.call("head -c 20 | wc -c", big).text == "20\n");
  CHECK(x.call("wc -c", big).text ==
        std::to_string(big.dump().size() + 1) + "\n");
}

TEST_CASE("an envelope has output, metadata or an error") {
  command_fixture x;
  const auto ok =
      x.call(R"(echo '{"output": "found it", "metadata": {"score": 7}}')");
  CHECK_FALSE(ok.err);
  CHECK(ok.text == "found it");
  CHECK(metadata_of(ok)["score"] == 7);
  CHECK(metadata_of(ok)["exit_code"] == 0);
  CHECK(x.call(R"(echo '{"output": {"a": [1]}}')").text == R"({"a":[1]})");
  const auto bad =
      x.call(R"(echo '{"error": "no such ticket", "metadata": {"asked": 1}}')");
  REQUIRE(bad.err);
  CHECK(bad.err->code == errc::tool_execution_error);
  CHECK(bad.err->message == "no such ticket");
  CHECK(bad.text == "no such ticket");
  CHECK(metadata_of(bad)["asked"] == 1);
  const auto both = x.call(R"(echo '{"output":"a","error":"b"}'; exit 3)");
  REQUIRE(both.err);
  CHECK(both.text == "a\nb");
}

TEST_CASE("an error that is too long to be read is a failure all the same") {
  command_fixture x;
  const auto cap = GENERATE(std::size_t{64} << 10, std::size_t{8} << 20);
  x.context.output_cap = cap;  // shorter, and longer than what is written
  const auto filler = "head -c 2000000 /dev/zero | tr '\\0' x;";
  for (const auto& [begin, end] :
       {std::pair{R"({"error": "no \"such\" tick)", R"("})"},
        std::pair{R"( {"error": "no \"such\" ticket", "output": ")", R"("})"},
        std::pair{R"({"error":"no \"such\" ticket","metadata":{"a":")",
                  R"("}})"}}) {
    CAPTURE(begin, cap);
    const auto bad = x.call("cat <<'X' | tr -d '\\n'\n" + std::string{begin} +
                            "\nX\n" + filler + "echo '" + end + "'\n");
    REQUIRE(bad.err);
    CHECK(bad.err->code == errc::tool_execution_error);
    CHECK(bad.err->message.starts_with("no \"such\" tick"));
    CHECK(bad.err->message.size() < 3000);
  }
  for (const std::string begin :
       {R"({"error": "none", "id": ")", R"({"id": ")", R"(["error": ")"}) {
    CAPTURE(begin, cap);
    CHECK_FALSE(x.call("cat <<'X'\n" + begin + "\nX\n" + filler).err);
  }
}

TEST_CASE("other JSON is text") {
  command_fixture x;
  for (const std::string text :
       {R"({"id": 7})", R"({"output": 1, "more": 2})", R"({"metadata": {}})",
        R"({"error": {"code": 1}})", R"({"output": 1, "metadata": []})",
        R"(["output"])", R"({"output": )", R"({"output":1} {"output":2})"}) {
    CAPTURE(text);
    const auto result = x.call("cat <<'X'\n" + text + "\nX\n");
    CHECK_FALSE(result.err);
    CHECK(result.text == text + "\n");
  }
}

TEST_CASE("JSON lines on stderr are progress, others are the log") {
  command_fixture x;
  const auto result = x.call(R"(
    echo 'starting' >&2
    echo '{"progress": 0.5, "total": 1, "message": "half"}' >&2
    echo '{"progress": 1}' >&2
    echo '{"message": "no number", "extra": true}' >&2
    echo '{"level": "info"}' >&2
    echo '{"progress": "half"}' >&2
    printf 'no end' >&2
    echo out)");
  CHECK_FALSE(result.err);
  CHECK(result.text == "out\n");
  const auto all = x.reports();
  REQUIRE(all.size() == 7);
  CHECK(all[0] == tool_progress_report{"starting\n", {}, {}, "stderr", 0});
  CHECK(all[1] == tool_progress_report{"half", 0.5, 1.0, "", 0});
  CHECK(all[2] == tool_progress_report{"", 1.0, {}, "", 0});
  CHECK(all[3].message == "no number");
  CHECK(all[4].stream == "stderr");
  CHECK(all[5].stream == "stderr");
  CHECK(all[6].message.starts_with("no end"));  // on a slow machine a piece
}

TEST_CASE("who writes without ever ending a line gives signs of life") {
  command_fixture x;
  const auto recorder = x.context.progress;
  x.context.progress = [&](tool_progress_report report) {
    x.folder.write("go_on", "");
    recorder(std::move(report));
  };
  SECTION("a command, to standard error") {
    const auto result = x.call(
        "until [ -e go_on ]; do printf . >&2; sleep 0.02; done; echo >&2");
    CHECK_FALSE(result.err);
    CHECK(x.joined("stderr").starts_with('.'));
  }
  SECTION("a bar") {
    CHECK_FALSE(x.call("until [ -e go_on ]; do printf '\\r10 %%' >&2;"
                       "sleep 0.02; done")
                    .err);
  }
  SECTION("a command line, to standard output") {
    const auto result = make_bash({})->run(
        {{"command", "until [ -e go_on ]; do printf .; sleep 0.02; done"}},
        x.context);
    CHECK_FALSE(result.err);
    CHECK(x.joined("stdout").starts_with('.'));
  }
}

TEST_CASE("progress comes while the command runs") {
  command_fixture x;
  const auto recorder = x.context.progress;
  x.context.progress = [&](tool_progress_report report) {
    if (report.message == "first") x.folder.write("go_on", "");
    recorder(std::move(report));
  };
  const auto result = x.call(
      "echo '{\"message\":\"first\"}' >&2\n"
      "until [ -e go_on ]; do sleep 0.01; done");
  CHECK_FALSE(result.err);
}

TEST_CASE("another exit status is a failure that ends with the log") {
  command_fixture x;
  const auto result = x.call(
      "echo some; echo '{\"progress\":1}' >&2; echo 'no such host' >&2; exit "
      "3");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::tool_execution_error);
  CHECK(result.err->message == "exit status 3: no such host");
  CHECK(result.text == "some\nexit status 3: no such host");
  CHECK(metadata_of(result)["exit_code"] == 3);
  const auto killed = x.call("kill -SEGV $$");
  CHECK(killed.text == "ended by the signal SIGSEGV");
  CHECK(metadata_of(killed)["signal"] == "SIGSEGV");
}

TEST_CASE("a program that is not there is an error, not a crash") {
  command_fixture x;
  x.options.command = {"./gone"};
  CHECK(x.call("").text == "cannot start ./gone: No such file or directory");
  x.folder.write("text", "");
  x.options.command = {"./text"};
  CHECK(x.call("").text == "cannot start ./text: Permission denied");
  x.options.command = {"true"};
  const auto tool = x.script("");
  x.options.folder = x.folder.path() / "nowhere";
  const auto result = x.run(*make_command_tool(x.options), json::object());
  REQUIRE(result.err);
  CHECK(result.err->message.find("cannot run in the folder") == 0);
}

TEST_CASE("the environment is PATH, HOME, LANG and what is listed") {
  ::setenv("RIFFLE_TEST_SEEN", "seen", 1);
  ::setenv("RIFFLE_TEST_HIDDEN", "canary", 1);
  ::setenv("LANG", "C.UTF-8", 1);
  command_fixture x;
  x.options.env = {"RIFFLE_TEST_SEEN", "RIFFLE_TEST_UNSET", "PATH"};
  const auto result =
      x.call("tr '\\0' '\\n' < /proc/$$/environ | cut -d= -f1 | sort");
  CHECK(result.text == "HOME\nLANG\nPATH\nRIFFLE_TEST_SEEN\n");
  ::unsetenv("RIFFLE_TEST_SEEN");
  ::unsetenv("RIFFLE_TEST_HIDDEN");
}

TEST_CASE("titles are filled with arguments") {
  command_fixture x;
  const auto title = [&](const std::string& text, const json& arguments) {
    x.options.title = text;
    return make_command_tool(x.options)->title(arguments);
  };
  CHECK(title("", json::object()) == "Using look");
  CHECK(title("", {{"id", 4711}}) == "Using look: 4711");
  CHECK(title("", {{"ticket", "T-1"}, {"n", 2}}) == "Using look: T-1");
  CHECK(title("", {{"n", 1}, {"m", 2}}) == "Using look");
  CHECK(title("Looking up {id} in {n}", {{"id", "T-1"}, {"n", 3}}) ==
        "Looking up T-1 in 3");
  CHECK(title("a {gone} b {list} {open", {{"list", {1}}}) == "a  b  {open");
  CHECK(title("{x}", {{"x", std::string(500, 'x')}}) ==
        std::string(200, 'x') + "…");
}

TEST_CASE("keys are what the pointers lead to") {
  command_fixture x;
  x.options.keys = {"/id", "/many", "/in/side", "/gone"};
  const auto tool = make_command_tool(x.options);
  CHECK(tool->keys({{"id", 7}, {"many", {"a", "b"}}, {"in", {{"side", "c"}}}},
                   "/") == std::vector<std::string>{"7", "a", "b", "c"});
  CHECK(tool->keys({{"id", nullptr}, {"many", json::object()}}, "/").empty());
}

TEST_CASE("what a command is, is in its spec") {
  command_fixture x;
  x.options.eff = effect::read_only;
  x.options.idempotent = true;
  const auto spec = make_command_tool(x.options)->spec();
  CHECK(spec.name == "look");
  CHECK(spec.description == "looks");
  CHECK(spec.eff == effect::read_only);
  CHECK(spec.idempotent);
  CHECK(spec.guarded);
  x.options.command = {"a", "b"};
  CHECK(make_command_tool(x.options)->preview({}, "/").text == "a b");
}

TEST_CASE("the definition of a command changes with all that it is") {
  command_fixture x;
  const auto definition = [&](const std::string& text = "echo 1") {
    return x.script(text)->definition();
  };
  x.options.command = {"bash", "--rcfile=rc", "./tool.sh", "plain"};
  x.folder.write("rc", "1");
  const auto before = definition();
  CHECK(definition() == before);
  SECTION("a file that a word names") { CHECK(definition("echo 2") != before); }
  SECTION("behind an equals sign") {
    x.folder.write("rc", "2");
    CHECK(definition() != before);
  }
  SECTION("a file that was not there") {
    x.folder.write("plain", "");
    CHECK(definition() != before);
  }
  SECTION("its words") {
    x.options.command.emplace_back("-x");
    CHECK(definition() != before);
  }
  SECTION("what it sees") {
    x.options.env = {"SECRET"};
    CHECK(definition() != before);
  }
  SECTION("what the text behind sh -c runs") {
    x.folder.write("lib.sh", "a=1");
    x.folder.write("sub/it's.sh", "a=1");
    x.options.command = {"sh", "-c", ". ./lib.sh; cd sub && . \"./it's.sh\""};
    const auto loads = definition();
    CHECK(definition() == loads);
    x.folder.write("lib.sh", "a=2");
    const auto other = definition();
    CHECK(other != loads);
    x.folder.write("sub/it's.sh", "a=2");
    CHECK(definition() != other);
  }
  SECTION("what it says of itself") {
    x.options.eff = effect::read_only;
    CHECK(definition() != before);
  }
  SECTION("its program, wherever it is found") {
    x.options.command[0] = "./tool.sh";
    const auto named = definition();
    CHECK(named != before);
    CHECK(definition("echo 2") != named);
  }
}

TEST_CASE("a million reports and one endless line cost bounded memory") {
  command_fixture x;
  std::size_t count = 0;
  std::size_t longest = 0;
  x.context.progress = [&](const tool_progress_report& report) {
    ++count;
    longest = std::max(longest, report.message.size());
  };
  reset_peak_memory();
  [[maybe_unused]] const auto before = peak_memory();
  CHECK_FALSE(x.call("yes '{\"progress\": 1}' | head -n 1000000 >&2;"
                     "head -c 100000000 /dev/zero | tr '\\0' x >&2")
                  .err);
  CHECK(count >= 1'000'001);  // more pieces of the line where it takes long
  CHECK(longest <= 4097);
#if !defined(__SANITIZE_ADDRESS__)  // keeps hundreds of MiB of what was freed
  CHECK(peak_memory() < before + (24u << 20) * time_scale);
#endif
}

TEST_CASE("a huge output is kept on disk, its ends in memory") {
  const bool full = std::getenv("RIFFLE_TEST_FULL") != nullptr;
  const std::size_t bytes = full ? 1'000'000'000 : 50'000'000;
  command_fixture x;
  x.context.output_cap = 1u << 20;
  x.context.output_file = x.folder.path() / "whole";
  reset_peak_memory();
  const auto before = peak_memory();
  const auto result =
      x.call("echo '{\"output\": 1}'; head -c " + std::to_string(bytes - 14) +
             " /dev/zero | tr '\\0' x; echo end");
  CHECK_FALSE(result.err);
  // A sanitizer keeps for a while what was freed.
  CHECK(peak_memory() < before + (24u << 20) * time_scale);
  CHECK(result.text.size() < (2u << 20));
  CHECK(result.text.find("{\"output\": 1}\nxxx") == 0);
  CHECK(result.text.ends_with("xxxend\n"));
  CHECK(metadata_of(result)["whole_kept"] == true);
  CHECK(metadata_of(result)["bytes"] == bytes + 4);
  CHECK(std::filesystem::file_size(x.context.output_file) == bytes + 4);
}

TEST_CASE("cancelled commands are dead in a second, with all they started") {
  const int rounds = repetitions(10, 10, 50);
  const auto cancel_one = [] {
    command_fixture x;
    x.context.kill_grace = 500ms;
    const auto tool = x.script(
        "(trap '' TERM; setsid bash -c 'trap \"\" TERM; sleep 100; sleep 100'"
        " &)\n(sleep 100 &)\nsleep 100 & echo > begun; wait");
    std::chrono::steady_clock::time_point stopped;
    std::thread stopper{[&] {
      eventually([&] { return x.folder.has("begun"); }, scaled(10s));
      stopped = std::chrono::steady_clock::now();
      x.stop.request_stop();
    }};
    const auto result = x.run(*tool, json::object());
    const auto took = std::chrono::steady_clock::now() - stopped;
    stopper.join();
    CHECK(x.folder.has("begun"));
    REQUIRE(result.err);
    CHECK(result.err->code == errc::cancelled);
    CHECK(descendants().empty());
    return took;
  };
  // Other work of the machine may hold up a batch, hardly three of them.
  std::chrono::nanoseconds best = 1h;
  for (int batch = 0; batch < 3 && best > 1s * time_scale; ++batch) {
    std::chrono::nanoseconds longest{};
    for (int i = 0; i < rounds; ++i) longest = std::max(longest, cancel_one());
    best = std::min(best, longest);
  }
  CHECK(best <= 1s * time_scale);
}
