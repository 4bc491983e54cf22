// SPDX-License-Identifier: MIT
#include "tests/actors/fixture.hpp"

#include <sstream>

#include "actors/core/control_tools.hpp"
#include "messages/event_check.hpp"
#include "tests/support/catch.hpp"

namespace riffle::testing {

using nlohmann::json;

// -- provider -----------------------------------------------------------------

model::transfer_id scripted_model::open(
    model::transport_request request,
    std::shared_ptr<model::transfer_listener> listener) {
  const auto id = ++last_;
  requests.push_back(std::move(request.body));
  const auto n = std::min(requests.size(), answers.size()) - 1;
  auto text = answers.at(n);
  const bool cuts = text.ends_with(cut);
  const bool holds = text.ends_with(hold);
  if (cuts) text.resize(text.size() - cut.size());
  if (holds) text.resize(text.size() - hold.size());
  if (!text.empty()) listener->on_bytes(text);
  if (holds) {
    open_.emplace(id, std::move(listener));
    return id;
  }
  model::transport_end end{200, {}, {}, {}, content_type};
  if (cuts)
    end.failure = error{errc::stream_interrupted, "transport", "cut", true};
  listener->on_end(std::move(end));
  return id;
}

void scripted_model::grant(model::transfer_id id, std::size_t bytes) {
  granted[id] += bytes;
}

void scripted_model::cancel(model::transfer_id id) {
  cancelled.insert(id);
  const auto i = open_.find(id);
  if (i == open_.end()) return;
  auto listener = std::move(i->second);
  open_.erase(i);
  listener->on_end(
      {0, error{errc::cancelled, "transport", "cancelled"}, {}, {}});
}

// -- tools --------------------------------------------------------------------

recording_tool::recording_tool(std::string name, effect eff, bool idempotent) {
  spec_.name = std::move(name);
  spec_.description = "notes its calls";
  spec_.parameters = R"({"type":"object"})";
  spec_.eff = eff;
  spec_.idempotent = idempotent;
}

tools::tool_output recording_tool::run(const json& args,
                                       tools::tool_context& context) {
  if (moves > 0) {
    --moves;
    if (also) also(context);
    return {.text = "moved",
            .err = error{errc::tool_execution_error, "test", "moved"},
            .moved = true};
  }
  acted.push_back(context.call);
  judged.push_back(context.judged.value_or("anywhere"));
  bases.push_back(context.basis);
  arguments.push_back(args.dump());
  for (int i = 1; i <= reports; ++i)
    context.progress({"report " + std::to_string(i), {}, {}, {}, 0});
  if (also) also(context);
  if (throw_times > 0) {
    --throw_times;
    throw std::runtime_error{"the tool broke"};
  }
  return {says.empty() ? spec_.name + " " + args.dump() : says, {}, {}};
}

rule_subject recording_tool::subject(
    const json& args, const std::filesystem::path& workspace) const {
  fail("subject");
  ++subjects;
  if (!place) return tool::subject(args, workspace);
  if (place->empty()) return {.text = {}, .known = false, .place = true};
  return {.text = *place, .place = true};
}

tools::call_preview recording_tool::preview(
    const json& args, const std::filesystem::path&) const {
  fail("preview");
  if (impossible) {
    tools::call_preview out{"impossible"};
    out.impossible = impossible;
    return out;
  }
  if (blind) return {};
  if (!shows.empty() || !from.empty()) return {shows, from};
  return spec_.eff == effect::mutating ? "would act on " + args.dump() : "";
}

void recording_tool::fail(const std::string& function) const {
  if (function != fails_in) return;
  if (oddly) throw 7;  // NOLINT: tools are others' code
  throw std::runtime_error{"it broke"};
}

// -- reader -------------------------------------------------------------------

bool recording_subscriber::offer(const storage::event_block& block) {
  if (refuses) return false;
  CHECK(block.first_seq == last + 1);
  lines += *block.lines;
  last = block.last_seq;
  return true;
}

void recording_subscriber::closed(const std::optional<error>& why) {
  is_closed = must_pull = true;
  failure = why;
}

// -- the process --------------------------------------------------------------

actor_fixture::actor_fixture(std::shared_ptr<storage::journal> stored)
    : journal{std::move(stored)},
      look{std::make_shared<recording_tool>("look", effect::read_only)},
      act{std::make_shared<recording_tool>("act", effect::mutating)},
      redo{std::make_shared<recording_tool>("redo", effect::mutating, true)},
      ids{std::make_shared<id_source>(7, [] { return wall_time{1'000'000}; })} {
  if (!journal) journal = storage::make_memory_journal();
  held = dynamic_cast<test_journal*>(journal.get());
  register_wire(config);
  config.set("scheduler.policy", caf::atom("testing"));
  settings.defaults.approval = "allow";
  system = std::make_unique<caf::actor_system>(config);
}

actor_fixture::~actor_fixture() {
  for (auto& [name, pool] : pools)
    caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
  // The run's actors go with the registry's messages undelivered: end them.
  caf::anon_send_exit(registry, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(store, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(inbox, caf::exit_reason::user_shutdown);
  caf::anon_send_exit(asker_, caf::exit_reason::user_shutdown);
  pools.clear();
  registry = nullptr;
  store = nullptr;
  inbox = nullptr;
  asker_ = nullptr;
  release_acks = false;
  run_blocking = false;
  run_looks = false;
  blocking->jobs.clear();
  looks->jobs.clear();
  scheduler().run();
  // What the end asked for: jobs hold what holds them.
  blocking->jobs.clear();
  looks->jobs.clear();
}

caf::scheduler::test_coordinator& actor_fixture::scheduler() {
  return dynamic_cast<caf::scheduler::test_coordinator&>(system->scheduler());
}

void actor_fixture::begin() {
  for (tools::tool_ptr tool :
       {tools::tool_ptr{look}, tools::tool_ptr{act}, tools::tool_ptr{redo}})
    REQUIRE(tools->add(tool));
  for (const auto& about : core::control_tools()) {
    auto entry = std::make_shared<recording_tool>(std::string{about.name},
                                                  effect::mutating);
    REQUIRE(tools->add(entry));
  }
  store = spawn_session_store(*system, {.detach_store = false}, journal,
                              waiting_executor, wait_for_guard, process_faults);
  inbox_setup decisions{journal, make_cause_spec};
  decisions.faults = process_faults;
  decisions.blocking = inbox_executor;
  inbox = spawn_command_inbox(*system, {.detach_store = false}, decisions);
  worker_setup setup;
  setup.blocking = blocking;
  setup.faults = process_faults;
  const auto on_service = [this](const std::string& tool,
                                 const std::string& why) {
    service.push_back(why.empty() ? tool + " is back" : tool + " is out");
  };
  auto spawn = make_pool_spawner(
      *system, [all = tools](const std::string& x) { return *all->find(x); },
      settings, supervision, setup, on_service);
  registry_setup front;
  front.spawn_pool = [this, spawn](const std::string& tool) {
    return pools[tool] = spawn(tool);
  };
  front.on_service = on_service;
  front.supervision = supervision;
  spawn_pools(*tools, front.spawn_pool);
  if (change_pools) change_pools(pools);
  front.store = store;
  front.board = setup.board;
  front.inbox = inbox;
  front.pools = pools;
  front.faults = process_faults;
  if (change_front) change_front(front);
  registry = spawn_run_registry(*system, std::move(front));
}

std::shared_ptr<run_spec> actor_fixture::make_spec(const std::string& id) {
  run = run_id{id};
  auto spec = std::make_shared<run_spec>();
  spec->run = run;
  spec->session = session;
  spec->task = "the task";
  spec->agent_name = "default";
  spec->agent.tools = {"look",     "act",         "redo",
                       "complete", "manage_plan", "seek_approval"};
  std::erase_if(spec->agent.tools,
                [this](const auto& x) { return taken_out.contains(x); });
  spec->agent.loop_limit = 0;
  spec->agent.system_prompt.clear();
  spec->model.retry = {3, std::chrono::seconds{1}, std::chrono::seconds{60}};
  spec->publish.batching = "token";
  spec->tool_settings = settings;
  spec->retry_base = std::chrono::milliseconds{100};
  spec->approved_by = "policy";
  spec->approval = approval;
  spec->propose = propose;
  spec->expire_after = expire_after;
  if (previews) spec->looks = looks;
  spec->dialect = model::make_openai_dialect();
  spec->transport = provider;
  spec->registry = tools;
  spec->journal = journal;
  spec->ids = ids;
  spec->wall = [] { return wall_time{1'000'000}; };
  spec->random01 = [] { return 0.5; };
  return spec;
}

void actor_fixture::start(const run_spec_ptr& spec,
                          std::optional<core::end_request> end) {
  ask(caf::make_message(start_run{spec, reader, std::move(end)}));
}

void actor_fixture::resume(const run_spec_ptr& spec,
                           std::optional<core::end_request> end) {
  ask(caf::make_message(resume_run{spec, reader, std::move(end)}));
}

void actor_fixture::ask(caf::message request) {
  opened.reset();
  auto target = caf::actor_cast<caf::actor>(registry);
  auto behave = [this, target, request](caf::event_based_actor* self) {
    self->request(target, std::chrono::minutes{10}, request)
        .then([this](run_opened& x) { opened = std::move(x); });
  };
  asker_ = system->spawn(behave);
}

std::vector<storage::proposal_state> actor_fixture::undecided() {
  storage::proposal_filter filter;
  filter.undecided = true;
  auto all = journal->list_proposals(filter);
  REQUIRE(all);
  return *all;
}

storage::decision_answer actor_fixture::decide(const proposal_id& id,
                                               events::proposal_outcome how,
                                               const std::string& arguments,
                                               always_scope always, bool told) {
  storage::decision_record mine{
      id, how, "ann", "because", arguments, always, wall_time{1'000'000}};
  // As `service::decisions` does, if it knows the tool.
  if (!arguments.empty() && knows_tools)
    if (const auto would =
            preview_for_person(*act, nlohmann::json::parse(arguments), "/"))
      mine.basis = would->basis;
  auto answer = journal->decide(std::move(mine), {});
  REQUIRE(answer);
  if (told && answer->now && answer->now->decided)
    caf::anon_send(inbox, decision_known{*answer->now->decided});
  return *answer;
}

void actor_fixture::cancel(const std::string& reason) {
  caf::anon_send(registry,
                 cancel_run{run, {errc::cancelled, "test", reason}, true});
}

bool actor_fixture::settle() {
  bool moved = false;
  for (bool more = true; more; moved = moved || more) {
    more = scheduler().run() > 0;
    if (run_looks || (first_looks > 0 && !looks->jobs.empty())) {
      if (!run_looks) --first_looks;
      more = looks->run_one() || more;
    }
    if (run_blocking)
      more = blocking->run_one() || more;
    else if (begin_blocking)
      more = blocking->begin_all() || more;
    if (release_acks && held != nullptr) more = held->release_one() || more;
    if (reader->must_pull && !reader->refuses) pull();
  }
  return moved;
}

void actor_fixture::pull() {
  reader->must_pull = false;
  const auto page = journal->read_events(run, reader->last, 16u << 20);
  if (!page) return;  // it never began
  for (const auto& block : page->blocks) reader->offer(block);
  if (!reader->is_closed)
    caf::anon_send(registry, attach_subscriber{run, reader});
}

void actor_fixture::advance(duration time) { scheduler().advance_time(time); }

void actor_fixture::run_out(duration limit) {
  const duration step = std::chrono::milliseconds{50};
  for (duration passed{}; passed < limit; passed += step) {
    settle();
    if (reader->is_closed) return;
    advance(step);
  }
  settle();
}

// -- checks -------------------------------------------------------------------

void check_log(const std::string& lines, bool unfinished) {
  std::istringstream in{lines};
  event_check_options options;
  options.allow_unfinished = unfinished;
  const auto report = check_events(in, options);
  INFO(lines);
  for (const auto& v : report.violations) UNSCOPED_INFO(render(v));
  CHECK(report.ok());
}

void check_requests(const std::vector<std::string>& bodies) {
  for (const auto& body : bodies) {
    std::vector<std::string> owed;
    const auto request = json::parse(body);
    for (const auto& m : request.at("messages")) {
      if (m.at("role") == "tool") {
        REQUIRE_FALSE(owed.empty());
        CHECK(m.at("tool_call_id") == owed.front());
        owed.erase(owed.begin());
      } else {
        CHECK(owed.empty());
        if (m.contains("tool_calls"))
          for (const auto& c : m["tool_calls"]) owed.push_back(c.at("id"));
      }
    }
    CHECK(owed.empty());
  }
}

std::vector<json> events_of(const std::string& lines, std::string_view type) {
  std::vector<json> found;
  std::istringstream in{lines};
  for (std::string line; std::getline(in, line);) {
    auto x = json::parse(line);
    if (x.at("event_type") == type) found.push_back(std::move(x));
  }
  return found;
}

}  // namespace riffle::testing
