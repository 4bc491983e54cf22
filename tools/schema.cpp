// SPDX-License-Identifier: MIT
// The only file that includes valijson: its headers take seconds to compile.
#include "tools/schema.hpp"

#define VALIJSON_USE_EXCEPTIONS 1  // else a bad schema ends the process

#include <algorithm>
#include <map>
#include <new>
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

/// Where plain keywords do not tell: the schema itself, else valijson's words.
std::string unexplained(const place& here, const json* node) {
  if (node != nullptr) {
    const auto text = node->dump();
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
    parser.populateSchema(
        valijson::adapters::NlohmannJsonAdapter{result->source.root},
        result->compiled);
  } catch (const std::exception& e) {
    return tl::unexpected{std::string{e.what()}};
  }
  return schema{std::move(result)};
}

std::vector<violation> schema::check(const json& value) const {
  valijson::Validator validator;  // it caches: one for each check
  valijson::ValidationResults results;
  if (validator.validate(impl_->compiled,
                         valijson::adapters::NlohmannJsonAdapter{value},
                         &results))
    return {};
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
