// SPDX-License-Identifier: MIT
#include "runtime/service/match_id.hpp"

#include "tests/support/catch.hpp"

using namespace riffle;
using service::match_id;

namespace {

const std::vector<session_id> all{
    {"ses_01aaaabcd"}, {"ses_01aaaxyzw"}, {"notes"}, {"notes-2"}, {"abcd"}};

errc refusal(const std::string& part) {
  const auto x = match_id(part, all);
  REQUIRE_FALSE(x);
  return x.error().code;
}

}  // namespace

TEST_CASE("any part that only one id begins or ends with is that id") {
  CHECK(match_id("xyzw", all) == session_id{"ses_01aaaxyzw"});
  CHECK(match_id("ses_01aaax", all) == session_id{"ses_01aaaxyzw"});
  CHECK(match_id("aabcd", all) == session_id{"ses_01aaaabcd"});
}

TEST_CASE("the whole id wins over parts of others") {
  CHECK(match_id("notes", all) == session_id{"notes"});
  CHECK(match_id("abcd", all) == session_id{"abcd"});
}

TEST_CASE("several, none and too little are refused") {
  CHECK(refusal("ses_01aaa") == errc::invalid_request);
  CHECK(match_id("ses_01aaa", all).error().message ==
        "\"ses_01aaa\" is part of 2 ids (ses_01aaaabcd, ses_01aaaxyzw): say "
        "more of the one that you mean");
  CHECK(refusal("yzw") == errc::not_found);
  CHECK(refusal("") == errc::not_found);
  CHECK(refusal("aaax") == errc::not_found);  // in the middle
}

TEST_CASE("one of 10,000 is found") {
  std::vector<session_id> many;
  for (int i = 10'000; i < 20'000; ++i)
    many.push_back({"ses_0" + std::to_string(i) + "x"});
  CHECK(match_id("19999x", many) == session_id{"ses_019999x"});
  const auto several = match_id("ses_0", many);
  REQUIRE_FALSE(several);
  CHECK(several.error().message.size() < 200);
}

TEST_CASE("a title is found by words of it, in any order and any case") {
  const auto has_words = [](const char* text, const char* words) {
    return service::word_search{words}.finds(text);
  };
  CHECK(has_words("Fix the Tax Report ses_01", "tax fix"));
  CHECK(has_words("Fix the Tax Report ses_01", " rep \t_01\n"));
  CHECK_FALSE(has_words("Fix the Tax Report", "tax fax"));
  CHECK_FALSE(has_words("", "tax"));
  CHECK(has_words("anything", "  "));
  CHECK(has_words("GRÖSSE der Äpfel", "ÄPFEL grösse"));
  CHECK(has_words("ОТЧЁТ о чае", "отчёт Чае"));
  CHECK(has_words("a.*b (c", ".* (C"));
  CHECK_FALSE(has_words("axxb", ".*"));
  CHECK(has_words("caf\xe9 au lait", "\xe9"));  // no UTF-8: bytes
  CHECK_FALSE(has_words("caf\xc3\xa9", "\xe9"));
}
