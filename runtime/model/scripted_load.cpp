// SPDX-License-Identifier: MIT
#include <utility>

#include "runtime/base/read_within.hpp"
#include "runtime/model/scripted_document.hpp"
#include "runtime/model/scripted_reference.hpp"
#include "runtime/model/scripted_script.hpp"

namespace riffle::model {

namespace {

using nlohmann::json;

/// What texts and calls have when they do not say it themselves.
struct pace {
  std::size_t chunk = 0;
  duration delay{};
};

// All strings in a value.
void check_value(const json& x, const std::string& pointer,
                 script_document& document) {
  if (x.is_string()) {
    if (const auto wrong = check_references(x.get_ref<const std::string&>()))
      document.complain(pointer, *wrong);
  } else if (x.is_structured()) {
    for (const auto& [key, part] : x.items())
      check_value(part, pointer + "/" + key, document);
  }
}

class loader {
 public:
  explicit loader(script_document& document) : document_{document} {}

  script load() {
    script out;
    script_reader reader{document_, document_.root, ""};
    reader.number("chunk", pace_.chunk);
    reader.length("delay", pace_.delay);
    reader.number("bytes_per_read", out.bytes_per_read);
    out.whole_session = reader.choice("count", {"run", "session"}) == 1u;
    steps(reader, out.steps);
    reader.tables("cases", [&](const json& x, const std::string& pointer) {
      script_reader inner{document_, x, pointer};
      auto& to = out.cases.emplace_back();
      inner.text("match", to.match);
      if (to.match.empty()) inner.complain("match", "is missing");
      steps(inner, to.steps);
    });
    if (!reader.has("steps") && !reader.has("cases"))
      reader.complain("steps", "there are no steps");
    return out;
  }

 private:
  void steps(script_reader& reader, std::vector<script_step>& to) {
    reader.tables("steps", [&](const json& x, const std::string& pointer) {
      step(x, pointer, to.emplace_back());
    });
  }

  // A step has the keys of an event too, as a short form.
  void step(const json& x, const std::string& pointer, script_step& to) {
    script_reader reader{document_, x, pointer};
    const auto own = read_pace(reader, pace_);
    const bool more = reader.has("events") || reader.has("calls");
    speak(reader, own, more, to);
    reader.tables("calls", [&](const json& c, const std::string& place) {
      call(c, place, own, to);
    });
    reader.tables("events", [&](const json& e, const std::string& place) {
      script_reader inner{document_, e, place};
      speak(inner, read_pace(inner, own), false, to);
      finish(inner, to);
    });
    finish(reader, to);
    check_order(reader, to);
  }

  static pace read_pace(script_reader& reader, pace own) {
    reader.number("chunk", own.chunk);
    reader.length("delay", own.delay);
    return own;
  }

  // `more`: other members speak, so that a delay is theirs.
  void speak(script_reader& reader, const pace& own, bool more,
             script_step& to) {
    const bool speaks = more || reader.has("text") || reader.has("reasoning") ||
                        reader.has("refusal") || reader.has("call");
    if (reader.has("delay") && !speaks)
      to.events.emplace_back(script_pause{own.delay});
    if (reader.has("error")) read_error(reader, to);
    say(reader, "reasoning", piece_kind::reasoning, own, to);
    say(reader, "text", piece_kind::text, own, to);
    say(reader, "refusal", piece_kind::refusal, own, to);
    if (reader.has("call"))
      call(reader.any("call"), reader.pointer("call"), own, to);
  }

  void finish(script_reader& reader, script_step& to) {
    if (reader.has("cut")) read_cut(reader, to);
    if (reader.has("finish")) reader.text("finish", to.finish.emplace());
    if (reader.has("usage")) read_usage(reader, to);
    bool no_done = !to.done;
    reader.flag("no_done", no_done);
    to.done = !no_done;
  }

  static void say(script_reader& reader, const char* key, piece_kind kind,
                  const pace& own, script_step& to) {
    if (!reader.has(key)) return;
    script_say x{kind, {}, own.chunk, own.delay};
    reader.template_text(key, x.text);
    to.events.emplace_back(std::move(x));
  }

  void call(const json& from, const std::string& pointer, const pace& own,
            script_step& to) {
    script_reader reader{document_, from, pointer};
    script_call x;
    x.chunk = own.chunk;
    x.delay = own.delay;
    reader.text("tool", x.tool);
    if (x.tool.empty()) reader.complain("tool", "is missing");
    reader.text("id", x.id);
    reader.number("chunk", x.chunk);
    reader.length("delay", x.delay);
    x.arguments = reader.any("arguments");
    if (x.arguments.is_null()) x.arguments = json::object();
    if (!x.arguments.is_object() && !x.arguments.is_string())
      reader.complain("arguments", "is not a table or a text");
    check_value(x.arguments, reader.pointer("arguments"), document_);
    to.events.emplace_back(std::move(x));
  }

  void read_error(script_reader& outer, script_step& to) {
    script_error x;
    const auto& from = outer.any("error");
    if (from.is_string()) {
      outer.text("error", x.message);
    } else {
      script_reader reader{document_, from, outer.pointer("error")};
      if (reader.has("status")) reader.number("status", x.status.emplace());
      if (const auto shape = reader.choice(
              "midstream", {"openai", "vllm", "openrouter", "event"}))
        x.shape = static_cast<error_shape>(*shape);
      reader.text("message", x.message);
      reader.text("type", x.type);
      reader.text("code", x.code);
      if (reader.has("retry_after"))
        reader.length("retry_after", x.retry_after.emplace());
      reader.number("times", x.times);
      if (x.status && (*x.status != 0 && (*x.status < 300 || *x.status > 599)))
        reader.complain("status", "is not 0 or an HTTP status from 300 to 599");
      if (x.status && reader.has("midstream"))
        reader.complain("midstream", "cannot stand beside status");
    }
    to.events.emplace_back(std::move(x));
  }

  void read_cut(script_reader& outer, script_step& to) {
    script_cut x;
    const auto& from = outer.any("cut");
    if (from.is_boolean()) {
      if (!from.get<bool>()) return;
    } else {
      script_reader reader{document_, from, outer.pointer("cut")};
      reader.flag("clean", x.clean);
      reader.flag("half_event", x.half_event);
      reader.number("times", x.times);
    }
    to.events.emplace_back(x);
  }

  void read_usage(script_reader& outer, script_step& to) {
    auto& usage = to.usage.emplace();
    script_reader reader{document_, outer.any("usage"), outer.pointer("usage")};
    reader.number("input", usage.input_tokens);
    reader.number("output", usage.output_tokens);
    if (reader.has("cached"))
      reader.number("cached", usage.cached_tokens.emplace());
    if (reader.has("reasoning"))
      reader.number("reasoning", usage.reasoning_tokens.emplace());
  }

  // A status is told before the first byte or never.
  static void check_order(script_reader& reader, const script_step& x) {
    bool spoke = false;
    for (const auto& event : x.events) {
      const auto* failed = std::get_if<script_error>(&event);
      if (failed && failed->status && spoke)
        reader.complain("error", "a status cannot come after an answer began");
      spoke = spoke || std::holds_alternative<script_say>(event) ||
              std::holds_alternative<script_call>(event);
    }
  }

  script_document& document_;
  pace pace_;
};

}  // namespace

expected<script> parse_script(std::string_view text, script_format format,
                              const std::string& name) {
  auto document = parse_document(text, format, name);
  if (!document) return unexpected{document.error()};
  auto out = loader{*document}.load();
  if (document->problems.empty()) return out;
  std::string all;
  for (const auto& x : document->problems) all += (all.empty() ? "" : "\n") + x;
  return unexpected{
      {errc::invalid_config, "script", std::move(all), false, {}}};
}

expected<script> load_script(const std::filesystem::path& path) {
  const auto text = read_within(path, {.bytes = largest_script});
  if (!text)
    return unexpected{{errc::not_found,
                       "script",
                       "the script " + path.string() + " " + text.error(),
                       false,
                       {}}};
  const auto format =
      path.extension() == ".json" ? script_format::json : script_format::toml;
  return parse_script(*text, format, path.string());
}

}  // namespace riffle::model
