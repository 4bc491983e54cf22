// SPDX-License-Identifier: MIT
// The only file that includes the TOML library.
#include <sstream>
#include <string>
#include <utility>

#include <toml++/toml.h>

#include "runtime/base/toml_bounds.hpp"
#include "runtime/config/document.hpp"

namespace riffle::config {

namespace {

place to_place(const toml::source_region& x) {
  return {false, x.begin.line, x.begin.column};
}

value convert(const toml::node& node);

value convert_list(const toml::array& x) {
  value out;
  out.type = kind::list;
  for (const auto& item : x) out.items.push_back(convert(item));
  return out;
}

value convert_table(const toml::table& x) {
  value out;
  for (const auto& [key, node] : x) {
    auto item = convert(node);
    item.key = std::string{key.str()};
    item.key_at = to_place(key.source());
    out.items.push_back(std::move(item));
  }
  return out;
}

template <class T>
value convert_time(const T& x) {
  std::ostringstream text;
  text << x.get();
  value out;
  out.type = kind::time;
  out.text = text.str();
  return out;
}

value convert_value(const toml::node& node) {
  value out;
  if (const auto* x = node.as_boolean()) {
    out.type = kind::boolean;
    out.flag = x->get();
  } else if (const auto* i = node.as_integer()) {
    out.type = kind::integer;
    out.integer = i->get();
  } else if (const auto* r = node.as_floating_point()) {
    out.type = kind::real;
    out.real = r->get();
  } else if (const auto* s = node.as_string()) {
    out.type = kind::text;
    out.text = s->get();
  } else if (const auto* l = node.as_array()) {
    out = convert_list(*l);
  } else if (const auto* t = node.as_table()) {
    out = convert_table(*t);
  } else if (const auto* d = node.as_date()) {
    out = convert_time(*d);
  } else if (const auto* c = node.as_time()) {
    out = convert_time(*c);
  } else if (const auto* dt = node.as_date_time()) {
    out = convert_time(*dt);
  }
  return out;
}

value convert(const toml::node& node) {
  auto out = convert_value(node);
  out.at = to_place(node.source());
  return out;
}

void mark_as_set(value& x) {
  x.at = x.key_at = place{true, 0, 0};
  for (auto& item : x.items) mark_as_set(item);
}

mistake set_mistake(std::string_view argument, std::string_view why) {
  mistake out;
  out.file = "--set";
  constexpr std::size_t most = 200;
  out.message.append("\"").append(argument.substr(0, most));
  out.message.append(argument.size() > most ? "…\": " : "\": ").append(why);
  return out;
}

/// The one innermost value of nested tables with one key each, or null.
value* only_leaf(value& root) {
  auto* x = &root;
  while (x->type == kind::table) {
    if (x->items.size() != 1) return nullptr;
    x = &x->items.front();
  }
  return x;
}

value set_value(const std::string& text) {
  auto parsed = parse_toml("x = " + text, "--set");
  const bool one = parsed && parsed->items.size() == 1;
  value out;
  if (one && parsed->items.front().type != kind::time) {
    out = std::move(parsed->items.front());
  } else {
    out.type = kind::text;
    out.text = text;
  }
  out.raw = text;
  return out;
}

}  // namespace

tl::expected<value, mistake> parse_toml(std::string_view text,
                                        const std::string& file) {
  const auto look = look_at_toml(text);
  if (look.excess)
    return tl::unexpected{mistake{file, look.excess->line, look.excess->column,
                                  look.excess->message}};
  try {
    const toml::table table = toml::parse(text.substr(0, look.understood));
    if (look.understood == text.size()) return convert_table(table);
  } catch (const toml::parse_error& e) {
    const auto at = e.source().begin;
    return tl::unexpected{
        mistake{file, at.line, at.column, std::string{e.description()}}};
  }
  const auto at = toml_place(text, look.understood - 1, "is not TOML");
  return tl::unexpected{mistake{file, at.line, at.column, at.message}};
}

tl::expected<value, mistake> parse_set(std::string_view argument) {
  const auto equals = argument.find('=');
  if (equals == std::string_view::npos) {
    return tl::unexpected{set_mistake(argument,
                                      "write it as key=value, for example "
                                      "agents.default.max_steps=5")};
  }
  const std::string key{argument.substr(0, equals)};
  // Else what is too deep would be taken for a text, as all that is no TOML.
  for (const auto& text :
       {key + " = 0", "x = " + std::string{argument.substr(equals + 1)}}) {
    const auto look = look_at_toml(text);
    if (look.excess)
      return tl::unexpected{set_mistake(argument, look.excess->message)};
  }
  auto tree = parse_toml(key + " = 0", "--set");
  auto* leaf = tree ? only_leaf(*tree) : nullptr;
  if (!leaf) {
    return tl::unexpected{
        set_mistake(argument,
                    "what stands before '=' is no dotted key such as "
                    "agents.default.max_steps")};
  }
  auto name = std::move(leaf->key);
  *leaf = set_value(std::string{argument.substr(equals + 1)});
  leaf->key = std::move(name);
  mark_as_set(*tree);
  return std::move(*tree);
}

}  // namespace riffle::config
