// SPDX-License-Identifier: MIT
#include "runtime/service/run_end.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "messages/event_line.hpp"

namespace riffle::service {

namespace {

constexpr std::size_t page_bytes = 256u << 10;

/// Looks at every batch, so by `memrchr`: `rfind` goes byte by byte.
std::string_view last_line(std::string_view lines) {
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  const auto* before = ::memrchr(lines.data(), '\n', lines.size());
  if (before == nullptr) return lines;
  return lines.substr(static_cast<std::size_t>(
      static_cast<const char*>(before) + 1 - lines.data()));
}

bool has_type(std::string_view line, std::string_view type) {
  constexpr std::string_view key = R"("event_type":")";
  const auto at = line.find(key);
  if (at == std::string_view::npos) return false;
  line.remove_prefix(at + key.size());
  return line.starts_with(type) && line.substr(type.size()).starts_with('"');
}

bool is_end(std::string_view line) {
  return has_type(line, "run_finished") || has_type(line, "plan_finished");
}

/// The last event's number, found in steps that grow and shrink.
expected<std::uint64_t> last_seq(storage::event_log& log, const run_id& run) {
  constexpr std::uint64_t first_step = 1024;
  std::uint64_t last = 0;
  for (std::uint64_t step = 0, next = first_step;;) {
    const auto page = log.read_events(run, last + step, 1);
    if (!page) return unexpected{page.error()};
    if (!page->blocks.empty()) {
      last = page->blocks.back().last_seq;
      step = std::exchange(next, next * 2);
    } else if (step == 0) {
      return last;
    } else {
      step /= 2;
      next = step;
    }
  }
}

}  // namespace

bool is_last(const storage::event_block& block) {
  return is_end(last_line(*block.lines));
}

expected<std::optional<run_end>> read_end(storage::event_log& log,
                                          const run_id& run) {
  const auto last = last_seq(log, run);
  if (!last) return unexpected{last.error()};
  if (*last == 0) return std::nullopt;
  // The answer and the end, also where a block ends between them.
  std::string lines;
  for (auto after = *last - std::min<std::uint64_t>(*last, 2); after < *last;) {
    const auto page = log.read_events(run, after, page_bytes);
    if (!page) return unexpected{page.error()};
    if (page->blocks.empty()) break;
    for (const auto& block : page->blocks) lines += *block.lines;
    after = page->blocks.back().last_seq;
  }
  if (!is_end(last_line(lines))) return std::nullopt;
  return read_end(lines);
}

expected<run_end> read_end(std::string_view lines) {
  run_end out;
  const auto last = last_line(lines);
  auto end = parse_line(last);
  if (!end) return unexpected{std::move(end.error())};
  if (auto* plan = std::get_if<events::plan_finished>(&end->body)) {
    out.finished.status = plan->status;
    out.finished.err = std::move(plan->err);
    out.finished.duration_ms = plan->duration_ms;
    out.answer = std::move(plan->answer).value_or("");
    return out;
  }
  out.finished = std::get<events::run_finished>(std::move(end->body));
  const auto before = last_line(
      lines.substr(0, static_cast<std::size_t>(last.data() - lines.data())));
  // Whether another run may help stands in the event before the end.
  if (out.finished.err && has_type(before, "error"))
    if (const auto failed = parse_line(before))
      if (const auto* why = std::get_if<events::failure>(&failed->body))
        out.finished.err->retryable = why->err.retryable;
  if (!has_type(before, "final_answer")) return out;
  if (auto answer = parse_line(before)) {
    auto& said = std::get<events::final_answer>(answer->body);
    out.answer = std::move(said.content);
    out.truncated = said.truncated;
  }
  return out;
}

run_end_reader::run_end_reader(run_id run,
                               std::shared_ptr<storage::event_log> log,
                               std::shared_ptr<executor> where,
                               attach_function attach, end_function done)
    : run_{std::move(run)},
      log_{std::move(log)},
      where_{std::move(where)},
      attach_{std::move(attach)},
      done_{std::move(done)} {}

bool run_end_reader::offer(const storage::event_block& block) {
  take(block);
  return true;
}

void run_end_reader::take(const storage::event_block& block) {
  position_ = block.last_seq;
  if (is_last(block)) finish(read_end(*block.lines));
}

void run_end_reader::behind() {
  where_->submit([me = shared_from_this()] { me->pull(); });
}

void run_end_reader::closed(const std::optional<error>& why) {
  if (why) return finish(unexpected{*why});
  gone_ = true;  // it ended while this reader was behind, or is through
  const std::lock_guard lock{mutex_};
  if (done_) behind();
}

void run_end_reader::pull() {
  const std::lock_guard one{pulling_};
  const bool gone = gone_;  // before the last page is read
  for (;;) {
    auto page = log_->read_events(run_, position_, page_bytes);
    if (!page) return finish(unexpected{std::move(page.error())});
    for (const auto& block : page->blocks) take(block);
    if (page->end || page->blocks.empty()) break;
  }
  {
    const std::lock_guard lock{mutex_};
    if (!done_) return;
  }
  if (gone)
    return finish(
        unexpected{error{errc::interrupted, "run",
                         "the run is not active and its log has no end"}});
  attach_(shared_from_this());
}

void run_end_reader::finish(expected<run_end> how) {
  end_function done;
  {
    const std::lock_guard lock{mutex_};
    done = std::exchange(done_, nullptr);
  }
  if (done) done(std::move(how));
}

}  // namespace riffle::service
