// SPDX-License-Identifier: MIT
#pragma once

// The certificates of a cluster: an authority of its own and one certificate
// for each process, which CAF checks on both sides (mutual TLS). Made with
// OpenSSL's library; keys are P-256 (RFC 5480), files PEM, keys of mode 0600.

#include <filesystem>
#include <string>
#include <vector>

#include "messages/error.hpp"

namespace riffle::cluster {

/// The files of one name in a folder: NAME.pem and NAME.key.
struct certificate_files {
  std::filesystem::path certificate;
  std::filesystem::path key;
};
certificate_files files_of(const std::filesystem::path& folder,
                           const std::string& name);

inline constexpr const char* authority = "ca";

/// Makes the folder (mode 0700) with an authority in it, valid for ten years.
/// Fails if there is one: nothing is replaced.
expected<void> make_authority(const std::filesystem::path& folder);

/// A certificate that the folder's authority signs, valid for two years. Fails
/// if there is no authority, or one of that name.
expected<certificate_files> add_certificate(const std::filesystem::path& folder,
                                            const std::string& name);

}  // namespace riffle::cluster
