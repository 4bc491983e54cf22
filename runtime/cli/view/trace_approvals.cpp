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
  wanted_ = tag("APPROVAL") + "wanted for " + safe_line(x.tool, 64) + ": " +
            safe_line(x.title, longest_reason) + " (" +
            safe_line(x.reason, longest_reason) + ")\n";
  return {};
}

std::string trace_writer::on(const events::approval_resolved& x, wall_time) {
  auto about = asked_.extract(x.proposal);
  const bool approved = x.how == events::proposal_outcome::approved;
  const bool here = approved_here_.erase(x.proposal) > 0;
  const bool stands = stand_asked_.erase(x.proposal) > 0;
  // Who changed its arguments has seen those, too.
  if (stands && (here || x.arguments.empty())) seen_.insert(x.id);
  if (approved && here && !verbose()) return {};
  // Who approves all of them wants no word about each.
  const bool by_all = x.by == "--approve all" || x.by == "/approve all";
  if (approved && by_all && !verbose()) return {};
  // The same for what was allowed once and for all.
  if (approved && x.by.starts_with("always (") && !verbose()) return {};
  // The run ends, and says why; nothing was decided.
  if (x.how == events::proposal_outcome::cancelled &&
      x.reason == riffle::withdrawn)
    return {};
  // The end of the run says that.
  if (!approved && x.by == "user" &&
      x.reason.starts_with("the user stopped ") && !verbose()) {
    denied_.insert(x.id);
    return {};
  }
  auto out = std::string{to_string(x.how)} + " by " + safe_line(x.by, 64);
  if (approved && !x.arguments.empty()) out += ", as changed";
  if (!x.reason.empty()) out += ": " + safe_line(x.reason, longest_reason);
  if (!approved) denied_.insert(x.id);
  if (!about) return tag("APPROVAL") + out + "\n";
  if (stands && x.arguments.empty())
    return tag("APPROVAL") + safe_line(about.mapped().tool, 64) + ": " + out +
           "\n";
  return tag("APPROVAL") + verdict_name(about.mapped(), x.arguments, out) +
         ": " + out + "\n";
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
  const auto text = told ? last_attempt_ + " failed: " + message : message;
  return tag("ERROR", true) +
         (cancelled ? text : with_code(text, to_string(x.err.code))) + "\n";
}

/// What a person wished needs no word but that it is so, and of what failed the
/// error has said it.
std::string trace_writer::short_end(const events::run_finished& x,
                                    const std::string& why) const {
  if (x.status == events::run_status::failed && why_failed_is_told_) return {};
  const auto after = short_duration(x.duration_ms);
  const auto left = not_begun_ == 0 ? std::string{}
                                    : " " + counted(not_begun_, "call") +
                                          (not_begun_ == 1 ? " was" : " were") +
                                          " not begun.";
  if (elsewhere_)
    return "Stopped from another terminal after " + after +
           (why == sessions_command{}.reason ? "." : ": " + with_period(why)) +
           left + "\n";
  if (is_own_wish(why)) return "Stopped after " + after + "." + left + "\n";
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
  if (is_own_wish(why))
    how = "stopped";
  else if (!why.empty())
    how = why.starts_with(how) ? why : how + ", " + why;
  return tag("RUN", !good && !cancelled) + how + ": " +
         counted(x.steps, "step") + ", " + counted(x.tool_calls, "tool call") +
         ", " + counted(x.usage.input_tokens, "token") + " in, " +
         counted(x.usage.output_tokens, "token") + " out — " +
         short_duration(x.duration_ms) + "\n";
}

}  // namespace riffle::cli
