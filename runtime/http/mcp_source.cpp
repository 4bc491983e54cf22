// SPDX-License-Identifier: MIT
#include "runtime/http/mcp_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/http/sse.hpp"
#include "runtime/service/run_end.hpp"
#include "tools/mcp/run_task.hpp"

namespace riffle::http {

namespace {

/// Takes one line off the front.
std::string_view next_line(std::string_view& lines) {
  const auto line = lines.substr(0, lines.find('\n'));
  lines.remove_prefix(std::min(line.size() + 1, lines.size()));
  return line;
}

/// Whether the last line is that of the end.
bool has_end(std::string_view lines) {
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  const auto* found = ::memrchr(lines.data(), '\n', lines.size());
  if (found != nullptr)
    lines.remove_prefix(static_cast<std::size_t>(
        static_cast<const char*>(found) + 1 - lines.data()));
  const auto type = event_type_of(lines);
  return type == "run_finished" || type == "plan_finished";
}

mcp::json result_of(const service::run_end& x, const mcp_call& of,
                    std::uint32_t denied) {
  const auto status = x.finished.status;
  const bool good = status == events::run_status::completed;
  mcp::task_end end;
  end.status = good                                      ? "completed"
               : status == events::run_status::cancelled ? "cancelled"
                                                         : "failed";
  end.answer = good || !x.finished.err ? x.answer : x.finished.err->message;
  end.run = of.run.value;
  end.session = of.session.value;
  end.steps = x.finished.steps;
  end.tool_calls = x.finished.tool_calls;
  end.denied = denied;
  return mcp::task_result(end);
}

}  // namespace

mcp_source::~mcp_source() {
  if (!done_ && what_.on_gone) what_.on_gone();
}

void mcp_source::begin(std::function<void()> wake) {
  wake_ = wake;
  lines_->begin(std::move(wake));
}

std::string_view mcp_source::heartbeat() const {
  return what_.streams ? sse_heartbeat : std::string_view{};
}

std::shared_ptr<const std::string> mcp_source::next() {
  if (waits_) return nullptr;
  auto out = std::exchange(ready_, {});
  while (!done_ && !waits_ && out.empty()) {
    const auto piece = lines_->next();
    if (piece)
      take(piece, out);
    else if (lines_->ended())
      finish(refusal("what came of the run " + what_.run.value +
                     " cannot be read"),
             out);
    else
      break;
  }
  if (out.empty()) return nullptr;
  return std::make_shared<const std::string>(std::move(out));
}

/// What a program writes that writes much is long to read, and so is an end
/// with all of it: other requests do not wait for that.
void mcp_source::take(const std::shared_ptr<const std::string>& piece,
                      std::string& out) {
  constexpr std::size_t short_piece = 4u << 10;
  const bool last = has_end(*piece);
  if (!last && !what_.streams) {
    count_denied(*piece);
    before_ = piece;
    return;
  }
  const auto size = piece->size() + (last && before_ ? before_->size() : 0);
  if (size <= short_piece || !what_.aside) {
    read(*piece, last, out);
    before_ = piece;
    if (last) on_end(out);
    return;
  }
  waits_ = true;
  const auto me = shared_from_this();
  what_.aside([me, piece, last] { me->read(*piece, last, me->ready_); },
              [me, piece, last] {
                me->waits_ = false;
                me->before_ = piece;
                if (last) me->on_end(me->ready_);
                if (me->wake_) me->wake_();
              });
}

void mcp_source::read(std::string_view lines, bool last, std::string& out) {
  count_denied(lines);
  if (what_.streams) tell(lines, out);
  if (!last) return;
  auto all = before_ ? *before_ : std::string{};
  end_ = service::read_end(all.append(lines));
}

void mcp_source::on_end(std::string& out) {
  if (*end_)
    end_with(**end_, out);
  else
    finish(refusal(end_->error().message), out);
}

/// For the result; most lines need no closer look.
void mcp_source::count_denied(std::string_view lines) {
  if (lines.find("\"denied\"") == lines.npos) return;
  while (!lines.empty()) {
    const auto line = next_line(lines);
    if (mcp::is_denial(event_type_of(line), line)) ++denied_;
  }
}

/// The news of these lines.
void mcp_source::tell(std::string_view lines, std::string& out) {
  while (!lines.empty()) {
    const auto line = next_line(lines);
    const auto message = mcp::task_news(event_type_of(line), line);
    if (message.empty()) continue;
    mcp::serving_effects told;
    what_.core.on_progress(what_.key, ++count_, message, told);
    write(told, out);
  }
}

mcp::json mcp_source::refusal(const std::string& why) const {
  return what_.single ? mcp::call_result({false, service::without_step(why)})
                      : mcp::task_refusal(why);
}

/// What a tool alone gave is on record, with its files.
void mcp_source::end_with(const service::run_end& x, std::string& out) {
  if (!what_.single) return finish(result_of(x, what_, denied_), out);
  service::single_call_end end{
      what_.run, x.finished.status == events::run_status::completed, x.answer,
      x.finished.err ? x.finished.err->message : "it failed"};
  if (!what_.read_told) return finish(refusal(end.why), out);
  waits_ = true;
  what_.read_told(std::move(end),
                  [me = weak_from_this()](const mcp::call_end& told) {
                    const auto it = me.lock();
                    if (!it) return;
                    it->waits_ = false;
                    it->finish(mcp::call_result(told), it->ready_);
                    it->wake_();
                  });
}

void mcp_source::finish(mcp::json result, std::string& out) {
  done_ = true;
  mcp::serving_effects told;
  what_.core.on_done(what_.key, std::move(result), told);
  write(told, out);
}

void mcp_source::write(const mcp::serving_effects& all,
                       std::string& out) const {
  for (const auto& x : all)
    if (const auto* text = std::get_if<mcp::send_text>(&x))
      out += what_.streams ? "data: " + text->text + "\n\n" : text->text;
}

}  // namespace riffle::http
