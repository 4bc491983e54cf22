// SPDX-License-Identifier: MIT
#include "runtime/base/secrets.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <sys/prctl.h>
#include <unistd.h>
#include <utility>

#include "runtime/base/expired_secrets.hpp"
#include "runtime/base/proc_stat.hpp"
#include "runtime/base/secret_forms.hpp"
#include "runtime/base/text.hpp"

namespace riffle {

namespace {

constexpr std::size_t shortest = 4;
/// A shorter key may be another variable's value by chance ("none", "test").
constexpr std::size_t surely_a_key = 8;

struct known_secrets {
  std::shared_mutex mutex;
  std::map<std::string, std::string> taken;  ///< by variable
  std::set<std::string, std::less<>> variables;
  std::set<std::string, std::less<>> keys;  ///< values of variables
  std::set<std::string, std::less<>> all;
  std::vector<std::string> forms;
};

known_secrets& known() {
  static auto* const x = new known_secrets;  // threads may outlive statics
  return *x;
}

void remember(std::string_view value, bool key) {
  if (value.size() < shortest) return;
  auto& x = known();
  const std::lock_guard lock{x.mutex};
  if (key && value.size() >= surely_a_key) x.keys.emplace(value);
  if (!x.all.emplace(value).second) return;
  for (auto& form : secret_forms(value)) x.forms.push_back(std::move(form));
}

/// The bytes that /proc/PID/environ shows; empty if they are not known.
std::pair<char*, char*> shown_environment() {
  const proc_stat own{::getpid()};
  const auto begin = static_cast<std::uintptr_t>(own.number(50));  // env_start
  const auto end = static_cast<std::uintptr_t>(own.number(51));    // env_end
  if (begin == 0 || end < begin) return {};
  return {reinterpret_cast<char*>(begin), reinterpret_cast<char*>(end)};
}

bool holds(std::string_view entry, std::string_view variable,
           std::string_view value) {
  const auto name_end = std::min(entry.find('='), entry.size());
  if (entry.substr(0, name_end) == variable) return true;
  return value.size() >= surely_a_key &&
         entry.substr(name_end).find(value) != entry.npos;
}

void wipe_shown(std::string_view variable, std::string_view value) {
  const auto [begin, end] = shown_environment();
  for (char* at = begin; at < end;) {
    const auto length = ::strnlen(at, static_cast<std::size_t>(end - at));
    if (holds({at, length}, variable, value)) ::explicit_bzero(at, length);
    at += length + 1;
  }
}

std::vector<std::string> variables_with(std::string_view variable,
                                        std::string_view value) {
  std::vector<std::string> out;
  for (char** x = ::environ; x && *x; ++x) {
    const std::string_view entry = *x;
    if (holds(entry, variable, value))
      out.emplace_back(entry.substr(0, entry.find('=')));
  }
  return out;
}

}  // namespace

std::optional<std::string> read_key(const std::string& variable) {
  std::string value;
  {
    auto& x = known();
    const std::shared_lock lock{x.mutex};
    if (const auto found = x.taken.find(variable); found != x.taken.end())
      value = found->second;
  }
  if (const char* set = std::getenv(variable.c_str()); set && *set) value = set;
  if (trimmed(value).empty()) return std::nullopt;  // as good as unset
  {
    auto& x = known();
    const std::lock_guard lock{x.mutex};
    x.variables.insert(variable);
  }
  remember(trimmed(value), true);  // as it is sent
  return value;
}

void take_key(const std::string& variable) {
  const auto value = read_key(variable);
  if (!value) return;
  {
    auto& x = known();
    const std::lock_guard lock{x.mutex};
    x.taken[variable] = *value;
  }
  const auto names = variables_with(variable, trimmed(*value));
  wipe_shown(variable, trimmed(*value));
  for (const auto& name : names) ::unsetenv(name.c_str());
  ::unsetenv(variable.c_str());
}

void refuse_tracing() noexcept {
#ifndef __SANITIZE_ADDRESS__
  ::prctl(PR_SET_DUMPABLE, 0);
#endif
}

void add_secret(std::string_view value) { remember(value, false); }

void forget_secret(std::string_view value) {
  auto& x = known();
  const std::lock_guard lock{x.mutex};
  if (x.keys.contains(value)) return;
  const auto found = x.all.find(value);
  if (found == x.all.end()) return;
  x.all.erase(found);
  x.forms.clear();
  for (const auto& secret : x.all)
    for (auto& form : secret_forms(secret)) x.forms.push_back(std::move(form));
}

void add_secrets_of_url(std::string_view url) {
  const auto begin = url.find("://");
  if (begin == url.npos) return;
  url.remove_prefix(begin + 3);
  url = url.substr(0, std::min(url.find_first_of("/?#"), url.size()));
  const auto end = url.rfind('@');
  if (end == url.npos) return;
  const auto user = url.substr(0, end);
  const auto password = user.find(':');
  add_secret(user);
  if (password != user.npos) add_secret(user.substr(password + 1));
}

std::vector<std::string> environment_without_keys() {
  auto& x = known();
  const std::shared_lock lock{x.mutex};
  std::vector<std::string> out;
  for (char** entry = ::environ; entry && *entry; ++entry) {
    const std::string_view text = *entry;
    const auto value = text.substr(std::min(text.find('='), text.size()));
    const auto name = text.substr(0, text.size() - value.size());
    bool shown = x.variables.find(name) == x.variables.end();
    for (const auto& key : x.keys)
      shown = shown && value.find(key) == value.npos;
    if (shown) out.emplace_back(text);
  }
  return out;
}

std::string redact(std::string text) {
  auto& x = known();
  {
    const std::shared_lock lock{x.mutex};
    if (!x.forms.empty()) text = hide_forms(std::move(text), x.forms);
  }
  return hide_user_of_urls(std::move(text));
}

error redact(error x) {
  x.message = redact(std::move(x.message));
  x.cause = redact(std::move(x.cause));
  return x;
}

}  // namespace riffle
