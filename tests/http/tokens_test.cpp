// SPDX-License-Identifier: MIT
#include "runtime/http/tokens.hpp"

#include <filesystem>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/digest.hpp"
#include "runtime/base/file_limit.hpp"
#include "tests/config/temp_folder.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;
using namespace riffle::http;
using namespace std::chrono_literals;

namespace {

std::map<std::string, config::token_config> two_tokens() {
  config::token_config reader;
  reader.hash = sha256("r");
  reader.roles = {"read"};
  config::token_config worker;
  worker.hash = sha256("w");
  worker.roles = {"run", "read"};
  worker.agents = {"writer"};
  worker.sessions = "all";
  return {{"reader", reader}, {"worker", worker}};
}

}  // namespace

TEST_CASE("a token has its roles, agents and sessions") {
  const token_book x{"main", two_tokens(), "key"};
  const auto main = x.find("main");
  REQUIRE(main);
  CHECK(main->name == "default");
  CHECK(main->sees_all);
  for (const auto role : {role::run, role::decide, role::read, role::admin})
    CHECK(main->may(role));
  const auto reader = x.find("r");
  REQUIRE(reader);
  CHECK(reader->origin() == "server:reader");
  CHECK(reader->may(role::read));
  CHECK_FALSE(reader->may(role::run));
  CHECK_FALSE(reader->may(role::decide));
  CHECK_FALSE(reader->may(role::admin));
  CHECK_FALSE(reader->sees_all);
  CHECK(reader->may_use("anything"));
  const auto worker = x.find("w");
  CHECK(worker->sees_all);
  CHECK(worker->may_use("writer"));
  CHECK_FALSE(worker->may_use("default"));
  CHECK_FALSE(x.find(""));
  CHECK_FALSE(x.find("other"));
  CHECK_FALSE(token_book("", {}, "key").find(""));
}

TEST_CASE("a cookie ends with its token, its key and its time") {
  const token_book x{"main", two_tokens(), "key"};
  const auto who = x.find("r");
  const auto cookie = x.cookie_for(*who, {100});
  REQUIRE(x.find_cookie(cookie, {99}));
  CHECK(x.find_cookie(cookie, {99})->name == "reader");
  CHECK_FALSE(x.find_cookie(cookie, {101}));
  CHECK(token_book("other", two_tokens(), "key").find_cookie(cookie, {99}));
  CHECK_FALSE(token_book("main", two_tokens(), "k").find_cookie(cookie, {99}));
  auto changed = two_tokens();
  changed["reader"].hash = sha256("new");
  CHECK_FALSE(token_book("main", changed, "key").find_cookie(cookie, {99}));
  // A longer time, another name, nothing.
  auto longer = cookie;
  longer.replace(0, 3, "999");
  CHECK_FALSE(x.find_cookie(longer, {99}));
  for (const auto* bad : {"", ".", "..", "100.reader.", "x.reader.y"})
    CHECK_FALSE(x.find_cookie(bad, {1}));
}

TEST_CASE("a secret is made once, for nobody else") {
  const riffle::testing::temp_folder folder;
  const auto file = folder.path() / "server" / "token";
  const auto first = secret_file(file);
  REQUIRE(first);
  CHECK(first->size() == 64);
  CHECK(secret_file(file) == first);
  CHECK(secret_file(folder.path() / "other") != first);
  struct ::stat about{};
  REQUIRE(::stat(file.c_str(), &about) == 0);
  CHECK((about.st_mode & 0777U) == 0600U);
}

TEST_CASE("a secret that there is no room for leaves nothing behind") {
  const riffle::testing::temp_folder folder;
  const auto file = folder.path() / "server" / "token";
  // The limit cannot be taken back, nor is it to fall on others.
  const auto child = ::fork();
  if (child == 0) {
    const rlimit limit{10, 10};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    riffle::outlive_file_limit();
    const auto x = secret_file(file);
    ::_exit(x ? 1 : x.error().code == errc::storage_unavailable ? 0 : 2);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(std::filesystem::is_empty(file.parent_path()));
  CHECK(secret_file(file));
}

TEST_CASE("a secret that others can read is none") {
  const riffle::testing::temp_folder folder;
  const auto file = folder.path() / "token";
  REQUIRE(secret_file(file));
  std::filesystem::permissions(file, std::filesystem::perms{0640});
  const auto x = secret_file(file);
  REQUIRE_FALSE(x);
  CHECK(x.error().code == errc::invalid_config);
  CHECK(x.error().message.find("chmod 600") != std::string::npos);
  std::filesystem::permissions(file, std::filesystem::perms{0600});
  std::ofstream{file} << "short\n";
  CHECK_FALSE(secret_file(file));
}

TEST_CASE("so many requests a second, each token for itself") {
  rate_limiter x{3};
  const time_point t{1h};
  for (int i = 0; i < 3; ++i) CHECK(x.admit("a", t));
  CHECK_FALSE(x.admit("a", t));
  CHECK(x.admit("b", t));
  CHECK_FALSE(x.admit("a", t + 300ms));
  for (int i = 0; i < 2; ++i) CHECK(x.admit("a", t + 700ms));
  CHECK_FALSE(x.admit("a", t + 700ms));
  // What was not used is not saved up for more than a second.
  for (int i = 0; i < 3; ++i) CHECK(x.admit("a", t + 1h));
  CHECK_FALSE(x.admit("a", t + 1h));
  rate_limiter none{0};
  for (int i = 0; i < 1000; ++i) CHECK(none.admit("a", t));
}

TEST_CASE("who may wait has his turn later, one after the other") {
  rate_limiter x{4};
  const time_point t{1h};
  for (int i = 0; i < 4; ++i) CHECK(x.delay("a", t, 1s) == duration{});
  CHECK(x.delay("a", t, 1s) == duration{250ms});
  CHECK(x.delay("a", t, 1s) == duration{500ms});
  CHECK(x.delay("a", t, 600ms) == std::nullopt);  // and takes no turn
  CHECK(x.delay("a", t, 1s) == duration{750ms});
  CHECK_FALSE(x.admit("a", t + 900ms));
  CHECK(x.admit("a", t + 1s));
  CHECK(x.admit("b", t));
}

TEST_CASE("who has used up his turns is not forgotten for others that come") {
  rate_limiter x{1};
  const time_point t{1h};
  REQUIRE(x.admit("a", t));
  const auto later = t + 100ms;
  for (int i = 0; i < 12'000; ++i)
    x.admit(std::to_string(i), i < 9'000 ? t - 10s : later);
  CHECK_FALSE(x.admit("a", later));
}
