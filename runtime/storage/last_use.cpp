// SPDX-License-Identifier: MIT
#include "runtime/storage/last_use.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <nlohmann/json.hpp>

namespace riffle::storage {

namespace {

using nlohmann::json;

constexpr std::string_view resumed_at = "resumed_us";

}  // namespace

void note_resumption(run_record& x, wall_time now) {
  auto settings = json::parse(x.settings, nullptr, false);
  if (!settings.is_object()) return;
  settings[resumed_at] = now.us;
  x.settings = settings.dump(-1, ' ', false, json::error_handler_t::replace);
}

wall_time last_use(const run_record& x) {
  // Settings may be long, and most runs were never resumed.
  if (x.settings.find(resumed_at) == std::string::npos) return x.started;
  const auto settings = json::parse(x.settings, nullptr, false);
  if (!settings.is_object()) return x.started;
  const auto found = settings.find(resumed_at);
  if (found == settings.end() || !found->is_number_integer()) return x.started;
  return {std::max(x.started.us, found->get<std::int64_t>())};
}

}  // namespace riffle::storage
