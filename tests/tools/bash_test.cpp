// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/bash.hpp"

#include <signal.h>
#include <stdlib.h>
#include <thread>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/builtin.hpp"

using namespace riffle;
using namespace riffle::tools;
using namespace riffle::testing;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct bash_fixture : tool_fixture {
  tool_ptr bash = make_bash({});

  tool_output sh(const std::string& command) {
    return run(*bash, {{"command", command}});
  }
};

/// Stops the run as soon as a file is there.
class stop_when {
 public:
  stop_when(bash_fixture& x, std::string file)
      : thread_{[&x, name = std::move(file)] {
          eventually([&] { return x.folder.has(name); });
          x.stop.request_stop();
        }} {}
  ~stop_when() { thread_.join(); }

 private:
  std::thread thread_;
};

}  // namespace

TEST_CASE("a command gives its output and its exit status") {
  bash_fixture x;
  const auto result = x.sh("pwd; echo two");
  CHECK_FALSE(result.err);
  CHECK(result.text == x.folder.path().string() + "\ntwo\n");
  const auto metadata = json::parse(result.metadata);
  CHECK(metadata["exit_code"] == 0);
  CHECK(metadata["lines"] == 2);
  CHECK(metadata["bytes"] == result.text.size());
}

TEST_CASE("a failure keeps the output and says the status") {
  bash_fixture x;
  const auto result = x.sh("echo out; echo err >&2; exit 2");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::tool_execution_error);
  CHECK(result.err->message == "exit status 2");
  CHECK(result.text.find("out\n") != std::string::npos);
  CHECK(result.text.find("err\n") != std::string::npos);
  CHECK(result.text.ends_with("\nexit status 2"));
  CHECK(json::parse(result.metadata)["exit_code"] == 2);
  CHECK(x.sh("exit 3").text == "exit status 3");
}

TEST_CASE("a signal that ends the command is named") {
  bash_fixture x;
  const auto result = x.sh("kill -KILL $$");
  REQUIRE(result.err);
  CHECK(result.text == "ended by the signal SIGKILL");
  CHECK(json::parse(result.metadata)["signal"] == "SIGKILL");
  CHECK_FALSE(json::parse(result.metadata).contains("exit_code"));
}

TEST_CASE("output comes as progress while the command runs") {
  bash_fixture x;
  const auto recorder = x.context.progress;
  x.context.progress = [&](tool_progress_report report) {
    const bool first = report.message == "first\n";
    recorder(std::move(report));
    if (first) x.folder.write("go_on", "");
  };
  const auto result = x.sh(
      "echo first; until [ -e go_on ]; do read -t 0.01 <> <(:); done;"
      "printf second >&2");
  CHECK_FALSE(result.err);
  CHECK(result.text == "first\nsecond");
  CHECK(x.joined("stdout") == "first\n");
  CHECK(x.joined("stderr") == "second");
}

TEST_CASE("the order within a stream is exact") {
  bash_fixture x;
  const auto result = x.sh("for i in {1..20000}; do echo $i; done");
  std::string all;
  for (int i = 1; i <= 20'000; ++i) all += std::to_string(i) + "\n";
  CHECK(result.text == all);
  for (const auto& report : x.reports()) CHECK(report.message.size() <= 4096);
}

TEST_CASE("a command has no input and no terminal") {
  bash_fixture x;
  CHECK(x.sh("cat; echo end").text == "end\n");
  CHECK(x.sh("test -e /dev/tty && : < /dev/tty").err);
  CHECK(x.sh("ls -l /proc/self/fd | grep -c -v total").text == "4\n");
}

TEST_CASE("signals are as a program expects them") {
  bash_fixture x;
  const auto mask = [&](const std::string& name) {
    const auto text = x.sh("grep " + name + " /proc/self/status").text;
    return std::stoull(text.substr(text.find('\t')), nullptr, 16);
  };
  CHECK(mask("SigBlk") == 0);
  // glibc's posix_spawn ignores two signals of its own, 32 and 33.
  CHECK((mask("SigIgn") & 0x7fffffff) == 0);
}

TEST_CASE("hidden names are not in the environment") {
  ::setenv("RIFFLE_TEST_SECRET", "canary", 1);
  ::setenv("RIFFLE_TEST_PLAIN", "plain", 1);
  bash_fixture x;
  x.bash = make_bash({.hidden_env = {"RIFFLE_TEST_SECRET"}});
  CHECK(x.sh("echo $RIFFLE_TEST_PLAIN$RIFFLE_TEST_SECRET").text == "plain\n");
  CHECK(x.sh("tr '\\0' '\\n' < /proc/$PPID/environ | grep -c canary").text ==
        "0\nexit status 1");
  ::unsetenv("RIFFLE_TEST_SECRET");
  ::unsetenv("RIFFLE_TEST_PLAIN");
}

TEST_CASE("closed output does not end a command") {
  bash_fixture x;
  const auto result = x.sh("exec >&- 2>&-; echo x > done; exit 3");
  CHECK(result.text == "exit status 3");
  CHECK(x.folder.has("done"));
}

TEST_CASE("invalid UTF-8 is replaced, control characters stay") {
  bash_fixture x;
  CHECK(x.sh("printf 'a\\377\\033[1mb\\303'").text == "a\ufffd\x1b[1mb\ufffd");
}

TEST_CASE("a huge output costs bounded memory") {
  bash_fixture x;
  x.context.output_cap = 1u << 20;
  x.context.progress = nullptr;
  reset_peak_memory();
  const auto before = peak_memory();
  const auto lines = x.sh("yes 0123456789abcde | head -c 100000000");
  CHECK_FALSE(lines.err);
  CHECK(lines.text.size() < (1u << 20) + 100);
  CHECK(lines.text.find("bytes left out ...]") != std::string::npos);
  CHECK(json::parse(lines.metadata)["bytes"] == 100'000'000);
  CHECK(json::parse(lines.metadata)["truncated"] == true);
  const auto line = x.sh("head -c 100000000 /dev/zero | tr '\\0' x; echo end");
  CHECK(line.text.ends_with("xxxend\n"));
  CHECK(json::parse(line.metadata)["lines"] == 1);
  CHECK(peak_memory() < before + (32u << 20));
}

TEST_CASE("a time limit ends the command and keeps the output") {
  bash_fixture x;
  const auto limit = scaled(500);  // time enough for the shell to begin
  const auto result = x.run(
      *x.bash, {{"command", "echo begun; sleep 1000"}, {"timeout_ms", limit}});
  REQUIRE(result.err);
  CHECK(result.err->code == errc::timeout);
  CHECK(result.text == "begun\nended by its time limit of " +
                           std::to_string(limit) + " ms (timeout_ms)");
  CHECK(json::parse(result.metadata)["signal"] == "SIGTERM");
}

TEST_CASE("a cancel ends grandchildren and daemons before the result") {
  bash_fixture x;
  const auto result = [&] {
    const stop_when stop{x, "ready"};
    return x.sh(
        "writer() { while :; do echo $1 >> log; done; };"
        "writer child & (writer grandchild &)"
        "; (setsid bash -c '(trap \"\" TERM HUP; echo $BASHPID > daemon;"
        "   while :; do echo daemon >> log; done) &' &)"
        "; until [ -s daemon ] && grep -q daemon log && grep -q grandchild log;"
        "  do :; done; touch ready; wait");
  }();
  const auto size = std::filesystem::file_size(x.folder.path() / "log");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::cancelled);
  CHECK(processes_in(x.folder.path()).empty());
  // Nobody is left who could write: the same when looked at once more.
  std::this_thread::sleep_for(50ms);
  CHECK(std::filesystem::file_size(x.folder.path() / "log") == size);
}

TEST_CASE("a program may end in order within the grace") {
  bash_fixture x;
  x.context.kill_grace = 10s;
  const auto result = [&] {
    const stop_when stop{x, "ready"};
    return x.sh(
        "exec 2>&-; trap 'echo bye; exit 5' TERM; touch ready;"
        "while :; do sleep 0.01; done");
  }();
  REQUIRE(result.err);
  CHECK(result.err->code == errc::cancelled);
  CHECK(result.text == "bye\ncancelled");
  CHECK(json::parse(result.metadata)["exit_code"] == 5);
}

TEST_CASE("a cancel before the start ends at once") {
  bash_fixture x;
  x.stop.request_stop();
  const auto result = x.sh("sleep 1000");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::cancelled);
}

TEST_CASE("what a command leaves in the background is ended with it") {
  bash_fixture x;
  const auto result = x.sh(
      "(trap '' HUP; echo $BASHPID > pid; sleep 1000) & "
      "until [ -s pid ]; do :; done; echo done");
  CHECK_FALSE(result.err);
  CHECK(result.text == "done\n");
  CHECK(processes_in(x.folder.path()).empty());
}

TEST_CASE("a stopped process dies, too") {
  bash_fixture x;
  const auto result = [&] {
    const stop_when stop{x, "ready"};
    return x.sh(
        "(trap '' TERM; echo $BASHPID > pid; kill -STOP $BASHPID) &"
        "until [ -s pid ] && grep -q 'State:.T' /proc/$(cat pid)/status;"
        "do :; done; touch ready; wait");
  }();
  REQUIRE(result.err);
  CHECK(processes_in(x.folder.path()).empty());
}

TEST_CASE("processes that fork all the time do not get away") {
  bash_fixture x;
  x.context.kill_grace = 0s;
  const auto result = [&] {
    const stop_when stop{x, "ready"};
    return x.sh(
        "trap '' TERM HUP;"
        "hop() { echo $1 >> log; [ $1 = 40 ] && touch ready;"
        "        hop $(($1 + 1)) & };"
        "hop 1; hop 1; hop 1; wait; sleep 1000");
  }();
  const auto size = std::filesystem::file_size(x.folder.path() / "log");
  REQUIRE(result.err);
  std::this_thread::sleep_for(50ms);
  CHECK(std::filesystem::file_size(x.folder.path() / "log") == size);
}

TEST_CASE("a command cannot be too long or hold a NUL") {
  bash_fixture x;
  const auto nul = x.sh(std::string("echo a\0b", 8));
  REQUIRE(nul.err);
  CHECK(nul.err->code == errc::invalid_arguments);
  CHECK(nul.text.find("NUL byte") != std::string::npos);
  const auto longer = x.sh("echo " + std::string(200'000, 'x'));
  REQUIRE(longer.err);
  CHECK(longer.err->code == errc::invalid_arguments);
  CHECK(longer.text.find("script file") != std::string::npos);
}

TEST_CASE("a workspace that is gone is a clear failure") {
  bash_fixture x;
  x.context.workspace /= "gone";
  const auto result = x.sh("true");
  REQUIRE(result.err);
  CHECK(result.err->code == errc::tool_execution_error);
  CHECK(result.text.ends_with("gone: No such file or directory"));
}

TEST_CASE("many commands run side by side without mixing") {
  bash_fixture x;
  std::vector<std::thread> threads;
  std::array<std::string, 8> texts;
  for (std::size_t i = 0; i < texts.size(); ++i)
    threads.emplace_back([&, i] {
      for (int n = 0; n < 3; ++n)
        texts.at(i) += x.sh("echo " + std::to_string(i)).text;
    });
  for (auto& thread : threads) thread.join();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const auto line = std::to_string(i) + "\n";
    CHECK(texts.at(i) == line + line + line);
  }
}

TEST_CASE("a git command has a title in words, if it is all that runs") {
  const auto bash = make_bash({});
  const auto title = [&](const std::string& x) {
    return bash->title({{"command", x}});
  };
  CHECK(title("git commit -m \"all is well\"") == "Committing (git)");
  CHECK(title(" git push origin main") == "Pushing (git)");
  for (const std::string more :
       {"; rm -r x", " && x", " | x", " $(x)", " `x`", "\nx", " > x", " & x"})
    CHECK(title("git commit" + more).starts_with("Running: git commit"));
  CHECK(title("git -c a=b commit").starts_with("Running: "));
  CHECK(title("git commitx").starts_with("Running: "));
}

TEST_CASE("the title is the first line of the command") {
  const auto bash = make_bash({});
  CHECK(bash->title({{"command", "git log"}}) == "Running: git log");
  CHECK(bash->title({{"command", "\n  one\ntwo"}}) == "Running: one");
  CHECK(bash->title({{"command", std::string(100, 'x')}}) ==
        "Running: " + std::string(60, 'x') + "…");
  CHECK(bash->spec().guarded);
  CHECK(bash->spec().eff == effect::mutating);
  CHECK(bash->keys({{"command", "true"}}, "/ws").empty());
}

TEST_CASE("the built-in tools are in the registry, with usable schemas") {
  registry tools;
  REQUIRE(add_builtin_tools(tools, {}));
  CHECK(tools.names() == std::vector<std::string>{"bash", "edit", "fetch",
                                                  "glob", "grep", "read",
                                                  "write"});
  CHECK(tools.check("read", R"({"path": "a", "offset": 1})"));
  CHECK(tools.check("bash", R"({"command": "true", "timeout_ms": 5})"));
  const auto wrong = tools.check("read", R"({"file": "a"})");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message ==
        "the arguments of read are not valid: the key \"path\" is missing (a "
        "string); the key \"file\" is not known; allowed: limit, offset, "
        "path");
  CHECK_FALSE(add_builtin_tools(tools, {}));
}

TEST_CASE("what was shown of a command is bound to the programs it names") {
  bash_fixture x;
  x.folder.write("run.sh", "one\n");
  x.folder.write("x.py", "one\n");
  x.folder.write("notes.txt", "one\n");
  fs::permissions(x.folder.path() / "run.sh", fs::perms::owner_all);
  const auto basis = [&](const std::string& command) {
    return x.bash->preview({{"command", command}}, x.folder.path()).basis;
  };
  const auto changes = [&](const std::string& command, const char* file) {
    const auto before = basis(command);
    CHECK(before == basis(command));
    x.folder.write(file, slurp(x.folder.path() / file) + "more\n");
    return basis(command) != before;
  };
  CHECK(basis("ls a") != basis("ls b"));
  CHECK(changes("cd . && ./run.sh fast", "run.sh"));
  CHECK(changes("if true; then sudo ./run.sh; fi", "run.sh"));
  CHECK(changes("python3 -u x.py", "x.py"));
  CHECK(changes("bash x.py; . ./x.py", "x.py"));
  CHECK(changes("echo $(./run.sh)", "run.sh"));
  // Also where the line cannot be taken apart, and where `cd` leads.
  CHECK(changes("cat <<X >n\nhi\nX\n./run.sh", "run.sh"));
  CHECK(changes("echo `date`; ./run.sh", "run.sh"));
  CHECK(changes("echo $((1+1)); ./run.sh", "run.sh"));
  CHECK(changes("echo $'a\\tb'; ./run.sh", "run.sh"));
  CHECK(changes("X=./run.sh; $X", "run.sh"));
  fs::create_directory(x.folder.path() / "sub");
  x.folder.write("sub/c.sh", "one\n");
  fs::permissions(x.folder.path() / "sub/c.sh", fs::perms::owner_all);
  for (const auto* line : {"cd sub && ./c.sh", "(cd sub; sh c.sh)"})
    CHECK(changes(line, "sub/c.sh"));
  std::string many = "true";
  for (int i = 0; i < 150; ++i) many += " /bin/true";
  CHECK(changes(many + "; ./run.sh", "run.sh"));
  x.folder.write("Makefile", "all:\n");
  CHECK(changes("make -j2", "Makefile"));
  x.folder.write("package.json", "{}\n");
  CHECK(changes("npm test", "package.json"));
  // A line within a word, names that the shell makes, modules.
  for (const auto* line :
       {R"(sh -c "sh x.py")", R"(sh -x -c "sh x.py")", R"(bash <<< "sh x.py")",
        R"(env -S "sh x.py")", R"(sh -c 'sh -c "sh x.py"')", R"(sh $PWD/x.py)",
        "sh x*.py", "sh ./x.p?", R"(sh \./x.py)", "python3 -m x",
        "tar --checkpoint-action=exec=./x.py"}) {
    CAPTURE(line);
    CHECK(changes(line, "x.py"));
  }
  CHECK(changes(R"(bash -lc "cd sub && ./c.sh")", "sub/c.sh"));
  for (const auto* line : {"cat notes.txt *.txt >> x.log", "./run.sh"})
    CHECK_FALSE(changes(line, "notes.txt"));
}

TEST_CASE("a person who decides about a command sees all of it, or how much") {
  const auto bash = make_bash({});
  CHECK(bash->preview({{"command", "one\ntwo"}}, "/ws").text == "one\ntwo");
  const auto cut =
      bash->preview({{"command", std::string(250'000, 'x')}}, "/ws").text;
  CHECK(cut == std::string(245'760, 'x') + "\n[... 4240 more bytes]");
}
