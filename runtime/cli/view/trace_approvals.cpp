// SPDX-License-Identifier: MIT
// What traces say of questions and answers: a part of the trace writer.
#include "actors/tools/proposal_texts.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/call_text.hpp"
#include "runtime/cli/view/trace_writer.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t longest_reason = 200;
constexpr std::size_t longest_name = 60;
constexpr std::size_t columns_of_tag = 11;  // "[APPROVAL] "

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
  if (approved && here && !verbose()) return {};
  // Who approves all of them wants no word about each.
  if (approved && x.by == "--approve all" && !verbose()) return {};
  // The same for what was allowed once and for all.
  if (approved && x.by.starts_with("always (") && !verbose()) return {};
  // The run ends, and says why; nothing was decided.
  if (x.how == events::proposal_outcome::cancelled &&
      x.reason == riffle::withdrawn && !verbose())
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

}  // namespace riffle::cli
