// SPDX-License-Identifier: MIT
#include "messages/event_check.hpp"

#include <array>
#include <istream>
#include <utility>

#include "messages/event_line.hpp"

namespace riffle {

namespace {

/// No event is that long: what follows is not read.
constexpr std::size_t longest_line = std::size_t{64} << 20;

/// As std::getline, but a line that is too long ends where it becomes so.
bool next_line(std::istream& log, std::string& line) {
  std::array<char, 16384> piece;
  line.clear();
  while (line.size() <= longest_line) {
    log.getline(piece.data(), piece.size());
    const auto count = static_cast<std::size_t>(log.gcount());
    if (log.bad()) return false;
    const bool is_full = log.fail() && !log.eof();
    const bool has_end = !log.fail() && !log.eof();
    line.append(piece.data(), has_end ? count - 1 : count);
    if (has_end) return true;
    if (!is_full) return !line.empty();  // the end of the file
    log.clear(log.rdstate() & ~std::ios::failbit);
  }
  return true;
}

}  // namespace

std::string render(const violation& x) {
  std::string result = "line " + std::to_string(x.line);
  if (x.seq != 0) result += ", seq " + std::to_string(x.seq);
  return result + ": promise " + std::to_string(x.promise) + ": " + x.text;
}

event_checker::event_checker(event_check_options options) : options_{options} {}

std::optional<violation> event_checker::on_line(std::string_view line) {
  const auto x =
      line.size() <= longest_line
          ? parse_line(line)
          : expected<event>{unexpected{error{
                errc::invalid_request, "event",
                "the line is longer than 64 MiB; what follows is not read"}}};
  if (x) {
    return on_event(*x);
  } else {
    ++line_;
    if (newest_ != nullptr)
      newest_->skip_one();
    else
      ++lost_;
    return violation{line_, 0, 1, "not an event: " + x.error().message};
  }
}

std::optional<violation> event_checker::on_event(const event& x) {
  ++line_;
  ++events_;
  if (auto found = check(x))
    return violation{line_, x.seq, found->promise, std::move(found->text)};
  return {};
}

run_checker::finding event_checker::check(const event& x) {
  newest_ = &checker_of(x);
  auto found = newest_->on_event(x);
  auto reused = check_id(x);
  if (!found && std::holds_alternative<events::plan_finished>(x.body))
    found = check_steps(*newest_);
  return found ? found : reused;
}

/// A log begins with the start of a run or plan that is new. What else names
/// an unknown run is a fault of the log before, unless that has ended.
run_checker& event_checker::checker_of(const event& x) {
  if (const auto i = by_id_.find(x.run.value); i != by_id_.end())
    return *i->second;
  const bool starts = std::holds_alternative<events::run_started>(x.body) ||
                      std::holds_alternative<events::plan_started>(x.body);
  if (newest_ != nullptr && !newest_->finished() && !starts) return *newest_;
  auto& made = runs_.emplace_back();
  by_id_.emplace(x.run.value, &made);
  for (; lost_ > 0; --lost_) made.skip_one();
  return made;
}

run_checker::finding event_checker::check_id(const event& x) {
  const auto* call = std::get_if<events::tool_call>(&x.body);
  if (!call) return {};
  const auto [known, is_new] = calls_.emplace(call->id.value, newest_);
  if (is_new || known->second == newest_) return {};
  return broken_promise{
      2, "call " + call->id.value + " has the id of a call of another run"};
}

/// The runs of a plan's steps begin and end within it.
run_checker::finding event_checker::check_steps(const run_checker& plan) const {
  bool after = false;
  for (const auto& run : runs_) {
    if (after && !run.finished())
      return broken_promise{4, "plan " + plan.run().value +
                                   " ends before run " + run.run().value};
    after = after || &run == &plan;
  }
  return {};
}

std::vector<violation> event_checker::finish() const {
  if (options_.allow_unfinished) return {};
  if (runs_.empty()) return {{line_, 0, 4, "the log has no event"}};
  std::vector<violation> found;
  for (const auto& run : runs_)
    if (!run.finished())
      found.push_back({line_, run.last_seq(), 4,
                       "the log ends before " +
                           std::string{run.is_plan() ? "plan" : "run"} +
                           "_finished of " + run.run().value});
  return found;
}

check_report check_events(std::istream& log, event_check_options options) {
  check_report report;
  const auto keep = [&](std::optional<violation> x) {
    if (!x) return;
    ++report.broken;
    if (report.violations.size() < check_report::max_violations)
      report.violations.push_back(std::move(*x));
  };
  event_checker checker{options};
  for (std::string line; next_line(log, line);) {
    keep(checker.on_line(line));
    if (line.size() > longest_line) break;
  }
  for (auto& x : checker.finish()) keep(std::move(x));
  report.runs = checker.runs();
  report.events = checker.events();
  return report;
}

}  // namespace riffle
