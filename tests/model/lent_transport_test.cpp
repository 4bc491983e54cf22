// SPDX-License-Identifier: MIT
// What holds of a transport that an application brings along.
#include "runtime/model/lent_transport.hpp"

#include <stdexcept>

#include "tests/model/fake_transport.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

struct heard final : model::transfer_listener {
  void on_bytes(std::string bytes) override { text += bytes; }
  void on_end(model::transport_end end) override {
    ends.push_back(std::move(end));
  }
  std::string text;
  std::vector<model::transport_end> ends;
};

struct scene {
  std::shared_ptr<testing::fake_transport> inner =
      std::make_shared<testing::fake_transport>();
  std::shared_ptr<model::lent_transport> lent =
      model::make_lent_transport(inner);
  std::shared_ptr<heard> listener = std::make_shared<heard>();

  [[nodiscard]] std::shared_ptr<model::transfer_listener> inner_listener()
      const {
    return inner->all().back().listener;
  }
};

struct throwing final : model::transport {
  model::transfer_id open(model::transport_request,
                          std::shared_ptr<model::transfer_listener>) override {
    throw std::runtime_error{"out of modems"};
  }
  void grant(model::transfer_id, std::size_t) override {}
  void cancel(model::transfer_id) override {}
};

}  // namespace

TEST_CASE("what a lent transport brings passes, and so do grants and cancels") {
  scene s;
  const auto id = s.lent->open({.url = "a", .credit = 10}, s.listener);
  s.lent->grant(id, 5);
  s.inner_listener()->on_bytes("hello ");
  s.inner_listener()->on_bytes("world");
  CHECK(s.listener->text == "hello world");
  CHECK(s.inner->all().at(0).credit == 15);
  s.lent->cancel(id);
  CHECK(s.inner->all().at(0).cancelled);
  REQUIRE(s.listener->ends.size() == 1);
  CHECK(s.listener->ends[0].failure->code == errc::cancelled);
}

TEST_CASE("a lent transport that ends twice is heard once") {
  scene s;
  s.lent->open({.url = "a"}, s.listener);
  const auto passed = s.inner_listener();
  passed->on_end({.http_status = 200});
  passed->on_bytes("late");
  passed->on_end({.http_status = 500});
  REQUIRE(s.listener->ends.size() == 1);
  CHECK(s.listener->ends[0].http_status == 200);
  CHECK(s.listener->text.empty());
}

TEST_CASE("after it is closed a lent transport reaches nobody") {
  scene s;
  s.lent->open({.url = "a"}, s.listener);
  const auto passed = s.inner_listener();
  s.lent->close();
  REQUIRE(s.listener->ends.size() == 1);
  CHECK(s.listener->ends[0].failure->code == errc::cancelled);
  CHECK(s.inner->all().at(0).cancelled);
  CHECK(s.listener.use_count() == 1);  // nothing keeps what was in its way
  passed->on_bytes("late");
  passed->on_end({});
  CHECK(s.listener->text.empty());
  CHECK(s.listener->ends.size() == 1);

  const auto second = std::make_shared<heard>();
  s.lent->open({.url = "b"}, second);
  REQUIRE(second->ends.size() == 1);
  CHECK(second->ends[0].failure->code == errc::cancelled);
  CHECK(s.inner->all().size() == 1);
}

TEST_CASE("a lent transport that throws costs the request, not the process") {
  const auto lent = model::make_lent_transport(std::make_shared<throwing>());
  const auto listener = std::make_shared<heard>();
  lent->open({.url = "a"}, listener);
  REQUIRE(listener->ends.size() == 1);
  const auto& failure = listener->ends[0].failure;
  REQUIRE(failure);
  CHECK(failure->code == errc::model_error);
  CHECK(failure->message ==
        "the transport of the application threw: out of modems");
}
