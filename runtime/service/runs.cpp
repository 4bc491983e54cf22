// SPDX-License-Identifier: MIT
#include "runtime/service/runs.hpp"

#include <chrono>
#include <utility>

#include "runtime/service/input_size.hpp"
#include "runtime/service/run_folder.hpp"

namespace riffle::service {

namespace {

subscriber_ptr reader_for(const reader_maker& make, const run_spec& spec) {
  return make ? make(spec.run, spec.session) : nullptr;
}

/// What was to stop before it began is on record, and nothing of it begins.
std::optional<core::end_request> asked_end(const std::stop_token& stop) {
  if (!stop.stop_requested()) return std::nullopt;
  return core::end_request{{errc::cancelled, "run", "asked to stop"}};
}

expected<void> check_session(const run_request& x) {
  return x.session ? check_name(*x.session) : expected<void>{};
}

}  // namespace

runs::runs(std::shared_ptr<front_door> door, std::shared_ptr<spec_maker> specs,
           std::shared_ptr<storage::journal> journal,
           std::shared_ptr<executor> where, std::shared_ptr<executor> making)
    : door_{std::move(door)},
      specs_{std::move(specs)},
      journal_{std::move(journal)},
      where_{std::move(where)},
      making_{std::move(making)} {}

/// The spec is made where it may block, the rest by messages.
void runs::open(spec_source make, bool fresh, std::stop_token stop,
                reader_maker reader, const reply<run_opened>& to) const {
  answer_on<run_spec_ptr>(
      making_.get(), std::move(make),
      reply<run_spec_ptr>{[door = door_, fresh, stop = std::move(stop),
                           reader = std::move(reader),
                           to](expected<run_spec_ptr> spec) {
        if (!spec) return to(unexpected{std::move(spec.error())});
        const auto who = reader_for(reader, **spec);
        if (fresh) return door->start(*spec, who, asked_end(stop), to);
        door->resume(*spec, who, asked_end(stop), to);
      }});
}

namespace {

/// `aside`: a client waits for the answer that its run has begun.
duration start_timeout(bool aside) {
  return aside ? duration{} : std::chrono::milliseconds{500};
}

}  // namespace

void runs::start(run_request x, std::optional<task_place> place,
                 reader_maker reader, const reply<run_opened>& to) const {
  const auto stop = x.stop;
  open(
      [specs = specs_, x = std::move(x), place = std::move(place),
       aside = making_ != nullptr]() -> expected<run_spec_ptr> {
        if (auto ok = check_session(x); !ok)
          return unexpected{std::move(ok.error())};
        auto& ids = specs->ids();
        auto session = x.session ? *x.session : ids.next<session_id>();
        auto stored = specs->begun_here(x, place);
        stored.hurried = !place;
        stored.start_timeout = start_timeout(aside);
        auto made = specs->make(x.id ? *x.id : ids.next<run_id>(),
                                std::move(session), x.task, stored);
        // Of a volley each task has a session of its own.
        if (made && !place)
          if (auto ok = check_input_size(**made); !ok)
            return unexpected{std::move(ok.error())};
        return made;
      },
      true, stop, std::move(reader), to);
}

void runs::start_plan(plan_request x, reader_maker reader,
                      const reply<run_opened>& to) const {
  const auto stop = x.with.stop;
  open(
      [specs = specs_, x = std::move(x)]() -> expected<run_spec_ptr> {
        if (auto ok = check_session(x.with); !ok)
          return unexpected{std::move(ok.error())};
        auto text = specs->read_plan_text(x);
        if (!text) return unexpected{std::move(text.error())};
        auto& ids = specs->ids();
        auto stored = specs->begun_here(x.with);
        stored.plan_session =
            x.with.session ? *x.with.session : ids.next<session_id>();
        stored.plan = std::move(*text);
        return specs->make_plan(
            x.with.id ? *x.with.id : run_id{ids.make("plan_")}, stored);
      },
      true, stop, std::move(reader), to);
}

void runs::start_cause(storage::proposal_state cause, reader_maker reader,
                       const reply<run_opened>& to) const {
  open([specs = specs_,
        cause = std::move(cause)] { return specs->make_for(cause); },
       true, {}, std::move(reader), to);
}

namespace {

/// A request on record, with what is chosen anew for its run.
expected<stored_request> request_again(const storage::run_record& record,
                                       const resume_options& x) {
  auto out = request_from_json(record.settings);
  if (auto ok = check_folder(out.folder, "run " + record.id.value); !ok)
    return unexpected{std::move(ok.error())};
  auto& asked = out.request;
  if (x.approval) asked.approval = *x.approval;
  if (x.model) asked.model = x.model;
  if (x.max_steps) asked.max_steps = x.max_steps;
  if (x.timeout > duration{}) asked.timeout = x.timeout;
  out.on_error = x.on_error;
  asked.stop = x.stop;
  return out;
}

}  // namespace

void runs::resume(run_id id, resume_options x, reader_maker reader,
                  const reply<run_opened>& to) const {
  const auto stop = x.stop;
  open(
      [specs = specs_, journal = journal_, id = std::move(id), x = std::move(x),
       aside = making_ != nullptr]() -> expected<run_spec_ptr> {
        auto record = journal->load_run(id);
        if (!record) return unexpected{std::move(record.error())};
        auto stored = request_again(*record, x);
        if (!stored) return unexpected{std::move(stored.error())};
        stored->hurried = !stored->place && stored->plan_session.empty();
        stored->start_timeout = start_timeout(aside);
        return specs->remake(*record, std::move(*stored));
      },
      false, stop, std::move(reader), to);
}

void runs::go_on_from(run_id stopped, resume_options x, reader_maker reader,
                      const reply<run_opened>& to) const {
  const auto stop = x.stop;
  open(
      [specs = specs_, journal = journal_, id = std::move(stopped),
       x = std::move(x)]() -> expected<run_spec_ptr> {
        auto record = journal->load_run(id);
        if (!record) return unexpected{std::move(record.error())};
        auto stored = request_again(*record, x);
        if (!stored) return unexpected{std::move(stored.error())};
        return specs->make_next(*record, std::move(*stored));
      },
      true, stop, std::move(reader), to);
}

std::string runs::model_of(const run_request& x) const {
  return specs_ ? specs_->model_of(x) : std::string{};
}

run_configuration runs::configuration() const {
  return specs_ ? specs_->configuration() : run_configuration{};
}

std::shared_ptr<capacity_board> runs::capacity() const {
  return specs_ ? specs_->capacity() : nullptr;
}

void runs::cancel_here(const run_id& run, std::string reason) const {
  door_->cancel(run, {errc::cancelled, "run", std::move(reason)}, true);
}

void runs::cancel(const run_id& id, const std::string& reason, bool adopt,
                  const reply<storage::cancel_verdict>& to) const {
  answer_on<storage::cancel_verdict>(
      where_.get(),
      [journal = journal_, id, reason] {
        return journal->ask_cancel(id, reason);
      },
      reply<storage::cancel_verdict>{
          [me = *this, id, reason, adopt,
           to](expected<storage::cancel_verdict> verdict) {
            if (verdict == storage::cancel_verdict::here)
              me.cancel_here(id, reason);
            else if (verdict == storage::cancel_verdict::gone && adopt)
              return me.end_adopted(id, reason, to);
            to(std::move(verdict));
          }});
}

void runs::end_adopted(const run_id& id, const std::string& reason,
                       const reply<storage::cancel_verdict>& to) const {
  const error why{errc::cancelled, "run", reason};
  const reply<run_opened> adopted{
      [door = door_, id, why, to](expected<run_opened> x) {
        const bool busy = !x && x.error().code == errc::session_busy;
        // Somebody opens it this moment, and is told so; elsewhere its new
        // owner finds what was asked.
        if (busy) door->cancel(id, why, true);
        if (!x && !busy) return to(unexpected{std::move(x.error())});
        to(storage::cancel_verdict::gone);
      }};
  answer_on<run_spec_ptr>(
      making_.get(),
      [journal = journal_, specs = specs_, id]() -> expected<run_spec_ptr> {
        auto record = journal->load_run(id);
        if (!record) return unexpected{std::move(record.error())};
        auto stored = request_from_json(record->settings);
        stored.hurried = true;  // nothing of it begins
        return specs->remake(*record, std::move(stored));
      },
      reply<run_spec_ptr>{
          [door = door_, why, adopted](expected<run_spec_ptr> spec) {
            if (!spec) return adopted(unexpected{std::move(spec.error())});
            door->resume(*spec, {}, core::end_request{why, true}, adopted);
          }});
}

}  // namespace riffle::service
