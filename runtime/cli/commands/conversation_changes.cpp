// SPDX-License-Identifier: MIT
// "/diff" and "/undo": what a session did to files, shown and taken back.
#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "runtime/base/text.hpp"
#include "runtime/cli/commands/conversation.hpp"
#include "runtime/cli/commands/net_changes.hpp"
#include "runtime/cli/terminal/confirm.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/terminal/waiting_log.hpp"
#include "runtime/cli/view/changes_text.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/service/file_changes.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/service/stored_request.hpp"
#include "tools/builtin/files/take_back.hpp"

namespace riffle::cli {

namespace {

/// Bytes of diffs that a terminal is given at once.
constexpr std::size_t most_shown = 256u << 10;

using service::taken_back;

bool is_in(const run_id& run, const std::vector<run_id>& all) {
  return std::ranges::find(all, run) != all.end();
}

/// The runs whose changes stand, the newest first.
std::vector<const storage::run_record*> changed_turns(
    const session_snapshot& whole, const session_changes& all,
    const taken_back& before) {
  std::vector<const storage::run_record*> out;
  for (auto i = whole.runs.size(); i-- > 0;) {
    const auto& run = whole.runs[i];
    const bool changed =
        std::ranges::find(all.files, run.id, &file_change::run) !=
        all.files.end();
    if (changed && !is_in(run.id, before.runs)) out.push_back(&run);
  }
  return out;
}

session_changes only_of(const session_changes& all, const run_id& run) {
  session_changes out;
  for (const auto& x : all.files)
    if (x.run == run) out.files.push_back(x);
  for (const auto& x : all.others)
    if (x.run == run) out.others.push_back(x);
  return out;
}

}  // namespace

/// What is to be done, or why it cannot be.
struct conversation::undo_plan {
  std::vector<tools::earlier_file> files{};
  std::vector<std::string> names{};  ///< of these, as /diff calls them
  std::vector<std::string> problems{};
};

conversation::undo_plan conversation::undo_of(
    const session_changes& turn, const std::filesystem::path& workspace) {
  undo_plan out;
  for (const auto& x : by_file(turn)) {
    const auto away = std::ranges::find_if(
        x.calls, [](const auto* one) { return !one->node.empty(); });
    if (away != x.calls.end()) {
      out.problems.push_back(exact_name(x.path, 200) +
                             " was changed on the node " + (*away)->node);
      continue;
    }
    auto was = tools::earlier(workspace, made_by(x));
    if (was && !was->done) {
      out.files.push_back(std::move(*was));
      out.names.push_back(x.path);
    } else if (!was) {
      out.problems.push_back(std::move(was.error()));
    }
  }
  return out;
}

namespace {

expected<void> record(runtime& rt, const session_id& session,
                      const taken_back& x) {
  return rt.set_state(session, service::taken_back_key, service::json_of(x));
}

std::filesystem::path place_of(const storage::run_record& run,
                               const config::config& settings) {
  auto own = service::workspace_of(run);
  if (own.empty()) own = settings.tools.of("write").workspace;
  // As for the tools: a path of the model may be whole.
  std::error_code gone;
  return std::filesystem::absolute(own, gone);
}

std::string name_of(const storage::run_record& run) {
  return "\"" + safe_line(run.task, 60) + "\"";
}

std::vector<std::string> spelled(std::vector<std::string> paths) {
  for (auto& one : paths) one = exact_name(one, 200);
  return paths;
}

std::vector<std::string> without(std::vector<std::string> all,
                                 const std::vector<std::string>& some) {
  for (const auto& one : some) std::erase(all, one);
  return all;
}

/// "a.txt is as before already."
std::string already(const std::vector<std::string>& names, const char* one,
                    const char* many) {
  constexpr std::size_t most = 5;
  return join_some(names, most) + (names.size() == 1 ? one : many) +
         " as before already.";
}

std::string question_of(const std::string& turn,
                        const std::vector<std::string>& paths) {
  constexpr std::size_t most = 5;
  std::vector<std::string> names;
  for (const auto& one : paths) names.push_back(exact_name(one, 60));
  return "Take back what " + turn + " changed in " +
         counted(names.size(), "file") + ": " + join_some(names, most) + "?";
}

/// Why nothing of it can be taken back from here; empty: it can.
std::string elsewhere(const storage::run_record& run,
                      const session_id& session) {
  const auto folder = folder_of(run);
  const auto state = service::find_folder(folder);
  if (state == service::folder_state::here) return {};
  const auto told = name_of(run) + " worked in " + safe_line(folder, 300);
  return told + (state == service::folder_state::gone
                     ? ", which is not there any more."
                     : ": take it back there ('riffle chat --session " +
                           short_id(session.value) + "').");
}

/// What it wrote was there before.
bool changed_nothing(const session_changes& turn) {
  const auto files = by_file(turn);
  return std::ranges::all_of(files, [](const changed_file& x) {
    const auto& now = x.calls.back()->after;
    return !now.empty() && x.calls.front()->before == now;
  });
}

std::vector<std::string> names_of(const session_changes& turn) {
  std::vector<std::string> out;
  for (const auto& one : by_file(turn)) out.push_back(one.path);
  return spelled(std::move(out));
}

}  // namespace

std::vector<std::string> conversation::files_of(
    std::span<const undone_turn> all) {
  std::vector<std::string> out;
  for (const auto& one : all)
    for (const auto& file : one.files)
      if (std::ranges::find(out, file) == out.end()) out.push_back(file);
  return out;
}

std::string conversation::as_before(std::span<const undone_turn> all) {
  constexpr std::size_t most = 5;
  return "What " +
         (all.size() == 1 ? all[0].name : counted(all.size(), "turn")) +
         " changed is as it was before: " + join_some(files_of(all), most) +
         ".";
}

void conversation::diff(const std::string& file) {
  const auto whole = snapshot();
  if (!whole) return note("Nothing yet.");
  const auto all = rt_->file_changes(*whole);
  if (!all) return complain(all.error());
  const auto before = service::taken_back_of(whole->state);
  auto files = by_file(*all, file, before.runs);
  find_net(files);
  auto text = changes_text(files, {color_, io_.err.columns()});
  if (text.size() > most_shown) {
    text.resize(text.rfind('\n', most_shown) + 1);
    text += "… and more: 'riffle sessions diff " + session_->value +
            "' shows all, /diff FILE one file\n";
  }
  if (files.empty()) {
    auto none = unchanged_text(file, by_file(*all, {}, before.runs)) + ".";
    none.front() = 'N';
    note(none);
  }
  write(text);
  if (!before.runs.empty())
    note("Without what was taken back: " + counted(before.runs.size(), "turn") +
         ".");
  if (const auto more = others_text(all->others, whole->calls); !more.empty())
    note(more);
}

/// Of the newest turn that changed something which stands: all of it or none.
/// Turns above it whose files are as they were go with it.
void conversation::undo(interrupts& signals) {
  const auto whole = snapshot();
  const auto all = whole ? rt_->file_changes(*whole) : session_changes{};
  if (!all) return complain(all.error());
  if (!whole) return note("There is no change to take back.");
  const auto turns =
      changed_turns(*whole, *all, service::taken_back_of(whole->state));
  if (!turns.empty() && whole->runs.back().state == storage::run_state::active)
    return note(
        "A run of this session has not ended: 'riffle sessions resume " +
        short_id(session_->value) + "' finishes it, '… forget' ends it.");
  std::vector<const storage::run_record*> idle;
  std::vector<undone_turn> undone;  // by hand, or before a kill
  for (const auto* run : turns) {
    if (const auto why = elsewhere(*run, *session_); !why.empty())
      return note(why);
    const auto turn = only_of(*all, run->id);
    if (changed_nothing(turn)) {
      idle.push_back(run);
      continue;
    }
    const auto workspace = place_of(*run, settings_);
    const auto plan = undo_of(turn, workspace);
    if (!plan.problems.empty()) {
      for (const auto& x : plan.problems) note(safe_line(x, 300));
      return note(
          "Nothing was taken back: it is all of a turn, or none of it.");
    }
    undone.push_back({run->id, name_of(*run), names_of(turn)});
    if (plan.files.empty()) continue;
    tell_idle(idle);
    return take_back(undone, turn, plan, workspace, signals);
  }
  tell_idle(idle);
  if (!undone.empty()) return count_as_taken_back(undone, signals);
  note("There is no " + std::string{turns.empty() ? "" : "other "} +
       "change to take back.");
}

/// Of turns that changed nothing, once.
void conversation::tell_idle(const std::vector<const storage::run_record*>& x) {
  std::string name;
  std::size_t n = 0;
  for (const auto* run : x) {
    if (!idle_told_.insert(run->id).second) continue;
    if (n++ == 0) name = name_of(*run);
  }
  if (n == 1)
    note(name + " changed nothing: what it wrote was there before.");
  else if (n > 1)
    note(counted(n, "turn") +
         " changed nothing: what they wrote was there before.");
}

/// `x`: the last of them is `plan`'s, the others are as they were before.
void conversation::take_back(const std::vector<undone_turn>& x,
                             const session_changes& turn, const undo_plan& plan,
                             const std::filesystem::path& workspace,
                             interrupts& signals) {
  const auto above = std::span{x}.first(x.size() - 1);
  if (!above.empty())
    note(as_before(above) + " With your yes it counts as taken back, too.");
  for (std::size_t i = 0; i < plan.files.size(); ++i)
    write(change_text(plan.names[i], plan.files[i].diff,
                      {color_, io_.err.columns()}));
  if (const auto whole = snapshot(); whole && !turn.others.empty())
    note(others_text(turn.others, whole->calls));
  if (const auto rest = without(x.back().files, spelled(plan.names));
      !rest.empty())
    note(already(rest, " is", " are"));
  const auto now =
      agreed_undo(question_of(x.back().name, plan.names), x, signals);
  if (!now) return;
  if (const auto done = tools::put_back(workspace, plan.files); !done)
    return io_.complain(done.error() + ": the turn was not taken back");
  // Until it is on record it can be done again, as after a kill.
  record_taken_back(*now, x, spelled(plan.names));
}

/// Nothing has to be done for it.
void conversation::count_as_taken_back(const std::vector<undone_turn>& x,
                                       interrupts& signals) {
  const auto now =
      agreed_undo(as_before(x) + " Count it as taken back?", x, signals);
  if (now) record_taken_back(*now, x, {});
}

/// The session as it is behind a yes; nothing: it was none, or does not count.
std::optional<session_snapshot> conversation::agreed_undo(
    const std::string& question, const std::vector<undone_turn>& x,
    interrupts& signals) {
  const auto before = snapshot();
  unasked_ = false;
  prompt_.pause();
  const held_log log{io_.log};
  const auto stopped = [&] { return signals.asked_to_stop(); };
  if (!confirm(question, prompt_.keyboard(), stopped, io_, {},
               prompt_.kept_beside_questions())) {
    note("Nothing was taken back.");
    return std::nullopt;
  }
  // The question may have stood for long.
  auto now = snapshot();
  const auto done = now ? service::taken_back_of(now->state) : taken_back{};
  const bool same =
      before && now && now->runs.back().id == before->runs.back().id &&
      std::ranges::none_of(
          x, [&](const undone_turn& one) { return is_in(one.run, done.runs); });
  if (same) return now;
  note("The session went on elsewhere: nothing was taken back.");
  return std::nullopt;
}

/// `changed`: the files that had to be; of none, all are as before.
void conversation::record_taken_back(const session_snapshot& whole,
                                     const std::vector<undone_turn>& x,
                                     const std::vector<std::string>& changed) {
  auto act = service::taken_back_of(whole.state);
  for (const auto& one : x)
    act = service::with(act, one.run, whole.runs.back().id, one.files);
  if (const auto kept = record(*rt_, *session_, act); !kept) {
    complain(kept.error());
    return note(
        "The files are as before that turn, which is not on record: "
        "/undo puts it there.");
  }
  constexpr std::size_t most = 10;
  const auto all = files_of(x);
  const auto rest = changed.empty() ? changed : without(all, changed);
  note("Taken back: " + join_some(without(all, rest), most) + ". " +
       (rest.empty() ? "" : already(rest, " was", " were") + " ") +
       "The model is told of it with your next task.");
}

}  // namespace riffle::cli
