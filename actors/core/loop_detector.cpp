// SPDX-License-Identifier: MIT
#include "actors/core/loop_detector.hpp"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>

#include "messages/runtime_note.hpp"

namespace riffle::core {

namespace {

/// Polling calls that are remembered; more are rare, and forgetting one only
/// means that its next result is news.
constexpr std::size_t max_polled = 64;

std::uint64_t mix(std::uint64_t a, std::uint64_t b) noexcept {
  return a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2));
}

}  // namespace

std::uint64_t digest_of(std::string_view text) noexcept {
  return std::hash<std::string_view>{}(text);
}

std::string loop_hint(const loop_report& x) {
  std::string text{runtime_note};
  text += "You have made " + x.calls + " " + std::to_string(x.times);
  text +=
      " times in a row, each time with the same arguments and the same "
      "result. Once more will not tell you anything new. Use what you "
      "have, try another way, or say what is missing. If this goes on, the "
      "run ends.";
  return text;
}

void loop_detector::sequence::add(std::uint64_t x, std::string_view name) {
  for (std::size_t period = 1; period <= runs_.size(); ++period) {
    auto& run = runs_[period - 1];
    run = seen_ >= period && last_[period - 1] == x ? run + 1 : 0;
  }
  last_ = {x, last_[0]};
  names_[1] = std::exchange(names_[0], std::string{name});
  ++seen_;
}

loop_detector::loop_detector(std::uint32_t limit)
    : limit_{limit == 1 ? 2 : limit} {}

loop_report loop_detector::on_step(const std::vector<observed_call>& calls) {
  if (limit_ == 0) return {};
  if (polled_news(calls)) {
    calls_ = steps_ = {};
    any_ = false;
  }
  const auto before = any_ ? most() : 0;
  std::vector<std::uint64_t> seen;
  std::unordered_set<std::uint64_t> known;
  std::string names;
  for (const auto& x : calls) {
    const auto digest = mix(x.asked, x.result);
    if (x.polling || !known.insert(digest).second) continue;
    seen.push_back(digest);
    names += (names.empty() ? "`" : ", `") + x.tool + "`";
    calls_.add(digest, "`" + x.tool + "`");
  }
  if (seen.empty()) return {};
  std::ranges::sort(seen);  // calls of a step have no order among each other
  std::uint64_t step = seen.size();
  for (const auto x : seen) step = mix(step, x);
  steps_.add(step, names);
  any_ = true;
  const auto times = most();
  if (times > limit_) return {loop_finding::loop, times, name_of(times)};
  if (times == limit_ && before < limit_)
    return {loop_finding::hint, times, name_of(times)};
  return {};
}

bool loop_detector::polled_news(const std::vector<observed_call>& calls) {
  bool news = false;
  for (const auto& x : calls) {
    if (!x.polling) continue;
    if (polled_.size() >= max_polled && !polled_.contains(x.asked))
      polled_.clear();
    const auto [entry, added] = polled_.try_emplace(x.asked, x.result);
    news = news || added || entry->second != x.result;
    entry->second = x.result;
  }
  return news;
}

std::uint32_t loop_detector::most() const noexcept {
  return std::max(
      {calls_.times(1), calls_.times(2), steps_.times(1), steps_.times(2)});
}

std::string loop_detector::name_of(std::uint32_t times) const {
  if (calls_.times(1) == times) return "the same call (" + calls_.name(0) + ")";
  if (calls_.times(2) == times)
    return "the same two calls in turn (" + calls_.name(1) + ", " +
           calls_.name(0) + ")";
  if (steps_.times(1) == times)
    return "the same calls (" + steps_.name(0) + ")";
  return "the same steps in turn (" + steps_.name(1) + "; " + steps_.name(0) +
         ")";
}

}  // namespace riffle::core
