// SPDX-License-Identifier: MIT
// A runtime whose way to the model the application brings along.
#include <mutex>
#include <thread>

#include <nlohmann/json.hpp>

#include "runtime/api/riffle.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string chunk(const json& delta, const json& finish) {
  const json x{{"choices", {{{"delta", delta}, {"finish_reason", finish}}}}};
  return "data: " + x.dump() + "\n\n";
}

/// Answers each request at once, in the wire format of the dialect.
class parrot final : public model::transport {
 public:
  model::transfer_id open(
      model::transport_request request,
      std::shared_ptr<model::transfer_listener> listener) override {
    const auto body = json::parse(request.body);
    const auto text =
        body.at("messages").back().at("content").get<std::string>();
    {
      const std::lock_guard lock{mutex_};
      asked_.push_back(std::move(request));
    }
    listener->on_bytes(chunk({{"content", "You said: " + text}}, nullptr));
    listener->on_bytes(chunk(json::object(), "stop") + "data: [DONE]\n\n");
    listener->on_end({.http_status = 200, .content_type = "text/event-stream"});
    return 1;
  }
  void grant(model::transfer_id, std::size_t) override {}
  void cancel(model::transfer_id) override {}

  [[nodiscard]] std::vector<model::transport_request> asked() const {
    const std::lock_guard lock{mutex_};
    return asked_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<model::transport_request> asked_;
};

/// Never ends, whatever it is told; hands out its listeners.
class deaf final : public model::transport {
 public:
  model::transfer_id open(
      model::transport_request,
      std::shared_ptr<model::transfer_listener> listener) override {
    const std::lock_guard lock{mutex_};
    kept_.push_back(std::move(listener));
    return kept_.size();
  }
  void grant(model::transfer_id, std::size_t) override {}
  void cancel(model::transfer_id) override {}

  [[nodiscard]] std::vector<std::shared_ptr<model::transfer_listener>> kept()
      const {
    const std::lock_guard lock{mutex_};
    return kept_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<model::transfer_listener>> kept_;
};

/// Needs a key that is not there, and an address that leads nowhere.
runtime make_runtime(std::shared_ptr<model::transport> transport) {
  config::config config;
  config.models["default"].api_key_env = "RIFFLE_TEST_NO_SUCH_KEY";
  config.models["default"].base_url = "https://model.invalid/v1";
  config.agents["default"].tools = {};
  auto made =
      runtime::create(config, {.journal = storage::make_memory_journal(),
                               .transport = std::move(transport)});
  REQUIRE(made);
  return std::move(*made);
}

}  // namespace

TEST_CASE("an application's own transport carries the requests") {
  const auto transport = std::make_shared<parrot>();
  auto runtime = make_runtime(transport);
  const auto end = runtime.execute({.task = "Polly?"});
  REQUIRE(end);
  CHECK(end->answer == "You said: Polly?");
  const auto asked = transport->asked();
  REQUIRE(asked.size() == 1);
  CHECK(asked[0].url == "https://model.invalid/v1/chat/completions");
  for (const auto& header : asked[0].headers)
    CHECK_FALSE(header.starts_with("Authorization"));
}

TEST_CASE("without a transport the same runtime asks for a key") {
  auto runtime = make_runtime(nullptr);
  const auto end = runtime.execute({.task = "Polly?"});
  REQUIRE_FALSE(end);
  CHECK(end.error().code == errc::invalid_config);
}

TEST_CASE("a transport may speak after the runtime is gone") {
  const auto transport = std::make_shared<deaf>();
  {
    auto runtime = make_runtime(transport);
    auto started = runtime.start({.task = "Polly?"});
    REQUIRE(started);
    while (transport->kept().empty()) std::this_thread::yield();
  }
  for (const auto& listener : transport->kept()) {
    listener->on_bytes("data: late\n\n");
    listener->on_end({});
  }
}
