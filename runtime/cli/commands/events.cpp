// SPDX-License-Identifier: MIT
// riffle events check FILE
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <streambuf>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_check.hpp"
#include "runtime/base/locked_files.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/exit_status.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

std::string count(std::uint64_t n, const char* what) {
  return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
}

std::string as_text(const check_report& x) {
  std::string out;
  for (const auto& v : x.violations) out += safe_text(render(v)) + "\n";
  if (x.broken > x.violations.size()) {
    out +=
        "… and " + std::to_string(x.broken - x.violations.size()) + " more\n";
  }
  return out + (x.ok() ? "ok: " : "broken: ") + count(x.runs, "run") + ", " +
         count(x.events, "event") + ", " + count(x.broken, "violation") + "\n";
}

json violation_json(const violation& v) {
  return {{"line", v.line},
          {"seq", v.seq},
          {"promise", v.promise},
          {"text", v.text}};
}

std::string as_json(const check_report& x, bool lines) {
  std::string out;
  auto all = json::array();
  for (const auto& v : x.violations) {
    const auto item = violation_json(v);
    constexpr auto replace = json::error_handler_t::replace;
    if (lines) out += item.dump(-1, ' ', false, replace) + "\n";
    all.push_back(item);
  }
  if (lines) return out;
  const json object = {{"ok", x.ok()},
                       {"runs", x.runs},
                       {"events", x.events},
                       {"broken", x.broken},
                       {"violations", all}};
  return object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

/// The bytes of a log of any length.
class log_bytes final : public std::streambuf {
 public:
  /// `first`: what was read of it already.
  explicit log_bytes(unique_fd from, std::string first = {})
      : from_{std::move(from)} {
    std::ranges::copy(first, piece_.begin());
    setg(piece_.data(), piece_.data(), piece_.data() + first.size());
  }

 protected:
  int_type underflow() override {
    ssize_t n = 0;
    do n = ::read(from_.get(), piece_.data(), piece_.size());
    while (n < 0 && errno == EINTR);
    if (n < 0) throw std::system_error{errno, std::generic_category()};
    if (n == 0) return traits_type::eof();
    setg(piece_.data(), piece_.data(), piece_.data() + n);
    return traits_type::to_int_type(piece_[0]);
  }

 private:
  unique_fd from_;
  std::array<char, 65536> piece_{};
};

/// What had to be read to know it; nothing: it is a pipe into which nobody
/// writes. Who has opened it may take his time.
std::optional<std::string> begins_in_time(int fd) {
  constexpr int limit_ms = 5000;
  pollfd ready{fd, POLLIN, 0};
  int n = 0;
  do n = ::poll(&ready, 1, limit_ms);
  while (n < 0 && errno == EINTR);
  if (n != 0) return "";
  char first = 0;
  const auto got = ::read(fd, &first, 1);
  if (got == 0) return std::nullopt;
  return std::string(got > 0 ? 1 : 0, first);
}

struct opened_log {
  unique_fd from;
  std::string first;  ///< of its bytes
};

/// Or what is wrong, to stand behind its name. What has begun may take its
/// time: it may come from a run that works.
tl::expected<opened_log, std::string> open_log(const std::string& file) {
  using problem = tl::unexpected<std::string>;
  // Not blocking: opening a pipe would wait for somebody who writes.
  auto log = open_unlocked(file, O_RDONLY | O_NONBLOCK | O_NOCTTY);
  struct stat about{};
  if (!log || ::fstat(log.get(), &about) != 0 || S_ISDIR(about.st_mode))
    return problem{"cannot be read: no such file, or no permission"};
  auto first = begins_in_time(log.get());
  if (!first)
    return problem{
        "did not begin within 5 s: nobody writes into it (\"-\" reads "
        "standard input, however long that takes)"};
  const int flags = ::fcntl(log.get(), F_GETFL);
  ::fcntl(log.get(), F_SETFL, flags & ~O_NONBLOCK);
  return opened_log{std::move(log), *std::move(first)};
}

int check(std::istream& log, const events_check_command& x, console& io) {
  const auto found = check_events(log, {x.allow_unfinished});
  if (log.bad()) {
    io.complain("\"" + x.file + "\" cannot be read to its end");
    return usage;
  }
  const auto kind = x.common.output;
  const bool silent = kind == output_kind::text &&
                      x.common.level == verbosity::quiet && found.ok();
  if (!silent) {
    io.out.write(kind == output_kind::text
                     ? as_text(found)
                     : as_json(found, kind == output_kind::jsonl));
  }
  return found.ok() && io.out.good() ? completed : failed;
}

}  // namespace

int execute(const events_check_command& x, console& io) {
  if (x.file == "-") return check(std::cin, x, io);
  auto file = open_log(x.file);
  if (!file) {
    io.complain("\"" + x.file + "\" " + file.error());
    return usage;
  }
  log_bytes bytes{std::move(file->from), file->first};
  std::istream log{&bytes};
  return check(log, x, io);
}

}  // namespace riffle::cli
