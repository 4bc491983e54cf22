// SPDX-License-Identifier: MIT
// riffle config check|show
#include <nlohmann/json.hpp>

#include "runtime/cli/commands.hpp"
#include "runtime/cli/exit_status.hpp"

namespace riffle::cli {

namespace {

std::string name_of(const config::config& x) {
  return x.file.empty() ? "built-in defaults" : x.file.string();
}

/// {"models.default.model": "\"gpt-4.1-mini\"", …}: values as TOML.
std::string to_json(const config::config& x) {
  auto out = nlohmann::ordered_json::object();
  for (const auto& s : config::settings(x)) {
    out[s.section + "." + s.key] = s.value;
  }
  return out.dump();
}

}  // namespace

int execute(const config_command& x, console& io) {
  const auto settings = load_config(x.common, io);
  if (!settings) return usage;
  const bool text = x.common.output == output_kind::text;
  if (x.action == config_command::what::show) {
    io.out.write(text ? "# " + name_of(*settings) + "\n" +
                            config::to_toml(*settings)
                      : to_json(*settings) + "\n");
  } else if (text) {
    io.out.write(name_of(*settings) + ": no mistakes\n");
  } else {
    const nlohmann::ordered_json out = {{"file", name_of(*settings)},
                                        {"mistakes", 0}};
    io.out.write(out.dump() + "\n");
  }
  return io.out.good() ? completed : failed;
}

}  // namespace riffle::cli
