// SPDX-License-Identifier: MIT
#include "tools/mcp/mcp_tool.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "tools/key_pointers.hpp"
#include "tools/mcp/call.hpp"
#include "tools/mcp/names.hpp"
#include "tools/mcp/result.hpp"
#include "tools/subject_text.hpp"

namespace riffle::mcp {

namespace {

constexpr auto preview_limit = std::chrono::seconds{15};

bool is_idempotent(const tool_def& tool, const tool_rules& rules) {
  return rules.trusts && tool.idempotent.value_or(false);
}

class mcp_tool final : public tools::tool {
 public:
  mcp_tool(std::shared_ptr<server> at, const tool_def& about, tool_rules rules,
           bool guarded, std::string command)
      : at_{std::move(at)},
        tool_{about.name},
        digest_{digest_of(about)},
        rules_{std::move(rules)},
        command_{std::move(command)},
        spec_{.name = tool_name(at_->name(), about.name),
              .description =
                  about.description.empty() ? about.title : about.description,
              .parameters = about.input_schema,
              .eff = effect_of(about, rules_),
              .idempotent = is_idempotent(about, rules_),
              .guarded = guarded} {}

  [[nodiscard]] const tools::tool_spec& spec() const noexcept override {
    return spec_;
  }

  [[nodiscard]] std::string title(const json& arguments) const override {
    return tools::title_with_subject(title_of(at_->name(), tool_), arguments);
  }

  [[nodiscard]] std::vector<std::string> keys(
      const json& arguments,
      const std::filesystem::path& /*workspace*/) const override {
    auto out = tools::texts_at(rules_.keys, arguments);
    for (auto& x : out) x.insert(0, at_->name() + ":");
    return out;
  }

  [[nodiscard]] tools::call_preview preview(
      const json& arguments,
      const std::filesystem::path& /*workspace*/) const override {
    if (!rules_.preview.is_object() || rules_.preview.empty()) return {};
    auto looked = arguments;
    looked.update(rules_.preview);
    auto said = call_preview(*at_, tool_, digest_, looked,
                             std::chrono::steady_clock::now() + preview_limit);
    if (said) return *std::move(said);
    return "The server cannot show what the call would do: " +
           said.error().message;
  }

  [[nodiscard]] std::string definition() const override {
    return tool::definition() + "\n" + command_ + "\n" + digest_;
  }

  tools::tool_output run(const json& arguments,
                         tools::tool_context& context) override {
    return call_tool(*at_, tool_, digest_, arguments, context);
  }

 private:
  const std::shared_ptr<server> at_;
  const std::string tool_;
  const std::string digest_;
  const tool_rules rules_;
  const std::string command_;
  const tools::tool_spec spec_;
};

class resource_tool final : public tools::tool {
 public:
  resource_tool(std::shared_ptr<server> at, effect eff, bool guarded,
                const std::vector<std::string>& templates)
      : at_{std::move(at)},
        spec_{.name = tool_name(at_->name(), "read_resource"),
              .description =
                  "Reads a resource of the server " + at_->name() +
                  " by its URI. Without a URI: lists the resources that it "
                  "has." +
                  words_of(templates),
              .parameters =
                  R"({"type":"object","properties":{"uri":{"type":"string"}},)"
                  R"("additionalProperties":false})",
              .eff = eff,
              .guarded = guarded} {}

  [[nodiscard]] const tools::tool_spec& spec() const noexcept override {
    return spec_;
  }

  [[nodiscard]] std::string title(const json& arguments) const override {
    const auto uri = arguments.find("uri");
    if (uri == arguments.end()) return "Listing resources of " + at_->name();
    return "Reading " + uri->get<std::string>();
  }

  tools::tool_output run(const json& arguments,
                         tools::tool_context& context) override {
    const auto uri = arguments.find("uri");
    return uri == arguments.end() ? list(context) : read(*uri, context);
  }

 private:
  tools::tool_output list(const tools::tool_context& context) const {
    tools::tool_output out;
    const auto all = at_->list("resources/list", "resources", context.stop);
    if (!all) return failure(all.error());
    out.text = lines_of(*all);
    return out;
  }

  tools::tool_output read(const json& uri, tools::tool_context& context) const {
    request x;
    x.stop = context.stop;
    x.method = "resources/read";
    x.params["uri"] = uri;
    x.params["_meta"]["traceparent"] = trace_of_call(context);
    const auto said = at_->ask(std::move(x));
    if (!said) return failure(said.error());
    tools::tool_output out;
    if (const auto* result = std::get_if<json>(&*said)) {
      out.text = read_contents(result->value("contents", json()));
      if (out.text.empty()) return out;
      const bool open = !out.text.ends_with('\n');
      out.metadata = to_text(
          {{"lines", std::ranges::count(out.text, '\n') + (open ? 1 : 0)},
           {"bytes", out.text.size()}});
      return out;
    }
    if (const auto* refused = std::get_if<rpc_error>(&*said))
      return failure(
          {errc::tool_execution_error, at_->name(), render(*refused)});
    out = failure({errc::interrupted, at_->name(), "the server was lost"});
    out.lost = true;
    return out;
  }

  static tools::tool_output failure(error why) {
    tools::tool_output out;
    out.text = why.message;
    out.err = std::move(why);
    return out;
  }

  static std::string words_of(const std::vector<std::string>& templates) {
    std::string out;
    for (const auto& x : templates)
      out +=
          (out.empty() ? " It also takes URIs of the form `" : ", `") + x + "`";
    return out.empty() ? out : out + ".";
  }

  static std::string lines_of(const std::vector<json>& all) {
    std::string out;
    for (const auto& x : all)
      if (x.is_object() && x.value("uri", json()).is_string())
        out += x.at("uri").get<std::string>() + "\n";
    return out.empty() ? "It has no resources." : out;
  }

  const std::shared_ptr<server> at_;
  const tools::tool_spec spec_;
};

}  // namespace

effect effect_of(const tool_def& tool, const tool_rules& rules) {
  if (rules.eff) return *rules.eff;
  const bool reads = rules.trusts && tool.read_only.value_or(false);
  return reads ? effect::read_only : effect::mutating;
}

tools::tool_ptr make_tool(std::shared_ptr<server> at, const tool_def& tool,
                          const tool_rules& rules, bool guarded,
                          std::string command) {
  return std::make_shared<mcp_tool>(std::move(at), tool, rules, guarded,
                                    std::move(command));
}

tools::tool_ptr make_resource_tool(std::shared_ptr<server> at,
                                   const tool_rules& rules, bool guarded,
                                   const std::vector<std::string>& templates) {
  // What a server does with a URI is its own affair: it may ask the internet.
  const auto eff =
      rules.eff.value_or(rules.trusts ? effect::read_only : effect::mutating);
  return std::make_shared<resource_tool>(std::move(at), eff, guarded,
                                         templates);
}

}  // namespace riffle::mcp
