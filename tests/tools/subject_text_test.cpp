// SPDX-License-Identifier: MIT
#include "tools/subject_text.hpp"

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"

using namespace riffle::tools;
using nlohmann::json;

TEST_CASE("the argument that says most is the subject of a call") {
  CHECK(subject_text({{"content", "x"}, {"path", "a.txt"}}) == "a.txt");
  CHECK(subject_text({{"path", "src"}, {"pattern", "a b"}}) == "a b");
  CHECK(subject_text({{"text", "x"}}).empty());
  CHECK(subject_text({{"path", 1}}).empty());
  CHECK(subject_text(json::array({"path"})).empty());
}

TEST_CASE("of a tool that nobody knows it may be any short text") {
  CHECK(any_subject_text({{"a", 1}, {"b", " "}, {"c", "so"}}) == "so");
  CHECK(any_subject_text({{"a", std::string(90, 'x')}, {"b", "short"}}) ==
        "short");
  CHECK(any_subject_text({{"a", std::string(90, 'x')}}) ==
        std::string(90, 'x'));
  CHECK(any_subject_text({{"n", 1}}) == "1");
  CHECK(any_subject_text({{"n", 1}, {"m", 2}}).empty());
  CHECK(any_subject_text({{"on", true}}).empty());
}

TEST_CASE("a title has the subject in one line") {
  CHECK(title_with_subject("Using x to y", {{"on", true}}) == "Using x to y");
  CHECK(title_with_subject("Using x to y", {{"url", "https://a"}}) ==
        "Using x to y: https://a");
  CHECK(title_with_subject("Using x to y", {{"query", "\n one\ntwo"}}) ==
        "Using x to y: one …");
  CHECK(title_with_subject("T", {{"name", std::string(500, 'n')}}) ==
        "T: " + std::string(120, 'n') + "…");
}
