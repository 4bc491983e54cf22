// SPDX-License-Identifier: MIT
#include "tools/builtin/file_basis.hpp"

#include <cerrno>

#include "tools/process/content_digest.hpp"

namespace riffle::tools {

namespace {

std::string basis_of(const unique_fd& file) {
  return file ? content_digest(file.get()) : "no file";
}

}  // namespace

std::string basis_of(const write_target& target) {
  return basis_of(target.current);
}

call_preview cannot_preview(const tool_output& why) {
  auto text = "This cannot be done: " + why.text;
  return {text, text};
}

int check_basis(const write_target& target, const std::string& basis) {
  return basis.empty() || basis_of(target.current) == basis ? 0 : ESTALE;
}

int check_basis_now(const write_target& target, const std::string& basis) {
  if (basis.empty()) return 0;
  const auto now = open_now(target);
  return now && basis_of(*now) == basis ? 0 : ESTALE;
}

}  // namespace riffle::tools
