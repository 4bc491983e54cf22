// SPDX-License-Identifier: MIT
#include "tools/ask.hpp"

#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "tools/text.hpp"

namespace riffle::tools {

namespace {

/// Bytes of what an exception says.
constexpr std::size_t said_size = 500;

error fault(const tool& x, const char* function, const char* said) {
  std::string text;
  utf8_stream clean;
  clean.feed(said, text);
  clean.finish(text);
  return {errc::tool_execution_error,
          "tools.ask",
          "the tool `" + x.spec().name + "` failed in its function `" +
              function + "`, so the call was not executed: " +
              std::string{cut_utf8(text, said_size)},
          false,
          {}};
}

/// The one place that calls them.
template <class F>
auto guarded(const tool& x, const char* function, F f)
    -> expected<decltype(f())> {
  try {
    return f();
  } catch (const std::exception& problem) {
    return unexpected{fault(x, function, problem.what())};
  } catch (...) {
    return unexpected{fault(x, function, "it threw no std::exception")};
  }
}

/// The same of what depends on where it works.
template <class F>
auto guarded_in(const std::filesystem::path& workspace, const tool& x,
                const char* function, F f) -> expected<decltype(f(workspace))> {
  std::error_code gone;
  const auto folder = std::filesystem::absolute(workspace, gone);
  if (gone)
    return unexpected{
        error{errc::tool_execution_error, "tools.ask",
              "the folder that it would work in is gone, so the call was not "
              "executed"}};
  return guarded(x, function, [&] { return f(folder); });
}

}  // namespace

expected<std::string> ask_title(const tool& x,
                                const nlohmann::json& arguments) {
  return guarded(x, "title", [&] { return x.title(arguments); });
}

expected<std::vector<std::string>> ask_keys(
    const tool& x, const nlohmann::json& arguments,
    const std::filesystem::path& workspace) {
  return guarded_in(workspace, x, "keys", [&](const auto& folder) {
    return x.keys(arguments, folder);
  });
}

expected<rule_subject> ask_subject(const tool& x,
                                   const nlohmann::json& arguments,
                                   const std::filesystem::path& workspace) {
  return guarded_in(workspace, x, "subject", [&](const auto& folder) {
    return x.subject(arguments, folder);
  });
}

expected<call_preview> ask_preview(const tool& x,
                                   const nlohmann::json& arguments,
                                   const std::filesystem::path& workspace) {
  return guarded_in(workspace, x, "preview", [&](const auto& folder) {
    return x.preview(arguments, folder);
  });
}

expected<std::optional<read_claim>> ask_only_reads(
    const tool& x, const nlohmann::json& arguments,
    const std::filesystem::path& workspace) {
  return guarded_in(workspace, x, "only_reads", [&](const auto& folder) {
    return x.only_reads(arguments, folder);
  });
}

expected<std::string> ask_definition(const tool& x) {
  return guarded(x, "definition", [&] { return x.definition(); });
}

}  // namespace riffle::tools
