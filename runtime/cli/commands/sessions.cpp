// SPDX-License-Identifier: MIT
// riffle sessions list|show|events|output|cancel|delete
#include <memory>
#include <unordered_set>
#include <utility>

#include "runtime/cli/commands/cancel_run.hpp"
#include "runtime/cli/commands/commands.hpp"
#include "runtime/cli/commands/journal_at.hpp"
#include "runtime/cli/view/exit_status.hpp"
#include "runtime/cli/view/output_text.hpp"
#include "runtime/cli/view/session_text.hpp"
#include "runtime/config/home.hpp"
#include "tools/kept_file.hpp"

namespace riffle::cli {

namespace {

using json = nlohmann::ordered_json;
using journal_ptr = std::unique_ptr<storage::journal>;

constexpr std::size_t page_bytes = 256u << 10;

std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
}

expected<storage::session_snapshot> load(const journal_ptr& journal,
                                         const std::string& session) {
  const error unknown{errc::not_found,
                      "sessions",
                      "there is no session \"" + session +
                          "\"; 'riffle sessions list' shows all",
                      false,
                      {}};
  if (!journal) return unexpected{unknown};
  auto x = journal->load_session(session_id{session});
  if (!x && x.error().code == errc::not_found) return unexpected{unknown};
  if (x && x->runs.empty()) return unexpected{unknown};
  return x;
}

/// Runs that nobody works on, though they have not ended.
using run_ids = std::unordered_set<run_id>;

expected<run_ids> interrupted_runs(storage::journal* journal) {
  constexpr std::size_t most = 10'000;
  run_ids out;
  if (journal == nullptr) return out;
  const auto all = journal->unfinished_runs(most);
  if (!all) return unexpected{all.error()};
  for (const auto& x : *all)
    if (x.owner == storage::run_owner::gone) out.insert(x.run.id);
  return out;
}

int list(const sessions_command& x, storage::journal* journal, console& io) {
  auto all = json::array();
  std::vector<session_id> ids;
  const auto gone = interrupted_runs(journal);
  if (!gone) return report(gone.error(), io);
  if (journal) {
    auto found = journal->list_sessions(x.limit);
    if (!found) return report(found.error(), io);
    ids = std::move(*found);
  }
  for (const auto& id : ids) {
    const auto session = journal->load_session(id);
    if (!session) return report(session.error(), io);
    switch (x.common.output) {
      case output_kind::text:
        io.out.write(summary_text(*session, *gone));
        break;
      case output_kind::jsonl:
        io.out.write(dump(summary_json(*session, *gone)));
        break;
      case output_kind::json:
        all.push_back(summary_json(*session, *gone));
        break;
    }
  }
  if (x.common.output == output_kind::json) io.out.write(dump(all));
  const bool told = ids.empty() && x.common.output == output_kind::text &&
                    x.common.level != verbosity::quiet;
  if (told) io.complain("no sessions yet: 'riffle run TASK' begins one");
  return io.out.good() ? completed : failed;
}

int show(const sessions_command& x, const storage::session_snapshot& session,
         console& io) {
  io.out.write(x.common.output == output_kind::text
                   ? conversation_text(session)
                   : dump(conversation_json(session)));
  return io.out.good() ? completed : failed;
}

expected<void> print_events(storage::journal& journal, const run_id& run,
                            console& io) {
  std::uint64_t after = 0;
  while (io.out.good()) {
    auto page = journal.read_events(run, after, page_bytes);
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
              storage::journal& journal, console& io) {
  for (const auto& run : session.runs) {
    const auto printed = print_events(journal, run.id, io);
    if (!printed) return report(printed.error(), io);
  }
  return io.out.good() ? completed : failed;
}

std::filesystem::path outputs_of(const config::config& settings) {
  const auto folder = config::data_folder(settings.runtime);
  return folder ? *folder / "outputs" : std::filesystem::path{};
}

/// A long output is in a file; else the journal has it.
int output(const sessions_command& x, const config::config& settings,
           storage::journal* journal, console& io) {
  const call_id id{x.id};
  const auto file = tools::kept_file(outputs_of(settings), id);
  std::string text;
  std::error_code ignored;
  if (!file || !std::filesystem::exists(*file, ignored)) {
    auto kept =
        journal && file
            ? journal->load_output(id)
            : unexpected{error{errc::not_found, "sessions", "", false, {}}};
    if (!kept && kept.error().code == errc::not_found) {
      return report({errc::not_found,
                     "sessions",
                     "no output is kept of call \"" + x.id +
                         "\"; 'riffle sessions show --output json ID' has "
                         "the ids of a session's calls",
                     false,
                     {}},
                    io);
    }
    if (!kept) return report(kept.error(), io);
    text = std::move(*kept);
  }
  const whole_output whole{file.value_or(""), text};
  const bool written =
      x.common.output == output_kind::text
          ? write_text(whole, io.out)
          : write_json(whole, json{{"id", x.id}}.dump(), io.out);
  return written ? completed : failed;
}

int remove(const sessions_command& x, const config::config& settings,
           const storage::session_snapshot& session, storage::journal& journal,
           console& io) {
  const auto removed = journal.delete_session(session.session);
  if (!removed) {
    auto why = removed.error();
    if (why.code == errc::session_busy)
      why.message += ". 'riffle sessions cancel " + x.id +
                     "' ends it; then it can be deleted";
    return report(why, io);
  }
  std::error_code ignored;
  for (const auto& call : session.calls) {
    const auto file = tools::kept_file(outputs_of(settings), call.call.id);
    if (file) std::filesystem::remove(*file, ignored);
  }
  const auto n = session.runs.size();
  if (x.common.output != output_kind::text) {
    io.out.write(dump({{"session_id", x.id}, {"deleted_runs", n}}));
  } else if (x.common.level != verbosity::quiet) {
    io.complain("session " + x.id + " is deleted, with " + std::to_string(n) +
                (n == 1 ? " run" : " runs"));
  }
  return completed;
}

}  // namespace

int execute(const sessions_command& x, console& io) {
  using what = sessions_command::what;
  const bool changes = x.action == what::remove || x.action == what::cancel;
  const auto settings = load_config(
      x.common, changes ? config_use::acts : config_use::looks, false, io);
  if (!settings) return usage;
  const auto journal = journal_at(
      *settings, changes ? journal_use::changes : journal_use::reads);
  if (!journal) return report(journal.error(), io);
  if (x.action == what::list) return list(x, journal->get(), io);
  if (x.action == what::output) return output(x, *settings, journal->get(), io);
  const auto session = load(*journal, x.id);
  if (!session) return report(session.error(), io);
  if (x.action == what::remove) {
    return remove(x, *settings, *session, **journal, io);
  }
  if (x.action == what::cancel)
    return cancel_run_of(x, *settings, *session, **journal, io);
  return x.action == what::show ? show(x, *session, io)
                                : print_all(*session, **journal, io);
}

}  // namespace riffle::cli
