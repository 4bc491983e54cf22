// SPDX-License-Identifier: MIT
#include "runtime/base/trace.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "runtime/base/digest.hpp"

namespace riffle {

namespace {

constexpr std::size_t most_traces = 10'000;
constexpr std::size_t trace_digits = 32;
constexpr std::size_t parent_digits = 16;
constexpr std::size_t parent_at = 36;  // "00-", trace, "-"

struct known_traces {
  std::mutex mutex;
  std::map<std::string, std::string> of;
  std::deque<std::string> order;
};

known_traces& traces() {
  static known_traces all;
  return all;
}

thread_local const run_id* run_of_thread = nullptr;

bool is_number(std::string_view text) noexcept {
  return std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
}

bool is_id(std::string_view text) noexcept {
  return is_number(text) && text.find_first_not_of('0') != text.npos;
}

}  // namespace

bool is_traceparent(std::string_view text) noexcept {
  constexpr std::size_t size = 55;
  constexpr std::size_t flags_at = 53;
  return text.size() == size && text.starts_with("00-") &&
         text[parent_at - 1] == '-' && text[flags_at - 1] == '-' &&
         is_id(text.substr(3, trace_digits)) &&
         is_id(text.substr(parent_at, parent_digits)) &&
         is_number(text.substr(flags_at));
}

void keep_trace(const run_id& run, std::string traceparent) {
  auto& all = traces();
  const std::lock_guard lock{all.mutex};
  if (all.of.insert_or_assign(run.value, std::move(traceparent)).second)
    all.order.push_back(run.value);
  if (all.order.size() <= most_traces) return;
  all.of.erase(all.order.front());
  all.order.pop_front();
}

void share_trace(const run_id& whole, const run_id& part) {
  auto& all = traces();
  std::string kept;
  {
    const std::lock_guard lock{all.mutex};
    const auto found = all.of.find(whole.value);
    if (found == all.of.end()) return;
    kept = found->second;
  }
  keep_trace(part, std::move(kept));
}

std::string trace_of(const run_id& run) {
  auto& all = traces();
  {
    const std::lock_guard lock{all.mutex};
    const auto found = all.of.find(run.value);
    if (found != all.of.end()) return found->second;
  }
  const auto digest = sha256(run.value);
  return "00-" + digest.substr(0, trace_digits) + "-" +
         digest.substr(trace_digits, parent_digits) + "-01";
}

trace_scope::trace_scope(const run_id& run) noexcept
    : before_{std::exchange(run_of_thread, &run)} {}

trace_scope::~trace_scope() { run_of_thread = before_; }

std::string current_trace() {
  return run_of_thread == nullptr ? std::string{} : trace_of(*run_of_thread);
}

}  // namespace riffle
