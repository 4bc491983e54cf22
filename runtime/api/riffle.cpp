// SPDX-License-Identifier: MIT
#include "runtime/api/riffle.hpp"

#include <thread>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "runtime/api/log_sinks.hpp"
#include "runtime/api/readers.hpp"
#include "runtime/api/runtime_impl.hpp"
#include "runtime/node/node.hpp"
#include "runtime/node/run_folder.hpp"

namespace riffle {

// -- views --------------------------------------------------------------------

std::string_view event_view::type() const noexcept {
  constexpr std::string_view key = R"("event_type":")";
  const auto at = line_.find(key);
  if (at == std::string_view::npos) return {};
  const auto begin = at + key.size();
  return line_.substr(begin, line_.find('"', begin) - begin);
}

std::string_view event_view::text(std::string& buffer) const {
  const auto kind = type();
  if (kind != "llm_token" && kind != "llm_reasoning") return {};
  constexpr std::string_view key = R"("data":{"content":")";
  const auto begin = line_.find(key) + key.size();
  const auto special = line_.find_first_of("\"\\", begin);
  if (line_[special] == '"') return line_.substr(begin, special - begin);
  auto end = special;
  while (line_[end] != '"') end += line_[end] == '\\' ? 2 : 1;
  buffer = nlohmann::json::parse(line_.substr(begin - 1, end - begin + 2))
               .get<std::string>();
  return buffer;
}

expected<event> event_view::parse() const { return parse_line(line_); }

// -- run ----------------------------------------------------------------------

struct run::impl {
  std::shared_ptr<runtime_link> link;
  std::shared_ptr<handler_reader> reader;
};

namespace {

approval_choice to_choice(approve x) {
  switch (x) {
    case approve::all: return approval_choice::all;
    case approve::ask: return approval_choice::ask;
    case approve::nobody: return approval_choice::nobody;
    case approve::none: break;
  }
  return approval_choice::none;
}

/// What would wait in a handler for the thread that runs the handler.
expected<void> check_may_wait(const char* what) {
  if (!inside_handler()) return {};
  return unexpected{error{
      errc::invalid_request, what,
      "called in an event handler, which must not wait: use another thread"}};
}

}  // namespace

event_stream run::events(std::uint64_t after_seq) const {
  return event_stream{
      std::make_shared<event_stream::state>(impl_->link, id_, after_seq)};
}

void run::cancel_call(const call_id& call) const {
  impl_->link->cancel(id_, call);
}

void run::cancel(std::string reason) const {
  impl_->link->cancel(id_, std::move(reason));
}

expected<run_outcome> run::wait(duration limit) const {
  if (auto ok = check_may_wait("run.wait"); !ok)
    return unexpected{std::move(ok.error())};
  if (auto end = impl_->reader->wait(limit)) return std::move(*end);
  return unexpected{error{errc::timeout, "run", "the run has not ended yet"}};
}

// -- runtime ------------------------------------------------------------------

runtime::runtime(std::unique_ptr<impl> x) : impl_{std::move(x)} {}
runtime::runtime(runtime&&) noexcept = default;

namespace {

std::string working_folder() {
  std::error_code gone;
  return std::filesystem::current_path(gone).string();
}

}  // namespace

std::string folder_of(const storage::run_record& x) {
  return choice_from_json(x.settings).folder;
}

runtime& runtime::operator=(runtime&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}

/// The actors that a handler is called by cannot end before it returns.
runtime::~runtime() {
  if (!impl_) return;
  if (inside_handler())
    std::thread{[x = std::move(impl_)] { x->end(); }}.detach();
  else
    impl_->end();
}

expected<runtime> runtime::create(config::config config,
                                  runtime_options options) {
  auto x = std::make_unique<impl>();
  if (options.log) x->log = add_log_sink(std::move(options.log));
  node_parts parts;
  parts.tools = std::move(options.tools);
  parts.journal = std::move(options.journal);
  parts.scripts = std::move(options.scripts);
  parts.transport = std::move(options.transport);
  parts.owns_process = options.owns_process;
  auto made = node::create(std::move(config), std::move(parts));
  if (!made) return unexpected{std::move(made.error())};
  x->owner = std::move(*made);
  x->link = std::make_shared<runtime_link>(*x->owner);
  return runtime{std::move(x)};
}

expected<run_outcome> runtime::execute(run_request request,
                                       event_handler on_events) {
  auto started = start(std::move(request), std::move(on_events));
  if (!started) return unexpected{std::move(started.error())};
  for (;;)
    if (auto end = started->impl_->reader->wait(std::chrono::hours{1}))
      return std::move(*end);
}

expected<run> runtime::start(run_request request, event_handler on_events) {
  if (auto ok = check_may_wait("runtime.start"); !ok)
    return unexpected{std::move(ok.error())};
  auto& owner = impl_->owner;
  run_choice choice{std::move(request.agent),
                    std::move(request.model),
                    std::move(request.context),
                    request.max_steps,
                    request.timeout,
                    to_choice(request.approval),
                    {},
                    working_folder()};
  auto session = request.session ? std::move(*request.session)
                                 : owner->ids().next<session_id>();
  auto spec = owner->make_spec(owner->ids().next<run_id>(), std::move(session),
                               std::move(request.task), choice);
  if (!spec) return unexpected{std::move(spec.error())};
  return open(*spec, std::move(on_events), request.stop, true);
}

expected<run> runtime::resume(const run_id& id, event_handler on_events,
                              resume_options options) {
  if (auto ok = check_may_wait("runtime.resume"); !ok)
    return unexpected{std::move(ok.error())};
  auto& owner = impl_->owner;
  auto record = owner->journal().load_run(id);
  if (!record) return unexpected{std::move(record.error())};
  auto choice = choice_from_json(record->settings);
  if (auto ok = check_folder(choice.folder, "run " + id.value); !ok)
    return unexpected{std::move(ok.error())};
  if (options.approval) choice.approval = to_choice(*options.approval);
  if (options.model) choice.model = options.model;
  if (options.max_steps) choice.max_steps = options.max_steps;
  if (options.timeout > duration{}) choice.time_limit = options.timeout;
  auto spec = owner->make_spec(id, record->session, record->task, choice);
  if (!spec) return unexpected{std::move(spec.error())};
  return open(*spec, std::move(on_events), options.stop, false);
}

expected<run> runtime::open(const std::shared_ptr<const run_spec>& spec,
                            event_handler on_events,
                            const std::stop_token& stop, bool fresh) {
  run out;
  out.id_ = spec->run;
  out.session_ = spec->session;
  out.impl_ = std::make_shared<run::impl>();
  out.impl_->link = impl_->link;
  out.impl_->reader = std::make_shared<handler_reader>(
      impl_->link, out.id_, out.session_, std::move(on_events));
  auto opened = fresh ? impl_->owner->start(spec, out.impl_->reader)
                      : impl_->owner->resume(spec, out.impl_->reader);
  if (!opened) {
    out.impl_->reader->drop();
    return unexpected{std::move(opened.error())};
  }
  out.impl_->reader->cancel_on(stop);
  return out;
}

expected<event_stream> runtime::events(const run_id& id,
                                       std::uint64_t after_seq) {
  auto record = impl_->owner->journal().load_run(id);
  if (!record) return unexpected{std::move(record.error())};
  return event_stream{
      std::make_shared<event_stream::state>(impl_->link, id, after_seq)};
}

storage::journal& runtime::journal() noexcept {
  return impl_->owner->journal();
}

}  // namespace riffle
