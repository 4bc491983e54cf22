// SPDX-License-Identifier: MIT
#include "tests/e2e/program.hpp"

#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fstream>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "messages/event_check.hpp"
#include "tests/e2e/fair_limit.hpp"
#include "tests/support/canary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

namespace riffle::testing {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string slurp(const fs::path& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::string chunk(json delta, const json& reason = nullptr) {
  json x{{"id", "c"},
         {"object", "chat.completion.chunk"},
         {"choices", json::array({{{"index", 0},
                                   {"delta", std::move(delta)},
                                   {"finish_reason", reason}}})}};
  return "data: " + x.dump() + "\n\n";
}

}  // namespace

fs::path installed_riffle() {
  static const fs::path binary = [] {
    const fs::path prefix = fs::path{RIFFLE_BINARY_DIR} / "installed";
    // The parts of this program begin at once, and install one after the other.
    const std::string command =
        "flock -w 120 " RIFFLE_BINARY_DIR
        "/installed.lock cmake --install " RIFFLE_BINARY_DIR " --prefix " +
        prefix.string() + " > /dev/null";
    if (std::system(command.c_str()) != 0) std::abort();
    return prefix / "bin" / "riffle";
  }();
  return binary;
}

fs::path crashable_riffle() {
  return fs::path{RIFFLE_BINARY_DIR} / "tests" / "riffle_crashable";
}

work_folder::work_folder() {
  std::string name = (fs::temp_directory_path() / "riffle-e2e-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

work_folder::~work_folder() {
  // What a test that failed left says nothing new.
  if (std::uncaught_exceptions() == 0) {
    INFO("the key of a provider stands in a file");
    CHECK(files_with_provider_key(path_) == std::vector<std::string>{});
  }
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void work_folder::write(const std::string& name, std::string_view text) const {
  std::ofstream{path_ / name, std::ios::binary} << text;
}

std::string work_folder::read(const std::string& name) const {
  return slurp(path_ / name);
}

std::vector<std::string> work_folder::lines(const std::string& name) const {
  std::ifstream in{path_ / name};
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  return all;
}

void work_folder::configure(const std::string& url,
                            std::string_view more) const {
  write("riffle.toml", "[runtime]\ndata_dir = \"" + (path_ / "data").string() +
                           "\"\n[models.default]\nbase_url = \"" + url +
                           "\"\n" + std::string{more});
}

namespace {

/// "out.txt", or with a number: several programs may run in a folder.
fs::path unused_file(const work_folder& folder, const std::string& name) {
  auto file = folder.path() / (name + ".txt");
  for (int i = 2; fs::exists(file); ++i)
    file = folder.path() / (name + std::to_string(i) + ".txt");
  std::ofstream{file};
  return file;
}

/// The most memory that a process had since it began its program, in KiB; 0
/// once it ended. (What wait4 says counts the memory of whoever forked it,
/// too.)
std::size_t peak_so_far(pid_t pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string word; in >> word;) {
    std::size_t kib = 0;
    if (word == "VmHWM:" && in >> kib) return kib;
  }
  return 0;
}

}  // namespace

program::program(const fs::path& binary, const work_folder& folder,
                 std::vector<std::string> arguments,
                 const std::map<std::string, std::string>& env)
    : out_{unused_file(folder, "out")}, err_{unused_file(folder, "err")} {
  arguments.insert(arguments.begin(), binary.string());
  std::vector<char*> argv;
  for (auto& a : arguments) argv.push_back(a.data());
  argv.push_back(nullptr);
  auto variables = env;
  variables.emplace("OPENAI_API_KEY", provider_key);
  // Named, and so trusted; "" for who wants it to be found.
  if (fs::exists(folder.path() / "riffle.toml"))
    variables.emplace("RIFFLE_CONFIG", "riffle.toml");
  // Nothing of whoever runs the tests is read or written.
  variables.emplace("HOME", (folder.path() / "home").string());
  variables.emplace("XDG_STATE_HOME", (folder.path() / "state").string());
  for (const auto* name :
       {"XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"})
    variables.emplace(name, "");
  pid_ = ::fork();
  REQUIRE(pid_ >= 0);
  if (pid_ != 0) return;
  for (const auto& [key, value] : variables)
    ::setenv(key.c_str(), value.c_str(), 1);
  // Also where the tests themselves were begun behind a terminal's back.
  for (const int number : {SIGHUP, SIGINT, SIGQUIT}) ::signal(number, SIG_DFL);
  if (::chdir(folder.path().c_str()) != 0) ::_exit(120);
  const auto redirect = [](const fs::path& file, int to) {
    ::dup2(::open(file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600), to);
  };
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  redirect(out_, 1);
  redirect(err_, 2);
  ::execv(argv[0], argv.data());
  ::_exit(121);
}

program::~program() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

std::string program::out() const { return slurp(out_); }

std::string program::err() const { return slurp(err_); }

void program::signal(int number) const { ::kill(pid_, number); }

bool program::has_ended() const {
  siginfo_t info{};
  return pid_ <= 0 || (::waitid(P_PID, static_cast<id_t>(pid_), &info,
                                WEXITED | WNOHANG | WNOWAIT) == 0 &&
                       info.si_pid == pid_);
}

finished program::wait(std::chrono::milliseconds limit) {
  int status = 0;
  bool ended = false;
  std::size_t peak = 0;
  fair_limit over{pid_, scaled(limit)};
  eventually(
      [&] {
        // The last one: before its exec it was a copy of this program.
        if (const auto now = peak_so_far(pid_); now > 0) peak = now;
        ended = ::waitpid(pid_, &status, WNOHANG) == pid_;
        return ended || over.is_over();
      },
      std::chrono::hours{1});
  if (!ended) {
    INFO("stderr: " << slurp(err_));
    FAIL("the program did not end in time");
  }
  pid_ = -1;
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
          slurp(out_), slurp(err_), peak};
}

finished riffle(const work_folder& folder, std::vector<std::string> arguments,
                const std::map<std::string, std::string>& env) {
  return program{installed_riffle(), folder, std::move(arguments), env}.wait();
}

std::vector<pid_t> processes_in(const work_folder& folder) {
  const auto place = fs::canonical(folder.path()).string();
  std::vector<pid_t> found;
  std::error_code gone;
  for (const auto& x : fs::directory_iterator{"/proc", gone}) {
    const auto name = x.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto cwd = fs::read_symlink(x.path() / "cwd", gone).string();
    if (!gone && (cwd == place || cwd.starts_with(place + "/")))
      found.push_back(std::stoi(name));
  }
  return found;
}

bool can(const std::string& command) {
  return std::system((command + " > /dev/null 2>&1").c_str()) == 0;
}

bool eventually(const std::function<bool()>& done,
                std::chrono::milliseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!done()) {
    if (std::chrono::steady_clock::now() > deadline) return done();
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

std::vector<json> checked_events(const std::string& jsonl) {
  std::istringstream in{jsonl};
  const auto report = check_events(in);
  INFO(jsonl);
  for (const auto& v : report.violations) UNSCOPED_INFO(render(v));
  CHECK(report.violations.empty());
  std::vector<json> all;
  std::istringstream lines{jsonl};
  for (std::string line; std::getline(lines, line);)
    all.push_back(json::parse(line));
  return all;
}

std::vector<json> of_type(const std::vector<json>& events,
                          std::string_view type) {
  std::vector<json> some;
  for (const auto& e : events)
    if (e.at("event_type") == type) some.push_back(e);
  return some;
}

std::string say(std::string_view text) {
  return chunk({{"content", std::string{text}}});
}

std::string call(int index, const std::string& id, const std::string& tool,
                 const json& arguments) {
  return chunk(
      {{"tool_calls",
        json::array({{{"index", index},
                      {"id", id},
                      {"type", "function"},
                      {"function",
                       {{"name", tool}, {"arguments", arguments.dump()}}}}})}});
}

std::string finish(const std::string& reason) {
  return chunk(json::object(), reason);
}

std::string answer(std::string_view text) {
  return say(text) + finish("stop") + done_mark;
}

std::string calls(const std::vector<std::pair<std::string, json>>& all) {
  std::string out;
  int index = 0;
  for (const auto& [tool, arguments] : all) {
    out += call(index, "id" + std::to_string(index), tool, arguments);
    ++index;
  }
  return out + finish("tool_calls") + done_mark;
}

std::vector<json> tool_messages(const http_request& request) {
  std::vector<json> found;
  const auto body = json::parse(request.body);
  for (const auto& m : body.at("messages"))
    if (m.at("role") == "tool") found.push_back(m);
  return found;
}

void check_results(const http_request& request) {
  std::vector<std::string> owed;
  const auto body = json::parse(request.body);
  for (const auto& m : body.at("messages")) {
    if (m.at("role") == "tool") {
      REQUIRE_FALSE(owed.empty());
      CHECK(m.at("tool_call_id") == owed.front());
      owed.erase(owed.begin());
      continue;
    }
    CHECK(owed.empty());
    if (m.contains("tool_calls"))
      for (const auto& c : m["tool_calls"]) owed.push_back(c.at("id"));
  }
  CHECK(owed.empty());
}

}  // namespace riffle::testing
