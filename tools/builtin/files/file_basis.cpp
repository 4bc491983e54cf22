// SPDX-License-Identifier: MIT
#include "tools/builtin/files/file_basis.hpp"

#include <cerrno>

#include "runtime/base/digest.hpp"
#include "tools/process/content_digest.hpp"

namespace riffle::tools {

namespace {

std::string basis_at(const write_target& target, const unique_fd& file) {
  return (file ? content_digest(file.get()) : "no file") + " at " +
         target.where;
}

}  // namespace

std::string basis_of(const write_target& target) {
  return basis_at(target, target.current);
}

std::string basis_of(const write_target& target, std::string_view content) {
  return "sha256 " + sha256(content) + " at " + target.where;
}

call_preview cannot_preview(const tool_output& why, bool tells) {
  const auto text = "This cannot be done: " + why.text;
  call_preview out{text, text};
  if (tells) out.impossible = why.err;
  return out;
}

int check_basis(const write_target& target, const std::string& basis) {
  return basis.empty() || basis_of(target) == basis ? 0 : ESTALE;
}

int check_basis_now(const write_target& target, const std::string& basis) {
  if (basis.empty()) return 0;
  const auto now = open_now(target);
  return now && basis_at(target, *now) == basis ? 0 : ESTALE;
}

}  // namespace riffle::tools
