// SPDX-License-Identifier: MIT
#include "actors/core/approval_rules.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "actors/core/command_doubt.hpp"
#include "actors/core/led_words.hpp"
#include "actors/core/plain_command.hpp"

namespace riffle::core {

namespace {

enum class match : std::uint8_t {
  no,
  unsure,    ///< a stricter rule leaves `ask`
  doubt,     ///< so, and only a person may say yes
  yes,       ///< it decides
  overrides  ///< so, whatever an earlier rule allows
};

/// What rules can see of a call.
struct view {
  std::optional<std::string> sure;  ///< all of it
  std::vector<std::string> parts;   ///< else: what may be in it
  shell_line line;
  std::optional<shell_line> led{};  ///< with its words as links lead them
};

/// `way`: which of those that a word may go; behind `most` words that go one
/// all stay as they are.
shell_part follow(const shell_part& part, const led_words& led, std::size_t way,
                  std::size_t most) {
  shell_part out;
  for (const auto& word : part) {
    out.push_back(word);
    if (const auto to = led.to.find(word.text);
        to != led.to.end() && most > 0) {
      --most;
      out.back().text = to->second[std::min(way, to->second.size() - 1)];
    }
    const auto taken_in = led.taken_in.find(word.text);
    if (taken_in == led.taken_in.end()) continue;
    for (const auto& file : taken_in->second) {
      out.push_back(out.back());
      out.back().text = file;
      out.back().kind = word_kind::plain;
    }
  }
  return out;
}

std::optional<shell_line> follow(const shell_line& line, const led_words& led) {
  if (!led.all) return shell_line{{}, false};
  if (led.to.empty() && led.taken_in.empty()) return {};
  auto out = line;
  out.parts.clear();
  for (const auto& part : line.parts) {
    std::size_t ways = 1;
    std::size_t words = 0;
    std::size_t torn = 0;
    for (const auto& word : part) {
      const auto to = led.to.find(word.text);
      if (to == led.to.end()) continue;
      ways = std::max(ways, to->second.size());
      // Which goes with which nobody knows.
      if (to->second.size() > 1 && ++torn > 1) return shell_line{{}, false};
      ++words;
    }
    for (std::size_t i = 0; i < ways; ++i) {
      out.parts.push_back(follow(part, led, i, words));
      // Those behind the command may as well be no files.
      if (words > 1) out.parts.push_back(follow(part, led, i, 1));
    }
  }
  return out;
}

view view_of(const rule_subject& x, std::size_t rules, const led_words& led) {
  // Each rule reads all of it, on an actor's handler.
  constexpr std::size_t most_work = 32 * 1024 * 1024;
  if (!x.known || x.text.size() * rules > most_work)
    return {std::nullopt, {}, {{}, false}, {}};
  if (!x.shell) return {x.text, {}, {}, {}};
  auto parts = rough_commands(x.text);
  parts.push_back(x.text);
  auto line = shell_parts(x.text);
  std::size_t words = 0;
  for (const auto& part : line.parts) words += part.size();
  // Each is looked up, a few times, for each rule.
  constexpr std::size_t most_lookups = 50'000;
  if (words * rules > most_lookups) line = {{}, false};
  auto led_line = follow(line, led);
  return {plain_command(x.text), std::move(parts), std::move(line),
          std::move(led_line)};
}

match match_of(const approval_rule& rule, const view& x) {
  const auto fits = [&](const std::string& text) {
    return matches_pattern(rule.pattern, text);
  };
  if (x.sure && fits(*x.sure)) return match::yes;
  if (rule.policy == approval_policy::allow) return match::no;
  const bool in_part = std::ranges::any_of(x.parts, fits);
  auto compared = compare(x.line, rule.pattern);
  if (x.led && rule.policy == approval_policy::deny)
    compared = std::max(compared, compare(*x.led, rule.pattern));
  if (in_part && !x.sure) return match::yes;
  if (rule.policy == approval_policy::deny) {
    if (compared == may_be::yes_told) return match::overrides;
    if (compared == may_be::yes) return match::yes;
  }
  if (compared != may_be::no) return match::doubt;
  return in_part || !x.sure ? match::unsure : match::no;
}

}  // namespace

judgement judge_led_call(const rule_subject& subject, approval_policy base,
                         const std::vector<approval_rule>& rules,
                         const led_words& led) {
  const auto seen = view_of(subject, rules.size(), led);
  judgement out{approval_policy::allow, {}};
  std::optional<approval_policy> decided;
  for (const auto& rule : rules) {
    auto how = match_of(rule, seen);
    if (how == match::overrides)
      return {approval_policy::deny, {}, rule.pattern};
    if (decided && seen.sure) continue;
    // Another part of the line was asked about: it does not speak for this.
    if (decided && how == match::yes) how = match::doubt;
    if (how == match::yes) {
      decided = rule.policy;
      if (*decided == approval_policy::deny) {
        out.rule = rule.pattern;
        break;
      }
    }
    if (how != match::unsure && how != match::doubt) continue;
    out.policy = std::max(out.policy, approval_policy::ask);
    if (how == match::doubt && rule.policy == approval_policy::deny &&
        out.in_doubt.empty())
      out.in_doubt = rule.pattern;
  }
  out.policy = std::max(out.policy, decided.value_or(base));
  if (out.policy == approval_policy::deny) out.in_doubt.clear();
  return out;
}

judgement judge_call(const rule_subject& subject, approval_policy base,
                     const std::vector<approval_rule>& rules) {
  return judge_led_call(subject, base, rules, {});
}

approval_policy policy_of(const rule_subject& subject, approval_policy base,
                          const std::vector<approval_rule>& rules) {
  return judge_call(subject, base, rules).policy;
}

bool matches_pattern(std::string_view pattern, std::string_view text) {
  constexpr auto none = std::string_view::npos;
  std::size_t p = 0;
  std::size_t t = 0;
  auto star = none;
  std::size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != none) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == none;
}

}  // namespace riffle::core
