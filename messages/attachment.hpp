// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace riffle {

/// A picture or a file beside a text, without its bytes, which a session keeps
/// once (storage::file_record).
struct attachment {
  std::string name{};  ///< for the model and for people, e.g. "photo.png"
  std::string type{};  ///< MIME, by its bytes: "image/png"
  std::uint64_t bytes = 0;
  std::string digest{};  ///< SHA-256 of its bytes, hex

  bool operator==(const attachment&) const = default;
};

/// Its bytes, shared by all who need them.
using attachment_bytes = std::shared_ptr<const std::string>;

/// For people and models: "photo.png (image/png, 12.0 KiB)".
std::string describe(const attachment& x);

}  // namespace riffle
