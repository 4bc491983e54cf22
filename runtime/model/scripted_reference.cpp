// SPDX-License-Identifier: MIT
#include "runtime/model/scripted_reference.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "messages/utf8.hpp"
#include "runtime/base/text.hpp"

namespace riffle::model {

namespace {

using nlohmann::json;
using text_or_problem = tl::expected<std::string, reference_problem>;

tl::unexpected<reference_problem> problem(std::string text) {
  return tl::unexpected<reference_problem>{std::move(text)};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> out;
  for (;;) {
    const auto end = text.find(at);
    out.push_back(trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return out;
    text.remove_prefix(end + 1);
  }
}

std::optional<std::size_t> number(std::string_view text) {
  std::size_t value = 0;
  const auto* const last = text.data() + text.size();
  const auto [p, failure] = std::from_chars(text.data(), last, value);
  if (text.empty() || failure != std::errc{} || p != last) return std::nullopt;
  return value;
}

// Where the line after the `n`-th one begins.
std::size_t after_lines(std::string_view text, std::size_t n) {
  std::size_t at = 0;
  for (; n > 0 && at < text.size(); --n) {
    const auto end = text.find('\n', at);
    at = end == std::string_view::npos ? text.size() : end + 1;
  }
  return at;
}

std::size_t count_lines(std::string_view text) {
  const auto ends = std::count(text.begin(), text.end(), '\n');
  const bool open = !text.empty() && text.back() != '\n';
  return static_cast<std::size_t>(ends) + (open ? 1 : 0);
}

std::string without_last_end(std::string_view text) {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return std::string{text};
}

text_or_problem get(std::string_view text, std::string_view pointer) {
  const auto value = json::parse(text, nullptr, false);
  if (value.is_discarded()) return problem("the result is no JSON");
  try {
    const auto& part = value.at(json::json_pointer{std::string{pointer}});
    return part.is_string() ? part.get<std::string>() : part.dump();
  } catch (const json::exception&) {
    return problem("there is no " + std::string{pointer} + " in the result");
  }
}

enum class takes : std::uint8_t { nothing, count, pointer };

struct filter {
  std::string_view name;
  takes argument;
  text_or_problem (*apply)(const std::string&, std::string_view);
};

std::size_t count(std::string_view argument) {
  return number(argument).value_or(0);
}

constexpr std::array filters{
    filter{"lines", takes::nothing,
           [](const std::string& x, std::string_view) -> text_or_problem {
             return std::to_string(count_lines(x));
           }},
    filter{"size", takes::nothing,
           [](const std::string& x, std::string_view) -> text_or_problem {
             return std::to_string(x.size());
           }},
    filter{"first", takes::count,
           [](const std::string& x, std::string_view n) -> text_or_problem {
             return without_last_end(x.substr(0, after_lines(x, count(n))));
           }},
    filter{"last", takes::count,
           [](const std::string& x, std::string_view n) -> text_or_problem {
             const auto lines = count_lines(x);
             const auto skip = lines - std::min(lines, count(n));
             return without_last_end(x.substr(after_lines(x, skip)));
           }},
    filter{"cut", takes::count,
           [](const std::string& x, std::string_view n) -> text_or_problem {
             return std::string{first_characters(x, count(n))};
           }},
    filter{"trim", takes::nothing,
           [](const std::string& x, std::string_view) -> text_or_problem {
             return std::string{trimmed(x)};
           }},
    filter{"json", takes::nothing,
           [](const std::string& x, std::string_view) -> text_or_problem {
             return json(x).dump(-1, ' ', false,
                                 json::error_handler_t::replace);
           }},
    filter{"get", takes::pointer,
           [](const std::string& x, std::string_view p) -> text_or_problem {
             return get(x, p);
           }},
    filter{"value", takes::nothing,
           [](const std::string& x, std::string_view) -> text_or_problem {
             return x;
           }},
};

struct filter_use {
  const filter* what;
  std::string_view argument;
};

struct reference {
  bool task = false;
  std::optional<std::size_t> step;  ///< nothing: the one before
  std::size_t result = 0;
  std::vector<filter_use> filters;
};

tl::expected<filter_use, reference_problem> parse_filter(
    std::string_view text) {
  const auto space = text.find(' ');
  const auto name = text.substr(0, space);
  const auto argument =
      space == std::string_view::npos ? "" : trimmed(text.substr(space));
  const auto* i = std::find_if(filters.begin(), filters.end(),
                               [&](const filter& x) { return x.name == name; });
  if (i == filters.end()) {
    return problem("unknown filter '" + std::string{name} +
                   "' (lines, size, first N, last N, cut N, trim, json, "
                   "get /POINTER, value)");
  }
  const bool good = i->argument == takes::nothing ? argument.empty()
                    : i->argument == takes::count
                        ? number(argument).has_value()
                        : argument.empty() || argument.front() == '/';
  if (!good)
    return problem("bad argument of filter '" + std::string{name} + "'");
  return filter_use{i, argument};
}

// task | result[.N] | step.S.result[.N]
bool parse_path(std::string_view text, reference& out) {
  auto parts = split(text, '.');
  if (parts == std::vector<std::string_view>{"task"}) return out.task = true;
  if (parts.size() >= 3 && parts[0] == "step") {
    out.step = number(parts[1]);
    if (!out.step) return false;
    parts.erase(parts.begin(), parts.begin() + 2);
  }
  if (parts[0] != "result" || parts.size() > 2) return false;
  if (parts.size() == 1) return true;
  const auto index = number(parts[1]);
  out.result = index.value_or(0);
  return index.has_value();
}

tl::expected<reference, reference_problem> parse_reference(
    std::string_view text) {
  const auto parts = split(text, '|');
  reference out;
  if (!parse_path(parts[0], out)) {
    return problem("unknown reference '" + std::string{parts[0]} +
                   "' (task, result.N, step.S.result.N)");
  }
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto use = parse_filter(parts[i]);
    if (!use) return problem(use.error());
    out.filters.push_back(*use);
  }
  return out;
}

text_or_problem look_up(const reference& x, const script_scope& scope) {
  if (x.task) return scope.task;
  if (!x.step && scope.results.empty())
    return problem("there is no step before this one");
  const auto step = x.step.value_or(scope.results.size() - 1);
  if (step >= scope.results.size())
    return problem("step " + std::to_string(step) + " has not ended");
  if (x.result >= scope.results[step].size()) {
    return problem("step " + std::to_string(step) + " has no result " +
                   std::to_string(x.result));
  }
  return scope.results[step][x.result];
}

text_or_problem evaluate(std::string_view text, const script_scope& scope) {
  const auto parsed = parse_reference(text);
  if (!parsed) return problem(parsed.error());
  auto value = look_up(*parsed, scope);
  for (const auto& use : parsed->filters) {
    if (!value) break;
    value = use.what->apply(*value, use.argument);
  }
  if (!value) return problem("{{" + std::string{text} + "}}: " + value.error());
  return value;
}

// Calls `plain(text)` and `inside(reference)` in turn; stops at a problem.
template <class Plain, class Inside>
std::optional<reference_problem> walk(std::string_view text, Plain plain,
                                      Inside inside) {
  for (;;) {
    const auto begin = text.find("{{");
    plain(text.substr(0, begin));
    if (begin == std::string_view::npos) return std::nullopt;
    const auto end = text.find("}}", begin);
    if (end == std::string_view::npos) return "'{{' without '}}'";
    if (auto wrong = inside(text.substr(begin + 2, end - begin - 2)))
      return wrong;
    text.remove_prefix(end + 2);
  }
}

// The inside of a string that is one reference which ends in `value`.
std::optional<std::string_view> value_reference(std::string_view text) {
  if (!text.starts_with("{{") || !text.ends_with("}}")) return std::nullopt;
  const auto inside = text.substr(2, text.size() - 4);
  if (inside.find("{{") != std::string_view::npos) return std::nullopt;
  const auto parts = split(inside, '|');
  return parts.back() == "value" ? std::optional{inside} : std::nullopt;
}

}  // namespace

std::optional<reference_problem> check_references(std::string_view text) {
  return walk(
      text, [](std::string_view) {},
      [](std::string_view inside) -> std::optional<reference_problem> {
        const auto parsed = parse_reference(inside);
        if (parsed) return std::nullopt;
        return parsed.error();
      });
}

tl::expected<std::string, reference_problem> expand_text(
    std::string_view text, const script_scope& scope) {
  std::string out;
  const auto wrong = walk(
      text, [&](std::string_view plain) { out.append(plain); },
      [&](std::string_view inside) -> std::optional<reference_problem> {
        const auto value = evaluate(inside, scope);
        if (!value) return value.error();
        out += *value;
        return std::nullopt;
      });
  if (wrong) return problem(*wrong);
  return out;
}

tl::expected<json, reference_problem> expand_value(const json& value,
                                                   const script_scope& scope) {
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto typed = value_reference(text);
    const auto result =
        typed ? evaluate(*typed, scope) : expand_text(text, scope);
    if (!result) return problem(result.error());
    if (!typed) return json(*result);
    auto parsed = json::parse(*result, nullptr, false);
    if (parsed.is_discarded()) return problem(text + " is no JSON value");
    return parsed;
  }
  if (!value.is_structured()) return value;
  auto out = value;
  for (auto& part : out) {
    auto expanded = expand_value(std::as_const(part), scope);
    if (!expanded) return expanded;
    part = *std::move(expanded);
  }
  return out;
}

}  // namespace riffle::model
