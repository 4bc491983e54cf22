// SPDX-License-Identifier: MIT
// riffle proposals list|show|approve|deny|edit|always
#include <algorithm>
#include <chrono>
#include <thread>
#include <unistd.h>
#include <utility>

#include "runtime/base/clock.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/proposal_folder.hpp"
#include "runtime/cli/commands/proposal_outcome.hpp"
#include "runtime/cli/commands/run_configuration.hpp"
#include "runtime/cli/commands/waiting_run.hpp"
#include "runtime/cli/commands/watch.hpp"
#include "runtime/cli/terminal/approval_prompt.hpp"
#include "runtime/cli/terminal/choose.hpp"
#include "runtime/cli/terminal/editor.hpp"
#include "runtime/cli/terminal/read_text.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/wrap_lines.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cli/view/proposal_text.hpp"
#include "runtime/service/match_id.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/storage/for_later.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;
using what = proposals_command::what;
using service::proposal_view;

/// Longest wait for the run that an approval lets go on.
constexpr auto answer_limit = std::chrono::seconds{5};
constexpr auto between_looks = std::chrono::milliseconds{50};

/// With what to do next, where it is about something that there is not.
error with_hint(error why) {
  if (why.code == errc::not_found)
    why.message += "; 'riffle proposals list' shows what waits";
  return why;
}

/// Those without a decision whose time is not over, and those that were
/// approved and that nobody executes yet, or any more; or all.
expected<std::vector<proposal_view>> listed(const proposals_command& x,
                                            const service::proposals& all,
                                            const gone_runs& gone,
                                            storage::journal* journal) {
  proposal_filter filter;
  if (x.session) filter.session = session_id{*x.session};
  filter.undecided = !x.all;
  filter.limit = x.limit;
  auto found = all.list(filter);
  if (!found || x.all) return found;
  filter.undecided = false;
  filter.limit = proposal_filter{}.limit;
  auto decided = all.list(filter);
  if (!decided) return decided;
  for (auto& one : *decided)
    if (found->size() < x.limit &&
        (storage::awaits_execution(one.it) ||
         (journal != nullptr && is_interrupted(one, gone, *journal))))
      found->push_back(std::move(one));
  return found;
}

/// What waits, if something does.
expected<proposal_id> newest(const service::proposals& all) {
  for (const bool undecided : {true, false}) {
    proposal_filter filter;
    filter.undecided = undecided;
    const auto found = all.list(filter);
    if (!found) return unexpected{found.error()};
    if (!found->empty()) return found->front().it.what.id;
  }
  return unexpected{
      error{errc::not_found, "proposals", "there are no proposals"}};
}

int list(const proposals_command& x, const service::proposals& all,
         storage::journal* journal, console& io) {
  const gone_runs gone{journal};
  auto found = listed(x, all, gone, journal);
  if (!found) return report(found.error(), io);
  // People answer them in the order in which they were asked.
  if (x.common.output == output_kind::text) std::ranges::reverse(*found);
  const auto now = system_wall_time();
  const auto cut = [&](const auto& one) {
    return journal != nullptr && is_interrupted(one, gone, *journal);
  };
  const auto first = [&](const auto& one) {
    return gone.hold(one.it.what.session) ? how_to_resume(one.it)
                                          : std::string{};
  };
  return write_list(
      *found, x.common,
      x.all ? "there are no proposals"
            : "nothing waits for a decision; --all lists what was decided too",
      [&](const auto& one) {
        return summary_text(one, now, first(one)) +
               (cut(one) ? "  interrupted: " + how_to_resume(one.it) + "\n"
                         : "");
      },
      [&](const auto& one) {
        auto out = service::to_json(one, now);
        if (cut(one)) out["interrupted"] = true;
        return out;
      },
      io);
}

int show(const proposals_command& x, const proposal_view& about,
         storage::journal& journal, console& io) {
  const auto now = system_wall_time();
  const auto call = executed_call(about, journal);
  const auto came = call ? outcome_text(*call) : std::string{};
  const bool cut =
      came.empty() && is_interrupted(about, gone_runs{&journal}, journal);
  if (x.common.output == output_kind::text) {
    const auto text =
        whole_text(about, now, io.out.columns()) +
        (came.empty() ? "" : "outcome:  " + safe_line(came, 500) + "\n") +
        (cut ? "outcome:  interrupted: " + how_to_resume(about.it) + "\n" : "");
    io.out.write(wrap_rows(text, io.out.columns()));
  } else {
    auto all = service::to_json(about, now);
    if (!came.empty()) all["outcome"] = came;
    if (cut) all["interrupted"] = true;
    io.out.write(service::dump(all) + "\n");
  }
  return io.out.good() ? completed : failed;
}

/// The one that was approved for further calls and whose id has this part.
expected<proposal_id> find_grant(const std::string& part,
                                 const service::proposals& all) {
  const auto found = all.grants({});
  if (!found) return unexpected{found.error()};
  std::vector<proposal_id> ids;
  for (const auto& x : *found) ids.push_back(x.proposal);
  auto id = service::match_id(part, ids);
  if (!id && id.error().code == errc::not_found)
    return unexpected{
        error{errc::not_found, "proposals",
              "nothing was approved for further calls by \"" + part +
                  "\"; 'riffle proposals always' lists what was"}};
  return id;
}

/// What was approved once and for all: lists it, or takes one back.
int always(const proposals_command& x, const service::proposals& all,
           console& io) {
  if (!x.id.empty()) {
    const auto id = find_grant(x.id, all);
    if (!id) return report(id.error(), io);
    const auto done = all.revoke(*id);
    if (!done) return report(done.error(), io);
    if (x.common.level != verbosity::quiet)
      io.say("What " + id->value +
             " allowed is taken back: further calls are asked about.\n");
    return completed;
  }
  std::optional<session_id> of;
  if (x.session) of = session_id{*x.session};
  const auto found = all.grants(of);
  if (!found) return report(found.error(), io);
  return write_list(
      *found, x.common, "nothing was approved for further calls",
      [now = system_wall_time()](const auto& one) {
        return grant_text(one, now);
      },
      [](const auto& one) { return service::to_json(one); }, io);
}

/// The arguments that are to run instead: of the option, of standard input, or
/// of the editor.
expected<std::string> edited_arguments(const proposals_command& x,
                                       const proposal& about,
                                       const interrupts& signals) {
  if (x.arguments && *x.arguments == "-") return read_stdin("arguments");
  if (x.arguments) return *x.arguments;
  const auto keyboard = open_keyboard(false);
  if (!keyboard)
    return unexpected{error{errc::invalid_request, "proposals",
                            "there is no terminal to edit at: give --arguments "
                            "JSON, or --arguments - and standard input"}};
  const auto shown =
      json::parse(about.what.arguments, nullptr, false).dump(2) + "\n";
  return edit_text(shown, keyboard->get(),
                   [&signals] { return signals.asked_to_stop(); });
}

std::string_view name_of(decision_verdict x) {
  switch (x) {
    case decision_verdict::accepted: return "accepted";
    case decision_verdict::too_late: return "too_late";
    case decision_verdict::stale: return "stale";
    case decision_verdict::unknown: break;
  }
  return "unknown";
}

/// What was approved had changed since it was shown.
bool was_stale(const proposals_command& x, const session_id& session,
               runtime& rt, console& io) {
  proposal_filter filter;
  filter.session = session;
  const auto all = rt.proposals(filter);
  if (!all) return false;
  for (const auto& one : *all) {
    if (one.what.replaces.value != x.id) continue;
    io.complain(
        "what was shown has changed since, so nothing was executed: 'riffle "
        "proposals show " +
        one.what.id.value + "' shows it as it is now");
    return true;
  }
  return false;
}

/// The process that waits looks once more at what it is about to do. Whoever
/// approved it must not go away and think that it is done.
bool came_too_late(const proposals_command& x,
                   const storage::proposal_record& of, runtime& rt,
                   const interrupts& signals, console& io) {
  const auto until = std::chrono::steady_clock::now() + answer_limit;
  waiting_run waits{of, rt};
  while (!waits.has_taken() && !signals.asked_to_stop() &&
         std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(between_looks);
  if (was_stale(x, of.session, rt, io)) return true;
  const auto& answer = waits.answer();
  if (!answer || answer->how == events::proposal_outcome::approved)
    return false;
  io.complain("nothing was executed: " + safe_line(answer->reason, 500));
  return true;
}

/// What came of it; a run that it started is shown as 'riffle run' does. It
/// runs `elsewhere`, unless that is empty.
int tell(const proposals_command& x, const decided& done,
         const std::string& elsewhere, runtime& rt, interrupts& signals,
         console& io) {
  const bool text = x.common.output == output_kind::text;
  const auto inform = [&](const std::string& line) {
    if (x.common.level == verbosity::quiet) return;
    if (is_good_news(done))
      io.say(safe_text(line) + "\n");
    else
      io.complain(line);
  };
  if (text) inform(verdict_text(done, x.id, rt));
  const bool now = done.verdict == decision_verdict::accepted && done.now;
  const auto always = now ? always_text(*done.now) : std::string{};
  if (text && !always.empty()) inform(always);
  if (done.started) {
    if (!elsewhere.empty())
      inform("it is executed in " + elsewhere + ", where it was proposed");
    room_wait room{{}, signals, io};
    const int status = watch({rt, *done.started, open_keyboard(false)},
                             x.common, {}, signals, room, io);
    const bool lost = was_stale(x, done.started->session(), rt, io) ||
                      was_not_executed(*done.started, rt, io);
    return lost && status == completed ? failed : status;
  }
  if (!text) {
    json out = {{"proposal_id", x.id}, {"verdict", name_of(done.verdict)}};
    if (done.now)
      out["proposal"] = service::to_json({*done.now, {}}, system_wall_time());
    if (done.queued) out["queued"] = true;
    io.out.write(service::dump(out) + "\n");
  }
  if (done.verdict != decision_verdict::accepted) return failed;
  if (done.queued) return failed;
  const bool asked =
      done.now && done.now->what.waits &&
      done.now->what.source == events::proposal_source::tool_call;
  return asked && x.action != what::deny &&
                 came_too_late(x, done.now->what, rt, signals, io)
             ? failed
             : completed;
}

/// What came from the editor is not lost with its decision.
void keep_edited(const std::string& text, console& io) {
  if (text.empty()) return;
  if (const auto file = keep_text(text, ".json"); !file.empty())
    io.complain("what you have written is in " + file);
}

int decide(const proposals_command& x, const proposal& about,
           const std::string& elsewhere, runtime& rt, interrupts& signals,
           console& io) {
  decision made;
  made.approved = x.action != what::deny;
  made.reason = x.reason;
  made.always = x.always;
  made.kept = x.kept;
  made.digest = about.what.digest;
  if (x.action == what::edit) {
    auto arguments = edited_arguments(x, about, signals);
    if (!arguments) return report(arguments.error(), io);
    made.arguments = std::move(*arguments);
  }
  const auto wrote = x.arguments ? std::string{} : made.arguments.value_or("");
  const auto done = rt.decide(about.what.id, std::move(made));
  if (!done || done->verdict != decision_verdict::accepted)
    keep_edited(wrote, io);
  if (!done) {
    const int status = report(done.error(), io);
    return done.error().code == errc::invalid_arguments ? usage : status;
  }
  return tell(x, *done, elsewhere, rt, signals, io);
}

}  // namespace

int execute(const proposals_command& x, console& io) {
  const bool looks = x.action == what::list || x.action == what::show ||
                     (x.action == what::always && x.id.empty());
  auto settings =
      load_config(x.common, looks ? config_use::looks : config_use::acts,
                  x.arguments == "-", io);
  if (!settings) return usage;
  auto journal = service::open_journal(*settings, service::journal_use::reads);
  if (!journal) return report(journal.error(), io);
  std::optional<service::proposals> all{*journal};
  if (x.action == what::list) return list(x, *all, journal->get(), io);
  if (x.action == what::always) return always(x, *all, io);
  const bool any = x.id.empty() && x.action == what::show;
  const auto id = any ? newest(*all) : all->find(x.id);
  if (!id) return report(with_hint(id.error()), io);
  const auto found = all->show(*id);
  if (!found) return report(with_hint(found.error()), io);
  if (x.action == what::show) return show(x, *found, **journal, io);
  const auto* about = &found->it;
  auto there = x;
  there.id = id->value;
  const auto moved = go_where_it_runs(there, *about, **journal);
  if (!moved) return report(moved.error(), io);
  const auto other = go_by_what_it_ran(there, *about, **journal);
  if (!other) return report(other.error(), io);
  all.reset();
  journal->reset();
  if (*other) tell_configuration(there.common, io);
  if (*moved || *other) {
    settings = load_config(there.common, config_use::acts_there,
                           x.arguments == "-", io);
    if (!settings) return usage;
    if (const auto known = is_known_here(there, *about, *settings); !known)
      return report(known.error(), io);
  }
  choose_log_level(x.common.level, *settings);
  interrupts signals;
  auto rt = runtime::create(std::move(*settings), {.owns_process = true});
  if (!rt) return report(rt.error(), io);
  const auto elsewhere = *moved ? about->what.folder : std::string{};
  return decide(there, *about, elsewhere, *rt, signals, io);
}

}  // namespace riffle::cli
