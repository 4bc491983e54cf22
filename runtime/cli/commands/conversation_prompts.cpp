// SPDX-License-Identifier: MIT
// Texts that are sent by a name: prompts of servers, and commands that are
// files of the person or of the folder.
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/base/text.hpp"
#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/commands/own_commands.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/mcp_text.hpp"
#include "runtime/cli/view/own_command.hpp"

namespace riffle::cli {

namespace {

/// Ctrl-C ends a wait, and nothing else.
class stopped_by {
 public:
  explicit stopped_by(interrupts& signals) : signals_{signals} {
    signals_.on_stop([this](const char*) { stop_.request_stop(); });
  }
  ~stopped_by() { signals_.on_stop({}); }
  stopped_by(const stopped_by&) = delete;
  stopped_by& operator=(const stopped_by&) = delete;
  [[nodiscard]] std::stop_token token() const { return stop_.get_token(); }

 private:
  interrupts& signals_;
  std::stop_source stop_;
};

std::string beginning_of(const std::string& text) {
  return with_dots(safe_line(text, 1000), 200);
}

}  // namespace

void conversation::list_prompts(interrupts& signals) {
  prompt_.pause();
  std::vector<std::string> problems;
  const stopped_by stop{signals};
  const auto all = rt_->prompts(problems, stop.token());
  if (stop.token().stop_requested()) return note("Stopped.");
  for (const auto& x : problems) note(safe_line(x, 1000));
  if (all.empty()) note("No server in [mcp] has a prompt.");
  for (const auto& x : all) io_.err.write(prompt_text(x, io_.err.columns()));
}

std::span<const named_choice> conversation::prompts_for(
    std::string_view before_cursor) {
  const bool names_one = std::ranges::any_of(settings_.mcp, [&](const auto& x) {
    const auto begin = "/" + x.first;
    return before_cursor.size() > 1 && (begin.starts_with(before_cursor) ||
                                        before_cursor.starts_with(begin));
  });
  if (!names_one) return {};
  if (!prompts_ && works_) return {};  // it would have to wait for them
  if (!prompts_) {
    std::vector<std::string> problems;
    prompts_.emplace();
    for (auto& x : rt_->prompts(problems))
      prompts_->push_back({std::move(x.name), std::move(x.about)});
  }
  return *prompts_;
}

void conversation::run_prompt(const chat_line& x, interrupts& signals) {
  if (!knows_the_last_turn("It was not sent: Enter sends it.")) return;
  prompt_.pause();
  auto text = [&] {
    const stopped_by stop{signals};
    return rt_->prompt(x.word, x.rest, stop.token());
  }();
  if (signals.asked_to_stop()) return note("Stopped.");
  if (!text) return complain(text.error());
  note(beginning_of(*text));
  run_task(request(*std::move(text)), signals);
}

std::vector<std::string> conversation::commands_for(
    std::string_view before_cursor) {
  std::vector<std::string> out;
  if (!before_cursor.starts_with('/')) return out;
  for (auto& x : find_own_commands().all) out.push_back(std::move(x.name));
  for (const auto& x : prompts_for(before_cursor)) out.push_back(x.name);
  return out;
}

std::vector<named_choice> conversation::known_prompts() const {
  if (prompts_) return *prompts_;
  std::vector<named_choice> out;
  if (works_) return out;  // Tab does not ask for them then
  for (const auto& [server, x] : settings_.mcp)
    out.push_back(
        {server + "__", "prompts of this server: Tab asks for them", false});
  return out;
}

void conversation::help() {
  const auto own = find_own_commands();
  std::vector<own_help> lines;
  for (const auto& x : own.all) {
    // What is not listed need not be read.
    const auto text = lines.size() < most_own_listed
                          ? read_own(x)
                          : expected<own_text>{own_text{}};
    lines.push_back(
        {x.name,
         text ? text->about : "cannot be used: /" + x.name + " says why",
         x.shown});
  }
  write(wrap_lines(chat_help(own_help_text(lines)), io_.err.columns()));
  tell_refused();
}

/// Files whose names are taken: nobody is to wonder.
void conversation::tell_refused() {
  constexpr std::size_t most = 5;
  const auto refused = find_own_commands().refused;
  for (std::size_t i = 0; i < std::min(refused.size(), most); ++i)
    note(safe_line(refused[i], 300));
  if (refused.size() > most)
    note("and " + std::to_string(refused.size() - most) + " more of these");
}

/// Its text goes to the model as if it had been typed, and to no shell.
bool conversation::run_own(const chat_line& x, interrupts& signals) {
  const auto found = find_own_command(x.word);
  if (!found) return false;
  const auto text = read_own(*found);
  if (!text) {
    complain(text.error());
    return true;
  }
  const auto filled = fill_in(text->task, x.rest);
  if (!filled) {
    complain({errc::invalid_request, "chat",
              "/" + x.word + " with that text would be larger than " +
                  size_text(most_filled) +
                  ": it names $ARGUMENTS too often for so long a text; attach "
                  "a file instead (@PATH)"});
    prompt_.give_back();
    return true;
  }
  const auto& task = *filled;
  std::vector<std::string> out;
  if (found->of_folder) {
    if (own_seen_.insert(found->shown + text->task).second)
      note("/" + x.word + " is from " + found->shown);
    out = leading_out(task, x.rest);
  }
  note(beginning_of(task));
  for (const auto& one : out)
    note("@" + safe_line(one, 100) +
         " leads out of this folder: it is not attached, since a file of the "
         "folder names it; type it behind /" +
         x.word + " to attach it");
  if (found->of_folder) {
    const auto kept = kept_from_read(task, x.rest, settings_.tools);
    for (const auto& one : kept)
      note("@" + safe_line(one, 100) +
           ": the rules of 'read' keep it back, and nobody typed it: it is not "
           "attached; type it behind /" +
           x.word + " to attach it");
    out.insert(out.end(), kept.begin(), kept.end());
  }
  send(task, signals, out);
  return true;
}

}  // namespace riffle::cli
