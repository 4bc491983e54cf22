// SPDX-License-Identifier: MIT
#include "runtime/service/model_window.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "messages/json_strict.hpp"
#include "runtime/service/model_exchange.hpp"
#include "runtime/service/model_request.hpp"

namespace riffle::service {

namespace {

// More of it exhausts the memory of a laptop.
constexpr std::uint64_t usual_window = 16384;

}  // namespace

std::optional<std::uint64_t> read_own_window(std::string_view body) {
  const auto parsed = parse_strict(body);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto info = parsed->find("model_info");
  if (info == parsed->end() || !info->is_object()) return std::nullopt;
  // A model with eyes has a window of its text and one of its pictures.
  constexpr std::string_view suffix = ".context_length";
  const auto family = info->find("general.architecture");
  const auto wanted = family != info->end() && family->is_string()
                          ? family->get<std::string>() + std::string{suffix}
                          : std::string{};
  std::optional<std::uint64_t> out;
  for (const auto& [name, value] : info->items()) {
    if (!name.ends_with(suffix) || !value.is_number_unsigned()) continue;
    const auto tokens = value.get<std::uint64_t>();
    if (tokens == 0) continue;
    if (name == wanted) return tokens;
    if (!out) out = tokens;
  }
  return out;
}

void model_windows::complete(const model_link& link,
                             config::model_config& model,
                             const std::stop_token& stop) {
  if (model.dialect != "ollama" || model.context_window > 0) return;
  const std::lock_guard lock{mutex_};  // those who wait want the same answer
  auto& known = known_[link.base + "\n" + model.model];
  // A server that does not say may not run yet.
  if (known == 0)
    known = std::min(ask(link, model, stop).value_or(0), usual_window);
  model.context_window = known == 0 ? usual_window : known;
}

std::optional<std::uint64_t> model_windows::ask(
    const model_link& link, const config::model_config& model,
    const std::stop_token& stop) const {
  const auto dialect = make_dialect(model);
  if (!dialect) return std::nullopt;
  auto request = begin_request(link, **dialect, model);
  request.url = link.url("/api/show");
  request.body = nlohmann::json{{"model", model.model}}.dump();
  const auto answer =
      exchange(*link.transport, std::move(request), stop, limit_);
  if (answer->end().failure) return std::nullopt;
  return read_own_window(answer->body());
}

}  // namespace riffle::service
