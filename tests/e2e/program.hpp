// SPDX-License-Identifier: MIT
#pragma once

// The real program in a folder of its own, and what a provider says to it.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/support/http_server.hpp"

namespace riffle::testing {

/// The installed binary (installed once for each test program).
std::filesystem::path installed_riffle();

/// The same program over the file layer that kills it.
std::filesystem::path crashable_riffle();

/// A folder that is removed at the end. Until then no file in it may hold the
/// key of the provider that each program has (support/canary.hpp): what
/// programs write, to their outputs, too, stands there.
class work_folder {
 public:
  work_folder();
  ~work_folder();
  work_folder(const work_folder&) = delete;
  work_folder& operator=(const work_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file below it.
  void write(const std::string& name, std::string_view text) const;
  /// A file's content; "" if there is none.
  [[nodiscard]] std::string read(const std::string& name) const;
  /// Lines of a file.
  [[nodiscard]] std::vector<std::string> lines(const std::string& name) const;
  /// Writes a riffle.toml for a provider at `url`; `more` is appended.
  /// `program` names it in $RIFFLE_CONFIG.
  void configure(const std::string& url, std::string_view more = {}) const;

 private:
  std::filesystem::path path_;
};

struct finished {
  int status = -1;  ///< exit status; 128 + signal if killed
  std::string out;
  std::string err;
  std::size_t peak_kib = 0;  ///< most memory that it had, read every 5 ms
};

/// A running program; killed by the destructor.
class program {
 public:
  program(const std::filesystem::path& binary, const work_folder& folder,
          std::vector<std::string> arguments,
          const std::map<std::string, std::string>& env = {});
  ~program();
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void signal(int number) const;
  /// What it wrote so far.
  [[nodiscard]] std::string out() const;
  [[nodiscard]] std::string err() const;
  /// Whether it is a zombie: it ended, and `wait` gives its status.
  [[nodiscard]] bool has_ended() const;
  /// Waits for its end; fails the test after `limit` (times the timeout for
  /// sanitizers) of time in which it could run, see fair_limit.hpp.
  finished wait(std::chrono::milliseconds limit = std::chrono::seconds{60});

 private:
  pid_t pid_ = -1;
  std::filesystem::path out_;
  std::filesystem::path err_;
};

/// Runs the installed program to its end.
finished riffle(const work_folder& folder, std::vector<std::string> arguments,
                const std::map<std::string, std::string>& env = {});

/// Processes whose working folder is this one or below it, zombies left out:
/// what a tool started and nobody ended.
std::vector<pid_t> processes_in(const work_folder& folder);

/// Whether a command of the shell works on this machine.
bool can(const std::string& command);

/// Polls until `done()`; false after `limit`.
bool eventually(const std::function<bool()>& done,
                std::chrono::milliseconds limit = std::chrono::seconds{20});

/// The events of jsonl output, checked by the one checker: a violation fails
/// the test.
std::vector<nlohmann::json> checked_events(const std::string& jsonl);

/// Events of one type.
std::vector<nlohmann::json> of_type(const std::vector<nlohmann::json>& events,
                                    std::string_view type);

// -- a provider's words -------------------------------------------------------

std::string say(std::string_view text);
std::string call(int index, const std::string& id, const std::string& tool,
                 const nlohmann::json& arguments);
std::string finish(const std::string& reason);
inline const std::string done_mark = "data: [DONE]\n\n";

/// A whole answer: text, then stop.
std::string answer(std::string_view text);
/// Calls, then tool_calls.
std::string calls(
    const std::vector<std::pair<std::string, nlohmann::json>>& all);

/// Tool messages of a captured request, in order.
std::vector<nlohmann::json> tool_messages(const http_request& request);

/// Fails the test unless each assistant message with calls of the request is
/// followed by exactly one result for each, in order (promise 6).
void check_results(const http_request& request);

}  // namespace riffle::testing
