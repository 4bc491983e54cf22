// SPDX-License-Identifier: MIT
// Messages of the Model Context Protocol over HTTP, before anybody acts on
// them: sessions, keys that stand twice, several in one request.
#include "runtime/http/mcp_message.hpp"

#include "runtime/http/mcp_batch.hpp"
#include "runtime/http/site.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::http;

namespace {

caller named(const std::string& name) {
  caller x;
  x.name = name;
  return x;
}

request of_session(const std::string& session, const std::string& body) {
  request x;
  if (!session.empty()) x.fields.push_back({"mcp-session-id", session});
  x.body = body;
  return x;
}

unsigned status_of(const std::optional<reply>& x) { return x ? x->status : 0; }

/// Gives these pieces, one each time it is asked.
class pieces final : public body_source {
 public:
  explicit pieces(std::vector<std::string> all) : all_{std::move(all)} {}
  void begin(std::function<void()> wake) override { wake_ = std::move(wake); }
  std::shared_ptr<const std::string> next() override {
    if (at_ == open_) return nullptr;
    return std::make_shared<const std::string>(all_[at_++]);
  }
  [[nodiscard]] bool ended() const override { return at_ == all_.size(); }
  [[nodiscard]] bool broken() const override { return broken_; }
  void break_off() { broken_ = true; }
  void let_come(std::size_t n) {
    open_ = n;
    wake_();
  }

 private:
  std::vector<std::string> all_;
  std::size_t at_ = 0;
  std::size_t open_ = 0;
  bool broken_ = false;
  std::function<void()> wake_;
};

reply with_source(const std::shared_ptr<body_source>& x) {
  reply out;
  out.source = x;
  return out;
}

reply with_body(const std::string& x) {
  reply out;
  out.body = x;
  return out;
}

std::string next_of(body_source& x) {
  const auto piece = x.next();
  return piece ? *piece : "";
}

}  // namespace

TEST_CASE("a session is one that was begun here, by the same caller") {
  const auto list = R"({"id":1,"method":"tools/list"})";
  const auto judged = [&](const std::string& session, const std::string& who,
                          const std::string& body) {
    const auto in = of_session(session, body);
    return status_of(check_session_name(in, read_message(body), named(who)));
  };
  const auto mine = make_session(named("ci"));
  CHECK(mine.size() >= 32);
  CHECK(mine != make_session(named("ci")));
  CHECK(judged(mine, "ci", list) == 0);
  CHECK(judged("", "ci", list) == 400);
  CHECK(judged(mine, "other", list) == 404);
  for (const auto& unknown : {std::string{"zz"}, std::string{"-"}, mine + "0",
                              "x" + mine, mine.substr(1)})
    CHECK(judged(unknown, "ci", list) == 404);
  // Who begins, looks whether we live, or speaks the newer era has none.
  CHECK(judged("", "ci", R"({"id":1,"method":"initialize"})") == 0);
  const auto ping = R"({"id":1,"method":"ping"})";
  CHECK(judged("", "ci", ping) == 0);
  // Who names a session asks whether that one lives.
  CHECK(judged(mine, "ci", ping) == 0);
  CHECK(judged("zz", "ci", ping) == 404);
  CHECK(judged(mine, "other", ping) == 404);
  CHECK(judged("", "ci", "[" + std::string{list} + "]") == 400);
}

TEST_CASE("a key that stands twice in a message is refused") {
  const auto judged = [](const std::string& body) {
    return status_of(check_keys(of_session({}, body), read_message(body)));
  };
  CHECK(judged(R"({"method":"tools/list","method":"tools/call"})") == 400);
  CHECK(judged(R"([{"id":1,"id":2,"method":"ping"}])") == 400);
  CHECK(judged(R"({"method":"x","params":{"method":"y"}})") == 0);
  CHECK(judged("no JSON") == 0);  // that is told elsewhere
}

TEST_CASE("a list of messages is one of the versions that have it") {
  auto in = of_session("s", "");
  const auto some = mcp::json::array({{{"method", "ping"}, {"id", 1}}});
  CHECK(is_batch(in, some));
  CHECK_FALSE(is_batch(in, mcp::json::array()));
  CHECK_FALSE(is_batch(in, mcp::json::object()));
  in.fields.push_back({"mcp-protocol-version", "2025-03-26"});
  CHECK(is_batch(in, some));
  in.fields.back().value = "2025-06-18";
  CHECK_FALSE(is_batch(in, some));
}

TEST_CASE("several answers are one list, or one stream") {
  CHECK(joined({reply{}, reply{}}, false).status == 202);
  CHECK(
      joined({with_body("{\"id\":1}"), reply{}, with_body("{\"id\":2}")}, true)
          .body == "[{\"id\":1},{\"id\":2}]");
  for (const bool streams : {true, false}) {
    CAPTURE(streams);
    const auto one = std::make_shared<pieces>(
        streams ? std::vector<std::string>{"data: a\n\n", "data: b\n\n"}
                : std::vector<std::string>{"{\"b\"", ":1}"});
    const auto two = std::make_shared<pieces>(
        std::vector<std::string>{streams ? "data: c\n\n" : "{\"c\":1}"});
    const auto out = joined(
        {with_source(one), with_body("{\"a\":1}"), with_source(two)}, streams);
    REQUIRE(out.source);
    int woken = 0;
    out.source->begin([&] { ++woken; });
    CHECK(next_of(*out.source) == (streams ? "data: {\"a\":1}\n\n" : ""));
    two->let_come(1);
    CHECK(woken == 1);
    CHECK(next_of(*out.source) == (streams ? "data: c\n\n" : ""));
    CHECK_FALSE(out.source->ended());
    one->let_come(2);
    CHECK(next_of(*out.source) == (streams
                                       ? "data: a\n\ndata: b\n\n"
                                       : "[{\"a\":1},{\"b\":1},{\"c\":1}]"));
    CHECK(out.source->ended());
    CHECK_FALSE(out.source->broken());
    two->break_off();
    CHECK(out.source->broken());
  }
}

TEST_CASE(
    "within a list all is said in the protocol, and no list is too long") {
  const auto answered = [](const mcp::json& all) {
    reply out;
    call c;
    c.out = [&out](reply x) { out = std::move(x); };
    int served = 0;
    serve_batch(std::move(c), all, [&served](call one) {
      ++served;
      auto x = with_body(R"({"title":"Busy","detail":"no room"})");
      x.status = 503;
      one.out(std::move(x));
    });
    return std::pair{out, served};
  };
  const mcp::json ping{{"id", 1}, {"method", "ping"}};
  const mcp::json note{{"method", "notifications/cancelled"}};
  const mcp::json begin{{"id", 2}, {"method", "initialize"}};
  const auto [some, served] =
      answered(mcp::json::array({ping, note, begin, 17}));
  CHECK(served == 3);
  CHECK(some.status == 200);
  const auto all = mcp::json::parse(some.body);
  // Of a notification nothing is said.
  REQUIRE(all.size() == 3);
  CHECK(all[0].at("id") == 1);
  CHECK(all[0].at("error").at("message") == "no room");
  CHECK(all[1].at("id") == 2);
  CHECK(all[1].at("error").at("code") == mcp::code::invalid_request);
  CHECK(all[2].at("id").is_null());
  CHECK(answered(mcp::json::array({note, note})).first.status == 202);
  auto many = mcp::json::array();
  for (int i = 0; i < 20; ++i) many.push_back(ping);
  CHECK(answered(many).second == 20);
  many.push_back(ping);
  const auto [refused, none] = answered(many);
  CHECK(refused.status == 400);
  CHECK(none == 0);
}
