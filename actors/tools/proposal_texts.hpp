// SPDX-License-Identifier: MIT
#pragma once

// What the model and the log are told of proposals. Pure.

#include <cstdint>
#include <string>
#include <string_view>

#include "messages/event.hpp"
#include "runtime/storage/journal.hpp"

namespace riffle {

inline constexpr const char* nobody_there =
    "this call needs approval, and nobody was there to approve it";
inline constexpr const char* not_allowed =
    "this call needs approval, and this run approves none";

/// Why a call is kept back by rules, of this process or (`where`: " of the
/// node") of another. `rule`: the pattern of the one that denies; empty: it is
/// not known, or none does and nothing is allowed by itself.
std::string kept_back_by_rule(std::string_view tool, std::string_view rule = {},
                              std::string_view where = {});
/// The same of a call that only a person could tell from what a rule denies.
std::string kept_back_in_doubt(std::string_view tool, std::string_view pattern);
/// A node wants what nobody here was asked about.
std::string kept_back_by_node(std::string_view tool);

/// Why a person is asked about a call once more.
enum class again_because : std::uint8_t {
  changed,  ///< what was shown is no longer so
  tool,     ///< its tool is another one
  unseen,   ///< nobody had looked at it
  failure,  ///< a call before it has failed
};
/// For the person, beside the question.
[[nodiscard]] std::string again_reason(const tool_call& call,
                                       again_because why);
/// The same of a call that was approved ahead, for the log: it begins with
/// `asks_again`.
[[nodiscard]] std::string asked_again(const tool_call& call, again_because why);
inline constexpr std::string_view asks_again = "you are asked again about ";

inline constexpr const char* stale_reason =
    "stale: what was shown has changed since; it is asked for again";
inline constexpr const char* unseen_reason =
    "stale: it was shown without a look at its tool, so nothing could be "
    "compared; it is asked for again";
inline constexpr const char* withdrawn = "the run needs no decision any more";
inline constexpr const char* expired = "nobody decided about this call in time";

/// Why the call was not executed; empty if it was approved. One wording for a
/// cause, whoever says no for it: by whom it was stands in the event.
std::string denial_text(const storage::decision_record& x);

/// The same, or the reason alone, for the person who watches, who may be the
/// one that decided: "rule `rm *` of tools.bash", "you said no: use a copy",
/// "this run approves no calls". `by`: who decided, where it is known apart.
std::string denial_for_people(std::string_view why, std::string_view by = {});

/// What the model, and nobody else, is told behind that: how to go on. The
/// only place that says so. Empty for other errors, and where a person gave a
/// reason.
std::string denial_advice(const error& why);

/// Of a call whose proposal stays open.
std::string proposed(const storage::proposal_record& x);

/// Of an approved call whose tool, or what its preview was made from, is
/// another one now than what was `shown`, or cannot be compared with it; `x`
/// takes the place of its proposal.
std::string stale(const storage::proposal_record& x,
                  const storage::proposal_record& shown);

/// What a consent once and for all covers.
std::string grant_text(const storage::grant_record& x);

/// Of an approval that cannot be followed.
std::string bad_approval(const error& why);

/// What a session's next run tells the model first: what was decided about its
/// proposals since the run before it began. Not about calls that an approval
/// executed: those tell their results. Empty: nothing.
std::string decision_note(const storage::session_snapshot& session,
                          const run_id& next, wall_time now);

/// What stands in front of the result of a call whose arguments a person
/// changed.
std::string edit_note(const tool_call& call);

events::approval_required required_event(const storage::proposal_record& x);
events::proposal proposal_event(const storage::proposal_record& x,
                                events::proposal_status status);
events::proposal_status status_of(events::proposal_outcome x);

}  // namespace riffle
