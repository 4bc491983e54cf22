// SPDX-License-Identifier: MIT
#include "runtime/storage/health_registry.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/clock.hpp"
#include "runtime/base/file_lock.hpp"
#include "runtime/base/log.hpp"

namespace riffle::storage {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::size_t largest = 64u << 10;
/// Bytes of a reason, for one must not take the place of all.
constexpr std::size_t longest_why = 2048;

std::string text_of(int fd) {
  std::string out(largest, '\0');
  const auto n = ::pread(fd, out.data(), out.size(), 0);
  out.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return out;
}

/// What a process wrote; nothing if it was at it just now.
void read_board(int fd, std::vector<tool_outage>& out) {
  const auto all = json::parse(text_of(fd), nullptr, false);
  if (!all.is_array()) return;
  for (const auto& x : all)
    out.push_back({x.value("tool", ""), x.value("why", ""),
                   wall_time{x.value("since_us", std::int64_t{0})},
                   x.value("process", 0)});
}

/// As many as a reader takes.
std::string to_text(const std::map<std::string, tool_outage>& outages) {
  std::string out = "[";
  for (const auto& [tool, x] : outages) {
    const json one = {{"tool", tool},
                      {"why", x.why.substr(0, longest_why)},
                      {"since_us", x.since.us},
                      {"process", x.process}};
    const auto text = one.dump(-1, ' ', false, json::error_handler_t::replace);
    if (out.size() + text.size() + 2 > largest) break;
    if (out.size() > 1) out += ',';
    out += text;
  }
  return out += ']';
}

}  // namespace

health_registry::health_registry(fs::path folder)
    : folder_{std::move(folder)} {}

health_registry::~health_registry() {
  std::error_code ignored;
  if (fd_) fs::remove(file_, ignored);
}

void health_registry::note(const std::string& tool, const std::string& why) {
  const std::lock_guard lock{mutex_};
  if (why.empty())
    outages_.erase(tool);
  else
    outages_[tool] = {tool, why, system_wall_time(), ::getpid()};
}

/// The next outage makes another one if this fails: in a file that has not its
/// name and lock, nobody would read it.
bool health_registry::make_file() {
  if (const auto made = make_private_folder(folder_); !made) {
    log_warn("health_registry", made.error().message);
    return false;
  }
  // Readers pass over the name until the file is locked.
  auto name = (folder_ / ".board-XXXXXX").string();
  unique_fd made{::mkostemp(name.data(), O_CLOEXEC)};
  const auto file = folder_ / fs::path{name}.filename().string().substr(1);
  const bool good = made && try_lock(made, lock_kind::exclusive) &&
                    ::rename(name.c_str(), file.c_str()) == 0;
  if (!good) {
    log_warn("health_registry",
             name + ": " + std::generic_category().message(errno));
    if (made) ::unlink(name.c_str());
    return false;
  }
  fd_ = std::move(made);
  file_ = file;
  return true;
}

void health_registry::publish() {
  const std::lock_guard lock{mutex_};
  if (!fd_ && (outages_.empty() || !make_file())) return;
  const auto text = to_text(outages_);
  const bool good = ::ftruncate(fd_.get(), 0) == 0 &&
                    ::pwrite(fd_.get(), text.data(), text.size(), 0) ==
                        static_cast<ssize_t>(text.size());
  if (!good)
    log_warn("health_registry",
             file_.string() + ": " + std::generic_category().message(errno));
}

std::vector<tool_outage> read_outages(const fs::path& folder) {
  std::vector<tool_outage> out;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator{folder, failed}) {
    if (entry.path().filename().string().starts_with('.')) continue;
    const unique_fd fd{
        ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)};
    if (!fd) continue;
    const bool dead = try_lock(fd, lock_kind::shared);
    std::error_code ignored;
    if (dead)
      fs::remove(entry.path(), ignored);
    else
      read_board(fd.get(), out);
  }
  std::ranges::sort(out, {}, [](const tool_outage& x) {
    return std::pair{x.tool, x.process};
  });
  return out;
}

}  // namespace riffle::storage
