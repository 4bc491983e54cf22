// SPDX-License-Identifier: MIT
// riffle sessions list|show|events|output|cancel|delete
#include "runtime/service/sessions.hpp"

#include <utility>

#include "runtime/cli/commands/cancel_run.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/listing.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/config/home.hpp"
#include "runtime/service/open_journal.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t page_bytes = 256u << 10;

/// With what to do next, where it is about something that there is not.
error with_hint(error why, const std::string& hint) {
  if (why.code == errc::not_found) why.message += "; " + hint;
  return why;
}

int list(const sessions_command& x, const service::sessions& all, console& io) {
  const auto found = all.list(x.limit);
  if (!found) return report(found.error(), io);
  return write_list(
      *found, x.common, "no sessions yet: 'riffle run TASK' begins one",
      summary_text, [](const auto& one) { return service::to_json(one); }, io);
}

int show(const sessions_command& x, const storage::session_snapshot& session,
         console& io) {
  io.out.write(x.common.output == output_kind::text
                   ? conversation_text(session)
                   : service::dump(service::to_json(session)) + "\n");
  return io.out.good() ? completed : failed;
}

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

int print_all(const storage::session_snapshot& session,
              const service::sessions& all, console& io) {
  for (const auto& run : session.runs) {
    const auto printed = print_events(all, run.id, io);
    if (!printed) return report(printed.error(), io);
  }
  return io.out.good() ? completed : failed;
}

int output(const sessions_command& x, const service::sessions& all,
           console& io) {
  const auto kept = all.output(call_id{x.id});
  if (!kept)
    return report(with_hint(kept.error(),
                            "'riffle sessions show --output json ID' has the "
                            "ids of a session's calls"),
                  io);
  const whole_output whole{kept->file, kept->text};
  const bool written =
      x.common.output == output_kind::text
          ? write_text(whole, io.out)
          : write_json(whole, json{{"id", x.id}}.dump(), io.out);
  return written ? completed : failed;
}

int remove(const sessions_command& x, const service::sessions& all,
           console& io) {
  const auto runs = all.remove(session_id{x.id});
  if (!runs) {
    auto why = runs.error();
    if (why.code == errc::session_busy)
      why.message += ". 'riffle sessions cancel " + x.id +
                     "' ends it; then it can be deleted";
    return report(why, io);
  }
  if (x.common.output != output_kind::text) {
    io.out.write(
        service::dump({{"session_id", x.id}, {"deleted_runs", *runs}}) + "\n");
  } else if (x.common.level != verbosity::quiet) {
    io.complain("session " + x.id + " is deleted, with " +
                std::to_string(*runs) + (*runs == 1 ? " run" : " runs"));
  }
  return completed;
}

std::filesystem::path outputs_of(const config::config& settings) {
  const auto folder = config::data_folder(settings.runtime);
  return folder ? *folder / "outputs" : std::filesystem::path{};
}

}  // namespace

int execute(const sessions_command& x, console& io) {
  using what = sessions_command::what;
  const bool changes = x.action == what::remove || x.action == what::cancel;
  const auto settings = load_config(
      x.common, changes ? config_use::acts : config_use::looks, false, io);
  if (!settings) return usage;
  const auto journal =
      service::open_journal(*settings, changes ? service::journal_use::changes
                                               : service::journal_use::reads);
  if (!journal) return report(journal.error(), io);
  const service::sessions all{*journal, outputs_of(*settings)};
  if (x.action == what::list) return list(x, all, io);
  if (x.action == what::output) return output(x, all, io);
  const auto session = all.show(session_id{x.id});
  if (!session)
    return report(
        with_hint(session.error(), "'riffle sessions list' shows all"), io);
  switch (x.action) {
    case what::remove: return remove(x, all, io);
    case what::cancel:
      return cancel_run_of(x, *settings, *session, **journal, io);
    case what::show: return show(x, *session, io);
    default: return print_all(*session, all, io);
  }
}

}  // namespace riffle::cli
