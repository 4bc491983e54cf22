// SPDX-License-Identifier: MIT
#include "tools/builtin/files/file_failure.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <tuple>
#include <utility>

#include "tools/builtin/files/path_confinement.hpp"
#include "tools/text.hpp"

namespace riffle::tools {

namespace {

constexpr std::size_t most_names_read = 10'000;
constexpr std::size_t most_names_shown = 20;

/// The folder part and the last part of a path.
std::pair<std::string, std::string> split(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

std::string in_words(const std::string& folder) {
  return folder == "." ? "the workspace" : folder;
}

/// Says which part of the path is missing, and what lies beside it.
std::string missing(int root, const std::string& name) {
  auto [folder, last] = split(name);
  for (;;) {
    const auto fd = open_beneath(root, folder, O_RDONLY | O_DIRECTORY);
    if (fd) {
      const auto names = names_in(fd->get(), most_names_read);
      if (std::find(names.begin(), names.end(), last) != names.end())
        return last + " is a symbolic link to a place that does not exist";
      // Of a plain name it was said that there is no such file.
      const auto text = last == name
                            ? std::string{}
                            : in_words(folder) + " holds no " + last + "; ";
      if (const auto close = close_names(last, names); !close.empty())
        return text + "similar: " + join_some(close, 3);
      if (names.empty())
        return text + (text.empty() ? "the workspace" : "it") + " is empty";
      return text + "there are: " + join_some(names, most_names_shown);
    }
    if (folder == ".") return "the workspace cannot be read";
    std::tie(folder, last) = split(folder);
  }
}

}  // namespace

tool_output file_failure(std::string_view op, errc code, std::string message) {
  tool_output result{.text = message};
  result.err =
      error{.code = code, .op = std::string{op}, .message = std::move(message)};
  return result;
}

tool_output no_workspace(std::string_view op,
                         const std::filesystem::path& workspace, int number) {
  return file_failure(op, errc::tool_execution_error,
                      "the workspace " + workspace.string() +
                          " cannot be opened: " + std::strerror(number));
}

tool_output cannot_open(std::string_view op, int root, const std::string& name,
                        int number, neighbours others) {
  switch (number) {
    case ENOENT: {
      auto text = "no such file: " + name;
      if (others == neighbours::named) text += "; " + missing(root, name);
      if (name.starts_with('~'))
        text += "; paths are relative to the workspace, ~ means nothing";
      return file_failure(op, errc::not_found, std::move(text));
    }
    case ENOTDIR:
      return file_failure(op, errc::not_found,
                          "no such file: " + name +
                              "; a part of its path is a file, "
                              "not a folder");
    case EXDEV:
      return file_failure(op, errc::invalid_arguments,
                          name +
                              " leads out of the workspace, which is not "
                              "allowed");
    case ELOOP:
      return file_failure(op, errc::invalid_arguments,
                          name +
                              " is a symbolic link that leads nowhere "
                              "allowed");
    case EACCES:
      return file_failure(
          op, errc::tool_execution_error,
          "permission denied: the program may not read " + name);
    case EBUSY:
      return file_failure(op, errc::tool_execution_error,
                          name +
                              " belongs to the journal of this program, whose "
                              "files no tool opens; 'riffle sessions' shows "
                              "what is in it");
    default: return cannot_read(op, name, number);
  }
}

tool_output place_moved(std::string_view op, const std::string& name) {
  auto result =
      file_failure(op, errc::tool_execution_error,
                   name +
                       " leads to another place than a moment ago, something "
                       "changes links on its way; nothing was done");
  result.moved = true;
  return result;
}

tool_output cannot_read(std::string_view op, const std::string& name,
                        int number) {
  return file_failure(op, errc::tool_execution_error,
                      "cannot read " + name + ": " + std::strerror(number));
}

tool_output not_a_file(std::string_view op, int root, const std::string& name,
                       mode_t mode, neighbours others) {
  if (!S_ISDIR(mode))
    return file_failure(op, errc::tool_execution_error,
                        name +
                            " is no regular file (a pipe, socket or "
                            "device), which " +
                            std::string{op} + " does not open");
  auto text = name + " is a folder";
  if (others == neighbours::untold)
    return file_failure(op, errc::tool_execution_error, std::move(text));
  if (const auto fd = open_beneath(root, name, O_RDONLY | O_DIRECTORY)) {
    const auto names = names_in(fd->get(), most_names_read);
    text += names.empty() ? "; it is empty"
                          : "; it holds: " + join_some(names, most_names_shown);
  }
  return file_failure(op, errc::tool_execution_error, std::move(text));
}

}  // namespace riffle::tools
