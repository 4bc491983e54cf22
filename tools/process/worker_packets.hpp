// SPDX-License-Identifier: MIT
#pragma once

// What a runtime and a child process that runs one of its tools say to each
// other: packets over a SOCK_SEQPACKET pair, a kind and a payload, each sent
// and received whole.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace riffle::tools {

enum class packet_kind : char {
  // from the runtime
  configuration = 'F',  ///< a piece of it
  tool = 'I',           ///< the tool's name; ends the configuration
  arguments = 'A',      ///< a piece of a call's arguments
  /// A piece of the session's values, a JSON object of texts, before the
  /// call; from the child, before the result: of those that it changed.
  state = 'V',
  call = 'C',  ///< JSON, the context; begins the call
  stop = 'S',  ///< ask the running call to end
  // from the child
  ready = 'H',     ///< JSON: pid, or error
  progress = 'P',  ///< JSON
  text = 'T',      ///< a piece of the result's text
  metadata = 'M',  ///< a piece of it
  result = 'R',    ///< JSON: the rest of it; ends the call
  died = 'X',      ///< the tool threw this
};

struct packet {
  packet_kind kind{};
  std::string payload;
};

/// Longest payload: with it a packet fits into any socket's buffer.
inline constexpr std::size_t longest_payload = 32u << 10;

/// The packets that carry a text of any length; none for an empty one.
std::vector<std::string> in_pieces(packet_kind kind, std::string_view text);
std::string to_packet(packet_kind kind, std::string_view payload);

enum class receive_state { received, nothing, closed, garbage };

/// Receives one packet. `wait`: until there is one.
receive_state receive(int fd, bool wait, packet& out);

enum class send_state { sent, full, closed };

send_state send_packet(int fd, bool wait, std::string_view bytes);

}  // namespace riffle::tools
