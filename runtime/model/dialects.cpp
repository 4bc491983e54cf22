// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <utility>

#include "runtime/model/dialect.hpp"

namespace riffle::model {

namespace {

struct missing {
  std::string_view dialect;
  std::string_view parameter;
};

/// What a dialect has no place for.
constexpr std::array missing_parameters{
    missing{"openai", "thinking_budget"},
    missing{"openai", "keep_alive"},
    missing{"anthropic", "keep_alive"},
    missing{"responses", "keep_alive"},
    missing{"anthropic", "seed"},
    missing{"responses", "stop"},
    missing{"responses", "seed"},
    missing{"responses", "thinking_budget"},
    missing{"ollama", "thinking_budget"},
    missing{"ollama", "tool_choice"},
    missing{"ollama", "parallel_tool_calls"},
};

constexpr std::array<std::string_view, 4> dialects{"openai", "anthropic",
                                                   "responses", "ollama"};

}  // namespace

bool request_options::leaves_out(std::string_view addition) const noexcept {
  return std::ranges::find(left_out, addition) != left_out.end();
}

bool can_express(std::string_view dialect,
                 std::string_view parameter) noexcept {
  return std::ranges::find(dialects, dialect) != dialects.end() &&
         std::ranges::none_of(missing_parameters, [&](const missing& x) {
           return x.dialect == dialect && x.parameter == parameter;
         });
}

bool can_show(std::string_view dialect, std::string_view type) noexcept {
  if (type == "application/pdf") return dialect != "ollama";
  return type.starts_with("image/");
}

std::unique_ptr<dialect> make_dialect(std::string_view name, quirks x) {
  if (name == "openai" || name == "scripted")
    return make_openai_dialect(std::move(x));
  if (name == "anthropic") return make_anthropic_dialect();
  if (name == "responses") return make_responses_dialect();
  if (name == "ollama") return make_ollama_dialect();
  return nullptr;
}

}  // namespace riffle::model
