// SPDX-License-Identifier: MIT
#include "tools/builtin/shell/bash.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <unistd.h>
#include <utility>

#include <nlohmann/json.hpp>

#include "actors/core/always_scope.hpp"
#include "runtime/base/call_identity.hpp"
#include "runtime/base/digest.hpp"
#include "runtime/base/secrets.hpp"
#include "tools/builtin/shell/output_spool.hpp"
#include "tools/builtin/shell/program_basis.hpp"
#include "tools/builtin/shell/read_call.hpp"
#include "tools/process/find_program.hpp"
#include "tools/process/process.hpp"
#include "tools/process/signal_name.hpp"
#include "tools/text.hpp"

namespace riffle::embedded {
extern const std::string_view bash_md;
}

namespace riffle::tools {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr std::size_t longest_preview = 240u << 10;

constexpr const char* parameters = R"({
  "type": "object",
  "properties": {
    "command": {"type": "string", "minLength": 1,
                "description": "What bash runs, e.g. git status"},
    "timeout_ms": {"type": "integer", "minimum": 1, "maximum": 3600000,
                   "description": "Time limit in milliseconds"},
    "description": {"type": "string",
                    "description": "What it does, in a few words"}
  },
  "required": ["command"],
  "additionalProperties": false
})";

/// What commands see of the process's environment.
std::vector<std::string> visible_environment(
    const std::vector<std::string>& hidden) {
  std::vector<std::string> result;
  for (auto& entry : environment_without_keys()) {
    const auto name = std::string_view{entry}.substr(0, entry.find('='));
    if (std::find(hidden.begin(), hidden.end(), name) == hidden.end())
      result.push_back(std::move(entry));
  }
  return without_editors(std::move(result));
}

std::string find_shell() {
  for (const auto& folder : path_folders()) {
    auto file = folder + "/bash";
    if (file.front() == '/' && ::access(file.c_str(), X_OK) == 0) return file;
  }
  return "/bin/sh";
}

/// Output as progress and for the result.
class output_log final : public process_listener {
 public:
  explicit output_log(const tool_context& context)
      : kept{context.output_cap, context.output_file},
        out_{{}, {"stdout", context.progress}, {}},
        err_{{}, {"stderr", context.progress}, {}} {}

  void on_output(output_stream from, std::string_view bytes) override {
    auto& x = from == output_stream::out ? out_ : err_;
    text_.clear();
    x.utf8.feed(bytes, text_);
    x.reporter.append(text_);
    keep(x);
  }

  void on_quiet() override {
    out_.reporter.flush();
    err_.reporter.flush();
  }

  void finish() {
    for (auto* x : {&out_, &err_}) {
      text_.clear();
      x->utf8.finish(text_);
      x->reporter.append(text_);
      x->reporter.flush();
      keep(*x);
    }
    for (auto* x : {&out_, &err_}) let_go(*x);
  }

  output_spool kept;

 private:
  struct source {
    utf8_stream utf8;
    line_reporter reporter;
    row_states rows;
  };

  /// In the order in which it came: behind what the other source holds back.
  void keep(source& from) {
    if (text_.empty()) return;
    let_go(&from == &out_ ? err_ : out_);
    passed_.clear();
    from.rows.feed(text_, passed_);
    if (from.rows.left_some_out()) kept.leaves_out();
    kept.append(passed_, text_);
  }

  void let_go(source& from) {
    passed_.clear();
    from.rows.release(passed_);
    if (from.rows.left_some_out()) kept.leaves_out();
    kept.append(passed_, {});
  }

  source out_;
  source err_;
  std::string text_;
  std::string passed_;
};

/// How it ended, for the model; nothing if all is well.
std::optional<error> failure_of(const process_end& end, milliseconds limit) {
  using why = process_end::why;
  const auto make = [](errc code, std::string message) {
    return error{.code = code, .op = "bash", .message = std::move(message)};
  };
  switch (end.how) {
    case why::timed_out:
      return make(errc::timeout, "ended by its time limit of " +
                                     std::to_string(limit.count()) +
                                     " ms (timeout_ms)");
    case why::cancelled: return make(errc::cancelled, "cancelled");
    case why::signalled:
      return make(errc::tool_execution_error,
                  "ended by the signal " + signal_name(end.signal));
    case why::exited: break;
  }
  if (end.exit_code == 0) return std::nullopt;
  return make(errc::tool_execution_error,
              "exit status " + std::to_string(end.exit_code));
}

std::string metadata_of(const process_end& end, const output_spool& output) {
  json result = {{"lines", output.lines()}, {"bytes", output.bytes()}};
  if (end.signal != 0)
    result["signal"] = signal_name(end.signal);
  else
    result["exit_code"] = end.exit_code;
  if (output.truncated()) {
    result["truncated"] = true;
    result["whole_kept"] = output.whole().good();
    if (const auto why = output.whole().problem(); !why.empty())
      result["whole_lost"] = why;
  }
  return result.dump();
}

tool_output no_read_any_more() {
  const error why{errc::tool_execution_error, "bash",
                  "what it would read changed while it began"};
  return {.text = why.message, .err = why, .moved = true};
}

/// What a git command does, in words. Only where it is the whole command: a
/// title must not hide what else would run.
const char* git_title(std::string_view command) {
  constexpr std::array<std::pair<std::string_view, const char*>, 7> known = {{
      {"commit", "Committing (git)"},
      {"push", "Pushing (git)"},
      {"pull", "Pulling (git)"},
      {"fetch", "Fetching (git)"},
      {"clone", "Cloning (git)"},
      {"status", "Looking at what changed (git)"},
      {"diff", "Comparing (git)"},
  }};
  constexpr std::string_view git = "git ";
  if (!command.starts_with(git) ||
      command.find_first_of(";&|<>`$(){}\n\r") != std::string_view::npos)
    return nullptr;
  command.remove_prefix(git.size());
  const auto verb = command.substr(0, command.find(' '));
  for (const auto& [name, title] : known)
    if (verb == name) return title;
  return nullptr;
}

class bash final : public tool {
 public:
  explicit bash(bash_options options)
      : environment_{visible_environment(options.hidden_env)},
        shell_{find_shell()},
        guard_program_{std::move(options.guard_program)},
        read_only_{std::move(options.read_only)},
        space_{options.space} {}

  [[nodiscard]] const tool_spec& spec() const noexcept override {
    return spec_;
  }

  [[nodiscard]] std::string title(const json& arguments) const override {
    std::string_view command =
        arguments.at("command").get_ref<const std::string&>();
    const auto begin =
        std::min(command.find_first_not_of(" \t\r\n"), command.size());
    command.remove_prefix(begin);
    if (const auto* known = git_title(command)) return known;
    const auto line = command.substr(0, command.find('\n'));
    return "Running: " + with_dots(line, 60);
  }

  [[nodiscard]] rule_subject subject(
      const json& arguments,
      const std::filesystem::path& /*workspace*/) const override {
    return {.text = arguments.at("command"), .shell = true};
  }

  [[nodiscard]] call_preview preview(
      const json& arguments,
      const std::filesystem::path& workspace) const override {
    const auto& command = arguments.at("command").get_ref<const std::string&>();
    auto basis = basis_of(command, workspace);
    const auto shown = cut_utf8(command, longest_preview);
    if (shown.size() == command.size()) return {command, std::move(basis)};
    return {std::string{shown} + "\n[... " +
                std::to_string(command.size() - shown.size()) + " more bytes]",
            std::move(basis)};
  }

  static std::string basis_of(const std::string& command,
                              const std::filesystem::path& workspace) {
    const auto script = core::script_of_line(command);
    const auto holds =
        script.empty() ? script : program_basis(script, workspace);
    return basis_with_program(
        sha256(command + program_basis(command, workspace)),
        holds.empty() ? holds : sha256(holds));
  }

  [[nodiscard]] std::string definition() const override {
    return tool::definition() + shell_;
  }

  [[nodiscard]] std::optional<read_claim> only_reads(
      const json& arguments,
      const std::filesystem::path& workspace) const override {
    auto read = make_read_call(arguments.at("command"), read_only_, workspace,
                               environment_);
    if (!read) return {};
    return std::move(read->claim);
  }

  tool_output run(const json& arguments, tool_context& context) override {
    process_request request;
    const auto& line = arguments.at("command").get_ref<const std::string&>();
    request.command = {shell_, "-c", line};
    request.environment = environment_;
    if (context.judged == line) {  // as one that only reads, and nothing else
      auto read =
          make_read_call(line, read_only_, context.workspace, environment_);
      if (!read) return no_read_any_more();
      request.command = std::move(read->command);
      request.environment = std::move(read->environment);
    }
    request.folder = context.workspace;
    request.kill_grace = context.kill_grace;
    request.lock = context.guard_lock;
    request.lease = context.lease;
    request.guard_program = guard_program_;
    request.space = space_;
    milliseconds limit{0};
    if (const auto it = arguments.find("timeout_ms"); it != arguments.end()) {
      limit = milliseconds{it->get<std::int64_t>()};
      request.deadline = std::chrono::steady_clock::now() + limit;
    }
    output_log log{context};
    const auto end = run_process(request, log, context.stop);
    log.finish();
    tool_output result{.text = log.kept.text()};
    if (end) {
      result.err = failure_of(*end, limit);
      result.metadata = metadata_of(*end, log.kept);
    } else {
      result.err = end.error();
    }
    if (result.err) {
      if (!result.text.empty() && result.text.back() != '\n')
        result.text += '\n';
      result.text += result.err->message;
    }
    return result;
  }

 private:
  const tool_spec spec_{.name = "bash",
                        .description = std::string{embedded::bash_md},
                        .parameters = parameters,
                        .eff = effect::mutating,
                        .idempotent = false,
                        .guarded = true,
                        .remarks = {"description"}};
  const std::vector<std::string> environment_;
  const std::string shell_;
  const std::string guard_program_;
  const std::vector<std::string> read_only_;
  const pid_space space_;
};

}  // namespace

std::vector<std::string> without_editors(std::vector<std::string> environment) {
  for (const std::string name : {"GIT_EDITOR=", "GIT_SEQUENCE_EDITOR="})
    if (std::ranges::none_of(environment, [&](const std::string& x) {
          return x.starts_with(name);
        }))
      environment.push_back(name + "echo '" + std::string{no_editor} +
                            " Give the text by an option (git commit -m TEXT), "
                            "or name another editor "
                            "(GIT_SEQUENCE_EDITOR=).' >&2; false");
  return environment;
}

tool_ptr make_bash(bash_options options) {
  return std::make_shared<bash>(std::move(options));
}

}  // namespace riffle::tools
