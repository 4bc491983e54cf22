// SPDX-License-Identifier: MIT
#include "tools/process/worker_packets.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace riffle::tools {

namespace {

constexpr std::string_view kinds = "FIAVCSHPTMRX";

}  // namespace

std::string to_packet(packet_kind kind, std::string_view payload) {
  std::string out(1, static_cast<char>(kind));
  out.append(payload.substr(0, longest_payload));
  return out;
}

std::vector<std::string> in_pieces(packet_kind kind, std::string_view text) {
  std::vector<std::string> out;
  out.reserve(text.size() / longest_payload + 1);
  for (; !text.empty();
       text.remove_prefix(std::min(text.size(), longest_payload)))
    out.push_back(to_packet(kind, text));
  return out;
}

receive_state receive(int fd, bool wait, packet& out) {
  std::array<char, longest_payload + 1> bytes;
  for (;;) {
    const auto count = ::recv(fd, bytes.data(), bytes.size(),
                              MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return receive_state::nothing;
    if (count <= 0) return receive_state::closed;
    const auto size = static_cast<std::size_t>(count);
    if (size > bytes.size() || kinds.find(bytes[0]) == std::string_view::npos)
      return receive_state::garbage;
    out.kind = static_cast<packet_kind>(bytes[0]);
    out.payload.assign(bytes.data() + 1, size - 1);
    return receive_state::received;
  }
}

send_state send_packet(int fd, bool wait, std::string_view bytes) {
  for (;;) {
    const auto count = ::send(fd, bytes.data(), bytes.size(),
                              MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
    if (count >= 0) return send_state::sent;
    if (errno == EINTR) continue;
    return errno == EAGAIN ? send_state::full : send_state::closed;
  }
}

}  // namespace riffle::tools
