// SPDX-License-Identifier: MIT
// What a command can do against the limits that hold it: it stops or kills its
// guard, signals everybody, hides, ignores, forks, closes, looks into others.
// Whatever it does, it ends in time and nobody is left.
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <sys/ptrace.h>
#include <unistd.h>

#include "tests/support/catch.hpp"
#include "tests/support/log_lines.hpp"
#include "tests/support/plain_user.hpp"
#include "tests/support/processes.hpp"
#include "tests/support/skip.hpp"
#include "tests/support/time_scale.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/process/guard.hpp"
#include "tools/process/orphans.hpp"
#include "tools/process/process.hpp"
#include "tools/process/process_tree.hpp"

using namespace riffle;
using namespace riffle::tools;
using namespace riffle::testing;

namespace {

struct collect final : process_listener {
  void on_output(output_stream, std::string_view bytes) override {
    text += bytes;
  }
  std::string text;
};

struct ending {
  expected<process_end> how;
  std::string output;
  std::size_t survivors = 0;
  std::chrono::steady_clock::duration took{};
};

/// Runs bash, or the words of a command, in a folder of its own.
class hostile {
 public:
  explicit hostile(pid_space space) {
    request_.space = space;
    request_.folder = folder_.path();
    request_.kill_grace = 100ms;
    request_.lock = folder_.path() / "lock";
    request_.environment = {"PATH=" + std::string{std::getenv("PATH")},
                            "MARK=" + mark(), "HOME=/"};
  }

  /// A text that is in the environment of all, and the name of a file that a
  /// command may name, so that who clears its environment is found, too.
  [[nodiscard]] std::string mark() const { return folder_.path().string(); }
  [[nodiscard]] const temp_folder& folder() const { return folder_; }

  ending run(std::vector<std::string> words, duration limit) {
    request_.command = std::move(words);
    const auto begun = std::chrono::steady_clock::now();
    request_.deadline = begun + limit;
    collect output;
    auto how = run_process(request_, output, {});
    const auto took = std::chrono::steady_clock::now() - begun;
    // Its lock is free now: whoever waits for it finds nobody who acts.
    CHECK(wait_for_guard(request_.lock, std::chrono::steady_clock::now()));
    return {std::move(how), output.text, processes_with(mark()).size(), took};
  }
  ending bash(const std::string& command, duration limit = 500ms) {
    return run({"bash", "-c", command + "\n# " + mark()}, limit);
  }

 private:
  temp_folder folder_;
  process_request request_;
};

constexpr const char* second_proc = "RIFFLE_TEST_SECOND_PROC";

/// Looks for the test program in a /proc, and again after all that a command
/// can try to bring the old one back.
std::string look_for_me(const std::string& proc) {
  const auto look = "[ -e " + proc + "/" + std::to_string(::getpid()) +
                    " ] && echo seen || echo hidden\n";
  return look + "{ umount -l " + proc + "; umount -l " + proc +
         "; unshare -Urm umount -l " + proc + "; } 2> /dev/null\n" + look;
}

bool has_space() {
  const auto support = supported_space("/proc/self/exe");
  if (!support.usable) skip("no PID namespaces here: " + support.why);
  return support.usable;
}

/// `LIVE` sleeps as one who is found by its name; daemons ignore signals.
constexpr const char* tools_of_the_trade = R"sh(
LIVE() { : > "$MARK/lives"; exec -a "$MARK" sleep 300; }
daemon() { : > "$MARK/lives"
           (setsid bash -c "trap '' TERM HUP INT; (exec -a '$MARK' sleep 300); sleep 300" &)
           (setsid nohup env -i bash -c 'exec -a "$0" sleep 300' "$MARK" > /dev/null 2>&1 &); }
type sleep setsid nohup env seq > /dev/null 2>&1 && : > "$MARK/began"
)sh";

/// Where the attack begins with one that stays, so that slow machines see it.
bool must_live(std::string_view attack) {
  return attack.starts_with("daemon") || attack == "kill -STOP $PPID; LIVE";
}

constexpr const char* attacks[] = {
    // its guard, or what stands for it
    "kill -STOP $PPID; LIVE",
    "while :; do kill -STOP $PPID; done",
    "trap '' TERM INT HUP; (while :; do kill -STOP $PPID; done) & daemon; LIVE",
    "kill -STOP $PPID; exit 7",
    "daemon; sleep 0.1; kill -KILL $PPID; LIVE",
    "daemon; (sleep 0.1; kill -KILL $PPID; daemon; exec 1>&- 2>&-; LIVE) & "
    "LIVE",
    "for s in $(seq 1 64); do kill -$s $PPID 2> /dev/null; done; daemon; LIVE",
    // itself
    "daemon; exit 0",
    "for s in $(seq 1 64); do trap '' $s 2> /dev/null; done; daemon; LIVE",
    "exec 0<&- 1>&- 2>&- 3>&- 4>&-; daemon; LIVE",
    "kill -STOP $$",
    "f() { for i in $(seq 40); do (setsid sleep 300 &) & done; }; f; f; f; "
    "LIVE",
    "hop() { (setsid bash -c 'sleep 0.01; '\"$(declare -f hop)\"'; hop' &); }; "
    "hop; hop; LIVE",
    // others, by /proc
    "for f in mem environ fd maps; do cat /proc/$PPID/$f > /dev/null 2>&1; "
    "done;"
    "echo -1000 > /proc/$PPID/oom_score_adj; kill -STOP $PPID; daemon; LIVE",
};

}  // namespace

TEST_CASE("what a hostile command does, it ends in time, and all with it") {
  adopt_orphans();
  const auto space = GENERATE(pid_space::own, pid_space::shared);
  if (space == pid_space::own && !has_space()) return;
  const bool plain = GENERATE(false, true);
  CAPTURE(space, plain);
  for (const auto* attack : attacks) {
    CAPTURE(attack);
    bool took_place = false;
    // A busy machine may not have come to it when its limit was over.
    for (auto limit = 500ms; !took_place && limit < 20s; limit *= 3) {
      hostile x{space};
      std::optional<plain_user> user;
      if (plain) user.emplace(x.folder().path());
      const auto end = x.bash(std::string{tools_of_the_trade} + attack, limit);
      CHECK(end.survivors == 0);
      // Without its end it is the guard's waiter who gives up, after 33 s.
      CHECK(end.took < limit + 100ms + scaled(10s));
      if (space == pid_space::own) CHECK(end.how);  // its guard is out of reach
      if (!end.how) CHECK(end.how.error().code == errc::interrupted);
      const auto left = [&](const char* name) {
        return std::filesystem::exists(x.folder().path() / name);
      };
      took_place = left("began") && (!must_live(attack) || left("lives"));
    }
    CHECK(took_place);
  }
  CHECK(descendants().empty());
}

TEST_CASE("a command in its namespace cannot signal anybody else") {
  if (!has_space()) return;
  const bool plain = GENERATE(false, true);
  CAPTURE(plain);
  hostile x{pid_space::own};
  std::optional<plain_user> user;
  if (plain) user.emplace(x.folder().path());
  const auto end = x.bash(
      "kill -KILL -1; kill -STOP 1; kill -KILL 1; "
      "for i in {2..400}; do [ $i = $$ ] || kill -KILL $i 2> /dev/null; "
      "done; echo alive; exit 3",
      20s);
  REQUIRE(end.how);
  CHECK(end.how->exit_code == 3);
  CHECK(end.output.find("alive\n") != std::string::npos);
  CHECK(end.survivors == 0);
}

TEST_CASE("in its namespace a command sees itself, as its user, and no more") {
  if (!has_space()) return;
  const bool plain = GENERATE(false, true);
  CAPTURE(plain);
  hostile x{pid_space::own};
  std::optional<plain_user> user;
  if (plain) user.emplace(x.folder().path());
  const auto end =
      x.bash("echo $$ $PPID; id -u; touch made; stat -c %u made\n" +
                 look_for_me("/proc"),
             20s);
  REQUIRE(end.how);
  const auto me = std::to_string(::geteuid());
  INFO(end.output);
  CHECK(end.output == "2 1\n" + me + "\n" + me + "\nhidden\nhidden\n");
}

TEST_CASE("a program that sees a second /proc, run by the tests", "[.second]") {
  for (const bool plain : {false, true}) {
    hostile x{pid_space::own};
    std::optional<plain_user> user;
    if (plain) user.emplace(x.folder().path());
    const auto end = x.bash(look_for_me(std::getenv(second_proc)), 20s);
    user.reset();  // the file is root's
    std::ofstream{std::string{std::getenv(second_proc)} + ".seen",
                  std::ios::app}
        << end.output;
  }
}

TEST_CASE("a /proc elsewhere is hidden from a command in its namespace") {
  if (::geteuid() != 0) return skip("only root may mount");
  if (!has_space()) return;
  const temp_folder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  folder.write("proc.seen", "");
  std::filesystem::create_directory(folder.path() / "proc");
  const auto place = (folder.path() / "proc").string();
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto command = "unshare -m sh -c 'mount -t proc proc " + place +
                       " && " + second_proc + "=" + place + " " + self +
                       " \"[.second]\"' > /dev/null";
  REQUIRE(std::system(command.c_str()) == 0);
  CHECK(slurp(place + ".seen") == "hidden\nhidden\nhidden\nhidden\n");
}

TEST_CASE("a hostile program, run by the tests", "[.hostile]") {
  const auto guard = ::getppid();
  const auto proc = "/proc/" + std::to_string(guard) + "/";
  const auto opens = [&](const char* name, int how) {
    return ::open((proc + name).c_str(), how) >= 0;
  };
  std::string got;
  if (::ptrace(PTRACE_SEIZE, guard, nullptr, nullptr) == 0) got += " trace";
  if (opens("mem", O_RDWR)) got += " mem";
  if (opens("environ", O_RDONLY)) got += " environ";
  if (opens("fd/3", O_RDWR)) got += " channel";
  if (opens("fd/4", O_RDWR)) got += " lock";
  if (opens("oom_score_adj", O_WRONLY)) got += " score";
  std::ofstream{"got"} << "got:" << got << '\n';
}

TEST_CASE("no command of a plain user can trace its guard or look into it") {
  const auto space = GENERATE(pid_space::own, pid_space::shared);
  if (space == pid_space::own && !has_space()) return;
  hostile x{space};
  const plain_user user{x.folder().path()};
  const auto end = x.run({"/proc/self/exe", "[.hostile]"}, 60s);
  INFO(end.output);
  CHECK(slurp(x.folder().path() / "got") == "got:\n");
}

TEST_CASE("a namespace that cannot be made is said, with what to do") {
  const guard_report report{guard_report::what::no_space, ENOSPC,
                            static_cast<int>(space_step::fork)};
  CHECK(to_text(space_failure{static_cast<space_step>(report.step),
                              report.value}) ==
        "cannot make a PID namespace: No space left on device");
  CHECK(to_text(space_failure{}).empty());
  const log_lines log{"warn"};
  const auto none = supported_space("/bin/false");
  CHECK(log.with("does not answer; it is asked again").size() == 1);
  CHECK_FALSE(none.usable);
  CHECK_FALSE(none.why.empty());
}
