// SPDX-License-Identifier: MIT
#include "tests/support/http_server.hpp"

namespace riffle::testing {

std::string_view http_request::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) {
      return value;
    }
  }
  return {};
}

http_reply http_reply::sse() {
  return http_reply{200, framing::chunked}.header("content-type",
                                                  "text/event-stream");
}

http_reply http_reply::text(std::string body, int code,
                            std::string content_type) {
  return http_reply{code}
      .header("content-type", std::move(content_type))
      .send(std::move(body));
}

http_reply http_reply::json(std::string body, int code) {
  return text(std::move(body), code, "application/json");
}

http_reply http_reply::garbage(std::string bytes) {
  return http_reply{0, framing::raw}.send(std::move(bytes)).cut();
}

http_reply& http_reply::header(std::string name, std::string value) & {
  headers.emplace_back(std::move(name), std::move(value));
  return *this;
}

http_reply& http_reply::send(std::string bytes) & {
  return repeat(std::move(bytes), 1);
}

http_reply& http_reply::repeat(std::string unit, std::size_t times) & {
  if (!unit.empty() && times > 0) {
    steps.emplace_back(send_step{std::move(unit), times});
  }
  return *this;
}

http_reply& http_reply::pause(std::chrono::milliseconds length) & {
  steps.emplace_back(pause_step{length});
  return *this;
}

http_reply& http_reply::trickle(std::string_view bytes,
                                std::chrono::milliseconds interval) & {
  for (char c : bytes) {
    pause(interval).send(std::string(1, c));
  }
  return *this;
}

http_reply& http_reply::stall(std::string gate) & {
  steps.emplace_back(stall_step{std::move(gate)});
  return *this;
}

http_reply& http_reply::cut() & {
  steps.emplace_back(close_step{false});
  return *this;
}

http_reply& http_reply::reset() & {
  steps.emplace_back(close_step{true});
  return *this;
}

http_reply& http_reply::announce(std::size_t content_length) & {
  announced = content_length;
  return *this;
}

http_reply& http_reply::pieces(std::size_t n) & {
  piece = n;
  return *this;
}

http_reply respond_sse(std::string_view text) {
  auto reply = http_reply::sse();
  while (!text.empty()) {
    auto end = text.find("\n\n");
    end = end == std::string_view::npos ? text.size() : end + 2;
    reply.send(std::string{text.substr(0, end)});
    text.remove_prefix(end);
  }
  return reply;
}

}  // namespace riffle::testing
