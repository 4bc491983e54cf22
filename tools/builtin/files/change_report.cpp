// SPDX-License-Identifier: MIT
#include "tools/builtin/files/change_report.hpp"

#include <cerrno>
#include <cstring>

#include <nlohmann/json.hpp>

#include "tools/builtin/files/file_failure.hpp"
#include "tools/builtin/files/path_confinement.hpp"
#include "tools/builtin/files/path_text.hpp"
#include "tools/builtin/search/tree_walk.hpp"

namespace riffle::tools {

diff_format format_of(const write_target& target, std::size_t most_bytes) {
  return {.before = target.current ? path_text("a/" + target.name)
                                   : std::string{"/dev/null"},
          .after = path_text("b/" + target.name),
          .most_bytes = most_bytes};
}

std::string way_of(const write_target& target) {
  if (without_detours(target.name) == target.where) return {};
  return path_text(target.name) + " leads to " + path_text(target.where) + "\n";
}

void add_diff(nlohmann::json& metadata, const diff_text& diff) {
  metadata["diff"] = diff.text;
  metadata["added"] = diff.added;
  metadata["removed"] = diff.removed;
  if (diff.cut) metadata["diff_truncated"] = true;
}

void add_digests(nlohmann::json& metadata, const std::string& before,
                 const std::string& after) {
  constexpr std::string_view of_content = "sha256 ";
  const auto known = [&](const std::string& x) {
    return x.empty() || x.starts_with(of_content);
  };
  if (!known(before) || !known(after)) return;
  if (!before.empty()) metadata["digest_before"] = before;
  metadata["digest_after"] = after;
}

void add_place(nlohmann::json& metadata, const write_target& target) {
  if (without_detours(target.name) != target.where)
    metadata["place"] = path_text(target.where);
}

std::string preview_of(const diff_text& diff) {
  if (!diff.cut) return diff.text;
  return diff.text + "[... not shown: +" +
         std::to_string(diff.added - diff.shown_added) + " -" +
         std::to_string(diff.removed - diff.shown_removed) + " lines; in all " +
         counts_of(diff) + "]\n";
}

std::string counts_of(const diff_text& diff) {
  return "+" + std::to_string(diff.added) + " -" +
         std::to_string(diff.removed) + " lines";
}

tool_output cannot_write(std::string_view op, const write_target& target,
                         int number) {
  const auto name = path_text(target.name);
  switch (number) {
    case ECANCELED: return file_failure(op, errc::cancelled, "cancelled");
    case ESTALE:
      return file_failure(op, errc::tool_execution_error,
                          name +
                              " was changed by something else meanwhile; "
                              "nothing was written, read it again");
    case ENOTDIR:
      return file_failure(
          op, errc::invalid_arguments,
          name + " cannot be written: a part of its path is a file");
    case ENOENT:
    case EXDEV:
    case ELOOP:
      return cannot_open(op, target.root.get(), target.name, number,
                         target.others);
    case ENOSPC:
    case EDQUOT:
      return file_failure(op, errc::tool_execution_error,
                          "the disk is full; " + name + " is as it was");
    default:
      return file_failure(
          op, errc::tool_execution_error,
          "cannot write " + name + ": " + std::strerror(number));
  }
}

}  // namespace riffle::tools
