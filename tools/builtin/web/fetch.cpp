// SPDX-License-Identifier: MIT
#include "tools/builtin/web/fetch.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "tools/builtin/web/charset.hpp"
#include "tools/builtin/web/html_text.hpp"
#include "tools/builtin/web/url.hpp"
#include "tools/text.hpp"

namespace riffle::embedded {
extern const std::string_view fetch_md;
}

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr const char* parameters = R"({
  "type": "object",
  "properties": {
    "url": {"type": "string", "minLength": 1, "maxLength": 8192,
            "description": "The page, e.g. https://example.org/docs"},
    "raw": {"type": "boolean",
            "description": "Give HTML as it is, not as text"}
  },
  "required": ["url"],
  "additionalProperties": false
})";

constexpr std::size_t room_for_notes = 1024;

tool_output failure(error why) {
  tool_output result{.text = why.message};
  result.err = std::move(why);
  return result;
}

/// Valid UTF-8, as a server may write anything.
std::string clean(std::string_view text) {
  std::string out;
  utf8_stream utf8;
  utf8.feed(text.substr(0, 2048), out);
  utf8.finish(out);
  return out;
}

/// What the model reads.
struct reading {
  std::string text;
  std::string notes;
  bool truncated = false;

  void note(const std::string& x) { notes += "[" + x + "]"; }
};

std::string size_of(const web_answer& x) {
  if (x.announced) return size_text(*x.announced);
  return x.cut ? "unknown size" : size_text(x.body.size());
}

reading read_html(const std::string& html, const web_answer& answer,
                  std::size_t limit, const std::stop_token& stop) {
  reading out;
  auto page = html_to_text(html, answer.url, limit, stop);
  if (!page.title.empty()) out.text = page.title + "\n\n";
  out.text += page.text;
  out.truncated = page.cut || page.too_deep;
  if (page.too_deep) out.note("the rest nests too deep to be read");
  if (page.text.empty()) out.note("the page has no text without its scripts");
  return out;
}

reading read_body(const web_answer& answer, bool raw,
                  const tool_context& context) {
  const auto cap = context.output_cap;
  const auto limit = cap > 2 * room_for_notes ? cap - room_for_notes : cap / 2;
  const auto type = parse_content_type(answer.content_type);
  auto text = to_utf8(answer.body, type, !answer.cut);
  reading out;
  if (is_html(type.type) && !raw) {
    out = read_html(text, answer, limit, context.stop);
  } else {
    out.text = std::move(text);
    if (out.text.empty()) out.note("there is nothing in it");
  }
  if (out.text.size() > limit) {
    out.text.resize(cut_utf8(out.text, limit).size());
    out.truncated = true;
  }
  out.truncated = out.truncated || answer.cut;
  if (answer.cut)
    out.note("only the first " + size_text(answer.body.size()) +
             " were loaded, there is more");
  else if (out.truncated)
    out.note("there is more, which is left out");
  return out;
}

json describe(const web_answer& answer) {
  json out = {{"url", clean(answer.url)},
              {"status", answer.status},
              {"content_type", clean(answer.content_type)},
              {"bytes", answer.body.size()}};
  if (answer.announced) out["total_bytes"] = *answer.announced;
  if (answer.redirects > 0) out["redirects"] = answer.redirects;
  return out;
}

bool is_binary(const web_answer& answer) {
  const auto type = parse_content_type(answer.content_type);
  const auto kind = kind_of(type.type);
  if (kind == text_kind::binary) return true;
  return !type.charset.starts_with("utf-16") && looks_binary(answer.body);
}

tool_output result_of(const web_answer& answer, bool raw,
                      const tool_context& context) {
  auto metadata = describe(answer);
  tool_output out;
  const bool failed = answer.status >= 400 || answer.status < 200;
  const auto status = "HTTP status " + std::to_string(answer.status);
  if (failed)
    out.err = error{.code = answer.status == 404 || answer.status == 410
                                ? errc::not_found
                                : errc::tool_execution_error,
                    .op = "fetch",
                    .message = "the server answered with " + status};
  if (is_binary(answer)) {
    auto why = "it is binary: " + clean(answer.content_type) + ", " +
               size_of(answer) + ", which cannot be read as text";
    metadata["binary"] = true;
    if (failed) why = status + "; " + why;
    out = failure({.code = failed ? out.err->code : errc::tool_execution_error,
                   .op = "fetch",
                   .message = std::move(why)});
  } else {
    auto read = read_body(answer, raw, context);
    if (read.truncated) metadata["truncated"] = true;
    if (answer.redirects > 0) read.note("the URL led to " + clean(answer.url));
    if (failed) read.note(status);
    if (!read.notes.empty() && !read.text.empty()) read.text += '\n';
    out.text = std::move(read.text) + read.notes;
  }
  out.metadata = metadata.dump(-1, ' ', false, json::error_handler_t::replace);
  return out;
}

/// Whether a redirect may be followed. Who agreed to a URL did so by one rule
/// and for one host: what lies behind another one was not asked for.
class redirect_rules {
 public:
  redirect_rules(std::vector<core::approval_rule> rules,
                 core::approval_policy otherwise)
      : rules_{std::move(rules)} {
    rules_.push_back({"*", otherwise});
  }

  [[nodiscard]] std::optional<std::string> refusal(
      const std::string& from, const std::string& to) const {
    using core::approval_policy;
    const auto first = url_spelling(from);
    const auto next = url_spelling(to);
    if (!parse_url(to)) return std::nullopt;  // it will not be fetched
    if (!next)
      return rules_.back().policy == approval_policy::allow &&
                     rules_.size() == 1
                 ? std::nullopt
                 : std::optional<std::string>{"rules cannot see what it is"};
    const auto* rule = rule_of(*next);
    if (rule->policy == approval_policy::allow) return std::nullopt;
    if (rule->policy == approval_policy::deny)
      return "the configuration does not allow it";
    if (first && rule == rule_of(*first) && host_of(*first) == host_of(*next))
      return std::nullopt;
    return "this URL needs consent of its own; call fetch with it";
  }

 private:
  [[nodiscard]] const core::approval_rule* rule_of(
      const std::string& url) const {
    const auto found = std::ranges::find_if(rules_, [&](const auto& x) {
      return core::matches_pattern(x.pattern, url);
    });
    return &*found;  // the last one matches all
  }

  static std::string host_of(const std::string& url) {
    const auto parsed = parse_url(url);
    return parsed ? parsed->host : std::string{};
  }

  std::vector<core::approval_rule> rules_;
};

class fetch final : public tool {
 public:
  explicit fetch(fetch_options options)
      : policy_{std::move(options.allow)},
        rules_{std::move(options.rules), options.otherwise},
        limits_{options.limits},
        resolve_{std::move(options.resolve)} {}

  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }

  [[nodiscard]] std::string title(const json& arguments) const override {
    const auto& url = arguments.at("url").get_ref<const std::string&>();
    return "Fetching " + with_dots(url, 200);
  }

  [[nodiscard]] rule_subject subject(
      const json& arguments,
      const std::filesystem::path& /*workspace*/) const override {
    auto url = url_spelling(arguments.at("url").get_ref<const std::string&>());
    if (!url) return {.text = {}, .known = false};
    return {.text = std::move(*url)};
  }

  tool_output run(const json& arguments, tool_context& context) override {
    web_request request;
    request.url = arguments.at("url");
    request.limits = limits_;
    request.stop = context.stop;
    request.resolve = resolve_;
    request.refusal = [&](const std::string& url) {
      return rules_.refusal(request.url, url);
    };
    request.wanted = [](std::string_view type) {
      return kind_of(parse_content_type(type).type) != text_kind::binary;
    };
    if (context.progress)
      request.progress = [&](std::uint64_t done,
                             std::optional<std::uint64_t> total) {
        tool_progress_report report;
        report.progress = static_cast<double>(done);
        // Of a compressed body the server tells the smaller size.
        if (total && *total >= done) report.total = static_cast<double>(*total);
        context.progress(std::move(report));
      };
    auto answer = web_get(request, policy_);
    if (!answer) return failure(std::move(answer).error());
    return result_of(*answer, arguments.value("raw", false), context);
  }

 private:
  const tool_spec spec_{.name = "fetch",
                        .description = std::string{embedded::fetch_md},
                        .parameters = parameters,
                        .eff = effect::read_only,
                        .idempotent = true,
                        .guarded = false};
  const address_policy policy_;
  const redirect_rules rules_;
  const web_limits limits_;
  const std::vector<std::string> resolve_;
};

}  // namespace

tool_ptr make_fetch(fetch_options options) {
  return std::make_shared<fetch>(std::move(options));
}

}  // namespace riffle::tools
