// SPDX-License-Identifier: MIT
#pragma once

// All keys of the configuration, described once: reading, checking, printing
// and listing are visitors of this description.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "runtime/config/config.hpp"

namespace riffle::config {

/// Where the value of a key goes.
using slot = std::variant<bool*, std::uint32_t*, std::uint64_t*, std::int32_t*,
                          double*, std::optional<double>*,
                          std::optional<std::int64_t>*, std::optional<bool>*,
                          std::string*, duration*, std::vector<std::string>*,
                          std::vector<approval_rule>*, json_object*>;

/// Form of a text.
enum class form : std::uint8_t {
  any,
  path,        ///< relative ones are anchored at the file's folder
  folder,      ///< relative to the working directory; "~" is replaced
  url,         ///< http:// or https://
  address,     ///< host:port, or empty
  identifier,  ///< as environment variables are named, or empty
  pointer,     ///< JSON pointer
  endpoint,    ///< a host or network, with or without a port
  provider,    ///< one that `providers.toml` has
  texts,       ///< of an object: all values are texts
};

/// What is allowed. Numbers: `least` to `most`, both included; durations the
/// same in seconds.
struct rule {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  form shape = form::any;
  bool empty_allowed = true;              ///< of texts and lists
  std::vector<std::string_view> allowed;  ///< empty: any
  std::vector<std::string_view> later;    ///< in the contract, not built
};

rule one_of(std::vector<std::string_view> allowed,
            std::vector<std::string_view> later = {});
rule from(double least, double most);
rule shaped(form x, bool empty_allowed = true);

class visitor {
 public:
  virtual ~visitor() = default;

  /// A key with a value.
  virtual void field(std::string_view key, slot target,
                     const rule& allowed) = 0;
  void field(std::string_view key, slot target) { field(key, target, rule{}); }

  /// Keys that only some tables have: `inside` is visited where a document is
  /// read, and listed only if `present`.
  virtual void some(bool present, const std::function<void()>& inside) = 0;

  /// Called where a document is read, behind keys that decide the defaults of
  /// those that follow.
  virtual void derive(const std::function<void()>&) {}

  /// A key of the contract that this version does not have.
  virtual void unsupported(std::string_view key) = 0;

  /// A table; `inside` visits its keys.
  virtual void table(std::string_view key,
                     const std::function<void()>& inside) = 0;

  /// All other keys of this table are names that users chose, of tables.
  /// `known`: those that are there already. `paths`: names may hold '/', '.'
  /// and ':' too. Last in its table.
  virtual void rest(const std::vector<std::string>& known, bool paths,
                    const std::function<void(const std::string&)>& inside) = 0;
};

/// Visits everything in the order of the contract's page. Names that `rest`
/// brings are added with their defaults.
void visit(visitor& v, config& x);

/// The keys of a table [mcp.NAME] (mcp_schema.cpp).
void visit(visitor& v, mcp_config& x);

struct provider;
/// The keys of a table of `providers.toml`.
void visit(visitor& v, provider& x);

}  // namespace riffle::config
