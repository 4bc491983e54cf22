// SPDX-License-Identifier: MIT
#include "runtime/api/riffle.hpp"

#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/event_line.hpp"
#include "runtime/api/readers.hpp"
#include "runtime/node/node.hpp"

namespace riffle {

// -- views --------------------------------------------------------------------

std::string_view event_view::type() const noexcept {
  constexpr std::string_view key = R"("event_type":")";
  const auto at = line_.find(key);
  if (at == line_.npos) return {};
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
  std::shared_ptr<node> owner;
  std::shared_ptr<handler_reader> reader;
};

event_stream run::events(std::uint64_t after_seq) const {
  return event_stream{
      std::make_shared<event_stream::state>(*impl_->owner, id_, after_seq)};
}

void run::cancel(std::string reason) const {
  impl_->owner->cancel(id_, {errc::cancelled, "run", std::move(reason)}, true);
}

expected<run_outcome> run::wait(duration limit) const {
  return impl_->reader->wait(limit);
}

// -- runtime ------------------------------------------------------------------

struct runtime::impl {
  std::shared_ptr<node> owner;
};

runtime::runtime(std::unique_ptr<impl> x) : impl_{std::move(x)} {}
runtime::runtime(runtime&&) noexcept = default;
runtime& runtime::operator=(runtime&&) noexcept = default;
runtime::~runtime() {
  if (impl_) impl_->owner->close(std::chrono::seconds{5});
}

expected<runtime> runtime::create(config::config config,
                                  runtime_options options) {
  node_parts parts;
  parts.tools = std::move(options.tools);
  parts.journal = std::move(options.journal);
  auto made = node::create(std::move(config), std::move(parts));
  if (!made) return unexpected{std::move(made.error())};
  auto x = std::make_unique<impl>();
  x->owner = std::move(*made);
  return runtime{std::move(x)};
}

expected<run> runtime::start(run_request request, event_handler on_events) {
  auto& owner = impl_->owner;
  run_choice choice{std::move(request.agent),
                    std::move(request.model),
                    std::move(request.context),
                    request.max_steps,
                    request.timeout,
                    request.approval == approve::all};
  auto session = request.session ? std::move(*request.session)
                                 : owner->ids().next<session_id>();
  auto spec = owner->make_spec(owner->ids().next<run_id>(), std::move(session),
                               std::move(request.task), choice);
  if (!spec) return unexpected{std::move(spec.error())};
  run out;
  out.id_ = (*spec)->run;
  out.session_ = (*spec)->session;
  out.impl_ = std::make_shared<run::impl>();
  out.impl_->owner = owner;
  out.impl_->reader =
      std::make_shared<handler_reader>(*owner, out.id_, std::move(on_events));
  auto opened = owner->start(*spec, out.impl_->reader);
  if (!opened) return unexpected{std::move(opened.error())};
  return out;
}

expected<run> runtime::resume(const run_id& id, event_handler on_events,
                              resume_options options) {
  auto& owner = impl_->owner;
  auto record = owner->journal().load_run(id);
  if (!record) return unexpected{std::move(record.error())};
  auto choice = choice_from_json(record->settings);
  if (options.approval) choice.approve_all = *options.approval == approve::all;
  if (options.model) choice.model = options.model;
  if (options.max_steps) choice.max_steps = options.max_steps;
  if (options.timeout > duration{}) choice.time_limit = options.timeout;
  auto spec = owner->make_spec(id, record->session, record->task, choice);
  if (!spec) return unexpected{std::move(spec.error())};
  run out;
  out.id_ = id;
  out.session_ = record->session;
  out.impl_ = std::make_shared<run::impl>();
  out.impl_->owner = owner;
  out.impl_->reader =
      std::make_shared<handler_reader>(*owner, id, std::move(on_events));
  auto opened = owner->resume(*spec, out.impl_->reader);
  if (!opened) return unexpected{std::move(opened.error())};
  return out;
}

expected<event_stream> runtime::events(const run_id& id,
                                       std::uint64_t after_seq) {
  auto record = impl_->owner->journal().load_run(id);
  if (!record) return unexpected{std::move(record.error())};
  return event_stream{
      std::make_shared<event_stream::state>(*impl_->owner, id, after_seq)};
}

storage::journal& runtime::journal() noexcept {
  return impl_->owner->journal();
}

}  // namespace riffle
