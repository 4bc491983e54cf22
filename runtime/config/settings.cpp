// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "messages/duration_text.hpp"
#include "runtime/config/assign.hpp"
#include "runtime/config/reader.hpp"
#include "runtime/config/schema.hpp"

namespace riffle::config {

namespace {

std::string text_of(const bool* x) { return *x ? "true" : "false"; }
std::string text_of(const std::uint32_t* x) { return std::to_string(*x); }
std::string text_of(const std::int32_t* x) { return std::to_string(*x); }
std::string text_of(const std::uint64_t* x) { return std::to_string(*x); }
std::string text_of(const double* x) { return number_text(*x); }
std::string text_of(const std::string* x) { return in_quotes(*x); }
std::string text_of(const duration* x) { return in_quotes(duration_text(*x)); }

std::string text_of(const std::optional<double>* x) {
  return *x ? number_text(**x) : "\"none\"";
}

std::string text_of(const std::optional<std::int64_t>* x) {
  return *x ? std::to_string(**x) : "\"none\"";
}

std::string text_of(const std::optional<bool>* x) {
  return !*x ? "\"none\"" : **x ? "true" : "false";
}

std::string text_of(const std::vector<std::string>* x) {
  std::string out = "[";
  for (const auto& item : *x) {
    if (out.size() > 1) out += ", ";
    out += in_quotes(item);
  }
  return out + "]";
}

std::string text_of(const std::vector<approval_rule>* x) {
  std::string out = "[";
  for (const auto& [match, approval] : *x) {
    if (out.size() > 1) out += ", ";
    out += "{ match = " + in_quotes(match) +
           ", approval = " + in_quotes(approval) + " }";
  }
  return out + "]";
}

/// As JSON in a text: it may hold what TOML has no word for.
std::string text_of(const json_object* x) {
  const bool plain = std::ranges::none_of(x->text, [](char c) {
    return c == '\'' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  return plain ? "'" + x->text + "'" : in_quotes(x->text);
}

class lister final : public visitor {
 public:
  using visitor::field;
  void field(std::string_view key, slot target, const rule&) override {
    auto text = std::visit([](auto* x) { return text_of(x); }, target);
    out.push_back({section_, std::string{key}, std::move(text)});
  }

  void some(bool present, const std::function<void()>& inside) override {
    if (present) inside();
  }

  void unsupported(std::string_view) override {}

  void table(std::string_view key,
             const std::function<void()>& inside) override {
    const auto outer = section_;
    if (!section_.empty()) section_ += '.';
    section_ += key;
    inside();
    section_ = outer;
  }

  void rest(const std::vector<std::string>& known, bool,
            const std::function<void(const std::string&)>& inside) override {
    for (const auto& name : known) {
      table(key_text(name), [&] { inside(name); });
    }
  }

  std::vector<setting> out;

 private:
  std::string section_;
};

}  // namespace

std::vector<setting> settings(const config& x) {
  auto copy = x;
  lister all;
  visit(all, copy);
  return std::move(all.out);
}

std::string to_toml(const config& x) {
  std::string out;
  std::string section;
  for (const auto& s : settings(x)) {
    if (s.section != section) {
      if (!out.empty()) out += '\n';
      out.append("[").append(s.section).append("]\n");
      section = s.section;
    }
    out.append(s.key).append(" = ").append(s.value).append("\n");
  }
  return out;
}

}  // namespace riffle::config
