// SPDX-License-Identifier: MIT
#include "tools/command/command_tool.hpp"

#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/base/secrets.hpp"
#include "runtime/base/unique_fd.hpp"
#include "tools/builtin/shell/output_spool.hpp"
#include "tools/command/command_definition.hpp"
#include "tools/command/command_result.hpp"
#include "tools/command/stderr_lines.hpp"
#include "tools/key_pointers.hpp"
#include "tools/process/process.hpp"
#include "tools/process/signal_name.hpp"
#include "tools/subject_text.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

using nlohmann::json;

constexpr std::size_t longest_title = 200;

std::vector<std::string> environment_of(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  const auto all = environment_without_keys();
  const auto add = [&](const std::string& name) {
    for (const auto& entry : all)
      if (entry.starts_with(name + "=")) result.push_back(entry);
  };
  for (const auto* name : {"PATH", "HOME", "LANG"}) add(name);
  for (const auto& name : names)
    if (name != "PATH" && name != "HOME" && name != "LANG") add(name);
  return result;
}

/// The text as a file in memory, read from its beginning: whether, when and how
/// far a program reads it is all the same.
expected<unique_fd> file_of(std::string_view text) {
  unique_fd fd{::memfd_create("arguments", MFD_CLOEXEC)};
  while (fd && !text.empty()) {
    const auto count = ::write(fd.get(), text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      fd.reset();
    else
      text.remove_prefix(static_cast<std::size_t>(count));
  }
  if (fd && ::lseek(fd.get(), 0, SEEK_SET) == 0) return fd;
  return unexpected{error{.code = errc::tool_execution_error,
                          .op = "command",
                          .message = "the arguments cannot be handed over",
                          .retryable = true,
                          .cause = std::strerror(errno)}};
}

/// `{x}` becomes the argument x; one that is not there becomes nothing.
std::string fill(std::string_view text, const json& arguments) {
  std::string out;
  while (!text.empty()) {
    const auto open = text.find('{');
    const auto close = text.find('}', open);
    out += text.substr(0, open);
    if (close == std::string_view::npos) {
      if (open != std::string_view::npos) out += text.substr(open);
      break;
    }
    const std::string name{text.substr(open + 1, close - open - 1)};
    if (const auto x = arguments.find(name); x != arguments.end())
      out += plain_text(*x).value_or("");
    text.remove_prefix(close + 1);
  }
  return with_dots(out, longest_title);
}

/// Both streams of a running command.
class command_output final : public process_listener {
 public:
  explicit command_output(const tool_context& context)
      : kept{context.output_cap, context.output_file},
        lines{context.progress} {}

  void on_output(output_stream from, std::string_view bytes) override {
    text_.clear();
    if (from == output_stream::out) {
      out_.feed(bytes, text_);
      kept.append(text_);
    } else {
      err_.feed(bytes, text_);
      lines.append(text_);
    }
  }

  void on_quiet() override { lines.flush(); }

  void finish() {
    text_.clear();
    out_.finish(text_);
    kept.append(text_);
    text_.clear();
    err_.finish(text_);
    lines.append(text_);
    lines.finish();
  }

  output_spool kept;
  stderr_lines lines;

 private:
  utf8_stream out_;
  utf8_stream err_;
  std::string text_;
};

class command_tool final : public tool {
 public:
  explicit command_tool(command_options options)
      : spec_{.name = options.name,
              .description = options.description,
              .parameters = options.parameters,
              .eff = options.eff,
              .idempotent = options.idempotent,
              .guarded = true},
        options_{std::move(options)},
        environment_{environment_of(options_.env)} {}

  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }

  [[nodiscard]] std::string title(const json& arguments) const override {
    if (options_.title.empty())
      return title_with_subject("Using " + spec_.name, arguments);
    return fill(options_.title, arguments);
  }

  [[nodiscard]] std::vector<std::string> keys(
      const json& arguments,
      const std::filesystem::path& /*workspace*/) const override {
    return texts_at(options_.keys, arguments);
  }

  [[nodiscard]] call_preview preview(
      const json& /*arguments*/,
      const std::filesystem::path& /*workspace*/) const override {
    std::string result;
    for (const auto& word : options_.command)
      result += (result.empty() ? "" : " ") + word;
    return result;
  }

  [[nodiscard]] std::string definition() const override {
    return tool::definition() +
           definition_of(options_.command, options_.folder, options_.env);
  }

  tool_output run(const json& arguments, tool_context& context) override {
    auto input = file_of(arguments.dump() + "\n");
    if (!input) return failed({}, std::move(input.error()));
    process_request request;
    request.command = options_.command;
    request.folder = options_.folder;
    request.environment = environment_;
    request.input = input->get();
    request.kill_grace = context.kill_grace;
    request.lock = context.guard_lock;
    request.lease = context.lease;
    request.guard_program = options_.guard_program;
    request.space = options_.space;
    command_output output{context};
    const auto end = run_process(request, output, context.stop);
    output.finish();
    if (!end) return failed(output.kept.text(), end.error());
    return result_of(*end, output);
  }

 private:
  static tool_output failed(std::string text, error why) {
    if (!text.empty() && text.back() != '\n') text += '\n';
    text += why.message;
    return {std::move(text), std::move(why), {}};
  }

  [[nodiscard]] tool_output result_of(const process_end& end,
                                      const command_output& output) const {
    auto text = output.kept.text();
    command_result result;
    if (output.kept.truncated()) {
      result.failure = failure_in_begin(text);
      result.text = std::move(text);
    } else {
      result = read_result(std::move(text));
    }
    add_metadata(end, output.kept, result.metadata);
    auto metadata =
        result.metadata.dump(-1, ' ', false, json::error_handler_t::replace);
    auto why = failure_of(end, result, output.lines.log());
    if (!why) return {std::move(result.text), {}, std::move(metadata)};
    auto out = failed(std::move(result.text), std::move(*why));
    out.metadata = std::move(metadata);
    return out;
  }

  static void add_metadata(const process_end& end, const output_spool& output,
                           json& metadata) {
    metadata["bytes"] = output.bytes();
    metadata["lines"] = output.lines();
    if (end.signal != 0)
      metadata["signal"] = signal_name(end.signal);
    else
      metadata["exit_code"] = end.exit_code;
    if (!output.truncated()) return;
    metadata["truncated"] = true;
    metadata["whole_kept"] = output.whole().good();
    if (const auto why = output.whole().problem(); !why.empty())
      metadata["whole_lost"] = why;
  }

  [[nodiscard]] std::optional<error> failure_of(const process_end& end,
                                                const command_result& result,
                                                const std::string& log) const {
    if (end.how == process_end::why::cancelled)
      return error{errc::cancelled, spec_.name, "cancelled"};
    if (result.failure)
      return error{errc::tool_execution_error, spec_.name, *result.failure};
    std::string message;
    if (end.how == process_end::why::signalled)
      message = "ended by the signal " + signal_name(end.signal);
    else if (end.exit_code != 0)
      message = "exit status " + std::to_string(end.exit_code);
    if (message.empty()) return std::nullopt;
    if (!log.empty()) message += ": " + log;
    return error{errc::tool_execution_error, spec_.name, std::move(message)};
  }

  const tool_spec spec_;
  const command_options options_;
  const std::vector<std::string> environment_;
};

}  // namespace

tool_ptr make_command_tool(command_options options) {
  return std::make_shared<command_tool>(std::move(options));
}

}  // namespace riffle::tools
