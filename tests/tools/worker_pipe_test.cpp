// SPDX-License-Identifier: MIT
// What a runtime and its child say to each other, as bytes and back.
#include "tools/process/worker_pipe.hpp"

#include <sys/socket.h>

#include "runtime/base/unique_fd.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::tools;
using riffle::testing::fresh_seed;
using riffle::testing::random_values;

namespace {

constexpr std::size_t kinds = std::variant_size_v<child_message>;

child_message any_message(random_values& random, std::size_t kind) {
  switch (kind) {
    case 0: return child_setup{work::version, random.bytes(), random.text()};
    case 1: return call_place{random.text(), {}, random.bytes(), 7};
    case 2: return random.next<work::assignment>();
    case 3: return random.next<work::stop>();
    case 4: return random.next<work::offer>();
    case 5: return random.next<work::progress>();
    case 6: {
      auto x = random.next<work::done>();
      x.result.output = random.bytes(200);
      return x;
    }
    default: return random.next<work::lost>();
  }
}

std::string problem_of(std::string_view bytes) {
  const auto x = decode(bytes);
  return x ? "none" : x.error().message;
}

struct ends {
  ends() {
    int fds[2] = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
    a = unique_fd{fds[0]};
    b = unique_fd{fds[1]};
  }
  unique_fd a;
  unique_fd b;
  message_reader reader;
  child_message last;

  receive_state receive() { return reader.receive(b.get(), false, last); }
};

}  // namespace

TEST_CASE("every message to and from a child arrives as it was, any bytes") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  for (int i = 0; i < 400; ++i)
    for (std::size_t kind = 0; kind < kinds; ++kind) {
      CAPTURE(kind);
      const auto x = any_message(random, kind);
      REQUIRE(x.index() == kind);
      const auto y = decode(encode(x));
      REQUIRE(y);
      REQUIRE(*y == x);
    }
}

TEST_CASE("no part of a message is a message, nor one with more behind it") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    const auto bytes = encode(any_message(random, kind));
    for (std::size_t n = 0; n < bytes.size(); ++n)
      REQUIRE(problem_of(bytes.substr(0, n)) == "it sent garbage");
    CHECK(problem_of(bytes + "x") == "it sent garbage");
  }
}

TEST_CASE("bytes that were changed are refused or read, and break nothing") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  for (int i = 0; i < 5000; ++i) {
    auto bytes = encode(any_message(random, random.below(kinds)));
    for (auto n = 1 + random.below(4); n-- > 0;)
      bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    const auto x = decode(bytes);
    if (!x) continue;
    const auto again = decode(encode(*x));
    REQUIRE(again);
    REQUIRE(encode(*again) == encode(*x));
  }
}

TEST_CASE("another version is named, whatever follows it") {
  child_setup setup;
  setup.version = 7;
  work::assignment task;
  task.version = 7;
  const std::string why =
      "it speaks version 7 of the work messages, this program speaks " +
      std::to_string(work::version);
  CHECK(problem_of(encode(setup)) == why);
  CHECK(problem_of(encode(task) + "of a later version") == why);
}

TEST_CASE("words that this version does not know are refused") {
  work::done x;
  x.result.how = static_cast<outcome>(200);
  CHECK(problem_of(encode(x)) == "it sent garbage");
}

TEST_CASE("a long message goes in packets, and is joined again") {
  ends x;
  work::done done{call_id{"c"}, 1};
  done.result.output = std::string(100'000, '\xfe');
  const auto packets = in_packets(encode(done));
  REQUIRE(packets.size() == 4);
  for (const auto& packet : packets) {
    CHECK(x.receive() == receive_state::nothing);
    CHECK(packet.size() <= longest_piece + 1);
    REQUIRE(send_packet(x.a.get(), true, packet) == send_state::sent);
  }
  REQUIRE(x.receive() == receive_state::received);
  CHECK(x.last == child_message{done});
  x.a.reset();
  CHECK(x.receive() == receive_state::closed);
}

TEST_CASE("what is no packet, and what never ends, is refused") {
  ends x;
  REQUIRE(send_packet(x.a.get(), true, "nonsense") == send_state::sent);
  CHECK(x.receive() == receive_state::malformed);
  CHECK(x.reader.problem() == "it sent garbage");
  ends y;
  const auto packet = "+" + std::string(longest_piece, 'x');
  auto state = receive_state::nothing;
  std::size_t sent = 0;
  while (state == receive_state::nothing && sent <= longest_message) {
    REQUIRE(send_packet(y.a.get(), true, packet) == send_state::sent);
    sent += longest_piece;
    state = y.receive();
  }
  CHECK(state == receive_state::malformed);
  CHECK(y.reader.problem() == "its result is longer than 64 MiB");
}
