// SPDX-License-Identifier: MIT
#include "tests/model/corpus_files.hpp"

#include <cstdlib>

namespace riffle::testing {

std::optional<std::filesystem::path> corpus_folder() {
  std::filesystem::path folder{RIFFLE_SOURCE_DIR "/../shared/corpus"};
  if (const char* named = std::getenv("RIFFLE_CORPUS")) folder = named;
  if (!std::filesystem::exists(folder / "index.json")) return std::nullopt;
  return folder;
}

}  // namespace riffle::testing
