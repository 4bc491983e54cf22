// SPDX-License-Identifier: MIT
#pragma once

// Binds a document to the structs, and collects every mistake on the way.

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/config/document.hpp"
#include "runtime/config/schema.hpp"

namespace riffle::config {

/// Mistakes of one load, with the file's name filled in.
class mistake_list {
 public:
  explicit mistake_list(std::string file) : file_{std::move(file)} {}

  void add(const place& at, std::string message);
  void add(mistake x);
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }
  /// In the order of the file, `--set` last.
  [[nodiscard]] std::vector<mistake> take();

 private:
  std::string file_;
  std::vector<mistake> all_;
};

class reader final : public visitor {
 public:
  /// `folder`: where the file's relative paths are anchored.
  reader(const value& document, std::filesystem::path folder,
         mistake_list& mistakes);

  using visitor::field;
  void field(std::string_view key, slot target, const rule& allowed) override;
  void some(bool, const std::function<void()>& inside) override { inside(); }
  void derive(const std::function<void()>& f) override { f(); }
  void unsupported(std::string_view key) override;
  void table(std::string_view key,
             const std::function<void()>& inside) override;
  void rest(const std::vector<std::string>& known, bool paths,
            const std::function<void(const std::string&)>& inside) override;
  /// Reports what no description asked for at the top. Call it last.
  void finish();

 private:
  struct level {
    const value* table;              ///< null: not in the document
    std::string prefix;              ///< "agents.default."
    std::vector<std::string> keys;   ///< that descriptions asked for
    std::vector<std::string> names;  ///< of tables that users named
  };

  const value* take(std::string_view key);
  void enter(const value* x, std::string_view key,
             const std::function<void()>& inside);
  void report_unknown(const level& here);

  std::filesystem::path folder_;
  mistake_list& mistakes_;
  std::vector<level> levels_;
};

/// Names may hold letters, digits, '_' and '-', at most 64; `path`: also '/',
/// '.', ':' and '@', at most 200.
bool is_name(std::string_view x, bool path) noexcept;

/// As TOML writes a key: in quotes if it must be.
std::string key_text(std::string_view x);

}  // namespace riffle::config
