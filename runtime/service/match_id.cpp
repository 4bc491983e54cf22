// SPDX-License-Identifier: MIT
#include "runtime/service/match_id.hpp"

#include <vector>

namespace riffle::service {

namespace {

constexpr std::size_t most_named = 4;

error several(const std::string& part,
              const std::vector<const session_id*>& found) {
  std::string names;
  for (std::size_t i = 0; i < found.size() && i < most_named; ++i)
    names += (i == 0 ? "" : ", ") + found[i]->value;
  if (found.size() > most_named) names += ", …";
  return {errc::invalid_request, "sessions",
          "\"" + part + "\" is part of " + std::to_string(found.size()) +
              " ids (" + names + "): say more of the one that you mean"};
}

}  // namespace

expected<session_id> match_id(const std::string& part,
                              std::span<const session_id> all) {
  std::vector<const session_id*> found;
  for (const auto& id : all) {
    if (id.value == part) return id;
    const auto& x = id.value;
    if (part.size() >= shortest_part &&
        (x.starts_with(part) || x.ends_with(part)))
      found.push_back(&id);
  }
  if (found.size() == 1) return *found.front();
  if (found.size() > 1) return unexpected{several(part, found)};
  return unexpected{error{errc::not_found, "sessions",
                          "there is no session \"" + part + "\""}};
}

}  // namespace riffle::service
