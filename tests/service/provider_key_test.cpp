// SPDX-License-Identifier: MIT
// A program that prints a key, asked by many at once.
#include "runtime/service/provider_key.hpp"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runtime/base/digest.hpp"
#include "runtime/base/secrets.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/time_scale.hpp"

using namespace riffle;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using service::command_key;
using testing::eventually;
using testing::scaled;
using testing::temp_folder;

namespace {

/// It notes each start and waits until it may end, as `ends` says.
struct key_program {
  explicit key_program(const std::string& ends) {
    const auto file =
        folder.write("print-key",
                     "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho run >> runs\n"
                     "until test -e go; do sleep 0.05; done\n" +
                         ends + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    key = std::make_unique<command_key>(std::vector{file.string()});
  }
  [[nodiscard]] std::size_t runs() const {
    std::ifstream in{folder.path() / "runs"};
    std::size_t n = 0;
    for (std::string line; std::getline(in, line);) ++n;
    return n;
  }
  void may_end() const { folder.write("go", ""); }
  /// On a thread of its own.
  std::future<expected<std::string>> ask(std::stop_token stop = {}) const {
    return std::async(std::launch::async, [this, stop = std::move(stop)] {
      return key->get(stop);
    });
  }
  [[nodiscard]] std::vector<std::future<expected<std::string>>> ask_all(
      std::size_t n) const {
    std::vector<std::future<expected<std::string>>> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back(ask());
    std::this_thread::sleep_for(scaled(500ms));  // by then they wait
    return all;
  }

  temp_folder folder;
  std::unique_ptr<command_key> key;
};

}  // namespace

TEST_CASE("a key program that fails is run once for all that wait for it") {
  const key_program x{"echo log in first >&2; exit 3"};
  auto all = x.ask_all(8);
  REQUIRE(eventually([&] { return x.runs() == 1; }));
  x.may_end();
  for (auto& one : all) {
    const auto key = one.get();
    REQUIRE_FALSE(key);
    CHECK(key.error().code == errc::invalid_config);
    CHECK_THAT(key.error().message, Contains("log in first"));
  }
  CHECK(x.runs() == 1);
  CHECK_FALSE(x.ask().get());  // who comes later may have more luck
  CHECK(x.runs() == 2);
}

TEST_CASE("a key program that prints a key is run once for all") {
  const key_program x{"echo some-key"};
  auto all = x.ask_all(8);
  x.may_end();
  for (auto& one : all) CHECK(one.get() == std::string{"some-key"});
  CHECK(x.ask().get() == std::string{"some-key"});
  CHECK(x.runs() == 1);
}

TEST_CASE("what a key program prints is a key only if it is one word") {
  for (const std::string ends : {"echo log in", "printf 'k\\001y'"}) {
    CAPTURE(ends);
    const key_program x{ends};
    x.may_end();
    const auto key = x.key->get({});
    REQUIRE_FALSE(key);
    CHECK(key.error().code == errc::invalid_config);
    CHECK_THAT(key.error().message, Contains("with blanks or control"));
  }
}

TEST_CASE("a key program that its caller stopped is run by the next one") {
  const key_program x{"echo log in first >&2; exit 3"};
  std::stop_source stop;
  auto first = x.ask(stop.get_token());
  REQUIRE(eventually([&] { return x.runs() == 1; }));
  auto others = x.ask_all(4);
  stop.request_stop();
  const auto stopped = first.get();
  REQUIRE_FALSE(stopped);
  CHECK(stopped.error().code == errc::cancelled);
  REQUIRE(eventually([&] { return x.runs() == 2; }));
  x.may_end();
  for (auto& one : others) {
    const auto key = one.get();
    REQUIRE_FALSE(key);
    CHECK(key.error().code == errc::invalid_config);
  }
  CHECK(x.runs() == 2);
}

TEST_CASE("only the last of many renewed keys are secrets") {
  const temp_folder folder;
  const auto file =
      folder.write("print-key",
                   "#!/bin/sh\ncd \"$(dirname \"$0\")\"\necho x >> runs\n"
                   "printf %s $(wc -l < runs) | sha256sum | cut -c 1-40\n");
  std::filesystem::permissions(file, std::filesystem::perms::owner_all);
  command_key one{{file.string()}};
  const auto key = [](int n) {
    return ::riffle::sha256(std::to_string(n)).substr(0, 40);
  };
  REQUIRE(one.get({}) == key(1));
  for (int i = 1; i < 30; ++i) {
    model::transport_request request;
    request.headers = {"Authorization: Bearer " + key(i)};
    REQUIRE(one.renew(request, {}));
    REQUIRE(request.headers.front().ends_with(key(i + 1)));
  }
  for (const int old : {30, 29, 14}) CHECK(redact(key(old)) == "***");
  for (const int old : {1, 2, 13}) CHECK(redact(key(old)) == key(old));
}
