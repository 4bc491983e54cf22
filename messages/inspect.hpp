// SPDX-License-Identifier: MIT
#pragma once

// How CAF 0.17 serialises the vocabulary. With type_ids.hpp the only contact
// of messages/ with CAF.
//
// Fields go over the wire in the order in which they stand here, without
// names: both ends run the same version. An enumerator that this version does
// not know stays what it is and reads "unknown".

#include <bit>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>

#include <caf/error.hpp>
#include <caf/meta/type_name.hpp>
#include <caf/sec.hpp>
#include <caf/timespan.hpp>

#include "messages/call.hpp"
#include "messages/event.hpp"
#include "messages/turn.hpp"

namespace riffle::wire {

/// A field that CAF cannot inspect by itself: std::optional, std::variant,
/// and double (CAF 0.17 packs it by arithmetic that never ends for infinity;
/// here its bits travel).
template <class T>
struct field {
  T& value;
};

template <class T>
struct is_special : std::is_same<T, double> {};
template <class T>
struct is_special<std::optional<T>> : std::true_type {};
template <class... Ts>
struct is_special<std::variant<Ts...>> : std::true_type {};

/// `x` as CAF can inspect it.
template <class T>
decltype(auto) of(T& x) {
  if constexpr (is_special<T>::value)
    return field<T>{x};
  else
    return (x);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, field<double>& x) {
  if constexpr (Inspector::writes_state) {
    std::uint64_t bits = 0;
    auto err = f(bits);
    x.value = std::bit_cast<double>(bits);
    return err;
  } else if constexpr (std::is_void_v<typename Inspector::result_type>) {
    return f(x.value);  // for people
  } else {
    auto bits = std::bit_cast<std::uint64_t>(x.value);
    return f(bits);
  }
}

template <class Inspector, class T>
typename Inspector::result_type inspect(Inspector& f,
                                        field<std::optional<T>>& x) {
  bool has = x.value.has_value();
  if constexpr (Inspector::writes_state) {
    x.value.reset();
    if (auto err = f(has)) return err;
    if (!has) return caf::none;
    return f(of(x.value.emplace()));
  } else {
    if (has) return f(has, of(*x.value));
    return f(has);
  }
}

/// Makes `x` hold the default value of the alternative of that index.
template <std::size_t I = 0, class... Ts>
bool emplace(std::variant<Ts...>& x, std::size_t index) {
  if constexpr (I < sizeof...(Ts)) {
    if (index != I) return emplace<I + 1>(x, index);
    x.template emplace<I>();
    return true;
  } else {
    return false;
  }
}

template <class Inspector, class... Ts>
typename Inspector::result_type inspect(Inspector& f,
                                        field<std::variant<Ts...>>& x) {
  static_assert(sizeof...(Ts) < 256);
  auto index = static_cast<std::uint8_t>(x.value.index());
  if constexpr (Inspector::writes_state) {
    if (auto err = f(index)) return err;
    if (!emplace(x.value, index))
      return caf::make_error(caf::sec::unknown_type);
    return std::visit([&](auto& y) { return f(of(y)); }, x.value);
  } else {
    return std::visit([&](auto& y) { return f(index, of(y)); }, x.value);
  }
}

/// An enumerator in CAF's texts, without quotes.
struct word {
  std::string_view text;
};

inline std::string to_string(word x) { return std::string{x.text}; }

/// An inspector that makes texts for people. To all others CAF knows how to
/// show an enumeration.
template <class Inspector>
concept for_people = std::is_void_v<typename Inspector::result_type>;

template <for_people Inspector, class E>
void show(Inspector& f, E x) {
  if constexpr (requires { to_string(x); })
    f(word{to_string(x)});
  else
    f(static_cast<unsigned>(x));
}

/// Inspects all fields of `x`.
template <class Inspector, class... Ts>
typename Inspector::result_type all(Inspector& f, const char* name, Ts&... xs) {
  return f(caf::meta::type_name(name), of(xs)...);
}

}  // namespace riffle::wire

namespace riffle {

// CAF knows timespan; the two must be one type.
static_assert(std::same_as<duration, caf::timespan>);

template <class Inspector, class Tag>
typename Inspector::result_type inspect(Inspector& f, strong_id<Tag>& x) {
  return f(x.value);
}

template <wire::for_people Inspector, class E>
  requires std::is_enum_v<E>
void inspect(Inspector& f, E& x) {
  wire::show(f, x);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, wall_time& x) {
  return f(x.us);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, error& x) {
  return wire::all(f, "error", x.code, x.op, x.message, x.retryable, x.cause);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, call_limits& x) {
  return wire::all(f, "call_limits", x.timeout, x.idle_timeout, x.queue_timeout,
                   x.attempts, x.priority);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, tool_call& x) {
  return wire::all(f, "tool_call", x.id, x.provider_id, x.tool, x.title,
                   x.arguments, x.arguments_text, x.edited_from, x.eff,
                   x.idempotent, x.control, x.needs_approval, x.step, x.index,
                   x.keys, x.limits, x.judged, x.rejection, x.basis);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, call_result& x) {
  return wire::all(f, "call_result", x.how, x.output, x.err, x.metadata, x.took,
                   x.attempts);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, tool_progress_report& x) {
  return wire::all(f, "tool_progress_report", x.message, x.progress, x.total,
                   x.stream, x.coalesced);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, token_usage& x) {
  return wire::all(f, "token_usage", x.input_tokens, x.output_tokens,
                   x.cached_tokens, x.reasoning_tokens, x.cost_usd,
                   x.estimated);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, call_fragment& x) {
  return wire::all(f, "call_fragment", x.choice, x.index, x.id, x.name,
                   x.arguments, x.arguments_whole, x.closes);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, piece_list::piece& x) {
  return wire::all(f, "piece", x.kind, x.end);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, piece_list& x) {
  return wire::all(f, "piece_list", x.bytes, x.pieces);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, turn_delta& x) {
  return wire::all(f, "turn_delta", x.pieces, x.fragments, x.finish, x.usage,
                   x.failure, x.done);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, event& x) {
  return wire::all(f, "event", x.seq, x.run, x.body, x.at);
}

}  // namespace riffle

namespace riffle::events {

template <wire::for_people Inspector, class E>
  requires std::is_enum_v<E>
void inspect(Inspector& f, E& x) {
  wire::show(f, x);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, run_started& x) {
  return wire::all(f, "run_started", x.session, x.agent, x.model, x.task,
                   x.max_steps, x.cause);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, step_start& x) {
  return wire::all(f, "step_start", x.step, x.max_steps);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, step_restarted& x) {
  return wire::all(f, "step_restarted", x.step, x.attempt, x.reason,
                   x.first_seq, x.last_seq);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, llm_token& x) {
  return wire::all(f, "llm_token", x.content, x.step);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, llm_reasoning& x) {
  return wire::all(f, "llm_reasoning", x.content, x.step);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, tool_call& x) {
  return wire::all(f, "tool_call", x.id, x.provider_id, x.tool, x.title,
                   x.arguments, x.arguments_text, x.eff, x.step, x.status,
                   x.node);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, tool_progress& x) {
  return wire::all(f, "tool_progress", x.id, x.tool, x.report);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, tool_result& x) {
  return wire::all(f, "tool_result", x.id, x.tool, x.how, x.output, x.truncated,
                   x.duration_ms, x.attempts, x.err, x.metadata);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, plan_updated& x) {
  return wire::all(f, "plan_updated", x.action, x.plan);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, approval_required& x) {
  return wire::all(f, "approval_required", x.proposal, x.id, x.tool, x.title,
                   x.arguments, x.preview, x.reason, x.expires_at, x.digest,
                   x.always, x.pattern);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, approval_resolved& x) {
  return wire::all(f, "approval_resolved", x.proposal, x.id, x.how, x.by,
                   x.reason, x.arguments, x.unasked);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, proposal& x) {
  return wire::all(f, "proposal", x.id, x.source, x.summary, x.status);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, usage& x) {
  return wire::all(f, "usage", x.step, x.tokens);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, retry& x) {
  return wire::all(f, "retry", x.what, x.id, x.attempt, x.max_attempts,
                   x.delay_ms, x.reason);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, status& x) {
  return wire::all(f, "status", x.text);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, failure& x) {
  return wire::all(f, "failure", x.err, x.step);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, final_answer& x) {
  return wire::all(f, "final_answer", x.content, x.steps, x.usage, x.tools,
                   x.truncated);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, run_finished& x) {
  return wire::all(f, "run_finished", x.status, x.duration_ms, x.steps,
                   x.tool_calls, x.usage, x.err);
}

}  // namespace riffle::events
