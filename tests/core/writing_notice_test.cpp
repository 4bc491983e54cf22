// SPDX-License-Identifier: MIT
#include "actors/core/writing_notice.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using namespace std::chrono_literals;

namespace {

call_fragment piece(const std::string& name, std::size_t bytes,
                    std::uint32_t index = 0) {
  call_fragment x;
  x.index = index;
  x.name = name;
  x.arguments.assign(bytes, 'x');
  return x;
}

}  // namespace

TEST_CASE("a call that is written is told at once, and then now and then") {
  core::writing_notice notice;
  time_point now{};
  notice.on(piece("write", 10));
  CHECK(notice.take(now) == "writing a call of write …");
  CHECK_FALSE(notice.take(now += 10s));  // nothing of it came
  notice.on(piece("", 2000));
  CHECK(notice.take(now) == "writing a call of write … 502 tokens");
  notice.on(piece("", 10'000));
  CHECK_FALSE(notice.take(now += 999ms));
  CHECK(notice.take(now += 1ms) == "writing a call of write … 3.0k tokens");
  // Another call counts for itself.
  notice.on(piece("read", 100, 1));
  CHECK(notice.take(now) == "writing a call of read …");
  notice.on(piece("", 1024, 1));
  CHECK_FALSE(notice.take(now += 999ms));
  CHECK(notice.take(now += 1ms) == "writing a call of read … 281 tokens");
}

TEST_CASE("a call that came at once is not told") {
  core::writing_notice notice;
  auto whole = piece("read", 2000);
  whole.arguments_whole = true;
  notice.on(whole);
  CHECK_FALSE(notice.take({}));
  notice.on(piece("read", 20, 1));
  auto end = piece("", 20, 1);
  end.closes = true;
  notice.on(end);
  CHECK_FALSE(notice.take({}));
}

TEST_CASE("a call without a name yet is not told") {
  core::writing_notice notice;
  time_point now{};
  notice.on(piece("", 5000));
  CHECK_FALSE(notice.take(now));
  CHECK_FALSE(notice.take(now += 10s));
}

TEST_CASE("the file is told as soon as it is known") {
  core::writing_notice notice;
  time_point now{};
  auto x = piece("write", 0);
  notice.on(x);
  CHECK(notice.take(now) == "writing a call of write …");
  x.name.clear();
  x.arguments = R"({"path": "src/)";
  notice.on(x);
  CHECK_FALSE(notice.take(now += 10ms));
  x.arguments = R"(big.py", "content": ")";
  notice.on(x);
  CHECK(notice.take(now += 10ms) == "writing src/big.py …");
  CHECK_FALSE(notice.take(now += 10ms));
}

TEST_CASE("a file that is written is named") {
  const auto told = [](const std::string& name, const std::string& begin) {
    core::writing_notice notice;
    time_point now{};
    auto first = piece(name, 0);
    first.arguments = begin.substr(0, 9);
    notice.on(first);
    (void)notice.take(now);
    auto rest = piece("", 0);
    rest.arguments = begin.substr(9) + std::string(4000, 'x');
    notice.on(rest);
    return notice.take(now += 1s).value_or("");
  };
  CHECK(told("write", R"({"path": "src/big.py", "content": ")") ==
        "writing src/big.py … 1.0k tokens");
  CHECK(told("edit", R"( { "path" : "a" , "old_string": ")")
            .starts_with("writing a … "));
  // Of others the path is not what is written.
  CHECK(told("bash", R"({"path": "a", "x": ")")
            .starts_with("writing a call of bash … "));
  for (const std::string other :
       {R"({"content": "\"path\": \"b\" )", R"({"path": "a\u0041", "x": ")",
        R"({"content": ")", R"(["path", "a", "b"])"})
    CHECK(told("write", other).starts_with("writing a call of write … "));
  CHECK(core::is_writing_notice("writing a call of write …"));
  CHECK(core::is_writing_notice(told("write", R"({"path": "b", "x":)")));
  CHECK_FALSE(core::is_writing_notice("Writing a.txt"));
}
