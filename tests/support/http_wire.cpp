// SPDX-License-Identifier: MIT
#include "tests/support/http_wire.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>

namespace riffle::testing::wire {

namespace {

std::string lower(std::string_view text) {
  std::string out{text};
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return out;
}

std::string_view trim(std::string_view text) {
  auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view next_line(std::string_view& text) {
  auto end = text.find("\r\n");
  auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

std::size_t body_size(const http_reply& reply) {
  std::size_t sum = 0;
  for (const auto& step : reply.steps) {
    if (const auto* x = std::get_if<http_reply::send_step>(&step)) {
      sum += x->unit.size() * x->times;
    }
  }
  return sum;
}

}  // namespace

bool looks_like_http(std::string_view in) {
  return in.empty() || (in.front() >= 'A' && in.front() <= 'Z');
}

std::optional<http_request> take_request(std::string& in) {
  auto head_end = in.find("\r\n\r\n");
  if (head_end == std::string::npos) {
    return std::nullopt;
  }
  http_request out;
  auto head = std::string_view{in}.substr(0, head_end);
  auto start = next_line(head);
  auto space = start.find(' ');
  out.method = std::string{start.substr(0, space)};
  if (space != std::string_view::npos) {
    auto rest = start.substr(space + 1);
    out.target = std::string{rest.substr(0, rest.find(' '))};
  }
  while (!head.empty()) {
    auto line = next_line(head);
    auto colon = std::min(line.find(':'), line.size());
    out.headers.emplace_back(
        lower(line.substr(0, colon)),
        trim(line.substr(std::min(colon + 1, line.size()))));
  }
  auto length = std::strtoul(std::string{out.header("content-length")}.c_str(),
                             nullptr, 10);
  auto total = head_end + 4 + length;
  if (in.size() < total) {
    return std::nullopt;
  }
  out.body = in.substr(head_end + 4, length);
  in.erase(0, total);
  return out;
}

std::string head_of(const http_reply& reply) {
  using framing = http_reply::framing;
  if (reply.how == framing::raw) {
    return {};
  }
  auto out = "HTTP/1.1 " + std::to_string(reply.status) + " Scripted\r\n";
  for (const auto& [name, value] : reply.headers) {
    out.append(name).append(": ").append(value).append("\r\n");
  }
  if (reply.how == framing::length) {
    auto size = reply.announced == http_reply::npos ? body_size(reply)
                                                    : reply.announced;
    out += "content-length: " + std::to_string(size) + "\r\n";
  } else if (reply.how == framing::chunked) {
    out += "transfer-encoding: chunked\r\n";
  } else {
    out += "connection: close\r\n";
  }
  return out += "\r\n";
}

std::string framed(const http_reply& reply, std::string_view bytes) {
  if (reply.how != http_reply::framing::chunked) {
    return std::string{bytes};
  }
  std::array<char, 20> size{};
  std::snprintf(size.data(), size.size(), "%zx\r\n", bytes.size());
  return std::string{size.data()}.append(bytes).append("\r\n");
}

}  // namespace riffle::testing::wire
