// SPDX-License-Identifier: MIT
#include "runtime/http/mcp_batch.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "runtime/http/mcp_message.hpp"
#include "runtime/http/sse.hpp"

namespace riffle::http {

namespace {

/// A list is one request for `server.limits.requests_per_second`.
constexpr std::size_t most_messages = 20;

/// The sources of several answers as one.
class joined_source final : public body_source {
 public:
  /// `texts`: of those that are whole.
  joined_source(std::vector<std::string> texts, std::vector<reply> parts,
                bool streams)
      : texts_{std::move(texts)}, parts_{std::move(parts)}, streams_{streams} {
    pieces_.resize(parts_.size());
  }

  void begin(std::function<void()> wake) override {
    for (auto& x : parts_) x.source->begin(wake);
  }

  std::shared_ptr<const std::string> next() override {
    auto out = streams_ ? next_event() : next_of_list();
    if (out.empty()) return nullptr;
    return std::make_shared<const std::string>(std::move(out));
  }

  [[nodiscard]] bool ended() const override {
    return streams_ ? texts_.empty() && all_ended() : told_;
  }

  [[nodiscard]] bool broken() const override {
    return std::ranges::any_of(
        parts_, [](const reply& x) { return x.source->broken(); });
  }

  [[nodiscard]] std::string_view heartbeat() const override {
    return streams_ ? sse_heartbeat : std::string_view{};
  }

 private:
  [[nodiscard]] bool all_ended() const {
    return std::ranges::all_of(
        parts_, [](const reply& x) { return x.source->ended(); });
  }

  std::string next_event() {
    std::string out;
    for (const auto& text : std::exchange(texts_, {}))
      out += "data: " + text + "\n\n";
    for (const auto& x : parts_)
      while (const auto piece = x.source->next()) out += *piece;
    return out;
  }

  std::string next_of_list() {
    for (std::size_t i = 0; i < parts_.size(); ++i)
      while (const auto piece = parts_[i].source->next()) pieces_[i] += *piece;
    if (told_ || !all_ended()) return {};
    told_ = true;
    std::string out;
    for (const auto* all : {&texts_, &pieces_})
      for (const auto& text : *all) out += (out.empty() ? "[" : ",") + text;
    return out + "]";
  }

  std::vector<std::string> texts_;
  const std::vector<reply> parts_;  ///< with their permits
  std::vector<std::string> pieces_;
  const bool streams_;
  bool told_ = false;
};

/// Nobody waits for an answer to it.
bool is_notification(const mcp::json& message) {
  return at(message, "method").is_string() && !message.contains("id");
}

/// What is no answer of the protocol (no room, no thread) as one.
void speak_protocol(reply& x, const mcp::json& message) {
  if (x.source || x.body.empty()) return;
  if (is_notification(message)) {
    x = {};
    x.status = 202;
    return;
  }
  const auto said = mcp::json::parse(x.body, nullptr, false);
  if (said.is_object() && said.contains("jsonrpc")) return;
  const auto why = at(said, "detail");
  x = rpc_refusal(
      200, {message, {}, {}}, mcp::code::internal,
      why.is_string() ? why.get<std::string>() : "it cannot be answered now");
}

/// Waits for the answers to all messages.
struct gathering {
  std::mutex mutex;
  std::vector<reply> all;
  std::size_t open = 0;
  bool streams = false;
  responder out;

  void take(std::size_t at, reply x) {
    {
      const std::lock_guard lock{mutex};
      all[at] = std::move(x);
      if (--open > 0) return;
    }
    out(joined(std::move(all), streams));
  }
};

}  // namespace

bool is_batch(const request& in, const mcp::json& body) {
  constexpr std::string_view first_without = "2025-06-18";
  const auto version = in.header("mcp-protocol-version");
  return body.is_array() && !body.empty() &&
         (version.empty() || version < first_without);
}

reply joined(std::vector<reply> all, bool streams) {
  reply out;
  std::vector<std::string> texts;
  std::vector<reply> later;
  for (auto& x : all) {
    if (x.source)
      later.push_back(std::move(x));
    else if (!x.body.empty())
      texts.push_back(std::move(x.body));
  }
  if (later.empty() && texts.empty()) {
    out.status = 202;
    return out;
  }
  if (later.empty()) {
    for (const auto& x : texts) out.body += (out.body.empty() ? "[" : ",") + x;
    out.body += "]";
    return out;
  }
  out.type = streams ? "text/event-stream" : "application/json";
  out.with("Cache-Control", "no-store").with("X-Accel-Buffering", "no");
  out.permit = later.front().permit;
  out.source = std::make_shared<joined_source>(std::move(texts),
                                               std::move(later), streams);
  return out;
}

void serve_batch(call c, const mcp::json& all,
                 const std::function<void(call)>& serve) {
  if (all.size() > most_messages)
    return c.out(rpc_refusal(400, {}, mcp::code::invalid_request,
                             "a batch of more than 20 messages"));
  const auto to = std::make_shared<gathering>();
  to->all.resize(all.size());
  to->open = all.size();
  to->streams = wants_stream(c.in);
  to->out = c.out;
  c.in.body.clear();  // each gets its own
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& message = all[i];
    auto one = c;
    one.in.body = mcp::to_text(message);
    one.out = [to, i, message](reply x) {
      speak_protocol(x, message);
      to->take(i, std::move(x));
    };
    if (at(message, "method") == "initialize")
      one.out(rpc_refusal(200, {message, {}, {}}, mcp::code::invalid_request,
                          "initialize comes alone, in no batch"));
    else
      serve(std::move(one));
  }
}

}  // namespace riffle::http
