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
#include "runtime/service/input_size.hpp"

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

event_stream run::events_of(const run_id& other,
                            std::uint64_t after_seq) const {
  return event_stream{
      std::make_shared<event_stream::state>(impl_->link, other, after_seq)};
}

void run::cancel_call(const call_id& call) const {
  impl_->link->cancel(id_, call);
}

void run::cancel(std::string reason) const {
  impl_->link->cancel(id_, std::move(reason));
}

expected<void> run::tell(std::string text) const {
  if (auto ok = service::check_told(text); !ok)
    return unexpected{std::move(ok.error())};
  if (auto ok = check_may_wait("run.tell"); !ok)
    return unexpected{std::move(ok.error())};
  return service::wait_for<void>([&](const service::reply<void>& to) {
    impl_->link->tell(id_, std::move(text), to);
  });
}

expected<run_outcome> run::wait(duration limit) const {
  if (auto ok = check_may_wait("run.wait"); !ok)
    return unexpected{std::move(ok.error())};
  if (auto end = impl_->reader->wait(limit)) return std::move(*end);
  return unexpected{error{errc::timeout, "run", "the run has not ended yet"}};
}

void run::on_end(end_handler done) const {
  impl_->reader->on_end(std::move(done));
}

// -- runtime ------------------------------------------------------------------

runtime::runtime(std::unique_ptr<impl> x) : impl_{std::move(x)} {}
runtime::runtime(runtime&&) noexcept = default;

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
  parts.program = RIFFLE_VERSION;
  parts.tools = std::move(options.tools);
  parts.journal = std::move(options.journal);
  parts.scripts = std::move(options.scripts);
  parts.transport = std::move(options.transport);
  parts.owns_process = options.owns_process;
  auto made = node::create(std::move(config), std::move(parts));
  if (!made) return unexpected{std::move(made.error())};
  x->owner = std::move(*made);
  // Its calls block, so nothing needs another thread.
  x->uses = x->owner->serve({});
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
  const auto stop = request.stop;
  return impl_->open(
      std::move(on_events), stop,
      [&](const service::reader_maker& reader, service::reply<run_opened> to) {
        impl_->uses->runs.start(std::move(request), reader, std::move(to));
      });
}

expected<run> runtime::start_plan(plan_request request,
                                  event_handler on_events) {
  if (auto ok = check_may_wait("runtime.start_plan"); !ok)
    return unexpected{std::move(ok.error())};
  const auto stop = request.with.stop;
  return impl_->open(
      std::move(on_events), stop,
      [&](const service::reader_maker& reader, service::reply<run_opened> to) {
        impl_->uses->runs.start_plan(std::move(request), reader, std::move(to));
      });
}

expected<run> runtime::resume(const run_id& id, event_handler on_events,
                              resume_options options) {
  if (auto ok = check_may_wait("runtime.resume"); !ok)
    return unexpected{std::move(ok.error())};
  const auto stop = options.stop;
  return impl_->open(
      std::move(on_events), stop,
      [&](const service::reader_maker& reader, service::reply<run_opened> to) {
        impl_->uses->runs.resume(id, std::move(options), reader, std::move(to));
      });
}

expected<run> runtime::go_on_from(const run_id& plan, event_handler on_events,
                                  resume_options options) {
  if (auto ok = check_may_wait("runtime.go_on_from"); !ok)
    return unexpected{std::move(ok.error())};
  const auto stop = options.stop;
  return impl_->open(
      std::move(on_events), stop,
      [&](const service::reader_maker& reader, service::reply<run_opened> to) {
        impl_->uses->runs.go_on_from(plan, std::move(options), reader,
                                     std::move(to));
      });
}

/// `how` opens it; it may ask for a reader.
template <class How>
expected<run> runtime::impl::open(event_handler on_events,
                                  const std::stop_token& stop, How how) {
  std::shared_ptr<handler_reader> reader;
  const auto make_reader = [&](const run_id& id, const session_id& session) {
    reader = std::make_shared<handler_reader>(link, id, session,
                                              std::move(on_events));
    return reader;
  };
  auto opened = service::wait_for<run_opened>(
      [&](service::reply<run_opened> to) { how(make_reader, std::move(to)); });
  if (!opened) {
    if (reader) reader->drop();
    return unexpected{std::move(opened.error())};
  }
  reader->cancel_on(stop);
  return handle(*opened, std::move(reader));
}

run runtime::impl::handle(const run_opened& opened,
                          std::shared_ptr<handler_reader> reader) const {
  run out;
  out.id_ = opened.run;
  out.session_ = opened.session;
  out.impl_ = std::make_shared<run::impl>();
  out.impl_->link = link;
  out.impl_->reader = std::move(reader);
  return out;
}

expected<event_stream> runtime::events(const run_id& id,
                                       std::uint64_t after_seq) {
  auto record = find_run(id);
  if (!record) return unexpected{std::move(record.error())};
  return event_stream{
      std::make_shared<event_stream::state>(impl_->link, id, after_seq)};
}

}  // namespace riffle
