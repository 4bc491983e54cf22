// SPDX-License-Identifier: MIT
#pragma once

// Command lines that hide a command, by a seeded generator.

#include <random>
#include <string>
#include <string_view>

namespace riffle::testing {

std::string replaced(std::string text, std::string_view what,
                     std::string_view by);

/// What a rule forbids, and words with which `zap` breaks it.
struct ban {
  std::string pattern;  ///< @ stands for the folder of programs
  std::string command;
};

const ban& any_ban(std::mt19937& random);

/// A line that may run `zap` with these words; @ stands for the folder.
std::string make_disguise(std::mt19937& random, const ban& what);

}  // namespace riffle::testing
