// SPDX-License-Identifier: MIT
#include "tests/storage/storage_fixture.hpp"

#include <cstdlib>
#include <stdexcept>
#include <utility>

#include "runtime/storage/block_rows.hpp"
#include "tests/support/time_scale.hpp"

namespace riffle::testing {

namespace fs = std::filesystem;

scratch_folder::scratch_folder() {
  auto pattern = (fs::temp_directory_path() / "riffle-test-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error{"cannot make " + pattern};
  path_ = pattern;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

storage::run_record make_run(const std::string& session,
                             const std::string& id) {
  storage::run_record x;
  x.id = {id};
  x.session = {session};
  x.task = "Say \"hello\" to \xC3\xA4ll\n";
  x.agent = "default";
  x.model = "m";
  x.settings = R"({"max_steps":3})";
  x.started = {1'700'000'000'123'456};
  return x;
}

std::string make_line(const std::string& run, std::uint64_t seq,
                      std::size_t size) {
  auto line = "{\"seq\":" + std::to_string(seq) + ",\"run_id\":\"" + run +
              "\",\"data\":\"";
  for (std::uint64_t x = seq * 2654435761U; line.size() + 3 < size; x /= 3)
    line.push_back(static_cast<char>('a' + (x + line.size()) % 26));
  return line + "\"}\n";
}

std::string make_lines(const std::string& run, std::uint64_t first,
                       std::uint64_t last, std::size_t size) {
  std::string lines;
  for (auto seq = first; seq <= last; ++seq) lines += make_line(run, seq, size);
  return lines;
}

storage::event_block make_block(const std::string& run, std::uint64_t first,
                                std::uint64_t last, std::size_t size) {
  return {
      first, last,
      std::make_shared<const std::string>(make_lines(run, first, last, size))};
}

storage::call_record make_call(const std::string& run, const std::string& id) {
  storage::call_record x;
  auto& c = x.call;
  c.id = {id};
  c.provider_id = "toolu_1";
  c.tool = "write";
  c.title = "Writing a";
  c.arguments = R"({"path":"a"})";
  c.arguments_text = "{";
  c.edited_from = R"({"path":"b"})";
  c.eff = effect::read_only;
  c.idempotent = true;
  c.control = true;
  c.needs_approval = true;
  c.step = 2;
  c.index = 1;
  c.keys = {"a", "b"};
  c.limits = {std::chrono::seconds{3}, std::chrono::seconds{2},
              std::chrono::seconds{1}, 4, -5};
  c.judged = "docs/a";
  c.rejection = error{errc::invalid_arguments, "parse", "bad", true, "why"};
  x.run = {run};
  x.stage = storage::call_stage::settled;
  x.attempt = 2;
  x.announced = true;
  x.approved = false;
  x.decision_reason = "too dangerous";
  x.how = outcome::timed_out;
  x.told = "took too long";
  x.err = error{errc::timeout, "run", "late", false, {}};
  x.attempts = {{1, {100}, wall_time{200}, "the worker died"},
                {2, {300}, {}, {}}};
  return x;
}

storage::message_record make_message(const storage::run_record& run,
                                     const std::string& text) {
  return {run.session,
          run.id,
          1,
          storage::message_role::assistant,
          text,
          "because",
          {{"call_1"}, {"call_2"}}};
}

storage::proposal_record make_proposal(const storage::run_record& run,
                                       const std::string& id) {
  storage::proposal_record x;
  x.id = {id};
  x.session = run.session;
  x.run = run.id;
  x.call = {"call_" + id};
  x.source = events::proposal_source::tool_call;
  x.waits = true;
  x.tool = "bash";
  x.title = "# make";
  x.arguments = R"({"command":"make"})";
  x.digest = "d1";
  x.summary = "run make";
  x.preview = "make";
  x.reason = "`bash` changes something";
  x.made = {100};
  x.folder = "/home/me/project";
  x.definition = "def1";
  x.basis = "basis1";
  x.can_always = true;
  x.pattern = "make *";
  x.replaces = {"prop_0"};
  x.expires = wall_time{1000};
  return x;
}

storage::decision_record make_decision(const std::string& id,
                                       events::proposal_outcome how) {
  return {{id},
          how,
          "ann",
          "because",
          R"({"command":"make all"})",
          always_scope::pattern,
          {200}};
}

std::optional<error> store(storage::journal& to, storage::commit_unit unit) {
  auto done = std::make_shared<std::promise<std::optional<error>>>();
  auto answer = done->get_future();
  to.append(std::move(unit), [done](std::optional<error> failure) {
    done->set_value(std::move(failure));
  });
  if (answer.wait_for(scaled(std::chrono::seconds{30})) !=
      std::future_status::ready)
    return error{errc::timeout, "test", "no completion came", false, {}};
  return answer.get();
}

expected<std::string> read_all(storage::journal& from, const std::string& run,
                               std::uint64_t after, std::size_t page_size) {
  std::string lines;
  while (true) {
    auto page = from.read_events({run}, after, page_size);
    if (!page) return unexpected{page.error()};
    for (const auto& block : page->blocks) {
      if (block.first_seq != after + 1)
        return unexpected{
            error{errc::internal, "test", "blocks do not fit", false, {}}};
      after = block.last_seq;
      lines += *block.lines;
    }
    if (page->end) return lines;
    if (page->blocks.empty())
      return unexpected{
          error{errc::internal, "test", "an empty page", false, {}}};
  }
}

void change_file(const fs::path& folder, const std::string& sql) {
  storage::sqlite::database{folder / "riffle.db", std::chrono::seconds{1}}
      .execute(sql);
}

namespace {

/// Version 7 had each block under the last commit that brought some of it.
void put_feed_by_last(const fs::path& folder) {
  storage::sqlite::database db{folder / "riffle.db", std::chrono::seconds{1}};
  std::vector<std::pair<std::uint64_t, std::int64_t>> all;
  {
    storage::sqlite::statement blocks{db, "SELECT key, commits FROM blocks"};
    auto found = blocks.query();
    while (found.next()) {
      const auto shares =
          storage::shares_of(found.integer(0), found.bytes(1), "a test");
      if (!shares.empty())
        all.emplace_back(shares.back().commit, found.integer(0));
    }
  }
  db.execute("DELETE FROM feed");
  storage::sqlite::statement add{db, "INSERT INTO feed VALUES(?, ?, ?)"};
  for (const auto& [last, key] : all)
    add.run(last, key, storage::crc_of_feed(last, key));
}

}  // namespace

void make_older(const fs::path& folder, int version) {
  if (version == 7) put_feed_by_last(folder);
  if (version < 7) change_file(folder, "DROP TABLE feed");
  if (version < 6) change_file(folder, "DROP TABLE files");
  if (version < 5)
    change_file(folder,
                "DROP TABLE commits; DROP TABLE log; "
                "ALTER TABLE blocks DROP COLUMN commits");
  if (version < 4) change_file(folder, "DROP TABLE grants");
  if (version < 3) change_file(folder, "DROP TABLE state; DROP TABLE commands");
  if (version < 2)
    change_file(folder, "DROP TABLE proposals; DROP TABLE decisions");
  change_file(folder, "PRAGMA user_version = " + std::to_string(version));
}

std::unique_ptr<storage::sqlite_journal> open_store(
    const fs::path& folder, std::vector<std::string>* notes) {
  storage::sqlite_options options;
  options.on_note = [notes](const std::string& text) {
    if (notes != nullptr) notes->push_back(text);
  };
  auto made = storage::sqlite_journal::open(folder, std::move(options));
  if (!made) throw std::runtime_error{render(made.error())};
  return std::move(*made);
}

}  // namespace riffle::testing
