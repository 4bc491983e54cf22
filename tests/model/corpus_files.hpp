// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <optional>

namespace riffle::testing {

/// Where recorded provider streams lie: $RIFFLE_CORPUS, else beside the
/// repository. Nothing if they are not there; the project does not need them.
std::optional<std::filesystem::path> corpus_folder();

}  // namespace riffle::testing
