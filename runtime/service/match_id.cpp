// SPDX-License-Identifier: MIT
#include "runtime/service/match_id.hpp"

#include <algorithm>
#include <vector>

#include <re2/re2.h>

namespace riffle::service {

namespace {

constexpr std::size_t most_named = 4;

template <class Id>
error several(const std::string& part, const std::vector<const Id*>& found,
              const char* kind) {
  std::string names;
  for (std::size_t i = 0; i < found.size() && i < most_named; ++i)
    names += (i == 0 ? "" : ", ") + found[i]->value;
  if (found.size() > most_named) names += ", …";
  return {errc::invalid_request, std::string{kind} + "s",
          "\"" + part + "\" is part of " + std::to_string(found.size()) +
              " ids (" + names + "): say more of the one that you mean"};
}

template <class Id>
expected<Id> match(const std::string& part, std::span<const Id> all,
                   const char* kind) {
  std::vector<const Id*> found;
  for (const auto& id : all) {
    if (id.value == part) return id;
    if (is_part_of(part, id.value)) found.push_back(&id);
  }
  if (found.size() == 1) return *found.front();
  if (found.size() > 1) return unexpected{several(part, found, kind)};
  return unexpected{
      error{errc::not_found, std::string{kind} + "s",
            "there is no " + std::string{kind} + " \"" + part + "\""}};
}

}  // namespace

bool is_part_of(const std::string& part, const std::string& id) {
  return part.size() >= shortest_part &&
         (id.starts_with(part) || id.ends_with(part));
}

expected<session_id> match_id(const std::string& part,
                              std::span<const session_id> all) {
  return match(part, all, "session");
}

expected<proposal_id> match_id(const std::string& part,
                               std::span<const proposal_id> all) {
  return match(part, all, "proposal");
}

word_search::word_search(std::string_view words) {
  constexpr std::string_view blanks = " \t\r\n";
  // RE2 folds the letters of all scripts.
  re2::RE2::Options options;
  options.set_case_sensitive(false);
  options.set_literal(true);
  options.set_log_errors(false);
  for (std::size_t at = 0;
       (at = words.find_first_not_of(blanks, at)) != words.npos;) {
    const auto end = std::min(words.find_first_of(blanks, at), words.size());
    const std::string word{words.substr(at, end - at)};
    auto found = std::make_unique<re2::RE2>(word, options);
    if (!found->ok()) {  // no text: its bytes are looked for
      auto bytes = options;
      bytes.set_encoding(re2::RE2::Options::EncodingLatin1);
      found = std::make_unique<re2::RE2>(word, bytes);
    }
    words_.push_back(std::move(found));
    at = end;
  }
}

word_search::~word_search() = default;

bool word_search::finds(std::string_view text) const {
  const re2::StringPiece in{text.data(), text.size()};
  return std::ranges::all_of(words_, [&](const auto& word) {
    return re2::RE2::PartialMatch(in, *word);
  });
}

}  // namespace riffle::service
