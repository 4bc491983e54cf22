// SPDX-License-Identifier: MIT
#include "runtime/cli/view/people_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "actors/core/dispatch_queue.hpp"
#include "actors/tools/proposal_texts.hpp"
#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"
#include "runtime/cli/terminal/program_output.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/text_width.hpp"
#include "runtime/cli/view/diff_lines.hpp"
#include "runtime/service/views.hpp"

namespace riffle::cli {

namespace {

/// How a part begins that tells who made the call what to do.
constexpr std::array advice = {"; read ",
                               "; give ",
                               "; check ",
                               "; it may have taken effect",
                               "; it did ",
                               "; use ",
                               "; narrow ",
                               "; name the ",
                               "; write ",
                               "; make ",
                               "; do not ",
                               "; its outcome is unknown",
                               "; call ",
                               "; paths ",
                               "; it may be tried",
                               ", check before you repeat it",
                               "; ask for it again",
                               "; raise ",
                               "; there are: ",
                               "; it is an RE2 "};

/// Its line begins with that, and so does advice in it; what others say so may
/// be what a person needs to know.
constexpr std::string_view of_plan = "manage_plan: ";
constexpr std::array advice_of_plan = {"; `create` makes ",
                                       "; the plan has the steps ", "; say "};

/// Of `edit`, whose arguments nobody sees.
std::string edit_text(std::string_view message) {
  constexpr std::string_view there = "old_string is in ";
  constexpr std::string_view times = " times (lines ";
  if (message.starts_with("old_string is not in "))
    return "the text to replace was not found";
  if (message.starts_with("old_string and new_string are equal"))
    return "it would change nothing";
  if (!message.starts_with(there)) return {};
  const auto end = message.find(times);
  if (end == std::string_view::npos)
    return "the text to replace is there more than once";
  const auto begin = message.rfind(' ', end - 1) + 1;
  return "the text to replace is there " +
         std::string{message.substr(begin, end - begin)} + " times";
}

/// How a call is told of that waits for a person behind the end of its run.
constexpr std::string_view proposed_by = "needs approval, proposal ";
constexpr std::size_t longest_reason = 200;

/// What only who builds Riffle knows, and what it means for a person.
constexpr std::array inner_words = {
    std::pair{"its worker and its worker pool failed",
              "Riffle lost track of it while it ran"},
    std::pair{"its worker pool failed", "Riffle lost track of it while it ran"},
    std::pair{"no worker was free within the queue's time limit",
              "too many other calls of the tool ran; there was no room "
              "within the time limit"},
    std::pair{"the call was stopped before a worker was free",
              "it was stopped before it was begun"},
    std::pair{"no worker serves the tool", "nothing runs the tool"}};

std::string in_plain_words(std::string text) {
  for (const auto& [inner, plain] : inner_words)
    if (const auto at = text.find(inner); at != text.npos)
      return text.replace(at, std::string_view{inner}.size(), plain);
  return text;
}

/// The next of what stands between "; ", but not in quotes, where a model's own
/// text may be.
std::string_view take_part(std::string_view& text) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < text.size(); ++end) {
    if (quoted && text[end] == '\\')
      ++end;
    else if (text[end] == '"')
      quoted = !quoted;
    else if (!quoted && text.substr(end).starts_with("; "))
      break;
  }
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 2, text.size()));
  return part;
}

/// `the key "path" is missing (a string)` -> `"path" is missing`. Empty: it
/// only says what would be right.
std::string mistake_text(std::string_view part) {
  if (part.starts_with("allowed: ") || part.starts_with("did you mean "))
    return {};
  constexpr std::string_view key = "the key ";
  std::string place;
  const auto names = part.find(": ");
  if (part.starts_with("at /") && names != part.npos) {
    place = "\"" + std::string{part.substr(4, names - 4)} + "\"";
    part.remove_prefix(names + 2);
  }
  if (part.starts_with(key)) {
    part.remove_prefix(key.size());
    if (const auto type = part.find(" is missing ("); type != part.npos)
      part = part.substr(0, type + std::string_view{" is missing"}.size());
    return std::string{part} + (place.empty() ? "" : " in " + place);
  }
  part = part.substr(0, part.find(", but "));
  return place.empty() ? std::string{part} : place + " " + std::string{part};
}

/// What is wrong with arguments, without what would be right.
std::string mistakes_text(std::string_view all) {
  constexpr std::size_t most = 3;
  if (all.starts_with("not valid JSON: ")) return "they are no JSON";
  std::vector<std::string> found;
  while (!all.empty())
    if (auto text = mistake_text(take_part(all)); !text.empty())
      found.push_back(std::move(text));
  return join_some(found, most);
}

}  // namespace

std::string without_advice(std::string_view message) {
  if (auto text = edit_text(message); !text.empty()) return text;
  const bool plan = message.starts_with(of_plan);
  if (plan) message.remove_prefix(of_plan.size());
  auto end = message.size();
  const auto cut = [&](const auto& beginnings) {
    for (const std::string_view begin : beginnings)
      end = std::min(end, message.find(begin));
  };
  cut(advice);
  if (plan) cut(advice_of_plan);
  return std::string{message.substr(0, end)};
}

std::string for_people(std::string_view message) {
  constexpr std::string_view worker = "the tool's worker was lost: ";
  constexpr std::string_view server = "the server ";
  constexpr std::string_view lost = " was lost: ";
  constexpr std::string_view unknown = "; its outcome is unknown";
  if (!message.starts_with(worker))
    return in_plain_words(without_advice(message));
  message.remove_prefix(worker.size());
  const bool may_have_acted = message.find(unknown) != message.npos;
  const auto why = message.find(lost);
  if (message.starts_with(server) && why != message.npos)
    message = message.substr(0, why + lost.size() - 2);
  return in_plain_words(without_advice(message)) +
         (may_have_acted ? "; how far it came is unknown: look at what it did "
                           "before it runs again"
                         : "");
}

std::string for_people(const error& x) {
  if (x.code == errc::approval_denied || x.code == errc::approval_expired)
    if (auto why = denial_for_people(x.message); why != x.message) return why;
  constexpr std::string_view cut =
      "the runtime stopped while this call was under way";
  if (x.code == errc::interrupted && x.message.starts_with(cut)) {
    const auto more = without_advice(x.message.substr(cut.size()));
    return "Riffle ended while it ran" +
           (more.empty() ? "; nobody knows how far it came" : more);
  }
  constexpr std::string_view why = " are not valid: ";
  if (x.code != errc::invalid_arguments ||
      !x.message.starts_with("the arguments of "))
    return for_people(x.message);
  const auto at = x.message.find(why);
  return "not called: the model's arguments are not valid" +
         (at == x.message.npos
              ? std::string{}
              : ": " + mistakes_text(std::string_view{x.message}.substr(
                           at + why.size())));
}

std::string with_code(std::string text, std::string_view code) {
  constexpr std::string_view between = ") (";
  if (!text.ends_with(')')) return text.append(" (").append(code) + ")";
  text.pop_back();
  for (auto at = text.rfind(between); at != text.npos; at = text.rfind(between))
    text.replace(at, between.size(), "; ");
  return text.append("; ").append(code) + ")";
}

std::string error_text(const error& x, std::size_t longest) {
  return with_code(safe_line(x.message, longest), to_string(x.code));
}

error cause_of(const error& of_step) {
  constexpr std::string_view behind = ": ";
  auto out = of_step;
  const auto end = out.message.find(behind);
  if (end == std::string::npos) return out;
  const auto code = parse_errc(std::string_view{out.message}.substr(0, end));
  if (!code) return out;
  out.code = *code;
  out.message.erase(0, end + behind.size());
  return out;
}

std::string cut_answer_text(std::uint64_t tokens) {
  return "the answer was cut off" +
         (tokens > 0 ? " after " + counted(tokens, "token") : std::string{});
}

/// The run was ended, and with it this call.
bool is_stopped(const events::tool_result& x) {
  return x.how == outcome::cancelled && x.err &&
         x.err->message.starts_with("the run was cancelled");
}

bool never_began(const events::tool_result& x) {
  return x.attempts == 0 ||
         (x.err && x.err->message.ends_with(core::was_not_begun));
}

std::string open_proposal(const events::tool_result& x) {
  if (x.how != outcome::denied || !x.err ||
      !x.err->message.starts_with(proposed_by))
    return {};
  const auto id = std::string_view{x.err->message}.substr(proposed_by.size());
  return safe_line(id.substr(0, id.find(':')), 64);
}

std::string end_of(const storage::call_record& x) {
  const std::string_view why = x.err ? x.err->message : std::string_view{};
  const bool cut = x.how == outcome::cancelled || x.how == outcome::denied;
  if (x.stage != storage::call_stage::settled || !cut)
    return service::state_of(x);
  const bool stopped = x.how == outcome::cancelled && x.attempt == 0;
  if (stopped || why.ends_with(core::was_not_begun)) return "not begun";
  if (x.how == outcome::cancelled || why.empty()) return service::state_of(x);
  if (why.starts_with(proposed_by)) return "waits for approval";
  return "denied: " + safe_line(for_people(*x.err), longest_reason);
}

std::string stop_reason(std::string_view by) {
  return by == "Ctrl-C" ? std::string{stopped_by_user}
                        : "stopped by " + std::string{by};
}

std::string stop_words(std::string_view why) {
  constexpr std::string_view stopped = "Stopped";
  if (why.starts_with("cancelled by Ctrl-C") ||
      why.starts_with(stopped_by_user))
    return std::string{stopped};
  constexpr std::string_view between = " by ";
  for (const std::string_view begin : {"stopped by SIG", "cancelled by SIG"})
    if (why.starts_with(begin))
      return std::string{stopped}.append(why.substr(why.find(between)));
  return {};
}

std::vector<std::string> last_rows(std::string_view text, bool cut,
                                   std::size_t columns, std::size_t most) {
  constexpr std::size_t longest = 4000;
  cut = cut || text.size() > longest;
  std::vector<std::string> all;
  const auto safe = safe_text(settled_lines(tail_utf8(text, longest)));
  std::string_view before = cut ? "…" : "";
  for_each_line(safe, [&](std::string_view line) {
    const auto mark = std::exchange(before, {});
    // The line above them says that already.
    if (!line.starts_with("exit status "))
      all.push_back(fit(std::string{mark}.append(line), columns));
  });
  const auto is_blank = [](const std::string& line) {
    return line.find_first_not_of(" \t") == line.npos;
  };
  while (!all.empty() && is_blank(all.back())) all.pop_back();
  if (all.size() > most) std::erase_if(all, is_blank);
  if (all.size() > most)
    all.erase(all.begin(), all.end() - static_cast<std::ptrdiff_t>(most));
  return all;
}

}  // namespace riffle::cli
