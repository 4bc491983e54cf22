// SPDX-License-Identifier: MIT
// HTTP+SSE, as versions up to 2024-11-05 have it.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <curl/curl.h>

#include "messages/json_strict.hpp"
#include "runtime/base/secrets.hpp"
#include "runtime/base/text.hpp"
#include "tools/mcp/http_answers.hpp"
#include "tools/mcp/http_link.hpp"
#include "tools/mcp/reply_sender.hpp"
#include "tools/mcp/waiting_requests.hpp"

namespace riffle::mcp {

namespace {

using std::chrono::steady_clock;

constexpr auto post_limit = std::chrono::seconds{30};
constexpr std::size_t longest_place = 8192;
constexpr int bad_request = 400;

unexpected failure(std::string message) {
  return unexpected{error{.code = errc::tool_unavailable,
                          .op = "mcp",
                          .message = std::move(message)}};
}

struct curl_text_free {
  void operator()(char* x) const { curl_free(x); }
};
struct url_free {
  void operator()(CURLU* x) const { curl_url_cleanup(x); }
};
using url_handle = std::unique_ptr<CURLU, url_free>;

std::string part_of(const url_handle& x, CURLUPart which) {
  char* text = nullptr;
  const auto code = curl_url_get(x.get(), which, &text, CURLU_DEFAULT_PORT);
  const std::unique_ptr<char, curl_text_free> kept{text};
  return code == CURLUE_OK && text != nullptr ? text : "";
}

/// Where it is, seen from `base`. A place elsewhere would get what is said to
/// this server, and its token.
expected<std::string> resolve(const std::string& base,
                              const std::string& place) {
  const url_handle from{curl_url()};
  const url_handle to{curl_url()};
  const auto set = [](const url_handle& x, const std::string& text) {
    return x &&
           curl_url_set(x.get(), CURLUPART_URL, text.c_str(), 0) == CURLUE_OK;
  };
  const bool good = place.size() <= longest_place && set(from, base) &&
                    set(to, base) && set(to, place);
  if (!good)
    return failure("the endpoint that it names is no URL: " +
                   with_dots(place, 200));
  for (const auto part : {CURLUPART_SCHEME, CURLUPART_HOST, CURLUPART_PORT})
    if (lower(part_of(from, part)) != lower(part_of(to, part)))
      return failure(
          "the endpoint that it names is at another host, port or "
          "scheme: " +
          with_dots(part_of(to, CURLUPART_HOST), 200));
  if (!part_of(to, CURLUPART_USER).empty())
    return failure("the endpoint that it names holds a user");
  return part_of(to, CURLUPART_URL);
}

class sse_link final : public link {
 public:
  sse_link(http_link_options options, link_events events)
      : options_{std::move(options)},
        requests_{
            options_.name,
            [me = options_.me](const std::string& method, const json& params) {
              return respond(me, method, params);
            },
            [this](std::string text) { return send(std::move(text)); },
            gated(std::move(events))},
        reader_{[this] { follow(); }} {}

  ~sse_link() override { sse_link::close(); }

  /// Why there is no connection; nothing: there is.
  std::optional<std::string> wait(time_point until,
                                  const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    changed_.wait_until(lock, stop, until,
                        [&] { return !place_.empty() || ended_; });
    opened_ = !place_.empty();
    if (opened_) return {};
    if (ended_) return *ended_;
    return "its stream did not begin with the event \"endpoint\" in time";
  }

  reply ask(const request& x) override { return requests_.ask(x); }

  void notify(std::string_view method, const json& params) override {
    requests_.notify(method, params);
  }

  void set_version(std::string_view version) override {
    const std::lock_guard lock{mutex_};
    version_ = version;
  }

  void close() override {
    opened_ = false;
    stop_.request_stop();
    replies_.stop();
    requests_.on_closed({"it was closed"});
    const std::lock_guard lock{closing_};
    if (reader_.joinable()) reader_.join();
  }

 private:
  /// Before it was opened, and after it was closed, nothing is told.
  link_events gated(link_events x) {
    x.on_broken = [this,
                   told = std::move(x.on_broken)](const std::string& why) {
      if (opened_.exchange(false) && told) told(why);
    };
    return x;
  }

  std::vector<std::string> headers_of(const char* accept) const {
    auto out = options_.headers;
    out.push_back(std::string{"Accept: "} + accept);
    const std::lock_guard lock{mutex_};
    if (has_version_header(version_))
      out.push_back("MCP-Protocol-Version: " + version_);
    return out;
  }

  /// The stream, from its first event to its end.
  void follow() {
    reading_ = std::this_thread::get_id();
    exchange_request x;
    x.method = "GET";
    x.url = options_.url;
    x.headers = headers_of("text/event-stream");
    x.stop = stop_.get_token();
    x.connect_timeout = options_.connect_timeout;
    x.largest_message = options_.largest_message;
    std::optional<std::string> refused;
    x.on_event = [&](std::string_view type, std::string_view data) {
      if (type == "endpoint") refused = begin(std::string{data});
    };
    x.on_message = [&](std::string_view text) {
      requests_.on_text(text);
      return !refused;
    };
    x.on_time = [&] { return !refused; };
    const auto end = exchange_as(options_.who.get(), x);
    auto why = refused           ? *refused
               : end.status == 0 ? "it cannot be reached: " + end.problem
               : !end.stream     ? "for a stream of events " + status_text(end)
               : !end.problem.empty() ? end.problem
                                      : "its stream of events ended";
    {
      const std::lock_guard lock{mutex_};
      ended_ = why;
      changed_.notify_all();
    }
    requests_.on_closed({why});
  }

  /// What it names first counts. Why that cannot be used, or nothing.
  std::optional<std::string> begin(const std::string& place) {
    auto at = resolve(options_.url, place);
    if (!at) return redact(at.error().message);
    const std::lock_guard lock{mutex_};
    if (place_.empty()) place_ = *std::move(at);
    changed_.notify_all();
    return {};
  }

  /// What the reader sends are answers to requests of the server.
  bool send(std::string text) {
    if (std::this_thread::get_id() != reading_.load())
      return post(text, stop_.get_token());
    replies_.add(std::move(text));
    return true;
  }

  /// The answer comes over the stream; a refusal is one, too.
  bool post(const std::string& text, const std::stop_token& stop) {
    exchange_request x;
    {
      const std::lock_guard lock{mutex_};
      x.url = place_;
    }
    x.headers = headers_of("application/json, text/event-stream");
    x.headers.emplace_back("Content-Type: application/json");
    x.body = text;
    x.connect_timeout = options_.connect_timeout;
    x.stop = stop;
    x.until = steady_clock::now() + post_limit;
    const auto end = exchange_patiently(options_.who.get(), x);
    if (end.status == 0 && !end.stopped) {
      requests_.on_closed({end.late ? "it does not take what it is sent"
                                    : "it cannot be reached: " + end.problem,
                           false, end.nobody});
      return false;
    }
    if (end.status >= bad_request || end.status / 100 == 3) refuse(text, end);
    return end.status / 100 == 2;
  }

  void refuse(const std::string& text, const exchange_end& end) {
    const auto asked = parse_strict(text);
    if (!asked || !asked->contains("id") || !asked->contains("method")) return;
    const auto said = error_in(end.body);
    const bool out = !end.advice.empty();
    json error = {{"code", out    ? code::not_let_in
                           : said ? said->number
                                  : code::internal},
                  {"message", said && !out ? said->message : status_text(end)}};
    requests_.on_text(to_text({{"jsonrpc", "2.0"},
                               {"id", asked->at("id")},
                               {"error", std::move(error)}}));
  }

  const http_link_options options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::string place_;  ///< where all is posted
  std::string version_;
  std::optional<std::string> ended_;
  reply_sender replies_{
      [this](const std::string& text, const std::stop_token& stop) {
        post(text, stop);
      }};
  std::atomic<bool> opened_{false};
  std::atomic<std::thread::id> reading_{};
  std::stop_source stop_;
  waiting_requests requests_;
  std::mutex closing_;
  std::thread reader_;  ///< last: it uses all of it
};

}  // namespace

expected<link_ptr> open_sse(http_link_options options, link_events events,
                            time_point until, const std::stop_token& stop) {
  auto out = std::make_shared<sse_link>(std::move(options), std::move(events));
  if (auto why = out->wait(until, stop)) {
    out->close();
    return failure(*std::move(why));
  }
  return link_ptr{std::move(out)};
}

}  // namespace riffle::mcp
