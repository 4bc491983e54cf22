// SPDX-License-Identifier: MIT
#include "tools/process/worker_pipe.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <sys/socket.h>
#include <type_traits>
#include <utility>

#include "messages/fields.hpp"

namespace riffle::tools {

namespace {

constexpr char more_mark = '+';
constexpr char last_mark = '.';

/// Writes values to `bytes`, or reads them from `rest`; false: the bytes do not
/// say this. Numbers are eight bytes each: both ends are of one machine. What
/// is read takes no more memory than a few times what came.
template <bool Writes>
class codec {
 public:
  template <class T>
  bool pass(T& x) {
    if constexpr (std::integral<T> || std::is_enum_v<T>) {
      auto bits = static_cast<std::uint64_t>(x);
      if (!pass_number(bits)) return false;
      x = static_cast<T>(bits);
      if constexpr (std::is_enum_v<T> && !Writes)
        if (to_string(x) == "unknown") return false;
      return static_cast<std::uint64_t>(x) == bits;
    } else {
      if constexpr (!Writes && requires { x.version; })
        if (!has_version()) return false;
      return std::apply([this](auto&... xs) { return (pass(xs) && ...); },
                        fields(x));
    }
  }
  bool pass(double& x) {
    auto bits = std::bit_cast<std::uint64_t>(x);
    const bool ok = pass_number(bits);
    x = std::bit_cast<double>(bits);
    return ok;
  }
  bool pass(duration& x) {
    auto count = x.count();
    const bool ok = pass(count);
    x = duration{count};
    return ok;
  }
  bool pass(std::string& x) {
    std::uint64_t size = x.size();
    if (!pass_number(size)) return false;
    if (Writes) return bytes.append(x), true;
    if (size > rest.size()) return false;
    x = rest.substr(0, size);
    rest.remove_prefix(size);
    return true;
  }
  template <class Tag>
  bool pass(strong_id<Tag>& x) {
    return pass(x.value);
  }
  template <class T>
  bool pass(std::optional<T>& x) {
    bool has = x.has_value();
    if (!pass(has)) return false;
    if (has && !x) x.emplace();
    return !has || pass(*x);
  }
  bool pass(std::pair<std::string, std::string>& x) {
    return pass(x.first) && pass(x.second);
  }
  bool pass(std::vector<std::string>& x) { return pass_all<std::string>(x); }
  bool pass(std::map<std::string, std::string>& x) {
    return pass_all<std::pair<std::string, std::string>>(x);
  }
  bool pass(std::vector<result_file>& x) { return pass_all<result_file>(x); }
  template <std::size_t I = 0>
  bool pass_kind(child_message& x, std::size_t kind) {
    if constexpr (I < std::variant_size_v<child_message>)
      return I == kind ? pass(x.emplace<I>()) : pass_kind<I + 1>(x, kind);
    else
      return false;
  }

  std::string bytes;
  std::string_view rest;
  std::string problem = "it sent garbage";

 private:
  template <class T, class Container>
  bool pass_all(Container& all) {
    std::uint64_t count = all.size();
    if (!pass_number(count)) return false;
    if (Writes) {
      for (T x : all) pass(x);
      return true;
    }
    for (; count > 0; --count) {
      T x;
      if (!pass(x)) return false;
      all.insert(all.end(), std::move(x));
    }
    return true;
  }
  /// Looks only: it is the first field.
  bool has_version() {
    const auto all = rest;
    std::uint64_t version = work::version;
    const bool there = pass_number(version);
    rest = all;
    if (version != work::version)
      problem = "it speaks version " + std::to_string(version) +
                " of the work messages, this program speaks " +
                std::to_string(work::version);
    return there && version == work::version;
  }
  bool pass_number(std::uint64_t& x) {
    if (Writes) {
      bytes.append(reinterpret_cast<const char*>(&x), sizeof x);  // NOLINT
      return true;
    }
    if (rest.size() < sizeof x) return false;
    std::memcpy(&x, rest.data(), sizeof x);
    rest.remove_prefix(sizeof x);
    return true;
  }
};

}  // namespace

std::string encode(child_message x) {
  codec<true> to;
  auto kind = x.index();
  to.pass(kind);
  std::visit([&](auto& y) { to.pass(y); }, x);
  return std::move(to.bytes);
}

expected<child_message> decode(std::string_view bytes) {
  codec<false> from;
  from.rest = bytes;
  child_message x;
  std::size_t kind = 0;
  if (from.pass(kind) && from.pass_kind(x, kind) && from.rest.empty()) return x;
  return unexpected{error{errc::internal, "worker", from.problem}};
}

std::vector<std::string> in_packets(std::string_view message) {
  std::vector<std::string> out;
  out.reserve(message.size() / longest_piece + 1);
  do {
    const auto piece = message.substr(0, longest_piece);
    message.remove_prefix(piece.size());
    out.emplace_back(1, message.empty() ? last_mark : more_mark).append(piece);
  } while (!message.empty());
  return out;
}

receive_state message_reader::receive(int fd, bool wait, child_message& out) {
  std::array<char, longest_piece + 1> packet;
  for (;;) {
    const auto count = ::recv(fd, packet.data(), packet.size(),
                              MSG_TRUNC | (wait ? 0 : MSG_DONTWAIT));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return receive_state::nothing;
    if (count <= 0) return receive_state::closed;
    const auto size = static_cast<std::size_t>(count);
    const bool last = packet[0] == last_mark;
    if (size > packet.size() || (!last && packet[0] != more_mark))
      return fail("it sent garbage");
    if (bytes_.size() + size - 1 > longest_message)
      return fail("its result is longer than 64 MiB");
    bytes_.append(packet.data() + 1, size - 1);
    if (!last) continue;
    auto message = decode(std::exchange(bytes_, {}));
    if (!message) return fail(std::move(message.error().message));
    out = std::move(*message);
    return receive_state::received;
  }
}

receive_state message_reader::fail(std::string why) {
  problem_ = std::move(why);
  return receive_state::malformed;
}

send_state send_packet(int fd, bool wait, std::string_view packet) {
  for (;;) {
    const auto count = ::send(fd, packet.data(), packet.size(),
                              MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
    if (count >= 0) return send_state::sent;
    if (errno == EINTR) continue;
    return errno == EAGAIN ? send_state::full : send_state::closed;
  }
}

}  // namespace riffle::tools
