// SPDX-License-Identifier: MIT
// A libFuzzer harness for what comes from peers of a cluster. The first byte of
// an input says what the rest is: one of the types that cross the wire, or a
// whole message of CAF's. What is read at all has to be the same when it is
// written and read again.
#include "actors/cluster/wire.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <caf/all.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

namespace {

using namespace riffle;

using bytes = std::vector<char>;

template <class T>
bytes written(T& x) {
  bytes out;
  caf::binary_serializer sink{nullptr, out};
  if (sink(x)) {
    std::fprintf(stderr, "what was read cannot be written\n");
    std::abort();
  }
  return out;
}

template <class T>
void check(const bytes& in) {
  T first{};
  caf::binary_deserializer source{nullptr, in};
  if (source(first)) return;
  const auto once = written(first);
  T second{};
  caf::binary_deserializer again{nullptr, once};
  if (!again(second) && written(second) == once) return;
  std::fprintf(stderr, "what was written is read as something else\n");
  std::abort();
}

struct system_config : caf::actor_system_config {
  system_config() {
    register_cluster(*this);
    set("scheduler.max-threads", std::size_t{1});
  }
};

/// As CAF reads what BASP brought: its types by name, then their values.
void check_message(const bytes& in) {
  static auto* const config = new system_config;
  static auto* const system = new caf::actor_system{*config};
  caf::message x;
  caf::binary_deserializer source{*system, in};
  if (source(x)) return;
  bytes out;
  caf::binary_serializer sink{*system, out};
  static_cast<void>(sink(x));
}

template <class... Ts>
constexpr std::array<void (*)(const bytes&), sizeof...(Ts)> checks_of() {
  return {&check<Ts>...};
}

constexpr auto checks =
    checks_of<cluster::hello, cluster::terms, cluster::refusal, cluster::offers,
              cluster::ping, cluster::pong, cluster::tag, cluster::piece,
              cluster::piece_ack, cluster::fenced, cluster::ask_status,
              cluster::ask_drain, cluster::status, cluster::taken,
              work::assignment, work::stop, work::ack, work::started,
              work::progress, work::done, work::lost>();

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  if (size == 0) return 0;
  const auto kind = data[0] % (checks.size() + 1);
  const bytes rest{data + 1, data + size};
  if (kind == checks.size())
    check_message(rest);
  else
    checks[kind](rest);
  return 0;
}
