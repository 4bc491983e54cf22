// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "runtime/base/digest.hpp"

namespace riffle {

/// `grant_record::definition` of scope `call`: what the tool is and, where the
/// call was shown to act on something (`proposal_record::basis`), what that
/// was. A call with another one, such as of a script that was changed, is not
/// this very call; nor is what older versions kept, which had the tool alone.
inline std::string call_identity(const std::string& definition,
                                 const std::string& basis) {
  return basis.empty() ? definition : sha256(definition + "\n" + basis);
}

/// What a call acts on, and of that what the program of its line is: all other
/// calls of it have the same.
inline std::string basis_with_program(std::string whole,
                                      const std::string& program) {
  return program.empty() ? whole : whole + " " + program;
}

/// Empty: the basis names none.
inline std::string program_of_basis(const std::string& basis) {
  const auto end = basis.rfind(' ');
  return end == std::string::npos ? std::string{} : basis.substr(end + 1);
}

}  // namespace riffle
