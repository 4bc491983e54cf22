// SPDX-License-Identifier: MIT
#include "runtime/config/document.hpp"

#include <utility>

namespace riffle::config {

std::string_view describe(kind x) noexcept {
  switch (x) {
    case kind::boolean: return "true or false";
    case kind::integer: return "a whole number";
    case kind::real: return "a number";
    case kind::text: return "a text";
    case kind::time: return "a date or time";
    case kind::list: return "a list";
    case kind::table: return "a table";
  }
  return "?";
}

const value* value::find(std::string_view name) const noexcept {
  if (type != kind::table) return nullptr;
  for (const auto& x : items) {
    if (x.key == name) return &x;
  }
  return nullptr;
}

void overlay(value& base, value over) {
  if (base.type != kind::table || over.type != kind::table) {
    base = std::move(over);
    return;
  }
  for (auto& x : over.items) {
    if (const auto* old = base.find(x.key)) {
      overlay(base.items[static_cast<std::size_t>(old - base.items.data())],
              std::move(x));
    } else {
      base.items.push_back(std::move(x));
    }
  }
}

const value* find_path(const value& root,
                       const std::vector<std::string>& path) noexcept {
  const auto* x = &root;
  for (const auto& key : path) {
    x = x->find(key);
    if (!x) return nullptr;
  }
  return x;
}

}  // namespace riffle::config
