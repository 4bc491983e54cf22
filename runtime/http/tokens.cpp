// SPDX-License-Identifier: MIT
#include "runtime/http/tokens.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fcntl.h>
#include <optional>
#include <stdexcept>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

#include "runtime/base/digest.hpp"
#include "runtime/base/encoding.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/base/write_all.hpp"
#include "runtime/storage/owner.hpp"

namespace riffle::http {

namespace {

constexpr const char* server_op = "server";
constexpr std::size_t secret_bytes = 32;

std::string to_hex(const unsigned char* bytes, std::size_t count) {
  return hex_text({reinterpret_cast<const char*>(bytes), count});
}

role parse_role(std::string_view word) {
  if (word == "run") return role::run;
  if (word == "decide") return role::decide;
  return word == "admin" ? role::admin : role::read;
}

caller_ptr make_caller(const std::string& name, const std::string& hash,
                       const config::token_config& x) {
  auto out = std::make_shared<caller>();
  out->name = name;
  out->hash = hash;
  for (const auto& word : x.roles) out->roles.push_back(parse_role(word));
  out->agents = x.agents;
  if (!x.workspace.empty())
    out->workspace = std::filesystem::absolute(x.workspace);
  out->sees_all = x.sessions == "all" || out->may(role::admin);
  return out;
}

unexpected file_error(const std::filesystem::path& file,
                      const std::string& what) {
  return unexpected{
      error{errc::invalid_config, server_op, file.string() + ": " + what}};
}

expected<std::string> read_secret(const std::filesystem::path& file, int fd) {
  struct ::stat about{};
  if (::fstat(fd, &about) != 0 || !S_ISREG(about.st_mode))
    return file_error(file, "is no file");
  if (about.st_uid != ::geteuid() || (about.st_mode & 077U) != 0)
    return file_error(file,
                      "holds a secret that others can read; take that away "
                      "(chmod 600), or remove it and a new one is made");
  std::array<char, 256> bytes{};
  const auto count = ::read(fd, bytes.data(), bytes.size());
  std::string text{bytes.data(),
                   count > 0 ? static_cast<std::size_t>(count) : 0};
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.size() < secret_bytes)
    return file_error(file, "holds no secret; remove it and a new one is made");
  return text;
}

/// Whole or not at all: under a name of its own until it is written. Whose came
/// first is there, and stays.
std::optional<error> write_secret(const std::filesystem::path& file) {
  auto draft = file.string() + ".XXXXXX";
  const unique_fd fd{::mkostemp(draft.data(), O_CLOEXEC)};
  int why = fd ? write_all(fd.get(), make_secret() + "\n") : errno;
  if (why == 0 && ::fsync(fd.get()) != 0) why = errno;
  if (why == 0 && ::link(draft.c_str(), file.c_str()) != 0) why = errno;
  if (fd) ::unlink(draft.c_str());
  if (why == 0 || why == EEXIST) return {};
  return error{errc::storage_unavailable, server_op,
               file.string() + ": cannot be written: " +
                   std::generic_category().message(why)};
}

}  // namespace

bool caller::may(role x) const noexcept {
  return std::ranges::any_of(
      roles, [&](role y) { return y == x || y == role::admin; });
}

bool caller::may_use(std::string_view agent) const noexcept {
  return agents.empty() || std::ranges::find(agents, agent) != agents.end();
}

token_book::token_book(
    std::string_view main,
    const std::map<std::string, config::token_config>& others,
    std::string cookie_key)
    : cookie_key_{std::move(cookie_key)} {
  if (!main.empty()) {
    config::token_config all;
    all.roles = {"admin"};
    all_.push_back({sha256(main), make_caller(main_token, sha256(main), all)});
  }
  for (const auto& [name, x] : others)
    all_.push_back({x.hash, make_caller(name, x.hash, x)});
}

/// All are compared, whichever fits: time tells nothing.
caller_ptr token_book::find(std::string_view token) const {
  const auto hash = sha256(token);
  caller_ptr found;
  for (const auto& x : all_)
    if (same_secret(x.hash, hash)) found = x.who;
  return found;
}

bool token_book::has(const caller& x) const {
  return std::ranges::any_of(all_, [&](const auto& y) { return *y.who == x; });
}

std::string token_book::sign(std::string_view text,
                             std::string_view hash) const {
  const auto key = cookie_key_ + std::string{hash};
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  ::HMAC(::EVP_sha256(), key.data(), static_cast<int>(key.size()),
         reinterpret_cast<const unsigned char*>(text.data()), text.size(),
         out.data(), &size);
  return to_hex(out.data(), size);
}

std::string token_book::cookie_for(const caller& x, wall_time until) const {
  for (const auto& one : all_) {
    if (one.who->name != x.name) continue;
    const auto text = std::to_string(until.us) + "." + x.name;
    return text + "." + sign(text, one.hash);
  }
  return {};
}

caller_ptr token_book::find_cookie(std::string_view value,
                                   wall_time now) const {
  const auto until = end_of_cookie(value);
  if (!until || *until < now) return nullptr;
  const auto last = value.rfind('.');
  const auto text = value.substr(0, last);
  const auto name = text.substr(text.find('.') + 1);
  for (const auto& x : all_)
    if (x.who->name == name &&
        same_secret(sign(text, x.hash), value.substr(last + 1)))
      return x.who;
  return nullptr;
}

/// "UNTIL.NAME.SIGNATURE"
std::optional<wall_time> end_of_cookie(std::string_view value) noexcept {
  const auto first = value.find('.');
  if (first == std::string_view::npos || value.rfind('.') == first) return {};
  wall_time until;
  const auto end = value.data() + first;
  const auto read = std::from_chars(value.data(), end, until.us);
  if (read.ec != std::errc{} || read.ptr != end) return {};
  return until;
}

bool same_secret(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         ::CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string make_secret() {
  std::array<unsigned char, secret_bytes> bytes{};
  if (::RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    throw std::runtime_error{"the system gives no random numbers"};
  return to_hex(bytes.data(), bytes.size());
}

expected<std::string> secret_file(const std::filesystem::path& file) {
  const auto folder = file.parent_path();
  for (const auto& one : {folder.parent_path(), folder})
    if (auto made = storage::make_private_folder(one); !made)
      return unexpected{error{errc::invalid_config, server_op,
                              made.error().message +
                                  " (runtime.data_dir says where the server "
                                  "keeps what it needs)"}};
  if (::access(file.c_str(), F_OK) != 0 && errno == ENOENT)
    if (auto failed = write_secret(file)) return unexpected{std::move(*failed)};
  const unique_fd there{::open(file.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!there)
    return file_error(
        file, "cannot be read: " + std::generic_category().message(errno));
  return read_secret(file, there.get());
}

std::optional<duration> rate_limiter::delay(const std::string& who,
                                            time_point now, duration most) {
  if (most_ == 0) return duration{};
  constexpr std::size_t most_buckets = 10'000;
  if (buckets_.size() > most_buckets) forget_full(now);
  const double full = most_;
  auto [at, added] = buckets_.try_emplace(who, bucket{full, now});
  auto& x = at->second;
  const std::chrono::duration<double> passed = now - x.at;
  x.left = std::min(full, x.left + passed.count() * full);
  x.at = now;
  const std::chrono::duration<double> wait{std::max(0.0, (1 - x.left) / full)};
  if (wait > most) return std::nullopt;
  x.left -= 1;
  return std::chrono::duration_cast<duration>(wait);
}

/// Those that are full again are as if they were new; who has used his up
/// stays, unless there are too many of them.
void rate_limiter::forget_full(time_point now) {
  const double full = most_;
  const auto before = buckets_.size();
  std::erase_if(buckets_, [&](const auto& one) {
    const std::chrono::duration<double> passed = now - one.second.at;
    return one.second.left + passed.count() * full >= full;
  });
  if (buckets_.size() > before / 2) buckets_.clear();
}

}  // namespace riffle::http
