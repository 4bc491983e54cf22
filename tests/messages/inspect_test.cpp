// SPDX-License-Identifier: MIT
#include "messages/inspect.hpp"

#include <cmath>
#include <limits>

#include <caf/actor_system.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>
#include <caf/deep_to_string.hpp>
#include <caf/make_message.hpp>

#include "messages/type_ids.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using riffle::testing::random_values;

namespace {

template <class T>
std::vector<char> to_bytes(T x) {
  std::vector<char> result;
  caf::binary_serializer sink{nullptr, result};
  const auto err = sink(x);
  REQUIRE_FALSE(err);
  return result;
}

// Reads over a value that is different, so that each field must be written.
template <class T>
T from_bytes(const std::vector<char>& bytes, T over) {
  caf::binary_deserializer source{nullptr, bytes};
  const auto err = source(over);
  REQUIRE_FALSE(err);
  REQUIRE(source.remaining() == 0);
  return over;
}

template <class T>
void check_type(random_values& random) {
  CAPTURE(caf::type_name<T>::value);
  for (int i = 0; i < 200; ++i) {
    const auto x = random.next<T>();
    const auto y = from_bytes(to_bytes(x), random.next<T>());
    REQUIRE(x == y);
    const auto text = caf::deep_to_string(x);
    REQUIRE_FALSE(text.empty());
    REQUIRE(text.find("<unprintable>") == std::string::npos);
    REQUIRE(text.find("unknown") == std::string::npos);
  }
}

template <class... Ts>
void check_types(type_list<Ts...>, random_values& random) {
  (check_type<Ts>(random), ...);
}

// No prefix of a value is a value.
template <class T>
void check_cuts(random_values& random) {
  CAPTURE(caf::type_name<T>::value);
  for (int i = 0; i < 5; ++i) {
    const auto bytes = to_bytes(random.next<T>());
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      const std::vector<char> cut(bytes.data(), bytes.data() + n);
      caf::binary_deserializer source{nullptr, cut};
      T x{};
      const auto err = source(x);
      REQUIRE(err);
    }
  }
}

template <class... Ts>
void check_all_cuts(type_list<Ts...>, random_values& random) {
  (check_cuts<Ts>(random), ...);
}

}  // namespace

TEST_CASE("every type of the block crosses CAF's wire unchanged") {
  using block = caf::id_block::riffle_messages;
  CHECK(message_types::size == block::end - block::begin);
  CHECK(message_types::size == 9);
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  check_types(message_types{}, random);
}

TEST_CASE("bytes that were cut off give an error, not half a value") {
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  check_all_cuts(message_types{}, random);
}

TEST_CASE("numbers that are not finite cross the wire, too") {
  using limits = std::numeric_limits<double>;
  tool_progress_report x;
  x.progress = limits::infinity();
  x.total = limits::denorm_min();
  CHECK(from_bytes(to_bytes(x), tool_progress_report{}) == x);
  x.total = limits::quiet_NaN();
  CHECK(std::isnan(*from_bytes(to_bytes(x), tool_progress_report{}).total));
  x.total = -0.0;
  CHECK(std::signbit(*from_bytes(to_bytes(x), tool_progress_report{}).total));
}

TEST_CASE("values read well in CAF's texts") {
  CHECK(caf::deep_to_string(call_id{"call_1"}) == "\"call_1\"");
  CHECK(caf::deep_to_string(errc::timeout) == "timeout");
  CHECK(caf::deep_to_string(error{errc::timeout, "op", "m", true, ""}) ==
        R"(timeout, "op", "m", true, "")");
  CHECK(caf::deep_to_string(
            call_result{.how = outcome::failed, .err = error{}, .attempts = 2})
            .find("failed") != std::string::npos);
}

TEST_CASE("a message of a worker survives CAF's own serialisation") {
  caf::actor_system_config cfg;
  register_messages(cfg);
  cfg.set("scheduler.policy", caf::atom("testing"));  // nothing runs here
  caf::actor_system sys{cfg};
  const auto seed = testing::fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  const auto given = random.next<work::assignment>();
  const auto ended = random.next<work::done>();
  auto sent = caf::make_message(given, ended);
  std::vector<char> bytes;
  caf::binary_serializer sink{sys, bytes};
  REQUIRE_FALSE(sink(sent));
  caf::binary_deserializer source{sys, bytes};
  caf::message received;
  REQUIRE_FALSE(source(received));
  REQUIRE(received.match_elements<work::assignment, work::done>());
  CHECK(received.get_as<work::assignment>(0) == given);
  CHECK(received.get_as<work::done>(1) == ended);
}
