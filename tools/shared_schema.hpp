// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>
#include <tl/expected.hpp>

#include "tools/schema.hpp"

namespace riffle::tools {

/// A schema that all who have it at one time share, by its text. Of servers
/// with hundreds of tools few are called: one that was tried before is compiled
/// when it is first needed. Thread-safe.
class shared_schema {
 public:
  /// Fails as `schema::compile` does.
  static tl::expected<std::shared_ptr<const shared_schema>, std::string> of(
      const std::string& text);

  /// As `schema::compile`, of which nothing is kept but that it went well.
  static tl::expected<void, std::string> try_out(const std::string& text);

  shared_schema(std::string text, std::optional<schema> compiled)
      : text_{std::move(text)}, compiled_{std::move(compiled)} {}

  /// See `schema::check`.
  [[nodiscard]] std::vector<violation> check(const nlohmann::json& value) const;

 private:
  const std::string text_;
  mutable std::mutex mutex_;
  mutable std::optional<schema> compiled_;  ///< stays, once it is there
};

}  // namespace riffle::tools
