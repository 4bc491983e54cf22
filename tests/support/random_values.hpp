// SPDX-License-Identifier: MIT
#pragma once

// Random values of every type of the vocabulary, for property tests. A source
// with the same seed makes the same values again.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "messages/call.hpp"
#include "messages/event.hpp"
#include "messages/work.hpp"

namespace riffle::testing {

class random_values {
 public:
  explicit random_values(std::uint64_t seed) : random_{seed} {}

  /// One of 0 … n - 1.
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>{0, n - 1}(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution{p}(random_); }

  /// Texts with all that makes JSON hard, in valid UTF-8.
  std::string text(std::size_t max_parts = 12) {
    static const std::vector<std::string> parts = {
        "a",
        "Z9 ",
        "\"",
        "\\",
        "/",
        "\n",
        "\r\n",
        "\t",
        "\x01",
        "\x1f",
        "\x7f",
        std::string(1, '\0'),
        "é",
        "漢字",
        "😀",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\u0080",
        "</script>",
        "{\"x\":[1]}",
        "null",
        "plain words of text, ",
        "\xEF\xBF\xBF",
        "\xF4\x8F\xBF\xBF",
    };
    std::string result;
    for (auto n = below(max_parts + 1); n-- > 0;) result += one_of(parts);
    return result;
  }
  /// Any bytes; UTF-8 only by chance.
  std::string bytes(std::size_t max = 24) {
    std::string result(below(max + 1), '\0');
    for (auto& c : result) c = static_cast<char>(below(256));
    return result;
  }
  std::string json_object() { return object(2); }
  std::string json_value() { return value(2); }

  template <class T>
  const T& one_of(const std::vector<T>& xs) {
    return xs[below(xs.size())];
  }

  // -- one overload for each kind of type ---------------------------------

  void fill(bool& x) { x = chance(0.5); }
  template <std::integral T>
  void fill(T& x) {
    using limits = std::numeric_limits<T>;
    const T edges[] = {0, 1, limits::min(), limits::max()};
    x = chance(0.3) ? edges[below(4)]
                    : std::uniform_int_distribution<T>{limits::min(),
                                                       limits::max()}(random_);
  }
  void fill(double& x) {
    const double edges[] = {0.0,   -0.0,      1.0,    0.1,
                            1e300, -2.5e-310, 5e-324, 1.7976931348623157e308};
    x = chance(0.5) ? edges[below(8)]
                    : std::uniform_real_distribution{-1e6, 1e6}(random_);
  }
  void fill(std::string& x) { x = text(); }
  void fill(duration& x) {
    std::int64_t ns = 0;
    fill(ns);
    x = duration{ns};
  }
  /// Within the years 0000 to 9999.
  void fill(wall_time& x) {
    x.us = std::uniform_int_distribution<std::int64_t>{
        -62'167'219'200'000'000, 253'402'300'799'999'999}(random_);
  }
  template <class Tag>
  void fill(strong_id<Tag>& x) {
    x.value = text(3);
  }
  template <class T>
  void fill(std::optional<T>& x) {
    x.reset();
    if (chance(0.5)) fill(x.emplace());
  }
  template <class T>
  void fill(std::vector<T>& xs) {
    xs.resize(below(4));
    for (auto& x : xs) fill(x);
  }

  void fill(effect& x) { pick(x, effect::mutating); }
  void fill(outcome& x) { pick(x, outcome::timed_out); }
  void fill(errc& x) { pick(x, errc::internal); }
  void fill(events::call_status& x) {
    pick(x, events::call_status::not_started);
  }
  void fill(events::proposal_outcome& x) {
    pick(x, events::proposal_outcome::cancelled);
  }
  void fill(events::proposal_source& x) {
    pick(x, events::proposal_source::tool_call);
  }
  void fill(events::proposal_status& x) {
    pick(x, events::proposal_status::expired);
  }
  void fill(events::retry_what& x) { pick(x, events::retry_what::step); }
  void fill(events::run_status& x) { pick(x, events::run_status::cancelled); }

  void fill(error& x) { all(x.code, x.op, x.message, x.retryable, x.cause); }
  void fill(call_limits& x) {
    all(x.timeout, x.idle_timeout, x.queue_timeout, x.attempts, x.priority);
  }
  void fill(tool_call& x) {
    all(x.id, x.provider_id, x.tool, x.title, x.arguments_text, x.edited_from,
        x.eff, x.idempotent, x.control, x.needs_approval, x.step, x.index,
        x.keys, x.limits, x.judged, x.rejection, x.basis, x.node);
    x.arguments = maybe_object();
  }
  void fill(attachment& x) { all(x.name, x.type, x.bytes, x.digest); }
  void fill(taken_files& x) { all(x.types, x.most_bytes); }
  void fill(result_file& x) {
    all(x.about);
    x.bytes = bytes();
  }
  void fill(call_result& x) {
    all(x.how, x.output, x.err, x.took, x.attempts, x.files);
    x.metadata = maybe_object();
  }
  void fill(tool_progress_report& x) {
    all(x.message, x.progress, x.total, x.stream, x.coalesced);
  }
  void fill(token_usage& x) {
    all(x.input_tokens, x.output_tokens, x.cached_tokens, x.reasoning_tokens,
        x.cost_usd, x.estimated);
  }

  void fill(std::map<std::string, std::string>& x) {
    x.clear();
    for (auto n = below(4); n-- > 0;) x[text(3)] = json_value();
  }
  void fill(work::offer& x) { all(x.tools, x.places, x.process, x.problem); }
  void fill(work::assignment& x) {
    all(x.run, x.epoch, x.call, x.attempt, x.state, x.files);
  }
  void fill(work::stop& x) { all(x.id, x.attempt); }
  void fill(work::started& x) { all(x.id, x.attempt); }
  void fill(work::progress& x) {
    all(x.id, x.attempt, x.number, x.tool, x.report);
  }
  void fill(work::ack& x) { all(x.id); }
  void fill(work::done& x) {
    all(x.id, x.attempt, x.result, x.last_progress, x.state, x.moved);
  }
  void fill(work::lost& x) { all(x.id, x.attempt, x.reason); }
  void fill(work::freed& x) { all(x.id); }

  void fill(events::run_started& x) {
    all(x.session, x.agent, x.model, x.task, x.max_steps, x.cause,
        x.attachments);
  }
  void fill(events::step_start& x) { all(x.step, x.max_steps); }
  void fill(events::step_restarted& x) {
    all(x.step, x.attempt, x.reason, x.first_seq, x.last_seq);
  }
  void fill(events::llm_token& x) { all(x.content, x.step); }
  void fill(events::llm_reasoning& x) { all(x.content, x.step); }
  void fill(events::tool_call& x) {
    all(x.id, x.provider_id, x.tool, x.title, x.arguments_text, x.eff, x.step,
        x.status, x.node);
    x.arguments = maybe_object();
  }
  void fill(events::tool_progress& x) { all(x.id, x.tool, x.report); }
  void fill(events::tool_result& x) {
    all(x.id, x.tool, x.how, x.output, x.truncated, x.duration_ms, x.attempts,
        x.err, x.attachments);
    x.metadata = maybe_object();
  }
  void fill(events::plan_updated& x) {
    all(x.action);
    x.plan = json_value();
  }
  void fill(events::approval_required& x) {
    all(x.proposal, x.id, x.tool, x.title, x.preview, x.reason, x.expires_at,
        x.digest, x.always, x.pattern);
    x.arguments = maybe_object();
  }
  void fill(events::approval_resolved& x) {
    all(x.proposal, x.id, x.how, x.by, x.reason, x.unasked);
    x.arguments = maybe_object();
  }
  void fill(events::proposal& x) { all(x.id, x.source, x.summary, x.status); }
  void fill(events::usage& x) { all(x.step, x.tokens); }
  void fill(events::retry& x) {
    all(x.what, x.id, x.attempt, x.max_attempts, x.delay_ms, x.reason);
  }
  void fill(events::status& x) { all(x.text); }
  void fill(events::user_message& x) { all(x.text, x.step); }
  void fill(events::failure& x) { all(x.err, x.step); }
  void fill(events::final_answer& x) {
    all(x.content, x.steps, x.usage, x.tools, x.truncated);
  }
  void fill(events::run_finished& x) {
    all(x.status, x.duration_ms, x.steps, x.tool_calls, x.usage, x.err);
  }
  void fill(events::plan_started& x) { all(x.plan, x.steps); }
  void fill(events::plan_step_started& x) {
    all(x.step, x.id, x.instruction, x.tool, x.run, x.attempt);
  }
  void fill(events::plan_step_finished& x) {
    all(x.step, x.id, x.status, x.output, x.truncated, x.err, x.run,
        x.duration_ms);
  }
  void fill(events::plan_finished& x) {
    all(x.status, x.answer, x.err, x.duration_ms);
  }
  void fill(events::body& x) {
    emplace(x, below(std::variant_size_v<events::body>));
  }
  void fill(event& x) { all(x.seq, x.run, x.body, x.at); }

  template <class T>
  T next() {
    T x{};
    fill(x);
    return x;
  }

  /// A random body of one event_type, by its place in the variant.
  template <std::size_t I = 0>
  void emplace(events::body& x, std::size_t index) {
    if constexpr (I < std::variant_size_v<events::body>) {
      if (index == I)
        fill(x.emplace<I>());
      else
        emplace<I + 1>(x, index);
    }
  }

 private:
  template <class... Ts>
  void all(Ts&... xs) {
    (fill(xs), ...);
  }
  template <class E>
  void pick(E& x, E last) {
    x = static_cast<E>(below(static_cast<std::size_t>(last) + 1));
  }
  std::string maybe_object() {
    return chance(0.3) ? std::string{} : json_object();
  }
  std::string object(int depth);
  std::string value(int depth);

  std::mt19937_64 random_;
};

inline std::string random_values::object(int depth) {
  static const std::vector<std::string> keys = {
      "\"b\"", "\"a\"", "\"\"", "\"path\"", "\"\\\"q}\"", "\"データ\""};
  std::string result{"{"};
  for (auto n = below(4); n-- > 0;) {
    if (result.size() > 1) result += ',';
    result += one_of(keys) + ':' + value(depth - 1);
  }
  return result + '}';
}

// Never `null` alone at the top, for that is the same as left out.
inline std::string random_values::value(int depth) {
  static const std::vector<std::string> leaves = {
      "0",    "-1",   "1.0",      "1.50",        "18446744073709551616",
      "1e30", "true", "false",    "\"x\"",       "\"a b \\\\ \\n {[,:]}\"",
      "[]",   "{}",   "[1,null]", "\"\\u2028\"",
  };
  if (depth <= 0 || chance(0.5)) return one_of(leaves);
  if (chance(0.5)) return object(depth);
  return "[" + value(depth - 1) + "," + value(depth - 1) + "]";
}

}  // namespace riffle::testing
