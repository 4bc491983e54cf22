// SPDX-License-Identifier: MIT
// What an answer decides, here or elsewhere, and what becomes of a question
// then: a part of the approval prompt.
#include <algorithm>
#include <utility>

#include "actors/tools/proposal_texts.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/proposal_text.hpp"
#include "tools/registry.hpp"

namespace riffle::cli {

namespace {

/// How often it is looked whether somebody else decided.
constexpr auto between_checks = std::chrono::milliseconds{250};

/// Longest wait for the event of an answer, which says what came of it: the
/// next question does not depend on it.
constexpr auto longest_settling = std::chrono::seconds{2};

std::string text_of(const storage::decision_record& x) {
  auto out = std::string{to_string(x.how)} + " by " + safe_line(x.by, 64);
  if (!x.reason.empty()) out += ": " + safe_line(x.reason, 200);
  return out;
}

/// Characters of a reason that are said once more.
constexpr std::size_t most_quoted = 4000;

/// Why nobody is asked any more.
std::string gone_text(events::proposal_outcome how) {
  switch (how) {
    case events::proposal_outcome::cancelled:
      return "The question was taken back";
    case events::proposal_outcome::expired:
      return "The time of the question was over";
    default: return "It was decided elsewhere";
  }
}

/// Nobody reads what it approves: see `decisions`.
constexpr const char* by_approve_all = "/approve all";

/// Why a decision does not hold: its call is asked about anew.
bool is_asked_again(std::string_view reason) {
  return reason == stale_reason || reason == unseen_reason;
}

}  // namespace

void approval_prompt::decide(const approval_answer& answer) {
  using kind = approval_answer::kind;
  const auto& about = open_->about();
  // The end of a run cancels its questions. Were this one denied first, the
  // run could go on before the end reaches it.
  if (answer.what == kind::stop) {
    around_.stop(about);
    close("");
    if (around_.ends) std::erase_if(waiting_, around_.ends);
    return;
  }
  keep_changes(answer.arguments.value_or(""));
  decision x;
  x.approved = answer.what == kind::yes || answer.what == kind::always;
  const bool approves = x.approved;
  x.always = answer.scope;
  x.kept = answer.kept;
  x.reason = answer.reason;
  x.arguments = answer.arguments;
  x.digest = about.digest;
  if (x.arguments) x.basis = basis_;
  if (approves && x.arguments && x.always == always_scope::none) keep_answer();
  const auto result = around_.rt.decide(about.proposal, std::move(x));
  if (!result) {
    show_note(open_->refused(result.error().message));
    if (is_plain()) around_.show(open_->prompt());
    return;
  }
  switch (result->verdict) {
    case decision_verdict::accepted:
      if (around_.decided) around_.decided(about.proposal);
      return close(answer.what == kind::always
                       ? open_->granted(answer.scope, answer.kept)
                       : "");
    case decision_verdict::too_late:
      if (!result->now || !result->now->decided)
        return close("This was decided already.");
      // The log says so, and why it is asked anew.
      return is_asked_again(result->now->decided->reason)
                 ? close_outdated({})
                 : close("This was decided already: " +
                         text_of(*result->now->decided));
    case decision_verdict::stale:
      if (answer.arguments) return show_changed();
      return close("This is not what was asked about; nothing was decided.");
    case decision_verdict::unknown: return close("This proposal is gone.");
  }
}

/// The question is over; the event that says so may still be on its way.
void approval_prompt::close(const std::string& line) {
  if (open_ && !is_plain()) remove_prompt();
  if (!line.empty()) say(line + "\n");
  mode_.reset();
  settling_ = waiting_.front().proposal;
  settling_until_ = std::chrono::steady_clock::now() + longest_settling;
  open_.reset();
  if (around_.typing != nullptr) around_.typing->beside_question();
  waiting_.pop_front();
}

void approval_prompt::close_if_decided() {
  const auto now = std::chrono::steady_clock::now();
  if (now - checked_ < between_checks) return;
  checked_ = now;
  const auto now_known = known();
  if (!now_known || !now_known->decided) return look_whether_outdated();
  const auto& found = now_known->decided;
  const auto said = keep_part(found->how, found->reason);
  if (is_plain()) around_.show("\n");
  // The log says that the run ended, or asks anew: nobody decided anything.
  if (found->how == events::proposal_outcome::cancelled) {
    if (found->reason == withdrawn) return close("");
    if (is_asked_again(found->reason)) return close_outdated(said);
  }
  if (found->how == events::proposal_outcome::cancelled)
    return close("Decided elsewhere: " + text_of(*found));
  // Its event says how.
  const auto allowed = allowed_by(*now_known);
  close(said + (said.empty() || allowed.empty() ? "" : "\n") + allowed);
}

std::string approval_prompt::allowed_by(
    const storage::proposal_state& x) const {
  if (!x.decided || x.decided->at < since_) return {};
  return always_text(x);
}

/// The first that waits, if the journal knows it.
std::optional<storage::proposal_state> approval_prompt::known() {
  proposal_filter filter;
  filter.id = waiting_.front().proposal;
  auto found = around_.rt.proposals(filter);
  if (!found || found->empty()) return std::nullopt;
  folder_ = found->front().what.folder;
  replaces_ = found->front().what.replaces;
  definition_ = found->front().what.definition;
  return std::move(found->front());
}

/// Approved for always meanwhile, at another question: it need not be asked.
bool approval_prompt::is_covered(const storage::proposal_record& what) {
  const auto grants = around_.rt.grants(what.session);
  if (!grants) return false;
  // What is asked again is in doubt, and so is what was allowed before that.
  const auto since = what.replaces.empty() ? wall_time{} : what.made;
  const auto found = std::ranges::find_if(*grants, [&](const auto& x) {
    return x.at >= since && storage::covers_waiting(x, what);
  });
  if (found == grants->end()) return false;
  decision x;
  x.approved = true;
  x.by = "always (" + found->by + ")";
  x.reason = riffle::grant_text(*found);
  x.digest = what.digest;
  const auto done = around_.rt.decide(what.id, std::move(x));
  if (!done || done->verdict != decision_verdict::accepted) return false;
  say("Not asked, " + safe_line(riffle::grant_text(*found), 200) + ": " +
      safe_line(waiting_.front().title, 200) + "\n");
  return true;
}

/// The person has said what holds for all; not of what he is about to change,
/// or to say why not. What a rule may deny nobody has read then.
bool approval_prompt::decided_for_all() {
  const auto who = around_.decides ? around_.decides() : approve::ask;
  const auto about = waiting_.front();
  if (who == approve::ask || asks_still_ == about.proposal ||
      (open_ && (open_->edited() || open_->wants_text())))
    return false;
  decision x;
  x.approved = who == approve::all;
  x.by = x.approved ? by_approve_all : "/approve none";
  if (!x.approved) x.reason = not_allowed;
  x.digest = about.digest;
  auto done = around_.rt.decide(about.proposal, x);
  if (x.approved && !done && done.error().code == errc::approval_denied) {
    x.approved = false;
    x.reason = done.error().message;
    done = around_.rt.decide(about.proposal, x);
  }
  if (!done || done->verdict != decision_verdict::accepted) {
    asks_still_ = about.proposal;
    return false;
  }
  if (x.approved && around_.decided) around_.decided(about.proposal);
  // What came of it stands in the log; of each yes nothing is said.
  close("");
  return true;
}

/// Of a yes to arguments that were changed here, and to nothing beyond.
void approval_prompt::keep_answer() {
  auto& x = changes_[open_->about().id];
  x.answered = open_->about().proposal;
  x.basis = basis_;
  x.definition = definition_;
}

/// It is asked again only since the arguments before those of the person would
/// act on something else by now: what stands here is what he said yes to.
bool approval_prompt::is_answered(const storage::proposal_record& what) {
  const auto found = changes_.find(what.call);
  if (found == changes_.end()) return false;
  auto& x = found->second;
  const auto answered = std::exchange(x.answered, {});
  if (!x.stale || !x.here || answered.empty() || what.replaces != answered ||
      x.basis.empty() || what.basis != x.basis || what.definition.empty() ||
      what.definition != x.definition ||
      !tools::are_same_arguments(x.made, what.arguments))
    return false;
  decision yes;
  yes.approved = true;
  yes.digest = what.digest;
  const auto done = around_.rt.decide(what.id, std::move(yes));
  if (!done || done->verdict != decision_verdict::accepted) return false;
  if (around_.decided) around_.decided(what.id);
  say("Not asked: what you said yes to is unchanged.\n");
  return true;
}

// -- a question that goes -----------------------------------------------------

/// What it shows is what was decided about, unless it is asked anew; where
/// others have written since, it stood above their lines.
void approval_prompt::before(const event& x) {
  const auto* answered = std::get_if<events::approval_resolved>(&x.body);
  if (answered == nullptr || !open_ || open_->id() != answered->proposal ||
      is_plain() || is_asked_again(answered->reason))
    return;
  drawn_.empty() ? leave_picture() : void(picture_stays_ = true);
}

/// The question goes while a part of its answer is typed: that answers no other
/// question, and a text is not lost.
std::string approval_prompt::keep_part(events::proposal_outcome how,
                                       std::string_view why) {
  if (!open_) return {};
  keep_changes({});
  if (is_plain()) return {};
  gone_at_ = std::chrono::steady_clock::now();
  const bool reason = open_->wants_text();
  const bool edited = open_->edited().has_value();
  if (!open_->leave_part() && !edited) return {};
  torn_ = true;
  if (!reason && edited && !is_asked_again(why))
    return gone_text(how) + "; your changed arguments were not used.";
  if (!reason) return {};
  const auto text = reason_.take();
  auto said = gone_text(how) + " before you had said why not";
  if (text.empty()) return said + ".";
  if (around_.typing == nullptr)
    return said + ": \"" + safe_line(text, most_quoted) + "\"";
  around_.typing->keep(text);
  return said + "; your words stand in the input line.";
}

/// Of a call that is asked about once more they are not lost. `made`: the
/// arguments of an approval from here; without, those of another one stay.
void approval_prompt::keep_changes(const std::string& made) {
  const auto& about = open_->about();
  const auto& left = open_->changes();
  if (!left) return;
  auto& x = changes_[about.id];
  x.of = about.arguments;
  x.left = left;
  if (made.empty()) return;
  x.made = made;
  x.here = true;
}

/// Whether the arguments of the open question are not those that its call was
/// asked about with at first.
bool approval_prompt::was_changed() const {
  constexpr int most = 20;
  auto before = replaces_;
  for (int i = 0; i < most && !before.empty(); ++i) {
    proposal_filter filter;
    filter.id = before;
    const auto found = around_.rt.proposals(filter);
    if (!found || found->empty()) return false;
    const auto& what = found->front().what;
    if (!tools::are_same_arguments(what.arguments, open_->about().arguments))
      return true;
    before = what.replaces;
  }
  return false;
}

/// What the changed arguments act on is not what the person saw.
void approval_prompt::show_changed() {
  open_->leave_part();  // how far it reaches was asked of another thing
  const auto cannot = drop_what_cannot_be(bind_changes());
  if (!is_plain()) remove_prompt();
  say("Nothing was decided: what it works on has changed since you saw "
      "it. " +
      (cannot.empty() ? "It stands here as it is now.\n" : cannot));
  has_picture_ = true;
  open_gate();
  if (is_plain()) show_plain();
}

/// If they cannot be done any more: why, for the person.
std::string approval_prompt::bind_changes() {
  basis_.clear();
  if (!open_->edited()) return {};
  // In front of the file: what is written in between is outdated at the answer.
  auto seen =
      around_.rt.preview_change(open_->about().proposal, *open_->edited());
  look_at_file();
  basis_ = seen ? std::move(seen->basis) : std::string{"unknown"};
  if (seen && !seen->preview.empty())
    open_->set_preview(std::move(seen->preview));
  return seen ? std::string{} : seen.error().message;
}

/// What was changed before the file was: `why` it cannot be done any more, or
/// nothing. What to say of that.
std::string approval_prompt::drop_what_cannot_be(const std::string& why) {
  if (why.empty() || !open_->edited()) return {};
  return open_->drop_changes(why);
}

/// Whether it is asked about behind what this terminal, or another, has changed
/// of it. What to say of that.
std::string approval_prompt::take_up_changes() {
  const auto& about = open_->about();
  const auto before = changes_.find(about.id);
  const auto x = before == changes_.end() ? call_changes{} : before->second;
  const bool same =
      !x.made.empty() && tools::are_same_arguments(x.made, about.arguments);
  // What was changed before this process began is on record alone.
  if (same || was_changed()) open_->set_changed(same && x.here);
  if (same || !x.left) return {};
  look_at_file();
  auto said = open_->take_up(*x.left, x.of);
  const auto cannot = drop_what_cannot_be(bind_changes());
  return cannot.empty() ? said : cannot;
}

/// What it showed is not so any more, and what is so is asked next.
void approval_prompt::close_outdated(const std::string& line) {
  around_.show(erasure());
  drawn_.clear();
  close(line);
}

}  // namespace riffle::cli
