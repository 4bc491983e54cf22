// SPDX-License-Identifier: MIT
// valijson says that a value is wrong and where; a model needs to hear what
// would be right. So the plain keywords of that place are read once more.
#include <algorithm>
#include <charconv>
#include <functional>
#include <string>

#include "tools/schema.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::size_t most_shown = 20;

std::string in_quotes(std::string_view text) {
  const auto cut = cut_utf8(text, 60);
  auto result = json(std::string{cut}).dump();
  if (cut.size() < text.size()) result.insert(result.size() - 1, "...");
  return result;
}

std::string with_article(const std::string& type) {
  if (type == "null") return type;
  return (type.find_first_of("aeiou") == 0 ? "an " : "a ") + type;
}

std::string shown(const json& value) {
  if (value.is_string())
    return "the string " + in_quotes(value.get_ref<const std::string&>());
  if (value.is_structured()) return with_article(value.type_name());
  return value.dump();
}

bool has_type(const json& value, const std::string& type) {
  if (type == "integer") return value.is_number_integer();
  return type == value.type_name();
}

/// Follows references; bounded, as loops were refused before.
const json* resolve(const json& root, const json* node) {
  for (int hops = 0; hops < 64 && node != nullptr; ++hops) {
    if (!node->is_object()) return nullptr;
    const auto ref = node->find("$ref");
    if (ref == node->end()) return node;
    const json::json_pointer place{
        ref->get_ref<const std::string&>().substr(1)};
    node = root.contains(place) ? &root.at(place) : nullptr;
  }
  return nullptr;
}

const json* member(const json& object, const std::string& key) {
  const auto it = object.find(key);
  return it == object.end() ? nullptr : &*it;
}

const json* child_value(const json& value, const std::string& step,
                        std::size_t index) {
  if (value.is_object()) return member(value, step);
  return value.is_array() && index < value.size() ? &value[index] : nullptr;
}

/// The schema of one member or item, where plain keywords tell it.
const json* child_schema(const json& schema_node, const json& value,
                         const std::string& step, std::size_t index) {
  if (value.is_object()) {
    if (const auto* all = member(schema_node, "properties"))
      if (const auto* own = member(*all, step)) return own;
    return member(schema_node, "additionalProperties");
  }
  const auto* items = member(schema_node, "items");
  if (items == nullptr || !items->is_array()) return items;
  return index < items->size() ? &(*items)[index] : nullptr;
}

class explainer {
 public:
  explainer(const schema_patterns& patterns, const json& schema_node,
            const json& value)
      : patterns_{patterns}, schema_{schema_node}, value_{value} {}

  std::vector<std::string> run() {
    check_type();
    if (!found_.empty()) return std::move(found_);
    check_choice();
    if (value_.is_object()) check_keys();
    if (value_.is_number()) check_number();
    if (value_.is_string()) check_string();
    if (value_.is_array()) check_size(value_.size(), "Items", "items");
    return std::move(found_);
  }

 private:
  void check_type() {
    const auto* type = member(schema_, "type");
    if (type == nullptr) return;
    std::string allowed;
    for (const auto& x : type->is_array() ? *type : json::array({*type})) {
      const auto& name = x.get_ref<const std::string&>();
      if (has_type(value_, name)) return;
      allowed += (allowed.empty() ? "" : " or ") + with_article(name);
    }
    found_.push_back("must be " + allowed + ", but is " + shown(value_));
  }

  void check_choice() {
    if (const auto* only = member(schema_, "const"); only && *only != value_)
      found_.push_back("must be " + only->dump() + ", but is " + shown(value_));
    const auto* list = member(schema_, "enum");
    if (list == nullptr || !list->is_array()) return;
    std::vector<std::string> allowed;
    for (const auto& x : *list) {
      if (x == value_) return;
      allowed.push_back(x.dump());
    }
    found_.push_back("must be one of " + join_some(allowed, most_shown) +
                     ", but is " + shown(value_));
  }

  void check_keys() {
    if (const auto* list = member(schema_, "required");
        list && list->is_array())
      for (const auto& x : *list)
        if (const auto& key = x.get_ref<const std::string&>();
            !value_.contains(key))
          found_.push_back("the key " + in_quotes(key) + " is missing" +
                           expected_type(key));
    const auto* more = member(schema_, "additionalProperties");
    if (more == nullptr || *more != false) return;
    std::vector<std::string> allowed;
    if (const auto* own = member(schema_, "properties"))
      for (const auto& [key, ignored] : own->items()) allowed.push_back(key);
    for (const auto& [key, ignored] : value_.items()) {
      if (std::find(allowed.begin(), allowed.end(), key) != allowed.end())
        continue;
      auto text = "the key " + in_quotes(key) +
                  " is not known; allowed: " + join_some(allowed, most_shown);
      if (const auto close = close_names(key, allowed); !close.empty())
        text += "; did you mean " + in_quotes(close.front()) + "?";
      found_.push_back(std::move(text));
    }
  }

  [[nodiscard]] std::string expected_type(const std::string& key) const {
    const auto* own = member(schema_, "properties");
    const auto* node = own ? member(*own, key) : nullptr;
    const auto* type =
        node && node->is_object() ? member(*node, "type") : nullptr;
    if (type == nullptr || !type->is_string()) return {};
    return " (" + with_article(type->get<std::string>()) + ")";
  }

  void check_number() {
    const auto x = value_.get<double>();
    const auto bound = [&](const char* key, const char* words, auto wrong) {
      const auto* limit = member(schema_, key);
      if (limit && limit->is_number() && wrong(x, limit->get<double>()))
        found_.push_back(std::string{"must be "} + words + " " + limit->dump() +
                         ", but is " + value_.dump());
    };
    bound("minimum", "at least", std::less<>{});
    bound("maximum", "at most", std::greater<>{});
    bound("exclusiveMinimum", "more than", std::less_equal<>{});
    bound("exclusiveMaximum", "less than", std::greater_equal<>{});
  }

  void check_string() {
    const auto& text = value_.get_ref<const std::string&>();
    check_size(count_characters(text), "Length", "characters");
    const auto* p = member(schema_, pattern_key);
    if (!p || !p->is_string()) return;
    const auto pattern = patterns_.find(p->get_ref<const std::string&>());
    if (pattern != patterns_.end() && !pattern->second.found_in(text))
      found_.push_back("must match the pattern " + p->dump() + ", but is " +
                       shown(value_));
  }

  void check_size(std::size_t size, const std::string& key,
                  const std::string& unit) {
    const auto* low = member(schema_, "min" + key);
    if (low && low->is_number() && size < low->get<std::size_t>())
      found_.push_back("must have at least " + low->dump() + " " + unit +
                       ", but has " + std::to_string(size));
    const auto* high = member(schema_, "max" + key);
    if (high && high->is_number() && size > high->get<std::size_t>())
      found_.push_back("must have at most " + high->dump() + " " + unit +
                       ", but has " + std::to_string(size));
  }

  const schema_patterns& patterns_;
  const json& schema_;
  const json& value_;
  std::vector<std::string> found_;
};

}  // namespace

const json* schema_at(const json& root_schema, const json& root,
                      const std::vector<std::string>& path) {
  const json* node = resolve(root_schema, &root_schema);
  const json* value = &root;
  for (const auto& step : path) {
    if (node == nullptr || value == nullptr) return nullptr;
    std::size_t index = 0;
    std::from_chars(step.data(), step.data() + step.size(), index);
    node = resolve(root_schema, child_schema(*node, *value, step, index));
    value = child_value(*value, step, index);
  }
  return node;
}

std::vector<std::string> explain(const prepared_schema& schema,
                                 const json& root,
                                 const std::vector<std::string>& path) {
  const json* value = &root;
  for (const auto& step : path) {
    std::size_t index = 0;
    std::from_chars(step.data(), step.data() + step.size(), index);
    value = child_value(*value, step, index);
    if (value == nullptr) return {};
  }
  const auto* node = schema_at(schema.root, root, path);
  if (node == nullptr) return {};
  return explainer{schema.patterns, *node, *value}.run();
}

}  // namespace riffle::tools
