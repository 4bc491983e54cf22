// SPDX-License-Identifier: MIT
#include "runtime/http/event_sources.hpp"

#include <algorithm>
#include <chrono>
#include <fcntl.h>
#include <iterator>
#include <unistd.h>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/unique_fd.hpp"
#include "runtime/service/run_end.hpp"

namespace riffle::http {

namespace {

constexpr std::size_t page_bytes = 64u << 10;
constexpr std::size_t file_page_bytes = 256u << 10;

/// How often the log of a run of another process is looked at.
constexpr auto look_elsewhere = std::chrono::milliseconds{250};

std::shared_ptr<const std::string> shared(std::string x) {
  return std::make_shared<const std::string>(std::move(x));
}

/// Without the lines up to event `after`.
std::string_view behind(std::string_view lines, std::uint64_t first_seq,
                        std::uint64_t after) {
  for (auto seq = first_seq; seq <= after && !lines.empty(); ++seq)
    lines.remove_prefix(std::min(lines.find('\n') + 1, lines.size()));
  return lines;
}

/// Lines as elements of an array.
std::string to_elements(std::string_view lines, bool first) {
  std::string out;
  out.reserve(lines.size() + 64);
  while (!lines.empty()) {
    const auto end = lines.find('\n');
    out += std::exchange(first, false) ? "" : ",\n";
    out += lines.substr(0, end);
    if (end == std::string_view::npos) break;
    lines.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace

// -- a run ----------------------------------------------------------------

run_source::run_source(std::shared_ptr<event_hub> hub, run_id run,
                       std::uint64_t after, stream_request how)
    : hub_{std::move(hub)},
      run_{std::move(run)},
      how_{std::move(how)},
      place_{after},
      first_{how_.first} {}

run_source::~run_source() { leave_channel(); }

void run_source::begin(std::function<void()> wake) {
  wake_ = std::move(wake);
  pull();
}

std::string_view run_source::heartbeat() const {
  return how_.format == event_format::sse ? sse_heartbeat : std::string_view{};
}

void run_source::on_news() {
  if (wake_) wake_();
}

std::shared_ptr<const std::string> run_source::opening() {
  opened_ = true;
  if (!how_.opens) return nullptr;
  if (how_.format == event_format::sse)
    return shared(sse_opening(hub_->parts()->retry_ms));
  return how_.format == event_format::array ? shared("[") : nullptr;
}

std::shared_ptr<const std::string> run_source::next() {
  if (!opened_)
    if (auto x = opening()) return x;
  if (done_) return nullptr;
  if (!page_.empty()) return from_page();
  if (pulling_) return nullptr;
  if (channel_) return from_channel();
  if (page_is_last_) {
    at_end_of_journal();
    if (channel_) return from_channel();
    return done_ && how_.format == event_format::array && how_.opens
               ? shared("]\n")
               : nullptr;
  }
  pull();
  return nullptr;
}

std::shared_ptr<const std::string> run_source::from_page() {
  auto x = std::move(page_.front());
  page_.pop_front();
  return written(x);
}

std::shared_ptr<const std::string> run_source::from_channel() {
  if (const auto* x = channel_->find(place_)) {
    if (how_.format == event_format::sse) x->as_frames();  // for all who read
    return written(*x);
  }
  if (channel_->seen() > place_ || channel_->is_closed()) {
    const bool gone = channel_->is_closed() && channel_->seen() <= place_;
    leave_channel();
    pull();  // at once: it may have ended meanwhile
    elsewhere_ = gone;
  }
  return nullptr;
}

/// What is asked for of a block, and where that ends is the place now.
std::shared_ptr<const std::string> run_source::written(live_block x) {
  const bool whole = x.first_seq == place_ + 1;
  const auto lines = behind(*x.lines, x.first_seq, place_);
  const auto from = std::max(x.first_seq, place_ + 1);
  place_ = x.last_seq;
  elsewhere_ = false;
  if (x.last) finish();
  switch (how_.format) {
    case event_format::sse:
      if (whole && how_.id_prefix.empty()) return x.as_frames();
      return shared(to_sse(lines, from, how_.id_prefix));
    case event_format::ndjson:
      return whole ? x.lines : shared(std::string{lines});
    case event_format::array: break;
  }
  auto out = to_elements(lines, std::exchange(first_, false));
  if (done_ && how_.opens) out += "]\n";
  return shared(std::move(out));
}

void run_source::pull() {
  if (std::exchange(pulling_, true)) return;
  const auto parts = hub_->parts();
  auto read = [parts, run = run_, after = place_, me = weak_from_this()] {
    if (me.expired()) return;  // the client has gone meanwhile
    auto page = parts->journal->read_events(run, after, page_bytes);
    parts->post([me, page = std::move(page)] {
      if (const auto it = me.lock()) it->take(page);
    });
  };
  if (!elsewhere_) return parts->reads->submit(std::move(read));
  parts->clock->after(look_elsewhere, [parts, read = std::move(read)] {
    parts->reads->submit(read);
  });
}

void run_source::take(const expected<storage::event_page>& page) {
  pulling_ = false;
  if (!page) {
    log_warn("server", render(page.error()));
    broken_ = true;
    finish();
  } else {
    for (const auto& x : page->blocks)
      page_.push_back({x.first_seq, x.last_seq, x.lines, service::is_last(x)});
    page_is_last_ = page->end;
  }
  if (wake_) wake_();
}

void run_source::at_end_of_journal() {
  page_is_last_ = false;
  if (!how_.follows) return finish();
  if (elsewhere_) return pull();
  channel_ = hub_->join(run_, place_);
  channel_->add(this);
}

void run_source::leave_channel() {
  if (channel_) channel_->remove(this);
  channel_.reset();
}

void run_source::finish() {
  done_ = true;
  leave_channel();
}

// -- a session ------------------------------------------------------------

session_source::session_source(std::shared_ptr<event_hub> hub,
                               session_id session, session_place after,
                               event_format format, bool follows)
    : hub_{std::move(hub)},
      session_{std::move(session)},
      format_{format},
      follows_{follows},
      place_{after} {
  if (place_.ordinal == 0) place_ = {1, 0};
}

session_source::~session_source() {
  hub_->tail().remove_session(session_, this);
}

void session_source::begin(std::function<void()> wake) {
  wake_ = std::move(wake);
  if (follows_) hub_->tail().add_session(session_, this);
  look();
}

std::string_view session_source::heartbeat() const {
  return format_ == event_format::sse ? sse_heartbeat : std::string_view{};
}

void session_source::on_news() {
  again_ = looking_;
  if (!inner_) look();
}

std::shared_ptr<const std::string> session_source::next() {
  if (!std::exchange(opened_, true)) {
    if (format_ == event_format::sse)
      return shared(sse_opening(hub_->parts()->retry_ms));
    if (format_ == event_format::array) return shared("[");
  }
  if (done_ && format_ == event_format::array && !std::exchange(closed_, true))
    return shared("]\n");
  if (!inner_) return nullptr;
  if (auto x = inner_->next()) {
    empty_ = false;
    return x;
  }
  if (!inner_->ended()) return nullptr;
  broken_ = inner_->broken();
  done_ = broken_;
  inner_.reset();
  place_ = {place_.ordinal + 1, 0};
  if (!done_) look();
  return nullptr;
}

/// The run of the place; if there is none yet, whether the session still is.
void session_source::look() {
  if (done_ || std::exchange(looking_, true)) return;
  const auto parts = hub_->parts();
  parts->reads->submit([parts, session = session_, ordinal = place_.ordinal,
                        me = weak_from_this()] {
    if (me.expired()) return;  // the client has gone meanwhile
    storage::run_filter of;
    of.session = session;
    of.ordinal = 1;
    auto runs = parts->journal->list_runs(of);
    if (runs && !runs->empty() && ordinal > 1) {
      of.ordinal = ordinal;
      auto more = parts->journal->list_runs(of);
      if (more) std::ranges::move(*more, std::back_inserter(*runs));
      if (!more) runs = std::move(more);
    }
    parts->post([me, runs = std::move(runs)] {
      if (const auto it = me.lock()) it->take(runs);
    });
  });
}

/// The next run is waited for, unless the session was deleted.
void session_source::nothing_yet() {
  if (follows_ && std::exchange(again_, false)) return look();
  if (follows_) return;
  done_ = true;
  wake_();
}

void session_source::take(
    const expected<std::vector<storage::run_record>>& runs) {
  looking_ = false;
  if (!runs) log_warn("server", render(runs.error()));
  if (!runs || (runs->empty() && follows_)) {
    broken_ = done_ = true;  // it comes again, and is told what is wrong
    return wake_();
  }
  if (!runs->empty()) {
    const auto& first = runs->front().id;
    if (first_.empty()) first_ = first;
    // Deleted, and begun again by whoever it was.
    if (first != first_) {
      broken_ = done_ = true;
      return wake_();
    }
  }
  const auto at =
      std::ranges::find(*runs, place_.ordinal, &storage::run_record::ordinal);
  if (at == runs->end()) return nothing_yet();
  stream_request how;
  how.format = format_;
  how.id_prefix = std::to_string(place_.ordinal) + "-";
  how.follows = follows_;
  how.opens = false;
  how.first = empty_;
  inner_ = std::make_shared<run_source>(hub_, at->id, place_.seq, how);
  inner_->begin([me = weak_from_this()] {
    if (const auto it = me.lock(); it && it->wake_) it->wake_();
  });
  wake_();
}

// -- a file ---------------------------------------------------------------

void file_source::begin(std::function<void()> wake) {
  wake_ = std::move(wake);
  read();
}

std::shared_ptr<const std::string> file_source::next() {
  auto out = std::exchange(ready_, nullptr);
  if (out && left_ > 0) read();
  return out;
}

void file_source::read() {
  if (left_ == 0 || std::exchange(reading_, true)) return;
  const auto size = std::min<std::uint64_t>(left_, file_page_bytes);
  parts_->reads->submit([parts = parts_, file = file_, at = offset_, size,
                         me = weak_from_this()] {
    std::string bytes(size, '\0');
    const unique_fd in{
        ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)};
    const bool whole =
        in && ::pread(in.get(), bytes.data(), size, static_cast<off_t>(at)) ==
                  static_cast<ssize_t>(size);
    parts->post([me, bytes = shared(std::move(bytes)), whole] {
      const auto it = me.lock();
      if (!it) return;
      it->reading_ = false;
      it->broken_ = !whole;
      it->left_ = whole ? it->left_ - bytes->size() : 0;
      it->offset_ += bytes->size();
      if (whole) it->ready_ = bytes;
      it->wake_();
    });
  });
}

}  // namespace riffle::http
