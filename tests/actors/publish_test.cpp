// SPDX-License-Identifier: MIT
// Text becomes events in every way that a run can go, all of it, once.
#include "tests/actors/fixture.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::testing;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string text_of(const std::string& lines,
                    std::string_view type = "llm_token") {
  std::string out;
  for (const auto& x : events_of(lines, type))
    out += x.at("data").at("content").get<std::string>();
  return out;
}

std::string thinks(const std::string& text) {
  const json x{{"choices", json::array({{{"index", 0},
                                         {"delta", {{"reasoning", text}}}}})}};
  return "data: " + x.dump() + "\n\n";
}

/// Where the first event of this type stands.
std::size_t place(const std::string& lines, const std::string& type) {
  return lines.find("\"event_type\":\"" + type + "\"");
}

}  // namespace

TEST_CASE("text leaves at the end of its sentence, or after the delay") {
  actor_fixture x;
  x.begin();
  x.provider->answers = {model_says("One. Two and") + scripted_model::hold};
  auto spec = x.make_spec();
  spec->publish.batching = "sentence";
  x.start(spec);
  x.settle();
  CHECK(text_of(x.reader->lines) == "One. ");
  x.advance(99ms);
  x.settle();
  CHECK(text_of(x.reader->lines) == "One. ");
  x.advance(1ms);
  x.settle();
  CHECK(text_of(x.reader->lines) == "One. Two and");
  x.cancel();
  x.run_out();
  CHECK(text_of(x.reader->lines) == "One. Two and");
}

TEST_CASE("text is published before the tool that follows it starts") {
  for (const auto* mode : {"token", "sentence", "adaptive"}) {
    actor_fixture x;
    x.begin();
    x.provider->answers = {model_says("I will look") + model_calls(0, "look") +
                               model_stops("tool_calls"),
                           model_says("Done") + model_stops("stop")};
    auto spec = x.make_spec();
    spec->publish.batching = mode;
    CAPTURE(mode);
    x.start(spec);
    x.run_out();
    check_log(x.reader->lines);
    const auto text = x.reader->lines.find("I will look");
    CHECK(text < place(x.reader->lines, "tool_call"));
    CHECK(text_of(x.reader->lines) == "I will lookDone");
  }
}

TEST_CASE("whatever way a turn ends, its text is in the log once") {
  struct path {
    const char* name;
    std::string answer;
    std::string text;
  };
  const std::vector<path> paths{
      {"it ends well", model_stops("stop"), "Half of it"},
      {"it breaks", scripted_model::cut, "Half of itHalf of itHalf of it"},
      {"it is cancelled", scripted_model::hold, "Half of it"},
      {"it is cut by length", model_stops("length"), "Half of it"},
  };
  for (const auto* mode : {"token", "sentence", "adaptive"}) {
    for (const auto& p : paths) {
      actor_fixture x;
      x.begin();
      x.provider->answers = {model_says("Half ") + model_says("of it") +
                             p.answer};
      auto spec = x.make_spec();
      spec->publish.batching = mode;
      spec->publish.flush_delay = 10s;
      CAPTURE(mode, p.name);
      x.start(spec);
      x.settle();
      if (p.answer == scripted_model::hold) x.cancel();
      x.run_out();
      check_log(x.reader->lines);
      CHECK(text_of(x.reader->lines) == p.text);
      CHECK(events_of(x.reader->lines, "run_finished").size() == 1);
    }
  }
}

TEST_CASE("reasoning that a provider sends twice is told once") {
  const std::string whole = "First I look at the file, then I change it.";
  actor_fixture x;
  x.begin();
  x.provider->answers = {thinks(whole.substr(0, 20)) +
                         thinks(whole.substr(20)) + model_says("Done.") +
                         thinks(whole) + model_stops("stop")};
  x.start(x.make_spec());
  x.run_out();
  check_log(x.reader->lines);
  CHECK(text_of(x.reader->lines, "llm_reasoning") == whole);
  const auto session = x.journal->load_session(x.session);
  REQUIRE(session);
  CHECK(session->messages.back().reasoning == whole);
}
