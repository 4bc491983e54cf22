// SPDX-License-Identifier: MIT
// The only file that includes valijson: its headers take seconds to compile.
#include "tools/schema.hpp"

#define VALIJSON_USE_EXCEPTIONS 1  // else a bad schema ends the process

#include <algorithm>
#include <cstdint>
#include <map>
#include <new>
#include <string>
#include <unordered_set>
#include <utility>

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/constraints/concrete_constraints.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::size_t most_violations = 10;
constexpr double largest_whole = 9007199254740992;  // 2^53

/// Schemas that a check tries: each part of the value against each of them
/// once, and then some. Each may take a microsecond …
constexpr std::size_t free_steps = 20'000;
constexpr std::size_t most_steps = 3'000'000;
/// … and many times that where all that is wrong is gathered.
constexpr std::size_t most_gathered = 5'000;

std::size_t parts_of(const json& x) {
  std::size_t out = 1;
  if (x.is_structured())
    for (const auto& item : x) out += parts_of(item);
  return out;
}

/// `pattern`, matched by us.
class pattern_constraint final : public valijson::constraints::PolyConstraint {
 public:
  explicit pattern_constraint(schema_pattern pattern)
      : pattern_{std::move(pattern)} {}

  bool validate(const valijson::adapters::Adapter& target,
                const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    if (!target.isString() || pattern_.found_in(target.asString())) return true;
    if (results) results->pushError(context, "does not match the pattern");
    return false;
  }

 private:
  Constraint* cloneInto(void* place) const override {
    return new (place) pattern_constraint(*this);
  }
  size_t sizeOf() const override { return sizeof(*this); }

  schema_pattern pattern_;
};

/// A value as a text that equal ones have in common, whatever their order of
/// keys.
void append_canonical(const valijson::adapters::Adapter& x, std::string& out) {
  if (x.isArray()) {
    out += '[';
    x.applyToArray([&](const valijson::adapters::Adapter& item) {
      append_canonical(item, out);
      out += ',';
      return true;
    });
  } else if (x.isObject()) {
    out += '{';
    x.applyToObject(
        [&](const std::string& key, const valijson::adapters::Adapter& item) {
          out += std::to_string(key.size()) + ':' + key;
          append_canonical(item, out);
          out += ',';
          return true;
        });
  } else if (x.isString()) {
    const auto text = x.getString();
    out += '"' + std::to_string(text.size()) + ':' + text;
  } else if (x.isDouble()) {
    json number = x.getDouble();
    const auto whole = static_cast<double>(static_cast<std::int64_t>(
        std::clamp(x.getDouble(), -largest_whole, largest_whole)));
    if (whole == x.getDouble()) number = static_cast<std::int64_t>(whole);
    out += number.dump();
  } else if (x.isInteger()) {
    out += std::to_string(x.getInteger());
  } else {
    out += x.isBool() ? (x.getBool() ? "t" : "f") : "n";
  }
}

/// `uniqueItems`, in the length of the value and not in its square.
class unique_constraint final : public valijson::constraints::PolyConstraint {
  bool validate(const valijson::adapters::Adapter& target,
                const std::vector<std::string>& context,
                valijson::ValidationResults* results) const override {
    if (!target.isArray()) return true;
    std::unordered_set<std::string> seen;
    const bool well =
        target.applyToArray([&](const valijson::adapters::Adapter& item) {
          std::string text;
          append_canonical(item, text);
          return seen.insert(std::move(text)).second;
        });
    if (!well && results)
      results->pushError(context, "two of its items are equal");
    return well;
  }
  Constraint* cloneInto(void* place) const override {
    return new (place) unique_constraint(*this);
  }
  size_t sizeOf() const override { return sizeof(*this); }
};

struct too_costly {};

/// How many schemas may still be tried by the check of this thread.
thread_local std::size_t steps_left = 0;

class step_constraint final : public valijson::constraints::PolyConstraint {
  bool validate(const valijson::adapters::Adapter&,
                const std::vector<std::string>&,
                valijson::ValidationResults*) const override {
    if (steps_left == 0) throw too_costly{};
    --steps_left;
    return true;
  }
  Constraint* cloneInto(void* place) const override {
    return new (place) step_constraint(*this);
  }
  size_t sizeOf() const override { return sizeof(*this); }
};

template <class Constraint>
class plain_builder final : public valijson::ConstraintBuilder {
  valijson::constraints::Constraint* make(
      const valijson::adapters::Adapter&) const override {
    return new Constraint;  // the parser deletes it
  }
};

class pattern_builder final : public valijson::ConstraintBuilder {
 public:
  explicit pattern_builder(const schema_patterns& all) : all_{all} {}

  valijson::constraints::Constraint* make(
      const valijson::adapters::Adapter& x) const override {
    // The parser deletes it.
    return new pattern_constraint(all_.at(x.asString()));
  }

 private:
  const schema_patterns& all_;
};

/// valijson's path `<root>`, `[key]`, `[0]` without its brackets.
std::vector<std::string> path_of(const std::vector<std::string>& context) {
  std::vector<std::string> result;
  for (std::size_t i = 1; i < context.size(); ++i) {
    std::string_view step = context[i];
    if (step.starts_with('[') && step.ends_with(']'))
      step = step.substr(1, step.size() - 2);
    result.emplace_back(step);
  }
  return result;
}

std::string pointer_of(const std::vector<std::string>& path) {
  json::json_pointer result;
  for (const auto& step : path) result.push_back(step);
  return result.to_string();
}

struct place {
  std::vector<std::string> path;
  std::vector<std::string> said;  ///< by valijson
};

/// As it was written.
void show_plainly(json& node) {
  if (node.is_object()) {
    const auto all = node.find("allOf");
    if (all != node.end() && all->is_array()) {
      std::erase_if(all->get_ref<json::array_t&>(), [](const json& x) {
        return x.is_object() && x.contains(step_key);
      });
      if (all->empty()) node.erase(all);
    }
    if (node.erase(unique_key) > 0) node["uniqueItems"] = true;
    if (node.contains(pattern_key)) {
      node["pattern"] = node[pattern_key];
      node.erase(pattern_key);
    }
  }
  if (node.is_structured())
    for (auto& x : node) show_plainly(x);
}

/// Where plain keywords do not tell: the schema itself, else valijson's words.
std::string unexplained(const place& here, const json* node) {
  if (node != nullptr) {
    auto shown = *node;
    show_plainly(shown);
    const auto text = shown.dump();
    const auto cut = cut_utf8(text, 300);
    return "does not fit " + std::string{cut} +
           (cut.size() < text.size() ? "..." : "");
  }
  std::string_view text = here.said.front();
  if (text.ends_with('.')) text.remove_suffix(1);
  return std::string{text};
}

}  // namespace

struct schema::impl {
  /// May throw `too_costly`.
  bool fits(const json& value, valijson::ValidationResults* results,
            std::size_t steps) const {
    steps_left = steps;
    valijson::Validator validator;  // it caches: one for each check
    return validator.validate(
        compiled, valijson::adapters::NlohmannJsonAdapter{value}, results);
  }
  [[nodiscard]] std::size_t steps_for(const json& value) const {
    return std::min(free_steps + parts_of(value) * source.schemas, most_steps);
  }

  prepared_schema source;
  valijson::Schema compiled;
};

schema::schema(std::unique_ptr<impl> x) : impl_{std::move(x)} {}
schema::~schema() = default;
schema::schema(schema&&) noexcept = default;
schema& schema::operator=(schema&&) noexcept = default;

tl::expected<schema, std::string> schema::compile(std::string_view text) {
  auto source = prepare_schema(text);
  if (!source) return tl::unexpected{std::move(source).error()};
  auto result = std::make_unique<impl>();
  result->source = std::move(*source);
  try {
    valijson::SchemaParser parser;
    parser.addConstraintBuilder(
        pattern_key, new pattern_builder{result->source.patterns});  // it owns
    parser.addConstraintBuilder(unique_key,
                                new plain_builder<unique_constraint>);
    parser.addConstraintBuilder(step_key, new plain_builder<step_constraint>);
    parser.populateSchema(
        valijson::adapters::NlohmannJsonAdapter{result->source.root},
        result->compiled);
  } catch (const std::exception& e) {
    return tl::unexpected{std::string{e.what()}};
  }
  return schema{std::move(result)};
}

std::vector<violation> schema::check(const json& value) const {
  // Whether it fits is cheap to know, all that does not fit is not.
  try {
    if (impl_->fits(value, nullptr, impl_->steps_for(value))) return {};
  } catch (const too_costly&) {
    return {{"",
             "is too deep to be tried against all alternatives of its "
             "schema: make it simpler"}};
  }
  valijson::ValidationResults results;
  try {
    impl_->fits(value, &results, most_gathered);
  } catch (const too_costly&) {
    return {{"",
             "does not fit the alternatives of its schema, and is too "
             "deep to say where: make it simpler"}};
  }
  std::map<std::string, place> places;
  for (const auto& error : results) {
    auto path = path_of(error.context);
    auto& here = places[pointer_of(path)];
    here.path = std::move(path);
    here.said.push_back(error.description);
  }
  // What contains a wrong place is called wrong, too: the innermost counts.
  const auto innermost = [&](const std::string& pointer) {
    const auto next = places.upper_bound(pointer + "/");
    return next == places.end() || !next->first.starts_with(pointer + "/");
  };
  std::vector<violation> result;
  for (const auto& [pointer, here] : places) {
    auto texts = explain(impl_->source, value, here.path);
    if (texts.empty() && innermost(pointer))
      texts = {
          unexplained(here, schema_at(impl_->source.root, value, here.path))};
    for (auto& text : texts) result.push_back({pointer, std::move(text)});
  }
  if (result.size() > most_violations) result.resize(most_violations);
  return result;
}

}  // namespace riffle::tools
