// SPDX-License-Identifier: MIT
#include <set>
#include <string_view>
#include <vector>

#include "messages/event.hpp"
#include "messages/turn.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

// Every enumerator up to `last` has the text of the contract, and the text
// leads back to it.
template <class E, class Parse>
void check_texts(std::initializer_list<std::string_view> texts, Parse parse) {
  std::size_t i = 0;
  for (auto text : texts) {
    const auto x = static_cast<E>(i++);
    CHECK(to_string(x) == text);
    CHECK(parse(text) == x);
  }
  CHECK(to_string(static_cast<E>(i)) == "unknown");
  CHECK_FALSE(parse("unknown"));
  CHECK_FALSE(parse(""));
}

}  // namespace

TEST_CASE("effects, outcomes and finish reasons have their texts") {
  check_texts<effect>({"read_only", "mutating"}, parse_effect);
  check_texts<outcome>({"ok", "failed", "denied", "skipped", "cancelled",
                        "interrupted", "timed_out"},
                       parse_outcome);
  // Nobody reads these.
  const std::vector<std::string_view> reasons{
      "stop", "tool_calls", "length", "content_filter", "missing", "paused"};
  for (std::size_t i = 0; i < reasons.size(); ++i)
    CHECK(to_string(static_cast<finish_reason>(i)) == reasons[i]);
  CHECK(to_string(static_cast<finish_reason>(reasons.size())) == "unknown");
}

TEST_CASE("the words in events have the texts of the contract") {
  using namespace riffle::events;
  check_texts<call_status>({"starting", "not_started"}, parse_call_status);
  check_texts<proposal_outcome>({"approved", "denied", "expired", "cancelled"},
                                parse_proposal_outcome);
  check_texts<proposal_source>({"seek_approval", "inline", "tool_call"},
                               parse_proposal_source);
  check_texts<proposal_status>({"open", "approved", "denied", "expired"},
                               parse_proposal_status);
  check_texts<retry_what>({"model", "tool", "termination", "step"},
                          parse_retry_what);
  check_texts<run_status>({"completed", "failed", "cancelled"},
                          parse_run_status);
}

TEST_CASE("each event has its event_type") {
  const auto name = [](const events::body& x) {
    return events::type_name(x.index());
  };
  CHECK(name(events::run_started{}) == "run_started");
  CHECK(name(events::step_start{}) == "step_start");
  CHECK(name(events::step_restarted{}) == "step_restarted");
  CHECK(name(events::llm_token{}) == "llm_token");
  CHECK(name(events::llm_reasoning{}) == "llm_reasoning");
  CHECK(name(events::tool_call{}) == "tool_call");
  CHECK(name(events::tool_progress{}) == "tool_progress");
  CHECK(name(events::tool_result{}) == "tool_result");
  CHECK(name(events::plan_updated{}) == "plan_updated");
  CHECK(name(events::approval_required{}) == "approval_required");
  CHECK(name(events::approval_resolved{}) == "approval_resolved");
  CHECK(name(events::proposal{}) == "proposal");
  CHECK(name(events::usage{}) == "usage");
  CHECK(name(events::retry{}) == "retry");
  CHECK(name(events::status{}) == "status");
  CHECK(name(events::user_message{}) == "user_message");
  CHECK(name(events::failure{}) == "error");
  CHECK(name(events::final_answer{}) == "final_answer");
  CHECK(name(events::run_finished{}) == "run_finished");
  for (std::size_t i = 0; i < std::variant_size_v<events::body>; ++i)
    CHECK(events::type_index(events::type_name(i)) == i);
  CHECK_FALSE(events::type_index("failure"));
}

TEST_CASE("only two ways to finish a turn are safe") {
  CHECK(is_safe(finish_reason::stop));
  CHECK(is_safe(finish_reason::tool_calls));
  CHECK_FALSE(is_safe(finish_reason::length));
  CHECK_FALSE(is_safe(finish_reason::content_filter));
  CHECK_FALSE(is_safe(finish_reason::missing));
  CHECK_FALSE(is_safe(finish_reason::paused));
}

TEST_CASE("adding usage sums what is there and keeps apart what is not") {
  token_usage sum;
  add(sum, {.input_tokens = 3,
            .output_tokens = 5,
            .cached_tokens = 2,
            .reasoning_tokens = {},
            .cost_usd = 0.5,
            .estimated = false});
  CHECK(sum == token_usage{3, 5, 2, {}, 0.5, false});
  add(sum, {.input_tokens = 1,
            .output_tokens = 1,
            .cached_tokens = 1,
            .reasoning_tokens = 7,
            .cost_usd = {},
            .estimated = true});
  CHECK(sum == token_usage{4, 6, 3, 7, 0.5, true});
}

TEST_CASE("pieces are visited in order with their text") {
  piece_list pieces;
  CHECK(pieces.empty());
  pieces.add(piece_kind::text, "Hel");
  pieces.add(piece_kind::reasoning, "");
  pieces.add(piece_kind::text, "lo");
  std::string seen;
  pieces.for_each([&](piece_kind kind, std::string_view text) {
    seen += std::to_string(static_cast<int>(kind));
    seen += text;
    seen += '|';
  });
  CHECK(seen == "0Hel|1|0lo|");
}
