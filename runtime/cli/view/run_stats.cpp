// SPDX-License-Identifier: MIT
#include "runtime/cli/view/run_stats.hpp"

#include <array>
#include <cstdio>

#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

constexpr auto tag = "[STATS] ";

std::string tokens_text(const token_usage& x) {
  std::string out = std::to_string(x.input_tokens) + " in";
  if (x.cached_tokens)
    out += " (" + std::to_string(*x.cached_tokens) + " cached)";
  out += ", " + std::to_string(x.output_tokens) + " out";
  if (x.reasoning_tokens) {
    out += " (" + std::to_string(*x.reasoning_tokens) + " reasoning)";
  }
  if (x.estimated) out += ", estimated";
  return out +
         "; cost: " + (x.cost_usd ? money_text(*x.cost_usd) : "no price set");
}

}  // namespace

std::string money_text(double usd) {
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), usd < 0.01 ? "$%.6f" : "$%.4f", usd);
  return out.data();
}

void run_stats::on(const event& x) {
  if (const auto* result = std::get_if<events::tool_result>(&x.body)) {
    auto& sum = tools_[result->tool];
    ++sum.calls;
    if (result->how != outcome::ok) ++sum.failed;
    sum.ms += result->duration_ms;
    tool_ms_ += result->duration_ms;
    ++calls_;
  } else if (const auto* retry = std::get_if<events::retry>(&x.body)) {
    ++retries_[std::string{to_string(retry->what)}];
  } else if (std::holds_alternative<events::step_restarted>(x.body)) {
    ++restarts_;
  } else if (const auto* end = std::get_if<events::run_finished>(&x.body)) {
    end_.status = end->status;
    end_.steps += end->steps;
    end_.duration_ms += end->duration_ms;
    riffle::add(end_.usage, end->usage);
    open_ = {};
  } else if (const auto* step = std::get_if<events::usage>(&x.body)) {
    riffle::add(open_, step->tokens);
  }
}

void run_stats::run_again(std::uint64_t times) {
  if (times > 0) retries_["run"] += times;
}

token_usage run_stats::usage() const {
  auto out = end_.usage;
  riffle::add(out, open_);
  return out;
}

void run_stats::add(const run_stats& x) {
  for (const auto& [name, sum] : x.tools_) {
    auto& mine = tools_[name];
    mine.calls += sum.calls;
    mine.failed += sum.failed;
    mine.ms += sum.ms;
  }
  tool_ms_ += x.tool_ms_;
  for (const auto& [what, n] : x.retries_) retries_[what] += n;
  restarts_ += x.restarts_;
  end_.steps += x.end_.steps;
  calls_ += x.calls_;
  end_.duration_ms += x.end_.duration_ms;
  riffle::add(end_.usage, x.usage());
}

std::string run_stats::tools_text() const {
  std::string out;
  for (const auto& [name, sum] : tools_) {
    out += out.empty() ? ": " : ", ";
    out += safe_line(name, 64) + " " + counted(sum.calls, "call") + " " +
           short_duration(sum.ms);
    if (sum.failed > 0) out += " (" + std::to_string(sum.failed) + " not ok)";
  }
  return out;
}

std::string run_stats::to_text(std::string_view whose) const {
  std::string retries;
  for (const auto& [what, n] : retries_) {
    retries += ", " + std::to_string(n) + " of " + what;
  }
  std::uint64_t n = 0;
  for (const auto& x : retries_) n += x.second;
  const auto& x = end_;
  return tag + std::string{whose.empty() ? to_string(x.status) : whose} + ": " +
         counted(x.steps, "step") + ", " + counted(calls_, "tool call") +
         " — " + short_duration(x.duration_ms) + "\n" + tag +
         "tokens: " + tokens_text(usage()) + "\n" + tag + "tools " +
         short_duration(tool_ms_) + tools_text() + "\n" + tag +
         (n == 1 ? "1 retry" : std::to_string(n) + " retries") + retries +
         ", " + counted(restarts_, "step restart") + "\n";
}

nlohmann::ordered_json run_stats::tools_json() const {
  auto out = nlohmann::ordered_json::array();
  for (const auto& [name, sum] : tools_)
    out.push_back({{"name", name},
                   {"calls", sum.calls},
                   {"failures", sum.failed},
                   {"duration_ms", sum.ms}});
  return out;
}

}  // namespace riffle::cli
