// SPDX-License-Identifier: MIT
#include "tools/ask.hpp"

#include <exception>
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

}  // namespace

expected<std::string> ask_title(const tool& x,
                                const nlohmann::json& arguments) {
  return guarded(x, "title", [&] { return x.title(arguments); });
}

expected<std::vector<std::string>> ask_keys(
    const tool& x, const nlohmann::json& arguments,
    const std::filesystem::path& workspace) {
  return guarded(x, "keys", [&] {
    return x.keys(arguments, std::filesystem::absolute(workspace));
  });
}

expected<rule_subject> ask_subject(const tool& x,
                                   const nlohmann::json& arguments,
                                   const std::filesystem::path& workspace) {
  return guarded(x, "subject", [&] {
    return x.subject(arguments, std::filesystem::absolute(workspace));
  });
}

expected<call_preview> ask_preview(const tool& x,
                                   const nlohmann::json& arguments,
                                   const std::filesystem::path& workspace) {
  return guarded(x, "preview", [&] {
    return x.preview(arguments, std::filesystem::absolute(workspace));
  });
}

expected<std::optional<read_claim>> ask_only_reads(
    const tool& x, const nlohmann::json& arguments,
    const std::filesystem::path& workspace) {
  return guarded(x, "only_reads", [&] {
    return x.only_reads(arguments, std::filesystem::absolute(workspace));
  });
}

expected<std::string> ask_definition(const tool& x) {
  return guarded(x, "definition", [&] { return x.definition(); });
}

}  // namespace riffle::tools
