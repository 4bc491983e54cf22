// SPDX-License-Identifier: MIT
// Who decides about calls in a conversation, and what is allowed for always.
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/view/proposal_text.hpp"
#include "runtime/cli/view/session_text.hpp"

namespace riffle::cli {

namespace {

constexpr auto by_configuration =
    "You are asked about calls as the configuration has it";

bool is_kept(const grant_record& x) { return x.session.value.empty(); }

/// What a run here would find: those of other folders cover nothing.
std::vector<grant_record> grants_here(runtime& rt,
                                      const std::optional<session_id>& of) {
  auto all = rt.grants(of);
  if (!all) return {};
  std::error_code gone;
  const auto here = std::filesystem::current_path(gone).string();
  std::erase_if(*all, [&](const grant_record& x) {
    return x.folder != here || (!of && !is_kept(x));
  });
  return std::move(*all);
}

}  // namespace

void conversation::choose_approval(const std::string& who) {
  auto& choice = options_.choices.approval;
  if (who == "all")
    choice = approve::all;
  else if (who == "none")
    choice = approve::none;
  else if (who == "ask")
    choice = approve::ask;
  else if (!who.empty())
    return note("/approve ask, all or none");
  show_approval();
  const auto now = who_decides();
  if (works_ && !asks_ && !who.empty())
    return note(
        "That holds from your next task on; the run that works now goes on as "
        "it began, and Ctrl-C stops it.");
  if (now == approve::all)
    note(
        "From here calls run without a question; what a deny rule of the "
        "configuration keeps back stays denied. /approve ask ends it.");
  else if (now == approve::none)
    note(
        "From here calls that need your approval are denied. /approve ask "
        "ends it.");
  else
    tell_allowed(who == "ask");
  if (works_ && asks_ && now == approve::none &&
      !grants_here(*rt_, session_).empty())
    note(
        "What you allowed for always still runs in this run, without a "
        "question; Ctrl-C stops it.");
}

/// What runs without a question since a person said "always". `ends`: not in
/// this session any more.
void conversation::tell_allowed(bool ends) {
  std::vector<grant_record> left;
  std::vector<grant_record> ended;
  for (auto& x : grants_here(*rt_, session_)) {
    const auto done =
        ends && !is_kept(x) ? rt_->revoke(x.proposal) : expected<bool>{false};
    if (!done) complain(done.error());
    (done && *done ? ended : left).push_back(std::move(x));
  }
  if (!ended.empty())
    note("Taken back, of what you had allowed for always in this session:");
  for (const auto& x : ended) note("  " + covered_text(x));
  if (left.empty()) return note(std::string{by_configuration} + ".");
  note(std::string{by_configuration} +
       ", but not about what you allowed for always:");
  bool of_session = false;
  for (const auto& x : left) {
    of_session = of_session || !is_kept(x);
    note("  " + covered_text(x) +
         (is_kept(x) ? ", in every session of this folder; this takes it back:"
                     : ", in this session"));
    // To be copied.
    if (is_kept(x))
      note("    riffle proposals always --revoke " +
           short_id(x.proposal.value));
  }
  if (of_session) note("/approve ask takes back what holds in this session.");
}

/// Nobody is to forget it.
void conversation::show_approval() {
  const auto now = who_decides();
  prompt_.remind(now == approve::all    ? "approves all"
                 : now == approve::none ? "approves none"
                                        : "");
}

}  // namespace riffle::cli
