// SPDX-License-Identifier: MIT
#include "runtime/storage/proposal_rows.hpp"

#include <algorithm>
#include <new>

#include "runtime/storage/crc32c.hpp"
#include "runtime/storage/record_json.hpp"
#include "runtime/storage/rows.hpp"

namespace riffle::storage {

namespace {

std::uint32_t crc_of_proposal(std::string_view id, std::string_view session,
                              std::string_view data) {
  return row_crc{}.add("proposal").add(id).add(session).add(data).value();
}

std::uint32_t crc_of_decision(std::string_view id, std::string_view run,
                              std::string_view data) {
  return row_crc{}.add("decision").add(id).add(run).add(data).value();
}

std::string select(std::string_view rest) {
  return std::string{"SELECT id, session, crc, data FROM proposals "}.append(
      rest);
}

}  // namespace

// -- reading ------------------------------------------------------------------

proposal_reader::proposal_reader(sqlite::database& db)
    : by_id_{db, select("INDEXED BY proposals_by_id WHERE id = ?")},
      by_session_{db, select("INDEXED BY proposals_by_session "
                             "WHERE session = ? ORDER BY n")},
      by_session_again_{db,
                        "SELECT count(*) FROM proposals INDEXED BY "
                        "proposals_by_session_again WHERE session = ?"},
      newest_{db, select("ORDER BY n DESC LIMIT ?")},
      newest_undecided_{
          db, select("WHERE NOT EXISTS (SELECT 1 FROM decisions WHERE "
                     "decisions.proposal = proposals.id) "
                     "ORDER BY n DESC LIMIT ?")},
      decision_{db,
                "SELECT run, crc, data FROM decisions INDEXED BY "
                "decisions_by_proposal WHERE proposal = ?"},
      decision_again_{db,
                      "SELECT count(*) FROM decisions INDEXED BY "
                      "decisions_by_proposal_again WHERE proposal = ?"} {}

proposal_state proposal_reader::read(const sqlite::rows& from,
                                     const std::string& whose) {
  if (crc_of_proposal(from.bytes(0), from.bytes(1), from.bytes(3)) !=
      from.number(2))
    throw damaged{whose, "the row of a proposal fails its checksum"};
  try {
    return {proposal_from_json(from.bytes(3)), {}, {}};
  } catch (const std::bad_alloc&) {
    throw;  // that says nothing of the row
  } catch (const std::exception& problem) {
    throw damaged{whose, problem.what()};
  }
}

std::optional<decision_record> proposal_reader::decision(
    std::string_view id, std::string* executed_by) {
  const auto whose = "the decision about " + std::string{id};
  auto found = decision_.query(id);
  if (!found.next()) {
    auto again = decision_again_.query(id);
    if (again.next() && again.integer(0) != 0)
      throw damaged{whose, "an index has lost it"};
    return std::nullopt;
  }
  if (crc_of_decision(id, found.bytes(0), found.bytes(2)) != found.number(1))
    throw damaged{whose, "it fails its checksum"};
  if (executed_by != nullptr) *executed_by = found.text(0);
  try {
    return decision_from_json(found.bytes(2));
  } catch (const std::bad_alloc&) {
    throw;  // that says nothing of the row
  } catch (const std::exception& problem) {
    throw damaged{whose, problem.what()};
  }
}

void proposal_reader::join(proposal_state& x) {
  x.decided = decision(x.what.id.value, &x.executed_by.value);
}

std::optional<proposal_state> proposal_reader::find(std::string_view id) {
  std::optional<proposal_state> x;
  {
    auto found = by_id_.query(id);
    if (!found.next()) return x;
    x = read(found, "proposal " + std::string{id});
  }
  join(*x);
  return x;
}

std::vector<proposal_state> proposal_reader::of_session(
    std::string_view session) {
  const auto whose = "session " + std::string{session};
  std::vector<proposal_state> all;
  {
    auto found = by_session_.query(session);
    while (found.next()) all.push_back(read(found, whose));
  }
  auto again = by_session_again_.query(session);
  if (!again.next() || again.number(0) != all.size())
    throw damaged{whose, "an index has lost one of its proposals"};
  for (auto& x : all) join(x);
  return all;
}

std::vector<proposal_state> proposal_reader::newest(
    const proposal_filter& filter, std::size_t& left_out) {
  std::vector<proposal_state> all;
  const auto limit = static_cast<std::int64_t>(
      std::min<std::size_t>(filter.limit, std::size_t{1} << 31));
  {
    auto found = (filter.undecided ? newest_undecided_ : newest_).query(limit);
    while (found.next()) {
      try {
        all.push_back(read(found, "a proposal"));
      } catch (const damaged&) {
        ++left_out;
      }
    }
  }
  std::erase_if(all, [&](proposal_state& x) {
    try {
      join(x);
      return false;
    } catch (const damaged&) {
      ++left_out;
      return true;
    }
  });
  return all;
}

std::vector<decision_record> proposal_reader::decisions(
    const std::vector<proposal_id>& ids, std::size_t& left_out) {
  std::vector<decision_record> all;
  for (const auto& id : ids) {
    try {
      if (auto x = decision(id.value)) all.push_back(std::move(*x));
    } catch (const damaged&) {
      ++left_out;
    }
  }
  return all;
}

std::vector<proposal_state> proposal_reader::list(const proposal_filter& filter,
                                                  std::size_t& left_out) {
  if (!filter.id && !filter.session) return newest(filter, left_out);
  std::vector<proposal_state> all;
  if (filter.id) {
    if (auto one = find(filter.id->value)) all.push_back(std::move(*one));
  } else {
    all = of_session(filter.session->value);
  }
  return select_proposals(std::move(all), filter);
}

// -- writing ------------------------------------------------------------------

proposal_writer::proposal_writer(sqlite::database& db)
    : add_proposal_{db,
                    "INSERT INTO proposals(id, session, crc, data) "
                    "VALUES(?, ?, ?, ?)"},
      add_decision_{db,
                    "INSERT INTO decisions(proposal, run, crc, data) "
                    "VALUES(?, '', ?, ?) ON CONFLICT(proposal) DO NOTHING"},
      note_execution_{db,
                      "UPDATE decisions SET run = ?, crc = ?, data = ? "
                      "WHERE proposal = ?"},
      delete_decisions_{db,
                        "DELETE FROM decisions WHERE proposal IN (SELECT id "
                        "FROM proposals WHERE session = ?)"},
      delete_proposals_{db, "DELETE FROM proposals WHERE session = ?"} {}

void proposal_writer::add(const proposal_record& x) {
  const auto data = to_json(x);
  add_proposal_.run(x.id.value, x.session.value,
                    crc_of_proposal(x.id.value, x.session.value, data), data);
}

void proposal_writer::add(const decision_record& x) {
  const auto data = to_json(x);
  add_decision_.run(x.proposal.value,
                    crc_of_decision(x.proposal.value, "", data), data);
}

void proposal_writer::note_execution(const decision_record& x,
                                     const std::string& run) {
  const auto data = to_json(x);
  note_execution_.run(run, crc_of_decision(x.proposal.value, run, data), data,
                      x.proposal.value);
}

void proposal_writer::remove_session(std::string_view session) {
  delete_decisions_.run(session);
  delete_proposals_.run(session);
}

}  // namespace riffle::storage
