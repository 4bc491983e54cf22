// SPDX-License-Identifier: MIT
// The first words with a server, its list of tools, and its news of that.
#include <algorithm>
#include <chrono>
#include <utility>

#include "runtime/base/log.hpp"
#include "runtime/base/secrets.hpp"
#include "tools/mcp/server.hpp"
#include "tools/mcp/server_words.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::steady_clock;

/// Of the time to start, what the question for the newer era may take.
constexpr int share_of_probe = 2;
constexpr auto longest_for_templates = std::chrono::seconds{2};
/// Between two subscriptions.
constexpr auto least_pause = std::chrono::seconds{1};
constexpr auto longest_pause = std::chrono::seconds{30};

}  // namespace

/// What a server says is read with care; if that was not enough, it costs the
/// connection.
expected<listing> server::begin_safely(link& to, const std::stop_token& stop) {
  try {
    return begin(to, stop);
  } catch (const std::exception& e) {
    return failure_of_server(
        errc::tool_unavailable,
        std::string{"what it says cannot be read: "} + e.what());
  }
}

expected<listing> server::begin(link& to, const std::stop_token& stop) {
  request x;
  x.stop = stop;
  x.until = steady_clock::now() + options_.startup_timeout;
  auto about = introduce(to, x);
  if (!about) return unexpected{std::move(about.error())};
  to.set_version(about->version);
  if (about->speaks == era::legacy)
    to.notify("notifications/initialized", json{});
  {
    const std::lock_guard lock{mutex_};
    era_ = about->speaks;
  }
  auto tools = list_tools(to, *about, x);
  if (!tools) return unexpected{std::move(tools.error())};
  auto templates = list_templates(to, *about, x);
  return listing{*std::move(about), *std::move(tools), std::move(templates)};
}

expected<introduction> server::introduce(link& to, request x) {
  std::unique_lock lock{mutex_};
  const auto known = era_;
  lock.unlock();
  const auto until = x.until;
  if (known != era::legacy) {
    const auto now = steady_clock::now();
    x.method = "server/discover";
    x.params = with_meta({}, options_.me, modern_version);
    if (!known) x.until = now + (until - now) / share_of_probe;
    auto said = to.ask(x);
    if (const auto* gone = std::get_if<lost>(&said)) {
      lock.lock();
      nobody_ = gone->nobody;
      // It may have died of the question.
      if (!known && !gone->needs_person && !nobody_) era_ = era::legacy;
      lock.unlock();
    }
    if (std::holds_alternative<lost>(said) || needs_person(said))
      return failure_of_start(said);
    const auto* silent = std::get_if<given_up>(&said);
    if (silent != nullptr && (known || !silent->late))
      return failure_of_server(errc::tool_unavailable, why_of(said));
    if (silent == nullptr) {
      const auto as_answer = std::holds_alternative<json>(said)
                                 ? answer{std::get<json>(std::move(said))}
                                 : answer{std::get<rpc_error>(std::move(said))};
      if (auto judged = judge_discovery(as_answer)) return *std::move(judged);
    }
  }
  x.method = "initialize";
  x.params = initialize_params(options_.me);
  x.until = until;
  auto said = to.ask(x);
  if (std::holds_alternative<given_up>(said))
    return failure_of_server(errc::tool_unavailable,
                             "it did not answer within startup_timeout");
  if (auto* result = std::get_if<json>(&said))
    return judge_initialize(answer{std::move(*result)});
  if (const auto* gone = std::get_if<lost>(&said)) {
    lock.lock();
    nobody_ = gone->nobody;
    lock.unlock();
  }
  // It may speak the newer era by now: it is asked at the next start.
  if (std::holds_alternative<rpc_error>(said) && known == era::legacy) {
    lock.lock();
    era_.reset();
  }
  return failure_of_start(said);
}

expected<std::vector<tool_def>> server::list_safely(link& to,
                                                    const introduction& about,
                                                    const request& like) {
  try {
    return list_tools(to, about, like);
  } catch (const std::exception& e) {
    return failure_of_server(
        errc::tool_unavailable,
        std::string{"its list cannot be read: "} + e.what());
  }
}

expected<std::vector<tool_def>> server::list_tools(link& to,
                                                   const introduction& about,
                                                   const request& like) {
  if (!about.has_tools) return std::vector<tool_def>{};
  page_reader pages{"tools"};
  std::optional<std::string> cursor;
  do {
    auto x = like;
    x.method = "tools/list";
    x.params = json::object();
    if (cursor) x.params["cursor"] = *cursor;
    x.params = with_meta(std::move(x.params), options_.me, about.version);
    const auto said = to.ask(x);
    const auto* page = std::get_if<json>(&said);
    if (page == nullptr)
      return failure_of_server(errc::tool_unavailable,
                               "its tools cannot be listed: " + why_of(said));
    auto next = pages.on_page(*page);
    if (!next) return unexpected{std::move(next.error())};
    cursor = *std::move(next);
  } while (cursor);
  std::vector<std::string> problems;
  auto out = read_tools(pages.items(), problems);
  for (const auto& x : problems)
    log_warn("mcp." + options_.name, "a tool is left out: " + redact(x));
  return out;
}

/// How URIs of resources look that no list has. Who knows no such question has
/// none; who does not answer it is not waited for.
std::vector<std::string> server::list_templates(link& to,
                                                const introduction& about,
                                                const request& like) {
  if (!about.has_resources) return {};
  auto x = like;
  x.method = "resources/templates/list";
  x.params = with_meta({}, options_.me, about.version);
  x.until = std::min<time_point>(x.until,
                                 steady_clock::now() + longest_for_templates);
  const auto said = to.ask(x);
  const auto* page = std::get_if<json>(&said);
  return page == nullptr ? std::vector<std::string>{} : read_templates(*page);
}

// -- news ---------------------------------------------------------------------

/// Whoever listens is told when the list of tools changes (2026-07-28). A
/// subscription that ended is asked for again; what changed meanwhile is read
/// when it stands (see `events_of`).
void server::listen(link& to, const std::stop_token& stop) {
  duration wait = least_pause;
  for (;;) {
    request x;
    x.method = "subscriptions/listen";
    x.params["notifications"] = {{"toolsListChanged", true}};
    x.params = with_meta(std::move(x.params), options_.me, modern_version);
    x.stop = stop;
    const auto began = steady_clock::now();
    const auto said = to.ask(x);
    if (stop.stop_requested()) return;
    if (std::holds_alternative<rpc_error>(said))
      return log_info(
          "mcp." + options_.name,
          "it does not tell when its tools change: " + redact(why_of(said)));
    if (steady_clock::now() - began > longest_pause) wait = least_pause;
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, stop, wait, [&] { return stop.stop_requested(); });
    if (stop.stop_requested()) return;
    wait = std::min<duration>(wait * 2, longest_pause);
  }
}

expected<void> server::list_anew() {
  const auto items = list("tools/list", "tools");
  if (!items) return unexpected{items.error()};
  std::vector<std::string> problems;
  std::vector<tool_def> tools;
  try {
    tools = read_tools(*items, problems);
  } catch (const std::exception& e) {
    return failure_of_server(
        errc::tool_unavailable,
        std::string{"its list cannot be read: "} + e.what());
  }
  std::unique_lock lock{mutex_};
  if (!listing_) return unexpected{unavailable()};
  auto has = *listing_;
  has.tools = std::move(tools);
  keep(lock, std::move(has));
  return {};
}

}  // namespace riffle::mcp
