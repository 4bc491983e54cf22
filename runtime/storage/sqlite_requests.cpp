// SPDX-License-Identifier: MIT
// What persons and other processes say to runs: the half of the SQLite journal
// about proposals, decisions, grants and cancels.
#include <utility>

#include "runtime/storage/sqlite_guarded.hpp"

namespace riffle::storage {

namespace {

/// Who says no to a call that is asked about again takes back what the answers
/// before it, to the same call, have allowed for others.
void take_back_grants(const proposal_record& of, unit_writer& units) {
  constexpr int most = 100;
  auto before = of.replaces;
  for (int i = 0; i < most && !before.empty(); ++i) {
    units.grants().remove(before.value);
    const auto found = units.reader().proposals().find(before.value);
    before = found ? found->what.replaces : proposal_id{};
  }
}

}  // namespace

expected<decision_answer> sqlite_journal::decide(decision_record x,
                                                 const std::string& digest) {
  return write<decision_answer>("decide", [&]() -> expected<decision_answer> {
    return decide_in_transaction(x, digest);
  });
}

decision_answer sqlite_journal::decide_in_transaction(
    const decision_record& x, const std::string& digest) {
  auto& rows = writer_->units.reader();
  auto found = rows.proposals().find(x.proposal.value);
  if (!found) return {};
  const auto run = rows.find_run(found->what.run);
  const bool active = run && run->state == run_state::active;
  auto judged = judge(*found, x, digest, active);
  if (judged.store) {
    writer_->units.proposals().add(*judged.store);
    if (const auto grant = grant_of(found->what, *judged.store))
      writer_->units.grants().add(*grant);
    if (judged.store->how == events::proposal_outcome::denied)
      take_back_grants(found->what, writer_->units);
    found->decided = std::move(judged.store);
  }
  return {judged.verdict, std::move(found)};
}

expected<std::vector<proposal_state>> sqlite_journal::list_proposals(
    const proposal_filter& filter) {
  using list = std::vector<proposal_state>;
  return guarded("list_proposals", [&]() -> expected<list> {
    std::size_t left_out = 0;
    auto all = readers_.read([&](row_reader& rows) {
      return rows.proposals().list(filter, left_out);
    });
    note_damaged(left_out, "proposals are left out of the list");
    return all;
  });
}

expected<std::vector<decision_record>> sqlite_journal::decisions_of(
    const std::vector<proposal_id>& ids) {
  using list = std::vector<decision_record>;
  return guarded("decisions_of", [&]() -> expected<list> {
    std::size_t left_out = 0;
    auto all = readers_.read([&](row_reader& rows) {
      return rows.proposals().decisions(ids, left_out);
    });
    // It is asked for again and again: what is new of it is told.
    if (const auto told = told_decisions_.exchange(left_out); left_out > told)
      note_damaged(left_out,
                   "decisions cannot be read: no call begins by them");
    return all;
  });
}

expected<std::vector<grant_record>> sqlite_journal::grants(
    const std::optional<session_id>& of) {
  using list = std::vector<grant_record>;
  return guarded("grants", [&]() -> expected<list> {
    std::size_t left_out = 0;
    auto all = readers_.read(
        [&](row_reader& rows) { return rows.grants().list(of, left_out); });
    if (!of) note_damaged(left_out, "approvals that say always do not count");
    return all;
  });
}

expected<bool> sqlite_journal::revoke(const proposal_id& grant) {
  return write<bool>("revoke", [&]() -> expected<bool> {
    return writer_->units.grants().remove(grant.value);
  });
}

expected<cancel_verdict> sqlite_journal::ask_cancel(const run_id& run,
                                                    const std::string& reason) {
  return write<cancel_verdict>("ask_cancel", [&]() -> expected<cancel_verdict> {
    return ask_cancel_in_transaction(run, reason);
  });
}

cancel_verdict sqlite_journal::ask_cancel_in_transaction(
    const run_id& run, const std::string& reason) {
  const auto row = writer_->units.reader().find_run(run);
  if (!row) return cancel_verdict::unknown;
  if (row->state != run_state::active) return cancel_verdict::finished;
  const auto owner = owner_of(*row);
  if (owner == run_owner::here) return cancel_verdict::here;
  writer_->units.state().add(cancel_request{run, reason});
  return owner == run_owner::gone ? cancel_verdict::gone
                                  : cancel_verdict::asked;
}

expected<std::vector<cancel_request>> sqlite_journal::cancels() {
  using list = std::vector<cancel_request>;
  return guarded("cancels", [&]() -> expected<list> {
    return readers_.read([&](row_reader& rows) {
      return rows.state().cancels_for(owner_.id());
    });
  });
}

expected<feed_page> sqlite_journal::read_feed(const feed_place& after,
                                              std::size_t max_bytes) {
  return guarded("read_feed", [&]() -> expected<feed_page> {
    feed_losses left_out;
    auto page = readers_.read([&](row_reader& rows) {
      return rows.read_feed(after, max_bytes, left_out);
    });
    note_damaged(told_losses_.add(left_out), left_out_of_feed);
    return page;
  });
}

expected<feed_place> sqlite_journal::end_of_feed() {
  return guarded("end_of_feed", [&]() -> expected<feed_place> {
    return readers_.read([&](row_reader& rows) { return rows.end_of_feed(); });
  });
}

expected<feed_place> sqlite_journal::start_in_feed(const run_id& run) {
  return guarded("start_in_feed", [&]() -> expected<feed_place> {
    return readers_.read([&](row_reader& rows) -> expected<feed_place> {
      const auto row = rows.find_run(run);
      const auto at = row ? rows.start_in_feed(*row) : std::nullopt;
      if (!at) return missing("start_in_feed", "run " + run.value);
      return *at;
    });
  });
}

}  // namespace riffle::storage
