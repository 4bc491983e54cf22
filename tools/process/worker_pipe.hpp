// SPDX-License-Identifier: MIT
#pragma once

// What a runtime and a child process that runs one of its tools say to each
// other: the messages of messages/work.hpp, and two about what only a process
// of the same machine can use.
//
// A message is its fields, one behind the other, as messages/fields.hpp lists
// them for CAF's wire too: so there is one list, and nothing here to change for
// another field. It goes over a SOCK_SEQPACKET pair in packets, which keep
// whole: a mark (more follow, or the last) and a piece. It is not CAF's own
// serializer, for tools know no CAF; and not JSON, where an output of any bytes
// would arrive changed, or six times as long.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

#include "messages/error.hpp"
#include "messages/work.hpp"

namespace riffle::tools {

/// runtime -> child, once and first: what it shall serve.
struct child_setup {
  std::uint32_t version = work::version;
  std::string tool{};
  std::string configuration{};

  bool operator==(const child_setup&) const = default;
};

/// runtime -> child, before each assignment: see `tool_context`.
struct call_place {
  std::string workspace{};
  duration kill_grace{};
  std::string output_file{};
  std::uint64_t output_cap = 0;

  bool operator==(const call_place&) const = default;
};

inline auto fields(child_setup& x) {
  return std::tie(x.version, x.tool, x.configuration);
}
inline auto fields(call_place& x) {
  return std::tie(x.workspace, x.kill_grace, x.output_file, x.output_cap);
}

using child_message =
    std::variant<child_setup, call_place, work::assignment, work::stop,
                 work::offer, work::progress, work::done, work::lost>;

/// Bytes. A longer message is refused by who receives it.
inline constexpr std::size_t longest_message = 64u << 20;

std::string encode(child_message x);

/// Fails if `bytes` are not exactly one message, or one of another version.
expected<child_message> decode(std::string_view bytes);

/// Longest piece of a message: with it a packet fits into any socket's buffer.
inline constexpr std::size_t longest_piece = 32u << 10;

std::vector<std::string> in_packets(std::string_view message);

enum class receive_state { received, nothing, closed, malformed };

/// Joins the packets that come from one end. After `malformed` nothing more can
/// be understood.
class message_reader {
 public:
  /// Receives until there is a message. `wait`: until one is there.
  receive_state receive(int fd, bool wait, child_message& out);
  /// What was malformed.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  receive_state fail(std::string why);

  std::string bytes_;
  std::string problem_;
};

enum class send_state { sent, full, closed };

/// `wait`: until there is room.
send_state send_packet(int fd, bool wait, std::string_view packet);

}  // namespace riffle::tools
