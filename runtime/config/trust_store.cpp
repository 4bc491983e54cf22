// SPDX-License-Identifier: MIT
#include "runtime/config/trust_store.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/digest.hpp"
#include "runtime/base/file_lock.hpp"
#include "runtime/base/read_within.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/base/write_all.hpp"
#include "runtime/config/home.hpp"

namespace riffle::config {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// JSON may take six bytes for one.
constexpr read_limits largest_entry{.bytes = std::size_t{8} << 20};
constexpr auto lock_deadline = std::chrono::seconds{5};
/// Only who holds the lock writes it.
constexpr const char* unfinished = ".new";

unexpected problem(const fs::path& file, const std::string& why) {
  return unexpected{
      error{errc::invalid_config,
            "trust",
            "what you trust is kept in " + file.string() + ", which " + why,
            false,
            {}}};
}

unexpected problem(const fs::path& file, int number) {
  return problem(file,
                 "cannot be used: " + std::generic_category().message(number));
}

/// Nobody else could have written it.
bool is_private(const struct stat& x) {
  return x.st_uid == ::geteuid() && (x.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

std::optional<trusted_file> parse_entry(const std::string& text) {
  const auto x = json::parse(text, nullptr, false);
  if (!x.is_object()) return std::nullopt;
  const auto text_of = [&](const char* key) {
    const auto found = x.find(key);
    return found != x.end() && found->is_string() ? found->get<std::string>()
                                                  : std::string{};
  };
  trusted_file out{text_of("file"), text_of("text"), text_of("digest"), {}};
  if (out.file.empty() || out.digest != sha256(out.text)) return std::nullopt;
  if (const auto us = x.find("since_us"); us != x.end())
    out.since = {us->is_number_integer() ? us->get<std::int64_t>() : 0};
  return out;
}

std::optional<trusted_file> read_entry(const fs::path& entry) {
  struct stat about{};
  // The folder is the person's: between here and the reading only they act.
  if (::lstat(entry.c_str(), &about) != 0 || !S_ISREG(about.st_mode) ||
      !is_private(about))
    return std::nullopt;
  const auto text = read_within(entry, largest_entry);
  return text ? parse_entry(*text) : std::nullopt;
}

/// Nothing: it is not there, and so nothing is trusted.
expected<unique_fd> open_store(const fs::path& folder) {
  unique_fd fd{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!fd) {
    if (errno == ENOENT) return fd;
    return problem(folder, errno);
  }
  struct stat about{};
  if (::fstat(fd.get(), &about) != 0) return problem(folder, errno);
  if (!is_private(about))
    return problem(folder,
                   "others can write to: make it yours alone (chown, chmod "
                   "go-w)");
  return fd;
}

expected<unique_fd> lock_store(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder.parent_path(), failed);
  if (failed) return problem(folder, failed.value());
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return problem(folder, errno);
  auto fd = open_store(folder);
  if (!fd) return fd;
  if (lock_until(*fd, lock_kind::exclusive,
                 std::chrono::steady_clock::now() + lock_deadline))
    return fd;
  return problem(folder, "another process holds for too long");
}

/// A name may hold what is no UTF-8; JSON cannot.
std::string dumped(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

bool is_of(const trusted_file& x, const fs::path& file) {
  return dumped(x.file.string()) == dumped(file.string());
}

}  // namespace

trust_store::trust_store(fs::path folder) : folder_{std::move(folder)} {}

expected<trust_store> trust_store::of_user() {
  auto base = user_folder("XDG_STATE_HOME", "~/.local/state");
  if (!base) return unexpected{std::move(base.error())};
  return trust_store{*base / "riffle" / "trust"};
}

fs::path trust_store::entry_of(const fs::path& file) const {
  return folder_ / sha256(file.string());
}

expected<std::optional<trusted_file>> trust_store::find(
    const fs::path& file) const {
  const auto store = open_store(folder_);
  if (!store) return unexpected{store.error()};
  auto found = read_entry(entry_of(file));
  if (found && !is_of(*found, file)) found.reset();
  return found;
}

expected<void> trust_store::trust(const fs::path& file, const std::string& text,
                                  wall_time now) const {
  const auto lock = lock_store(folder_);
  if (!lock) return unexpected{lock.error()};
  const json entry = {{"file", file.string()},
                      {"digest", sha256(text)},
                      {"since_us", now.us},
                      {"text", text}};
  const auto name = folder_ / unfinished;
  ::unlink(name.c_str());  // of a process that was killed
  const unique_fd fd{
      ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)};
  if (!fd) return problem(folder_, errno);
  const auto bytes = dumped(entry) + "\n";
  if (write_all(fd.get(), bytes) == 0 &&
      ::rename(name.c_str(), entry_of(file).c_str()) == 0)
    return {};
  const int number = errno;
  ::unlink(name.c_str());
  return problem(folder_, number);
}

expected<bool> trust_store::revoke(const fs::path& file) const {
  const auto lock = lock_store(folder_);
  if (!lock) return unexpected{lock.error()};
  if (::unlink(entry_of(file).c_str()) == 0) return true;
  if (errno == ENOENT) return false;
  return problem(folder_, errno);
}

expected<std::vector<trusted_file>> trust_store::list() const {
  const auto store = open_store(folder_);
  if (!store) return unexpected{store.error()};
  std::vector<trusted_file> out;
  std::error_code failed;
  for (const auto& x : fs::directory_iterator{folder_, failed})
    if (auto entry = read_entry(x.path())) out.push_back(std::move(*entry));
  std::ranges::sort(out, {}, &trusted_file::file);
  return out;
}

fs::path trust_name(const fs::path& file) {
  std::error_code failed;
  const auto whole = fs::absolute(file, failed);
  const auto folder = fs::canonical(whole.parent_path(), failed);
  return failed ? whole : folder / whole.filename();
}

}  // namespace riffle::config
