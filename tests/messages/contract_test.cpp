// SPDX-License-Identifier: MIT
// The page that users rely on names what the code has, and nothing else.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/event.hpp"
#include "messages/event_line.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_values.hpp"
#include "tests/support/seed.hpp"

using namespace riffle;

namespace {

std::string page() {
  std::ifstream in{std::filesystem::path{RIFFLE_SOURCE_DIR} / "docs" /
                   "contract.md"};
  REQUIRE(in);
  return {std::istreambuf_iterator<char>{in}, {}};
}

/// The part under a heading.
std::string part(const std::string& heading) {
  const auto text = page();
  const auto begin = text.find("\n## " + heading + "\n");
  REQUIRE(begin != std::string::npos);
  return text.substr(begin, text.find("\n## ", begin + 1) - begin);
}

/// What stands in `…` in it.
std::set<std::string> quoted(const std::string& text) {
  std::set<std::string> out;
  for (std::size_t at = text.find('`'); at != std::string::npos;) {
    const auto end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    out.insert(text.substr(at + 1, end - at - 1));
    at = text.find('`', end + 1);
  }
  return out;
}

/// The first cells of a table's rows, and what follows in each.
std::map<std::string, std::string> rows(const std::string& text) {
  std::map<std::string, std::string> out;
  std::istringstream in{text};
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("| `")) continue;
    const auto end = line.find('`', 3);
    out[line.substr(3, end - 3)] = line.substr(end + 1);
  }
  return out;
}

}  // namespace

TEST_CASE("the contract's events are those of the code") {
  const auto table = rows(part("Events"));
  std::set<std::string> names;
  for (std::size_t i = 0; i < std::variant_size_v<events::body>; ++i)
    names.emplace(events::type_name(i));
  std::set<std::string> written;
  for (const auto& [name, rest] : table) written.insert(name);
  CHECK(written == names);
}

TEST_CASE("the contract has every key that an event can have") {
  const auto table = rows(part("Events"));
  std::set<std::string> seen;
  testing::random_values random{testing::fresh_seed()};
  for (std::size_t i = 0; i < 4000; ++i) {
    auto any = random.next<riffle::event>();
    random.emplace(any.body, i % std::variant_size_v<events::body>);
    const auto event = nlohmann::json::parse(to_line(any));
    const auto& row = table.at(event.at("event_type"));
    for (const auto& [key, value] : event.at("data").items()) {
      CAPTURE(event.at("event_type").get<std::string>(), key);
      const bool is_there = row.find(key) != std::string::npos;
      CHECK(is_there);
      seen.insert(event.at("event_type").get<std::string>() + "." + key);
    }
  }
  CHECK(seen.size() > 90);
}

TEST_CASE("the contract's error codes are those of the code") {
  std::set<std::string> codes;
  for (std::size_t i = 0; i < errc_count; ++i)
    codes.emplace(to_string(static_cast<errc>(i)));
  auto written = quoted(part("Error codes"));
  for (const auto* word : {"code", "op", "message"})
    CHECK(written.erase(word) == 1);
  CHECK(written == codes);
}
