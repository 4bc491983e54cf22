// SPDX-License-Identifier: MIT
#pragma once

// What a server's OpenAPI document says, for tests that ask all it has.

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace riffle::testing {

/// A way to ask for something that the document has.
struct http_operation {
  std::string method;
  std::string path;     ///< with names in the place of {…}
  bool open = false;    ///< no token
  nlohmann::json body;  ///< schema; null: it has none
};

class http_document {
 public:
  explicit http_document(nlohmann::json x) : all_(std::move(x)) {}

  /// `name`: what stands in the place of {…}.
  [[nodiscard]] std::vector<http_operation> operations(
      const std::string& name = "some") const;
  /// The smallest that fits.
  [[nodiscard]] nlohmann::json sample(const nlohmann::json& schema) const;
  /// Bodies that do not fit, each with one fault.
  [[nodiscard]] std::vector<nlohmann::json> misfits(
      const nlohmann::json& schema) const;

 private:
  [[nodiscard]] nlohmann::json resolved(const nlohmann::json& schema) const;

  nlohmann::json all_;
};

}  // namespace riffle::testing
