// SPDX-License-Identifier: MIT
// What gates say crosses CAF's wire unchanged, cut or garbled bytes are an
// error, and the bytes of a version stay what they are.
#include <caf/all.hpp>
#include <caf/binary_deserializer.hpp>
#include <caf/binary_serializer.hpp>

#include "actors/cluster/wire.hpp"
#include "runtime/base/digest.hpp"
#include "tests/actors/cluster_scene.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;
using namespace riffle::testing;

namespace {

template <class T>
concept has_fields = requires(T& x) { fields(x); };

/// Random values, field by field.
struct random_source {
  random_values values;

  template <class T>
  void fill(T& x) {
    if constexpr (has_fields<T>)
      std::apply([&](auto&... xs) { (fill(xs), ...); }, fields(x));
    else
      values.fill(x);
  }
  template <class T>
  void fill(std::vector<T>& xs) {
    xs.resize(values.below(4));
    for (auto& x : xs) fill(x);
  }
};

/// Each field another value, always the same.
struct counting_source {
  std::uint64_t n = 0;

  template <class T>
  void fill(T& x) {
    ++n;
    if constexpr (has_fields<T>)
      std::apply([&](auto&... xs) { (fill(xs), ...); }, fields(x));
    else if constexpr (std::is_same_v<T, bool>)
      x = n % 2 == 0;
    else if constexpr (std::is_enum_v<T>)
      x = static_cast<T>(1);
    else
      x = static_cast<T>(n);
  }
  void fill(std::string& x) { x = "text " + std::to_string(++n); }
  void fill(duration& x) { x = duration{++n}; }
  template <class Tag>
  void fill(strong_id<Tag>& x) {
    fill(x.value);
  }
  template <class T>
  void fill(std::optional<T>& x) {
    fill(x.emplace());
  }
  template <class T>
  void fill(std::vector<T>& xs) {
    xs.resize(2);
    for (auto& x : xs) fill(x);
  }
  void fill(std::map<std::string, std::string>& x) { fill(x["key"]); }
};

template <class T>
std::vector<char> to_bytes(T x) {
  std::vector<char> result;
  caf::binary_serializer sink{nullptr, result};
  REQUIRE_FALSE(sink(x));
  return result;
}

template <class T>
void check_round_trip(random_source& random) {
  for (int i = 0; i < 200; ++i) {
    T x{};
    random.fill(x);
    const auto bytes = to_bytes(x);
    T y{};
    random.fill(y);
    caf::binary_deserializer source{nullptr, bytes};
    REQUIRE_FALSE(source(y));
    REQUIRE(source.remaining() == 0);
    REQUIRE(x == y);
  }
}

/// No prefix is a value, and no bytes do harm.
template <class T>
void check_bad_bytes(random_source& random) {
  for (int i = 0; i < 20; ++i) {
    T x{};
    random.fill(x);
    auto bytes = to_bytes(x);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      const std::vector<char> cut(bytes.data(), bytes.data() + n);
      caf::binary_deserializer source{nullptr, cut};
      T y{};
      REQUIRE(source(y));
    }
    for (int k = 0; k < 50 && !bytes.empty(); ++k) {
      auto garbled = bytes;
      for (int flips = 0; flips < 3; ++flips)
        garbled[random.values.below(garbled.size())] =
            static_cast<char>(random.values.below(256));
      caf::binary_deserializer source{nullptr, garbled};
      T y{};
      static_cast<void>(source(y));
    }
  }
}

template <class F>
void for_each_type(F f) {
  f(cluster::hello{});
  f(cluster::refusal{});
  f(cluster::offers{});
  f(cluster::ping{});
  f(cluster::pong{});
  f(cluster::tag{});
  f(cluster::piece{});
  f(cluster::piece_ack{});
  f(cluster::fenced{});
  f(cluster::node_status{});
  f(cluster::status{});
  f(cluster::ask_drain{});
  f(cluster::terms{});
}

/// As gates send them (actors/cluster/README.md): what is about a call behind
/// its tag.
template <class F>
void for_each_message(F f) {
  f(cluster::hello{});
  f(cluster::terms{});
  f(cluster::refusal{});
  f(cluster::offers{});
  f(cluster::ping{});
  f(cluster::pong{});
  f(cluster::fenced{});
  f(cluster::ask_status{});
  f(cluster::ask_drain{});
  f(cluster::status{});
  const cluster::tag tag;
  f(tag, work::assignment{});
  f(tag, work::stop{});
  f(tag, work::ack{});
  f(tag, cluster::piece_ack{});
  f(tag, cluster::taken{});
  f(tag, work::started{});
  f(tag, work::progress{});
  f(tag, work::done{});
  f(tag, work::lost{});
  f(tag, cluster::piece{});
}

}  // namespace

TEST_CASE("what gates say crosses the wire unchanged") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_source random{random_values{seed}};
  for_each_type([&]<class T>(const T&) { check_round_trip<T>(random); });
}

TEST_CASE("cut and garbled bytes of gates do no harm") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_source random{random_values{seed}};
  for_each_type([&]<class T>(const T&) { check_bad_bytes<T>(random); });
}

// If this fails, something about what crosses the wire has changed: raise
// work::version or cluster::version, and then write the new digest here.
TEST_CASE("the bytes of a wire version are frozen") {
  std::string all;
  const auto add = [&]<class T>(T x) {
    counting_source{}.fill(x);
    const auto bytes = to_bytes(x);
    all.append(bytes.data(), bytes.size());
  };
  for_each_type(add);
  CHECK(cluster::version == 3);
  CHECK(sha256(all) ==
        "747243a3bf72331f82eed1f50663ed6284db13d181e3516bb33137ad77629302");
  all.clear();
  add(work::offer{});
  add(work::assignment{});
  add(work::stop{});
  add(work::started{});
  add(work::progress{});
  add(work::ack{});
  add(work::done{});
  add(work::lost{});
  add(work::freed{});
  CHECK(work::version == 4);
  CHECK(sha256(all) ==
        "7e4c226d7b21b9f55b5b029d4c63efb61104c32a2f2c8d620ad66a68d622c33d");
}

// What crosses the wire are whole messages of CAF's: with the names of their
// types, in their order. All that gates say, as they say it.
TEST_CASE("the messages of a wire version are frozen, with their types") {
  caf::actor_system_config config;
  register_cluster(config);
  // Its queue has a lock; that of "stealing" orders by what no sanitizer sees.
  config.set("scheduler.policy", caf::atom("sharing"));
  caf::actor_system system{config};
  std::string all;
  std::string names;
  const auto add = [&]<class... Ts>(Ts... xs) {
    counting_source source;
    (source.fill(xs), ...);
    const auto message = caf::make_message(std::move(xs)...);
    std::vector<char> bytes;
    caf::binary_serializer sink{system, bytes};
    REQUIRE_FALSE(sink(message));
    all.append(bytes.data(), bytes.size());
    for (std::size_t i = 0; i < message.size(); ++i)
      names += system.types().portable_name(message.type(i)) +
               (i + 1 == message.size() ? "\n" : " ");
  };
  for_each_message(add);
  CHECK(names == frozen_messages());
  CHECK(sha256(all) ==
        "d6e3884e16902740bbdc8d78b4caede6b08552f9f0ba0042c81d4316e445ba99");
}
