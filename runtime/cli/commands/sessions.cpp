// SPDX-License-Identifier: MIT
// riffle sessions list|show|events|output|cancel|delete
#include "runtime/service/sessions.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/clock.hpp"
#include "runtime/cli/commands/cancel_run.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/known_volley.hpp"
#include "runtime/cli/commands/net_changes.hpp"
#include "runtime/cli/commands/volley_sessions.hpp"
#include "runtime/cli/terminal/safe_text.hpp"
#include "runtime/cli/view/changes_text.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "runtime/cli/view/run_output.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/config/home.hpp"
#include "runtime/service/file_changes.hpp"
#include "runtime/service/open_journal.hpp"
#include "runtime/service/stopped_plan.hpp"
#include "runtime/service/volley_record.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t page_bytes = 256u << 10;

/// With what to do next, where it is about something that there is not.
error with_hint(error why, const std::string& hint) {
  if (why.code == errc::not_found) why.message += "; " + hint;
  return why;
}

/// The newest, or those that have these words, or whose id begins so.
expected<std::vector<session_summary>> find_listed(
    const sessions_command& x, const service::sessions& all) {
  if (!x.search.empty()) {
    auto found = all.search(x.search);
    if (!found) return found;
    std::erase_if(*found, [&](const session_summary& one) {
      return !one.id.value.starts_with(x.id);
    });
    if (found->size() > x.limit) found->resize(x.limit);
    return found;
  }
  if (x.id.empty()) return all.list(x.limit);
  auto ids = all.newest();
  if (!ids) return unexpected{std::move(ids.error())};
  std::erase_if(*ids, [&](const session_id& one) {
    return !one.value.starts_with(x.id);
  });
  if (ids->size() > x.limit) ids->resize(x.limit);
  return all.list(*ids);
}

int list(const sessions_command& x, const service::sessions& all,
         const volley_store& volleys, console& io) {
  const auto found = find_listed(x, all);
  if (!found) return report(found.error(), io);
  if (x.common.output == output_kind::text) {
    std::error_code gone;
    const auto here = std::filesystem::current_path(gone).string();
    // Scripts get them by time.
    const auto standings = standings_of(*found, volleys);
    const auto now = system_wall_time();
    const auto columns = io.out.columns();
    const auto text =
        io.out.is_terminal()
            ? summaries_by_folder(*found, now, columns, here, {}, standings)
            : summaries_text(*found, now, columns, here, {}, standings);
    io.out.write(text);
  }
  return write_list(
      *found, x.common,
      x.search.empty() && x.id.empty()
          ? "no sessions yet: 'riffle run TASK' begins one"
          : "no session is called so: 'riffle sessions list' shows the newest",
      [](const auto&) { return std::string{}; },
      [](const auto& one) { return service::to_json(one); }, io);
}

int show(const sessions_command& x, const storage::session_snapshot& session,
         const service::sessions& all, console& io) {
  const auto gone = all.interrupted();
  if (!gone) return report(gone.error(), io);
  io.out.write(x.common.output == output_kind::text
                   ? conversation_text(session, *gone, system_wall_time())
                   : service::dump(service::to_json(session, *gone)) + "\n");
  return io.out.good() ? completed : failed;
}

int print_all(const storage::session_snapshot& session,
              const service::sessions& all, console& io) {
  for (const auto& run : session.runs) {
    const auto printed = print_events(all, run.id, io);
    if (!printed) return report(printed.error(), io);
  }
  return io.out.good() ? completed : failed;
}

json json_of(const file_change& x) {
  json out{{"path", x.path},        {"call_id", x.call.value},
           {"run_id", x.run.value}, {"tool", x.tool},
           {"diff", x.diff},        {"diff_truncated", x.cut},
           {"added", x.added},      {"removed", x.removed}};
  if (!x.folder.empty()) out["folder"] = x.folder;
  return out;
}

/// Whose changes follow, and where it works.
std::string heading_of(const storage::session_snapshot& session) {
  const auto& last = session.runs.back();
  const auto folder = folder_of(last);
  return "Session " + safe_line(last.session.value, 200) +
         (folder.empty() ? "" : " in " + safe_line(folder, 4096)) + "\n\n";
}

/// Changes that were taken back are left out.
int show_changes(const sessions_command& x,
                 const storage::session_snapshot& session,
                 const service::sessions& all, console& io) {
  const auto found = all.changes(session);
  if (!found) return report(found.error(), io);
  const auto undone = service::taken_back_of(session.state).runs;
  auto files = by_file(*found, x.file, undone);
  const bool text = x.common.output == output_kind::text;
  if (text && !files.empty()) io.out.write(heading_of(session));
  if (text) find_net(files);
  if (text)
    io.out.write(
        changes_text(files, {use_color(x.common, io.out), io.out.columns()}));
  std::vector<file_change> calls;
  for (const auto& file : files)
    for (const auto* one : file.calls) calls.push_back(*one);
  const int status = write_list(
      calls, x.common,
      "in session " +
          safe_line(short_id(session.runs.back().session.value), 200) + " " +
          unchanged_text(x.file, by_file(*found, {}, undone)),
      [](const auto&) { return std::string{}; },
      [](const file_change& one) { return json_of(one); }, io);
  if (const auto more = others_text(found->others, session.calls);
      text && !more.empty() && x.common.level != verbosity::quiet)
    io.complain(more);
  return status;
}

/// Calls of a session whose output is kept, in order.
int list_outputs(const sessions_command& x, const service::sessions& all,
                 const session_id& id, console& io) {
  const auto session = all.show(id);
  if (!session) return report(session.error(), io);
  std::vector<storage::call_record> settled;
  for (const auto& one : session->calls)
    if (one.stage == storage::call_stage::settled) settled.push_back(one);
  if (x.common.output == output_kind::text)
    io.out.write(kept_calls_text(settled, io.out.columns()));
  return write_list(
      settled, x.common, "session " + id.value + " has no calls that ended",
      [](const auto&) { return std::string{}; },
      [&](const storage::call_record& one) {
        return json{{"call_id", one.call.id.value},
                    {"session_id", id.value},
                    {"tool", one.call.tool},
                    {"title", one.call.title},
                    {"told_bytes", one.told.size()}};
      },
      io);
}

int no_sessions(console& io) {
  io.complain("no sessions yet: 'riffle run TASK' begins one");
  return completed;
}

/// What there is, where no call is named; nothing: one is.
std::optional<int> outputs(const sessions_command& x,
                           const service::sessions& all, console& io) {
  if (x.id.starts_with("call_")) return {};
  if (!x.id.empty()) {
    const auto named = all.find(x.id);
    if (!named) return {};
    return list_outputs(x, all, *named, io);
  }
  const auto newest = all.list(1);
  if (!newest) return report(newest.error(), io);
  if (!newest->empty()) return list_outputs(x, all, newest->front().id, io);
  if (x.common.output == output_kind::json) io.out.write("[]\n");
  return no_sessions(io);
}

int output(const sessions_command& x, const service::sessions& all,
           console& io) {
  if (const auto listed = outputs(x, all, io)) return *listed;
  const auto kept = all.output(call_id{x.id});
  if (!kept)
    return report(with_hint(kept.error(),
                            "'riffle sessions output SESSION' has the ids of "
                            "a session's calls"),
                  io);
  const whole_output whole{kept->file, kept->text};
  const bool written =
      x.common.output == output_kind::text
          ? write_text(whole, io.out)
          : write_json(whole, json{{"id", x.id}}.dump(), io.out);
  return written ? completed : failed;
}

error with_way_out(error why, const std::string& id) {
  const bool names_another = why.message.ends_with(" instead");
  if (why.code != errc::session_busy || names_another) return why;
  why.message +=
      ". 'riffle sessions cancel " + id + "' ends it; then it can be deleted";
  return why;
}

std::string removal_text(const std::string& id, const removed_sessions& gone) {
  const auto counted = [](std::size_t n, const char* what) {
    return std::to_string(n) + " " + what + (n == 1 ? "" : "s");
  };
  const bool volley = service::is_volley(id);
  auto out = (volley ? "volley " : "session ") + id + " is deleted, with ";
  if (volley) out += counted(gone.sessions, "session") + " and ";
  out += counted(gone.runs, "run");
  if (gone.kept > 0)
    out += "; " + counted(gone.kept, "session") +
           " where something else has run too " +
           (gone.kept == 1 ? "is" : "are") + " kept";
  return out;
}

/// Of what is meant; what is not known stays as it was given.
expected<std::string> whole_id(const sessions_command& x,
                               const service::sessions& all) {
  const auto found = all.find(x.id);
  if (!found && found.error().code == errc::not_found) return x.id;
  if (!found) return unexpected{found.error()};
  const auto shown = short_id(found->value);
  // A part of an id may be another one's tomorrow: said twice it would delete
  // two.
  if (x.action == sessions_command::what::remove && x.id != found->value &&
      x.id != shown)
    return unexpected{error{errc::invalid_request, "sessions",
                            "what is deleted is gone: name it as a whole, or "
                            "as lists show it: " +
                                shown}};
  return found->value;
}

int remove(const sessions_command& x, const service::sessions& all,
           console& io) {
  const auto gone = all.remove(session_id{x.id});
  if (!gone)
    return report(with_hint(with_way_out(gone.error(), x.id),
                            "'riffle sessions list' shows all"),
                  io);
  if (x.common.output != output_kind::text) {
    json out{{"session_id", x.id}, {"deleted_runs", gone->runs}};
    if (gone->sessions > 0) out["deleted_sessions"] = gone->sessions;
    if (gone->kept > 0) out["kept_sessions"] = gone->kept;
    io.out.write(service::dump(out) + "\n");
  } else if (x.common.level != verbosity::quiet) {
    io.complain(removal_text(x.id, *gone));
  }
  return completed;
}

std::filesystem::path data_place(const config::config& settings,
                                 const char* name) {
  const auto folder = config::data_folder(settings.runtime);
  return folder ? *folder / name : std::filesystem::path{};
}

}  // namespace

expected<void> print_events(const service::sessions& all, const run_id& run,
                            console& io) {
  std::uint64_t after = 0;
  while (io.out.good()) {
    auto page = all.read_events(run, after, page_bytes);
    if (!page) return unexpected{std::move(page.error())};
    for (const auto& block : page->blocks) {
      io.out.write(*block.lines);
      after = block.last_seq;
    }
    if (page->end || page->blocks.empty()) return {};
  }
  return {};
}

namespace {

/// What is meant where no session is named; nothing: there is none at all.
expected<std::optional<session_id>> newest_meant(const sessions_command& x,
                                                 const service::sessions& all) {
  const auto newest = all.list(1);
  if (!newest) return unexpected{newest.error()};
  if (newest->empty()) return std::optional<session_id>{};
  if (x.action == sessions_command::what::show) return newest->front().id;
  std::error_code gone;
  auto here = all.newest_in(std::filesystem::current_path(gone).string());
  if (!here)
    return unexpected{with_hint(here.error(),
                                "'riffle sessions list' shows those of others, "
                                "'riffle sessions diff ID' their changes")};
  return *std::move(here);
}

}  // namespace

int execute(const sessions_command& given, console& io) {
  using what = sessions_command::what;
  auto x = given;
  const bool changes = x.action == what::remove || x.action == what::cancel;
  const auto settings = load_config(
      x.common, changes ? config_use::acts : config_use::looks, false, io);
  if (!settings) return usage;
  const auto journal =
      service::open_journal(*settings, changes ? service::journal_use::changes
                                               : service::journal_use::reads);
  if (!journal) return report(journal.error(), io);
  const service::sessions all{*journal, data_place(*settings, "outputs"),
                              data_place(*settings, "volleys")};
  const volley_store volleys{*settings, *journal,
                             data_place(*settings, "volleys")};
  if (x.action == what::list) return list(x, all, volleys, io);
  if (x.action == what::output) return output(x, all, io);
  if (x.id.empty() && (x.action == what::show || x.action == what::diff)) {
    const auto newest = newest_meant(x, all);
    if (!newest) return report(newest.error(), io);
    if (!*newest) return no_sessions(io);
    x.id = (*newest)->value;
  }
  auto named = whole_id(x, all);
  if (!named) return report(named.error(), io);
  x.id = std::move(*named);
  if (x.action == what::remove) return remove(x, all, io);
  if (x.action == what::cancel && x.id.starts_with("plan_") && *journal)
    if (const auto plans = service::plans_from(**journal, run_id{x.id}))
      x.id = plans->back().value;  // those before it have ended
  if (service::is_volley(x.id)) {
    return x.action == what::cancel ? cancel_volley(x, volleys, io)
                                    : show_volley(x, all, volleys, io);
  }
  const auto session = all.show(session_id{x.id});
  if (!session)
    return report(
        with_hint(session.error(), "'riffle sessions list' shows all"), io);
  switch (x.action) {
    case what::cancel: return cancel_run_of(x, *settings, *session, all, io);
    case what::show: return show(x, *session, all, io);
    case what::diff: return show_changes(x, *session, all, io);
    default: return print_all(*session, all, io);
  }
}

}  // namespace riffle::cli
