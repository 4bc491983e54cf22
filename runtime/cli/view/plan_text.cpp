// SPDX-License-Identifier: MIT
#include "runtime/cli/view/plan_text.hpp"

#include <algorithm>
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "runtime/cli/terminal/safe_text.hpp"

namespace riffle::cli {

namespace {

constexpr std::size_t most_steps = 16;
constexpr std::size_t longest_title = 120;

struct step {
  std::string title;
  std::string status;
};

std::vector<step> read(std::string_view text) {
  std::vector<step> out;
  const auto plan = nlohmann::json::parse(text, nullptr, false);
  if (!plan.is_array()) return out;
  const auto text_of = [](const auto& x, const char* key) {
    const auto i = x.find(key);
    return i != x.end() && i->is_string() ? i->template get<std::string>()
                                          : std::string{};
  };
  for (const auto& x : plan)
    if (x.is_object())
      out.push_back({text_of(x, "title"), text_of(x, "status")});
  return out;
}

std::string_view mark_of(std::string_view status) {
  if (status == "done") return "✓ ";
  if (status == "in_progress") return "▸ ";
  if (status == "dropped") return "✗ ";
  return "· ";
}

bool is_over(const step& x) {
  return x.status == "done" || x.status == "dropped";
}

std::string line_of(const step& x) {
  return std::string{mark_of(x.status)} + safe_line(x.title, longest_title);
}

std::string more(std::size_t n, const char* what) {
  return "… " + std::to_string(n) + " " + what;
}

}  // namespace

plan_lines plan_text(std::string_view plan,
                     const std::vector<std::string>& before) {
  auto steps = read(plan);
  if (steps.empty()) return {"no steps", {}, {}};
  const auto done = std::ranges::count(steps, "done", &step::status);
  plan_lines out{
      std::to_string(done) + " of " + std::to_string(steps.size()) + " done",
      {},
      {}};
  for (const auto& x : steps) out.all.push_back(line_of(x));
  const std::unordered_set<std::string> known{before.begin(), before.end()};
  std::erase_if(steps,
                [&](const step& x) { return known.contains(line_of(x)); });
  auto from = steps.begin();
  while (static_cast<std::size_t>(steps.end() - from) > most_steps &&
         is_over(*from))
    ++from;
  if (from != steps.begin())
    out.steps.push_back(
        more(static_cast<std::size_t>(from - steps.begin()), "before"));
  std::size_t shown = 0;
  for (; from != steps.end() && shown < most_steps; ++from, ++shown)
    out.steps.push_back(line_of(*from));
  if (from != steps.end())
    out.steps.push_back(
        more(static_cast<std::size_t>(steps.end() - from), "more"));
  return out;
}

}  // namespace riffle::cli
