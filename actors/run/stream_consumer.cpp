// SPDX-License-Identifier: MIT
#include "actors/run/stream_consumer.hpp"

#include <utility>

#include "actors/core/budget.hpp"
#include "actors/core/held_notice.hpp"
#include "actors/core/short_names.hpp"
#include "actors/handler.hpp"
#include "actors/run/run_log.hpp"
#include "runtime/base/metrics.hpp"
#include "runtime/base/secrets.hpp"

namespace riffle {

namespace {

/// How long a body may go on behind the dialect's end mark.
constexpr auto body_end_timeout = std::chrono::seconds{1};

/// What a decoder keeps to send back counts a quarter: results of tools that
/// ran at the provider are among it, and nobody reads them here.
constexpr std::uint64_t kept_for_a_byte = 4;

/// Hands what the transport brings to the consumer, in order.
class to_consumer final : public model::transfer_listener {
 public:
  explicit to_consumer(stream_consumer_actor target)
      : target_{std::move(target)} {}

  void on_held(std::optional<duration> next) override {
    caf::anon_send(target_, model_held{false, next});
  }
  void on_sent() override { caf::anon_send(target_, model_held{true, {}}); }
  void on_bytes(std::string bytes) override {
    caf::anon_send(target_, model_bytes{std::move(bytes)});
  }
  void on_end(model::transport_end end) override {
    caf::anon_send(target_, model_end{std::move(end)});
    target_ = nullptr;
  }

 private:
  stream_consumer_actor target_;
};

}  // namespace

stream_consumer_state::~stream_consumer_state() {
  if (transfer != 0) spec->transport->cancel(transfer);
}

void stream_consumer_state::begin(run_spec_ptr run, core::open_turn which,
                                  std::string body, tool_call_parser_actor next,
                                  progress_muxer_actor out) {
  spec = std::move(run);
  turn = which;
  parser = std::move(next);
  muxer = std::move(out);
  decoder = spec->dialect->make_decoder();
  message = core::message_assembler{body.size()};
  model::transport_request request;
  request.url = spec->url;
  request.headers = spec->headers;
  request.body = std::move(body);
  opened = self->clock().now();
  if (metrics_are_read()) asked = server_of(spec->url);
  const auto& limits = spec->model.timeouts;
  request.timeouts = {limits.connect, limits.first_byte, limits.idle,
                      limits.total};
  request.credit = model_credit;
  request.again = turn.refused;
  transfer = spec->transport->open(
      std::move(request), std::make_shared<to_consumer>(
                              caf::actor_cast<stream_consumer_actor>(self)));
}

void stream_consumer_state::on(const model_bytes& x) {
  if (over) return;
  turn_delta delta;
  decoder->feed(x.bytes, delta);
  pass_on(delta, x.bytes.size(), false);
  if (delta.failure)
    finish(std::move(delta.failure));
  else if (delta.done)
    finish({});
  else if (is_too_long())
    cut_off();
}

/// Beside what the fragments of calls hold.
std::uint64_t stream_consumer_state::said() const {
  return message.said() + cut_names;
}

/// With what calls add to it, which the parser knows.
bool stream_consumer_state::is_too_long() const {
  const auto limit = spec->agent.max_turn_bytes;
  return limit != 0 &&
         (said() > limit || decoder->kept() / kept_for_a_byte > limit);
}

/// What came counts as a turn that ended for its length; the rest of the body
/// is for nobody.
void stream_consumer_state::cut_off() {
  message.cut_off();
  finish({});
  self->quit();
}

void stream_consumer_state::on(model_end& x) {
  transfer = 0;
  turn_delta delta;
  if (!over && !x.end.failure) decoder->end(delta);
  // Whatever the server calls it: of a stream something comes before its end.
  const bool whole =
      x.end.content_type == "application/json" ||
      (!answered && (!delta.pieces.empty() || !delta.fragments.empty()));
  if (spec->request.streaming && whole && !x.end.failure)
    log_run(log_level::info, spec->run,
            "the model server did not stream, it sent one whole document");
  if (over) {
    self->quit();
    return;
  }
  retry_after = x.end.retry_after;
  pass_on(delta, 0, true);
  if (x.end.failure)
    delta.failure = model::advised(std::move(*x.end.failure), x.end.http_status,
                                   spec->advice);
  finish(std::move(delta.failure));
}

void stream_consumer_state::on(const model_held& x) {
  if (over) return;
  run_entry entry;
  entry.events.emplace_back(
      events::status{x.sent ? std::string{core::waiting_for_model}
                            : core::held_notice(x.next)});
  self->send(muxer, std::move(entry));
}

void stream_consumer_state::on(broken_turn& x) {
  if (over) return;
  if (x.why)
    finish(std::move(x.why));
  else
    cut_off();
}

void stream_consumer_state::on(stop_asking&) {
  if (over)
    self->quit();
  else
    finish(error{errc::cancelled, "stream_consumer", "the turn was stopped"});
}

/// `bytes`: credit that comes back when what they brought is committed.
/// `whole`: no more text follows, as it came at the end of the body.
void stream_consumer_state::pass_on(turn_delta& delta, std::size_t bytes,
                                    bool whole) {
  repetitions.apply(delta.pieces);
  message.add(delta);
  cut_names += core::shorten_names(delta);
  const bool brings = !delta.pieces.empty() || !delta.fragments.empty();
  const bool first = !answered && (brings || delta.usage.has_value());
  answered = answered || first;
  if (first || brings) meter_chunk();
  if (!delta.fragments.empty()) {
    call_fragments more{std::move(delta.fragments), said()};
    if (delta.pieces.empty() && bytes > 0) {
      more.bytes = std::exchange(bytes, 0);
      more.consumer = caf::actor_cast<caf::strong_actor_ptr>(self);
    }
    self->send(parser, std::move(more));
  }
  if (!delta.pieces.empty()) {
    shown = !spec->agent.silent;
    self->send(muxer,
               turn_text{turn.step, std::move(delta.pieces), bytes,
                         caf::actor_cast<caf::strong_actor_ptr>(self), whole});
  } else if (bytes > 0 && transfer != 0) {
    spec->transport->grant(transfer, bytes);
  }
}

void stream_consumer_state::finish(std::optional<error> failure) {
  over = true;
  const bool ended_well = !failure;
  core::turn_summary summary;
  summary.text = message.text();
  summary.reasoning = message.reasoning();
  summary.state = message.state();
  if (!summary.reasoning.empty() && log_enabled(log_level::debug))
    log_run(log_level::debug, spec->run, "reasoning: " + summary.reasoning);
  summary.finish = message.finish();
  summary.usage = message.usage();
  // Whoever said it: transport, server, or an error inside an answer.
  if (failure) summary.failure = redact(std::move(*failure));
  summary.retry_after = retry_after;
  summary.shown = shown;
  summary.answered = answered;
  const auto& price = spec->model.price;
  if (const auto cost = core::cost_of(
          {price.input, price.output, price.cached_input}, summary.usage))
    summary.usage.cost_usd = cost;
  meter_end(summary);
  self->send(parser, turn_over{std::move(summary)});
  // The body's own end follows the end mark at once; with it the connection
  // stays for the next request.
  if (ended_well && transfer != 0)
    self->delayed_send(self, body_end_timeout, stop_asking{});
  else
    self->quit();
}

namespace {

/// OpenTelemetry's name of it, or what it speaks.
std::string_view provider_of(const run_spec& spec) {
  return spec.model.provider.empty() ? spec.model.dialect : spec.model.provider;
}

}  // namespace

/// The first one, or the time since the one before. What one read brings is
/// one: the rest of it was there already.
void stream_consumer_state::meter_chunk() {
  if (!spec->request.streaming || !metrics_are_read()) return;
  const auto now = self->clock().now();
  const auto since = std::exchange(last_chunk, now);
  measure(since ? metric::chat_next_chunk : metric::chat_first_chunk,
          std::chrono::duration<double>(now - since.value_or(opened)).count(),
          {{metric_key::operation, "chat"},
           {metric_key::provider, provider_of(*spec)},
           {metric_key::request_model, spec->model.model},
           {metric_key::server_address, asked.host},
           {metric_key::server_port, asked.port}});
}

void stream_consumer_state::meter_end(const core::turn_summary& x) {
  if (!metrics_are_read()) return;
  const auto provider = provider_of(*spec);
  const std::string_view model = spec->model.model;
  measure(
      metric::chat_duration,
      std::chrono::duration<double>(self->clock().now() - opened).count(),
      {{metric_key::operation, "chat"},
       {metric_key::provider, provider},
       {metric_key::request_model, model},
       {metric_key::server_address, asked.host},
       {metric_key::server_port, asked.port},
       {metric_key::error_type, x.failure ? to_string(x.failure->code) : ""}});
  const auto tokens = [&](std::uint64_t n, std::string_view type) {
    measure(metric::chat_tokens, static_cast<double>(n),
            {{metric_key::operation, "chat"},
             {metric_key::provider, provider},
             {metric_key::request_model, model},
             {metric_key::server_address, asked.host},
             {metric_key::server_port, asked.port},
             {metric_key::token_type, type}});
  };
  tokens(x.usage.input_tokens, "input");
  tokens(x.usage.output_tokens, "output");
}

stream_consumer_actor::behavior_type stream_consumer(
    stream_consumer_actor::stateful_pointer<stream_consumer_state> self,
    run_spec_ptr spec, core::open_turn turn, std::string body,
    tool_call_parser_actor parser, progress_muxer_actor muxer) {
  log_exceptions(self);
  auto& st = self->state;
  st.begin(std::move(spec), turn, std::move(body), std::move(parser),
           std::move(muxer));
  return {
      handle<model_bytes>(self, "stream_consumer.model_bytes"),
      handle<model_end>(self, "stream_consumer.model_end"),
      handle<model_held>(self, "stream_consumer.model_held"),
      handle<credit>(self, "stream_consumer.credit"),
      handle<stop_asking>(self, "stream_consumer.stop_asking"),
      handle<broken_turn>(self, "stream_consumer.broken_turn"),
  };
}

}  // namespace riffle
