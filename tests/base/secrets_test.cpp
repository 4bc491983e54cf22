// SPDX-License-Identifier: MIT
#include "runtime/base/secrets.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/base/expired_secrets.hpp"
#include "runtime/base/secret_forms.hpp"
#include "tests/support/catch.hpp"

using namespace riffle;

namespace {

std::string slurp(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

std::string hidden(const std::string& text, const std::string& secret) {
  return hide_forms(text, secret_forms(secret));
}

}  // namespace

TEST_CASE("a secret is hidden in every form in which a server may echo it") {
  const std::string key = "sk-can/ary+\"42\"=z";
  CHECK(hidden("bad key " + key + "!", key) == "bad key ***!");
  CHECK(hidden(key + key, key) == "******");
  CHECK(hidden("?k=sk-can%2Fary%2B%2242%22%3Dz&x", key) == "?k=***&x");
  CHECK(hidden("?k=sk-can%2fary%2b%2242%22%3dz&x", key) == "?k=***&x");
  CHECK(hidden("{\"k\":\"sk-can/ary+\\\"42\\\"=z\"}", key) ==
        "{\"k\":\"***\"}");
  CHECK(hidden("{\"k\":\"sk-can\\/ary+\\\"42\\\"=z\"}", key) ==
        "{\"k\":\"***\"}");
  // echo -n 'user:sk-can/ary+"42"=z' | base64, and with "u:" and ":"
  for (const std::string text :
       {"dXNlcjpzay1jYW4vYXJ5KyI0MiI9eg==", "dTpzay1jYW4vYXJ5KyI0MiI9eg==",
        "OnNrLWNhbi9hcnkrIjQyIj16", "c2stY2FuL2FyeSsiNDIiPXo="}) {
    CAPTURE(text);
    CHECK(hidden("Basic " + text, key).find("***") != std::string::npos);
    CHECK(hidden("Basic " + text, key).size() <= 6 + 3 + 12);
  }
}

TEST_CASE("secrets that begin alike are hidden whole") {
  const std::string begin = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ0";
  const auto first = begin + "0.SIGNATURE-of-the-first-one";
  const auto second = begin + "1.signature-OF-THE-SECOND-and-longer";
  riffle::add_secret(first);
  riffle::add_secret(second);
  CHECK(riffle::redact("a " + first + " b") == "a *** b");
  CHECK(riffle::redact("a " + second + " b") == "a *** b");
  CHECK(riffle::redact("a " + second + second + "\n" + first) ==
        "a ******\n***");
}

TEST_CASE("a secret that was cut off at the end of a text is hidden, too") {
  const std::string key = "sk-canary-0123456789";
  for (std::size_t length = 8; length < key.size(); ++length)
    CHECK(hidden("bad key " + key.substr(0, length), key) == "bad key ***");
  CHECK(hidden("sk-", key) == "sk-");
  CHECK(hidden("", key).empty());
}

TEST_CASE("a begin at the end is hidden wherever its first letter stands") {
  const std::string key = "aaaa-aaaa-aaaab-0123456789";
  CHECK(hidden("text aaaa-aaaa-aaaa", key) == "text ***");
  CHECK(hidden("text aaaa aaaa-aaa", key) == "text aaaa ***");
  CHECK(hidden("text aaaa-aa", key) == "text aaaa-aa");
}

TEST_CASE("a secret that is forgotten costs nothing more, others stay") {
  const std::string kept = "sk-kept-one-0123456789";
  add_secret(kept);
  const auto name = [](int i) {
    return "sk-renewed-" + std::to_string(100'000 + i) + "-key";
  };
  for (int i = 0; i < 1000; ++i) {
    add_secret(name(i));
    REQUIRE(redact(name(i)) == "***");
    forget_secret(name(i));
    REQUIRE(redact(name(i)) == name(i));
  }
  CHECK(redact("a " + kept) == "a ***");
  forget_secret("sk-never-known");
  ::setenv("RIFFLE_TEST_KEPT_KEY", "sk-of-a-variable", 1);
  REQUIRE(read_key("RIFFLE_TEST_KEPT_KEY"));
  forget_secret("sk-of-a-variable");
  CHECK(redact(std::string{"sk-of-a-variable"}) == "***");
  ::unsetenv("RIFFLE_TEST_KEPT_KEY");
}

TEST_CASE("what is too short is no secret") {
  CHECK(secret_forms("").empty());
  CHECK(secret_forms("abc").empty());
  CHECK(hidden("the test failed", "none") == "the test failed");
}

TEST_CASE("the user of a URL is hidden wherever it stands") {
  CHECK(hide_user_of_urls("GET http://me:sk-1@host:80/a@b failed") ==
        "GET http://***@host:80/a@b failed");
  CHECK(hide_user_of_urls("a://b@c d://e:f@g") == "a://***@c d://***@g");
  CHECK(hide_user_of_urls("http://host/me@example.org ://") ==
        "http://host/me@example.org ://");
  add_secrets_of_url("https://someone:pass%2Fword@host/v1");
  CHECK(redact(std::string{"no pass%2Fword here"}) == "no *** here");
}

TEST_CASE("an error is redacted in all that it says") {
  add_secret("sk-canary-of-errors");
  const auto x =
      redact(error{errc::model_error, "model", "wrong: sk-canary-of-errors",
                   true, "status sk-canary-of-errors"});
  CHECK(x ==
        error{errc::model_error, "model", "wrong: ***", true, "status ***"});
}

// /proc shows the environment of the last exec: the test needs a new program.
TEST_CASE("a program with keys, run by the tests", "[.keys]") {
  const std::string canary = "canary-of-the-environment";
  const auto before = slurp("/proc/self/environ");
  take_key("RIFFLE_TEST_KEY");
  const auto after = slurp("/proc/self/environ");
  std::string children;
  for (const auto& x : environment_without_keys()) children += x + '\n';
  std::string got;
  if (before.find(canary) != before.npos) got += "before ";
  if (after.find(canary) != after.npos) got += "after ";
  if (after.find("RIFFLE_TEST_OTHER=stays") != after.npos) got += "other ";
  if (std::getenv("RIFFLE_TEST_KEY") || std::getenv("RIFFLE_TEST_ALIAS"))
    got += "set ";
  if (children.find(canary) != children.npos) got += "children ";
  if (read_key("RIFFLE_TEST_KEY") == "sk-" + canary) got += "known ";
  refuse_tracing();
  if (::geteuid() == 0) {
    REQUIRE(::setgid(65534) == 0);
    REQUIRE(::setuid(65534) == 0);
    refuse_tracing();
    const auto parent = std::to_string(::getpid());
    const auto child = ::fork();
    if (child == 0) {
      // A fork is the same program; an exec makes it one that may be traced.
      const auto look = "cat /proc/" + parent + "/environ > /dev/null 2>&1";
      ::execl("/bin/sh", "sh", "-c", look.c_str(), nullptr);
      ::_exit(99);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    if (WEXITSTATUS(status) == 0) got += "shown ";
  }
  std::cout << "got: " << got << std::endl;
}

TEST_CASE("a key that was taken is in no environment, and still known") {
  const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
  const auto file = std::filesystem::temp_directory_path() /
                    ("riffle-keys-" + std::to_string(::getpid()));
  const auto command =
      "RIFFLE_TEST_KEY=sk-canary-of-the-environment "
      "RIFFLE_TEST_ALIAS=x=sk-canary-of-the-environment "
      "RIFFLE_TEST_OTHER=stays " +
      self + " '[.keys]' > " + file.string();
  REQUIRE(std::system(command.c_str()) == 0);
  const auto said = slurp(file.string());
  std::filesystem::remove(file);
#ifdef __SANITIZE_ADDRESS__
  CHECK(said.find("got: before other known ") != said.npos);
#else
  CHECK(said.find("got: before other known \n") != said.npos);
#endif
}

TEST_CASE("a key that stays in the environment is given to no child") {
  ::setenv("RIFFLE_TEST_KEY", "sk-canary-that-stays", 1);
  CHECK(read_key("RIFFLE_TEST_KEY") == "sk-canary-that-stays");
  CHECK_FALSE(read_key("RIFFLE_TEST_NO_KEY"));
  ::setenv("RIFFLE_TEST_OTHER", "stays", 1);
  CHECK(std::ranges::count(environment_without_keys(),
                           "RIFFLE_TEST_OTHER=stays") == 1);
  for (const auto& x : environment_without_keys())
    CHECK(x.find("canary-that-stays") == x.npos);
  ::setenv("RIFFLE_TEST_KEY", "short\n", 1);
  CHECK(read_key("RIFFLE_TEST_KEY") == "short\n");
  for (const auto& x : environment_without_keys())
    CHECK_FALSE(x.starts_with("RIFFLE_TEST_KEY="));
  CHECK(redact(std::string{"the key short is wrong"}) ==
        "the key *** is wrong");
  ::unsetenv("RIFFLE_TEST_KEY");
  ::unsetenv("RIFFLE_TEST_OTHER");
}

TEST_CASE("no usual way to write a secret shows it") {
  const std::string key = "sk-canary-KEY0123456789abcdef";
  const auto forms = riffle::secret_forms(key);
  const auto said = [&](const std::string& text) {
    return riffle::hide_forms("<" + text + ">", forms);
  };
  const auto each = [&](const char* format, bool all) {
    std::string out;
    for (const char c : key) {
      std::array<char, 16> piece{};
      std::snprintf(piece.data(), piece.size(), format,
                    static_cast<unsigned>(c));
      out += all || c == '-' ? piece.data() : std::string(1, c);
    }
    return out;
  };
  for (const auto* format : {"%%%02x", "%%%02X", "%02x", "%02X", "&#%u;",
                             "&#x%x;", "&#x%X;", "\\x%02x", "\\u%04x"}) {
    CAPTURE(format);
    CHECK(said(each(format, true)) == "<***>");
  }
  CHECK(said(each("&#%u;", false)) == "<***>");
  CHECK(said(each("%%%02x", false)) == "<***>");
  // Masked by somebody, but only its end.
  CHECK(said("sk-canary-KEY0123456789******") == "<*********>" + std::string{});
  CHECK(said("sk-canary-KEY01****") == "<*******>");
  CHECK(said("sk-canary-****") == "<sk-canary-****>");
  // Or its begin, or both.
  CHECK(said(key.substr(3)) == "<***>");
  CHECK(said("****" + key.substr(4)) == "<*******>");
  CHECK(said(key.substr(2, key.size() - 4)) == "<***>");
  CHECK(said(key.substr(key.size() - 8)) == "<" + key.substr(21) + ">");
}

TEST_CASE("to hide users of addresses costs what a text is long") {
  std::string text;
  std::string hidden;
  while (text.size() < (4u << 20)) {
    text += "://abcd@\n";
    hidden += "://***@\n";
  }
  const auto begin = std::clock();
  CHECK((riffle::hide_user_of_urls(text) == hidden));
  // Of the square it was seconds for each MiB.
  CHECK(static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC < 2);
}
