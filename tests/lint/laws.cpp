// SPDX-License-Identifier: MIT
#include "tests/lint/laws.hpp"

#include <algorithm>
#include <array>
#include <regex>
#include <utility>

namespace riffle::lint {

namespace {

constexpr int line_limit = 400;
constexpr int short_header = 25;
constexpr int many = 3;

// The longest prefix wins, so actors/core stands before actors.
constexpr std::array<std::pair<std::string_view, layer>, 15> layers{{
    {"messages/", layer::messages},
    {"actors/core/", layer::core_and_base},
    {"runtime/base/", layer::core_and_base},
    {"tools/", layer::parts},
    {"runtime/config/", layer::parts},
    {"runtime/model/", layer::parts},
    {"runtime/storage/", layer::parts},
    {"actors/", layer::actors},
    {"runtime/scheduler/", layer::actors},
    {"runtime/cluster/", layer::actors},
    {"runtime/service/", layer::service},
    {"runtime/node/", layer::shell},
    {"runtime/http/", layer::shell},
    {"runtime/api/", layer::shell},
    {"runtime/cli/", layer::cli},
}};

constexpr std::array<std::string_view, 13> ports{
    "tools/lease.hpp",
    "tools/ask.hpp",
    "tools/led_words.hpp",
    "tools/kept_file.hpp",
    "tools/session_state.hpp",
    "tools/tool.hpp",
    "tools/registry.hpp",
    "runtime/model/transport.hpp",
    "runtime/model/dialect.hpp",
    "runtime/storage/for_later.hpp",
    "runtime/storage/journal.hpp",
    "runtime/storage/last_use.hpp",
    "runtime/config/config.hpp",
};

bool is_cpp(std::string_view path) {
  return path.ends_with(".cpp") || path.ends_with(".hpp");
}

/// Calls `visit(number, line)` for each line, from 1.
template <class Visit>
int for_each_line(std::string_view text, Visit visit) {
  int number = 0;
  while (!text.empty()) {
    const auto end = text.find('\n');
    visit(++number, text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return number;
}

bool matches(std::string_view line, const std::regex& pattern) {
  return std::regex_search(line.begin(), line.end(), pattern);
}

std::string include_error(std::string_view path, std::string_view included) {
  const auto from = layer_of(path);
  const auto to = layer_of(included);
  const std::string name{included};
  // One log: who writes beside it ignores its level, format and place.
  if (included.starts_with("spdlog/"))
    return path == "runtime/base/log.cpp" ? "" : "logs beside the one log";
  if (included.starts_with("caf/")) {
    const auto pure = from == layer::core_and_base || from == layer::parts;
    return pure ? "includes CAF (" + name + ")" : "";
  }
  if (to == layer::outside || from == layer::outside) return "";
  if (to > from) return "includes a higher layer: " + name;
  const auto hidden = from == layer::actors && to == layer::parts &&
                      std::ranges::find(ports, included) == ports.end();
  return hidden ? "actors see only the ports, not " + name : "";
}

/// A pattern that must not stand in a file, and why.
struct ban {
  std::regex pattern;
  std::string why;
};

// The patterns are cut in two so that this file keeps its own laws.
const std::vector<ban>& bans() {
  static const std::vector<ban> all{
      {std::regex{"caf::infin"
                  "ite"},
       "waits without a limit"},
      {std::regex{"\\b(FIX"
                  "ME|XX"
                  "X|HA"
                  "CK)\\b"},
       "says it and does not do it"},
      {std::regex{"\\bTO"
                  "DO\\b(?!: (\\S+ ){4})"},
       "gives no reason"},
      {std::regex{"/wo"
                  "rk/(main|shared)|/tm"
                  "p/b-"},
       "names a path of one machine"},
  };
  return all;
}

// Tests may use such a path as an example.
const std::vector<ban>& program_bans() {
  static const std::vector<ban> all{
      {std::regex{"/home/[a-z]+/"}, "names a path of one machine"},
      {std::regex{"\"gen_"
                  "ai\\."},
       "spells a name that stands in runtime/base/metrics"},
  };
  return all;
}

/// The one table of OpenTelemetry's names.
constexpr std::string_view names_of_metrics = "runtime/base/metrics.";

const std::vector<ban>& header_bans() {
  static const std::vector<ban> all{
      {std::regex{"^\\s*using namespace (?!std::[a-z_]*literals;)"},
       "opens a namespace in a header"},
  };
  return all;
}

void check_bans(std::string_view path, std::string_view text,
                const std::vector<ban>& all, violations& out) {
  for_each_line(text, [&](int number, std::string_view line) {
    for (const auto& [pattern, why] : all) {
      if (matches(line, pattern))
        out.push_back({std::string{path}, number, why});
    }
  });
}

/// Parts of CAF that may change with each version of it are used behind an
/// assertion of which one it is.
bool knows_its_caf(std::string_view text) {
  static const std::regex inner{
      R"(<caf/(detail/|io/network/|io/basp|io/middleman_actor_impl|policy/)"
      R"(|scheduler/(?!test_))|caf::detail::)"};
  if (text.find("<caf/") == text.npos && text.find("caf::") == text.npos)
    return true;
  return !std::regex_search(text.begin(), text.end(), inner) ||
         text.find("static_assert(CAF_VERSION") != std::string_view::npos;
}

/// In the first two lines: scripts begin with their interpreter.
bool has_licence(std::string_view text) {
  const auto first = text.find('\n');
  const auto second =
      first == std::string_view::npos ? first : text.find('\n', first + 1);
  return text.substr(0, second).find("SPDX-License-Identifier: MIT") !=
         std::string_view::npos;
}

}  // namespace

layer layer_of(std::string_view path) {
  for (const auto& [prefix, place] : layers) {
    if (path.starts_with(prefix)) return place;
  }
  return layer::outside;
}

violations check_includes(std::string_view path, std::string_view text) {
  static const std::regex include{R"(^\s*#\s*include\s*["<]([^">]+)[">])"};
  violations out;
  for_each_line(text, [&](int number, std::string_view line) {
    std::match_results<std::string_view::const_iterator> found;
    if (!std::regex_search(line.begin(), line.end(), found, include)) return;
    if (auto why = include_error(path, found.str(1)); !why.empty())
      out.push_back({std::string{path}, number, std::move(why)});
  });
  return out;
}

violations check_text(std::string_view path, std::string_view text) {
  violations out;
  const auto whole_file = [&](std::string why) {
    out.push_back({std::string{path}, 0, std::move(why)});
  };
  if (!path.ends_with(".md") && !has_licence(text))
    whole_file("has no SPDX line at its top");
  const auto lines = for_each_line(text, [](int, std::string_view) {});
  if (lines > line_limit)
    whole_file("has " + std::to_string(lines) + " lines, more than " +
               std::to_string(line_limit));
  check_bans(path, text, bans(), out);
  if (!path.starts_with("tests/") && !path.starts_with(names_of_metrics))
    check_bans(path, text, program_bans(), out);
  if (path.ends_with(".hpp")) {
    if (text.find("\n#pragma once\n") == std::string_view::npos)
      whole_file("has no #pragma once");
    check_bans(path, text, header_bans(), out);
  }
  if (is_cpp(path) && !text.ends_with('\n')) whole_file("ends within a line");
  if (is_cpp(path) && !path.starts_with("tests/") && !knows_its_caf(text))
    whole_file("uses inner parts of CAF and asserts no version of it");
  return out;
}

violations check_short_headers(const std::map<std::string, std::string>& all) {
  static const std::regex include{R"re(^#include "([^"]+)")re"};
  std::map<std::string, int> users;
  for (const auto& [path, text] : all) {
    if (layer_of(path) == layer::outside) continue;
    for_each_line(text, [&](int, std::string_view line) {
      std::match_results<std::string_view::const_iterator> found;
      if (std::regex_search(line.begin(), line.end(), found, include))
        ++users[found.str(1)];
    });
  }
  violations out;
  for (const auto& [path, text] : all) {
    if (!path.ends_with(".hpp") || layer_of(path) == layer::outside) continue;
    if (std::ranges::count(text, '\n') >= short_header) continue;
    const auto definitions = path.substr(0, path.size() - 3) + "cpp";
    if (!all.contains(definitions) && users[path] < many)
      out.push_back({path, 0,
                     "is short, defines nothing elsewhere and has few users: "
                     "it joins its neighbour"});
  }
  return out;
}

}  // namespace riffle::lint
