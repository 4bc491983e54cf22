// SPDX-License-Identifier: MIT
#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/seed.hpp"
#include "tests/tools/tool_fixture.hpp"
#include "tools/builtin/builtin.hpp"
#include "tools/builtin/shell/bash.hpp"
#include "tools/builtin/shell/output_spool.hpp"

using namespace riffle;
using namespace riffle::tools;

namespace {

std::string passed_rows(std::string_view text) {
  row_states rows;
  std::string out;
  rows.feed(text, out);
  rows.release(out);
  return out;
}

std::string progress_bar(int states) {
  std::string out;
  for (int i = 1; i <= states; ++i)
    out += "at " + std::to_string(i) + (i < states ? "\r" : "\n");
  return out;
}

}  // namespace

TEST_CASE("of a row that is written over the first and last states pass") {
  CHECK(passed_rows("begin\n" + progress_bar(5000) + "end\n") ==
        "begin\nat 1\rat 2\rat 3\r\n"
        "[... states of this row left out: 4996; | tr '\\r' '\\n' shows them "
        "...]\n"
        "at 5000\nend\n");
  // The next row counts anew.
  CHECK(
      passed_rows(progress_bar(5) + progress_bar(4)) ==
      "at 1\rat 2\rat 3\r\n"
      "[... states of this row left out: 1; | tr '\\r' '\\n' shows them ...]\n"
      "at 5\nat 1\rat 2\rat 3\rat 4\n");
  // A last state that was ended itself is one all the same.
  CHECK(passed_rows("1\r2\r3\r4\r5\r").ends_with("shows them ...]\n5\r"));
}

TEST_CASE("what is no progress passes as it is") {
  const std::string long_state(row_states::longest_state + 1, 'x');
  for (const std::string text :
       {"", "a", "a\nb", "a\r\nb\r\n\r\n", "a\rb\rc\rd\n", "a\rb\rc\rd",
        "a\rb\rc\rd\r", "a\rb\rc\rd\r\n", "a\r\r\r\rb", "\r\r\n", "\r",
        "a\rb\rc\rd\r\r\r\n", "1\r2\r3\r4\r   \r\n"}) {
    CAPTURE(text);
    CHECK(passed_rows(text) == text);
  }
  std::string many;
  for (int i = 0; i < 20; ++i) many += long_state + "\r";
  CHECK(passed_rows(many) == many);
}

TEST_CASE("rows of an old Mac pass, and what a program does one by one") {
  std::string lines;
  std::string steps;
  for (int i = 0; i < 100; ++i) {
    const std::string word(5, static_cast<char>('a' + i % 26));
    lines += word + "," + std::to_string(i) + "\r";
    steps += "Compiling " + word + " v1." + std::to_string(i) + "\r";
  }
  CHECK(passed_rows(lines) == lines);
  CHECK(passed_rows(steps + "\n") == steps + "\n");
}

TEST_CASE("what a row says in other words is another state") {
  for (const std::string text :
       {"установка\rошибка: диск полон\rудалено всё\rготово\rотказ\rконец\n",
        "安装\r安装\r安装\r安装\r错误\r完成\n",
        "1: ok\r2: ok\r3: ok\r4: ok\r5: NO\r6: ok\n",
        "1\r2\r3\r4\rERR 5\rrm -x\r7\n"}) {
    CAPTURE(text);
    CHECK(passed_rows(text) == text);
  }
  // Units, bars and spinners say nothing.
  for (const std::string text :
       {"a\rb\rc\r⠋ 9 kB/s ━━━\r⠙ 1.0 MB/s ━━━━╸\r⠹ 1.1 GiB/s, 3s\n",
        "a\rb\rc\r[=>  ] 9 ms eta 2 min\r[==> ] 1 s ETA 9 s\r[===>] 2 us\n"}) {
    CAPTURE(text);
    CHECK(passed_rows(text).find("states of this row left out: 2;") !=
          std::string::npos);
  }
}

TEST_CASE("rows pass alike in whatever pieces they come") {
  std::mt19937 random{testing::fresh_seed()};
  constexpr std::string_view letters = "ab\r\r\n";
  const std::string long_part(row_states::longest_state, 'x');
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (auto n = random() % 60; n > 0; --n)
      text += letters[random() % letters.size()];
    if (round % 10 == 0) text.insert(random() % (text.size() + 1), long_part);
    row_states rows;
    std::string out;
    for (std::string_view rest = text; !rest.empty();) {
      const auto n = std::min<std::size_t>(
          1 + random() % (round % 10 == 0 ? 3000 : 5), rest.size());
      rows.feed(rest.substr(0, n), out);
      rest.remove_prefix(n);
    }
    rows.release(out);
    CAPTURE(text);
    REQUIRE(out == passed_rows(text));
  }
}

TEST_CASE("bash: a progress bar costs the model a few lines, not thousands") {
  testing::tool_fixture x;
  const auto got =
      x.run(*make_bash({}),
            {{"command",
              "for i in $(seq 1 2000); do printf '%d of 2000\\r' $i; done >&2; "
              "printf 'done  \\n' >&2"}});
  CHECK(got.text ==
        "1 of 2000\r2 of 2000\r3 of 2000\r\n"
        "[... states of this row left out: 1996; | tr '\\r' '\\n' shows them "
        "...]\n"
        "2000 of 2000\rdone  \n");
}

TEST_CASE("bash: the states that are left out are in the whole output") {
  testing::tool_fixture x;
  x.context.output_file = x.folder.path() / "whole";
  const std::string words =
      "for i in $(seq 1 2000); do printf '%d of 2000\\r' $i; done; echo end";
  const auto got = x.run(*make_bash({}), {{"command", words}});
  CHECK(got.text.size() < 200);
  const auto metadata = json::parse(got.metadata);
  CHECK(metadata.at("truncated") == true);
  CHECK(metadata.at("whole_kept") == true);
  CHECK(metadata.at("lines") == 1);
  CHECK(metadata.at("bytes") ==
        std::filesystem::file_size(x.context.output_file));
  std::string all;
  for (int i = 1; i <= 2000; ++i) all += std::to_string(i) + " of 2000\r";
  std::ifstream in{x.context.output_file};
  CHECK(std::string{std::istreambuf_iterator<char>{in}, {}} == all + "end\n");
}

TEST_CASE("bash: what two sources write stands in the order in which it came") {
  testing::tool_fixture x;
  const std::jthread person{[&x] {
    testing::eventually([&] { return x.joined("stderr").ends_with("error"); });
    x.folder.write("go", "");
  }};
  const auto got =
      x.run(*make_bash({}),
            {{"command",
              "printf '1\\r2\\r3\\r4\\r5\\rerror' >&2\n"
              "until [ -e go ]; do sleep 0.01; done; echo and then"}});
  CHECK(
      got.text ==
      "1\r2\r3\r\n"
      "[... states of this row left out: 1; | tr '\\r' '\\n' shows them ...]\n"
      "5\rerrorand then\n");
}
