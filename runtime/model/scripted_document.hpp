// SPDX-License-Identifier: MIT
#pragma once

// A script file as a JSON value that still knows where its parts stand.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "messages/error.hpp"
#include "messages/time.hpp"
#include "runtime/model/scripted_script.hpp"

namespace riffle::model {

struct script_document {
  nlohmann::json root;
  std::string name;
  /// "line:column" of the part at a pointer; empty: nobody knows.
  std::function<std::string(std::string_view)> place_of;
  std::vector<std::string> problems;  ///< all that is wrong

  /// Notes a problem of the part at `pointer`.
  void complain(const std::string& pointer, std::string_view what);
};

/// Fails if the text is no TOML or JSON.
expected<script_document> parse_document(std::string_view text,
                                         script_format format,
                                         const std::string& name);

/// Reads the members of one object of a document; complains of members that
/// are mistyped, and, when it ends, of those that nobody asked for.
class script_reader {
 public:
  script_reader(script_document& document, const nlohmann::json& object,
                std::string pointer);
  ~script_reader();
  script_reader(const script_reader&) = delete;
  script_reader& operator=(const script_reader&) = delete;

  [[nodiscard]] bool has(const char* key);
  void text(const char* key, std::string& to);
  /// A text whose references are checked.
  void template_text(const char* key, std::string& to);
  void flag(const char* key, bool& to);
  template <class T>
  void number(const char* key, T& to) {
    if (const auto x = whole_number(key)) to = static_cast<T>(*x);
  }
  void length(const char* key, duration& to);
  /// One of `words`; gives its place in the list.
  std::optional<std::size_t> choice(const char* key,
                                    const std::vector<std::string>& words);
  /// Any value; null if there is none.
  const nlohmann::json& any(const char* key);
  using each = std::function<void(const nlohmann::json&, const std::string&)>;
  /// Calls `f(element, pointer)` for each table of a list.
  void tables(const char* key, const each& f);
  void complain(const char* key, std::string_view what);
  [[nodiscard]] std::string pointer(const char* key) const;
  [[nodiscard]] script_document& document() noexcept { return document_; }

 private:
  std::optional<std::uint64_t> whole_number(const char* key);

  script_document& document_;
  const nlohmann::json& object_;
  std::string pointer_;
  std::vector<std::string> known_;
};

}  // namespace riffle::model
