// SPDX-License-Identifier: MIT
// The stored form of records: written as text at once, read as JSON.
#include "runtime/storage/record_json.hpp"

#include <limits>

#include <nlohmann/json.hpp>

#include "tests/storage/storage_fixture.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

namespace {

using namespace riffle;
using namespace riffle::testing;
using namespace riffle::storage;
using nlohmann::json;

/// Random records; of what they are made of `random_values` knows.
class random_records {
 public:
  explicit random_records(unsigned seed) : values{seed} {}

  void fill(auto& x)
    requires requires(random_values& r) { r.fill(x); }
  {
    values.fill(x);
  }
  void fill(run_state& x) { pick(x, run_state::cancelled); }
  void fill(message_role& x) { pick(x, message_role::assistant); }
  void fill(call_stage& x) { pick(x, call_stage::settled); }
  void fill(always_scope& x) { pick(x, always_scope::tool); }
  void fill(attempt_record& x) { all(x.number, x.began, x.ended, x.lost); }
  void fill(std::vector<attempt_record>& xs) {
    xs.resize(values.below(3));
    for (auto& x : xs) fill(x);
  }
  void fill(run_record& x) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = x;
    all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  }
  void fill(turn_state& x) { all(x.maker, x.text); }
  void fill(std::vector<attachment>& xs) {
    xs.resize(values.below(3));
    for (auto& x : xs) all(x.name, x.type, x.bytes, x.digest);
  }
  void fill(message_record& x) {
    auto& [a, b, c, d, e, f, g, h, i, j] = x;
    all(a, b, c, d, e, f, g, h, i, j);
  }
  void fill(call_record& x) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = x;
    all(a, b, c, d, e, f, g, h, i, j, k, l);
  }
  void fill(proposal_record& x) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = x;
    all(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  }
  void fill(decision_record& x) {
    auto& [a, b, c, d, e, f, g, h, i, j] = x;
    all(a, b, c, d, e, f, g, h, i, j);
  }
  void fill(grant_record& x) {
    auto& [a, b, c, d, e, f, g, h, i] = x;
    all(a, b, c, d, e, f, g, h, i);
  }

  random_values values;

 private:
  void all(auto&... xs) { (fill(xs), ...); }
  template <class E>
  void pick(E& x, E last) {
    x = static_cast<E>(values.below(static_cast<std::size_t>(last) + 1));
  }
};

/// As nlohmann writes it, with U+FFFD for what is no UTF-8.
std::string dump(const json& x) {
  return x.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <class Record>
void survives(random_records& random, Record (*read)(std::string_view)) {
  Record x;
  random.fill(x);
  const auto text = to_json(x);
  CHECK(read(text) == x);
  // As it was written before: from a tree of values, keys by the alphabet.
  CHECK(read(dump(json::parse(text))) == x);
}

}  // namespace

TEST_CASE("every record comes back as it was stored, whoever wrote it") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_records random{seed};
  for (int i = 0; i < 300; ++i) {
    survives(random, run_from_json);
    survives(random, message_from_json);
    survives(random, call_from_json);
    survives(random, proposal_from_json);
    survives(random, decision_from_json);
    survives(random, grant_from_json);
  }
}

TEST_CASE("bytes that are no UTF-8 are stored as nlohmann replaces them") {
  const auto seed = fresh_seed();
  CAPTURE(seed);
  random_values random{seed};
  for (int i = 0; i < 20'000; ++i) {
    message_record x;
    x.text = random.bytes();
    // Sequences that nearly are: cut, too long, surrogates, beyond Unicode.
    x.reasoning = random.one_of<std::string>(
        {"\xE2\x82", "\xC0\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
         "\xF0\x9F\x98", "\xE0\x80", "\xFF"});
    x.reasoning += random.chance(0.5) ? random.bytes(3) : random.text(2);
    const auto read = message_from_json(to_json(x));
    CHECK(dump(read.text) == dump(x.text));
    CHECK(dump(read.reasoning) == dump(x.reasoning));
  }
}

TEST_CASE("records of an earlier version are read") {
  const auto call = call_from_json(
      R"({"announced":true,"approved":false,"attempt":2,"attempts":[{"began":5,)"
      R"("ended":6,"lost":"gone","number":1},{"began":7,"number":2}],"call":)"
      R"({"arguments":"{\"path\":\"é\"}","arguments_text":"","control":false,)"
      R"("edited_from":"","effect":"read_only","id":"call_1","idempotent":true,)"
      R"("index":3,"judged":"a","keys":["/ws/a","b"],"limits":{"attempts":2,)"
      R"("idle_timeout":0,"priority":-1,"queue_timeout":600000000000,)"
      R"("timeout":30000000000},"needs_approval":false,"provider_id":"p",)"
      R"("step":1,"title":"Reading","tool":"read"},"decision_reason":"no",)"
      R"("err":{"cause":"c","code":"timeout","message":"m","op":"o",)"
      R"("retryable":true},"how":"failed","run":"run_1","stage":"settled",)"
      R"("told":"hello\n"})");
  call_record want;
  want.call = {.id = {"call_1"},
               .provider_id = "p",
               .tool = "read",
               .title = "Reading",
               .arguments = R"({"path":"é"})",
               .eff = effect::read_only,
               .idempotent = true,
               .step = 1,
               .index = 3,
               .keys = {"/ws/a", "b"},
               .judged = "a"};
  want.call.limits = {.timeout = std::chrono::seconds{30},
                      .queue_timeout = std::chrono::minutes{10},
                      .attempts = 2,
                      .priority = -1};
  want.run = {"run_1"};
  want.stage = call_stage::settled;
  want.attempt = 2;
  want.announced = true;
  want.approved = false;
  want.decision_reason = "no";
  want.how = outcome::failed;
  want.told = "hello\n";
  want.err = error{errc::timeout, "o", "m", true, "c"};
  want.attempts = {{1, {5}, wall_time{6}, "gone"}, {2, {7}, {}, ""}};
  CHECK(call == want);
  CHECK(run_from_json(
            R"({"cause":"","id":"run_1","state":"failed","step":2,"usage":)"
            R"({"cost_usd":0.1,"estimated":true,"input_tokens":2299}})")
            .usage == token_usage{2299, 0, {}, {}, 0.1, true});
}

TEST_CASE("what kept a call from running keeps its name in what is stored") {
  call_record x;
  x.call.id = call_id{"call_1"};
  x.call.rejection = error{errc::approval_denied, "tools", "a rule denies it"};
  const auto text = to_json(x);
  CHECK(nlohmann::json::parse(text).at("call").contains("defect"));
  const auto back = call_from_json(text);
  CHECK(back.call.rejection == x.call.rejection);
}

TEST_CASE("what nobody could have stored is refused") {
  CHECK_THROWS(call_from_json("{}"));
  CHECK_THROWS(call_from_json("{\"call\":{}"));
  CHECK_THROWS(run_from_json(R"({"state":"unknown"})"));
  CHECK_THROWS(run_from_json(R"({"state":1})"));
  CHECK_THROWS(run_from_json(R"({"step":"1"})"));
  CHECK_THROWS(message_from_json(R"({"role":"system"})"));
  CHECK_THROWS(message_from_json(R"({"calls":[1]})"));
  CHECK_THROWS(grant_from_json(R"({"scope":"wide"})"));
}

TEST_CASE("a cost that is no number is left out") {
  run_record x;
  x.usage.cost_usd = std::numeric_limits<double>::quiet_NaN();
  CHECK_FALSE(run_from_json(to_json(x)).usage.cost_usd);
}
