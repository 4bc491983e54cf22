// SPDX-License-Identifier: MIT
// The models of a run: how each is reached, and what it is asked for.
#include <algorithm>
#include <iterator>
#include <utility>

#include "actors/run/asked_models.hpp"
#include "runtime/service/answer_form.hpp"
#include "runtime/service/attachments.hpp"
#include "runtime/service/model_request.hpp"
#include "runtime/service/spec_maker.hpp"

namespace riffle::service {

namespace {

constexpr const char* runtime_op = "runtime";
constexpr const char* ending = "complete";

/// `by_tool`: the model ends its work by `complete`.
std::vector<model::tool_description> describe_tools(const run_spec& spec,
                                                    bool by_tool) {
  auto names = spec.agent.tools;
  if (by_tool && std::ranges::find(names, ending) == names.end())
    names.emplace_back(ending);
  std::vector<model::tool_description> out;
  for (const auto& name : names)
    if (name == ending && spec.completing)
      out.push_back(*spec.completing);
    else if (const auto* tool = spec.registry->find(name)) {
      const auto& about = (*tool)->spec();
      out.push_back({about.name, about.description, about.parameters});
    }
  return out;
}

}  // namespace

/// What its server refused before is not asked for again.
void spec_maker::describe_request(run_spec& spec) const {
  const auto refused = [&] {
    const std::lock_guard lock{refused_->mutex};
    return refused_->of[spec.agent.model];
  }();
  auto native = std::move(spec.request.response_schema);
  if (refused.contains("response_schema")) native.clear();
  const bool by_tool = spec.completing && native.empty();
  spec.request = make_request(
      spec.model, overlaid(spec.model.parameters, spec.agent.parameters),
      describe_tools(spec, by_tool || spec.agent.completion == "tool"));
  spec.request.response_schema = std::move(native);
  for (const auto& parameter : refused)
    spec.request = without_parameter(std::move(spec.request), parameter);
  spec.can_force = can_force(spec.model) && !refused.contains("tool_choice");
}

expected<void> spec_maker::connect(run_spec& spec,
                                   const std::stop_token& stop) {
  auto dialect = make_dialect(spec.model);
  if (!dialect) return unexpected{std::move(dialect.error())};
  spec.dialect = *std::move(dialect);
  if (spec.cause) return {};
  auto link = links_.open(spec.agent.model, spec.model, stop);
  if (!link) return unexpected{std::move(link.error())};
  windows_.complete(*link, spec.model, stop);
  spec.maker = maker_of(spec.model, *link);
  spec.url = link->url(spec.dialect->path());
  spec.headers = spec.dialect->headers(link->key);
  std::ranges::move(link->headers, std::back_inserter(spec.headers));
  spec.advice = std::move(link->advice);
  describe_request(spec);
  spec.on_refused = [kept = refused_,
                     name = spec.agent.model](const std::string& parameter) {
    const std::lock_guard lock{kept->mutex};
    kept->of[name].insert(parameter);
  };
  spec.transport = std::move(link->transport);
  return {};
}

/// Where one of the models knows no forms, all end by the tool `complete`. Its
/// arguments are the answer, so it is told of as the form wants it.
expected<void> spec_maker::choose_form(run_spec& spec) const {
  const auto& schema = spec.agent.response_schema.text;
  if (spec.cause || schema.empty() || schema == "{}") return {};
  auto check = make_answer_check(schema);
  if (!check) return unexpected{std::move(check.error())};
  spec.answer_problem = *std::move(check);
  spec.answer_is_arguments = can_be_arguments(schema);
  spec.completing = model::tool_description{
      ending, complete_description(schema), complete_parameters(schema)};
  bool native = fits_schemas(spec.model);
  for (const auto& name : spec.model.fallback)
    if (const auto other = config::find_model(*config_, name))
      native = native && fits_schemas(*other);
  spec.request.response_schema = native ? schema : "";
  return {};
}

expected<void> spec_maker::add_fallback(run_spec& spec,
                                        const std::stop_token& stop) {
  if (spec.cause) return {};
  for (const auto& name : spec.model.fallback) {
    auto model = config::find_model(*config_, name);
    if (!model)
      return unexpected{error{errc::not_found, runtime_op,
                              config::unknown_model(*config_, name)}};
    auto other = std::make_shared<run_spec>(spec);
    other->fallback.clear();
    other->agent.model = name;
    other->model = *std::move(model);
    other->file_types = shown_types(other->model);
    if (auto ok = connect(*other, stop); !ok) {
      ok.error().message = name + ", a fallback of " + spec.agent.model + ": " +
                           ok.error().message;
      return ok;
    }
    spec.fallback.push_back(std::move(other));
  }
  return {};
}

}  // namespace riffle::service
