// SPDX-License-Identifier: MIT
// Pictures and files in a conversation: told where the dialect has a place,
// dropped when room is needed, never in silence.
#include <algorithm>
#include <chrono>
#include <iostream>

#include <nlohmann/json.hpp>

#include "actors/run/conversation.hpp"
#include "runtime/base/media.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using Catch::Matchers::Contains;
using nlohmann::json;

namespace {

struct scene {
  explicit scene(const std::string& dialect, std::uint64_t window = 0,
                 std::uint64_t most_bytes = 0,
                 std::vector<std::string> types = {"image/png",
                                                   "application/pdf"}) {
    conversation::settings x;
    x.dialect = model::make_dialect(dialect);
    x.request.model = "m";
    x.window = window;
    x.file_types = std::move(types);
    x.most_file_bytes = most_bytes;
    chat = conversation{std::move(x)};
  }

  /// A step that reads these.
  void read(std::vector<std::pair<std::string, shown_files>> calls) {
    core::new_message turn{true, "", "", {}, {}};
    for (const auto& [id, files] : calls) turn.calls.push_back({id});
    chat.say_model(turn);
    for (const auto& [id, files] : calls) {
      storage::call_record call;
      call.call.id = {id};
      call.call.provider_id = id;
      call.call.tool = "read";
      call.call.arguments = "{}";
      call.told = "told " + id;
      chat.settle(call, files);
    }
  }

  std::string text() {
    chat.compact();
    return chat.request({});
  }
  json body() { return json::parse(text()); }

  conversation chat;
};

model::told_file picture(const std::string& name, std::size_t size = 30) {
  auto bytes = "\x89PNG\r\n\x1a\n" + name + std::string(size, 'x');
  auto about = describe_media(name, bytes);
  return {*about, std::make_shared<const std::string>(std::move(bytes))};
}

std::string encoded(const model::told_file& x) { return to_base64(*x.bytes); }

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != text.npos;
       at = text.find(part, at + part.size()))
    ++n;
  return n;
}

}  // namespace

TEST_CASE("a picture of a result stands in it, where the dialect has a place") {
  for (const auto* dialect : {"anthropic", "responses", "ollama"}) {
    INFO(dialect);
    scene x{dialect};
    const auto one = picture("a.png");
    x.chat.say_user("go");
    x.read({{"c1", {one}}});
    const auto body = x.body();
    const auto& all = body.contains("input") ? body["input"] : body["messages"];
    CHECK_THAT(all.back().dump(),
               Contains(encoded(one)) && Contains("told c1"));
  }
}

TEST_CASE("else a user's message behind all results of the turn shows them") {
  scene x{"openai"};
  const auto one = picture("a.png");
  const auto two = picture("b.png");
  x.chat.say_user("go");
  x.read({{"c1", {one}}, {"c2", {}}, {"c3", {two}}});
  const auto all = x.body().at("messages");
  REQUIRE(all.size() == 6);
  for (int i = 2; i < 5; ++i) CHECK(all[i].at("role") == "tool");
  CHECK_THAT(all[2].dump(), !Contains(encoded(one)));
  CHECK(all[5].at("role") == "user");
  const auto& parts = all[5].at("content");
  REQUIRE(parts.size() == 3);
  CHECK_THAT(parts[0].dump(), Contains("a.png") && Contains("b.png"));
  CHECK_THAT(parts[1].dump(), Contains(encoded(one)));
  CHECK_THAT(parts[2].dump(), Contains(encoded(two)));
}

TEST_CASE("what a model takes not, or what is lost, is said in its place") {
  scene x{"openai", 0, 0, {"application/pdf"}};
  const auto one = picture("a.png");
  x.chat.say_user("go", {one, {{"b.pdf", "application/pdf", 9, "d"}, nullptr}});
  x.read({{"c1", {one}}});
  const auto text = x.text();
  CHECK_THAT(text, !Contains(encoded(one)));
  CHECK(count(text, "this model takes no such files") == 2);
  CHECK_THAT(text, Contains("b.pdf") && Contains("it is lost"));
}

TEST_CASE(
    "a tool's picture that stands above costs a line, a person's comes "
    "again") {
  scene x{"anthropic"};
  const auto one = picture("a.png");
  x.chat.say_user("go");
  x.read({{"c1", {one}}});
  x.read({{"c2", {one}}});
  CHECK(count(x.text(), encoded(one)) == 1);
  CHECK_THAT(x.text(), Contains("is the same as shown above"));
  x.chat.say_user("and this?", {one});
  CHECK(count(x.text(), encoded(one)) == 2);
}

TEST_CASE("estimates count a picture as one, whatever its bytes") {
  scene x{"openai"};
  const auto before = x.chat.estimate({});
  x.chat.say_user("go", {picture("a.png", 3'000'000)});
  const auto more = x.chat.estimate({}) - before;
  CHECK(more > 1'500);
  CHECK(more < 3'000);
  x.chat.say_user("go", {{{"b.pdf", "application/pdf", 1'000'000, "d"},
                          std::make_shared<const std::string>("%PDF-")}});
  CHECK(x.chat.estimate({}) - before - more > 20'000);
}

TEST_CASE("near the window old pictures go, a person's last, and it is said") {
  scene x{"openai", 8'000};
  const auto mine = picture("mine.png");
  x.chat.say_user("go", {mine});
  std::vector<model::told_file> all;
  for (int i = 0; i < 6; ++i) {
    all.push_back(picture("p" + std::to_string(i) + ".png"));
    x.read({{"c" + std::to_string(i), {all.back()}}});
    const auto text = x.text();
    CHECK(x.chat.estimate({}) <= 8'000);
    CHECK(json::parse(text).is_object());
    CHECK_THAT(text, Contains(encoded(all.back())));  // of the newest step
    CHECK_THAT(text, Contains(encoded(mine)));
  }
  const auto text = x.text();
  CHECK_THAT(text, !Contains(encoded(all[0])));
  CHECK_THAT(text, Contains("p0.png") && Contains("was left out to make room"));
  // What was dropped is shown anew when it is read again.
  x.read({{"again", {all[0]}}});
  CHECK_THAT(x.text(), Contains(encoded(all[0])));
  CHECK(x.chat.make_room().outputs > 0);
  CHECK_THAT(x.chat.request({}), !Contains(encoded(mine)));
}

TEST_CASE("the bytes of all that is shown stay below their limit") {
  scene x{"anthropic", 0, 1'000'000};
  x.chat.say_user("go", {picture("mine.png", 300'000)});
  for (int i = 0; i < 20; ++i) {
    const auto n = std::to_string(i);
    x.read({{"a" + n, {picture("a" + n, 200'000)}},
            {"b" + n, {picture("b" + n, 200'000)}}});
    CHECK(x.text().size() < 1'500'000);
    CHECK_THAT(x.text(), Contains(encoded(picture("b" + n, 200'000))));
    CHECK_THAT(x.text(), Contains(encoded(picture("mine.png", 300'000))));
  }
  // More than half of it in one step is refused, in words.
  x.read({{"x", {picture("x", 400'000)}}, {"y", {picture("y", 400'000)}}});
  CHECK_THAT(x.text(), Contains("it is too much for one step"));
  CHECK(x.text().size() < 1'500'000);
  // A person's pictures give way to newer ones of theirs.
  x.chat.say_user("more", {picture("new.png", 900'000)});
  CHECK_THAT(x.text(), Contains(encoded(picture("new.png", 900'000))) &&
                           !Contains(encoded(picture("mine.png", 300'000))));
  CHECK(x.text().size() < 1'500'000);
}

TEST_CASE("told again in the same order it is the same request") {
  const auto play = [](bool asks) {
    scene x{"anthropic", 6'000, 500'000};
    x.chat.say_user("go", {picture("mine.png")});
    for (int i = 0; i < 12; ++i) {
      const auto n = std::to_string(i);
      if (asks) static_cast<void>(x.text());
      x.chat.compact();
      x.read({{"a" + n, {picture("a" + n, 60'000)}},
              {"b" + n, {picture("a0", 60'000)}}});
    }
    return x.text();
  };
  CHECK(play(true) == play(false));
}

TEST_CASE("10,000 reads of one picture cost as much as 10,000 of a text") {
  const auto one = picture("a.png", 100'000);
  const auto time = [&](int reads) {
    const auto began = std::chrono::steady_clock::now();
    scene x{"openai"};
    x.chat.say_user("go");
    for (int i = 0; i < reads; ++i) x.read({{"c" + std::to_string(i), {one}}});
    const auto text = x.text();
    CHECK(count(text, encoded(one)) == 1);
    CHECK(text.size() < static_cast<std::size_t>(reads) * 500 + 200'000);
    return std::chrono::steady_clock::now() - began;
  };
  // The best of three: other work of the machine only adds.
  const auto few = std::min({time(1'000), time(1'000), time(1'000)});
  const auto many = std::min({time(10'000), time(10'000), time(10'000)});
  std::cout << "reads of one picture: 10,000 took "
            << static_cast<double>(many.count()) /
                   static_cast<double>(few.count())
            << " times as long as 1,000\n";
  CHECK(many < 40 * few);
}
