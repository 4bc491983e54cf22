// SPDX-License-Identifier: MIT
#include "tests/cli/terminal_program.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include "tests/support/canary.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/time_scale.hpp"

namespace riffle::testing {

namespace {

const auto limit = scaled(std::chrono::seconds{30});

}  // namespace

std::filesystem::path terminal_program::built() {
  return std::filesystem::path{RIFFLE_BINARY_DIR} / "riffle";
}

terminal_program::terminal_program(const std::filesystem::path& folder,
                                   const std::vector<std::string>& arguments,
                                   unsigned short columns,
                                   const std::string& term,
                                   const std::string& locale,
                                   const std::filesystem::path& program)
    : folder_{folder} {
  auto words = arguments;
  words.insert(words.begin(), program.string());
  std::vector<char*> argv;
  for (auto& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const winsize size{24, columns, 0, 0};
  pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
  REQUIRE(pid_ >= 0);
  if (pid_ != 0) return;
  ::setenv("TERM", term.c_str(), 1);
  ::unsetenv("NO_COLOR");
  for (const auto* name : {"LC_ALL", "LC_CTYPE", "LANG"}) ::unsetenv(name);
  if (!locale.empty()) ::setenv("LC_ALL", locale.c_str(), 1);
  if (::chdir(folder.c_str()) != 0) ::_exit(120);
  // Named, and so trusted, unless the test says otherwise.
  if (::access("riffle.toml", F_OK) == 0) {
    ::setenv("RIFFLE_CONFIG", "riffle.toml", 0);
    ::setenv("OPENAI_API_KEY", std::string{provider_key}.c_str(), 0);
  }
  ::execv(argv[0], argv.data());
  ::_exit(121);
}

terminal_program::~terminal_program() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (terminal_ >= 0) ::close(terminal_);
  if (std::uncaught_exceptions() > 0) return;
  INFO("the key of a provider was shown, or stands in a file");
  CHECK_FALSE(holds_provider_key(written_));
  CHECK(files_with_provider_key(folder_) == std::vector<std::string>{});
}

bool terminal_program::read_some() {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  std::array<char, 4096> piece{};
  pollfd x{terminal_, POLLIN, 0};
  while (std::chrono::steady_clock::now() < deadline) {
    constexpr int milliseconds = 100;
    if (::poll(&x, 1, milliseconds) <= 0) continue;
    const auto n = ::read(terminal_, piece.data(), piece.size());
    if (n <= 0) return false;  // nobody has the other end open
    written_.append(piece.data(), static_cast<std::size_t>(n));
    return true;
  }
  return false;
}

std::size_t terminal_program::bytes_written() const {
  std::ifstream in{"/proc/" + std::to_string(pid_) + "/io"};
  std::string word;
  std::size_t n = 0;
  while (in >> word >> n)
    if (word == "wchar:") return n;
  FAIL("no wchar in /proc/PID/io");
  return 0;
}

bool terminal_program::read_until(const std::string& text) {
  while (written_.find(text) == std::string::npos) {
    if (!read_some()) return false;
  }
  return true;
}

namespace {

/// Where `text` ends in `written`, from `begin` on. A status line that is drawn
/// below a line on its way, between saving and restoring the cursor, and a
/// title of the window stand within its words for nobody but who reads bytes.
std::size_t end_of(const std::string& text, const std::string& written,
                   std::size_t begin) {
  const auto whole = written.find(text, begin);
  if (whole != std::string::npos) return whole + text.size();
  constexpr std::string_view room =
      "\x1b"
      "D";
  constexpr std::string_view saved =
      "\x1b"
      "7";
  constexpr std::string_view restored =
      "\x1b"
      "8\x1b[J";
  constexpr std::string_view title = "\x1b]2;";
  constexpr std::string_view title_ends = "\x1b\\";
  const std::string_view all{written};
  std::string kept;
  std::vector<std::size_t> ends;  // in `written`, of each kept byte
  for (auto at = begin; at < all.size();) {
    const auto rest = all.substr(at);
    const auto up = rest.starts_with("\x1b[") ? rest.find('A') : rest.npos;
    if (rest.starts_with(room)) {
      at += room.size();
    } else if (up <= 4 && rest.substr(up + 1).starts_with(saved)) {
      at += up + 1;
    } else if (rest.starts_with(saved) || rest.starts_with(title)) {
      const auto last = rest.starts_with(saved) ? restored : title_ends;
      const auto end = all.find(last, at);
      if (end == all.npos) break;
      at = end + last.size();
    } else {
      kept += all[at];
      ends.push_back(++at);
    }
  }
  const auto found = kept.find(text);
  return found == std::string::npos ? found : ends[found + text.size() - 1];
}

}  // namespace

bool terminal_program::read_next(const std::string& text) {
  auto end = end_of(text, written_, seen_);
  for (; end == std::string::npos; end = end_of(text, written_, seen_))
    if (!read_some()) return false;
  seen_ = end;
  return true;
}

int terminal_program::hang_up() {
  ::close(std::exchange(terminal_, -1));
  return wait_for_end();
}

int terminal_program::finish() {
  while (read_some()) {
  }
  return wait_for_end();
}

int terminal_program::wait_for_end() {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) != pid_) {
    if (std::chrono::steady_clock::now() > deadline) return -1;
    ::usleep(1000);
  }
  pid_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void terminal_program::type(const std::string& keys) const {
  REQUIRE(::write(terminal_, keys.data(), keys.size()) ==
          static_cast<ssize_t>(keys.size()));
}

void terminal_program::answer(const std::string& keys) const {
  constexpr auto moment = std::chrono::milliseconds{350};
  std::this_thread::sleep_for(moment);
  type(keys);
}

void terminal_program::signal(int number) const { ::kill(pid_, number); }

void terminal_program::stop_and_go_on(const std::string& typed) const {
  signal(SIGSTOP);
  termios mode{};
  ::tcgetattr(terminal_, &mode);
  mode.c_lflag |= ICANON | ECHO | ISIG | IEXTEN;
  mode.c_iflag |= ICRNL;
  ::tcsetattr(terminal_, TCSANOW, &mode);
  type(typed);
  signal(SIGCONT);
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer keeps a handler until its thread calls something, and the
  // kernel may have chosen one that sleeps.
  ::syscall(SYS_tgkill, pid_, pid_, SIGCONT);
#endif
}

void terminal_program::resize(unsigned short columns) const {
  const winsize size{24, columns, 0, 0};
  REQUIRE(::ioctl(terminal_, TIOCSWINSZ, &size) == 0);
}

}  // namespace riffle::testing
