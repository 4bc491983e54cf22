// SPDX-License-Identifier: MIT
// What traces say of questions and answers, and of the end of a run: a part of
// the trace writer.
#include <utility>

#include "actors/end_reason.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/people_text.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_reason = 200;
constexpr std::size_t longest_name = 60;
constexpr std::size_t columns_of_tag = 11;  // "[APPROVAL] "
constexpr std::size_t longest_error = 1000;

std::string with_period(std::string text) {
  return text.ends_with('.') ? text : text.append(".");
}

}  // namespace

/// Where it is decided at once the decision says it all.
std::string trace_writer::on(const events::approval_required& x, wall_time) {
  asked_.insert_or_assign(x.proposal, asked_call{x.tool, x.title, x.arguments,
                                                 spelled(call_name(x))});
  if (options_.asks) return {};
  auto line = tag("APPROVAL") + "wanted for " + safe_line(x.tool, 64) + ": " +
              safe_line(x.title, longest_reason) + " (" +
              safe_line(x.reason, longest_reason) + ")\n";
  if (before_)
    old_wanted_.emplace_back(x.proposal, std::move(line));
  else
    wanted_ = std::move(line);
  return {};
}

std::string trace_writer::on(const events::approval_resolved& x, wall_time) {
  const auto about = asked_.extract(x.proposal);
  const auto stood = stand_asked_.extract(x.proposal);
  const bool approved = x.how == events::proposal_outcome::approved;
  const bool mine = x.by == by_user && before_;
  const bool here = decided_here_.erase(x.proposal) > 0 || mine;
  // Who changed its arguments has seen those, too.
  const bool seen = stood && (here || x.arguments.empty());
  if (seen) seen_.insert(x.id);
  const auto rest =
      seen && verbose() ? left_out_text(stood.mapped()) : std::string{};
  if (!approved)
    return denial(x, about ? &about.mapped() : nullptr, here) + rest;
  // The person knows, and what comes of it follows.
  if (here && (!verbose() || (seen && x.arguments.empty()))) return rest;
  // Who approves all of them wants no word about each.
  if (x.by == "--approve all" || x.by == "/approve all") return rest;
  // The same for what was allowed once and for all.
  if (x.by.starts_with("always (") && !verbose()) return {};
  auto out =
      std::string{to_string(x.how)} +
      (x.by == by_user && !here ? " elsewhere" : " by " + safe_line(x.by, 64));
  if (!x.arguments.empty()) out += ", as changed";
  if (!x.reason.empty()) out += ": " + safe_line(x.reason, longest_reason);
  if (!about) return tag("APPROVAL") + out + "\n";
  const auto name = stood && x.arguments.empty()
                        ? safe_line(about.mapped().tool, 64)
                        : verdict_name(about.mapped(), x.arguments, out);
  return tag("APPROVAL") + name + ": " + out + "\n" + rest;
}

/// In the words of the end of a call: it has no other line then.
std::string trace_writer::denial(const events::approval_resolved& x,
                                 const asked_call* about, bool here) {
  if (x.how == events::proposal_outcome::cancelled) {
    // The question that takes its place says why.
    const bool again = x.reason == stale_reason || x.reason == unseen_reason;
    if (!again || options_.asks || !about) return {};
  }
  if (!about) return {};
  const auto why = [&] {
    if (x.by == by_user && !here)
      return "denied elsewhere" + (x.reason.empty() ? "" : ": " + x.reason);
    return "denied: " + denial_for_people(x.reason, x.by);
  };
  const auto rest = " ✗ " + safe_line(why(), longest_reason);
  std::string out;
  if (x.how != events::proposal_outcome::cancelled) {
    denied_.insert(x.id);
    if (verbose() && !seen_.contains(x.id))
      out = call_line(about->tool, about->arguments);
    seen_.insert(x.id);
  }
  events::tool_call call;
  call.tool = about->tool;
  call.title = about->title;
  call.arguments = about->arguments;
  out += end_line(spelled(words_of(call).on({})), rest, {}, true);
  if (x.how != events::proposal_outcome::cancelled) return out;
  // It is told by what takes its place, if that comes.
  wanted_ = std::move(out);
  outdated_ = x.id;
  return {};
}

/// What was decided about, as it will run, beside the words that say how.
std::string trace_writer::verdict_name(const asked_call& about,
                                       const std::string& changed,
                                       std::string_view how) const {
  constexpr std::size_t least = 20;
  constexpr std::size_t around =
      columns_of_tag + 3;  // ": " and an empty column
  const auto used = around + columns_of(how);
  const auto name = changed.empty()
                        ? about.name
                        : spelled(call_name({.tool = about.tool,
                                             .title = about.title,
                                             .arguments = changed}));
  return fit(name, columns_ > used + least ? columns_ - used : longest_name);
}

// -- the end ------------------------------------------------------------------

std::string trace_writer::on(const events::failure& x, wall_time) {
  const auto message = safe_line(x.err.message, longest_error);
  const bool cancelled = x.err.code == errc::cancelled;
  if (cancelled && options_.level != verbosity::quiet) {
    why_cancelled_ = message;  // a wish is no error: the end says it
    elsewhere_ = x.err.op == asked_elsewhere;
    return {};
  }
  why_failed_is_told_ = !cancelled;
  // The lines above it say why.
  const bool told = !cancelled && options_.level == verbosity::normal &&
                    !last_attempt_.empty() && failed_ == x.err.message &&
                    failed_.size() <= longest_reason;
  const auto text = (told ? last_attempt_ + " failed: " : std::string{}) +
                    (cancelled ? message : error_text(x.err, longest_error));
  return tag("ERROR", true) + text + "\n";
}

/// What a person wished needs no word but that it is so, and of what failed the
/// error has said it.
std::string trace_writer::short_end(const events::run_finished& x,
                                    const std::string& why) const {
  if (x.status == events::run_status::failed && why_failed_is_told_) return {};
  const auto after =
      short_duration(x.duration_ms) + waited_.text(x.duration_ms);
  const auto left = not_begun_ == 0 ? std::string{}
                                    : " " + counted(not_begun_, "call") +
                                          (not_begun_ == 1 ? " was" : " were") +
                                          " not begun.";
  if (elsewhere_)
    return "Stopped from another terminal after " + after +
           (why == sessions_command{}.reason ? "." : ": " + with_period(why)) +
           left + "\n";
  if (const auto stopped = stop_words(why); !stopped.empty())
    return stopped + " after " + after + "." + left + "\n";
  std::string how{to_string(x.status)};
  if (!why.empty()) how = why.starts_with(how) ? why : how + ", " + why;
  return tag("RUN", x.status == events::run_status::failed) + how + " — " +
         after + (left.empty() ? "" : "." + left) + "\n";
}

std::string trace_writer::on(const events::run_finished& x, wall_time) {
  const bool good = x.status == events::run_status::completed;
  if (good && !verbose()) return {};
  const auto why = std::exchange(why_cancelled_, {});
  if (!verbose()) return short_end(x, why);
  const bool cancelled = x.status == events::run_status::cancelled;
  std::string how{to_string(x.status)};
  if (const auto stopped = stop_words(why); !stopped.empty())
    how = lower(stopped.substr(0, 1)) + stopped.substr(1);
  else if (!why.empty())
    how = why.starts_with(how) ? why : how + ", " + why;
  return tag("RUN", !good && !cancelled) + how + ": " +
         counted(x.steps, "step") + ", " + counted(x.tool_calls, "tool call") +
         ", " + counted(x.usage.input_tokens, "token") + " in, " +
         counted(x.usage.output_tokens, "token") + " out — " +
         short_duration(x.duration_ms) + waited_.text(x.duration_ms) + "\n";
}

}  // namespace riffle::cli
