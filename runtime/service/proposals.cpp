// SPDX-License-Identifier: MIT
#include "runtime/service/proposals.hpp"

#include <filesystem>
#include <map>
#include <utility>

#include "actors/tools/call_check.hpp"
#include "actors/tools/call_inspection.hpp"
#include "actors/tools/call_policy.hpp"
#include "runtime/base/clock.hpp"
#include "runtime/service/match_id.hpp"
#include "runtime/service/run_folder.hpp"
#include "runtime/storage/for_later.hpp"

namespace riffle::service {

namespace {

using storage::proposal_state;

error refused(const proposal_id& id, const std::string& why) {
  return {errc::invalid_request, "proposals",
          "proposal " + id.value + " " + why};
}

std::vector<proposal_view> views_of(std::vector<proposal_state> all) {
  std::map<proposal_id, proposal_id> newer;
  for (const auto& x : all)
    if (!x.what.replaces.empty()) newer[x.what.replaces] = x.what.id;
  std::vector<proposal_view> out;
  out.reserve(all.size());
  for (auto& x : all) {
    const auto by = newer.find(x.what.id);
    out.push_back(
        {std::move(x), by == newer.end() ? proposal_id{} : by->second});
  }
  return out;
}

storage::decision_record to_record(proposal_id id, decision x) {
  storage::decision_record out;
  out.proposal = std::move(id);
  out.how = x.approved ? events::proposal_outcome::approved
                       : events::proposal_outcome::denied;
  out.by = std::move(x.by);
  out.reason = std::move(x.reason);
  out.arguments = std::move(x.arguments).value_or("");
  out.basis = std::move(x.basis);
  out.always = x.approved ? x.always : always_scope::none;
  out.kept = x.kept && out.always != always_scope::none;
  out.at = system_wall_time();
  return out;
}

/// What changed arguments would act on was shown to nobody but who changed
/// them: they are executed at once, or not at all.
expected<void> check_free(storage::journal& journal,
                          const storage::proposal_record& what) {
  storage::run_filter open;
  open.state = storage::run_state::active;
  open.session = what.session;
  const auto runs = journal.list_runs(open);
  if (!runs) return unexpected{runs.error()};
  for (const auto& run : *runs) {
    const auto owner = journal.owner_of_run(run.id);
    if (!owner) return unexpected{owner.error()};
    const auto why =
        *owner == storage::run_owner::gone
            ? "an earlier run of its session was interrupted (riffle sessions "
              "resume " +
                  what.session.value + " ends it)"
            : std::string{"its session is busy"};
    return unexpected{
        error{errc::session_busy, "proposals",
              "proposal " + what.id.value + " was not decided: " + why +
                  ", and changed arguments are executed at once or not at "
                  "all; change them when that run has ended"}};
  }
  return {};
}

/// Where the tools of its run work, wherever this process does.
std::filesystem::path place_of(const storage::proposal_record& what,
                               const storage::run_record& run,
                               const std::string& workspace) {
  const auto named = workspace_of(run);
  if (!named.empty() || what.folder.empty()) return named;
  return std::filesystem::path{what.folder} / workspace;
}

/// Who says yes to all calls reads none of them.
constexpr std::string_view unread = "/approve all";

/// What a rule may deny only who has read it lets run, as `--approve all` has
/// it.
expected<void> check_unread(const auto& parts,
                            const storage::proposal_record& what) {
  const auto registry = parts.tools_now();
  const auto* tool = registry->find(what.tool);
  if (tool == nullptr) return {};  // its node looks
  const auto arguments = registry->check(what.tool, what.arguments);
  if (!arguments) return unexpected{arguments.error()};
  const auto run = parts.journal->load_run(what.run);
  if (!run) return unexpected{run.error()};
  auto settings = parts.config->tools;
  work_in(settings, place_of(what, *run, settings.defaults.workspace));
  const auto how = policy_of(**tool, settings, arguments->value);
  if (!how) return unexpected{how.error()};
  if (how->in_doubt.empty()) return {};
  return unexpected{doubtful_call(what.tool, how->in_doubt)};
}

decision_result queued(front_door& door, decision_result x) {
  door.queue(*x.now);
  x.queued = true;
  return x;
}

}  // namespace

expected<std::optional<proposal_state>> find_proposal(
    storage::proposal_records& records, const proposal_id& id) {
  storage::proposal_filter filter;
  filter.id = id;
  auto all = records.list_proposals(filter);
  if (!all) return unexpected{std::move(all.error())};
  std::optional<proposal_state> found;
  if (!all->empty()) found = std::move(all->front());
  return found;
}

// -- looking ------------------------------------------------------------------

expected<std::vector<proposal_view>> proposals::list(
    const storage::proposal_filter& x) const {
  if (!records_) return {};
  auto all = records_->list_proposals(x);
  if (!all) return unexpected{std::move(all.error())};
  const auto now = system_wall_time();
  if (x.undecided)
    std::erase_if(*all, [&](const proposal_state& one) {
      return storage::effective_outcome(one, now).has_value();
    });
  return views_of(std::move(*all));
}

expected<proposal_id> proposals::find(const std::string& part) const {
  const proposal_id whole{part};
  auto known = records_ ? find_proposal(*records_, whole)
                        : expected<std::optional<proposal_state>>{};
  if (!known) return unexpected{std::move(known.error())};
  if (*known) return whole;
  const auto all = list({});
  if (!all) return unexpected{all.error()};
  std::vector<proposal_id> ids;
  for (const auto& x : *all) ids.push_back(x.it.what.id);
  return match_id(part, ids);
}

expected<proposal_view> proposals::show(const proposal_id& id) const {
  auto found = records_ ? find_proposal(*records_, id)
                        : expected<std::optional<proposal_state>>{};
  if (!found) return unexpected{std::move(found.error())};
  if (!*found)
    return unexpected{error{errc::not_found, "proposals",
                            "there is no proposal \"" + id.value + "\""}};
  storage::proposal_filter beside;
  beside.session = (*found)->what.session;
  auto all = records_->list_proposals(beside);
  if (!all) return unexpected{std::move(all.error())};
  for (const auto& x : *all)
    if (x.what.replaces == id) return proposal_view{**found, x.what.id};
  return proposal_view{std::move(**found), {}};
}

expected<std::vector<storage::grant_record>> proposals::grants(
    const std::optional<session_id>& of) const {
  if (!records_) return {};
  return records_->grants(of);
}

expected<bool> proposals::revoke(const proposal_id& grant) const {
  return records_ ? records_->revoke(grant) : expected<bool>{false};
}

// -- deciding -----------------------------------------------------------------

decisions::decisions(parts x, runs starts, std::shared_ptr<executor> where)
    : parts_{std::make_shared<const parts>(std::move(x))},
      runs_{std::move(starts)},
      where_{std::move(where)} {}

void decisions::decide(proposal_id id, decision x, bool may_start,
                       reader_maker reader,
                       const reply<decision_result>& to) const {
  answer_on<decision_result>(
      where_.get(),
      [me = *this, id = std::move(id), x]() -> expected<decision_result> {
        if (x.arguments && !x.approved)
          return unexpected{error{errc::invalid_request, "proposals",
                                  "a denial takes no arguments"}};
        return me.store(to_record(id, x), x.digest);
      },
      // What was approved before runs as it was approved, and if that is
      // wanted.
      reply<decision_result>{[me = *this, may_start, reader = std::move(reader),
                              runs = x.approved && !x.arguments,
                              to](expected<decision_result> done) {
        const bool late = done && done->verdict == decision_verdict::too_late;
        if (!done || (late && !runs) || !done->now ||
            !storage::awaits_execution(*done->now) ||
            (done->verdict != decision_verdict::accepted &&
             done->verdict != decision_verdict::too_late))
          return to(std::move(done));
        if (!may_start) return to(queued(*me.parts_->door, std::move(*done)));
        me.start(std::move(*done), reader, to);
      }});
}

expected<decision_result> decisions::store(storage::decision_record x,
                                           const std::string& digest) const {
  if (auto why = parts_->door->failure()) return unexpected{std::move(*why)};
  const auto holds = check(x);
  if (!holds) return unexpected{holds.error()};
  if (!*holds) {
    auto now = find_proposal(*parts_->journal, x.proposal);
    if (!now) return unexpected{std::move(now.error())};
    return decision_result{decision_verdict::stale, std::move(*now), {}, false};
  }
  auto answer = parts_->journal->decide(std::move(x), digest);
  if (!answer) return unexpected{std::move(answer.error())};
  if (answer->now && answer->now->decided)
    parts_->door->tell(*answer->now->decided);
  return decision_result{answer->verdict, std::move(answer->now), {}, false};
}

/// What cannot be done with this proposal is said before anything is stored;
/// that there is none, or that it was decided, when it is.
expected<bool> decisions::check(storage::decision_record& x) const {
  const auto found = find_proposal(*parts_->journal, x.proposal);
  if (!found) return unexpected{found.error()};
  if (!*found || (*found)->decided) return true;
  const auto& what = (*found)->what;
  if (x.how == events::proposal_outcome::approved)
    if (auto ok = check_approval(x, what); !ok) return unexpected{ok.error()};
  if (!x.arguments.empty() && storage::is_for_later(what))
    if (auto ok = check_free(*parts_->journal, what); !ok)
      return unexpected{ok.error()};
  return x.arguments.empty() ? expected<bool>{true} : check_edit(x, what);
}

expected<void> decisions::check_approval(
    const storage::decision_record& x,
    const storage::proposal_record& what) const {
  if (x.by == unread && what.source == events::proposal_source::tool_call)
    if (auto ok = check_unread(*parts_, what); !ok) return ok;
  if (x.always != always_scope::none && !what.can_always)
    return unexpected{refused(
        what.id,
        "cannot be approved for further calls: a rule of the configuration "
        "asks for each of them, or it is no tool call")};
  if (x.always == always_scope::pattern && what.pattern.empty())
    return unexpected{refused(
        what.id, "has no pattern for further calls: approve this call alone")};
  if (x.always == always_scope::pattern && !x.arguments.empty())
    return unexpected{refused(
        what.id,
        "has a pattern for the call as it was asked, not for other arguments: "
        "say \"call\"")};
  return !storage::is_for_later(what)
             ? expected<void>{}
             : check_folder(what.folder, "proposal " + what.id.value);
}

expected<bool> decisions::check_edit(
    storage::decision_record& x, const storage::proposal_record& what) const {
  auto seen = look_at(std::move(x.arguments), what);
  if (!seen) return unexpected{std::move(seen.error())};
  if (!x.basis.empty() && x.basis != seen->basis) return false;
  x.arguments = std::move(seen->arguments);
  x.basis = std::move(seen->basis);
  return true;
}

expected<changed_call_view> decisions::look_at(
    std::string arguments, const storage::proposal_record& what) const {
  if (what.source != events::proposal_source::tool_call)
    return unexpected{refused(what.id, "is no tool call: it has no arguments")};
  const auto registry = parts_->tools_now();
  const auto* tool = registry->find(what.tool);
  // A tool that only the run's own process knows is checked there.
  if (tool == nullptr) return changed_call_view{std::move(arguments), {}, {}};
  auto checked = registry->check(what.tool, arguments);
  if (!checked) return unexpected{std::move(checked.error())};
  const auto run = parts_->journal->load_run(what.run);
  if (!run) return unexpected{run.error()};
  auto settings = parts_->config->tools;
  work_in(settings, place_of(what, *run, settings.defaults.workspace));
  const auto how = policy_of(**tool, settings, checked->value);
  if (!how) return unexpected{how.error()};
  if (how->policy == core::approval_policy::deny)
    return unexpected{denied_call(what.tool, how->rule)};
  auto would = preview_for_person(**tool, checked->value,
                                  settings.of(what.tool).workspace);
  if (!would) return unexpected{std::move(would.error())};
  if (would->impossible) return unexpected{*would->impossible};
  return changed_call_view{std::move(checked->text), std::move(would->text),
                           std::move(would->basis)};
}

expected<changed_call_view> decisions::preview(const proposal_id& id,
                                               std::string arguments) const {
  const auto found = find_proposal(*parts_->journal, id);
  if (!found) return unexpected{found.error()};
  if (!*found)
    return unexpected{
        error{errc::not_found, "proposals", "there is no " + id.value}};
  return look_at(std::move(arguments), (*found)->what);
}

/// Leaves it to the inbox while the session is busy.
void decisions::start(decision_result x, reader_maker reader,
                      const reply<decision_result>& to) const {
  auto cause = *x.now;
  runs_.start_cause(std::move(cause), std::move(reader),
                    reply<run_opened>{[parts = parts_, x = std::move(x),
                                       to](expected<run_opened> opened) {
                      if (!opened && opened.error().code != errc::session_busy)
                        return to(unexpected{std::move(opened.error())});
                      if (!opened) return to(queued(*parts->door, x));
                      auto out = x;
                      out.now->executed_by = opened->run;
                      out.started = std::move(*opened);
                      to(std::move(out));
                    }});
}

}  // namespace riffle::service
