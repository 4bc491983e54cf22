// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace riffle {

/// SHA-256 (FIPS 180-4) in lower-case hex.
std::string sha256(std::string_view bytes);

/// The same of text that comes in pieces.
class sha256_stream {
 public:
  sha256_stream();
  ~sha256_stream();
  sha256_stream(const sha256_stream&) = delete;
  sha256_stream& operator=(const sha256_stream&) = delete;

  void add(std::string_view bytes);
  /// Once, last.
  std::string finish();

 private:
  void* context_;
};

/// What a decision about a call is bound to: the SHA-256 of the tool's name,
/// the canonical text of its arguments (compact, keys sorted; what is no JSON
/// is taken as it is), what the tool is, and what the preview was made from.
std::string proposal_digest(std::string_view tool, std::string_view arguments,
                            std::string_view definition,
                            std::string_view basis);

/// FNV-1a of 64 bits, of pieces one after another: tells texts apart that
/// nobody forges.
constexpr std::uint64_t fnv1a(
    std::string_view bytes,
    std::uint64_t so_far = 0xcbf29ce484222325U) noexcept {
  for (const char c : bytes)
    so_far = (so_far ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return so_far;
}

}  // namespace riffle
