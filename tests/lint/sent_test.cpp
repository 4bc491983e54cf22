// SPDX-License-Identifier: MIT
// A type that CAF knows as a message is made by somebody and heard by somebody:
// one that is registered and never sent reads like a part of the protocol.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/support/catch.hpp"

namespace fs = std::filesystem;

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
         (c >= 'A' && c <= 'Z') || c == '_';
}

/// Words, and what is no word sign by sign, without comments.
std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.substr(i, 2) == "//") {
      end = std::min(text.find('\n', i), text.size());
    } else if (is_word(text[i])) {
      while (end < text.size() && is_word(text[end])) ++end;
      out.emplace_back(text.substr(i, end - i));
    } else if (text[i] != ' ' && text[i] != '\n') {
      out.emplace_back(1, text[i]);
    }
    i = end;
  }
  return out;
}

struct uses {
  bool registered = false;
  int made = 0;
  int heard = 0;
};

using table = std::map<std::string, uses>;

bool is_one_of(const std::string& x, std::initializer_list<const char*> all) {
  return std::ranges::find(all, x) != all.end();
}

/// The last word of what stands in a macro's parentheses.
void add_registered(const std::vector<std::string>& tokens, std::size_t i,
                    table& out) {
  if (tokens[i] == "RIFFLE_LOCAL" && i > 0 && tokens[i - 1] == "define") return;
  std::string last;
  int depth = 0;
  while (++i < tokens.size()) {
    if (tokens[i] == "(") ++depth;
    if (tokens[i] == ")" && --depth == 0) break;
    if (is_word(tokens[i].front())) last = tokens[i];
  }
  out[last].registered = true;
}

void add_uses(const std::vector<std::string>& tokens, table& out) {
  bool interface = false;  // between "reacts_to" and the end of its list
  for (std::size_t i = 1; i + 2 < tokens.size(); ++i) {
    const auto& x = tokens[i];
    if (is_one_of(x, {"CAF_ADD_TYPE_ID", "CAF_ALLOW_UNSAFE_MESSAGE_TYPE",
                      "RIFFLE_LOCAL"})) {
      add_registered(tokens, i, out);
      continue;
    }
    if (is_one_of(x, {"reacts_to", "replies_to", "with"})) interface = true;
    if (x == ">") interface = false;
    if (!is_word(x.front())) continue;
    const auto& next = tokens[i + 1];
    auto& of = out[x];
    if (is_one_of(tokens[i - 1], {"struct", "class", "enum"})) continue;
    const bool named =
        is_word(next.front()) && is_one_of(tokens[i + 2], {";", "{", "=", "("});
    if (is_one_of(next, {"{", "("}) || named) ++of.made;
    if (interface || next == "&") ++of.heard;
  }
}

/// Registered, but never made or never heard.
std::set<std::string> never_sent(const std::vector<std::string>& files) {
  table all;
  for (const auto& text : files) add_uses(tokens_of(text), all);
  std::set<std::string> out;
  for (const auto& [name, x] : all)
    if (x.registered && (x.made == 0 || x.heard == 0)) out.insert(name);
  return out;
}

std::vector<std::string> sources() {
  std::vector<std::string> out;
  for (const auto* folder : {"actors", "messages", "runtime", "tools"})
    for (const auto& entry : fs::recursive_directory_iterator{
             fs::path{RIFFLE_SOURCE_DIR} / folder}) {
      const auto kind = entry.path().extension();
      if (kind != ".cpp" && kind != ".hpp") continue;
      std::ifstream in{entry.path(), std::ios::binary};
      out.emplace_back(std::istreambuf_iterator<char>{in},
                       std::istreambuf_iterator<char>{});
    }
  return out;
}

}  // namespace

TEST_CASE("a registered type that nobody makes or hears is named") {
  const std::string declared =
      "struct ping { int n; };\n"
      "struct pong {};\n"
      "CAF_ADD_TYPE_ID(block, (riffle::ping))\n"
      "CAF_ALLOW_UNSAFE_MESSAGE_TYPE(riffle::pong)\n";
  using names = std::set<std::string>;
  CHECK(never_sent({declared}) == names{"ping", "pong"});
  CHECK(never_sent({declared + "auto x = ping{1}; // pong{}\n"}) ==
        names{"ping", "pong"});
  const std::string served =
      declared + "using a = typed_actor<reacts_to<ping>, reacts_to<pong>>;\n";
  CHECK(never_sent({served}) == names{"ping", "pong"});
  CHECK(never_sent({served, "send(to, ping{1});"}) == names{"pong"});
  CHECK(never_sent({served, "send(to, ping{1}); pong x; send(to, x);"}) ==
        names{});
}

TEST_CASE("every registered type is sent") {
  const auto files = sources();
  REQUIRE(files.size() > 500);
  CHECK(never_sent(files) == std::set<std::string>{});
}
